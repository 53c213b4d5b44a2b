"""What the layers share: which code counts, how an executed snippet ended, and why there is none to judge.

Takes the evidence about a run; gives facts. It judges nothing.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.evaluators.actions import CODE, is_answer_only
from spanproof.evaluators.model import (
    NoReplay,
    NoReplayCause,
    Replay,
    ReplayBreak,
    ReplayedStep,
    RunEvidence,
)
from spanproof.evaluators.outcomes.model import Account, StepOutcome
from spanproof.evaluators.outcomes.recovery import RecoveryStatus
from spanproof.evaluators.recorded import PROGRAMS
from spanproof.evaluators.refusals import format_refusal, format_refuser
from spanproof.trace import Cause, Errored, Evidence, Executor, Outcome, Run, Scored, Skipped, Snippet


def list_executed(run: Run) -> list[Snippet]:
    """Return the programs that ran, in order."""
    return [snippet for snippet in run.snippets if snippet.executed and snippet.language in PROGRAMS]


def find_replay(evidence: RunEvidence, snippet: Snippet) -> ReplayedStep | None:
    """Return the replay of this snippet, None where it was not replayed."""
    if isinstance(evidence.replay, NoReplay):
        return None
    return evidence.replay.find_step(snippet.id)


def find_break(evidence: RunEvidence, snippet: Snippet) -> ReplayBreak | None:
    """Return how the code kept its replay from coming to an end, None where it did not."""
    if isinstance(evidence.replay, NoReplay):
        return None
    return evidence.replay.breaks.get(snippet.id)


def find_replay_failure(evidence: RunEvidence) -> NoReplay | None:
    """Return the replay where it failed by our fault, so that nothing is known of code that ran."""
    replay = evidence.replay
    if isinstance(replay, NoReplay) and replay.cause is NoReplayCause.FAILED:
        return replay
    return None


def find_first_divergence(run: Run, replay: Replay | NoReplay) -> tuple[int, ReplayedStep] | None:
    """Return the first step of the replay that left the record, with its number in the run."""
    first = None if isinstance(replay, NoReplay) else replay.first_divergence
    if first is None:
        return None
    return (get_step_number(run, first[1].snippet), first[1])


def get_step_number(run: Run, snippet: Snippet) -> int:
    """Return the number of the step that holds the snippet."""
    return next(step.number for step in run.steps if any(snippet.id == other.id for other in step.snippets))


def describe_no_replay(evidence: RunEvidence, snippet: Snippet) -> str:
    """Return the reason a snippet has no replay, as a clause."""
    if snippet.refusal is not None and not snippet.executed:
        return format_refusal(snippet.refusal)
    if isinstance(evidence.replay, NoReplay):
        return evidence.replay.reason
    if not snippet.executed:
        return "it did not run"
    return evidence.replay.unreplayed.get(snippet.id, "it was not reached")


def build_no_replay_outcome(
    evidence: RunEvidence, snippet: Snippet, prefix: str = "not replayed: "
) -> Skipped | Errored:
    """Return why there is no verdict without a replay: errored where ours failed, skipped otherwise."""
    failed = find_replay_failure(evidence)
    if failed is not None and snippet.executed:
        return Errored(failed.error_type or "ReplayFailed", failed.reason)
    if find_break(evidence, snippet) is not None:
        return Errored("ReplayBroken", describe_no_replay(evidence, snippet))
    return Skipped(f"{prefix}{describe_no_replay(evidence, snippet)}", Cause.NOT_REPLAYED)


def build_skip_without_code(run: Run) -> Skipped:
    """Return the outcome of a layer that judges code, for a run without any."""
    if run.hidden:
        return Skipped(
            "content is hidden: the producer kept inputs and outputs off the trace", Cause.CONTENT_HIDDEN
        )
    return Skipped(
        "no code on the trace: the agent wrote none, or its instrumentor does not record it", Cause.NO_CODE
    )


def list_refusal_clauses(evidence: RunEvidence) -> list[str]:
    """Return what was refused, and by whom, as clauses: `step 2 was refused by the guard (py.exec)`."""
    steps = evidence.run.steps
    whole = {step.number for step in steps if step.refusal is not None}
    closing = {step.number for step in steps if step.kind == "final_answer"}
    subjects: dict[str, dict[str, None]] = {}
    for action in evidence.account.refused:
        if action.refusal is not None and action.step not in closing:
            part = "" if action.step in whole else f"{action.name} of "
            subjects.setdefault(format_refuser(action.refusal), {})[f"{part}step {action.step}"] = None
    return [f"{_format_subject(list(names))} refused by {refuser}" for refuser, names in subjects.items()]


def _format_subject(names: list[str]) -> str:
    """Return `step 2 was`, `step 2 and step 3 were`, `step 2 and 4 more were`."""
    if len(names) == 1:
        return f"{names[0]} was"
    rest = names[1] if len(names) == 2 else f"{len(names) - 1} more"
    return f"{names[0]} and {rest} were"


def add_refusals(evidence: RunEvidence, outcome: Outcome, stop: str = ".") -> Outcome:
    """Return a layer's value with what was refused, and is not judged, in its explanation and evidence.

    Args:
        evidence: about the run.
        outcome: the layer's; one that is skipped has its own reason.
        stop: what the layer's explanations end with.
    """
    clauses = list_refusal_clauses(evidence)
    if not clauses or not isinstance(outcome, Scored):
        return outcome
    facts = tuple(
        Evidence(f"step {action.step} was {format_refusal(action.refusal)}", action.span_id)
        for action in evidence.account.refused
        if action.refusal is not None
    )
    sentence = f"{'; '.join((outcome.explanation.rstrip('.'), *clauses))}{stop}"
    return replace(outcome, explanation=sentence, evidence=(*outcome.evidence, *dict.fromkeys(facts)))


def find_all_refused(evidence: RunEvidence) -> Skipped | None:
    """Return the outcome where a run has nothing to judge beside its refusals; None of a run without any."""
    clauses = list_refusal_clauses(evidence)
    if not clauses:
        return None
    return Skipped(f"nothing was done beside what was refused: {'; '.join(clauses)}", Cause.REFUSED)


def select_working(evidence: RunEvidence) -> list[Snippet]:
    """Return the programs that ran and worked for the task, in order.

    Code that only hands over an answer is no execution; it is left out where anything else was done, or was
    refused.
    """
    ran = list_executed(evidence.run)
    account = evidence.account
    kept = [s for s in ran if s.id not in account.handed_over or account.get_snippet_outcome(s).ok is False]
    called = any(not action.answers and action.name != CODE for action in account.actions)
    if kept or called:
        return kept
    if account.refused:
        return [s for s in ran if not is_answer_only(s.source)]
    return ran


def describe_failure(account: Account, name: str, span_id: str, outcome: StepOutcome) -> str:
    """Return what followed a failure, as a clause: `step 2 failed (KeyError) and step 3 recovered`."""
    recovery = account.find_recovery(span_id)
    failed = f"{name} failed ({outcome.cause})"
    if recovery is None or (recovery.status is RecoveryStatus.UNRECOVERED and recovery.decided_by is None):
        return failed
    if recovery.status is RecoveryStatus.UNRECOVERED:
        return f"{failed} and no later step recovered from it"
    if recovery.decided_by is not None:
        by = f"step {recovery.decided_by.step}"
    else:
        by = "a later step"
    if recovery.status is RecoveryStatus.RECOVERED:
        what = "recovered"
    else:
        what = "may have recovered"
    return f"{failed} and {by} {what}"


def is_lost(account: Account, span_id: str) -> bool:
    """Whether this failed and nothing later did what it was after."""
    recovery = account.find_recovery(span_id)
    return recovery is not None and recovery.status is RecoveryStatus.UNRECOVERED


def describe_executor(executor: Executor) -> str:
    """Return what ran the code, with the digest of its image where that is known."""
    image = executor.image_digest or executor.image_name
    if executor.image_digest and executor.image_name and executor.image_digest not in executor.image_name:
        image = f"{executor.image_name}@{executor.image_digest}"
    kind = " ".join(part for part in (executor.type, executor.version) if part)
    if kind and image:
        return f"{kind} ({image})"
    return kind or image or "an executor that is not on the trace"


def format_count(number: int, noun: str) -> str:
    """Return `1 snippet`, `2 snippets`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"
