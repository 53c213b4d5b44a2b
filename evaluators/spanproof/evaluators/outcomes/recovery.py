"""Recovery: did failures lead to what the failed steps were after?

In: the actions of a run. Out: for each failure what became of it. A recovery is an error read, a change that
touches its cause, and then what the failed step was after. The same again where nothing passes by itself,
the failed part left out, a literal written in its place, an error caught and gone on without the value are
none. Where neither can be decided the failure is left open for a judge, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum

from spanproof.evaluators.outcomes.actions import CODE, LITERAL, REPLY, Action, select_allowed
from spanproof.evaluators.outcomes.dodges import explain_dodge
from spanproof.evaluators.outcomes.failing import (
    Aim,
    derive_aim,
    find_distinctive_names,
    find_error_handling,
    parse_called_names,
    parse_python,
)

LIKE_NAMES = 0.7
"""Likeness from which two tools' names are one tool's, misspelled or renamed (`difflib`'s ratio)."""

MAX_FAILURES = 50
"""The last so many failures of a run are followed up: each is held against all that came after it."""

MAX_LATER = 40
"""So many actions after a failure are looked at for its mend."""

KNOWN_RESULTS = 20
KNOWN_CHARS = 4_000
"""The last so many results before a mend, and so much of each, where values that it writes down may be."""


class Came(IntEnum):
    """What became of a failure, the worst first."""

    LOST = 0
    OPEN = 1
    MENDED = 2


_WORTH = {Came.MENDED: 1.0, Came.OPEN: 0.5, Came.LOST: 0.0}


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one failure.

    Attributes:
        by: the action that decides, None where nothing came after.
        why: in words, as the end of "step 2 failed (…); ".
        likely: for an open one, whether what came after at least has to do with it.
    """

    failure: Action
    came: Came
    why: str
    by: Action | None = None
    likely: bool = True


def select_failures(actions: Sequence[Action]) -> list[Action]:
    """Select the actions that failed."""
    return [action for action in actions if action.error is not None]


def decide_fates(actions: Sequence[Action], task: str = "") -> list[Fate]:
    """Decide what became of each failure, in order; of the last `MAX_FAILURES`.

    A refused action is no failure, and no success after one.
    """
    actions = select_allowed(actions)
    found: list[Fate] = []
    for failure in reversed(select_failures(actions)[-MAX_FAILURES:]):
        found.insert(0, _decide_fate(failure, actions, found, task))
    return found


def has_recovered(actions: Sequence[Action], task: str = "") -> bool | None:
    """Whether the run recovered, open failures by what is likelier; None where nothing failed."""
    found = decide_fates(actions, task)
    if not found:
        return None
    # Two tries at one thing that the same step got over, if it did: what speaks for the one speaks for both.
    likely = [fate.by for fate in found if fate.came is Came.OPEN and fate.likely]
    return all(fate.came is Came.MENDED or (fate.came is Came.OPEN and fate.by in likely) for fate in found)


def compute_mended_share(found: Sequence[Fate]) -> float:
    """Return the share of failures that were mended; open ones count half."""
    return sum(_WORTH[fate.came] for fate in found) / len(found)


def _decide_fate(failure: Action, actions: Sequence[Action], fates: Sequence[Fate], task: str) -> Fate:
    """Decide what became of a failure; a later failure that takes it up passes its own fate on."""
    shown = [action for action in actions if action.error is None and action.result]
    seen = {(action.exact, action.outcome) for action in shown if action.step < failure.step}
    later = [action for action in actions if action.step > failure.step][:MAX_LATER]
    aim = derive_aim(failure.text, failure.error_text, task)
    best: Fate | None = None
    for action in later:
        if action.answers or (action.exact, action.outcome) in seen:
            continue
        if action.error is not None:
            if action.exact == failure.exact:
                best = None  # it failed once more: what came in between was no mend
            fate = next((each for each in fates if each.failure is action), None)
            passed_on = _takes_up(failure, aim, action) and fate is not None
            found = Fate(failure, fate.came, fate.why, fate.by, fate.likely) if passed_on and fate else None
        else:
            between = any(each.succeeded and failure.step < each.step < action.step for each in later)
            results = [each.result[:KNOWN_CHARS] for each in shown if each.step < action.step]
            known = [task, *results[-KNOWN_RESULTS:]]
            found = _weigh_success(failure, aim, action, known, changed_between=between)
        if found is not None and (best is None or (found.came, found.likely) > (best.came, best.likely)):
            best = found
        if best is not None and best.came is Came.MENDED:
            return best
    return best or Fate(failure, Came.LOST, "nothing succeeded after it")


def _weigh_success(
    failure: Action, aim: Aim, action: Action, known: Sequence[str], *, changed_between: bool
) -> Fate:
    """Decide what one later success is to a failure."""
    if failure.name == REPLY:
        return Fate(failure, Came.MENDED, f"step {action.step} succeeded with a changed approach", action)
    if action.exact == failure.exact:
        return _weigh_repeat(failure, aim, action, changed_between=changed_between)
    if failure.name != CODE:
        return _weigh_other_call(failure, action)
    if action.name != CODE:
        related = action.name in aim.words or bool(aim.words & action.words)
        return _leave_open(
            failure,
            action,
            "went on with a tool; whether it got what the code was after is open",
            likely=related,
        )
    return _weigh_other_code(failure, aim, action, known)


def _weigh_repeat(failure: Action, aim: Aim, action: Action, *, changed_between: bool) -> Fate:
    if aim.passing or changed_between:
        why = "an error that passes by itself" if aim.passing else "what was set right in between"
        return Fate(
            failure,
            Came.MENDED,
            f"step {action.step} succeeded with the same action again, after {why}",
            action,
        )
    return _leave_open(
        failure, action, "succeeded with the same action again, and nothing says why", likely=True
    )


def _weigh_other_call(failure: Action, action: Action) -> Fate:
    if action.name == failure.name or (action.name == CODE and failure.name in action.words):
        return Fate(
            failure,
            Came.MENDED,
            f"step {action.step} succeeded with a changed approach: other arguments for {failure.name}",
            action,
        )
    alike = SequenceMatcher(None, failure.name[:100], action.name[:100]).ratio() >= LIKE_NAMES
    given = find_distinctive_names(failure.text) & find_distinctive_names(action.text)
    if alike and (given or not find_distinctive_names(failure.text)):
        return Fate(
            failure,
            Came.MENDED,
            f"step {action.step} succeeded with a changed approach: {action.name} in place of {failure.name}",
            action,
        )
    return _leave_open(
        failure, action, f"did something else ({action.name}) that may or may not have got it", likely=True
    )


def _weigh_other_code(failure: Action, aim: Aim, action: Action, known: Sequence[str]) -> Fate:
    if not aim.names and not aim.words and not aim.cause:
        return _leave_open(
            failure, action, "succeeded, and the failed code names nothing to know it by", likely=True
        )
    dodged = explain_dodge(failure, aim, action, known)
    if dodged is not None:
        return Fate(failure, Came.LOST, f"step {action.step} {dodged}", action)
    swallowed = _weigh_catch(failure, aim, action)
    return swallowed or _weigh_same_aim(failure, aim, action) or _weigh_detour(failure, aim, action)


def _weigh_same_aim(failure: Action, aim: Aim, action: Action) -> Fate | None:
    """Decide on code that does what the failed code was to do; None where it does something else."""
    number = action.step
    if aim.names & action.words:
        got = ", ".join(sorted(aim.names & action.words)[:3])
        why = f"step {number} succeeded with a changed approach to {got}{_describe_change(failure, action)}"
        return Fate(failure, Came.MENDED, why, action)
    if not aim.names and aim.words and aim.words <= action.words:
        why = (
            f"step {number} succeeded with a changed approach to the same{_describe_change(failure, action)}"
        )
        return Fate(failure, Came.MENDED, why, action)
    return None


def _weigh_detour(failure: Action, aim: Aim, action: Action) -> Fate:
    """Decide on code that does without what the failed code was after, or went another way."""
    number, names = action.step, ", ".join(sorted(aim.names)[:3])
    new = find_distinctive_names(action.text) - find_distinctive_names(failure.text)
    if aim.names and not new and aim.is_aside and (aim.words - aim.names) & action.words:
        why = f"step {number} succeeded without {names}, which the task does not require"
        return Fate(failure, Came.MENDED, why, action)
    if aim.names and not new:
        return Fate(failure, Came.LOST, f"step {number} leaves out what failed ({names})", action)
    related = bool(aim.words & action.words) or bool(aim.cause & action.words)
    why = "went another way with what the failed code used" if related else "did something else"
    likely = related or "ModuleNotFound" in failure.error_text or "Import" in failure.error_text
    likely = likely or _calls_in_place(failure, aim, action)
    return _leave_open(
        failure, action, f"{why}; whether it got what the failed code was after is open", likely=likely
    )


def _weigh_catch(failure: Action, aim: Aim, action: Action) -> Fate | None:
    """Decide on code that now catches the failure; None where it does not, or did before."""
    tree, before = parse_python(action.text), parse_python(failure.text)
    found = find_error_handling(tree, aim.names) if tree is not None else None
    if found is None or (before is not None and find_error_handling(before, aim.names)):
        return None
    if any(text.strip() and text.strip() in action.result for text in found.said):
        why = f"step {action.step} catches the error and goes on without the value"
        return Fate(failure, Came.LOST, why, action)
    return _leave_open(
        failure, action, "catches errors, and whether one occurred is open", likely=found.goes_on
    )


def _calls_in_place(failure: Action, aim: Aim, action: Action) -> bool:
    """Whether the failed code called what is not there, and this calls something else."""
    missing = aim.cause & parse_called_names(failure.text)
    return bool(missing) and bool(parse_called_names(action.text) & find_distinctive_names(action.text))


def _leave_open(failure: Action, action: Action, why: str, *, likely: bool) -> Fate:
    return Fate(failure, Came.OPEN, f"step {action.step} {why}", action, likely)


def _takes_up(failure: Action, aim: Aim, action: Action) -> bool:
    """Whether a later failure was another try at the same."""
    if failure.name == REPLY or action.exact == failure.exact:
        return True
    if failure.name != CODE or action.name != CODE:
        return failure.name == action.name or failure.name in action.words
    return bool((aim.names or aim.words) & action.words)


def _describe_change(failure: Action, action: Action) -> str:
    """Describe what changed between two pieces of code, by their names."""
    before, after = (find_distinctive_names(LITERAL.sub("", each.text)) for each in (failure, action))
    gone, new = sorted(before - after)[:3], sorted(after - before)[:3]
    sentence = [f"without {', '.join(gone)}"] if gone else []
    sentence += [f"with {', '.join(new)}"] if new else []
    return f" ({'; '.join(sentence)})" if sentence else ""
