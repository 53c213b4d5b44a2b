"""Environment drift over many runs: the same code ended otherwise where something else ran it.

Takes runs; gives the snippets whose recorded failure class follows the executor (its type, its version, its
image by digest). Only like is held against like: the same source, with the same code before it where it uses
names of that, and with the same answers of its tools. Code that ends both ways in one place wavers by itself
and is no drift; where nothing on the trace says what ran the code, nothing is said. Runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from spanproof.evaluators.recorded import PROGRAMS
from spanproof.evaluators.replay.names import read_names
from spanproof.evaluators.replay.record import read_record
from spanproof.sandbox import FailureClass
from spanproof.trace import Executor, Language, Run, Snippet

_Key = tuple[Language, str, tuple[str, ...], str]
_UNKNOWN = Executor()


@dataclass(frozen=True, slots=True)
class Ending:
    """How the code ended once: its class on record, and what ran it.

    Attributes:
        time_ns: when its step started, Unix nanoseconds.
    """

    trace_id: str
    span_id: str
    snippet_id: str
    failure_class: FailureClass
    executor: Executor
    time_ns: int


@dataclass(frozen=True, slots=True)
class Drift:
    """Code whose class changed with its executor.

    Attributes:
        endings: the newest of each executor, in order of time: at least two, not all of one class.
    """

    language: Language
    source: str
    endings: tuple[Ending, ...]

    @property
    def code_sha256(self) -> str:
        """The SHA-256 of the source, without the white space around it."""
        return sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()


def list_drifts(runs: Iterable[Run]) -> list[Drift]:
    """Return what drifted, the latest first."""
    found: dict[_Key, dict[Executor, list[Ending]]] = {}
    for run in runs:
        for key, ending in _iter_endings(run):
            found.setdefault(key, {}).setdefault(ending.executor, []).append(ending)
    found_drifts = [
        Drift(key[0], key[1], tuple(sorted(map(_get_newest, places.values()), key=lambda one: one.time_ns)))
        for key, places in found.items()
        if _follows_the_executor(places)
    ]
    return sorted(found_drifts, key=lambda drift: drift.endings[-1].time_ns, reverse=True)


def _follows_the_executor(places: Mapping[Executor, list[Ending]]) -> bool:
    classes = [{ending.failure_class for ending in endings} for endings in places.values()]
    return all(len(members) == 1 for members in classes) and len(set().union(*classes)) > 1


def _get_newest(endings: list[Ending]) -> Ending:
    return max(endings, key=lambda ending: ending.time_ns)


def _iter_endings(run: Run) -> Iterable[tuple[_Key, Ending]]:
    before: list[Snippet] = []
    for step in run.steps:
        for snippet in step.snippets:
            if not snippet.executed or snippet.language not in PROGRAMS or snippet.truncated:
                continue
            ended = read_record(snippet).failure_class
            if ended is not None and snippet.executor != _UNKNOWN:
                key = (
                    snippet.language,
                    snippet.source.strip(),
                    _list_dependencies(snippet, before),
                    _encode_answers(snippet),
                )
                yield (
                    key,
                    Ending(run.trace_id, snippet.span_id, snippet.id, ended, snippet.executor, step.start_ns),
                )
            before.append(snippet)


def _list_dependencies(snippet: Snippet, before: list[Snippet]) -> tuple[str, ...]:
    """Return the code before it, where it may use what that left: all of it, as that may in turn."""
    if snippet.language is not Language.PYTHON:
        return ()
    bound = [read_names(earlier.source).bound for earlier in before if earlier.language is Language.PYTHON]
    used = read_names(snippet.source).used
    if used & frozenset().union(*bound):
        return tuple(earlier.source.strip() for earlier in before)
    return ()


def _encode_answers(snippet: Snippet) -> str:
    """Return what its tools answered: another answer may well end otherwise."""
    return json.dumps(
        [
            [
                call.tool,
                call.args,
                dict(call.kwargs),
                call.result.text if call.result else None,
                call.error and call.error.type,
            ]
            for call in snippet.tape
        ],
        default=str,
    )
