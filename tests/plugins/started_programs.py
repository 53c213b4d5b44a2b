"""Fails a test that starts a program which `make test` does not install, unless it has a component's mark.

A test without such a mark may start Python, the programs of `tests/system-packages.txt`, what the virtual
environment holds (Node, ruff), and what it wrote itself into the directory for temporary files. A program
that is missing is not started: it fails a test that needs it.

An audit hook sees what the process of the tests starts, also by `asyncio`. It does not see what a child
starts: a shell, a forked child, `spanproof serve`. `.ci/run` finds those: its PATH holds nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from component_marks import COMPONENT_MARKS
from system_packages import list_programs

_LISTED = frozenset(list_programs())
_PYTHON = re.compile(r"python[\d.]*t?")
# Resolved: a link in one of these to a program elsewhere is judged by where it leads.
_OWN_DIRECTORIES = (Path(sys.prefix).resolve(), Path(tempfile.gettempdir()).resolve())

_started: list[Path] = []
"""Programs that need a mark, started since `_take_started` was called last."""


def _handle_event(event: str, arguments: tuple[Any, ...]) -> None:
    """Record a program that needs a mark: an audit hook, so an exception here would end up in the test."""
    if event == "subprocess.Popen":
        program, _arguments, directory, environment = arguments
    elif event in ("os.posix_spawn", "os.exec"):
        program, _arguments, environment = arguments
        directory = None
    else:
        return
    name = f"/proc/self/fd/{program}" if isinstance(program, int) else os.fsdecode(program)
    found = _find_program(name, os.fsdecode(directory or "."), environment)
    if found is not None and not _is_allowed(found):
        _started.append(found)


def _find_program(program: str, directory: str, environment: Mapping[Any, Any] | None) -> Path | None:
    """Return the path of a program as the system finds it; None where it is missing."""
    if "/" in program:
        path = os.path.join(directory, program)  # noqa: PTH118 (Path.exists raises on a name that is too long)
        return Path(path) if os.path.exists(path) else None  # noqa: PTH110
    try:
        searched = os.get_exec_path(environment)
    except ValueError:  # PATH is given as text and as bytes
        searched = os.get_exec_path()
    found = shutil.which(program, path=os.pathsep.join(searched))
    return Path(found) if found else None


def _is_allowed(program: Path) -> bool:
    """Whether a test may start a program without the mark of a component."""
    resolved = program.resolve()
    return (
        program.name in _LISTED
        or _PYTHON.fullmatch(resolved.name) is not None
        or any(resolved.is_relative_to(directory) for directory in _OWN_DIRECTORIES)
    )


def _take_started() -> list[Path]:
    """Return the programs recorded since the last call, each once."""
    taken = sorted(set(_started))
    _started.clear()
    return taken


def _format_fault(place: str, started: list[Path]) -> str:
    programs = ", ".join(map(str, started))
    return (
        f"{place} starts {programs}, which `make test` does not install: mark the test with its component "
        f"({', '.join(COMPONENT_MARKS)}), or add the program to tests/system-packages.txt"
    )


sys.addaudithook(_handle_event)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that starts a program when it is imported: that has no mark."""
    report = yield
    if started := _take_started():
        report.outcome = "failed"
        report.longrepr = _format_fault(collector.nodeid, started)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test without a mark that started a program, whatever became of it; its fixtures' count too."""
    report = yield
    started = _take_started()
    if not started or any(item.get_closest_marker(name) for name in COMPONENT_MARKS):
        return report
    fault = _format_fault(item.nodeid, started)
    if report.failed:
        report.sections.append(("Programs", fault))
    else:
        report.outcome = "failed"
        report.longrepr = fault
    return report
