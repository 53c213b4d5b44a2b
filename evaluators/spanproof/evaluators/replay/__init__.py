"""Replay: a run's code runs again, in the sandbox, with the recorded tool results as tape."""

from spanproof.evaluators.replay.apis import ApiIndex
from spanproof.evaluators.replay.record import recorded_class
from spanproof.evaluators.replay.session import replay_run
from spanproof.evaluators.replay.sources import ReplayedSource, replay_sources
from spanproof.evaluators.replay.tape import Tape

__all__ = ["ApiIndex", "ReplayedSource", "Tape", "recorded_class", "replay_run", "replay_sources"]
