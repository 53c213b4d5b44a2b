"""The gate before execution: every scanner that concerns a snippet's language, one after another, in process.

In: a language and a text. Out: a `Scan`, always. The strictest finding decides; an advisory one never does. A
scanner that raises or runs out of time denies with `scanner_error`: what could not be judged does not pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Finding, Scan, Verdict
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import START, Source

MAX_CHARACTERS: Final = 2_000_000
"""A longer source is denied; no agent writes one, and trees of it would not fit in memory."""

_DEFAULT_POLICY: Final = Policy()

_BASE_S: Final = 2.0
_S_PER_CHARACTER: Final = 20e-6

LANGUAGE_ALIASES: Final = {
    "py": "python", "python3": "python", "py3": "python", "ipython": "python", "pycon": "python",
    "sh": "bash", "shell": "bash", "zsh": "bash", "console": "bash", "shell-session": "bash", "ksh": "bash",
    "dash": "bash", "sqlite": "sql", "postgres": "sql", "postgresql": "sql", "mysql": "sql", "duckdb": "sql",
    "tsql": "sql", "js": "javascript", "node": "javascript", "jsx": "javascript", "mjs": "javascript",
    "ts": "typescript", "tsx": "typescript", "yml": "yaml",
}  # fmt: skip
"""Other names of languages, as fences and callers give them."""

DATA_LANGUAGES: Final = frozenset({"json", "yaml", "text", "markdown", "csv", "toml", "xml"})
"""What is read, not run: the text scanners are enough."""


@dataclass(frozen=True, slots=True)
class Scanner:
    """One scanner: its name, the languages it concerns (None for all), and what it does."""

    name: str
    languages: frozenset[str] | None
    scan: Callable[[Context, Source], None]


class Pipeline:
    """Scans snippets against one policy. Thread-safe: it keeps nothing between scans."""

    def __init__(
        self, policy: Policy = _DEFAULT_POLICY, *, scanners: Sequence[Scanner] | None = None
    ) -> None:
        """Args are the boundary to judge by, and the scanners to run (all of them by default)."""
        self.policy = policy
        self._boundary = Boundary(policy)
        self._scanners = tuple(default_scanners() if scanners is None else scanners)

    def scan(self, language: str, source: str) -> Scan:
        """Judge one snippet. Never raises.

        Args:
            language: `python`, `bash`, `sql`, `javascript`, `typescript` or one of their other names.
            source: any text.
        """
        started = time.perf_counter()
        report = Report()
        name = language.strip().lower()
        name = LANGUAGE_ALIASES.get(name, name)
        deadline = time.monotonic() + _BASE_S + _S_PER_CHARACTER * len(source)
        context = Context(self._boundary, report, deadline)
        if len(source) > MAX_CHARACTERS:
            context.add(
                "source.too-large", START, f"{len(source)} characters; at most {MAX_CHARACTERS} are judged"
            )
        else:
            self._run(context, Source(name, source))
        findings = report.findings()
        elapsed_us = int((time.perf_counter() - started) * 1e6)
        return Scan(verdict_of(findings), findings, elapsed_us)

    def _run(self, context: Context, source: Source) -> None:
        understood = source.language in DATA_LANGUAGES
        for scanner in self._scanners:
            if scanner.languages is not None:
                if source.language not in scanner.languages:
                    continue
                understood = True
            try:
                scanner.scan(context, source)
            except Exception as failure:  # noqa: BLE001 - whatever it is, an unjudged snippet does not pass
                told = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
                context.report.add("scanner_error", START, f"the {scanner.name} scanner failed: {told}")
        if not understood:
            context.add(
                "language.unscanned", START, f"no scanner reads {source.language or 'an unnamed language'}"
            )


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """The strictest verdict any finding asks for."""
    asked = {finding.verdict for finding in findings}
    if Verdict.DENY in asked:
        return Verdict.DENY
    return Verdict.REVIEW if Verdict.REVIEW in asked else Verdict.ALLOW


def default_scanners() -> list[Scanner]:
    """Every scanner, cheapest first. Parsers are imported by the scan that needs them."""
    return [
        Scanner("text", None, _text),
        Scanner("secrets", None, _secrets),
        Scanner("urls", None, _urls),
        Scanner("python", frozenset({"python"}), _python),
        Scanner("shell", frozenset({"bash"}), _shell),
        Scanner("sql", frozenset({"sql"}), _sql),
        Scanner("javascript", frozenset({"javascript", "typescript"}), _javascript),
    ]


def _text(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import characters

    characters.scan(context, source)


def _secrets(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import secrets

    secrets.scan(context, source)


def _urls(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import urls

    urls.scan(context, source)


def _python(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import python

    python.scan(context, source)


def _shell(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import shell

    shell.scan(context, source)


def _sql(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import sql

    sql.scan(context, source)


def _javascript(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import javascript

    javascript.scan(context, source)
