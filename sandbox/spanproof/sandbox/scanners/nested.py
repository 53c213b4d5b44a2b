"""Code inside code: one `scan` for a nested source, whichever language holds it.

In: a language, the text and the context of the place that holds it. Out: findings in the context's report.
The languages do not import each other: each is imported, with its parser, by the first scan that needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from spanproof.sandbox.scanners.context import MAX_NESTING, Context
from spanproof.sandbox.scanners.source import START, Source

Scan = Callable[[Context, Source], None]

# Modules of languages, which are also the prefixes of their rules, where they differ from the name.
_MODULES: Final = {"bash": "shell", "jinja": "templates"}


def build_scan(module: str) -> Scan:
    """Return the `scan` of a module of scanners."""
    loaded: list[Scan] = []

    def scan_source(context: Context, source: Source) -> None:
        if not loaded:
            loaded.append(import_module(f"spanproof.sandbox.scanners.{module}").scan)
        loaded[0](context, source)

    return scan_source


def scan(language: str, context: Context, text: str) -> None:
    """Scan a source found inside another, in the context that `Context.build_nested` made for it."""
    module = _MODULES.get(language, language)
    if context.depth > MAX_NESTING:
        context.add(f"{module}.exec.payload", START, "hides code in too many layers")
    else:
        build_scan(module)(context, Source(language, text))
