"""Code inside code: one `scan` for a nested source, whichever language holds it.

In: a language, the text and the context of the place that holds it. Out: findings in the context's report.
The languages do not import each other; the module that assembles them registers each scanner here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spanproof.sandbox.scanners.context import MAX_NESTING, Context
from spanproof.sandbox.scanners.source import START, Source

Scan = Callable[[Context, Source], None]

_SCANS: Final[dict[str, Scan]] = {}
_PREFIXES: Final = {"bash": "shell"}
"""Prefixes of rule ids, where they differ from the language's name."""


def register(language: str, scan_source: Scan) -> None:
    """Use this scanner for sources of a language that are found inside others."""
    _SCANS[language] = scan_source


def scan(language: str, context: Context, text: str) -> None:
    """Scan a source found inside another, in the context that `Context.nested` made for it.

    Raises:
        KeyError: no scanner is registered for the language; the scan fails, and so denies.
    """
    if context.depth > MAX_NESTING:
        prefix = _PREFIXES.get(language, language)
        context.add(f"{prefix}.exec.payload", START, "hides code in too many layers")
        return
    _SCANS[language](context, Source(language, text))
