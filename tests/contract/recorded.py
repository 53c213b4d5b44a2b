"""What the tests of recorded calls share: a call, a run that has it, and the calls a run told of."""

from __future__ import annotations

import pytest

from spanproof.sandbox import Exchange, Execution, Fixtures, Program, Sandbox, ToolAnswer, ToolRequest

JSON = (("Content-Type", "application/json"),)
ITEMS = "https://api.example.com/v1/items?b=2&a=1"
PAGE = Exchange("GET", ITEMS, 200, JSON, b'{"n": 1}')
in_the_jail = pytest.mark.parametrize("taped", ["jail"], indirect=True)
"""What the image of the docker tests does not have."""


def run(
    sandbox: Sandbox, source: str, *http: Exchange, language: str = "python", **more: object
) -> Execution:
    return sandbox.run(Program(language, source, fixtures=Fixtures(http=http, **more)))  # type: ignore[arg-type]


def calls(execution: Execution) -> list[tuple[str, bool]]:
    return [(one.target, one.allowed) for one in execution.attempts if one.kind == "network"]


def no_tools(_request: ToolRequest) -> ToolAnswer:
    return ToolAnswer()
