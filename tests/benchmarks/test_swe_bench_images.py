"""An instance of SWE-bench in its own image: patches are applied and tested in a real container."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from docker import APIClient
from docker_daemon import DockerDaemon, write_image

from spanproof.cli.app import run

from .conftest import WriteRows

pytestmark = pytest.mark.docker

BEFORE = "def total(cents):\n    return sum(cents) / 10\n"
AFTER = "def total(cents):\n    return sum(cents) / 100\n"
OLD_TEST = "from shop import total\n\ndef test_empty():\n    assert total([]) == 0\n"
NEW_TEST = OLD_TEST + "\ndef test_dollars():\n    assert total([150, 50]) == 2\n"
BROKEN_RUNNER = (
    "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n"
    "@@ -0,0 +1 @@\n+raise SystemError(1)\n"
)
_METADATA = f"pluggy-{version('pluggy')}.dist-info"
INSTANCE, TAG = "acme__shop-1", "spanproof-swe/acme_1776_shop-1:latest"


def git(repository: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    command = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def diff(repository: Path, path: str, text: str) -> str:
    """Return what a change of one file is as a patch; the file stays as it was."""
    file = repository / path
    before = file.read_text()
    file.write_text(text)
    found = git(repository, "diff", "--", path)
    file.write_text(before)
    return found


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("shop")
    (found / "tests").mkdir()
    (found / "shop.py").write_text(BEFORE)
    (found / "tests" / "test_shop.py").write_text(OLD_TEST)
    git(found, "init", "-q")
    git(found, "add", ".")
    git(found, "commit", "-qm", "first")
    return found


@pytest.fixture(scope="module")
def image(
    docker_daemon: DockerDaemon, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DockerDaemon]:
    """The instance's image: the repository in /testbed, with what its tests need."""
    archive = tmp_path_factory.mktemp("image") / "image.tar"
    write_image(
        archive,
        programs=("git",),
        packages=("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py", _METADATA),
        trees={"testbed": repository},
    )
    client = APIClient(base_url=docker_daemon.host, version="auto")
    name, _, tag = TAG.rpartition(":")
    path = "ENV PATH=/usr/local/bin:/usr/bin:/bin"
    reported = client.import_image_from_file(str(archive), repository=name, tag=tag, changes=[path])
    assert "error" not in reported
    yield docker_daemon
    client.remove_image(TAG, force=True)
    client.close()


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("published", ("passed", "passed", "passed")),
        ("def total(cents):\n    return 2\n", ("failed", "passed", "failed")),
        ("def total(cents):\n    return 0\n", ("failed", "failed", "passed")),
        ("def total(cents)\n", ("failed", "failed", "failed")),
        ("no patch", ("failed", "failed", "failed")),
        ("breaks the runner", ("failed", "failed", "failed")),
    ],
    ids=["published", "breaks an old test", "turns nothing", "does not compile", "does not apply", "runner"],
)
def test_a_patch_must_turn_what_fails_and_keep_what_passes(
    image: DockerDaemon,
    repository: Path,
    write_rows: WriteRows,
    capfd: pytest.CaptureFixture[str],
    patch: str,
    expected: tuple[str, str, str],
) -> None:
    published = diff(repository, "shop.py", AFTER)
    answers = {"published": published, "no patch": "this is no patch", "breaks the runner": BROKEN_RUNNER}
    answer = answers.get(patch) or diff(repository, "shop.py", patch)
    row = {"instance_id": INSTANCE, "model_patch": answer}
    instance = instance_of(repository, diff(repository, "tests/test_shop.py", NEW_TEST))
    found = bench(image, write_rows, instance, row, capfd)
    assert tuple(found[name] for name in ("resolved", "FAIL_TO_PASS", "PASS_TO_PASS")) == expected


def test_an_instance_whose_tests_never_run_is_unjudged(
    image: DockerDaemon, repository: Path, write_rows: WriteRows, capfd: pytest.CaptureFixture[str]
) -> None:
    instance = instance_of(repository, diff(repository, "tests/test_shop.py", NEW_TEST) + BROKEN_RUNNER)
    row = {"instance_id": INSTANCE, "model_patch": instance["patch"]}
    assert set(bench(image, write_rows, instance, row, capfd).values()) == {"unjudged"}


def instance_of(repository: Path, test_patch: str) -> dict[str, Any]:
    return {
        "instance_id": INSTANCE,
        "repo": "acme/shop",
        "base_commit": git(repository, "rev-parse", "HEAD").strip(),
        "problem_statement": "Totals are ten times too high.",
        "patch": diff(repository, "shop.py", AFTER),
        "test_patch": test_patch,
        "FAIL_TO_PASS": json.dumps(["tests/test_shop.py::test_dollars"]),
        "PASS_TO_PASS": json.dumps(["tests/test_shop.py::test_empty"]),
    }


def bench(
    image: DockerDaemon,
    write_rows: WriteRows,
    instance: dict[str, Any],
    answer: dict[str, Any],
    capfd: pytest.CaptureFixture[str],
) -> dict[str, str]:
    """Return the grade of each test set, by the command as it is documented."""
    out = write_rows(name="answers.jsonl")
    arguments = [
        "--problems",
        str(write_rows(instance)),
        "--samples",
        str(write_rows(answer, name="s.jsonl")),
    ]
    arguments += ["--image", "spanproof-swe/{instance}:latest", "--backend", "docker"]
    arguments += ["--set", f"host={image.host}"]
    assert run(["bench", "swe-bench", *arguments, "--out", str(out), "--json"]) == 0
    graded = json.loads(out.read_text().splitlines()[-1])
    assert json.loads(capfd.readouterr().out)
    return {name: each["grade"] for name, each in graded["grades"].items()}
