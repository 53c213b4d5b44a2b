"""Whose data a request is: the project of the token, or the one that its sender names in a header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.message import Message

from spanproof.collector.receive.auth import Grant
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.stages.fragments import remove_project
from spanproof.semconv.spanproof import COHORT_PROJECT
from spanproof.trace.project import PROJECT_MARK

PROJECT_HEADER = "x-spanproof-project"
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
# Where the records of each signal are below a resource; metrics have no attributes of their own here.
_RECORDS: Final = {
    Signal.TRACES: ("scope_spans", "spans"),
    Signal.LOGS: ("scope_logs", "log_records"),
}


def find_project(grant: Grant, named: str | None) -> str | None:
    """Return the project that everything of a request belongs to; None leaves it to each resource.

    Raises:
        Refused: the header names another project than the token's, or none.
    """
    if named is not None and not _NAME.fullmatch(named):
        raise Refused(Reason.MALFORMED, f"{PROJECT_HEADER} must be 1 to 200 printable characters")
    if grant.project is not None and named is not None and named != grant.project:
        raise Refused(Reason.FORBIDDEN, f"the token is for another project than {named!r}")
    if grant.project is not None:
        return grant.project
    return named


def set_project(request: Message, signal: Signal, project: str, body: bytes) -> bool:
    """Put everything of a request into a project; returns whether that changed anything.

    What resources and spans name themselves is removed: a sender has no other project than its token's.

    Args:
        request: is changed in place.
        signal: what the request holds.
        project: of the token, or of the header.
        body: the request's bytes, which say fast whether any project is named.
    """
    changed = False
    resources: Any = getattr(request, SHAPES[signal].resources)
    is_named = PROJECT_MARK in body
    for group in resources:
        pairs = group.resource.attributes
        found = [pair for pair in pairs if pair.key == COHORT_PROJECT] if is_named else []
        if [pair.value.string_value for pair in found] != [project]:
            for pair in found:
                pairs.remove(pair)
            pairs.add(key=COHORT_PROJECT).value.string_value = project
            changed = True
        if is_named:
            for record in _iter_records(group, signal):
                changed |= remove_project(record)
    return changed


def _iter_records(resource: Any, signal: Signal) -> Iterator[Any]:
    if signal not in _RECORDS:
        return
    scopes, records = _RECORDS[signal]
    for scope in getattr(resource, scopes):
        yield from getattr(scope, records)
