"""The environment of a mined case: the interpreter and the packages that its tests found when it was mined.

In: a sandbox. Out: a digest of what programs find there. A case keeps it as `source.environment`; a run in
another environment reports it, as a test may then fail or pass for a reason that is not the agent's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.sandbox import FailureClass, Program, Sandbox, SandboxError
from spanproof.suites.case import Case
from spanproof.trace import digest

KEY: Final = "environment"
"""Of `source` of a case."""

_LIST_PACKAGES: Final = """
import sys
from importlib.metadata import distributions
print(sys.version)
for line in sorted({f"{each.name}=={each.version}" for each in distributions()}):
    print(line)
"""


def compute_environment_digest(sandbox: Sandbox) -> str:
    """Return the digest of interpreter and packages; empty where they cannot be listed."""
    try:
        ran = sandbox.run(Program("python", _LIST_PACKAGES))
    except SandboxError:
        return ""
    if ran.failure_class is FailureClass.OK:
        return digest("environment", ran.stdout)[:16]
    return ""


def describe_changed_environment(cases: Sequence[Case], sandbox: Sandbox | None) -> str:
    """Return how many cases were mined in another environment, as a sentence; empty where none was."""
    pinned = [case for case in cases if case.source.get(KEY)]
    if pinned and sandbox is not None:
        now = compute_environment_digest(sandbox)
    else:
        now = ""
    changed = [case for case in pinned if now and case.source[KEY] != now]
    if not changed:
        return ""
    return (
        f"{len(changed)} of {len(cases)} cases were mined in another environment ({changed[0].source[KEY]},"
        f" it is {now} now): a test may come out otherwise by a package; install those packages, or mine anew"
    )
