"""Keeping secrets out of verdicts: explanations and evidence quote code and outputs, and travel further.

Takes the secrets the scanners found in a run's snippets; masks them, and everything in a provider's format of
secrets, in outcomes, and bounds the length of what is quoted. What is on the spans themselves is the
producer's and is not touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from spanproof.reading.text_cache import cache_short_texts
from spanproof.sandbox.scanners.model import Finding, Scan
from spanproof.sandbox.scanners.secret_formats import without_secrets
from spanproof.trace import Errored, Evidence, Outcome, Scored, Skipped, Snippet

MAX_QUOTED = 2_000
"""Characters of one quotation in an explanation or in evidence; the spans hold the rest."""

_FAMILY = "secret."
# So many first characters of a secret are masked wherever they stand, as a quotation may be cut.
_RECOGNISABLE = 8


# Explanations are mostly the same in each run: of 160 texts of a run of four steps 10 are new.
@cache_short_texts(4096)
def with_masked_formats(text: str) -> str:
    """Return the text with everything in a provider's format of secrets replaced by the format's name."""
    return without_secrets(text, lambda name: f"[{name}]")


def list_secrets(snippets: Iterable[Snippet], scans: Mapping[str, Scan]) -> list[str]:
    """Return the secrets in the snippets, read at the places that the scanners' findings name."""
    values = [
        _get_marked_text(snippet.source, finding)
        for snippet in snippets
        if snippet.id in scans
        for finding in scans[snippet.id].findings
        if finding.rule.startswith(_FAMILY)
    ]
    return [value for value in values if value]


class Redactor:
    """Masks the secrets of one run."""

    def __init__(self, snippets: Iterable[Snippet], scans: Mapping[str, Scan]) -> None:
        """Read the secrets at the places the scanners' findings name."""
        starts = {
            re.escape(value[:_RECOGNISABLE])
            for value in list_secrets(snippets, scans)
            if len(value) >= _RECOGNISABLE
        }
        self._known = re.compile(rf"(?:{'|'.join(sorted(starts))})[\w+/=.\-]*") if starts else None

    def build_masked_outcome(self, outcome: Outcome) -> Outcome:
        """Return the outcome with secrets masked and quotations bounded."""
        match outcome:
            case Scored(explanation=explanation, evidence=evidence, detail=detail):
                facts = tuple(self._build_masked_fact(fact) for fact in evidence)
                text, about = self.format_quoted(explanation), self.format_quoted(detail)
                if (text, about, facts) == (explanation, detail, evidence):
                    return outcome  # most hold no secret, and a run has 60
                return replace(outcome, explanation=text, evidence=facts, detail=about)
            case Skipped(reason=reason, detail=detail):
                text, about = self.format_quoted(reason), self.format_quoted(detail)
                return outcome if (text, about) == (reason, detail) else Skipped(text, outcome.cause, about)
            case Errored(error_type=error_type, message=message):
                return Errored(error_type, self.format_quoted(message))

    def format_quoted(self, text: str) -> str:
        """Return the text with secrets masked, at most `MAX_QUOTED` characters of it."""
        masked = self.format_masked(text) if text else text
        return masked if len(masked) <= MAX_QUOTED else f"{masked[: MAX_QUOTED - 1]}…"

    def format_masked(self, text: str) -> str:
        """Return the whole text with secrets masked."""
        masked = self._known.sub("[secret]", text) if self._known is not None else text
        return with_masked_formats(masked)

    def _build_masked_fact(self, fact: Evidence) -> Evidence:
        what = self.format_quoted(fact.what)
        recorded = self.format_quoted(fact.recorded) if fact.recorded is not None else None
        replayed = self.format_quoted(fact.replayed) if fact.replayed is not None else None
        if (what, recorded, replayed) == (fact.what, fact.recorded, fact.replayed):
            return fact  # most hold no secret, and a run has hundreds
        return replace(fact, what=what, recorded=recorded, replayed=replayed)


def _get_marked_text(source: str, finding: Finding) -> str:
    """Return what a finding marks, where it is on one line."""
    if finding.line != finding.end_line:
        return ""
    lines = source.split("\n")
    return (
        lines[finding.line - 1][finding.column - 1 : finding.end_column - 1]
        if finding.line <= len(lines)
        else ""
    )
