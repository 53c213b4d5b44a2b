"""The process that reads long code for `long_sources`: the kernel ends it when its processor time is up.

In: a greeting with a policy, then one JSON line for each source. Out: its findings and votes, as a JSON line.
"""

from __future__ import annotations

import base64
import json
import math
import resource
import sys
import time
from dataclasses import asdict

from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import Source
from spanproof.sandbox.scanners.worker_process import send_answer, unpack_policy


def main() -> None:
    """Answer requests until stdin ends."""
    grammar.lift_limit()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    greeting = json.loads(sys.stdin.readline())
    pipeline = Pipeline.of_languages(unpack_policy(greeting["policy"]), base64.b64decode(greeting["salt"]))
    send_answer(sys.stdout, {})
    for line in sys.stdin:
        request = json.loads(line)
        limit = math.ceil(time.process_time() + request["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        report = Report()
        votes = pipeline.run(report, Source(request["language"], request["text"]))
        send_answer(
            sys.stdout,
            {
                "findings": [asdict(one) for one in report.findings()],
                "votes": [(one.scanner, one.verdict, one.failed) for one in votes],
            },
        )
