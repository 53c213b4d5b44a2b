"""Replay: a run's code runs again, in the sandbox, with the recorded tool results as tape."""

from spanproof.evaluators.replay.apis import ApiIndex
from spanproof.evaluators.replay.fixtures import (
    NO_FIXTURES,
    FixtureBook,
    FixtureSet,
    load_fixtures,
    parse_fixtures,
)
from spanproof.evaluators.replay.record import classify_recorded_error
from spanproof.evaluators.replay.session import replay_run
from spanproof.evaluators.replay.signatures import list_offered_tools, read_parameters
from spanproof.evaluators.replay.sources import ReplayedSource, run_sources
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
    "classify_recorded_error",
    "list_offered_tools",
    "load_fixtures",
    "parse_fixtures",
    "read_parameters",
    "replay_run",
    "run_sources",
]
