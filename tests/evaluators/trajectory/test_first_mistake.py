"""Which step is to blame: facts out of nowhere, actions that brought nothing, and what is neither."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.layer import judge
from spanproof.evaluators.layers.trajectory.mistake import find_blame
from spanproof.evaluators.layers.trajectory.steps import build_actions, list_turns_of_actions
from spanproof.evaluators.layers.trajectory.unsourced import Turn, find_unsourced
from spanproof.evaluators.outcomes.recovery import list_recoveries
from spanproof.trace import Payload

PRICES = "Here is what a visit costs: adults $20.00, children $18.00, a yearly pass $90.00."


def turn(step, words="", done="", shown=""):
    return Turn(step, f"{step:016x}", words, done, shown)


def test_numbers_that_nothing_holds_are_out_of_nowhere():
    found = find_unsourced([turn(1, "Let me look."), turn(2, PRICES)], "How much do 2 adults save?")
    assert found is not None
    assert (found[0].step, found[1]) == (2, ("$20.00", "$18.00", "$90.00"))


@pytest.mark.parametrize(
    "turns",
    [
        [turn(1, "I search.", "search('prices')", "adult 20, child 18, pass 90"), turn(2, PRICES)],
        [turn(1, PRICES, "search('prices')", "adult 20, child 18, pass 90")],
        [turn(1, "2 x 20.00 = $40.00, 4 x 18 = 72.00, in all = $112.00")],
        [turn(1, "It costs $20.00 and $18.00.")],
        [turn(1, "10. first\n11. second\n12. third\n### Step 13")],
        [turn(1, "See /usr/lib/python3.11/site.py:184 on 2024-05-13 at 10:30, gpt-4o-2024-08-06, v1.22.33")],
        [],
    ],
    ids=["shown before", "shown by its own call", "worked out", "two", "numbering", "no numbers", "no turn"],
)
def test_numbers_with_a_source_are_not(turns):
    assert find_unsourced(turns, "How much do 2 adults and 4 children save?") is None


def test_what_the_task_or_the_prompt_holds_has_a_source():
    assert (
        find_unsourced([turn(1, PRICES)], "Adults pay 20, children 18, a pass is 90. What is best?") is None
    )


def test_what_an_output_only_echoes_has_no_source():
    written = [turn(1, "I note them.", "a, c, p = 20, 18, 90"), turn(2, PRICES, "print(a, c, p)", "20 18 90")]
    found = find_unsourced(written, "What is best?")
    assert found is not None
    assert found[0].step == 2


def blame(steps, *, answered):
    actions = build_actions(steps, [None] * len(steps))
    found = find_blame(
        actions, Completion(answered=answered), list_recoveries(actions), list_turns_of_actions(actions)
    )
    return (found.step, found.before) if found else None


def test_an_invention_is_blamed_in_a_run_that_answered():
    steps = [
        {"code": "find('museum')", "observation": "no such page"},
        {"code": "total = 2 * 20 + 18", "thought": PRICES, "observation": ""},
    ]
    assert blame(steps, answered=True) == (2, 1)


@pytest.mark.parametrize(
    "observation", ["[]", "None", "", "Execution logs:\n[]\nLast output from code snippet:\nNone"]
)
def test_the_first_that_came_back_with_nothing_is_blamed_where_there_is_no_answer(observation):
    steps = [
        {"code": "import requests", "observation": ""},
        {"code": "print(rows('table'))", "observation": observation},
        {"code": "print(rows('other')['x'])", "error": "KeyError: 'x'"},
    ]
    assert blame(steps, answered=False) == (2, 1)
    assert blame(steps[:2], answered=True) is None


def test_on_a_trace_the_words_of_steps_without_an_action_count(build):
    from dataclasses import replace

    run = build.run([build.snippet("print(find('museum'))", observation="no such page")])
    spoken = replace(run.steps[0], number=2, span_id="d" * 16, snippets=(), observation=None, text=PRICES)
    run = replace(run, steps=(*run.steps, spoken), answer=Payload("You save.", "You save."))
    found = {each.name: each.outcome for each in judge(build.evidence(run))}["first_mistake"]
    assert found.explanation.startswith("step 2: it states 3 numbers")
    assert found.evidence[0].span_id == "d" * 16
