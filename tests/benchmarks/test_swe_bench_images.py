"""Two instances of SWE-bench in their images: patches are applied and tested in real containers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
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
TOTALS, TAXES, ABSENT = "acme__shop-1", "acme__shop-2", "acme__shop-3"
TAG = "spanproof-swe/acme_1776_shop-{}:latest"

TAX_BEFORE = """class Tax:
    def __init__(self, rate):
        self.rate = rate

    def of(self, net):
        return net * self.rate
"""
TAX_AFTER = TAX_BEFORE.replace("net * self.rate", "round(net * self.rate, 2)")
TAX_OLD_TEST = """import unittest

from tax import Tax


class TaxTests(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(Tax(0.19).of(0), 0)
"""
TAX_NEW_TEST = (
    TAX_OLD_TEST
    + """
    def test_cents(self):
        self.assertEqual(Tax(0.19).of(9.99), 1.9)
"""
)


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
    (found / "src").mkdir()
    (found / "src" / "tax.py").write_text(TAX_BEFORE)
    (found / "tests" / "test_tax.py").write_text(TAX_OLD_TEST)
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
    name, _, tag = TAG.format(1).rpartition(":")
    path = "ENV PATH=/usr/local/bin:/usr/bin:/bin"
    reported = client.import_image_from_file(str(archive), repository=name, tag=tag, changes=[path])
    assert "error" not in reported
    client.tag(TAG.format(1), *TAG.format(2).split(":"))
    yield docker_daemon
    for number in (1, 2):
        client.remove_image(TAG.format(number), force=True)
    client.close()


def test_patches_must_turn_what_fails_and_keep_what_passes(
    image: DockerDaemon, repository: Path, write_rows: WriteRows, capfd: pytest.CaptureFixture[str]
) -> None:
    """All answers to two instances in one run, an instance without an image beside them."""
    totals, taxes = (make(repository) for make in (build_totals, build_taxes))
    absent = {**totals, "instance_id": ABSENT}
    change = partial(diff, repository, "shop.py")
    expected = {
        (TOTALS, totals["patch"]): ("passed", "passed", "passed"),
        (TOTALS, change("def total(cents):\n    return 2\n")): ("failed", "passed", "failed"),
        (TOTALS, change("def total(cents):\n    return 0\n")): ("failed", "failed", "passed"),
        (TOTALS, change("def total(cents)\n")): ("failed", "failed", "failed"),
        (TOTALS, "this is no patch"): ("failed", "failed", "failed"),
        (TOTALS, BROKEN_RUNNER): ("failed", "failed", "failed"),
        (TAXES, taxes["patch"]): ("passed", "passed", "passed"),
        (TAXES, diff(repository, "src/tax.py", TAX_BEFORE + "\n# later\n")): ("failed", "failed", "passed"),
        (ABSENT, totals["patch"]): ("unjudged", "unjudged", "unjudged"),
    }
    rows = [{"instance_id": instance, "model_patch": patch} for instance, patch in expected]
    report, graded = bench(image, write_rows, [totals, taxes, absent], rows, capfd)
    found = [
        tuple(each["grades"][name]["grade"] for name in ("resolved", "FAIL_TO_PASS", "PASS_TO_PASS"))
        for each in graded
    ]
    assert found == list(expected.values())
    assert report["rates"]["resolved"]["answers"] == 8, "what has no image is in no rate"
    assert list(report["unjudged"].values()) == [1]


def test_an_instance_whose_tests_never_run_is_unjudged(
    image: DockerDaemon, repository: Path, write_rows: WriteRows, capfd: pytest.CaptureFixture[str]
) -> None:
    instance = build_totals(repository)
    instance["test_patch"] += BROKEN_RUNNER
    row = {"instance_id": TOTALS, "model_patch": instance["patch"]}
    _, (graded,) = bench(image, write_rows, [instance], [row], capfd)
    assert {each["grade"] for each in graded["grades"].values()} == {"unjudged"}


def build_totals(repository: Path) -> dict[str, Any]:
    return {
        **build_instance(repository, TOTALS),
        "problem_statement": "Totals are ten times too high.",
        "patch": diff(repository, "shop.py", AFTER),
        "test_patch": diff(repository, "tests/test_shop.py", NEW_TEST),
        "FAIL_TO_PASS": json.dumps(["tests/test_shop.py::test_dollars"]),
        "PASS_TO_PASS": json.dumps(["tests/test_shop.py::test_empty"]),
    }


def build_taxes(repository: Path) -> dict[str, Any]:
    name = "tests/test_tax.py::TaxTests::test_"
    return {
        **build_instance(repository, TAXES),
        "problem_statement": "Taxes have more than two decimals.",
        "patch": diff(repository, "src/tax.py", TAX_AFTER),
        "test_patch": diff(repository, "tests/test_tax.py", TAX_NEW_TEST),
        "FAIL_TO_PASS": json.dumps([f"{name}cents"]),
        "PASS_TO_PASS": json.dumps([f"{name}nothing"]),
    }


def build_instance(repository: Path, identity: str) -> dict[str, Any]:
    base = git(repository, "rev-parse", "HEAD").strip()
    return {"instance_id": identity, "repo": "acme/shop", "base_commit": base}


def bench(
    image: DockerDaemon,
    write_rows: WriteRows,
    instances: list[dict[str, Any]],
    answers: list[dict[str, Any]],
    capfd: pytest.CaptureFixture[str],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the report and the graded answers, by the command as it is documented."""
    out = write_rows(name="answers.jsonl")
    arguments = ["--problems", str(write_rows(*instances))]
    arguments += ["--samples", str(write_rows(*answers, name="s.jsonl"))]
    arguments += ["--image", "spanproof-swe/{instance}:latest", "--backend", "docker"]
    arguments += ["--set", f"host={image.host}"]
    assert run(["bench", "swe-bench", *arguments, "--out", str(out), "--json"]) == 0
    graded = [json.loads(line) for line in out.read_text().splitlines()]
    return json.loads(capfd.readouterr().out), [each for each in graded if "problem" in each]
