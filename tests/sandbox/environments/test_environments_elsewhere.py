"""Package sets where no root can be built of binds: in containers, and in the jail's reduced tier."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from docker_daemon import DockerDaemon

from spanproof.sandbox import (
    FailureClass,
    Fixtures,
    PackageSet,
    Program,
    Sandbox,
    SessionSpec,
    ToolAnswer,
    UnsupportedFixtures,
)
from spanproof.sandbox.backends.docker.build_sandbox import check_fits
from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.model import Ecosystem
from spanproof.sandbox.registry import open_sandbox

from .conftest import Registry, Wheels

ROOT = Path(__file__).parents[3]
ON_THE_WALL = "what_it_needs or takes_the_place or changed_from_inside or no_code_of or every_way"
"""Tests of environments that the tier makes a difference to."""
ALPHA = PackageSet(Ecosystem.PIP, ("alpha==1.0",))


@pytest.fixture
def containers(docker_daemon: DockerDaemon, directory: Path) -> Iterator[Sandbox]:
    settings = {"host": docker_daemon.host, "image": docker_daemon.image}
    with open_sandbox("docker", settings=settings) as opened:
        yield opened


def test_a_set_is_built_in_a_container_and_used_in_others(
    containers: Sandbox, wheels: Wheels, directory: Path
) -> None:
    wheels.add("alpha", "1.0", {"alpha/__init__.py": "import beta\nVERSION = '1.0'"}, needs=("beta",))
    wheels.add("beta", "2.0", {"beta.py": "VERSION = '2.0'"})
    source = """
import alpha, beta, os, subprocess, sys
print(alpha.VERSION, beta.VERSION, "numpy" in sys.modules)
again = [sys.executable, "-c", "import alpha; print(alpha.VERSION)"]
print(subprocess.run(again, capture_output=True).stdout)
try: open(alpha.__file__, "a")
except OSError as refused: print(type(refused).__name__)
try: import numpy
except ImportError: print("nothing but the set")
"""
    execution = containers.run(Program("python", source, fixtures=Fixtures(packages=ALPHA)))
    assert execution.stdout.splitlines() == [
        "1.0 2.0 False",
        "b'1.0\\n'",
        "PermissionError",
        "nothing but the set",
    ], execution
    spec = SessionSpec(fixtures=Fixtures(packages=ALPHA))
    with containers.session(spec, lambda _call: ToolAnswer()) as session:
        assert session.execute("import alpha; alpha.VERSION").result == "1.0"
    plain = containers.run(Program("python", "import alpha"))
    assert plain.failure_class is FailureClass.MISSING_DEPENDENCY
    assert len(list(directory.glob("images/*/site"))) == 1


def test_npm_s_are_found_beside_the_work_directory(
    containers: Sandbox, registry: Registry, directory: Path
) -> None:
    registry.add("alpha", "1.0.0", {"package/index.js": "module.exports = 'alpha'"})
    packages = PackageSet(Ecosystem.NPM, ("alpha@1.0.0",))
    source = "import os; print(open('../node_modules/alpha/index.js').read(), os.getcwd())"
    execution = containers.run(Program("python", source, fixtures=Fixtures(packages=packages)))
    assert execution.stdout == "module.exports = 'alpha' /box/work\n", execution


@pytest.mark.parametrize(
    ("other", "word"), [({"python": "3.9.1"}, "Python 3.9 "), ({"libc_version": "2.5"}, "glibc 2.5")]
)
def test_an_image_with_another_interpreter_is_refused_with_both_named(
    containers: Sandbox, other: dict[str, str], word: str
) -> None:
    pool = containers._pool  # type: ignore[attr-defined]
    limits = Program("python", "").limits
    container = cast(Container, containers._get_container(limits, Fixtures()))  # type: ignore[attr-defined]
    check_fits(container, Ecosystem.PIP)
    container.facts |= other
    with pytest.raises(UnsupportedFixtures, match=word):
        check_fits(container, Ecosystem.PIP)
    pool.close_container(container)


def test_no_pytest_that_starts_meanwhile_closes_the_directory_of_environments(
    tmp_path_factory: pytest.TempPathFactory, directory: Path
) -> None:
    for base in (tmp_path_factory.getbasetemp(), tmp_path_factory.getbasetemp().parent):
        base.chmod(0o700)  # as pytest makes its own
    assert all(parent.stat().st_mode & 0o001 for parent in directory.parents)


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="building a container takes root")
@pytest.mark.parametrize("user", ["root", "user"])
def test_the_suite_of_environments_passes_in_the_reduced_tier(user: str) -> None:
    suites = [
        str(ROOT / f"tests/sandbox/environments/test_{kind}_environments.py") for kind in ("pip", "npm")
    ]
    within = [sys.executable, str(ROOT / "tests/hostile/container.py"), user]
    pytest_on = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    done = subprocess.run(
        [*within, sys.executable, *pytest_on, "-k", ON_THE_WALL, *suites],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SPANPROOF_TESTED_TIER": "reduced", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="building a container takes root")
def test_root_learns_where_environments_may_lie_in_the_reduced_tier(wheels: Wheels, tmp_path: Path) -> None:
    wheels.add("alpha", "1.0", {"alpha.py": ""})
    closed = tmp_path / "closed"
    closed.mkdir(0o700)
    (tmp_path / "requirements.txt").write_text("alpha==1.0")
    within = [sys.executable, str(ROOT / "tests/hostile/container.py"), "root"]
    build = ["-m", "spanproof.cli", "sandbox", "environment", "build", "--set", "tier=reduced"]
    done = subprocess.run(
        [*within, sys.executable, *build, str(tmp_path / "requirements.txt"), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SPANPROOF_ENVIRONMENTS": str(closed)},
    )
    assert done.returncode == 2
    assert "SPANPROOF_ENVIRONMENTS" in done.stderr, done.stderr
    assert json.dumps("alpha")[1:-1] not in done.stdout
