"""What makes two cases the same to a team: they would be mended together.

A digest of the behaviour of a frozen run: the agent, its task without its numbers, the tools it called, how
its steps ended, and what it failed. Of a case that people wrote: its task with all that the agent is given
and all that it must do.
"""

from __future__ import annotations

import re
from itertools import groupby

from spanproof.suites.case import Case
from spanproof.suites.requirements import encode_requirements
from spanproof.trace import Label, digest
from spanproof.trace.codec import encode_json, to_plain

_NUMBERS = re.compile(r"[\w.,-]*\d[\w.,-]*")


def compute_behaviour_digest(case: Case) -> str:
    """Return the digest of a case's behaviour; equal ones need one case."""
    if case.trace is None:
        content = encode_json(to_plain([dict(case.inputs), dict(case.files)]))
        required = encode_json(to_plain(encode_requirements(case.requirements)))
        return digest("written", case.agent, case.task or "", content, required)
    failed = sorted(
        {
            f"{expectation.layer.value}.{expectation.name}"
            for expectation in case.expectations
            if expectation.label is Label.FAIL
        }
    )
    tools = [tool for tool, _ in groupby(span.tool.name for span in case.trace.spans if span.tool)]
    endings = [
        snippet.error.type or "error" if snippet.error else "ok"
        for snippet in case.snippets
        if snippet.executed
    ]
    return digest(
        "run", case.agent, _format_task(case.task or ""), *_list_with_lengths(failed, tools, endings)
    )


def _format_task(task: str) -> str:
    """Return a task without case, spacing and what holds a digit: order numbers, dates, amounts."""
    return " ".join(_NUMBERS.sub("#", task.casefold()).split())


def _list_with_lengths(*lists: list[str]) -> list[str]:
    """Return the lists as one in which each begins with its length."""
    return [part for members in lists for part in (str(len(members)), *members)]
