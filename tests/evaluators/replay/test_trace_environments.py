"""Runs are replayed in the packages that their trace records, built once where they are not installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from wheelhouse import Wheels

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.known_packages import KNOWN_PACKAGES
from spanproof.evaluators.model import NoReplay, NoReplayCause, Replay
from spanproof.sandbox import Sandbox
from spanproof.sandbox.environments import Environments
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Cause,
    Environment,
    ExecutedCode,
    Payload,
    Skipped,
    Span,
    SpanKind,
    StepInfo,
    Trace,
    trace_of,
)

CODE = "import alphalib\nprint(alphalib.VERSION)"
PATIENCE_S = 120


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    place = tmp_path / "wheels"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    found = Wheels(place)
    found.add("alphalib", "1.2", {"alphalib/__init__.py": "VERSION = '1.2'\n"})
    return found


@pytest.fixture
def own_jail(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A jail whose environments lie apart, where root's programs may enter too."""
    with TemporaryDirectory(prefix="spanproof-environments-") as made:
        Path(made).chmod(0o711)
        monkeypatch.setenv("SPANPROOF_ENVIRONMENTS", str(Path(made, "environments")))
        with open_sandbox("jail") as sandbox:
            yield sandbox


def trace(release: str = "1.2", code: str = CODE) -> Trace:
    environment = Environment({"alphalib": release, "smolagents": "1.26.0"}, "cpython 3.11.7")
    agent = Span(
        "t",
        "a",
        None,
        "clerk",
        SpanKind.AGENT,
        0,
        100,
        agent="clerk",
        environment=environment,
        input=Payload("Which version?", "Which version?"),
        output=Payload(release, release),
    )
    ran = ExecutedCode(code, "spanproof.code.source", "python", logs=f"{release}\n")
    step = Span("t", "b", "a", "step 1", SpanKind.CHAIN, 10, 20, code=ran, step=StepInfo(1))
    return trace_of([agent, step])


def engine(sandbox: Sandbox, *allowed: str) -> Engine:
    return Engine(pipeline=Pipeline(), sandbox=sandbox, packages_from_trace=allowed or ("AlphaLib",))


def test_a_run_is_replayed_in_the_packages_of_its_trace(wheels, own_jail):
    (run,) = engine(own_jail).evaluate(trace()).runs
    assert isinstance(run.replay, Replay)
    assert [step.agrees for step in run.replay.steps] == [True]


def test_while_its_environment_is_built_a_run_is_skipped_and_then_it_is_not(wheels, own_jail):
    judging = engine(own_jail)
    judging.start_background_builds()
    (run,) = judging.evaluate(trace()).runs
    assert isinstance(run.replay, NoReplay)
    assert run.replay.cause is NoReplayCause.BUILDING
    agrees = next(score.outcome for score in run.scores if score.name == "replay_agrees")
    assert agrees == Skipped("not replayed: environment being built: alphalib==1.2", Cause.NOT_REPLAYED)
    until = time.monotonic() + PATIENCE_S
    while isinstance(run.replay, NoReplay) and run.replay.cause is NoReplayCause.BUILDING:
        assert time.monotonic() < until
        time.sleep(0.2)
        (run,) = judging.evaluate(trace()).runs
    assert isinstance(run.replay, Replay)
    assert [step.agrees for step in run.replay.steps] == [True]


def test_an_environment_that_cannot_be_had_is_the_reason(wheels, own_jail):
    (run,) = engine(own_jail).evaluate(trace("9.9")).runs
    assert isinstance(run.replay, NoReplay)
    assert run.replay.cause is NoReplayCause.UNAVAILABLE
    assert "alphalib==9.9" in run.replay.reason


def test_what_is_installed_here_is_used_as_it_is(own_jail):
    (run,) = engine(own_jail).evaluate(trace(code="import yaml\nprint('1.2')")).runs
    assert isinstance(run.replay, Replay)


@pytest.mark.parametrize("allowed", [KNOWN_PACKAGES, ("alphalib-x", "alpha")])
def test_a_name_that_is_not_allowed_never_reaches_the_index(wheels, own_jail, monkeypatch, allowed):
    monkeypatch.setattr(Environments, "get_lease", lambda *given: pytest.fail("the index was queried"))
    (run,) = engine(own_jail, *allowed).evaluate(trace()).runs
    assert isinstance(run.replay, Replay)
    assert [step.agrees for step in run.replay.steps] == [None]


def test_any_package_may_be_allowed(wheels, own_jail):
    (run,) = engine(own_jail, "*").evaluate(trace()).runs
    assert isinstance(run.replay, Replay)
    assert [step.agrees for step in run.replay.steps] == [True]
