"""What a run's session needs before the first step: tools, tape, clock, limits, and names built in elsewhere.

Takes a run; gives a `Plan`. Nothing is run here and no snippet is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanproof.evaluators.replay.chance import makes_sets
from spanproof.evaluators.replay.fixtures import NO_FIXTURES, FixtureSet
from spanproof.evaluators.replay.limits import DEFAULT_LIMITS, ReplayLimits
from spanproof.evaluators.replay.names import BUILTINS, Names, list_unbound_calls, read_names
from spanproof.evaluators.replay.prelude import FINAL_ANSWER, build_prelude, list_heavy_imports
from spanproof.evaluators.replay.programs import pins_packages_of
from spanproof.evaluators.replay.record import read_record
from spanproof.evaluators.replay.recorded_tables import RecordedTables, build_recorded_tables
from spanproof.sandbox import Clock, Ecosystem, FailureClass, Fixtures, SessionSpec, ToolStub
from spanproof.trace import Language, RecordedCall, Run

ANOTHER_TIME_S = 400 * 86_400 + 3_661.5
"""So much later a clock shows another year, month, day, weekday, hour, minute and second."""

# Functions smolagents' interpreter has built in, which Python has in `math`.
_MATH = frozenset(
    "ceil floor log exp sin cos tan asin acos atan atan2 degrees radians sqrt".split()  # noqa: SIM905
)


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


def build_plan(
    run: Run,
    fixtures: FixtureSet = NO_FIXTURES,
    parameters: Mapping[str, tuple[str, ...]] | None = None,
    *,
    otherwise: bool = False,
    limits: ReplayLimits = DEFAULT_LIMITS,
) -> Plan:
    """Plan the replay of a run.

    Args:
        run: with its snippets and its recorded tool calls.
        fixtures: what it is to find.
        parameters: of the tools, by their names, where the trace declares them.
        otherwise: with another seed, another clock where the fixtures fix none, and other string hashes where
            it makes sets, as a run of tomorrow would have them.
        limits: bounds of its steps.
    """
    if otherwise:
        fixtures = replace(fixtures, seed=(fixtures.seed + 1) % 2**32)
    python = [snippet for snippet in run.snippets if snippet.executed and snippet.language is Language.PYTHON]
    names = {snippet.id: read_names(snippet.source) for snippet in python}
    calls = _list_calls(run)
    recorded = frozenset(call.tool for call, _ in calls)
    unbound = list_unbound_calls(names.values())
    built_in = (unbound - recorded) & _MATH & _list_working_calls(run, names)
    requested = _list_requested_tools(run)
    stubs = (recorded | requested | unbound) - built_in - {FINAL_ANSWER}
    declared = {
        tool: names for tool, names in (parameters or {}).items() if tool in (recorded | requested) & stubs
    }
    sources = [snippet.source for snippet in python]
    spec = replace(_build_spec(run, stubs, fixtures, limits), imports=list_heavy_imports(sources))
    if otherwise:
        spec = replace(spec, fixtures=_build_shifted_fixtures(spec.fixtures, fixtures, sources))
    prelude = build_prelude(sources, fixtures.seed, built_in, declared)
    return Plan(
        names,
        calls,
        stubs,
        requested,
        declared,
        built_in,
        spec,
        prelude,
        fixtures,
        build_recorded_tables(run),
    )


def _build_spec(
    run: Run, stubs: frozenset[str], fixture_set: FixtureSet, limits: ReplayLimits
) -> SessionSpec:
    return SessionSpec(
        tools=tuple(ToolStub(name) for name in sorted(stubs)),
        files=fixture_set.files,
        limits=limits.build_limits(run),
        fixtures=Fixtures(
            seed=fixture_set.seed,
            clock=_find_clock(run, fixture_set),
            http=fixture_set.http,
            packages=fixture_set.packages if pins_packages_of(fixture_set, Ecosystem.PIP) else None,
        ),
    )


def _build_shifted_fixtures(found: Fixtures, fixture_set: FixtureSet, sources: Sequence[str]) -> Fixtures:
    clock = found.clock
    if clock is not None and fixture_set.clock_s is None:
        clock = replace(clock, start_s=clock.start_s + ANOTHER_TIME_S)
    return replace(found, clock=clock, hash_seed=int(any(map(makes_sets, sources))))


def _find_clock(run: Run, fixture_set: FixtureSet) -> Clock | None:
    if fixture_set.clock_s is not None:
        return Clock(fixture_set.clock_s)
    started_ns = next((step.start_ns for step in run.steps if step.snippets), 0) or run.start_ns
    return Clock(started_ns / 1e9) if started_ns else None


def _list_calls(run: Run) -> tuple[tuple[RecordedCall, str | None], ...]:
    """Return every recorded call once."""
    calls: list[tuple[RecordedCall, str | None]] = []
    for step in run.steps:
        owned = [(call, snippet.id) for snippet in step.snippets if snippet.executed for call in snippet.tape]
        spans = {call.span_id for call, _ in owned if call.span_id is not None}
        own = [call for call, _ in owned]
        calls += owned
        calls += [(call, None) for call in step.calls if call.span_id not in spans and call not in own]
    return tuple((call, owner) for call, owner in calls if call.replayable and call.tool != FINAL_ANSWER)


def _list_requested_tools(run: Run) -> frozenset[str]:
    requested = {call.name for step in run.steps for call in step.requested if call.name.isidentifier()}
    return frozenset(requested - BUILTINS)


def _list_working_calls(run: Run, names: Mapping[str, Names]) -> frozenset[str]:
    """Return names called by snippets that ended well on record: there they existed."""
    return frozenset[str]().union(
        *(
            names[snippet.id].called
            for snippet in run.snippets
            if snippet.id in names and read_record(snippet).failure_class is FailureClass.OK
        )
    )
