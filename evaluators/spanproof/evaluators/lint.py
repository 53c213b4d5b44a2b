"""Lint: what ruff says of the Python of a run; advice, switched on by configuration.

Takes the snippets of a run; gives a `lint` score without a verdict for each, with the codes of the rules.
Only errors are selected (E9: it cannot run; F: undefined, misused or doubled names). What is no fault in a
session is left out: names and imports that other steps bind or use, and tools. Ruff only reads.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from spanproof.evaluators.evaluator import Cost, Evaluator, Needs
from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.replay.names import read_names
from spanproof.evaluators.replay.prelude import FINAL_ANSWER
from spanproof.trace import (
    Cause,
    Evidence,
    Judgement,
    Language,
    Layer,
    Outcome,
    Run,
    Scored,
    Skipped,
    Snippet,
)

_RULES: Final = "E9,F"
_TIMEOUT_S: Final = 20.0
# What one finding takes off the value.
_EACH: Final = 0.1

_MISSING: Final = "ruff is not installed; `pip install ruff` (or spanproof[lint]) gets it"
# Unused and doubled imports: in a session they serve later steps.
_OF_OTHER_STEPS: Final = frozenset(("F401", "F811", "F403", "F405"))

_UNDEFINED: Final = "F821"


class Lint(Evaluator):
    """Ruff's findings on Python snippets, as advice."""

    name = "spanproof.lint"
    version = "1"
    layer = Layer.CORRECTNESS
    cost = Cost.SANDBOX

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Check every Python snippet of the run with ruff, all at once."""
        python = [snippet for snippet in evidence.run.snippets if snippet.language is Language.PYTHON]
        if not python:
            return []
        found = self._run_ruff(python) if self._ruff is not None else {}
        names = _collect_known_names(evidence.run)
        return [
            Judgement(
                self.layer,
                "lint",
                snippet.span_id,
                self._to_outcome(snippet, found.get(number, []), names),
                self.name,
                self.version,
                snippet.id,
            )
            for number, snippet in enumerate(python)
        ]

    def needs(self, run: Run) -> Needs:
        """Return `Needs.NOTHING`: ruff reads the source alone."""
        return Needs.NOTHING

    def _to_outcome(self, snippet: Snippet, findings: list[dict[str, Any]], names: frozenset[str]) -> Outcome:
        if self._ruff is None:
            return Skipped(_MISSING, Cause.NOT_CONFIGURED, "ruff")
        if snippet.truncated:
            return Skipped("its source is cut on the trace", Cause.CONTENT_CUT)
        kept = [one for one in findings if not _is_of_the_session(one, names)]
        if not kept:
            return Scored(1.0, None, "Ruff finds nothing.")
        codes = Counter(str(one["code"] or "E999") for one in kept)
        found = ", ".join(f"{code} ×{times}" if times > 1 else code for code, times in sorted(codes.items()))
        facts = tuple(
            Evidence(
                f"{one['code'] or 'E999'} at line {one['location']['row']}: {one['message']}", snippet.span_id
            )
            for one in kept[:20]
        )
        value = max(0.0, 1 - _EACH * len(kept))
        return Scored(value, None, f"{format_count(len(kept), 'finding')} of ruff: {found}.", facts)

    def _run_ruff(self, snippets: Sequence[Snippet]) -> dict[int, list[dict[str, Any]]]:
        """Run ruff; return what it says, by number of the snippet.

        Raises:
            RuntimeError: ruff failed.
        """
        assert self._ruff is not None
        with TemporaryDirectory(prefix="spanproof-lint-") as folder:
            for number, snippet in enumerate(snippets):
                path = Path(folder, f"{number}.py")
                path.write_text(snippet.source, encoding="utf-8", errors="replace")
            command = [self._ruff, "check", "--isolated", "--no-cache", "--ignore-noqa", "--select", _RULES]
            ran = subprocess.run(
                [*command, "--output-format", "json", folder],
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"ruff failed: {ran.stderr.decode(errors='replace').strip()[:300]}")
        found: dict[int, list[dict[str, Any]]] = {}
        for one in json.loads(ran.stdout):
            found.setdefault(int(Path(one["filename"]).stem), []).append(one)
        return found

    @cached_property
    def _ruff(self) -> str | None:
        """Where ruff is: beside this interpreter, or on the path."""
        return shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")


def _collect_known_names(run: Run) -> frozenset[str]:
    """Return what some step binds, and the tools."""
    bound = (
        read_names(snippet.source).bound for snippet in run.snippets if snippet.language is Language.PYTHON
    )
    tools = {call.tool for step in run.steps for call in step.calls}
    tools |= {call.tool for snippet in run.snippets for call in snippet.tape}
    requested = {call.name for step in run.steps for call in step.requested}
    return frozenset({FINAL_ANSWER} | tools | requested).union(*bound)


def _is_of_the_session(one: dict[str, Any], names: frozenset[str]) -> bool:
    if one["code"] == _UNDEFINED:
        return any(f"`{name}`" in one["message"] for name in names)
    return one["code"] in _OF_OTHER_STEPS
