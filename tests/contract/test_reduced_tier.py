"""The contract holds in the jail's reduced tier too: the same suites, where that tier is all there is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SUITES = sorted(
    [*HERE.glob("test_sandbox_*.py"), *HERE.glob("test_recorded_*.py"), HERE / "test_forged_tests.py"]
)
IN_CONTAINER = [sys.executable, str(ROOT / "tests/hostile/container.py")]

pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(os.geteuid() != 0, reason="building a container takes root"),
]


def run(user: str, *command: str) -> subprocess.CompletedProcess[str]:
    """A command of this interpreter's under Docker's default profile."""
    environment = {**os.environ, "SPANPROOF_TESTED_TIER": "reduced", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*IN_CONTAINER, user, sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.name)
@pytest.mark.parametrize("user", ["root", "user"])
def test_the_contract_suites_pass_where_only_the_reduced_tier_can_be_had(user: str, suite: Path) -> None:
    done = run(user, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), str(suite))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("user", ["root", "user"])
def test_the_default_tier_is_never_silently_weaker(user: str) -> None:
    done = run(user, "spanproof.cli", "sandbox", "check", "--json")
    assert done.returncode == 2
    assert "full tier needs user namespace" in done.stderr
    assert "--set tier=reduced" in done.stderr


@pytest.mark.parametrize("user", ["root", "user"])
def test_the_doctor_reports_what_is_missing_why_and_what_is_left(user: str) -> None:
    strict = run(user, "spanproof.cli", "doctor", "--backend", "jail", "--json")
    found = json.loads(strict.stdout)
    features = {feature["name"]: feature for feature in found["features"]}
    assert (strict.returncode, found["usable"], found["tier"]) == (1, False, None)
    assert "seccomp profile" in features["user namespace"]["detail"]
    assert "tier=reduced" in features["user namespace"]["remedy"]
    assert features["a jail of the reduced tier"]["present"]
    assert not features["a jail of the reduced tier"]["required"]
    lenient = run(user, "spanproof.cli", "doctor", "--backend", "jail", "--set", "tier=reduced", "--json")
    found = json.loads(lenient.stdout)
    assert (lenient.returncode, found["usable"], found["tier"]) == (0, True, "reduced")


_AMONG_NEIGHBOURS = """
import subprocess
from spanproof.sandbox import Program
from spanproof.sandbox.registry import open_sandbox
program = Program("python", "def add(a, b): return a + b", tests="assert add(1, 2) == 3")
with open_sandbox(settings={"tier": "reduced"}) as sandbox:
    sandbox.run(program)  # the next guest is armed, and bounded, before the neighbours come
    neighbours = [subprocess.Popen(["sleep", "60"]) for _ in range(2 * program.limits.processes)]
    found = sandbox.run(program)
    for neighbour in neighbours: neighbour.kill()
print(found.failure_class.value, found.stderr)
"""


def test_processes_of_the_same_user_that_came_since_a_guest_was_armed_take_none_of_its_room() -> None:
    done = subprocess.run(
        [*IN_CONTAINER, "user", sys.executable, "-c", _AMONG_NEIGHBOURS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["ok"], done.stdout + done.stderr
