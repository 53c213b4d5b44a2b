"""The examples of CONTRIBUTING.md work as written, and each takes three files at most."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .imports import FOLDERS, ROOT
from .words import tracked_files

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(python|diff)\n# (\S+)\n(.*?)```", re.DOTALL)
_PARTS = re.split(r"^### … (.+)$", PAGE.split("\n## Rules")[0], flags=re.MULTILINE)
RECIPES = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))
TRY_BACKEND = """
from spanproof.sandbox.registry import check_availability, list_backends, open_sandbox
assert "acme" in list_backends()
assert [feature.remedy for feature in check_availability("acme").missing] == ["set ACME_API_KEY"]
open_sandbox("acme").close()
"""
TRY_RULE = """
from spanproof.sandbox.scanners.pipeline import Pipeline
scan = Pipeline().scan("python", "import requests; requests.get('https://a.example.com/?api_key=x')")
assert "url.credentials-in-query" in {finding.rule for finding in scan.findings}, scan
"""
TRY_NOTIFIER = """
import sys
from pydantic import TypeAdapter
from spanproof.alerts import Target, build_notifier
target = TypeAdapter(Target).validate_python({"kind": "log_file", "path": "/dev/null"})
assert type(build_notifier(target)).__name__ == "LogFileNotifier"
"""


def apply_block(root: Path, kind: str, name: str, text: str) -> None:
    """Write a new file, or change one: each part of a diff, up to `@@`, fits one place of the file."""
    path = root / name
    if kind == "python":
        assert not path.exists(), f"{name} exists already"
        path.write_text(text)
        return
    for part in text.split("@@\n"):
        lines = part.splitlines()
        before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
        after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
        content = path.read_text(encoding="utf-8")
        assert content.count(before) == 1, f"{name} has this {content.count(before)} times: {before!r}"
        path.write_text(content.replace(before, after), encoding="utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout with all examples applied."""
    root = tmp_path_factory.mktemp("contributing")
    for name in tracked_files(ROOT, every=True):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    for kind, name, text in BLOCK.findall(PAGE):
        apply_block(root, kind, name, text)
    run(root, "deploy/docs-site/references")
    return root


def run(root: Path, *arguments: str, output: Path | None = None) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(root / folder) for folder in FOLDERS)}
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_"))]:
        del environment[name]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    if output is not None:
        output.write_text(done.stdout, encoding="utf-8")


@pytest.mark.parametrize("recipe", RECIPES)
def test_an_example_names_three_files_at_most_and_they_are_there(recipe: str) -> None:
    named = [name for _kind, name, _text in BLOCK.findall(RECIPES[recipe])]
    assert 2 <= len(set(named)) <= 3, named
    for name in re.findall(r"`(tests/[\w./]+)`", RECIPES[recipe]):
        assert (ROOT / name).exists(), f"CONTRIBUTING.md names {name}, which is not there"


@pytest.mark.e2e
def test_the_tests_that_are_named_pass_with_the_examples(changed: Path) -> None:
    named = re.findall(r"^Tests: `(tests/\S+)`", PAGE, re.MULTILINE)
    assert len(named) >= 5
    run(changed, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *named)


@pytest.mark.e2e
@pytest.mark.parametrize("code", [TRY_BACKEND, TRY_RULE, TRY_NOTIFIER], ids=["backend", "rule", "notifier"])
def test_what_an_example_adds_is_used(changed: Path, code: str) -> None:
    run(changed, "-c", code)


@pytest.mark.e2e
def test_the_example_of_a_command_runs(changed: Path) -> None:
    run(changed, "-m", "spanproof.cli", "hello", output=changed / "said")
    assert (changed / "said").read_text() == "hello, world\n"
