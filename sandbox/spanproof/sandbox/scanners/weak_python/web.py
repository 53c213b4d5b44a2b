"""Web applications: markup, redirects and debug mode (CWE-79, 601, 489).

In: a call. Out: rule and message.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.weak_python.names import WORDS, Names, is_true, keyword

_MARKUP: Final = words_of(WORDS, "markup")


def judge_web(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """What a page shows and where it leads."""
    name = names.dotted(call.func)
    if name in _MARKUP and call.args and not names.is_literal(names.behind(call.args[0])):
        yield "weakness.markup", f"{name} shows a value without escaping it"
    if name == "jinja2.Environment":
        escape = keyword(call, "autoescape")
        if escape is None or (isinstance(escape, ast.Constant) and not escape.value):
            yield "weakness.markup", "a template engine that does not escape values"
    if (
        name in {"flask.redirect", "django.shortcuts.redirect"}
        and call.args
        and names.from_input(call.args[0])
    ):
        yield "weakness.redirect", f"{name} redirects to an address from the request"
    if name.endswith(".run") and is_true(keyword(call, "debug")) and "flask.Flask" in names.imported.values():
        yield "weakness.debug", "the debugger of a web application runs any code"
