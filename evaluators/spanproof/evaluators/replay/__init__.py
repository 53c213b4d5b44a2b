"""Replay: a run's code runs again, in the sandbox, with the recorded tool results as tape."""

from spanproof.evaluators.replay.apis import ApiIndex
from spanproof.evaluators.replay.fixtures import (
    NO_FIXTURES,
    FixtureBook,
    FixtureSet,
    load_fixtures,
    parse_fixtures,
)
from spanproof.evaluators.replay.record import recorded_class
from spanproof.evaluators.replay.session import replay_run
from spanproof.evaluators.replay.signatures import parameters_in, tools_in
from spanproof.evaluators.replay.sources import ReplayedSource, replay_sources
from spanproof.evaluators.replay.tape import Tape
from spanproof.evaluators.replay.trace_environments import TraceEnvironments

__all__ = [
    "NO_FIXTURES",
    "ApiIndex",
    "FixtureBook",
    "FixtureSet",
    "ReplayedSource",
    "Tape",
    "TraceEnvironments",
    "load_fixtures",
    "parameters_in",
    "parse_fixtures",
    "recorded_class",
    "replay_run",
    "replay_sources",
    "tools_in",
]
