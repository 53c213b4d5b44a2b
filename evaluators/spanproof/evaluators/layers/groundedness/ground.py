"""Ground an answer: sources, facts, claims, solve, choose, verdict.

In: the outputs in the order of the turns, the answer, and what is known beside them. Out: a `Grounding` with each
claim's verdict and evidence. Deterministic, nothing executed, no service called. What cannot be settled is
`uncertain`, never contradicted.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.choose.model import Choice, load_choice
from spanproof.evaluators.layers.groundedness.model import Grounding
from spanproof.evaluators.layers.groundedness.solve.solver import solve
from spanproof.evaluators.layers.groundedness.sources.model import Context, gather
from spanproof.evaluators.layers.groundedness.verdict.decide import ALL_RULES, decide
from spanproof.reading.numerals import find_numbers


def ground(
    outputs: Sequence[str],
    answer: str,
    task: str | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    now: datetime | None = None,
    *,
    system: str | None = None,
    arguments: Sequence[str] = (),
    errors: Sequence[str] = (),
    code: Sequence[str] = (),
    without_rules: Collection[GroundednessRule] = (),
    choice: Choice | None = None,
    owns_up: bool = False,
) -> Grounding:
    """Return the verdict on an answer and on each of its claims.

    Args:
        outputs: what execution returned, as text, in the order of the turns.
        answer: what the agent says.
        task: the task, with the user's words of earlier turns; its values count as given.
        synonyms: a user's own words for states, by the state's usual name.
        now: when the answer was given, for "yesterday" and "in three days".
        system: the system prompt; its values count as given.
        arguments: what the agent handed to tools, or the code it ran; their values count as given.
        errors: texts of calls that failed.
        code: what the agent ran before it answered; a value that it writes down is no misquote.
        without_rules: rules that decide nothing.
        choice: other weights than those that are shipped.
        owns_up: the answer says that something failed, and it did: "I could not read it" needs no source.
    """
    context = Context(task or "", system or "", tuple(arguments), tuple(errors))
    written = frozenset(number for source in code for number in find_numbers(source))
    solved = solve(gather(outputs, context), answer, synonyms, _to_date(now))
    return decide(
        solved, choice or load_choice(), ALL_RULES.difference(without_rules), written, owns_up=owns_up
    )


def _to_date(now: datetime | None) -> date | None:
    return now.date() if now is not None else None
