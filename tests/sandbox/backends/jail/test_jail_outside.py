"""A file that lies nowhere is distinguished from one that the wall keeps away, and only to the host."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanproof.sandbox import FailureClass, NoteKind, Program, Sandbox, SessionSpec, ToolAnswer
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.namespaces.host_paths import may_exist_on_host

THERE = "/var/lib/dpkg/status"
"""On this machine, and in no jail."""
NOWHERE = f"/{secrets.token_hex(8)}/x"
READS = {
    "python": "try:\n    open({path!r})\nexcept OSError as problem:\n    print(problem.errno)\n    raise",
    "bash": "cat {path}",
}


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox("jail") as opened:
        yield opened


def test_what_is_not_there_is_known_not_to_be(tmp_path: Path) -> None:
    assert may_exist_on_host(THERE)
    assert not may_exist_on_host(NOWHERE)
    assert not may_exist_on_host("/etc/hostname/x"), "below a file lies nothing"


@pytest.mark.parametrize(
    "path",
    [
        "/proc/no-such",
        "/proc/self/root/no-such",
        "/proc/self/cwd",
        "/sys/no-such",
        "no-such",
        "",
        "/a\0b",
        "/\ud800",
    ],
)
def test_where_it_cannot_be_known_without_entering_something_it_may_lie_there(path: str) -> None:
    assert may_exist_on_host(path)


def test_a_link_that_leads_nowhere_lies_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("no-such")
    assert may_exist_on_host(str(tmp_path / "link"))


@pytest.mark.parametrize("language", READS)
def test_the_host_is_given_the_difference_and_the_program_is_not(jail: Sandbox, language: str) -> None:
    there, nowhere = (
        jail.run(Program(language, READS[language].format(path=path))) for path in (THERE, NOWHERE)
    )
    assert (there.failure_class, nowhere.failure_class) == (
        FailureClass.PERMISSION_DENIED,
        FailureClass.EXCEPTION,
    )
    assert there.stdout == nowhere.stdout
    assert there.stderr.replace(THERE, "X") == nowhere.stderr.replace(NOWHERE, "X")
    assert (THERE, False) in [(one.target, one.allowed) for one in there.attempts]
    # A look at what lies nowhere is no attempt at anything.
    assert not [one for one in nowhere.attempts if not one.allowed]
    assert [(one.kind, one.target) for one in nowhere.notes] == [(NoteKind.MISSING_FILE, NOWHERE)]


def test_to_write_where_nothing_lies_is_refused_all_the_same(jail: Sandbox) -> None:
    for source in (
        f"open({NOWHERE!r}, 'w')",
        f"try: open({NOWHERE!r})\nexcept OSError: open({NOWHERE!r}, 'a')",
    ):
        execution = jail.run(Program("python", source))
        assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution


def test_a_session_s_steps_are_given_it_too(jail: Sandbox) -> None:
    with jail.session(SessionSpec(), lambda _request: ToolAnswer()) as session:
        found = [session.execute(f"open({path!r})").failure_class for path in (NOWHERE, THERE)]
    assert found == [FailureClass.EXCEPTION, FailureClass.PERMISSION_DENIED]
