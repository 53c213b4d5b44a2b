"""The process that runs the user's scanners: the only way to end one that does not end by itself.

In: on stdin one JSON line per request, the first with the policy, each later one with a scanner's number, a
language and a text. Out: on stdout one JSON line per answer. A thread cannot be stopped and a signal reaches
the main thread only, so what may hang runs here, and `plugin_process` kills it when time is up.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.plugins import installed_scanners, scanners_in
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source
from spanproof.sandbox.scanners.worker_process import send_answer, unpack_policy

_GRACE_S = 5
"""What a scanner gets beyond its time before the process ends itself, should its parent be gone."""


def main() -> None:
    """Answer requests until stdin ends."""
    # What a scanner prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests = sys.stdin
    start = json.loads(requests.readline())
    policy = unpack_policy(start["policy"])
    try:
        scanners = load(policy)
    except PolicyError as problem:
        send_answer(answers, {"problem": str(problem)})
        return
    described = [
        {"name": one.name, "languages": None if one.languages is None else sorted(one.languages)}
        for one in scanners
    ]
    send_answer(answers, {"scanners": described})
    boundary = Boundary(policy)
    for line in requests:
        send_answer(answers, _scanned(boundary, scanners, json.loads(line)))


def load(policy: Policy) -> list[Scanner]:
    """The scanners of the policy's files and of installed packages, in the order in which they run.

    Raises:
        PolicyError: one of them cannot be loaded.
    """
    found = [scanner for file in policy.scanner_files for scanner in scanners_in(file)]
    found += installed_scanners()
    if policy.bandit:
        from spanproof.sandbox.scanners.bandit import bandit_scanner

        found.append(bandit_scanner())
    if policy.toxicity:
        from spanproof.sandbox.scanners.toxicity import toxicity_scanner

        found.append(toxicity_scanner())
    return found


def _scanned(boundary: Boundary, scanners: Sequence[Scanner], request: dict[str, Any]) -> dict[str, Any]:
    report = Report()
    seconds = float(request["seconds"])
    context = Context(boundary, report, clock() + seconds, salt=base64.b64decode(request["salt"]))
    signal.alarm(int(seconds) + _GRACE_S)
    try:
        scanners[request["scanner"]].scan(context, Source(request["language"], request["text"]))
    except BaseException as failure:  # noqa: BLE001 - `sys.exit()` in a scanner is a failed scanner too
        problem = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
        return {"problem": problem}
    finally:
        signal.alarm(0)
    return {"findings": [asdict(one) for one in report.findings()]}


if __name__ == "__main__":
    main()
