"""The evaluator of structural metrics: advice about the code that a run leaves.

Takes a run and, where it is known, the code of the run before: a run of the same task that the caller gives,
else the turns before it in the trace. Gives scores of the run without a verdict. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Final

from spanproof.evaluators.evaluator import Cost, Evaluator, Needs
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.outcomes.model import Account
from spanproof.evaluators.scores import STRUCTURE_EVALUATOR, check_registered
from spanproof.evaluators.structure.left import CodeFile, Files, build_task_key, read_code_left
from spanproof.trace import Cause, Judgement, Layer, Outcome, Run, Skipped

_LIBRARIES: Final = ("lizard", "vulture", "griffe")
# Characters of all files together: so much generated code is no program to judge.
_LONGEST: Final = 400_000

_OF_ONE_RUN: Final = ("complexity", "code_lines", "duplication", "dead_code")
_OF_TWO_RUNS: Final = ("growth", "public_api")


class Structure(Evaluator):
    """Size, complexity, duplication, dead code, growth and broken APIs."""

    name = STRUCTURE_EVALUATOR
    version = "1"
    layer = Layer.CORRECTNESS
    cost = Cost.RULES

    def __init__(self, before: Mapping[str, Files] | None = None) -> None:
        """Take the code of runs before, by `build_task_key`; it goes before what the trace itself shows."""
        self._before = before or {}

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Measure the code that the run leaves; nothing where it leaves none.

        Raises:
            UnregisteredScore: a measure is not registered.
        """
        turns = _build_files(evidence.earlier)
        after = read_code_left(evidence.run, evidence.account, turns)
        if not after:
            return []
        before = self._before.get(build_task_key(evidence.run)) or turns
        judgements = [
            Judgement(self.layer, name, evidence.run.span_id, outcome, self.name, self.version)
            for name, outcome in _compute_outcomes(before, after).items()
        ]
        check_registered(judgements)
        return judgements

    def needs(self, run: Run) -> Needs:
        """Return `Needs.NOTHING`: it reads sources alone."""
        return Needs.NOTHING


def _build_files(turns: Sequence[Run]) -> Files:
    """Return the files as the turns before left them; the code of their sessions was for other tasks."""
    files: dict[str, CodeFile] = {}
    for turn in turns:
        files |= read_code_left(turn, Account(), files)
    return {name: file for name, file in files.items() if not file.is_session}


def _compute_outcomes(before: Files, after: Files) -> Mapping[str, Outcome]:
    reason = _describe_unmeasured(after)
    if reason:
        compared = _OF_TWO_RUNS if before.keys() & after.keys() else ()
        return dict.fromkeys((*_OF_ONE_RUN, *compared), Skipped(reason, Cause.NO_CODE))
    # Loaded here: its libraries are an extra.
    from spanproof.evaluators.structure.verdicts import compute_outcomes

    return compute_outcomes(before, after)


def _describe_unmeasured(files: Files) -> str:
    missing = [library for library in _LIBRARIES if find_spec(library) is None]
    if missing:
        return f"{missing[0]} is not installed; `pip install 'spanproof[structure]'` gets it"
    if sum(len(file.source) for file in files.values()) > _LONGEST:
        return f"the run leaves more than {_LONGEST:,} characters of code"
    return ""
