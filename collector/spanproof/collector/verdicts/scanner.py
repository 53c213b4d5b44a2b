"""A process that scans for `/v1/verdict`: `python -m spanproof.collector.verdicts.scanner DESCRIPTOR`.

Comes in, over a socket: jobs, one at a time. Goes out: what was found. The text is hostile, so it is read
here and not in the collector: a scan that takes too long is ended with this process. It ends with its socket.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from spanproof.collector.verdicts.model import MAX_FINDINGS, Job, Scanned, SnippetJob, TraceJob
from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.engine import build_subject
from spanproof.evaluators.runs import list_runs
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.model import Finding, Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import decode_protobuf

_STRICTNESS = {Verdict.DENY: 0, Verdict.REVIEW: 1, Verdict.ALLOW: 2}
_MAX_SNIPPETS = 1000


def run_scan(pipeline: Pipeline, job: Job) -> Scanned:
    """Return what the scan of a job found; never raises."""
    try:
        if isinstance(job, SnippetJob):
            found = pipeline.with_subject(dict(job.subject)).scan(job.language, job.code)
            return _build_scanned([("", job.language, found)])
        return _build_scanned(list(_iter_trace_scans(pipeline, job)))
    except Exception as failure:  # noqa: BLE001 - the caller gets no verdict, and why
        return Scanned(error=f"{type(failure).__name__}: {failure}"[:500])


def _iter_trace_scans(pipeline: Pipeline, job: TraceJob) -> Iterator[tuple[str, str, Scan]]:
    """Yield span id, language and scan of each snippet in the spans."""
    for trace in read_traces([decode_protobuf(job.body)]):
        snippets = list_snippets(trace)
        if len(snippets) > _MAX_SNIPPETS:
            raise ValueError(f"{len(snippets)} snippets; at most {_MAX_SNIPPETS} are scanned at once")
        subjects = {
            snippet.id: build_subject(trace, run, snippet)
            for run in list_runs(trace, snippets)
            for snippet in run.snippets
        }
        for snippet in snippets:
            gate = pipeline.with_subject(subjects.get(snippet.id, {"language": snippet.language.value}))
            yield snippet.span_id, snippet.language.value, gate.scan(snippet.language.value, snippet.source)


def _build_scanned(scans: Sequence[tuple[str, str, Scan]]) -> Scanned:
    found = [(position, one) for position, (_, _, scan) in enumerate(scans) for one in scan.findings]
    found.sort(key=lambda pair: _STRICTNESS[pair[1].verdict])
    verdicts = [scan.verdict for _, _, scan in scans]
    return Scanned(
        min(verdicts, key=_STRICTNESS.__getitem__, default=Verdict.ALLOW).value,
        tuple((span_id, language, scan.verdict.value) for span_id, language, scan in scans),
        tuple((position, _with_short_texts(one)) for position, one in found[:MAX_FINDINGS]),
        max(0, len(found) - MAX_FINDINGS),
    )


def _with_short_texts(finding: Finding) -> Finding:
    return replace(finding, message=finding.message[:1000], remedy=finding.remedy[:1000])


def _with_scanner_time(policy: Policy, seconds: float) -> Policy:
    """Return the policy with at most these seconds for each scanner, so that the others' findings come."""
    limit_s = policy.scanner_time_s
    return replace(policy, scanner_time_s=seconds if limit_s is None else min(limit_s, seconds))


def main() -> None:
    """Serve the socket whose descriptor is the first argument, until it is closed."""
    with Connection(int(sys.argv[1])) as line:
        try:
            sys.path[:] = line.recv()
            policy: Path | None = line.recv()
            pipeline = Pipeline(_with_scanner_time(load_policy(policy) if policy else Policy(), line.recv()))
            # The parsers are imported by the scans that need them: here, and not in the first request.
            for language in ("python", "bash", "sql", "javascript", "text"):
                pipeline.scan(language, "1")
            line.send(Scanned())
            while True:
                line.send(run_scan(pipeline, line.recv()))
        except (EOFError, ConnectionError):
            os._exit(0)  # the collector is gone


if __name__ == "__main__":
    main()
