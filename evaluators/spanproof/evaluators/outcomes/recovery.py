"""Recovery: did failures lead to what the failed steps were after?

In: the actions of a run. Out: for each failure what became of it. A recovery is an error read, a change that
touches its cause, and then what the failed step was after. The same again where nothing passes by itself,
the failed part left out, a literal written in its place, an error caught and gone on without the value are
none. Where neither can be decided the failure is left open for a judge, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import IntEnum

from spanproof.evaluators.actions import CODE, LITERAL, REPLY, Action, select_allowed
from spanproof.evaluators.call_targets import shares_target
from spanproof.evaluators.outcomes.dodges import find_dodge
from spanproof.evaluators.outcomes.failing import COMMON, Aim, build_aim, list_distinctive_names
from spanproof.reading.doings import changes_something
from spanproof.reading.python_facts import find_python_facts

LIKE_NAMES = 0.7
"""Likeness from which two tools' names are one tool's, misspelled or renamed (`difflib`'s ratio)."""

MAX_FAILURES = 50
"""The last so many failures of a run are followed up: each is held against all that came after it."""

MAX_LATER = 40
"""So many actions after a failure are looked at for its mend."""

_SHORTEST_TEXT = 2

KNOWN_RESULTS = 20
KNOWN_CHARS = 4_000
"""The last so many results before a mend, and so much of each, where values that it writes down may be."""


class RecoveryStatus(IntEnum):
    """What became of a failure, the worst first."""

    UNRECOVERED = 0
    OPEN = 1
    RECOVERED = 2


_WORTH = {RecoveryStatus.RECOVERED: 1.0, RecoveryStatus.OPEN: 0.5, RecoveryStatus.UNRECOVERED: 0.0}


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of one failure.

    Attributes:
        decided_by: the action that decides, None where nothing came after.
        explanation: in words, as the end of "step 2 failed (…); ".
        is_likely: for an open one, whether what came after at least has to do with it.
    """

    failure: Action
    status: RecoveryStatus
    explanation: str
    decided_by: Action | None = None
    is_likely: bool = True


def select_failures(actions: Sequence[Action]) -> list[Action]:
    """Select the actions that failed."""
    return [action for action in actions if action.error is not None]


def list_recoveries(actions: Sequence[Action], task: str = "") -> list[Recovery]:
    """Decide what became of each failure, in order; of the last `MAX_FAILURES`.

    A refused action is no failure, and no success after one.
    """
    actions = select_allowed(actions)
    found: list[Recovery] = []
    for failure in reversed(select_failures(actions)[-MAX_FAILURES:]):
        found.insert(0, _build_recovery(failure, actions, found, task))
    return found


def evaluate_recovery(actions: Sequence[Action], task: str = "") -> bool | None:
    """Whether the run recovered, open failures by what is likelier; None where nothing failed."""
    recoveries = list_recoveries(actions, task)
    if not recoveries:
        return None
    # Two tries at one thing that the same step got over, if it did: what speaks for the one speaks for both.
    left_open = [recovery for recovery in recoveries if recovery.status is RecoveryStatus.OPEN]
    likely = [recovery.decided_by for recovery in left_open if recovery.is_likely]
    if any(recovery.status is RecoveryStatus.UNRECOVERED for recovery in recoveries):
        return False
    return all(recovery.decided_by in likely for recovery in left_open)


def compute_recovered_share(recoveries: Sequence[Recovery]) -> float:
    """Return the share of failures that were recovered; open ones count half."""
    return sum(_WORTH[recovery.status] for recovery in recoveries) / len(recoveries)


def _build_recovery(
    failure: Action, actions: Sequence[Action], recoveries: Sequence[Recovery], task: str
) -> Recovery:
    """Decide what became of a failure; a later failure that takes it up passes its own recovery on."""
    shown = [action for action in actions if action.error is None and action.result]
    seen = {(action.exact, action.outcome) for action in shown if action.step < failure.step}
    later = [action for action in actions if action.step > failure.step][:MAX_LATER]
    aim = build_aim(failure.text, failure.error_text, task)
    best: Recovery | None = None
    for action in later:
        if action.answers or (action.exact, action.outcome) in seen:
            continue
        if action.error is None:
            found = _evaluate_success(failure, aim, action, later, shown, task)
        else:
            if action.exact == failure.exact:
                best = None  # it failed once more: what came in between was no mend
            found = _find_passed_recovery(failure, aim, action, recoveries, task)
        # Of two that are worth the same, the earlier one decides.
        best = max(filter(None, (best, found)), key=_get_recovery_rank, default=None)
        if best is not None and best.status is RecoveryStatus.RECOVERED:
            return best
    if best is not None:
        return best
    went_on = any(action.succeeded for action in later)
    why = "no later step did the same" if went_on else "nothing succeeded after it"
    return Recovery(failure, RecoveryStatus.UNRECOVERED, why)


def _get_recovery_rank(recovery: Recovery) -> tuple[RecoveryStatus, bool]:
    return recovery.status, recovery.is_likely


def _find_passed_recovery(
    failure: Action, aim: Aim, action: Action, recoveries: Sequence[Recovery], task: str
) -> Recovery | None:
    """Return the recovery of a later failure that was another try at the same, as one of this failure."""
    recovery = next((found for found in recoveries if found.failure is action), None)
    if recovery is None or not _takes_up(failure, aim, action, task):
        return None
    return replace(recovery, failure=failure)


def _evaluate_success(
    failure: Action, aim: Aim, action: Action, later: Sequence[Action], shown: Sequence[Action], task: str
) -> Recovery | None:
    """Decide what one later success is to a failure; None where it has nothing to do with it.

    Args:
        failure: what failed.
        aim: what it was after.
        action: what succeeded later.
        later: all that came after the failure.
        shown: the actions of the run whose results it was shown.
        task: of the run.
    """
    if failure.name == REPLY:
        return _build_recovered(failure, action, "succeeded with a changed approach")
    if action.exact == failure.exact:
        between = any(other.succeeded and failure.step < other.step < action.step for other in later)
        return _evaluate_repeat(failure, aim, action, changed_between=between)
    if failure.name != CODE:
        return _evaluate_other_call(failure, action, task)
    if action.name != CODE:
        related = action.name in aim.words or bool(aim.words & action.words)
        why = "went on with a tool; whether it got what the code was after is open"
        return _build_open(failure, action, why, likely=related)
    results = [other.result[:KNOWN_CHARS] for other in shown if other.step < action.step]
    return _evaluate_other_code(failure, aim, action, [task, *results[-KNOWN_RESULTS:]])


def _evaluate_repeat(failure: Action, aim: Aim, action: Action, *, changed_between: bool) -> Recovery:
    if aim.passing or changed_between:
        if aim.passing:
            why = "an error that passes by itself"
        else:
            why = "what was set right in between"
        return _build_recovered(failure, action, f"succeeded with the same action again, after {why}")
    return _build_open(
        failure, action, "succeeded with the same action again, and nothing says why", likely=True
    )


def _evaluate_other_call(failure: Action, action: Action, task: str) -> Recovery | None:
    """Decide on a success after a failed call; None where it was for another target."""
    if action.name == failure.name and not _has_same_target(failure, action, task):
        return None
    if action.name == failure.name or (action.name == CODE and failure.name in action.words):
        change = f"other arguments for {failure.name}"
        return _build_recovered(failure, action, f"succeeded with a changed approach: {change}")
    alike = SequenceMatcher(None, failure.name[:100], action.name[:100]).ratio() >= LIKE_NAMES
    names = list_distinctive_names(failure.text)
    if alike and (not names or names & list_distinctive_names(action.text)):
        change = f"{action.name} in place of {failure.name}"
        return _build_recovered(failure, action, f"succeeded with a changed approach: {change}")
    return _build_open(
        failure, action, f"did something else ({action.name}) that may or may not have got it", likely=True
    )


def _has_same_target(failure: Action, action: Action, task: str) -> bool:
    """Whether a later call of the same tool is for what the failed one was for."""
    if not isinstance(failure.arguments, Mapping) or not isinstance(action.arguments, Mapping):
        return True
    is_doing = changes_something(failure.name)
    return shares_target(failure.arguments, action.arguments, task, is_doing=is_doing)


def _evaluate_other_code(failure: Action, aim: Aim, action: Action, texts: Sequence[str]) -> Recovery:
    if not aim.names and not aim.words and not aim.cause:
        why = "succeeded, and the failed code names nothing to know it by"
        return _build_open(failure, action, why, likely=True)
    dodged = find_dodge(failure, aim, action, texts)
    if dodged is not None:
        return Recovery(failure, RecoveryStatus.UNRECOVERED, f"step {action.step} {dodged}", action)
    swallowed = _evaluate_catch(failure, aim, action)
    return swallowed or _evaluate_same_aim(failure, aim, action) or _evaluate_detour(failure, aim, action)


def _evaluate_same_aim(failure: Action, aim: Aim, action: Action) -> Recovery | None:
    """Decide on code that does what the failed code was to do; None where it does something else."""
    if aim.names & action.words:
        got = ", ".join(sorted(aim.names & action.words)[:3])
        change = f"{got}{_describe_change(failure, action)}"
        return _build_recovered(failure, action, f"succeeded with a changed approach to {change}")
    if not aim.names and aim.words and aim.words <= action.words:
        change = f"the same{_describe_change(failure, action)}"
        return _build_recovered(failure, action, f"succeeded with a changed approach to {change}")
    return None


def _evaluate_detour(failure: Action, aim: Aim, action: Action) -> Recovery:
    """Decide on code that does without what the failed code was after, or went another way."""
    number, names = action.step, ", ".join(sorted(aim.names)[:3])
    new = list_distinctive_names(action.text) - list_distinctive_names(failure.text)
    if aim.names and not new and aim.is_aside and (aim.words - aim.names) & action.words:
        return _build_recovered(
            failure, action, f"succeeded without {names}, which the task does not require"
        )
    if aim.names and not new:
        return Recovery(
            failure, RecoveryStatus.UNRECOVERED, f"step {number} leaves out what failed ({names})", action
        )
    related = bool(aim.words & action.words) or bool(aim.cause & action.words)
    if related:
        why = "went another way with what the failed code used"
    else:
        why = "did something else"
    likely = related or "ModuleNotFound" in failure.error_text or "Import" in failure.error_text
    likely = likely or _calls_in_place(failure, aim, action)
    return _build_open(
        failure, action, f"{why}; whether it got what the failed code was after is open", likely=likely
    )


def _evaluate_catch(failure: Action, aim: Aim, action: Action) -> Recovery | None:
    """Decide on code that now catches the failure; None where it does not, or did before."""
    facts, before = find_python_facts(action.text), find_python_facts(failure.text)
    if facts is not None:
        guarded = [block for block in facts.guarded if block.names & aim.names]
    else:
        guarded = []
    if not guarded or (before is not None and any(block.names & aim.names for block in before.guarded)):
        return None
    handlers = guarded[0].handlers
    texts = [text.strip() for handler in handlers for text in handler.texts if len(text) > _SHORTEST_TEXT]
    if any(text and text in action.result for text in texts):
        why = f"step {action.step} catches the error and goes on without the value"
        return Recovery(failure, RecoveryStatus.UNRECOVERED, why, action)
    tries_another_way = any(handler.continues or handler.calls - COMMON for handler in handlers)
    return _build_open(
        failure, action, "catches errors, and whether one occurred is open", likely=tries_another_way
    )


def _calls_in_place(failure: Action, aim: Aim, action: Action) -> bool:
    """Whether the failed code called what is not there, and this calls something else."""
    before, after = find_python_facts(failure.text), find_python_facts(action.text)
    if before is not None:
        missing = aim.cause & before.called_names
    else:
        missing = frozenset()
    if not missing or after is None:
        return False
    return bool(after.called_names & list_distinctive_names(action.text))


def _build_recovered(failure: Action, action: Action, explanation: str) -> Recovery:
    return Recovery(failure, RecoveryStatus.RECOVERED, f"step {action.step} {explanation}", action)


def _build_open(failure: Action, action: Action, why: str, *, likely: bool) -> Recovery:
    return Recovery(failure, RecoveryStatus.OPEN, f"step {action.step} {why}", action, likely)


def _takes_up(failure: Action, aim: Aim, action: Action, task: str) -> bool:
    """Whether a later failure was another try at the same."""
    if failure.name == REPLY or action.exact == failure.exact:
        return True
    if failure.name != CODE or action.name != CODE:
        is_same_tool = failure.name == action.name and _has_same_target(failure, action, task)
        return is_same_tool or (action.name == CODE and failure.name in action.words)
    return bool((aim.names or aim.words) & action.words)


def _describe_change(failure: Action, action: Action) -> str:
    """Describe what changed between two pieces of code, by their names."""
    before, after = (list_distinctive_names(LITERAL.sub("", code.text)) for code in (failure, action))
    gone, new = sorted(before - after)[:3], sorted(after - before)[:3]
    sentence = [f"without {', '.join(gone)}"] if gone else []
    sentence += [f"with {', '.join(new)}"] if new else []
    return f" ({'; '.join(sentence)})" if sentence else ""
