"""Calls that hand over the answer are no steps of the task: no failure before them is recovered by them."""

from __future__ import annotations

import pytest

from spanproof.evaluators.actions import is_answer
from spanproof.trace import RecordedCall


@pytest.mark.parametrize(
    ("tool", "arguments", "answers"),
    [
        ("final_answer", {"answer": "36"}, True),
        ("submit", {"answer": "36"}, True),
        ("submit", {"order": "A-17"}, False),
        ("finish", {}, True),
        ("finish", {"order": "A-17"}, False),
    ],
)
def test_a_call_answers_by_its_name_and_what_it_takes(tool: str, arguments: dict[str, str], answers: bool):
    assert is_answer(RecordedCall(tool, kwargs=arguments)) is answers
