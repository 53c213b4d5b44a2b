"""What a run's session needs before the first step: tools, tape, clock, limits, and names built in elsewhere.

Takes a run; gives a `Plan`. Nothing is run here and no snippet is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanproof.evaluators.replay.chance import makes_sets
from spanproof.evaluators.replay.fixtures import NO_FIXTURES, FixtureSet
from spanproof.evaluators.replay.names import BUILTINS, Names, called_unbound, names_in
from spanproof.evaluators.replay.prelude import FINAL_ANSWER, imports_of, prelude_of
from spanproof.evaluators.replay.programs import is_of
from spanproof.evaluators.replay.record import record_of
from spanproof.evaluators.replay.recorded_tables import RecordedTables, recorded_tables
from spanproof.sandbox import Clock, Ecosystem, FailureClass, Fixtures, Limits, SessionSpec, ToolStub
from spanproof.trace import Language, RecordedCall, Run

MAX_STEP_S = 30.0
"""No step of a replay gets more seconds than this, however long it took on record."""

ANOTHER_TIME_S = 400 * 86_400 + 3_661.5
"""So much later a clock shows another year, month, day, weekday, hour, minute and second."""

_MATH = frozenset(
    "ceil floor log exp sin cos tan asin acos atan atan2 degrees radians sqrt".split()  # noqa: SIM905
)
"""Functions smolagents' interpreter has built in, which Python has in `math`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is set up.

    Attributes:
        names: of each executed Python snippet, by its id.
        calls: every recorded call that can be answered, with the snippet that made it where that is known.
        stubs: functions that stand for tools.
        requested: tools the model called, which exist whether or not a call was recorded.
        parameters: of the tools that are declared, by name.
        built_in: functions the recorded interpreter had without an import.
        spec: of the session.
        prelude: what the session runs first.
        fixtures: what its programs find.
        tables: those whose rows are all on the trace.
    """

    names: Mapping[str, Names]
    calls: tuple[tuple[RecordedCall, str | None], ...]
    stubs: frozenset[str]
    requested: frozenset[str]
    parameters: Mapping[str, tuple[str, ...]]
    built_in: frozenset[str]
    spec: SessionSpec
    prelude: str
    fixtures: FixtureSet
    tables: RecordedTables


def plan_of(
    run: Run,
    fixtures: FixtureSet = NO_FIXTURES,
    parameters: Mapping[str, tuple[str, ...]] | None = None,
    *,
    otherwise: bool = False,
) -> Plan:
    """Plan the replay of a run.

    Args:
        run: with its snippets and its recorded tool calls.
        fixtures: what it is to find.
        parameters: of the tools, by their names, where the trace declares them.
        otherwise: with another seed, another clock where the fixtures fix none, and other string hashes where
            it makes sets, as a run of tomorrow would have them.
    """
    if otherwise:
        fixtures = replace(fixtures, seed=(fixtures.seed + 1) % 2**32)
    python = [each for each in run.snippets if each.executed and each.language is Language.PYTHON]
    names = {snippet.id: names_in(snippet.source) for snippet in python}
    calls = _calls_of(run)
    recorded = frozenset(call.tool for call, _ in calls)
    unbound = called_unbound(names.values())
    built_in = (unbound - recorded) & _MATH & _called_where_it_worked(run, names)
    requested = _requested_tools(run)
    stubs = (recorded | requested | unbound) - built_in - {FINAL_ANSWER}
    declared = {
        tool: names for tool, names in (parameters or {}).items() if tool in (recorded | requested) & stubs
    }
    sources = [snippet.source for snippet in python]
    spec = replace(_spec(run, stubs, fixtures), imports=imports_of(sources))
    if otherwise:
        spec = replace(spec, fixtures=_tomorrow(spec.fixtures, fixtures, sources))
    prelude = prelude_of(sources, fixtures.seed, built_in, declared)
    return Plan(
        names, calls, stubs, requested, declared, built_in, spec, prelude, fixtures, recorded_tables(run)
    )


def _spec(run: Run, stubs: frozenset[str], given: FixtureSet) -> SessionSpec:
    return SessionSpec(
        tools=tuple(ToolStub(name) for name in sorted(stubs)),
        files=given.files,
        limits=_limits(run),
        fixtures=Fixtures(
            seed=given.seed,
            clock=_clock(run, given),
            http=given.http,
            packages=given.packages if is_of(given, Ecosystem.PIP) else None,
        ),
    )


def _tomorrow(found: Fixtures, given: FixtureSet, sources: Sequence[str]) -> Fixtures:
    clock = found.clock
    if clock is not None and given.clock_s is None:
        clock = replace(clock, start_s=clock.start_s + ANOTHER_TIME_S)
    return replace(found, clock=clock, hash_seed=int(any(map(makes_sets, sources))))


def _clock(run: Run, given: FixtureSet) -> Clock | None:
    if given.clock_s is not None:
        return Clock(given.clock_s)
    started_ns = next((step.start_ns for step in run.steps if step.snippets), 0) or run.start_ns
    return Clock(started_ns / 1e9) if started_ns else None


def _limits(run: Run) -> Limits:
    """Time for the slowest step on record, which an interpreter of its own may have run at another pace."""
    slowest_ns = max((step.end_ns - step.start_ns for step in run.steps if step.snippets), default=0)
    seconds = min(max(Limits().wall_s, 2 * slowest_ns / 1e9), MAX_STEP_S)
    return Limits(wall_s=seconds, cpu_s=seconds)


def _calls_of(run: Run) -> tuple[tuple[RecordedCall, str | None], ...]:
    """Every recorded call once."""
    calls: list[tuple[RecordedCall, str | None]] = []
    for step in run.steps:
        owned = [(call, snippet.id) for snippet in step.snippets if snippet.executed for call in snippet.tape]
        spans = {call.span_id for call, _ in owned if call.span_id is not None}
        own = [call for call, _ in owned]
        calls += owned
        calls += [(call, None) for call in step.calls if call.span_id not in spans and call not in own]
    return tuple((call, owner) for call, owner in calls if call.replayable and call.tool != FINAL_ANSWER)


def _requested_tools(run: Run) -> frozenset[str]:
    requested = {call.name for step in run.steps for call in step.requested if call.name.isidentifier()}
    return frozenset(requested - BUILTINS)


def _called_where_it_worked(run: Run, names: Mapping[str, Names]) -> frozenset[str]:
    """Names called by snippets that ended well on record: there they existed."""
    return frozenset[str]().union(
        *(
            names[snippet.id].called
            for snippet in run.snippets
            if snippet.id in names and record_of(snippet).failure_class is FailureClass.OK
        )
    )
