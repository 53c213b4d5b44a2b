"""The answers about runs that became cases."""

from __future__ import annotations

from pydantic import Field

from spanproof.api.models import Answer


class Promoted(Answer):
    """What became of a run."""

    case: str
    change: str = Field(description="`added`, `known`, `duplicate` or `replaced`.")
    trace_id: str
    same_as: str


class Promotions(Answer):
    """What became of the runs."""

    suite: str
    cases: list[Promoted]
