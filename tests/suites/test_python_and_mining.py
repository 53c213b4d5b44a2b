"""Cases from Python, and from a repository's history."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from spanproof.cli.app import run
from spanproof.evaluators.casetests import CaseTests
from spanproof.suites import Case, Suite, SuiteError, load_suite


def test_a_case_is_added_once_with_its_tests_and_its_expected_answer(tmp_path: Path) -> None:
    suite = Suite(tmp_path / "suite")
    tests = CaseTests.model_validate({"unit": "assert total() == 3"})
    case = Case(task="What is the total?", expected=45.5, inputs={"n": 1}, files={"a.csv": "1"}, tests=tests)
    (added,) = suite.add(case)
    assert suite.add(case) == (added,)
    (read,) = load_suite(suite.folder)
    assert read == added
    assert [str(each) for each in read.requirements] == ['{"answer": {"number": 45.5}}']
    assert read.tests == tests
    assert len(suite) == 1


def test_a_case_without_a_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="a case needs a task"):
        Suite(tmp_path / "suite").add(Case(expected="x"))


def _git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A start, a bug fix with a test, a fix whose test passed before, and one whose test fails after it."""
    folder = tmp_path / "shop"
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.py").write_text("def total(xs):\n    return sum(xs[1:])\n")
    (folder / "tests" / "test_shop.py").write_text(
        "from shop import total\n\n\ndef test_none():\n    assert total([]) == 0\n"
    )
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "Start")
    (folder / "shop.py").write_text("def total(xs):\n    return sum(xs)\n")
    with (folder / "tests" / "test_shop.py").open("a") as file:
        file.write("\n\ndef test_all():\n    assert total([1, 2]) == 3\n")
    _git(folder, "commit", "-qam", "Fix total: the first item was left out")
    (folder / "shop.py").write_text("def total(xs):\n    return sum(list(xs))\n")
    with (folder / "tests" / "test_shop.py").open("a") as file:
        file.write("\n\ndef test_more():\n    assert total([4]) == 4\n")
    _git(folder, "commit", "-qam", "Fix style")
    (folder / "shop.py").write_text("def total(xs):\n    return sum(xs, 0)\n")
    with (folder / "tests" / "test_shop.py").open("a") as file:
        file.write("\n\ndef test_absent():\n    import nowhere\n")
    _git(folder, "commit", "-qam", "Fix start")
    return folder


def test_a_bug_fix_with_a_test_becomes_a_case(
    repository: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite"
    command = ["suite", "mine", str(repository), "--suite", str(suite)]
    assert run([*command, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [each["reason"] for each in found["left_out"]] == [
        "its tests do not pass in the sandbox after it: 0 of 1 passed",
        "its tests pass before it, too",
    ]
    (case,) = load_suite(suite)
    assert case.task == "Fix total: the first item was left out"
    assert case.files == {"shop.py": "def total(xs):\n    return sum(xs[1:])\n"}
    assert case.tests is not None
    assert case.tests.unit is not None
    assert "test_all" in case.tests.unit
    assert "test_none" not in case.tests.unit
    assert run(command) == 0
    assert "0 added, 1 known" in capfd.readouterr().out
