"""What did agents try? Attempts, findings, and a change of the policy tried on stored code."""

from __future__ import annotations

import time
from collections import Counter
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query
from pydantic import Field

from spanproof.api import pages
from spanproof.api.access import WRITER, Opened
from spanproof.api.models import Answer, ScanVerdict
from spanproof.api.models.boundary import AttemptRow, Boundary, FindingRow
from spanproof.api.parameters import Cohort, Hours, Limit, compute_window
from spanproof.api.problems import build_problem
from spanproof.sandbox import AttemptKind, PolicyError
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.untrusted_files import MalformedYamlError, load_yaml

router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: build_problem("this request may not write"),
    415: build_problem("the body is not JSON"),
}
_DRY_RUN_S: Final = 20.0
# Keys of a policy that name programs on the server.
_FILE_KEYS: Final = ("scanner_files", "bandit", "toxicity")


class DryRun(Answer):
    """A policy to be tried."""

    policy: Annotated[str, Field(max_length=100_000, description="The policy file, as YAML.")]
    hours: Annotated[float, Field(gt=0, le=24 * 366)] = 24.0 * 7
    limit: Annotated[int, Field(ge=1, le=5000, description="Pieces of code at most.")] = 2000


class Change(Answer):
    """A piece of code that the policy would judge otherwise."""

    before: str
    after: ScanVerdict
    times: int
    trace_id: str
    language: str
    source: str
    reasons: list[str]


class DryRunResult(Answer):
    """What a policy would have allowed, reviewed and denied of stored code."""

    pieces: int = Field(description="Different pieces of code that were scanned.")
    left_out: bool = Field(description="Whether time or the limit ended it before all were scanned.")
    before: dict[str, int] = Field(description="Snippets by their verdict as it was.")
    after: dict[str, int] = Field(description="Snippets by their verdict under the policy.")
    changes: list[Change]


@router.get("/boundary")
def boundary(
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0 * 7,
    kind: Annotated[AttemptKind | None, Query(description="Only attempts of this kind.")] = None,
    limit: Limit = 100,
) -> Boundary:
    """Return hosts, files, programs and privileges that code tried, and scanners' findings in it."""
    start = compute_window(hours)[0]
    tried = store.browse.list_attempts(
        start_ns=start, kind=kind.value if kind else None, cohort=cohort, limit=limit
    )
    found = store.browse.list_findings(start_ns=start, cohort=cohort, limit=limit)
    return Boundary(
        attempts=[
            AttemptRow(
                kind=AttemptKind(row.kind),
                target=pages.format_text(row.target),
                allowed=row.allowed,
                agent=pages.format_text(row.agent),
                release=pages.format_text(row.release),
                times=row.times,
                runs=row.runs,
                last_ns=max(0, row.last_ns),
                trace_id=row.trace_id,
            )
            for row in tried
        ],
        findings=[
            FindingRow(
                rule=pages.format_text(row.rule),
                verdict=row.verdict,
                message=pages.format_text(row.message),
                agent=pages.format_text(row.agent),
                release=pages.format_text(row.release),
                snippets=row.snippets,
                runs=row.runs,
                last_ns=max(0, row.last_ns),
                trace_id=row.trace_id,
            )
            for row in found
        ],
    )


@router.post("/policy/dry-run", responses=_REFUSED, dependencies=[WRITER])
def try_policy(dry_run: DryRun, store: Opened) -> DryRunResult:
    """Scan stored code by another policy and return what would change. Nothing is run or written.

    The policy cannot name files of the server (`scanner_files`).
    """
    pipeline = _build_pipeline(dry_run.policy)
    sources = store.browse.list_sources(start_ns=compute_window(dry_run.hours)[0], limit=dry_run.limit + 1)
    before, after = Counter[str](), Counter[str]()
    changes: list[Change] = []
    deadline = time.monotonic() + _DRY_RUN_S
    scanned = 0
    for row in sources[: dry_run.limit]:
        if time.monotonic() > deadline:
            break
        scan = pipeline.scan(row.language, row.source)
        scanned += 1
        before[row.verdict] += row.times
        after[scan.verdict.value] += row.times
        if scan.verdict.value != row.verdict:
            reasons = [
                pages.format_text(f"line {finding.line}: {finding.message}") for finding in scan.findings[:5]
            ]
            changes.append(
                Change(
                    before=row.verdict,
                    after=ScanVerdict(scan.verdict.value),
                    times=row.times,
                    trace_id=row.trace_id,
                    language=row.language,
                    source=pages.format_text(row.source[:2000]),
                    reasons=reasons,
                )
            )
    changes.sort(key=lambda change: -change.times)
    return DryRunResult(
        pieces=scanned,
        left_out=scanned < len(sources),
        before=dict(before),
        after=dict(after),
        changes=changes[:200],
    )


def _build_pipeline(text: str) -> Pipeline:
    """Return the scanners of a policy; raises HTTPException 422 where it is none."""
    try:
        document = load_yaml(text.encode("utf-8", "replace")) if text.strip() else {}
        return Pipeline(parse_policy(_parse_policy(document), "that was sent"))
    except (PolicyError, MalformedYamlError) as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, pages.format_text(str(problem))) from problem


def _parse_policy(document: object) -> dict[Any, Any]:
    """Return the document; raises PolicyError where it is no mapping, or names a program on the server."""
    if not isinstance(document, dict):
        raise PolicyError("policy: give keys and values, as in `hosts: [api.github.com]`")
    named = [key for part in (document, *_read_overrides(document)) for key in _FILE_KEYS if key in part]
    if named:
        raise PolicyError(f"policy: {named[0]!r} names a program on the server; leave it out here")
    return document


def _read_overrides(document: dict[Any, Any]) -> list[dict[Any, Any]]:
    overrides = document.get("overrides")
    if isinstance(overrides, list):
        return [item for item in overrides if isinstance(item, dict)]
    return []
