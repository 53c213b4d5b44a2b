"""A test that starts a program which `make test` does not install fails without the mark of a component."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from component_marks import COMPONENT_MARKS
from system_packages import link_programs, list_programs

_ROOT = Path(__file__).parents[2]
_PLUGINS = _ROOT / "tests" / "plugins"
_INI = "[pytest]\nmarkers =\n    peers: another product\n"
_REMEDY = "which `make test` does not install: mark the test"

RunTest = Callable[[str], str]


@pytest.fixture
def run_test(tmp_path: Path) -> RunTest:
    """Run a file of tests with the plugin, where PATH has a program `product`; returns what pytest prints."""
    programs, temporary = tmp_path / "programs", tmp_path / "temporary"
    programs.mkdir()
    temporary.mkdir()
    product = programs / "product"
    product.write_text("#!/bin/sh\n")
    product.chmod(0o755)
    (tmp_path / "pytest.ini").write_text(_INI)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(_PLUGINS),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # What is in the directory for temporary files, the test made itself.
        "TMPDIR": str(temporary),
    }

    def run(source: str) -> str:
        (tmp_path / "test_it.py").write_text(
            f"import asyncio, os, shutil, subprocess, sys\nimport pytest\n\n{source}\n"
        )
        command = [sys.executable, "-m", "pytest", "-p", "started_programs", "-p", "no:cacheprovider", "-rA"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        return done.stdout + done.stderr

    return run


@pytest.mark.parametrize(
    "start",
    [
        "subprocess.run(['product'])",
        "subprocess.run(['product'], env={'PATH': os.environ['PATH']})",
        "os.waitpid(os.posix_spawnp('product', ['product'], os.environ), 0)",
        "asyncio.run(asyncio.create_subprocess_exec('product'))",
        "os.symlink('../programs/product', 'temporary/link'); subprocess.run(['temporary/link'])",
    ],
    ids=["subprocess", "environment", "posix_spawn", "asyncio", "link"],
)
def test_another_program_fails_the_test_and_is_named(run_test: RunTest, start: str) -> None:
    printed = run_test(f"def test_it():\n    {start}")
    assert "1 failed" in printed
    assert re.search(
        r"test_it\.py::test_it starts \S+/(product|link), which `make test` does not install", printed
    )
    assert "peers" in printed
    assert "tests/system-packages.txt" in printed


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("def test_it():\n    try: subprocess.run(['product'])\n    except BaseException: pass", "1 failed"),
        ("def test_it():\n    subprocess.run(['product'])\n    pytest.skip('no product')", "1 failed"),
        ("@pytest.mark.xfail\ndef test_it():\n    subprocess.run(['product'])\n    assert 0", "1 failed"),
        ("def test_it():\n    subprocess.run(['product'])\n    assert 0", "1 failed"),
        ("@pytest.fixture\ndef a(): subprocess.run(['product'])\ndef test_it(a): pass", "1 error"),
        (
            "@pytest.fixture\ndef a():\n    yield\n    subprocess.run(['product'])\ndef test_it(a): pass",
            "1 passed, 1 error",
        ),
        ("subprocess.run(['product'])\ndef test_it(): pass", "1 error"),
    ],
    ids=["swallowed", "skipped", "expected", "failed", "setup", "teardown", "import"],
)
def test_it_fails_whatever_becomes_of_the_test(run_test: RunTest, source: str, outcome: str) -> None:
    printed = run_test(source)
    assert outcome in printed
    assert f"product, {_REMEDY}" in printed


def test_with_a_mark_it_passes(run_test: RunTest) -> None:
    assert "1 passed" in run_test("@pytest.mark.peers\ndef test_it():\n    subprocess.run(['product'])")


@pytest.mark.parametrize(
    "start",
    [
        "subprocess.run([sys.executable, '-c', ''], check=True)",
        "subprocess.run(['/proc/self/exe', '-c', ''], check=True)",
        "subprocess.run(['sh', '-c', 'true'], check=True)",
        "subprocess.run('true', shell=True, check=True)",
        "subprocess.run([tmp_path / shutil.copy('programs/product', tmp_path)], check=True)",
        "pytest.raises(OSError, subprocess.run, ['missing-' + 'x' * 300])",
    ],
    ids=["python", "exe", "sh", "shell", "made", "missing"],
)
def test_what_every_machine_has_passes(run_test: RunTest, start: str) -> None:
    assert "1 passed" in run_test(f"def test_it(tmp_path):\n    {start}")


def test_the_makefile_and_the_documentation_name_all_marks() -> None:
    (components,) = re.findall(r"^COMPONENTS := (.*)$", (_ROOT / "Makefile").read_text(), re.MULTILINE)
    assert tuple(components.split(" or ")) == COMPONENT_MARKS
    page = (_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(re.search(rf"`{name}`|-m {name}`", page) for name in COMPONENT_MARKS)


def test_a_directory_of_the_programs_holds_nothing_else(tmp_path: Path) -> None:
    link_programs(tmp_path / "programs")
    links = sorted((tmp_path / "programs").iterdir())
    assert [link.name for link in links] == list_programs()
    assert {"git", "sh"} < {link.name for link in links}
    assert all(os.access(link, os.X_OK) for link in links)
