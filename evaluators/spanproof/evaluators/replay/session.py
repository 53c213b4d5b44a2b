"""One run's snippets, in order, in a sandbox, each beside its record.

Takes a run, the scans of its snippets and a sandbox; gives a `Replay`. Python snippets share one session, so
that variables carry over as they did in the agent's interpreter; other languages run one by one where the
backend has them. A snippet the scanners deny is replayed too: the sandbox is the place where denied code does
no harm, and what it attempts there is the evidence. Never runs a snippet outside the sandbox, never puts one
in place of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spanproof.evaluators.model import Replay, ReplayedStep
from spanproof.evaluators.replay.chance import Chance
from spanproof.evaluators.replay.compare import Replayed, agreement, ends_in_call_of, ends_in_expression
from spanproof.evaluators.replay.interpreter import ENDING, FINAL_ANSWER, Interpreter
from spanproof.evaluators.replay.names import BUILTINS, Names, called_unbound, names_in, up_to_final_answer
from spanproof.evaluators.replay.record import Record, record_of
from spanproof.evaluators.replay.tape import Tape
from spanproof.evaluators.replay.uses import uses_in
from spanproof.sandbox import (
    Execution,
    FailureClass,
    Limits,
    Program,
    Sandbox,
    SessionSpec,
    ToolStub,
    UnsupportedLanguage,
)
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import Language, RecordedCall, Run, Snippet

SEED = 0

MAX_STEP_S = 30.0
"""No step of a replay gets more seconds than this, however long it took on record."""
_MATH = frozenset(
    "ceil floor log exp sin cos tan asin acos atan atan2 degrees radians sqrt".split()  # noqa: SIM905
)
"""Functions smolagents' interpreter has built in, which Python has in `math`."""

_NO_PROGRAM = frozenset({Language.JSON, Language.YAML, Language.HTML, Language.OTHER})


def replay_run(run: Run, scans: Mapping[str, Scan], sandbox: Sandbox) -> Replay:
    """Replay every executed snippet of the run, in order.

    Args:
        run: with its snippets and its recorded tool calls.
        scans: by snippet id; a snippet without a scan is not replayed, as nothing runs unscanned.
        sandbox: where to run.

    Raises:
        SandboxUnavailable: the backend cannot run here.
        SandboxBroken: the sandbox failed; worth one retry.
    """
    snippets = [snippet for snippet in run.snippets if snippet.executed]
    if not snippets:
        return Replay(run.span_id, sandbox.name)
    replaying = _Replaying(run, scans, sandbox)
    try:
        for snippet in snippets:
            replaying.take(snippet)
    finally:
        replaying.interpreter.close()
    return Replay(run.span_id, sandbox.name, tuple(replaying.steps), dict(replaying.unreplayed))


@dataclass(slots=True)
class _Replaying:
    """A replay at work; `lost` holds names that snippets left out may have bound or changed."""

    run: Run
    scans: Mapping[str, Scan]
    sandbox: Sandbox
    steps: list[ReplayedStep] = field(default_factory=list)
    unreplayed: dict[str, str] = field(default_factory=dict)
    names: dict[str, Names] = field(init=False)
    tape: Tape = field(init=False)
    stubs: frozenset[str] = field(init=False)
    interpreter: Interpreter = field(init=False)
    bound: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)
    cut_before: bool = False
    chance: Chance = field(default_factory=Chance)
    aliases: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the names of all Python snippets, lay out the tape, choose the stubs."""
        python = [s for s in self.run.snippets if s.executed and s.language is Language.PYTHON]
        self.names = {snippet.id: names_in(snippet.source) for snippet in python}
        self.tape = Tape(_calls_of(self.run))
        unbound = called_unbound(self.names.values())
        built_in = self._built_in(unbound - self.tape.tools)
        self.stubs = (self.tape.tools | _asked(self.run) | unbound) - built_in - {FINAL_ANSWER}
        prelude = f"from math import {', '.join(sorted(built_in))}\n" if built_in else ""
        self.interpreter = Interpreter(self.sandbox, self._spec(), self.tape, prelude)
        self.bound |= built_in | {FINAL_ANSWER}

    def _built_in(self, names: frozenset[str]) -> frozenset[str]:
        """Names smolagents' interpreter has without an import, where a snippet that calls one ended well."""
        worked = frozenset[str]().union(
            *(
                self.names[snippet.id].called
                for snippet in self.run.snippets
                if snippet.id in self.names and record_of(snippet).failure_class is FailureClass.OK
            )
        )
        return names & worked & _MATH

    def take(self, snippet: Snippet) -> None:
        """Replay one snippet, or note why not."""
        reason = self._reason_against(snippet)
        if reason is not None:
            self._leave_out(snippet, reason)
            return
        self.tape.turn_to(snippet.id)
        try:
            execution = self._execute(snippet)
        except UnsupportedLanguage as problem:
            self._leave_out(snippet, str(problem))
            return
        self.steps.append(self._compared(snippet, execution))
        if snippet.language is not Language.PYTHON:
            return
        if execution.failure_class in ENDING and snippet.error is None:
            self._lose(snippet, f"its replay ended in {execution.failure_class}")
        else:
            self.bound |= self.names[snippet.id].bound

    def _reason_against(self, snippet: Snippet) -> str | None:
        if snippet.id not in self.scans:
            return "it was not scanned"
        if snippet.truncated:
            return "its source is cut on the trace"
        if snippet.language in _NO_PROGRAM:
            return f"{snippet.language} is no program"
        if snippet.language is Language.SQL:
            return "its database is not on the trace"
        if snippet.language.value not in self.sandbox.languages:
            return f"the backend {self.sandbox.name!r} has no {snippet.language}"
        hidden = next((call for call in snippet.tape if not call.replayable), None)
        if hidden is not None:
            return f"its tool call {hidden.tool} cannot be answered: {hidden.reason or 'content is hidden'}"
        return self._missing_state(self.names[snippet.id]) if snippet.language is Language.PYTHON else None

    def _missing_state(self, names: Names) -> str | None:
        """Why the state this snippet builds on is not there, None where it is."""
        used = (names.used & self.lost.keys()) - self.bound
        if used:
            name = min(used)
            return f"it depends on {name!r} of an earlier step, and {self.lost[name]}"
        unknown = names.free - self.bound - self.stubs
        if self.cut_before and unknown:
            return f"it depends on {min(unknown)!r}, which the cut part of an earlier step may define"
        return None

    def _leave_out(self, snippet: Snippet, reason: str) -> None:
        self.unreplayed[snippet.id] = reason
        if snippet.language is Language.PYTHON:
            self._lose(snippet, reason)

    def _lose(self, snippet: Snippet, reason: str) -> None:
        """What this snippet bound or changed in the run is not there in the replay."""
        names = self.names[snippet.id]
        changed = names.mentioned - self.stubs
        self.bound -= changed
        self.lost.update(dict.fromkeys(changed, reason))
        self.cut_before = self.cut_before or snippet.truncated

    def _execute(self, snippet: Snippet) -> Execution:
        if snippet.language is Language.PYTHON:
            source = up_to_final_answer(snippet.source) if snippet.is_final else snippet.source
            return self.interpreter.execute(source)
        return self.sandbox.run(Program(snippet.language.value, snippet.source))

    def _spec(self) -> SessionSpec:
        started_ns = next((step.start_ns for step in self.run.steps if step.snippets), 0) or self.run.start_ns
        return SessionSpec(
            tools=tuple(ToolStub(name) for name in sorted(self.stubs)),
            seed=SEED,
            clock_s=started_ns / 1e9 if started_ns else None,
            limits=_limits(self.run),
        )

    def _compared(self, snippet: Snippet, execution: Execution) -> ReplayedStep:
        record = record_of(snippet)
        chance = self._chance(snippet)
        found = agreement(
            record,
            execution,
            self._output(snippet, execution),
            excuse=self._divergence() or self._gap(snippet, record, execution) or chance,
            sets=self.chance.makes_sets,
        )
        return ReplayedStep(snippet, execution, tuple(self.tape.divergences), found.agrees, found.difference)

    def _divergence(self) -> str | None:
        if not self.tape.divergences:
            return None
        first = self.tape.divergences[0]
        return f"its call of the tool {first.tool} is not on the tape ({first.reason})"

    def _chance(self, snippet: Snippet) -> str | None:
        if snippet.language is not Language.PYTHON:
            return None
        uses, self.aliases = uses_in(snippet.source, self.aliases)
        found = self.chance.follow(snippet.source, self.names[snippet.id], uses)
        return f"it depends on {found}, which no replay gives again" if found is not None else None

    def _output(self, snippet: Snippet, execution: Execution) -> Replayed:
        if (
            snippet.language is Language.PYTHON
            and execution.failure_class is FailureClass.OK
            and FINAL_ANSWER in self.names[snippet.id].called
            and not ends_in_call_of(snippet.source, FINAL_ANSWER)
        ):
            given = self.interpreter.final_answer()
            if given is not None:
                return Replayed(given.result, given.result_text)
        known = snippet.language is Language.PYTHON and ends_in_expression(snippet.source)
        return Replayed(execution.result, execution.result_text, known)

    def _gap(self, snippet: Snippet, record: Record, execution: Execution) -> str | None:
        """What the replay lacks that the run had, or the other way round, as the errors show."""
        if snippet.language is not Language.PYTHON:
            return "what the program found around it is not on the trace"
        if record.error_type == "NameError" and self.names[snippet.id].free & self.bound:
            return "the run's interpreter kept no names between snippets"
        if execution.failure_class is FailureClass.MISSING_DEPENDENCY:
            return "the sandbox does not have the package"
        raised = execution.raised
        if raised is None:
            return None
        if raised.type == "TypeError" and raised.message.endswith(" has no JSON form"):
            return "the argument of a tool call cannot leave the sandbox"
        if "FileNotFoundError" in (raised.type, *raised.chain):
            return "the file is not on the trace"
        if raised.type == "NameError":
            unknown = self.names[snippet.id].free - self.bound - self.stubs
            if any(f"'{name}'" in raised.message for name in unknown):
                return "the name came from outside the run's code"
        return None


def _limits(run: Run) -> Limits:
    """Time for the slowest step on record, which an interpreter of its own may have run at another pace."""
    slowest_ns = max((step.end_ns - step.start_ns for step in run.steps if step.snippets), default=0)
    seconds = min(max(Limits().wall_s, 2 * slowest_ns / 1e9), MAX_STEP_S)
    return Limits(wall_s=seconds, cpu_s=seconds)


def _calls_of(run: Run) -> list[tuple[RecordedCall, str | None]]:
    """Every recorded call once, with the snippet that made it."""
    calls: list[tuple[RecordedCall, str | None]] = []
    for step in run.steps:
        owned = [(call, snippet.id) for snippet in step.snippets if snippet.executed for call in snippet.tape]
        spans = {call.span_id for call, _ in owned if call.span_id is not None}
        own = [call for call, _ in owned]
        calls += owned
        calls += [(call, None) for call in step.calls if call.span_id not in spans and call not in own]
    return [(call, owner) for call, owner in calls if call.replayable and call.tool != FINAL_ANSWER]


def _asked(run: Run) -> frozenset[str]:
    asked = {call.name for step in run.steps for call in step.asked if call.name.isidentifier()}
    return frozenset(asked - BUILTINS)
