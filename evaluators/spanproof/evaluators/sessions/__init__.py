"""Conversations and teams of agents, judged as a whole.

The evaluated traces of one session come in, in any order; a `SessionVerdict` goes out: each turn, each
hand-over between agents, who made the first mistake, and whether the user's requests ended well. It rests on
the scores of the runs and on what agents passed to each other; nothing is replayed, no run is judged again.
"""

from spanproof.evaluators.sessions.judge import evaluate_session
from spanproof.evaluators.sessions.model import FirstMistake, HandOver, Replaced, SessionVerdict, Turn

__all__ = ["FirstMistake", "HandOver", "Replaced", "SessionVerdict", "Turn", "evaluate_session"]
