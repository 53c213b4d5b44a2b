"""A suite with one case that people wrote, and the engine that judges the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline

TASK = "What is the total refund in dollars for order A-17?"
LINES = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]
RECORDED = [
    {"tool": "refund_lines", "args": {"order_id": "A-17"}, "result": LINES},
    {"tool": "refund_cents", "args": {"order_id": "A-17"}, "result": 4500},
    {"tool": "look_up", "args": {"order_id": "A-17"}, "result": "4500 cents, which is $45.00"},
]


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with open_sandbox("jail") as sandbox:
        yield Engine(pipeline=Pipeline(), sandbox=sandbox)


@pytest.fixture
def write_suite(tmp_path: Path) -> Callable[..., Path]:
    """Write a suite of cases that people wrote: by id, what their `case.yaml` says beside the task."""

    def write(**cases: dict[str, Any]) -> Path:
        suite = tmp_path / "suite"
        for name, about in cases.items():
            folder = suite / "cases" / name
            folder.mkdir(parents=True)
            text = yaml.safe_dump({"format": 1, "task": TASK, "recorded": RECORDED, **about})
            (folder / "case.yaml").write_text(text)
        (suite / "suite.yaml").write_text("format: 1\nname: suite\n")
        return suite

    return write


@pytest.fixture(autouse=True)
def agents_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as from the folder that holds the user's module."""
    monkeypatch.chdir(Path(__file__).parent)
