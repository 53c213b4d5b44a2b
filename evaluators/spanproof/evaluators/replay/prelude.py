"""Code of ours that a session runs before the first step: the final answer, numpy seeded, names, signatures.

Takes what the run's sources mention and the tools they have; gives Python source. It is plain Python on
purpose, so that every backend with sessions replays alike; all else that is random, the session's seed fixes.
Nothing of it is a boundary: a program that looks for it finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from types import MappingProxyType

FINAL_ANSWER = "final_answer"
"""The tool every code agent has; it returns its argument."""

WAS_GIVEN = f"'given' in vars({FINAL_ANSWER})"
GIVEN = f"vars({FINAL_ANSWER}).pop('given')"

_FINAL_ANSWER = """
def final_answer(*args, **kwargs):
    given = [*args, *kwargs.values()]
    if len(given) != 1:
        raise TypeError(f"final_answer() takes 1 argument but {len(given)} were given")
    final_answer.given = given[0]
    return given[0]
"""
# Defined inside, not answered from outside: an answer may be a table, which crosses no wire.

_NUMPY = """
def _settle(seed):
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed)
_settle({seed})
del _settle
"""

_NO_TOOLS: Mapping[str, Sequence[str]] = MappingProxyType({})

_SIGNATURES = """
def _declare(tools):
    from inspect import Parameter, Signature
    for tool, names in tools:
        tool.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])
_declare([{tools}])
del _declare
"""

# What is in sources that may ask a function for its parameters.
_LOOKING = ("inspect", "help(")

# Packages whose import brings numpy; its global generator takes a seed only once it is there.
_NUMPY_USERS = ("numpy", "pandas", "scipy", "sklearn")


def list_heavy_imports(sources: Sequence[str]) -> tuple[str, ...]:
    """Return the heavy packages these sources mention, for `SessionSpec.imports`."""
    return tuple(user for user in _NUMPY_USERS if any(user in source for source in sources))


def build_prelude(
    sources: Sequence[str],
    seed: int,
    built_in: Iterable[str] = (),
    declared: Mapping[str, Sequence[str]] = _NO_TOOLS,
) -> str:
    """Build what runs before the steps.

    Args:
        sources: of the run's steps; numpy is loaded and seeded where one mentions it.
        seed: of everything random.
        built_in: functions of `math` the recorded interpreter had without an import.
        declared: parameters of tools, all of which the session has; passed where a source may look at them.
    """
    parts = [_FINAL_ANSWER]
    tools = [f"({tool}, {list(names)!r})" for tool, names in declared.items() if _is_writable(tool, names)]
    if tools and any(word in source for source in sources for word in _LOOKING):
        parts.append(_SIGNATURES.format(tools=", ".join(tools)))
    if list_heavy_imports(sources):
        parts.append(_NUMPY.format(seed=seed))
    names = ", ".join(sorted(built_in))
    if names:
        parts.append(f"from math import {names}\n")
    return "".join(parts)


def _is_writable(tool: str, names: Sequence[str]) -> bool:
    """Whether Python could declare a function like this."""
    written = all(name.isidentifier() and not iskeyword(name) for name in (tool, *names))
    return written and len(set(names)) == len(names) and tool != FINAL_ANSWER
