"""Golden runs of real frameworks whose answers were labelled right or wrong before anything was run.

`tests/golden/outcomes` has them. A wrong answer may fail groundedness or stay open, and a right one may pass
or stay open: what the run does not settle is for a judge. The opposite verdict is never given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_of_a_depot import DEPOT_TOOLS
from agents_of_a_fleet import FLEET_TOOLS
from agents_of_a_harbour import HARBOUR_TOOLS
from agents_of_a_hotel import HOTEL_TOOLS
from agents_of_a_laboratory import LABORATORY_TOOLS
from agents_of_a_law_office import LAW_OFFICE_TOOLS
from agents_of_a_podcast_host import PODCAST_HOST_TOOLS
from agents_of_a_shop import TOOLS as SHOP_TOOLS
from agents_of_an_observatory import OBSERVATORY_TOOLS
from golden_yaml import iter_golden

from spanproof.trace import Label

_GOLDEN = Path(__file__).parents[1] / "golden/outcomes"
_LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")

TOOLS: dict[str, tuple[Callable[..., Any], ...]] = {
    "depot": DEPOT_TOOLS,
    "harbour": HARBOUR_TOOLS,
    "hotel": HOTEL_TOOLS,
    "laboratory": LABORATORY_TOOLS,
    "law_office": LAW_OFFICE_TOOLS,
    "observatory": OBSERVATORY_TOOLS,
    "podcast_host": PODCAST_HOST_TOOLS,
    "shop": SHOP_TOOLS,
    "origins": SHOP_TOOLS,
    "fleet": FLEET_TOOLS,
}
"""The tools of the agents, by file."""


@dataclass(frozen=True)
class GoldenRun:
    """One run: what the model writes in each turn, and how its answer and its layers are labelled."""

    name: str
    framework: str
    task: str
    turns: list[Any]
    tools: tuple[Callable[..., Any], ...]
    is_right: bool | None
    labels: dict[str, str]


def iter_golden_runs(*files: str) -> Iterator[GoldenRun]:
    """Yield the runs of files, by default of all."""
    for file in files or TOOLS:
        for case in iter_golden(_GOLDEN / f"{file}.yaml"):
            labels = case.get("labels", "* * * * *").split()
            yield GoldenRun(
                f"{file}-{case['case']}",
                case["framework"],
                case["task"],
                case["turns"],
                TOOLS[file],
                is_right=_is_right(case),
                labels=dict(zip(_LAYERS, labels, strict=True)),
            )


def _is_right(case: dict[str, Any]) -> bool | None:
    """Return the label of the answer, None where it has none."""
    if "invented" in case:
        return not case["invented"]
    return {"right": True, "wrong": False}.get(case.get("answer", ""))


def is_as_labelled(label: Label | None, *, is_right: bool) -> bool:
    """Whether groundedness does not say the opposite of the label: open is no verdict."""
    return label is not (Label.FAIL if is_right else Label.PASS)


def is_kept(expected: str, label: Label | None) -> bool:
    """Whether a layer's verdict is the labelled one: `pass`, `not-pass`, `fail`, `not-fail`, `-` or `*`."""
    given = label.value if label is not None else "-"
    denied = expected.removeprefix("not-")
    return expected == "*" or (given == expected if denied == expected else given != denied)
