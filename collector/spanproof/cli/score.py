"""`spanproof score`: the scores that need no trace, over JSON Lines.

In: answers with their outputs, or trajectories as steps. Out: one line per line with the verdict and what it
rests on. Nothing is executed and nothing stored; the rules are those of the layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spanproof.cli.console import UsageProblem, json_line
from spanproof.cli.jsonl import BadRow, Row, answer_lines, json_name, text_field
from spanproof.evaluators.layers.groundedness import Claim, ground
from spanproof.evaluators.layers.trajectory.actions import of_steps
from spanproof.evaluators.layers.trajectory.metrics import (
    Completion,
    failures,
    find_loop,
    measure,
    recovered,
    wasted,
)
from spanproof.trace import Scored

if TYPE_CHECKING:
    from spanproof.sandbox.scanners.pipeline import Pipeline


_jsonl_option = click.option(
    "--jsonl", "--json", "jsonl", is_flag=True, help="Read JSON Lines from stdin, write one line per line."
)


@click.group("score")
def command() -> None:
    """Score answers and trajectories without a trace."""


@command.command("groundedness")
@_jsonl_option
def groundedness(*, jsonl: bool) -> int:
    """Hold answers against outputs.

    In: {"id", "task"?, "outputs": […], "answer"}. Out: {"id", "verdict", "value", "claims"}.
    """
    _require_jsonl(jsonl, "groundedness")
    return answer_lines(score_groundedness)


@command.command("trajectory")
@_jsonl_option
def trajectory(*, jsonl: bool) -> int:
    """Measure trajectories.

    In: {"id", "task", "steps": [{"code", "observation", "error"}], "final_answer"}.
    Out: {"id", "recovered", "loop", "steps_wasted", "execution_failures", "scores"}.
    """
    _require_jsonl(jsonl, "trajectory")
    from spanproof.sandbox.scanners.pipeline import Pipeline  # loads parsers: only where they are needed

    pipeline = Pipeline()
    return answer_lines(lambda row: score_trajectory(row, pipeline))


def score_groundedness(row: Row) -> Row:
    """The answer to one line of `score groundedness`."""
    outputs = row.get("outputs")
    if not isinstance(outputs, list):
        raise BadRow(f"field 'outputs' must be a list, got {json_name(outputs)}")
    task = row.get("task")
    if task is not None and not isinstance(task, str):
        raise BadRow(f"field 'task' must be a string, got {json_name(task)}")
    grounding = ground([_as_text(output) for output in outputs], text_field(row, "answer"), task)
    return {
        "id": row.get("id"),
        "verdict": grounding.verdict.value,
        "value": round(grounding.value, 4),
        "claims": [_claim(claim) for claim in grounding.claims],
    }


def score_trajectory(row: Row, pipeline: Pipeline) -> Row:
    """The answer to one line of `score trajectory`."""
    steps = row.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise BadRow("field 'steps' must be a list of objects with 'code', 'observation' and 'error'")
    scans = [
        pipeline.scan("python", step["code"]) if isinstance(step.get("code"), str) else None for step in steps
    ]
    actions = of_steps(steps, scans)
    answer = row.get("final_answer")
    outcomes = measure(actions, Completion(answer is not None and str(answer).strip() != ""))
    return {
        "id": row.get("id"),
        "recovered": recovered(actions),
        "loop": find_loop(actions) is not None,
        "steps_wasted": len(wasted(actions)),
        "execution_failures": len(failures(actions)),
        "scores": {
            name: round(outcome.value, 4) for name, outcome in outcomes.items() if isinstance(outcome, Scored)
        },
    }


def _claim(claim: Claim) -> Row:
    evidence: Row | None = None
    if claim.evidence is not None:
        evidence = {
            "output": claim.evidence.output,
            "text": claim.evidence.text,
            "derivation": claim.evidence.derivation,
        }
    return {
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "kind": claim.kind.value,
        "verdict": claim.verdict.value,
        "reason": claim.reason,
        "evidence": evidence,
    }


def _as_text(output: Any) -> str:
    return output if isinstance(output, str) else json_line(output).decode().rstrip()


def _require_jsonl(jsonl: bool, name: str) -> None:
    if not jsonl:
        raise UsageProblem(
            f"score {name} reads JSON Lines from stdin and was not told to",
            f"spanproof score {name} --jsonl < rows.jsonl",
        )
