"""What a failed piece of code was after: the error read together with the code that raised it.

In: the source of an action and the error it ended with. Out: an `Aim`: the names the failing statement was to
bind or call, those the error itself names, and whether the error is one that passes by itself. Code is parsed
at most; what does not parse is read by its words.
"""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import dataclass
from functools import lru_cache

from spanproof.evaluators.actions import ANSWER_TOOLS, MAX_PARSED_CHARS
from spanproof.reading.python_facts import (
    BUILTIN_NAMES,
    PythonFacts,
    find_failing_statement,
    find_python_facts,
)

_PASSING = re.compile(
    r"\b(?:\w*Timeout(?:Error|Expired)?|timed out|Connection\w*Error|connection (?:reset|refused|aborted)"
    r"|temporarily|rate limit\w*|RateLimit\w*|too many requests|service unavailable|bad gateway"
    r"|429|502|503|504)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.]{0,80})['\"`]")
_NAME = re.compile(r"[^\W\d]\w*")
_BOUND = re.compile(r"(?m)^\s*(?:const\s+|let\s+|var\s+)?([A-Za-z_]\w*)\s*=(?!=)")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
# Longer code is read by its words: each failure is held against many pieces of code.
_MAX_READ_CHARS = 20_000

COMMON = BUILTIN_NAMES | frozenset(keyword.kwlist) | ANSWER_TOOLS | {"_"}
"""Names that say nothing of what code is after."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What failed code was to bring.

    Attributes:
        names: what the failing statement binds and calls; of the whole code where the statement is not known.
        cause: names the error quotes (a missing key, module, attribute): what a mend has to do with.
        words: every distinctive name of the code.
        passing: the error is one that passes by itself, so that the same again may help.
        computed: the failing statement works something out, so that a literal in its place is no mend.
        task_words: the words of the task; none where it is not known.
    """

    names: frozenset[str]
    cause: frozenset[str]
    words: frozenset[str]
    passing: bool
    computed: bool
    task_words: frozenset[str] = frozenset()

    @property
    def is_aside(self) -> bool:
        """Whether the task is known and requires nothing of what failed."""
        words = {word for name in self.names for word in name.lower().split("_")}
        return bool(self.task_words) and words.isdisjoint(self.task_words)


def build_aim(source: str, error: str, task: str = "") -> Aim:
    """Return what failed code was to bring, by its error and its source."""
    cause = frozenset(part for found in _QUOTED.findall(error[-4_000:]) for part in found.split("."))
    words = list_distinctive_names(source) - cause
    facts = find_python_facts(source) if len(source) <= _MAX_READ_CHARS else None
    if facts is not None:
        statement = find_failing_statement(facts.tree, source, error, cause)
    else:
        statement = None
    if facts is not None:
        if statement is None:
            tree = facts.tree
        else:
            tree = ast.Module([statement], [])
        failing = facts if statement is None else PythonFacts(tree)
        names = (failing.bound_names | failing.called_names - cause) - COMMON - failing.literal_names
    else:
        names = frozenset((*_BOUND.findall(source), *_CALLED.findall(source))) - COMMON - cause
    computed = statement is None or any(
        isinstance(node, ast.Call | ast.BinOp) for node in ast.walk(statement)
    )
    task_words = frozenset(re.findall(r"[a-z]+", task[:MAX_PARSED_CHARS].lower()))
    return Aim(names, cause, words, is_passing(error), computed, task_words)


def is_passing(error: str) -> bool:
    """Whether an error may be gone at the next try without a change."""
    return _PASSING.search(error[-4_000:]) is not None


@lru_cache(maxsize=128)
def list_distinctive_names(source: str) -> frozenset[str]:
    """Return the names in a text that are neither built in nor keywords."""
    return frozenset(_NAME.findall(source[:MAX_PARSED_CHARS])) - COMMON
