"""Whose data a request is: the project of the token, or the one that its sender names in a header."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.message import Message

from spanproof.collector.receive.auth import Grant
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.semconv.spanproof import COHORT_PREFIX

PROJECT_HEADER = "x-spanproof-project"
_PROJECT = f"{COHORT_PREFIX}project"
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


def project_of(grant: Grant, named: str | None) -> str | None:
    """Return the project that everything of a request belongs to; None leaves it to each resource.

    Raises:
        Refused: the header names another project than the token's, or none.
    """
    if named is not None and not _NAME.fullmatch(named):
        raise Refused(Reason.MALFORMED, f"{PROJECT_HEADER} must be 1 to 200 printable characters")
    if grant.project is not None and named is not None and named != grant.project:
        raise Refused(Reason.FORBIDDEN, f"the token is for another project than {named!r}")
    return grant.project if grant.project is not None else named


def set_project(request: Message, signal: Signal, project: str) -> bool:
    """Put every resource of a request into a project; returns whether that changed anything."""
    changed = False
    resources: Any = getattr(request, SHAPES[signal].resources)
    for each in resources:
        pairs = each.resource.attributes
        found = [pair for pair in pairs if pair.key == _PROJECT]
        if [pair.value.string_value for pair in found] == [project]:
            continue
        for pair in found:
            pairs.remove(pair)
        pairs.add(key=_PROJECT).value.string_value = project
        changed = True
    return changed
