"""What a step leaves running is on the step's record, whenever it acts; no step answers for a later one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from run_once import RunOnce

from .in_turn import NAMES, WALLS, run_in_turn
from .snippets.sessions import SESSIONS, HostileSession

NO_NAMES = frozenset({"a name is looked up by an earlier step"})
"""Where the query itself is held, its task is known, and the later step has no part in it."""


@pytest.fixture(scope="module", params=WALLS)
def found(request: pytest.FixtureRequest, run_once: RunOnce) -> dict[str, Any]:
    answers: dict[str, Any] = run_once(f"in-turn-{request.param}", lambda: run_in_turn(request.param))
    return answers


@pytest.mark.parametrize("session", SESSIONS, ids=lambda each: each.name)
def test_each_step_answers_for_what_it_began_and_no_other_does(
    session: HostileSession, found: dict[str, Any]
) -> None:
    steps = found[session.name]["steps"]
    assert len(steps) == len(session.steps), steps
    for number, step in enumerate(steps):
        wanted = session.on_record.get(number)
        if wanted is None:
            assert step["refused"] == [], (number, steps)
        else:
            kind, fragment = wanted
            assert any(k == kind and fragment in target for k, target in step["refused"]), (number, steps)
        if number in session.unsure:
            assert not step["whole"] or session.name in NO_NAMES, (number, steps)
        elif wanted is None:
            assert step["whole"], (number, steps)
        assert bool(step["left"]) or number not in session.left, (number, steps)
        if number in session.results:
            assert step["text"] == session.results[number], (number, steps)


@pytest.mark.parametrize("name", NAMES)
def test_the_next_program_sees_what_it_would_have_seen_first(name: str, found: dict[str, Any]) -> None:
    assert found[name]["next"] == {}


def test_enough_of_them_are_followed() -> None:
    assert len(NAMES) >= 120


def test_the_names_are_distinct() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(asdict(each) for each in SESSIONS)
