"""The gate before execution: every scanner that concerns a snippet's language, one after another, in process.

In: a language and a text. Out: a `Scan`, always. The strictest finding decides; an advisory one never does. A
scanner that raises denies with `scanner_error`; one that runs out of time leaves the snippet to review, under
every aggregation: what could not be judged does not pass. Long code is read in a process of its
own.
"""

from __future__ import annotations

import os
import re
import secrets as random_source
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, OutOfTime, clock
from spanproof.sandbox.scanners.model import Finding, Scan, Verdict
from spanproof.sandbox.scanners.nested import make_scan
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.rules import PatternRule, find_rule
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import DATA_LANGUAGES, START, Source, normalise_language
from spanproof.sandbox.scanners.voting import Vote, decide
from spanproof.sandbox.scanners.worker_process import LongSources, WorkerEnded, load_scanners

MAX_CHARACTERS: Final = 2_000_000
"""A longer source is denied; no agent writes one, and trees of it would not fit in memory."""

_DEFAULT_POLICY: Final = Policy()

# Scanners whose findings are advisory: they never vote.
_ADVISERS: Final = frozenset({"weaknesses", "bandit", "toxicity"})

# Ours are bounded by their steps, which take 2 s at most where that was measured; others are slower.
_BASE_S: Final = 8.0

_S_PER_CHARACTER: Final = 20e-6

# Of all of ours together over a long source, before the process that reads it is ended.
_LONG_BASE_S: Final = 3.0

_LONG_S_PER_CHARACTER: Final = 1e-5

SALT_VARIABLE: Final = "SPANPROOF_FINGERPRINT_SALT"
"""The environment variable that holds the salt of secrets' fingerprints, where the policy gives none."""

_SALT_OF_THIS_PROCESS: Final = random_source.token_bytes(32)


class Pipeline:
    """Scans snippets against one policy. Thread-safe: it keeps nothing of a scan."""

    def __init__(
        self,
        policy: Policy = _DEFAULT_POLICY,
        *,
        scanners: Sequence[Scanner] | None = None,
        boundary: Boundary | None = None,
    ) -> None:
        """Make a pipeline.

        Args:
            policy: the boundary to judge by.
            scanners: those to run; by default ours, the user's rules and files, and installed ones.
            boundary: of the same policy, which judges what a program reaches; by default one that keeps
                nothing.

        Raises:
            PolicyError: a scanner of the user cannot be loaded.
        """
        self.policy = policy
        self._boundary = boundary if boundary is not None else Boundary(policy)
        self._scanners = tuple(
            scanners if scanners is not None else make_own_scanners(policy) + load_scanners(policy)
        )
        self._weights = dict(policy.weights)
        self._narrowed: dict[tuple[int, ...], Pipeline] = {}
        self._making = threading.Lock()
        given = policy.fingerprint_salt or os.environ.get(SALT_VARIABLE, "").encode(
            "utf-8", "surrogateescape"
        )
        self._salt = given[:64] or _SALT_OF_THIS_PROCESS
        self._is_ours = scanners is None
        self._long: LongSources | None = None
        for index, override in enumerate(policy.overrides):
            # Report what cannot be loaded now, not at the first trace that needs it.
            if any(key in {"scanner_files", "bandit", "toxicity"} for key, _ in override.changes):
                self._apply_overrides((index,))

    @classmethod
    def of_languages(cls, policy: Policy, salt: bytes) -> Pipeline:
        """Build the pipeline of our scanners that read a language, for a process that can be ended."""
        made = cls(policy, scanners=[one for one in make_own_scanners(policy) if one.languages is not None])
        made._salt = salt
        return made

    def scan(self, language: str, source: str) -> Scan:
        """Judge one snippet. Never raises.

        Args:
            language: `python`, `bash`, `sql`, `javascript`, `typescript` or one of their other names.
            source: any text.
        """
        started = time.perf_counter()
        name = normalise_language(language)
        whole = Report()
        if len(source) > MAX_CHARACTERS:
            message = f"{len(source)} characters; at most {MAX_CHARACTERS} are judged"
            whole.add("source.too-large", START, message)
            votes = [Vote("pipeline", Verdict.DENY, failed=True)]
        elif self._refuses(name):
            allowed = ", ".join(sorted(self.policy.languages or ())) or "none"
            whole.add("language.denied", START, f"is {name or 'of no language'}; the policy allows {allowed}")
            votes = [Vote("pipeline", Verdict.DENY, failed=True)]
        else:
            votes = self.run(whole, Source(name, source))
        findings = whole.findings()
        verdict = decide(votes, self.policy.aggregation, self._weights)
        elapsed_us = int((time.perf_counter() - started) * 1e6)
        return Scan(verdict, findings, elapsed_us)

    def for_subject(self, subject: Mapping[str, str]) -> Pipeline:
        """Return the pipeline for one agent, tool and cohort: this one where no override is for them.

        Args:
            subject: values by the names in `policy.SUBJECT`; what is not known is left out.
        """
        concerned = tuple(index for index, one in enumerate(self.policy.overrides) if one.concerns(subject))
        return self._apply_overrides(concerned) if concerned else self

    def _apply_overrides(self, concerned: tuple[int, ...]) -> Pipeline:
        """Return the pipeline with these overrides applied; made once."""
        with self._making:
            made = self._narrowed.get(concerned)
            if made is None:
                policy = self.policy.with_overrides(self.policy.overrides[index] for index in concerned)
                made = self._narrowed[concerned] = Pipeline(policy)
                made._salt = self._salt  # fingerprints stay comparable over all subjects
            return made

    def _refuses(self, language: str) -> bool:
        allowed = self.policy.languages
        return allowed is not None and language not in allowed and language not in DATA_LANGUAGES

    def run(self, whole: Report, source: Source) -> list[Vote]:
        """Run every scanner that reads a source; report what they find and return their votes."""
        concerned = [
            one for one in self._scanners if one.languages is None or source.language in one.languages
        ]
        understood = source.language in DATA_LANGUAGES or any(one.languages is not None for one in concerned)
        votes: list[Vote] = []
        if self._is_ours and source.is_long and any(map(_reads_a_language, concerned)):
            votes += self._run_apart(whole, source)
            concerned = [one for one in concerned if not _reads_a_language(one)]
        cast = [self._find_vote(scanner, whole, source) for scanner in concerned]
        votes += [vote for vote in cast if vote is not None]
        if not understood:
            message = f"no scanner reads {source.language or 'an unnamed language'}"
            whole.add("language.unscanned", START, message)
            votes.append(Vote("pipeline", find_rule("language.unscanned").verdict))
        return votes

    def _find_vote(self, scanner: Scanner, whole: Report, source: Source) -> Vote | None:
        """Run one scanner and report what it finds; return its vote, None where it has none."""
        report = Report()
        failed = self._run_one(scanner, report, source)
        found = report.findings()
        whole.take(found)
        verdict = find_strictest_verdict(found)
        may_abstain = scanner.languages is None or scanner.name in _ADVISERS
        if may_abstain and verdict is Verdict.ALLOW and not failed:
            return None
        return Vote(scanner.name, verdict, failed)

    def _run_apart(self, whole: Report, source: Source) -> list[Vote]:
        """Run our scanners of the language in another process, which is ended when their time is up."""
        with self._making:
            if self._long is None:
                self._long = LongSources(self.policy, self._salt)
        try:
            # Code of a million characters takes 2 s where that was measured.
            budget = _LONG_BASE_S + _LONG_S_PER_CHARACTER * len(source.text)
            return self._long.scan(whole, source, self.policy.scanner_time_s or budget)
        except (OutOfTime, OSError) as failure:
            whole.add("too-complex", START, f"could not be judged: {failure}")
            return [Vote("pipeline", Verdict.REVIEW, failed=True)]
        except WorkerEnded as failure:
            whole.add("scanner_error", START, f"the scanners failed: {failure}")
            return [Vote("pipeline", Verdict.DENY, failed=True)]

    def _run_one(self, scanner: Scanner, report: Report, source: Source) -> bool:
        """Run one scanner within its time; whether it failed."""
        budget = self.policy.scanner_time_s
        if budget is None:
            budget = _BASE_S + _S_PER_CHARACTER * len(source.text)
        deadline = clock() + budget
        try:
            scanner.scan(Context(self._boundary, report, deadline, salt=self._salt), source)
            if clock() > deadline and not scanner.keeps_time:
                raise OutOfTime(f"it took more than {budget:g} s")  # noqa: TRY301 - reported like any failure
        except OutOfTime as failure:
            report.add("too-complex", START, f"the {scanner.name} scanner ran out of time: {failure}")
            return True
        except Exception as failure:  # noqa: BLE001 - whatever it is, an unjudged snippet does not pass
            if str(failure):
                reason = f"{type(failure).__name__}: {failure}"
            else:
                reason = type(failure).__name__
            report.add("scanner_error", START, f"the {scanner.name} scanner failed: {reason}")
            return True
        return False


def find_strictest_verdict(findings: Sequence[Finding]) -> Verdict:
    """Return the strictest verdict of any finding."""
    if not findings:
        return Verdict.ALLOW
    found = {finding.verdict for finding in findings}
    if Verdict.DENY in found:
        return Verdict.DENY
    return Verdict.REVIEW if Verdict.REVIEW in found else Verdict.ALLOW


def _reads_a_language(scanner: Scanner) -> bool:
    return scanner.languages is not None and not scanner.keeps_time


def make_own_scanners(policy: Policy) -> list[Scanner]:
    """Return our scanners, and those of the policy's patterns."""
    scanners = make_default_scanners()
    for name, rules in (("user-rules", policy.rules), ("topics", policy.topics)):
        if rules:
            scanners.append(_make_pattern_scanner(name, rules))
    return scanners


def _make_pattern_scanner(name: str, rules: Sequence[PatternRule]) -> Scanner:
    from spanproof.sandbox.scanners import patterns

    compiled = [(rule, re.compile(rule.pattern)) for rule in rules]
    return Scanner(name, None, lambda context, source: patterns.scan_with(compiled, context, source))


def make_default_scanners() -> list[Scanner]:
    """Return every scanner, cheapest first."""
    return [
        Scanner("text", None, make_scan("characters")),
        Scanner("secrets", None, make_scan("secrets")),
        Scanner("urls", None, make_scan("urls")),
        Scanner("personal", None, make_scan("personal")),
        Scanner("python", frozenset({"python"}), make_scan("python")),
        Scanner("shell", frozenset({"bash"}), make_scan("shell")),
        Scanner("sql", frozenset({"sql"}), make_scan("sql")),
        Scanner("javascript", frozenset({"javascript", "typescript"}), make_scan("javascript")),
        Scanner("templates", frozenset({"jinja"}), make_scan("templates")),
        Scanner(
            "weaknesses", frozenset({"python", "bash", "javascript", "typescript"}), make_scan("weaknesses")
        ),
        Scanner("prompts", frozenset({"text", "markdown", "document"}), make_scan("prompts")),
    ]
