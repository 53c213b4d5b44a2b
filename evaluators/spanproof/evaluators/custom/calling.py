"""Whether a function of the user's takes what it is given: read off its definition, nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Collection

# `completion` and `target` come first, by position.
_GIVEN_APART = 2


def find_call_problem(main: ast.FunctionDef | ast.AsyncFunctionDef, supplied: Collection[str]) -> str | None:
    """Return why `main(completion, target, **variables)` would raise; None where it would not or may not.

    Variables that it does not name are not given to it.

    Args:
        main: the definition.
        supplied: names of the variables.
    """
    if main.decorator_list:
        return None
    takes = main.args
    by_position = [*takes.posonlyargs, *takes.args]
    if len(by_position) < _GIVEN_APART and takes.vararg is None:
        return "main does not take completion and target"
    by_name = {parameter.arg for parameter in (*by_position[_GIVEN_APART:], *takes.kwonlyargs)}
    by_name -= {parameter.arg for parameter in takes.posonlyargs}
    without_default = by_position[: len(by_position) - len(takes.defaults)][_GIVEN_APART:]
    pairs = zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
    wanted = {
        parameter.arg for parameter in (*without_default, *(arg for arg, default in pairs if default is None))
    }
    if lacking := sorted(wanted - (set(supplied) & by_name)):
        return f"main wants {', '.join(lacking)}, which nothing gives it"
    return None
