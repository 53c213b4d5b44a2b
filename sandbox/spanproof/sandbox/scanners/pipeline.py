"""The gate before execution: every scanner that concerns a snippet's language, one after another, in process.

In: a language and a text. Out: a `Scan`, always. The strictest finding decides; an advisory one never does. A
scanner that raises or runs out of time denies with `scanner_error`: what could not be judged does not pass.
"""

from __future__ import annotations

import os
import re
import secrets as random_source
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, OutOfTime
from spanproof.sandbox.scanners.model import Finding, Scan, Verdict
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.rules import rule_of
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import START, Source
from spanproof.sandbox.scanners.voting import Vote, decide

MAX_CHARACTERS: Final = 2_000_000
"""A longer source is denied; no agent writes one, and trees of it would not fit in memory."""

_DEFAULT_POLICY: Final = Policy()

_ADVISERS: Final = frozenset({"weaknesses"})
"""Scanners whose findings are advisory: they never vote."""

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

SALT_VARIABLE: Final = "SPANPROOF_FINGERPRINT_SALT"
"""The environment variable that holds the salt of secrets' fingerprints, where the policy gives none."""

_SALT_OF_THIS_PROCESS: Final = random_source.token_bytes(32)

DATA_LANGUAGES: Final = frozenset({"json", "yaml", "text", "markdown", "csv", "toml", "xml"})
"""What is read, not run: the text scanners are enough."""


class Pipeline:
    """Scans snippets against one policy. Thread-safe: it keeps nothing between scans."""

    def __init__(
        self, policy: Policy = _DEFAULT_POLICY, *, scanners: Sequence[Scanner] | None = None
    ) -> None:
        """Make a pipeline.

        Args:
            policy: the boundary to judge by.
            scanners: those to run; by default ours, the user's rules and files, and installed ones.

        Raises:
            PolicyError: a scanner of the user cannot be loaded.
        """
        self.policy = policy
        self._boundary = Boundary(policy)
        self._scanners = tuple(_all_scanners(policy) if scanners is None else scanners)
        self._weights = dict(policy.weights)
        given = policy.fingerprint_salt or os.environ.get(SALT_VARIABLE, "").encode(
            "utf-8", "surrogateescape"
        )
        self._salt = given[:64] or _SALT_OF_THIS_PROCESS

    def scan(self, language: str, source: str) -> Scan:
        """Judge one snippet. Never raises.

        Args:
            language: `python`, `bash`, `sql`, `javascript`, `typescript` or one of their other names.
            source: any text.
        """
        started = time.perf_counter()
        name = language.strip().lower()
        name = LANGUAGE_ALIASES.get(name, name)
        whole = Report()
        context = Context(self._boundary, whole, 0.0, salt=self._salt)
        votes: list[Vote] = []
        if len(source) > MAX_CHARACTERS:
            context.add(
                "source.too-large", START, f"{len(source)} characters; at most {MAX_CHARACTERS} are judged"
            )
            votes.append(Vote("pipeline", Verdict.DENY, failed=True))
        else:
            votes = self._run(context, Source(name, source))
        findings = whole.findings()
        verdict = decide(votes, self.policy.aggregation, self._weights)
        elapsed_us = int((time.perf_counter() - started) * 1e6)
        return Scan(verdict, findings, elapsed_us)

    def _run(self, context: Context, source: Source) -> list[Vote]:
        understood = source.language in DATA_LANGUAGES
        votes: list[Vote] = []
        for scanner in self._scanners:
            if scanner.languages is not None and source.language not in scanner.languages:
                continue
            understood = understood or scanner.languages is not None
            report = Report()
            failed = self._run_one(scanner, replace(context, report=report), source)
            found = report.findings()
            context.report.take(found)
            verdict = verdict_of(found)
            silent = verdict is Verdict.ALLOW and (scanner.languages is None or scanner.name in _ADVISERS)
            if failed or not silent:
                votes.append(Vote(scanner.name, verdict, failed))
        if not understood:
            context.add(
                "language.unscanned", START, f"no scanner reads {source.language or 'an unnamed language'}"
            )
            votes.append(Vote("pipeline", rule_of("language.unscanned").verdict))
        return votes

    def _run_one(self, scanner: Scanner, context: Context, source: Source) -> bool:
        """Run one scanner within its time; whether it failed."""
        budget = self.policy.scanner_time_s
        budget = _BASE_S + _S_PER_CHARACTER * len(source.text) if budget is None else budget
        deadline = time.monotonic() + budget
        try:
            scanner.scan(replace(context, deadline=deadline), source)
            if time.monotonic() > deadline:
                raise OutOfTime(f"it took more than {budget:g} s")  # noqa: TRY301 - told like any failure
        except Exception as failure:  # noqa: BLE001 - whatever it is, an unjudged snippet does not pass
            told = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
            context.add("scanner_error", START, f"the {scanner.name} scanner failed: {told}")
            return True
        return False


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """The strictest verdict any finding asks for."""
    asked = {finding.verdict for finding in findings}
    if Verdict.DENY in asked:
        return Verdict.DENY
    return Verdict.REVIEW if Verdict.REVIEW in asked else Verdict.ALLOW


def _all_scanners(policy: Policy) -> list[Scanner]:
    scanners = default_scanners()
    if policy.rules:
        from spanproof.sandbox.scanners import patterns

        compiled = [(rule, re.compile(rule.pattern)) for rule in policy.rules]
        scanners.append(
            Scanner("user-rules", None, lambda context, source: patterns.scan_with(compiled, context, source))
        )
    from spanproof.sandbox.scanners import plugins

    for file in policy.scanner_files:
        scanners.extend(plugins.scanners_in(file))
    return [*scanners, *plugins.installed_scanners()]


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
        Scanner("weaknesses", frozenset({"python", "bash", "javascript", "typescript"}), _weaknesses),
        Scanner("prompts", frozenset({"text", "markdown"}), _prompts),
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


def _weaknesses(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import weaknesses

    weaknesses.scan(context, source)


def _prompts(context: Context, source: Source) -> None:
    from spanproof.sandbox.scanners import prompts

    prompts.scan(context, source)
