"""What the tests of recorded calls share: a call, a run that has it, and the calls that a run recorded."""

from __future__ import annotations

import os

import pytest

from spanproof.sandbox import (
    Exchange,
    Execution,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    ToolAnswer,
    ToolRequest,
)

JSON = (("Content-Type", "application/json"),)
ITEMS = "https://api.example.com/v1/items?b=2&a=1"
PAGE = Exchange("GET", ITEMS, 200, JSON, b'{"n": 1}')
TIER = os.environ.get("SPANPROOF_TESTED_TIER")
"""Of the jail alone, where it is given: see test_reduced_tier.py."""
PLACES = ("jail",) if TIER else ("jail", "docker", "gvisor", "e2b")
"""Where recorded calls are served in ways of their own. gVisor is the docker backend's runtime runsc.
The others have the guest of `e2b`, which serves the calls, and keep the promises about them."""


def in_places(*names: str) -> pytest.MarkDecorator:
    """There only."""
    return pytest.mark.parametrize("taped", [one for one in PLACES if one in names], indirect=True)


in_the_jail = in_places("jail")
"""What the image of the docker tests does not have."""
not_in_gvisor = in_places("jail", "docker", "e2b")
"""See docs/sandbox.md: it records no connection but those to recorded ports, has no IPv6, and files stay."""
with_any_clock = in_places("jail", "docker")
_PATIENT = Limits(wall_s=120.0, cpu_s=120.0)


def run(
    sandbox: Sandbox, source: str, *http: Exchange, language: str = "python", **more: object
) -> Execution:
    fixtures = Fixtures(http=http, **more)  # type: ignore[arg-type]
    return sandbox.run(Program(language, source, limits=_PATIENT, fixtures=fixtures))


def calls(execution: Execution) -> list[tuple[str, bool]]:
    return [(one.target, one.allowed) for one in execution.attempts if one.kind == "network"]


def no_tools(_request: ToolRequest) -> ToolAnswer:
    return ToolAnswer()
