"""Long code, which is read in a process of its own: the kernel ends it when its processor time is up.

In: a policy and a source. Out: the findings and votes of our scanners that read its language. What they do
with a short source takes bounded time, whatever it is; a long one may hold a parser for hours, and nothing
can interrupt a parser in this process.
"""

from __future__ import annotations

import base64
import signal
from dataclasses import replace
from typing import Final

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.context import OutOfTime
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.report import Report, read_finding
from spanproof.sandbox.scanners.source import Source
from spanproof.sandbox.scanners.voting import Vote
from spanproof.sandbox.scanners.worker_process import WorkerEnded, WorkerProcess, pack_policy

_WALL: Final = 30
"""Times as long on the clock as of the processor, for busy machines."""


class LongSources:
    """Scans long sources against one policy. Thread-safe: one at a time."""

    def __init__(self, policy: Policy, salt: bytes) -> None:
        ours = replace(policy, overrides=(), scanner_files=(), bandit=False, toxicity=False)
        greeting = {
            "policy": pack_policy(ours),
            "salt": base64.b64encode(salt).decode(),
        }
        self._process = WorkerProcess("spanproof.sandbox.scanners.long_worker", greeting)

    def scan(self, report: Report, source: Source, seconds: float) -> list[Vote]:
        """Report what our scanners find and return their votes.

        Args:
            report: takes the findings.
            source: the code.
            seconds: of processor time, before the process is ended.

        Raises:
            OutOfTime: it was ended.
            WorkerEnded: it ended by itself.
            OSError: it cannot be started.
        """
        request = {"language": source.language, "text": source.text, "seconds": seconds}
        try:
            answer = self._process.ask(request, seconds * _WALL)
        except WorkerEnded as ended:
            if ended.status in {-signal.SIGXCPU, -signal.SIGKILL}:
                raise OutOfTime(f"it took more than {seconds:.3g} s and was ended") from ended
            raise
        report.take(read_finding(row) for row in answer["findings"])
        return [Vote(name, Verdict(verdict), failed) for name, verdict, failed in answer["votes"]]
