"""Denied reads of a snippet that found nothing in the run: notes, not crossings.

In: a scan, the snippet as recorded, its replay. Out: the scan without such reads, and their paths. The policy
does not allow to read there, and the scanners cannot know whether anything lies there. A read found nothing
where the path is in no sensitive tree and one of these holds: record and replay both report that the file
does not exist; or nothing lies there in the sandbox, and the run came out as the replay did.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import replace

from spanproof.evaluators.model import ReplayedStep
from spanproof.evaluators.replay.compare import is_same_text
from spanproof.sandbox import NoteKind
from spanproof.sandbox.places import is_sensitive, may_be_shown
from spanproof.sandbox.scanners.model import Finding, Scan, Verdict
from spanproof.trace import Snippet

_NO_FILE = os.strerror(errno.ENOENT)
# Each of them means a name that is not known.
_HOLES = "*?[…"


def split_absent_reads(scan: Scan, snippet: Snippet, step: ReplayedStep | None) -> tuple[Scan, list[str]]:
    """Return a denied scan without the denied reads that found nothing, and their paths, each once.

    The scan is the same where something else is denied, or where a read may have found something.
    """
    denied = [finding for finding in scan.findings if finding.verdict is Verdict.DENY]
    is_replayed = step is not None and step.execution.attempts_whole
    if step is None or not is_replayed or scan.verdict is not Verdict.DENY or not denied:
        return scan, []
    if not all(_has_found_nothing(finding, snippet, step) for finding in denied):
        return scan, []
    rest = tuple(finding for finding in scan.findings if finding.verdict is not Verdict.DENY)
    needs_review = any(finding.verdict is Verdict.REVIEW for finding in rest)
    verdict = Verdict.REVIEW if needs_review else Verdict.ALLOW
    paths = list(dict.fromkeys(finding.path for finding in denied))
    return replace(scan, verdict=verdict, findings=rest), paths


def _has_found_nothing(finding: Finding, snippet: Snippet, step: ReplayedStep) -> bool:
    """Whether a denied finding is a read, and nothing was there."""
    path = finding.path
    if not path or is_sensitive(path) or _has_unknown_directory(path):
        return False
    if _is_reported_absent(path, snippet, step):
        return True
    missing = {note.target for note in step.execution.notes if note.kind is NoteKind.MISSING_FILE}
    return (path in missing or not may_be_shown(path)) and _has_same_outcome(snippet, step)


def _has_unknown_directory(path: str) -> bool:
    """Whether a directory of a path is not known: it may be a sensitive one."""
    directory = os.path.dirname(path)  # noqa: PTH120 - text only
    is_top_unknown = directory == "/" and any(mark in path for mark in _HOLES)
    return is_top_unknown or any(mark in directory for mark in _HOLES)


def _is_reported_absent(path: str, snippet: Snippet, step: ReplayedStep) -> bool:
    """Whether the record and the replay report in the same words that a path does not exist.

    A line may begin with the name of the program, which a shell gives in its own way.
    """
    named = rf"(?<![\w/.-]){re.escape(path)}(?![\w/.-])"
    report = re.compile(rf"{named}.*{_NO_FILE}|{_NO_FILE}.*{named}")
    replayed = set(report.findall(_get_printed(step)))
    return any(not replayed.isdisjoint(report.findall(text)) for text in _list_recorded_texts(snippet))


def _has_same_outcome(snippet: Snippet, step: ReplayedStep) -> bool:
    """Whether the run printed something and came out as the replay did.

    A run that printed nothing may have read the file: a copy is silent whether the file is there or not.
    """
    recorded = [text for text in _list_recorded_texts(snippet) if text.strip()]
    if step.agrees is not None:
        return step.agrees and bool(recorded)
    return any(is_same_text(text, _get_printed(step)) for text in recorded)


def _get_printed(step: ReplayedStep) -> str:
    return f"{step.execution.stdout}\n{step.execution.stderr}"


def _list_recorded_texts(snippet: Snippet) -> list[str]:
    output = snippet.output.text if snippet.output is not None else None
    error = snippet.error.message if snippet.error is not None else None
    return [text for text in (snippet.observation, snippet.logs, output, error) if text is not None]
