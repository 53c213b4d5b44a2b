"""Versions that are worked out from system prompts."""

from __future__ import annotations

import pytest

from spanproof.evaluators.runs.prompts import build_prompt_version

PROMPT = "You are a clerk.\nToday is {}. Session {}. Answer in one sentence."


@pytest.mark.parametrize(
    "other",
    [
        PROMPT.format("Sunday, 29 November 2026", "9f3c0d52-6c1f-4a53-8f7e-1b2c3d4e5f60"),
        PROMPT.format("Tuesday, 1 December 2026", "0a3c0d52-6c1f-4a53-8f7e-1b2c3d4e5f61"),
        PROMPT.format("Monday,  2 March 2026", "9f3c0d52-6c1f-4a53-8f7e-1b2c3d4e5f60") + "\n",
    ],
)
def test_dates_ids_and_white_space_make_no_new_version(other: str) -> None:
    first = PROMPT.format("Friday, 27 November 2026", "11111111-2222-3333-4444-555555555555")
    assert build_prompt_version(other) == build_prompt_version(first)


def test_another_word_makes_a_new_version() -> None:
    assert build_prompt_version("Answer in one sentence.") != build_prompt_version("Answer in one word.")
