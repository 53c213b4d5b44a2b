"""From the evaluated traces of a session to its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.evaluators.run_state import find_reason
from spanproof.evaluators.sessions.facts import parse_facts
from spanproof.evaluators.sessions.hand_overs import list_hand_overs, list_unread
from spanproof.evaluators.sessions.model import FirstMistake, HandOver, Replaced, SessionVerdict, Turn
from spanproof.trace import Ending, Errored, Layer, Run, Scored, State, fold_states, get_state

_ALIKE = 0.75
_NO_ANSWER = {
    Ending.MAX_STEPS: "ended at the step limit without an answer",
    Ending.FAILED: "failed without an answer",
}


def evaluate_session(evaluations: Sequence[TraceEvaluation]) -> SessionVerdict:
    """Return the verdict on the traces of one session."""
    in_order = sorted(evaluations, key=lambda evaluation: _get_start_ns(evaluation))
    turns: list[Turn] = []
    hand_overs: list[HandOver] = []
    mistakes: list[tuple[int, FirstMistake]] = []
    texts: list[str] = []
    for evaluation in in_order:
        runs = [judged.run for judged in evaluation.runs]
        numbers = _get_turn_numbers(runs, len(turns) + 1)
        passed_on = list_hand_overs(evaluation.trace, runs, numbers, texts)
        for run in evaluation.runs:
            if run.run.parent_span_id is None:
                turns.append(_evaluate_turn(len(turns) + 1, evaluation, run, passed_on, turns, texts))
        hand_overs += passed_on
        mistakes += _iter_mistakes(evaluation, numbers)
        texts += [text for run in runs for text in (run.task, run.answer and run.answer.text) if text]
    mistakes += (_to_mistake(hand_over) for hand_over in hand_overs if hand_over.replaced)
    first = min(mistakes, key=lambda mistake: mistake[0], default=None)
    return _build_verdict(in_order, turns, hand_overs, first[1] if first else None)


def _get_turn_numbers(runs: Sequence[Run], first: int) -> dict[str, int]:
    """Return the number of the turn that each run of a trace belongs to: each run without a caller is one."""
    numbers: dict[str, int] = {}
    for run in runs:
        if run.parent_span_id is None:
            numbers[run.span_id] = first
            first += 1
    callers = {run.span_id: run.parent_span_id for run in runs}
    for run in runs:
        root, left = run.span_id, len(runs)
        while (above := callers.get(root)) is not None and left:
            root, left = above, left - 1
        numbers[run.span_id] = numbers.get(root, first)
    return numbers


def _get_start_ns(evaluation: TraceEvaluation) -> int:
    return min((span.start_ns for span in evaluation.trace.spans), default=0)


def _evaluate_turn(
    number: int,
    evaluation: TraceEvaluation,
    run: RunEvaluation,
    hand_overs: Sequence[HandOver],
    before: Sequence[Turn],
    earlier: Sequence[str],
) -> Turn:
    answering = _get_answering(run, evaluation.runs)
    state, why = _evaluate_answer(run, answering)
    if state is State.PASS and (unread := list_unread(evaluation.trace, answering.run, earlier)):
        state, why = State.OPEN, f"{answering.run.name} {_describe_unread(unread[0])}"
    if state is not State.FAIL:
        for judged in evaluation.runs:
            if _breaks_boundary(judged):
                state, why = State.FAIL, f"{judged.run.name} fails the boundary"
        for hand_over in hand_overs:
            if hand_over.replaced:
                state, why = State.FAIL, f"{hand_over.giver} {_describe_replaced(hand_over)}"
    request = run.run.task
    return Turn(
        number,
        evaluation.trace.trace_id,
        run.run.span_id,
        run.run.name,
        request,
        answering.run.answer.text if answering.run.answer is not None else None,
        state,
        why,
        is_retry=any(_is_same_request(request, turn.request) for turn in before),
    )


def _get_answering(root: RunEvaluation, runs: Sequence[RunEvaluation]) -> RunEvaluation:
    """Return the run that answered for a turn.

    That is the root, unless it has no answer and one that it handed over to has, or unless no layer judged it
    and its answer is that of another run: a graph around its agents passes their answer on.
    """
    answer = root.run.answer
    if answer is not None and any(get_state(layer).is_judged for layer in root.layers.values()):
        return root
    within = [descendant for descendant in _list_descendants(root, runs) if descendant.run.answer is not None]
    answered = [
        descendant
        for descendant in within
        if answer is None or _normalise_answer(descendant) == _normalise_answer(root)
    ]
    return max(answered, key=lambda descendant: descendant.run.end_ns, default=root)


def _list_descendants(root: RunEvaluation, runs: Sequence[RunEvaluation]) -> list[RunEvaluation]:
    parents = {judged.run.span_id: judged.run.parent_span_id for judged in runs}

    def is_within(run: RunEvaluation) -> bool:
        above, left = run.run.parent_span_id, len(parents)
        while above is not None and above != root.run.span_id and left:
            above, left = parents.get(above), left - 1
        return above == root.run.span_id

    return [judged for judged in runs if is_within(judged)]


def _normalise_answer(run: RunEvaluation) -> str:
    if run.run.answer is not None:
        return " ".join(run.run.answer.text.split())
    return ""


def _evaluate_answer(root: RunEvaluation, answering: RunEvaluation) -> tuple[State, str]:
    """Return the state of the run that answered for a turn, fail where the turn's own run does, and why."""
    state, why = _evaluate_run(root)
    if answering is root or state is State.FAIL:
        return state, why
    state, why = _evaluate_run(answering)
    return state, f"{answering.run.name}: {why}" if why else ""


def _describe_unread(unread: Replaced) -> str:
    return f"worked on {unread.used}, which nothing names, and never on {unread.given}"


def _evaluate_run(run: RunEvaluation) -> tuple[State, str]:
    """Return the state of a run, `fail` where it ended without an answer, and why it is not a pass."""
    state = run.state
    if state is not State.FAIL and run.run.ending in _NO_ANSWER:
        return State.FAIL, _NO_ANSWER[run.run.ending]
    reason = find_reason(run.layers)
    if reason is None or state is State.SKIPPED:
        return State.SKIPPED, "no layer judged it"
    layer, outcome = reason
    match outcome:
        case Scored(explanation=explanation) if state is not State.PASS:
            return state, f"{layer}: {explanation}"
        case Errored(error_type, message):
            return state, f"{layer}: {error_type}: {message}"
    return state, ""


def _breaks_boundary(run: RunEvaluation) -> bool:
    return get_state(run.layers.get(Layer.BOUNDARY)) is State.FAIL


def _iter_mistakes(
    evaluation: TraceEvaluation, numbers: Mapping[str, int]
) -> Iterator[tuple[int, FirstMistake]]:
    """Yield each failing run of a trace: the time of the step to blame, else the end of the run."""
    for run in evaluation.runs:
        state, why = _evaluate_run(run)
        if state is not State.FAIL:
            continue
        when = run.run.end_ns
        for score in run.scores:
            blamed = score.outcome
            if score.name == "first_mistake" and isinstance(blamed, Scored) and blamed.evidence:
                span = evaluation.trace.by_id.get(blamed.evidence[0].span_id or "")
                if span is not None:
                    when, why = span.start_ns, blamed.explanation
        turn = numbers[run.run.span_id]
        yield when, FirstMistake(turn, evaluation.trace.trace_id, run.run.name, why)


def _to_mistake(hand_over: HandOver) -> tuple[int, FirstMistake]:
    why = _describe_replaced(hand_over)
    return hand_over.start_ns, FirstMistake(hand_over.turn, hand_over.trace_id, hand_over.giver, why)


def _describe_replaced(hand_over: HandOver) -> str:
    replaced = hand_over.replaced[0]
    return f"handed over to {hand_over.receiver}, which worked on {replaced.used} instead of {replaced.given}"


def _build_verdict(
    evaluations: Sequence[TraceEvaluation],
    turns: Sequence[Turn],
    hand_overs: Sequence[HandOver],
    first_mistake: FirstMistake | None,
) -> SessionVerdict:
    last = _list_last_attempts(turns)
    passed = sum(turn.state is State.PASS for turn in last)
    broken = any(_breaks_boundary(run) for evaluation in evaluations for run in evaluation.runs)
    if broken:
        state = State.FAIL
    else:
        state = fold_states(turn.state for turn in last)
    if state is State.PASS and passed < len(last):
        # A request whose answer no layer judged is not known to have ended well.
        state = State.OPEN
    parts = [f"{passed} of {len(last)} {'request' if len(last) == 1 else 'requests'} ended well"]
    if broken:
        parts.append("a run broke the boundary")
    if first_mistake is not None:
        parts.append(f"first mistake in turn {first_mistake.turn} by {first_mistake.agent}")
    value = passed / len(last) if last else None
    return SessionVerdict(tuple(turns), tuple(hand_overs), first_mistake, state, value, "; ".join(parts))


def _list_last_attempts(turns: Sequence[Turn]) -> list[Turn]:
    """Return the last turn of each request: what was requested again counts once."""
    last: list[Turn] = []
    for turn in turns:
        last = [other for other in last if not _is_same_request(turn.request, other.request)]
        last.append(turn)
    return last


def _is_same_request(one: str | None, other: str | None) -> bool:
    """Whether two requests name the same particulars in nearly the same words."""
    if one is None or other is None:
        return False
    first, second = (" ".join(text.casefold().split()) for text in (one, other))
    if first == second:
        return True
    if parse_facts(one).keys() != parse_facts(other).keys():
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE
