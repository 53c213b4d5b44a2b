"""Programs that were labelled with their failure class before any was run, held to what is reached today."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from spanproof.sandbox import Limits, Program
from spanproof.sandbox.registry import open_sandbox

GOLDEN = Path(__file__).parents[3] / "golden" / "failures" / "blind.yaml"


def test_each_program_ends_in_the_class_it_was_labelled_with() -> None:
    labelled = yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))
    programs = [
        Program(row.get("language", "python"), row["source"], limits=_limits(row["class"]))
        for row in labelled
    ]
    with open_sandbox("jail") as sandbox, ThreadPoolExecutor(4) as pool:
        classes = [found.failure_class.value for found in pool.map(sandbox.run, programs)]
    wrong = {
        row["source"]: found for row, found in zip(labelled, classes, strict=True) if found != row["class"]
    }
    assert wrong == {}


def _limits(expected: str) -> Limits:
    """Bounds that are reached soon where they are to be, and are far where they are not."""
    wall_s = 1.0 if expected == "timeout" else 20.0
    return Limits(wall_s=wall_s, memory_bytes=256 * 2**20, output_kill_bytes=2**23)
