"""The material of a question: what of a run a rubric is to be judged on.

Each layer names its own parts, the same words wherever they are shown; the sentences of an answer are judged
by the steps of the run. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace

from spanproof.evaluators.judge.prompt import Part
from spanproof.evaluators.layers.common import list_executed
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.returned import read_outputs
from spanproof.sandbox.policy import Policy
from spanproof.trace import Layer, Run, Snippet, Step

Parts = Iterator[tuple[str, str]]


def read_material(layer: Layer, evidence: RunEvidence) -> Parts:
    """Yield title and text of each part, in order; nothing for a layer that has no material."""
    yield from _MATERIAL[layer](evidence) if layer in _MATERIAL else ()


def list_step_parts(evidence: RunEvidence) -> list[Part]:
    """Return what a run did and what came back, step by step, behind the outputs of the turns before it."""
    returned = read_outputs(evidence)
    parts = [
        Part(f"output of turn {output.turn}, step {output.step}", output.text)
        for output in returned.outputs
        if output.turn != returned.turn
    ]
    for step in evidence.run.steps:
        parts.append(Part(f"action of step {step.number}", _format_action(step)))
        parts += [
            Part(f"output of step {output.step}", output.text)
            for output in returned.own
            if output.step == step.number
        ]
        if step.error is not None:
            parts.append(Part(f"error of step {step.number}", f"{step.error.type}: {step.error.message}"))
    return [part for part in parts if part.text.strip()]


def _format_action(step: Step) -> str:
    code = "\n".join(snippet.source for snippet in step.snippets)
    calls = "\n".join(f"{call.tool}({call.args}, {dict(call.kwargs)})" for call in step.calls)
    return code or calls


def _read_correctness(evidence: RunEvidence) -> Parts:
    yield "task", evidence.run.task or ""
    for number, snippet in enumerate(list_executed(evidence.run) or evidence.run.snippets, 1):
        yield f"code {number} ({snippet.language})", snippet.source
        yield f"result of code {number}", _read_outcome(snippet)


def _read_boundary(evidence: RunEvidence) -> Parts:
    policies: dict[str, list[int]] = {}
    for number, snippet in enumerate(evidence.run.snippets, 1):
        policies.setdefault(_format_policy(evidence.get_policy(snippet.id)), []).append(number)
    for policy, numbers in policies.items():
        whose = f" of code {', '.join(map(str, numbers))}" if len(policies) > 1 else ""
        yield f"policy{whose}", policy
    for number, snippet in enumerate(evidence.run.snippets, 1):
        yield f"code {number} ({snippet.language})", snippet.source
        findings = evidence.scans[snippet.id].findings
        yield (
            f"findings on code {number}",
            "\n".join(f"line {finding.line}: {finding.rule}: {finding.message}" for finding in findings),
        )


def _read_trajectory(evidence: RunEvidence) -> Parts:
    yield "task", evidence.run.task or ""
    for step in evidence.run.steps:
        error = f"{step.error.type}: {step.error.message}" if step.error else ""
        yield f"step {step.number}: action", _format_action(step)
        yield f"step {step.number}: outcome", error or step.observation or ""
    yield "answer", _read_answer(evidence.run)


_MATERIAL: Mapping[Layer, Callable[[RunEvidence], Parts]] = {
    Layer.CORRECTNESS: _read_correctness,
    Layer.BOUNDARY: _read_boundary,
    Layer.TRAJECTORY: _read_trajectory,
}


def _format_policy(policy: Policy) -> str:
    # Not its overrides, which concern others, and not the salt, which is a secret.
    stated = replace(policy, overrides=(), fingerprint_salt=b"")
    return "\n".join(f"{name}: {_format_value(value)}" for name, value in asdict(stated).items())


def _read_answer(run: Run) -> str:
    return run.answer.text if run.answer else ""


def _read_outcome(snippet: Snippet) -> str:
    if snippet.error is not None:
        return f"{snippet.error.type}: {snippet.error.message}"
    return snippet.logs or snippet.observation or (snippet.output.text if snippet.output else "")


def _format_value(value: object) -> str:
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(str, value)))
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return str(value)
