"""From facts to an `Execution`: what became of a program, and its failure class.

In: the supervisor's header and the kept output. Out: an `Execution`. The classes that concern the wall come
from what the kernel reported alone: a program that prints or raises "PermissionError" without having been
refused anything has raised an exception, no more. Pure: no side effects, and total over any header.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanproof.sandbox.guest.uncollected import find_unrun_reason
from spanproof.sandbox.model import (
    Attempt,
    AttemptKind,
    Execution,
    ExecutionNote,
    FailureClass,
    Limits,
    NoteKind,
    Raised,
    Tier,
)

_NEAR_LIMIT = 0.5  # A program that says MemoryError is believed when its tree held this part of its limit
_COMMAND_NOT_FOUND = 127
# Languages in which the program is data to its engine, so that the guest's word is the engine's own.
_ENGINES = frozenset(("sql",))

_V8 = frozenset(("javascript", "typescript"))
# Refused calls that runtimes try by themselves, and do without: recorded, but not unsafe.
_TRIED_BY_LIBRARIES = frozenset(
    ("kcmp", "listmount", "move_pages", "name_to_handle_at", "process_madvise", "statmount")
)


@dataclass(frozen=True, slots=True)
class Facts:
    """A header whose every field has been checked.

    Attributes:
        stopped: why the supervisor killed it: `timeout`, `memory`, `output`, `closed`, or None.
        code, number: how the main process ended, the exit code or the signal; both None where it goes on.
        oom_killed: whether the kernel killed in the tree for memory.
        outcome: what the guest said: `finished`, `ok`, `raised`, `syntax`, `fixture`, or None.
        flags: the guest's classification of its exception, by name.
        path: the file its exception is about, as the guest reported it.
        notes: what crosses no boundary.
        nowhere: files that were to be read and that lie nowhere, so that no wall kept them from it.
    """

    stopped: str | None
    code: int | None
    number: int | None
    oom_killed: bool
    memory_refused: int
    peak_bytes: int
    cpu_s: float
    wall_s: float
    attempts: tuple[Attempt, ...]
    notes: tuple[ExecutionNote, ...]
    nowhere: frozenset[str]
    outcome: str | None
    flags: Mapping[str, bool]
    path: str | None
    raised: Raised | None
    tests_passed: int | None
    tests_total: int | None
    tests_skipped: int
    language: str


def classify_failure(facts: Facts, limits: Limits) -> FailureClass:
    """Return the failure class; the order of the questions is the order of their weight."""
    if _has_unsafe_attempt(facts):
        return FailureClass.UNSAFE_OPERATION
    stopped = _find_stop_class(facts, limits)
    if stopped is not None:
        return stopped
    if _is_out_of_memory(facts, limits):
        return FailureClass.OUT_OF_MEMORY
    if facts.number is not None:
        return FailureClass.KILLED
    failed = facts.code != 0 if facts.code is not None else facts.outcome != "ok"
    if not failed:
        return _classify_tests(facts)
    if facts.outcome == "syntax":
        return FailureClass.SYNTAX_ERROR
    boundary = _find_refusal_class(facts)
    if boundary is not None:
        return boundary
    if facts.raised is None and facts.language != "python":
        return _classify_script(facts.code)
    if facts.flags.get("assertion"):
        return FailureClass.ASSERTION_FAILURE
    if facts.flags.get("missing"):
        return FailureClass.MISSING_DEPENDENCY
    return FailureClass.EXCEPTION


def _has_unsafe_attempt(facts: Facts) -> bool:
    """Whether a privileged call was refused: no way to end, and no `except`, makes that undone."""
    return _is_unsafe(facts.attempts)


def _is_unsafe(attempts: Sequence[Attempt]) -> bool:
    return any(
        attempt.kind is AttemptKind.PRIVILEGE
        and not attempt.allowed
        and attempt.target not in _TRIED_BY_LIBRARIES
        for attempt in attempts
    )


def _find_stop_class(facts: Facts, limits: Limits) -> FailureClass | None:
    if facts.stopped == "timeout":
        return FailureClass.TIMEOUT
    if facts.stopped == "memory":
        return FailureClass.OUT_OF_MEMORY
    if facts.stopped == "output":
        return FailureClass.OUTPUT_LIMIT
    over_cpu = facts.cpu_s >= 0.9 * limits.cpu_s
    if facts.number in (signal.SIGXCPU, signal.SIGKILL) and over_cpu:
        return FailureClass.TIMEOUT
    return None


def _is_out_of_memory(facts: Facts, limits: Limits) -> bool:
    if facts.oom_killed and (facts.number is not None or facts.code != 0):
        return True
    if facts.number == signal.SIGABRT and facts.language in _V8:
        return facts.peak_bytes >= _NEAR_LIMIT * limits.memory_bytes  # V8 gives up so, and only so
    if not facts.flags.get("memory") or facts.outcome != "raised" or facts.code == 0:
        return False
    if facts.language in _ENGINES:
        return True
    return facts.memory_refused > 0 or facts.peak_bytes >= _NEAR_LIMIT * limits.memory_bytes


def _find_refusal_class(facts: Facts) -> FailureClass | None:
    """Return PERMISSION_DENIED where the failure is that of a refused attempt, else None.

    The refusal is the kernel's word, or that of an engine in which no code of the program runs; the guest's
    report only ties the failure to it. An error about a file that was not refused, or that lies nowhere, or
    one that names no refused address, is an exception as any other.
    """
    if facts.language in _ENGINES and facts.flags.get("denied"):
        return FailureClass.PERMISSION_DENIED
    unclassified = facts.raised is None and facts.language != "python"
    any_refusal = unclassified or facts.language in _ENGINES or facts.flags.get("process", False)
    os_error = facts.flags.get("os", False)
    by_network = any_refusal or (os_error and facts.path is None)
    # A unix socket's error names no path, as a network's does not.
    by_file = by_network or facts.flags.get("permission", False) or facts.path in _list_refused_targets(facts)
    if _has_refusal(facts, AttemptKind.NETWORK) and (by_network or facts.flags.get("client")):
        return FailureClass.PERMISSION_DENIED
    if _has_refusal(facts, AttemptKind.FILE) and by_file:
        return FailureClass.PERMISSION_DENIED
    return None


def _list_refused_targets(facts: Facts) -> set[str]:
    return {attempt.target for attempt in facts.attempts if not attempt.allowed} - facts.nowhere


def _classify_script(code: int | None) -> FailureClass:
    return FailureClass.MISSING_DEPENDENCY if code == _COMMAND_NOT_FOUND else FailureClass.EXCEPTION


def _classify_tests(facts: Facts) -> FailureClass:
    if facts.tests_total is not None and (facts.tests_passed or 0) + facts.tests_skipped < facts.tests_total:
        return FailureClass.ASSERTION_FAILURE
    return FailureClass.OK


def _has_refusal(facts: Facts, kind: AttemptKind) -> bool:
    return any(
        attempt.kind is kind and not attempt.allowed and attempt.target not in facts.nowhere
        for attempt in facts.attempts
    )


def _split_status(status: object) -> tuple[int | None, int | None]:
    """Return the exit code and the signal of a wait status."""
    if type(status) is not int or not 0 <= status < 1 << 16:
        return None, None
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def build_execution(
    header: Mapping[str, Any],
    parts: Sequence[bytes],
    limits: Limits,
    *,
    language: str = "python",
    may_exist: Callable[[str], bool] = lambda _path: True,
    tests: str | None = None,
) -> Execution:
    """Read a supervisor's result.

    Args:
        header: the result, of any content.
        parts: the output kept.
        limits: the program's.
        language: the program's.
        may_exist: whether something may lie outside the wall at a path at which the supervisor saw nothing.
        tests: the program's; None where it has none.
    """
    facts = read_facts(header, language=language, may_exist=may_exist)
    stdout, stderr = (*parts, b"", b"")[:2]
    text, characters = _read_result_text(header)
    failure_class, reason = classify_failure(facts, limits), None
    if tests is not None and failure_class is FailureClass.OK:
        total = (facts.tests_total or 0) - facts.tests_skipped
        reason = find_unrun_reason(
            tests, total, _find_text(header.get("tests_collector")) or "", facts.tests_skipped
        )
        failure_class = FailureClass.TESTS_NOT_RUN if reason else FailureClass.OK
    return Execution(
        failure_class=failure_class,
        exit_code=facts.code,
        signal=facts.number,
        stdout=stdout.decode("utf-8", "replace"),
        stderr=stderr.decode("utf-8", "replace"),
        stdout_cut=header.get("out_cut") is True,
        stderr_cut=header.get("err_cut") is True,
        wall_s=facts.wall_s,
        cpu_s=facts.cpu_s,
        peak_memory_bytes=facts.peak_bytes,
        attempts=facts.attempts,
        attempts_whole=header.get("merged") is not True,
        notes=facts.notes,
        files=_read_files(header.get("files")),
        raised=facts.raised if facts.code != 0 else None,  # one that was caught after all ended nothing
        result=header.get("result"),
        result_text=text,
        result_characters=characters,
        tests_passed=facts.tests_passed,
        tests_total=facts.tests_total,
        tests_failed=_read_test_numbers(header.get("tests_failed"), facts.tests_total),
        tests_skipped=_read_test_numbers(header.get("tests_skipped"), facts.tests_total),
        tests_names=_read_test_names(header.get("tests_names"), facts.tests_total),
        # A supervisor that does not say has not held them apart.
        tests_apart=header.get("tests_apart") is True if facts.tests_total is not None else None,
        reason=reason,
        # A supervisor that does not say has the weaker one.
        tier=Tier.FULL if header.get("tier") == Tier.FULL else Tier.REDUCED,
    )


def add_attempts(
    execution: Execution,
    header: Mapping[str, Any],
    may_exist: Callable[[str], bool] = lambda _path: True,
) -> Execution:
    """Return an execution with what was recorded after it was reported; `may_exist` as `build_execution`."""
    attempts = {(attempt.kind, attempt.target): attempt for attempt in execution.attempts}
    late, late_notes = _read_record(header, may_exist)
    for more in late:
        earlier = attempts.get((more.kind, more.target))
        if earlier is not None:
            more = replace(more, allowed=more.allowed and earlier.allowed, count=more.count + earlier.count)
        attempts[more.kind, more.target] = more
    found = tuple(attempts.values())
    notes = {(note.kind, note.target): note for note in execution.notes}
    for note in late_notes:
        seen = notes.get((note.kind, note.target))
        notes[note.kind, note.target] = note if seen is None else replace(note, count=note.count + seen.count)
    return replace(
        execution,
        attempts=found,
        notes=tuple(notes.values()),
        attempts_whole=execution.attempts_whole and header.get("merged") is not True,
        failure_class=FailureClass.UNSAFE_OPERATION if _is_unsafe(found) else execution.failure_class,
    )


def _read_result_text(header: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return the text of a step's value, marked where it is cut, and how long it was then."""
    text, characters = header.get("text"), _find_count(header.get("characters"))
    if not isinstance(text, str):
        return None, None
    if characters is None or characters <= len(text):
        return text, None
    return f"{text}\n[... {characters - len(text)} characters cut ...]", characters


def read_facts(header: Mapping[str, Any], *, language: str, may_exist: Callable[[str], bool]) -> Facts:
    """Take what has the right type from a header; what has not is absent."""
    raised = header.get("raised")
    message_header = raised if isinstance(raised, dict) else {}
    flags = {str(key): value for key, value in message_header.items() if isinstance(value, bool)}
    code, number = _split_status(header.get("status"))
    total = _find_count(header.get("tests_total"))
    passed = None if total is None else min(_find_count(header.get("tests_passed")) or 0, total)
    attempts, notes = _read_record(header, may_exist)
    return Facts(
        stopped=_find_text(header.get("stopped")),
        code=code,
        number=number,
        oom_killed=header.get("oom_killed") is True,
        memory_refused=_read_count_or_zero(header.get("memory_refused")),
        peak_bytes=_read_count_or_zero(header.get("peak")),
        cpu_s=_read_seconds(header.get("cpu_s")),
        wall_s=_read_seconds(header.get("wall_s")),
        attempts=attempts,
        notes=notes,
        nowhere=_read_missing_paths(header.get("missing"), may_exist),
        outcome=_find_text(header.get("outcome")),
        flags=flags,
        path=_find_text(message_header.get("path")),
        raised=_read_raised(message_header) if message_header else None,
        tests_passed=passed,
        tests_total=total,
        tests_skipped=len(_read_test_numbers(header.get("tests_skipped"), total)),
        language=language,
    )


def _find_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _read_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_test_names(value: object, total: int | None) -> tuple[str, ...]:
    return tuple(name for name in _read_list(value) if isinstance(name, str))[: total or 0]


def _read_test_numbers(value: object, total: int | None) -> tuple[int, ...]:
    """Return the numbers of tests that exist; what else a supervisor says is dropped."""
    numbers = (number for number in _read_list(value) if type(number) is int)
    return tuple(number for number in numbers if 0 <= number < (total or 0))


def _find_count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _read_count_or_zero(value: object) -> int:
    return _find_count(value) or 0


def _read_seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else 0.0


def _read_attempts(value: object) -> tuple[Attempt, ...]:
    found = []
    for row in _read_list(value):
        if isinstance(row, list) and len(row) in (3, 4) and isinstance(row[1], str):
            kind, target, allowed, *count = row
            if isinstance(kind, str) and kind in AttemptKind._value2member_map_:
                times = _find_count(count[0]) if count else 1
                found.append(Attempt(AttemptKind(kind), target, allowed is True, times or 1))
    return tuple(found)


def _read_record(
    header: Mapping[str, Any], may_exist: Callable[[str], bool]
) -> tuple[tuple[Attempt, ...], tuple[ExecutionNote, ...]]:
    """Return what was attempted, and what is a note.

    A look at what is not in sight is an attempt where something may lie there, outside the wall.
    """
    attempts, notes = [*_read_attempts(header.get("attempts"))], []
    for path, count in _read_counted(header.get("looks")):
        if may_exist(path):
            attempts.append(Attempt(AttemptKind.FILE, path, allowed=False, count=count))
        else:
            notes.append(ExecutionNote(NoteKind.MISSING_FILE, path, count))
    notes += [
        ExecutionNote(NoteKind.LEFT_RUNNING, what, count) for what, count in _read_counted(header.get("left"))
    ]
    return tuple(attempts), tuple(notes)


def _read_counted(value: object) -> list[tuple[str, int]]:
    """Return rows of a name and a count; what has another form is dropped."""
    pairs = [row for row in map(_read_list, _read_list(value)) if len(row) == 2]
    return [(name, _find_count(count) or 1) for name, count in pairs if isinstance(name, str)]


def _read_missing_paths(value: object, may_exist: Callable[[str], bool]) -> frozenset[str]:
    paths = (path for path in _read_list(value) if isinstance(path, str))
    return frozenset(path for path in paths if not may_exist(path))


def _read_raised(message_header: Mapping[str, Any]) -> Raised:
    line = message_header.get("line")
    has_line = type(line) is int and line > 0
    return Raised(
        type=str(message_header.get("type", ""))[:200],
        message=str(message_header.get("message", ""))[:4096],
        chain=tuple(str(name)[:200] for name in _read_list(message_header.get("chain"))[:16]),
        line=line if has_line else None,
    )


def _read_files(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {str(name): size for name, size in value.items() if _find_count(size) is not None}
