"""The rule for "all": "all tests passed", "every pod is running".

In: the `Binding`. Out: a claim where a status is said of all, and the outputs hold a tally of those that are
otherwise, or a column of statuses.
"""

from __future__ import annotations

import re
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of

_ALL = re.compile(
    r"\b(?:all|every|each of|both)\b(?P<what>[^.;,\n]{1,50}?)\s+(?P<state>[\w-]+)"
    r"(?:\s+(?:now|again|successfully))?(?=\s*(?:[.;,!]|$))",
    re.IGNORECASE,
)
_CUES = frozenset(("all", "every", "each", "both"))
_NOT = re.compile(r"\b(?:not|almost|nearly)\s+$|n['’]t\b[^.;]*$", re.IGNORECASE)
_WELL = canonical_set("passed succeeded completed successful ok healthy running green fine")
_ILL = canonical_set("failed failures failure errors error errored crashed broken")
"""Keys that tally what did not go well."""
_MOST_ROWS = 200


def all_claims(binding: Binding) -> list[Claim]:
    """Every status said of all."""
    if _CUES.isdisjoint(binding.answer.said):
        return []
    found = islice(_ALL.finditer(binding.answer.text), MAX_CLAIMS)
    return [claimed for match in found if (claimed := _settle(match, binding)) is not None]


def _settle(match: re.Match[str], binding: Binding) -> Claim | None:
    if _NOT.search(binding.answer.text[max(0, match.start() - 30) : match.start()]):
        return None
    place = (binding, match.start(), match.end(), ClaimKind.STATUS)
    state = match["state"].lower()
    meanings = set(binding.states.meanings(state))
    exception = _exception(meanings, binding, frozenset(words_of(match["what"])))
    if exception is not None:
        return claim(*place, Verdict.CONTRADICTED, f"`{exception.text}` is not", evidence_of(exception))
    if canonical_set(state).isdisjoint(_WELL):
        return None
    tallies = [fact for fact in binding.numbers if not fact.weak and fact.key and _ILL.issuperset(fact.key)]
    wrong = next((fact for fact in tallies if fact.number), None)
    if wrong is not None:
        return claim(*place, Verdict.UNCERTAIN, f"`{wrong.text}` is what the outputs say", evidence_of(wrong))
    return (
        claim(*place, Verdict.GROUNDED, "the outputs count no other", evidence_of(tallies[0]))
        if tallies
        else None
    )


def _exception(meanings: set[tuple[int, str]], binding: Binding, what: frozenset[str]) -> Fact | None:
    """The row of a column of statuses that is in another state, where some row is in this one."""
    for records in binding.facts.records:
        meant = _rows_called(records, what)
        for column in records.columns.values():
            column = [fact for fact in column[:_MOST_ROWS] if meant is None or fact.row in meant]
            strings = [fact for fact in column if fact.string is not None]
            held = [fact for fact in strings if meanings & set(binding.states.meanings(fact.string or ""))]
            if held and len(held) < len(strings) == len(column):
                return next(fact for fact in strings if fact not in held)
    return None


def _rows_called(records: Records, what: frozenset[str]) -> set[int] | None:
    """The rows with a cell that the words name: "all worker nodes"; None where they name all or none."""
    named: set[int] = set()
    for column in records.columns.values():
        for fact in column[:_MOST_ROWS]:
            if fact.string and not what.isdisjoint(words_of(fact.string)):
                named.add(fact.row)
    return named if 0 < len(named) < records.rows else None
