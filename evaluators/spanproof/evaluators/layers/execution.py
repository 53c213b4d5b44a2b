"""Execution: how each step ended, as recorded and as replayed.

Takes the evidence about a run; gives per executed snippet `outcome` (its failure class), `reproduced`
(whether the replay ended in the same class), `stable` (whether it did so under another seed and clock, where
that was tried) and `drift` (the same code ended otherwise on another executor of the run), and the layer's
value for the run: the share of steps that ended well. Where a run has no code, its tool calls are the steps.
`wall_s` is how long the run took, as recorded.
The outcome is the one decided for all layers: docs/layers/execution.md says by what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.drift import list_drifts
from spanproof.evaluators.layers.common import (
    add_refusals,
    build_no_replay_outcome,
    build_skip_without_code,
    describe_executor,
    describe_failure,
    find_all_refused,
    find_replay,
    format_count,
    get_step_number,
    is_lost,
    list_executed,
    select_working,
)
from spanproof.evaluators.model import NoReplay, RunEvidence
from spanproof.evaluators.outcomes.model import FAILING, Account, KnownBy, State, StepOutcome
from spanproof.evaluators.recorded import PROGRAMS, read_unseen_output
from spanproof.evaluators.redact import with_masked_formats
from spanproof.evaluators.refusals import format_refusal
from spanproof.evaluators.replay.record import read_record
from spanproof.evaluators.scores import Unit
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    Evidence,
    Judgement,
    Label,
    Layer,
    Outcome,
    Run,
    Scored,
    Skipped,
    Snippet,
    Step,
)

EVALUATOR = "spanproof.execution"
VERSION = "6"

MAX_FAILED_SHARE = 0.5
"""A run fails when more than this share of its steps failed, even if the last one worked."""

SECONDS_AT_HALF = 30.0
"""Where `wall_s_score` is 0.5: about what an ordinary run takes."""

MAX_NAMED = 3
"""So many failed steps are named; all are in the evidence."""


@dataclass(frozen=True, slots=True)
class _Step:
    """How one step ended; `name` is for people."""

    name: str
    span_id: str
    outcome: StepOutcome
    fact: Evidence


def evaluate_execution(evidence: RunEvidence) -> list[Judgement]:
    """Judge every executed step, and the run."""
    run = evidence.run
    return [*_list_outcomes(evidence), *_list_wall_time(run)]


def _list_outcomes(evidence: RunEvidence) -> list[Judgement]:
    run = evidence.run
    snippets = list_executed(run)
    judgements = _list_refused_snippets(run)
    if not snippets:
        return [_build_judgement("execution", run.span_id, _evaluate_calls(evidence)), *judgements]
    layer: Outcome
    drifted = _group_drifted(run)
    for snippet in snippets:
        judgements.append(
            _build_judgement("outcome", snippet.span_id, _evaluate_outcome(evidence, snippet), snippet.id)
        )
        judgements.append(
            _build_judgement(
                "reproduced", snippet.span_id, _evaluate_reproduced(evidence, snippet), snippet.id
            )
        )
        for name, found in (
            ("stable", _evaluate_stability(evidence, snippet)),
            ("drift", drifted.get(snippet.id)),
        ):
            if found is not None:
                judgements.append(_build_judgement(name, snippet.span_id, found, snippet.id))
    steps = [_find_step(evidence, snippet) for snippet in select_working(evidence)]
    judged = [step for step in steps if step is not None]
    if judged:
        layer = _with_lost_calls(evidence.account, _evaluate_steps(evidence.account, judged, "step"))
        layer = _with_unknown_left_open(layer, steps)
        layer = add_refusals(evidence, layer)
    elif steps and not evidence.account.refused:
        # Without any outcome, the first one's reason serves for all.
        layer = _evaluate_outcome(evidence, snippets[0])
    else:
        layer = _evaluate_calls(evidence)
    return [_build_judgement("execution", run.span_id, layer), *judgements]


def _list_refused_snippets(run: Run) -> list[Judgement]:
    """Return a skipped outcome for each program that was refused."""
    return [
        _build_judgement(
            "outcome", snippet.span_id, Skipped(format_refusal(snippet.refusal), Cause.REFUSED), snippet.id
        )
        for snippet in run.snippets
        if snippet.refusal is not None and not snippet.executed and snippet.language in PROGRAMS
    ]


def _list_wall_time(run: Run) -> list[Judgement]:
    """Return how long the run took, as recorded; nothing where the trace does not say. Advisory."""
    if not 0 < run.start_ns < run.end_ns:
        return []
    seconds = (run.end_ns - run.start_ns) / 1e9
    value = SECONDS_AT_HALF / (SECONDS_AT_HALF + seconds)
    outcome = Scored(value, None, f"{seconds:.3g} s from start to end", raw=seconds, unit=Unit.SECONDS)
    return [_build_judgement("wall_s", run.span_id, outcome)]


def _evaluate_calls(evidence: RunEvidence) -> Outcome:
    """Judge a run without code by how its tool calls ended; handing over the answer is none."""
    run = evidence.run
    if run.hidden:
        return build_skip_without_code(run)
    calls = [call for step in run.steps for call in _list_calls(evidence, step)]
    if calls:
        unseen = any(read_unseen_output(step) for step in run.steps)
        noun = "action" if unseen else "tool call"
        return add_refusals(evidence, _evaluate_steps(evidence.account, calls, noun))
    refused = find_all_refused(evidence)
    if refused is not None:
        return refused
    if any(step.calls for step in run.steps):
        return Skipped("nothing but the handing over of an answer is on the trace", Cause.NO_ACTION)
    proposed = sum(snippet.language in PROGRAMS for snippet in run.snippets)
    if proposed:
        nothing = f"no code that ran ({format_count(proposed, 'snippet')} only proposed)"
    else:
        nothing = "no code"
    return Skipped(f"{nothing} and no tool call on the trace", Cause.NO_ACTION)


def _evaluate_steps(account: Account, steps: list[_Step], noun: str) -> Scored:
    failed = [step for step in steps if step.outcome.state in FAILING]
    facts = tuple(step.fact for step in steps)
    worked = len(steps) - len(failed)
    value = worked / len(steps)
    if not failed:
        every = {1: f"The one {noun}", 2: f"Both {noun}s"}.get(len(steps), f"All {len(steps)} {noun}s")
        return Scored(value, Label.PASS, f"{every} succeeded{_describe_empty(steps)}.", facts)
    if worked == 0 and len(steps) == 1:
        sentence = f"The one {noun} failed ({steps[0].outcome.cause})."
        return Scored(0.0, Label.FAIL, sentence, facts)
    is_unrecovered = any(is_lost(account, step.span_id) for step in failed)
    passed = failed[-1] is not steps[-1] and value >= 1 - MAX_FAILED_SHARE and not is_unrecovered
    share = f"{worked} of {format_count(len(steps), noun)} succeeded"
    failures = (describe_failure(account, step.name, step.span_id, step.outcome) for step in failed)
    clauses = list(dict.fromkeys(failures))  # code and the query it ran may fail by one error
    if len(clauses) > MAX_NAMED:
        more = f"; {len(clauses) - MAX_NAMED} more failed"
    else:
        more = ""
    sentence = f"{share}; {'; '.join(clauses[:MAX_NAMED])}{more}."
    return Scored(value, Label.PASS if passed else Label.FAIL, sentence, facts)


def _with_lost_calls(account: Account, outcome: Scored) -> Scored:
    """Return the layer's value; a failed call outside of code that nothing recovered fails the run too."""
    if account.unrecovered is None or outcome.label is not Label.PASS:
        return outcome
    call = account.unrecovered.failure
    failed = f"{call.name} failed in step {call.step} and no later step recovered from it"
    return replace(outcome, label=Label.FAIL, explanation=f"{outcome.explanation.rstrip('.')}; {failed}.")


def _with_unknown_left_open(outcome: Scored, steps: list[_Step | None]) -> Scored:
    """Return the layer's value, open where a step that is not on record may have mended what failed."""
    failed = [at for at, step in enumerate(steps) if step is not None and step.outcome.state in FAILING]
    unknown = [at for at, step in enumerate(steps) if step is None]
    if outcome.label is not Label.FAIL or not failed or not unknown or unknown[-1] < failed[-1]:
        return outcome
    sentence = f"{outcome.explanation.rstrip('.')}; how a later step ended is not on the trace."
    return replace(
        outcome, value=OPEN_VALUE, label=None, explanation=sentence, cause=Cause.RECOVERY_NOT_CERTAIN
    )


def _describe_empty(steps: list[_Step]) -> str:
    """Name the steps that gave no result."""
    names = [step.name for step in steps if step.outcome.state is State.EMPTY]
    if not names:
        return ""
    if len(names) == 1:
        return f"; {names[0]} returned nothing"
    return f"; {len(names)} of them returned nothing"


def _find_step(evidence: RunEvidence, snippet: Snippet) -> _Step | None:
    outcome = evidence.account.get_snippet_outcome(snippet)
    if outcome.failure_class is None:
        return None
    name = f"step {get_step_number(evidence.run, snippet)}"
    fact = Evidence(
        f"{name} ended in {outcome.words}",
        snippet.span_id,
        recorded=outcome.recorded,
        replayed=outcome.replayed,
    )
    return _Step(name, snippet.span_id, outcome, fact)


def _list_calls(evidence: RunEvidence, step: Step) -> list[_Step]:
    """Return a step's tool calls, code of which only the prints are known, and a call that never ran.

    A refused call neither worked nor failed: it is left out.
    """
    account = evidence.account
    calls = [
        _build_call_step(call.tool, call.span_id or step.span_id, account.get_call_outcome(step, position))
        for position, call in enumerate(step.calls)
        if not is_answer(call) and call.refusal is None
    ]
    own = account.steps.get(step.number)
    if own is not None and read_unseen_output(step):
        calls.append(_build_call_step(f"step {step.number}", step.span_id, own))
    failed = own is not None and own.state in FAILING and step.error is not None
    if own is not None and failed and all(call.outcome.ok for call in calls):
        if step.requested:
            requested = step.requested[0].name
        else:
            requested = f"step {step.number}"
        calls.append(_build_call_step(requested, step.span_id, own))
    return calls


def _build_call_step(name: str, span_id: str, outcome: StepOutcome) -> _Step:
    fact = Evidence(f"{name} ended in {outcome.words}", span_id, recorded=outcome.recorded)
    return _Step(name, span_id, outcome, fact)


def _evaluate_outcome(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    how = evidence.account.get_snippet_outcome(snippet)
    step = find_replay(evidence, snippet)
    if how.refusal is not None:
        return Skipped(f"ended by a call that was {format_refusal(how.refusal)}", Cause.REFUSED)
    if how.recorded is None and step is not None and step.flaky:
        return Skipped(
            f"its outcome is not on the trace, and its replay is {step.difference}", Cause.NOT_RECORDED
        )
    if how.failure_class is None:
        return build_no_replay_outcome(
            evidence, snippet, "its outcome is not on the trace, and it was not replayed: "
        )
    source = "Recorded" if how.recorded is not None else "Replayed"
    fact = Evidence(f"ended in {how.words}", snippet.span_id, how.recorded, how.replayed)
    sentence = f"{source}: {how.words}{_describe_failure(how)}."
    if how.ok:
        return Scored(1.0, Label.PASS, sentence, (fact,))
    return Scored(0.0, Label.FAIL, sentence, (fact,))


def _describe_failure(outcome: StepOutcome) -> str:
    """Quote the text that reports a failure, where nothing raised."""
    if outcome.known_by in (KnownBy.ERROR_TEXT, KnownBy.PRINTED_EXCEPTION, KnownBy.STRUCTURED_RESULT):
        return f", reported as text: {with_masked_formats(outcome.quote.partition(chr(10))[0])!r}"
    return ""


def _evaluate_reproduced(evidence: RunEvidence, snippet: Snippet) -> Outcome:
    step, how = find_replay(evidence, snippet), evidence.account.get_snippet_outcome(snippet)
    recorded = read_record(snippet).failure_class
    if step is None:
        return build_no_replay_outcome(evidence, snippet)
    if recorded is None:
        return Skipped("its outcome is not on the trace", Cause.NOT_RECORDED)
    if step.flaky:
        return Skipped(f"its replay is {step.difference}", Cause.NOT_COMPARABLE)
    places = f"recorded in {describe_executor(snippet.executor)}, replayed in {_describe_backend(evidence)}"
    fact = Evidence(places, snippet.span_id, recorded, how.replayed)
    if recorded is how.replayed:
        return Scored(1.0, Label.PASS, f"Recorded and replayed: {recorded}.", (fact,))
    if step.agrees is None:
        return Skipped(f"not comparable: {step.difference}", Cause.NOT_COMPARABLE)
    sentence = f"Recorded {recorded}, replayed {how.replayed}: environment drift, {places}."
    return Scored(0.0, Label.FAIL, sentence, (fact,))


def _evaluate_stability(evidence: RunEvidence, snippet: Snippet) -> Outcome | None:
    """Whether it came out the same under two seeds and clocks; None where not tried. Advice, no verdict."""
    step = find_replay(evidence, snippet)
    if step is None or isinstance(evidence.replay, NoReplay) or not evidence.replay.repeated:
        return None
    if step.flaky:
        sentence = step.difference or "it came out otherwise under another seed and clock"
        return Scored(0.0, None, f"{sentence[0].upper()}{sentence[1:]}.")
    return Scored(1.0, None, "It came out the same under two seeds and clocks.")


def _group_drifted(run: Run) -> dict[str, Outcome]:
    """Return snippets whose code ended otherwise on an earlier executor of this run. Never a verdict."""
    found: dict[str, Outcome] = {}
    for drift in list_drifts([run]):
        for before, after in pairwise(drift.endings):
            if before.failure_class is after.failure_class:
                continue
            then, now = describe_executor(before.executor), describe_executor(after.executor)
            fact = Evidence("the same code before", before.span_id, recorded=before.failure_class)
            sentence = f"{before.failure_class} in {then}, {after.failure_class} in {now}"
            found[after.snippet_id] = Scored(
                0.0, None, f"Environment drift: {sentence}, by the same code.", (fact,)
            )
    return found


def _describe_backend(evidence: RunEvidence) -> str:
    if isinstance(evidence.replay, NoReplay):
        return ""
    return f"the backend {evidence.replay.backend}"


def _build_judgement(name: str, span_id: str, outcome: Outcome, snippet_id: str | None = None) -> Judgement:
    return Judgement(Layer.EXECUTION, name, span_id, outcome, EVALUATOR, VERSION, snippet_id)
