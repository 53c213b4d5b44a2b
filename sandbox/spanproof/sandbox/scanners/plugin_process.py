"""The user's scanners as the pipeline runs them: in a process of their own, which is killed when time is up.

In: a policy that names files or enables bandit or toxicity, and the entry points of installed packages. Out:
scanners like any other. Code of the user is never loaded into this process, be it the collector or an agent.
"""

from __future__ import annotations

import base64
import sys
from functools import cache, partial
from importlib.metadata import entry_points

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.context import Context, OutOfTime, clock
from spanproof.sandbox.scanners.plugins import GROUP
from spanproof.sandbox.scanners.report import read_finding
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source
from spanproof.sandbox.scanners.worker_process import WorkerEnded, WorkerProcess, pack_policy


class ScannerFailed(Exception):  # noqa: N818 - named after what happened
    """A scanner of the user raised."""


def load_scanners(policy: Policy) -> list[Scanner]:
    """The user's scanners, in order; each scan of theirs is a request to one process.

    Raises:
        PolicyError: one of them cannot be loaded.
    """
    process = WorkerProcess("spanproof.sandbox.scanners.plugin_worker", {"policy": pack_policy(policy)})
    try:
        answer = process.start()
    except OSError as problem:
        raise PolicyError(
            f"the process of your scanners cannot be started: {problem}; check {sys.executable!r}"
        ) from problem
    except (WorkerEnded, OutOfTime) as failure:
        named = ", ".join(policy.scanner_files) or "of installed packages"
        raise PolicyError(f"your scanners {named} cannot be loaded: {failure}; mend them") from failure
    if "problem" in answer:
        process.kill()
        raise PolicyError(str(answer["problem"]))
    return [
        Scanner(
            str(one["name"]),
            None if one["languages"] is None else frozenset(one["languages"]),
            partial(_scan, process, index),
            keeps_time=True,
        )
        for index, one in enumerate(answer["scanners"])
    ]


def has_plugins(policy: Policy) -> bool:
    """Whether there is any scanner of the user to run."""
    return policy.bandit or policy.toxicity or bool(policy.scanner_files) or _are_installed(tuple(sys.path))


@cache
def _are_installed(_path: tuple[str, ...]) -> bool:
    """Whether a distribution on the path brings a scanner; to look reads a file of every distribution."""
    return bool(entry_points(group=GROUP))


def _scan(process: WorkerProcess, index: int, context: Context, source: Source) -> None:
    seconds = context.deadline - clock()
    request = {
        "scanner": index,
        "language": source.language,
        "text": source.text,
        "seconds": seconds,
        "salt": base64.b64encode(context.salt).decode(),
    }
    answer = process.ask(request, seconds)
    if "problem" in answer:
        raise ScannerFailed(str(answer["problem"]))
    context.report.take(read_finding(row) for row in answer["findings"])
