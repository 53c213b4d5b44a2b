"""What a process of `worker_process` runs: scanners of the user, and ours for long code.

In: on stdin one JSON line for each request, the first with the policy. Out: on stdout one JSON line for each
answer. A thread cannot be stopped and a signal reaches the main thread only, so what may hang runs here.
"""

from __future__ import annotations

import base64
import json
import math
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Any

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.plugins import (
    load_installed_scanners,
    load_scanner_file,
    make_bandit_scanner,
    make_toxicity_scanner,
)
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source

# What a scanner gets beyond its time before the process ends itself, should its parent be gone.
_GRACE_S = 5


def read_long_sources() -> None:
    """Scan long sources until stdin ends; the kernel ends this process when its processor time is up."""
    grammar.lift_limit()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    greeting = json.loads(sys.stdin.readline())
    pipeline = Pipeline.of_languages(_unpack(greeting["policy"]), base64.b64decode(greeting["salt"]))
    _send(sys.stdout, {})
    for line in sys.stdin:
        request = json.loads(line)
        limit = math.ceil(time.process_time() + request["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        report = Report()
        votes = pipeline.run(report, Source(request["language"], request["text"]))
        listed = [(one.scanner, one.verdict, one.failed) for one in votes]
        _send(sys.stdout, {**_pack_findings(report), "votes": listed})


def run_plugins() -> None:
    """Run the user's scanners until stdin ends."""
    # What a scanner prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    policy = _unpack(json.loads(sys.stdin.readline())["policy"])
    try:
        scanners = load_plugins(policy)
    except PolicyError as problem:
        _send(answers, {"problem": str(problem)})
        return
    described = [
        {"name": one.name, "languages": None if one.languages is None else sorted(one.languages)}
        for one in scanners
    ]
    _send(answers, {"scanners": described})
    boundary = Boundary(policy)
    for line in sys.stdin:
        _send(answers, _run_plugin(boundary, scanners, json.loads(line)))


def load_plugins(policy: Policy) -> list[Scanner]:
    """Return the scanners of the policy's files and of installed packages, in the order in which they run.

    Raises:
        PolicyError: one of them cannot be loaded.
    """
    found = [scanner for file in policy.scanner_files for scanner in load_scanner_file(file)]
    found += load_installed_scanners()
    found += [make_bandit_scanner()] if policy.bandit else []
    found += [make_toxicity_scanner()] if policy.toxicity else []
    return found


def _run_plugin(boundary: Boundary, scanners: Sequence[Scanner], request: dict[str, Any]) -> dict[str, Any]:
    report = Report()
    seconds = float(request["seconds"])
    context = Context(boundary, report, clock() + seconds, salt=base64.b64decode(request["salt"]))
    signal.alarm(int(seconds) + _GRACE_S)
    try:
        scanners[request["scanner"]].scan(context, Source(request["language"], request["text"]))
    except BaseException as failure:  # noqa: BLE001 - `sys.exit()` in a scanner is a failed scanner too
        if str(failure):
            problem = f"{type(failure).__name__}: {failure}"
        else:
            problem = type(failure).__name__
        return {"problem": problem}
    finally:
        signal.alarm(0)
    return _pack_findings(report)


def _pack_findings(report: Report) -> dict[str, Any]:
    return {"findings": [asdict(one) for one in report.findings()]}


def _unpack(text: str) -> Policy:
    """Return the policy of a greeting.

    Our own parent wrote it, to our own stdin: the one place where a pickle is as trusted as this line.
    """
    policy: Policy = pickle.loads(base64.b64decode(text))  # noqa: S301
    return policy


def _send(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
