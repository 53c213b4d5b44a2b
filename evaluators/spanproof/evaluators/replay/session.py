"""One run's snippets, in order, in a sandbox, each compared with its record.

Takes a run, the scans of its snippets, its fixtures and a sandbox; gives a `Replay`. Python snippets share
one session, so that variables carry over as in the agent's interpreter; other languages run one by one.
A snippet the scanners deny is replayed too: the sandbox is the place where denied code does no harm, and what
it attempts there is the evidence. What comes out otherwise under another seed and clock is flaky and proves
nothing.
Never runs a snippet outside the sandbox, never puts one in place of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spanproof.evaluators.model import Replay, ReplayBreak, ReplayedStep
from spanproof.evaluators.replay.compare import Replayed, ends_in_call_of, ends_in_expression
from spanproof.evaluators.replay.fixtures import NO_FIXTURES, FixtureSet
from spanproof.evaluators.replay.flaky import with_flaky_steps
from spanproof.evaluators.replay.interpreter import Interpreter, NotRebuilt, StepBroke, has_ended_session
from spanproof.evaluators.replay.limits import DEFAULT_LIMITS, ReplayLimits
from spanproof.evaluators.replay.names import without_code_after_answer
from spanproof.evaluators.replay.plan import Plan, build_plan
from spanproof.evaluators.replay.prelude import FINAL_ANSWER
from spanproof.evaluators.replay.programs import Programs
from spanproof.evaluators.replay.state import State
from spanproof.evaluators.replay.tape import Tape, has_two_readings
from spanproof.evaluators.replay.weighing import Weighing
from spanproof.sandbox import (
    Execution,
    FailureClass,
    Program,
    Sandbox,
    SandboxBroken,
    SandboxSilent,
    UnsupportedFixtures,
    UnsupportedLanguage,
)
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import Language, Run, Snippet

MAX_RUN_S = 120.0
"""Seconds all steps of a replay may take together: a run that loops on an endless step holds up the rest."""

_BREAKS = {
    ReplayBreak.ENDED_SANDBOX: "it ended the sandbox twice, where a harmless program runs",
    ReplayBreak.SILENCED_SANDBOX: "the sandbox gave no answer twice while it ran",
    ReplayBreak.NOT_REBUILT: "the steps before it did not end as they had when they were run again",
    ReplayBreak.SPENT_TIME: f"the replay's {MAX_RUN_S:.0f} s were used up by the steps before it",
}
_NO_PROGRAM = frozenset({Language.JSON, Language.YAML, Language.HTML, Language.OTHER})


def replay_run(
    run: Run,
    scans: Mapping[str, Scan],
    sandbox: Sandbox,
    fixtures: FixtureSet = NO_FIXTURES,
    parameters: Mapping[str, tuple[str, ...]] | None = None,
    *,
    repeat: bool = False,
    limits: ReplayLimits = DEFAULT_LIMITS,
) -> Replay:
    """Replay every executed snippet of the run, in order.

    Args:
        run: with its snippets and its recorded tool calls.
        scans: by snippet id; a snippet without a scan is not replayed, as nothing runs unscanned.
        sandbox: where to run.
        fixtures: what its programs find.
        parameters: of the agent's tools, by name, where the trace declares them.
        repeat: replay it again under another seed and clock in any case; else where a step disagrees with its
            record.
        limits: bounds of its steps.

    Raises:
        SandboxUnavailable: the backend cannot run here.
        SandboxBroken: the sandbox failed; worth one retry.
    """
    if not any(snippet.executed for snippet in run.snippets):
        return Replay(run.span_id, sandbox.name)
    replay = _run_closest_replay(run, scans, sandbox, build_plan(run, fixtures, parameters, limits=limits))
    if not (repeat or any(step.agrees is False for step in replay.steps)):
        return replay
    other = build_plan(run, fixtures, parameters, otherwise=True, limits=limits)
    return with_flaky_steps(replay, _run_closest_replay(run, scans, sandbox, other))


def _run_closest_replay(run: Run, scans: Mapping[str, Scan], sandbox: Sandbox, plan: Plan) -> Replay:
    """Return the replay under that reading of untyped results that agrees with the record more often."""
    replay = _run_replay(run, scans, sandbox, plan, as_text=False)
    all_agree = _count_agreeing(replay) == len(replay.steps)
    if all_agree or not any(has_two_readings(call) for call, _ in plan.calls):
        return replay
    # The record does not say whether a result was a value or its text: the reading that fits is the true one.
    other = _run_replay(run, scans, sandbox, plan, as_text=True)
    if _count_agreeing(other) > _count_agreeing(replay):
        return other
    return replay


def _run_replay(
    run: Run, scans: Mapping[str, Scan], sandbox: Sandbox, plan: Plan, *, as_text: bool
) -> Replay:
    tape = Tape(plan.calls, plan.parameters, existing=plan.requested, as_text=as_text)
    interpreter = Interpreter(sandbox, plan.spec, tape, plan.prelude)
    replaying = _Replaying(plan, scans, sandbox, tape, interpreter)
    try:
        for snippet in run.snippets:
            if snippet.executed:
                replaying.handle_snippet(snippet)
    finally:
        interpreter.close()
    steps = tuple(replaying.list_amended_steps(interpreter.amended))
    return Replay(run.span_id, sandbox.name, steps, dict(replaying.unreplayed), dict(replaying.breaks))


def _count_agreeing(replay: Replay) -> int:
    return sum(step.agrees is True for step in replay.steps)


@dataclass(slots=True)
class _Replaying:
    """A replay at work."""

    plan: Plan
    scans: Mapping[str, Scan]
    sandbox: Sandbox
    tape: Tape
    interpreter: Interpreter
    steps: list[ReplayedStep] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """Where in `steps` a step of the interpreter is."""
    unreplayed: dict[str, str] = field(default_factory=dict)
    breaks: dict[str, ReplayBreak] = field(default_factory=dict)
    spent_s: float = 0.0
    state: State = field(init=False)
    weighing: Weighing = field(init=False)
    programs: Programs = field(init=False)

    def __post_init__(self) -> None:
        """Set up the state; nothing of the run's own is bound yet."""
        spec, fixtures = self.plan.spec, self.plan.fixtures
        self.state = State(set(self.plan.built_in | {FINAL_ANSWER}), self.plan.stubs)
        self.weighing = Weighing(self.state, pinned=spec.fixtures.packages is not None)
        self.programs = Programs(self.sandbox, fixtures, spec.limits, spec.fixtures.clock, self.plan.tables)

    def handle_snippet(self, snippet: Snippet) -> None:
        """Replay one snippet, or note why not."""
        reason = self._find_obstacle(snippet)
        if reason is not None:
            self._record_unreplayed(snippet, reason)
            return
        if self.spent_s > MAX_RUN_S:
            self._record_break(snippet, ReplayBreak.SPENT_TIME)
            return
        self.tape.start_snippet(snippet.id)
        try:
            execution = self._run_with_retry(snippet)
        except (UnsupportedLanguage, UnsupportedFixtures) as problem:
            self._record_unreplayed(snippet, str(problem))
            return
        if isinstance(execution, ReplayBreak):
            self._record_break(snippet, execution)
            return
        self.spent_s += execution.wall_s
        if snippet.id in self.plan.names:
            self.numbers[self.interpreter.executed - 1] = len(self.steps)
        self._record_comparison(snippet, execution)
        names = self.plan.names.get(snippet.id)
        if names is None:
            return
        broke_off = has_ended_session(execution) or execution.failure_class is not FailureClass.OK
        if broke_off and snippet.error is None:
            # The run went on from here with variables the replay did not come to bind.
            well = execution.failure_class is FailureClass.OK  # by `os._exit(0)`: the interpreter is gone
            ended = "the interpreter" if well else f"in {execution.failure_class}"
            self.state.record_lost(names, f"its replay ended {ended}", cut=False)
        else:
            self.state.record_bound(names.bound)

    def list_amended_steps(self, late: Mapping[int, Execution]) -> list[ReplayedStep]:
        """Return the steps, with what was left running by one and attempted later added to that one."""
        steps = list(self.steps)
        for number, execution in late.items():
            if number in self.numbers:
                index = self.numbers[number]
                steps[index] = replace(
                    steps[index], execution=_with_attempts(steps[index].execution, execution)
                )
        return steps

    def _find_obstacle(self, snippet: Snippet) -> str | None:
        if snippet.id not in self.scans:
            return "it was not scanned"
        if snippet.truncated:
            return "its source is cut on the trace"
        if snippet.language in _NO_PROGRAM:
            return f"{snippet.language} is no program"
        if snippet.language.value not in self.sandbox.languages:
            return f"the backend {self.sandbox.name!r} has no {snippet.language}"
        unprovided = self.programs.find_obstacle(snippet)
        if unprovided is not None:
            return unprovided
        hidden = next((c for c in snippet.tape if not c.replayable and c.tool != FINAL_ANSWER), None)
        if hidden is not None:
            return f"its tool call {hidden.tool} cannot be answered: {hidden.reason or 'content is hidden'}"
        names = self.plan.names.get(snippet.id)
        return self.state.find_missing(names) if names is not None else None

    def _record_unreplayed(self, snippet: Snippet, reason: str) -> None:
        self.unreplayed[snippet.id] = reason
        names = self.plan.names.get(snippet.id)
        if names is not None:
            self.state.record_lost(names, reason, cut=snippet.truncated)

    def _record_break(self, snippet: Snippet, cause: ReplayBreak) -> None:
        self.breaks[snippet.id] = cause
        self._record_unreplayed(snippet, _BREAKS[cause])

    def _run_with_retry(self, snippet: Snippet) -> Execution | ReplayBreak:
        """Run a snippet, once more where the sandbox fails in it; return how it failed where it did twice.

        Raises:
            SandboxBroken: the sandbox fails otherwise, or for a harmless program too: it is not the snippet.
        """
        try:
            return self._run_snippet(snippet)
        except (StepBroke, NotRebuilt):
            self.tape.start_over()
        try:
            return self._run_snippet(snippet)
        except (StepBroke, NotRebuilt) as broken:
            if not _runs_harmless(self.sandbox):
                raise
            if isinstance(broken, NotRebuilt):
                return ReplayBreak.NOT_REBUILT
            if broken.silent:
                return ReplayBreak.SILENCED_SANDBOX
            return ReplayBreak.ENDED_SANDBOX

    def _run_snippet(self, snippet: Snippet) -> Execution:
        if snippet.id not in self.plan.names:
            try:
                return self.programs.run_snippet(snippet)
            except SandboxBroken as broken:
                raise StepBroke(str(broken), silent=isinstance(broken, SandboxSilent)) from broken
        return self.interpreter.run_step(_get_source(snippet))

    def _record_comparison(self, snippet: Snippet, execution: Execution) -> None:
        divergences = tuple(self.tape.divergences)
        names = self.plan.names.get(snippet.id)
        final_answer = self._find_final_answer(snippet, execution)
        if final_answer is not None:
            execution = replace(
                execution,
                result=final_answer.result,
                result_text=final_answer.result_text,
                result_characters=final_answer.result_characters,
            )
        is_known = final_answer is not None or (names is not None and ends_in_expression(snippet.source))
        cut = execution.result_characters is not None
        output = Replayed(execution.result, execution.result_text, is_known, cut)
        found = self.weighing.evaluate_step(snippet, names, execution, output, self.tape)
        self.steps.append(ReplayedStep(snippet, execution, divergences, found.agrees, found.difference))

    def _find_final_answer(self, snippet: Snippet, execution: Execution) -> Execution | None:
        """Return the argument of `final_answer` where it was called, and is not the last value anyway."""
        if execution.failure_class is not FailureClass.OK or not self._gives_aside(snippet):
            return None
        return self.interpreter.find_final_answer()

    def _gives_aside(self, snippet: Snippet) -> bool:
        """Whether it calls `final_answer`, and its last value is another."""
        names = self.plan.names.get(snippet.id)
        called = names is not None and FINAL_ANSWER in names.called
        return called and not ends_in_call_of(snippet.source, FINAL_ANSWER)


def _with_attempts(execution: Execution, late: Execution) -> Execution:
    """Return an execution with the record of another of the same step, which may be of a later session."""
    attempts = {(attempt.kind, attempt.target): attempt for attempt in (*execution.attempts, *late.attempts)}
    notes = {(attempt.kind, attempt.target): attempt for attempt in (*execution.notes, *late.notes)}
    unsafe = late.failure_class is FailureClass.UNSAFE_OPERATION
    return replace(
        execution,
        attempts=tuple(attempts.values()),
        notes=tuple(notes.values()),
        attempts_whole=execution.attempts_whole and late.attempts_whole,
        failure_class=late.failure_class if unsafe else execution.failure_class,
    )


def _runs_harmless(sandbox: Sandbox) -> bool:
    """Whether the sandbox runs a program that does nothing."""
    try:
        return sandbox.run(Program("python", "None")).failure_class is FailureClass.OK
    except SandboxBroken:
        return False


def _get_source(snippet: Snippet) -> str:
    if snippet.is_final:
        return without_code_after_answer(snippet.source)
    return snippet.source
