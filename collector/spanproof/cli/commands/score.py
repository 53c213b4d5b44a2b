"""`spanproof score`: the scores that need no trace, over JSON Lines.

In: answers with their outputs, or trajectories as steps. Out: one line per line with the verdict and its
evidence. Nothing is executed and nothing stored; the rules are those of the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click
import yaml
from pydantic import TypeAdapter, ValidationError

from spanproof.cli.input.jsonl import (
    BadRow,
    Row,
    check_jsonl,
    get_json_type,
    handle_lines,
    jsonl_option,
    read_text_field,
)
from spanproof.cli.options.backend import open_backend, with_backend_options
from spanproof.cli.output.console import encode_json_line, select_attributes
from spanproof.cli.problems import UsageProblem
from spanproof.config.added_evaluators import load_function
from spanproof.config.model import OwnEvaluator
from spanproof.evaluators.custom import BuiltIn, Call, Check, Function, Returned, evaluate
from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness import Claim, Ledger, build_ledger, describe_claim
from spanproof.evaluators.layers.trajectory.ending import Completion
from spanproof.evaluators.layers.trajectory.loops import find_loop
from spanproof.evaluators.layers.trajectory.metrics import compute_metrics, list_wasted
from spanproof.evaluators.layers.trajectory.steps import build_actions
from spanproof.evaluators.outcomes.recovery import evaluate_recovery, select_failures
from spanproof.trace import OPEN_VALUE, Scored

if TYPE_CHECKING:
    from spanproof.sandbox.scanners.pipeline import Pipeline


Synonyms: TypeAlias = dict[str, tuple[str, ...]]


@click.group("score")
def command() -> None:
    """Score answers and trajectories without a trace."""


@command.command("groundedness")
@jsonl_option
@click.option(
    "--synonyms",
    "synonyms_file",
    type=click.Path(path_type=Path),
    help="YAML file with your own words for states, like `evaluation.synonyms`: shipped: [on the truck].",
)
@click.option(
    "--without-rule",
    "without_rules",
    type=click.Choice([rule.value for rule in GroundednessRule]),
    multiple=True,
    help="Switch off this rule, like `evaluation.without_rules`; may be given several times.",
)
def groundedness(*, jsonl: bool, synonyms_file: Path | None, without_rules: tuple[str, ...]) -> int:
    """Check answers against outputs.

    In: {"id", "task"?, "system"?, "outputs": […], "answer", "now"?}; "system" is the system prompt, "now" is
    when the answer was given, as ISO 8601 with its zone, for words such as "yesterday". Out: {"id",
    "verdict", "value", "claims", "sentences"}.
    """
    check_jsonl("score groundedness", jsonl=jsonl)
    synonyms = _read_synonyms(synonyms_file) if synonyms_file else {}
    off = [GroundednessRule(rule) for rule in without_rules]
    return handle_lines(lambda row: evaluate_groundedness(row, synonyms, off))


@command.command("trajectory")
@jsonl_option
def trajectory(*, jsonl: bool) -> int:
    """Measure trajectories.

    In: {"id", "task", "steps": [{"code", "observation", "error"}], "final_answer"}.
    Out: {"id", "recovered", "loop", "steps_wasted", "execution_failures", "scores"}.
    """
    check_jsonl("score trajectory", jsonl=jsonl)
    from spanproof.sandbox.scanners.pipeline import Pipeline  # loads parsers: only where they are needed

    pipeline = Pipeline()
    return handle_lines(lambda row: evaluate_trajectory(row, pipeline))


@command.command("custom")
@click.argument("file", type=click.Path(path_type=Path))
@jsonl_option
@click.option(
    "--package",
    "packages",
    multiple=True,
    help="Package that the evaluator imports: name==1.2.3, or name@1.2.3.",
)
@click.option(
    "--timeout",
    "timeout_s",
    default=5.0,
    show_default=True,
    type=click.FloatRange(0.01, 3600),
    help="Seconds.",
)
@click.option(
    "--range",
    "bounds",
    nargs=2,
    type=float,
    default=(0.0, 1.0),
    help="The evaluator's worst and best score: 1 5.",
)
@click.option("--ignore-case", is_flag=True, help="For checks of text: ignore case.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    help="For the check `numeric`: the largest difference that passes.",
)
@with_backend_options
def custom(
    file: Path,
    jsonl: bool,
    packages: tuple[str, ...],
    timeout_s: float,
    bounds: tuple[float, float],
    ignore_case: bool,
    tolerance: float,
    backend: str,
    settings: dict[str, str],
) -> int:
    """Try an evaluator of your own.

    FILE is a .py, .ts or .js file with `main`, which runs in the sandbox, or one of the built-in checks:
    exact_match, contains, regex, json_valid, json_schema, numeric, expression, cel. In: {"id", "completion",
    "target"?, "variables"?}. Out: {"id", "score", "raw"?, "explanation", "skipped"?, "error"?}.
    """
    check_jsonl(f"score custom {file}", jsonl=jsonl)
    if str(file) in list(Check):
        built_in = BuiltIn("custom", Check(str(file)), ignore_case, tolerance)
        return handle_lines(lambda row: _evaluate_custom(row, lambda call: built_in.evaluate(call)))
    try:
        choice = OwnEvaluator(name="custom", file=file, packages=packages, timeout_s=timeout_s, range=bounds)
    except ValidationError as problem:
        raise UsageProblem(f"--range: {problem.errors()[0]['msg']}", "Write --range 0 10.") from problem
    function = load_function(choice)
    assert isinstance(function, Function), "it is of a file"
    function.check()
    with open_backend(backend, settings) as sandbox:
        return handle_lines(
            lambda row: _evaluate_custom(row, lambda call: evaluate(function, [call], sandbox)[0])
        )


def _evaluate_custom(row: Row, score: Callable[[Call], Returned]) -> Row:
    variables = row.get("variables", {})
    if not isinstance(variables, dict):
        raise BadRow(f"field 'variables' must be an object, got {get_json_type(variables)}")
    call = Call(row.get("completion"), row.get("target"), variables)
    returned = score(call)
    if returned.skipped:
        return {"id": row.get("id"), "score": None, "skipped": returned.skipped}
    if returned.score is None:
        raise BadRow(f"{returned.error_type}: {returned.message}")
    found: Row = {"id": row.get("id"), "score": returned.score, "explanation": returned.explanation}
    if returned.raw is None:
        return found
    return {**found, "raw": returned.raw}


def _read_synonyms(file: Path) -> Synonyms:
    """Return a user's own words for states, by the state's usual name."""
    remedy = "write one state a line: `shipped: [on the truck, left the house]`"
    try:
        return TypeAdapter(Synonyms).validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise UsageProblem(f"{file} cannot be read: {problem}", remedy) from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageProblem(f"{file}: {field}: {first['msg']}", remedy) from problem


def evaluate_groundedness(
    row: Row, synonyms: Synonyms | None = None, without_rules: Sequence[GroundednessRule] = ()
) -> Row:
    """Return the answer to one line of `score groundedness`."""
    outputs = row.get("outputs")
    if not isinstance(outputs, list):
        raise BadRow(f"field 'outputs' must be a list, got {get_json_type(outputs)}")
    for name in ("task", "system"):
        if row.get(name) is not None and not isinstance(row[name], str):
            raise BadRow(f"field '{name}' must be a string, got {get_json_type(row[name])}")
    texts = [
        output if isinstance(output, str) else encode_json_line(output).decode().rstrip()
        for output in outputs
    ]
    ledger = build_ledger(
        texts,
        read_text_field(row, "answer"),
        row.get("task"),
        synonyms,
        _find_now(row),
        system=row.get("system"),
        without_rules=without_rules,
    )
    return {
        "id": row.get("id"),
        "verdict": ledger.verdict.value,
        "value": _compute_value(ledger),
        "claims": [_to_claim_row(claim) for claim in ledger.claims],
        "sentences": [
            {
                **select_attributes(sentence, "text start end verdict"),
                "unread": [part.text for part in sentence.unread],
            }
            for sentence in ledger.sentences
        ],
    }


def _compute_value(ledger: Ledger) -> float:
    """Return the share of bound claims that agree with their source; the open value where none is bound."""
    agreeing, bound = ledger.facts
    if bound:
        return round(agreeing / bound, 4)
    return OPEN_VALUE


def evaluate_trajectory(row: Row, pipeline: Pipeline) -> Row:
    """Return the answer to one line of `score trajectory`."""
    steps = row.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise BadRow("field 'steps' must be a list of objects with 'code', 'observation' and 'error'")
    codes = [step.get("code") for step in steps]
    scans = [pipeline.scan("python", code) if isinstance(code, str) else None for code in codes]
    actions = build_actions(steps, scans)
    answer, task = row.get("final_answer"), row.get("task")
    written = "" if answer is None else str(answer).strip()
    task = task if isinstance(task, str) else ""
    outcomes = compute_metrics(actions, Completion(bool(written)), written, task)
    return {
        "id": row.get("id"),
        "recovered": evaluate_recovery(actions, task),
        "loop": find_loop(actions) is not None,
        "steps_wasted": len(list_wasted(actions)),
        "execution_failures": len(select_failures(actions)),
        "scores": {
            name: round(outcome.value, 4) for name, outcome in outcomes.items() if isinstance(outcome, Scored)
        },
    }


def _to_claim_row(claim: Claim) -> Row:
    if claim.evidence is None:
        evidence = None
    else:
        evidence = select_attributes(claim.evidence, "output text derivation start end")
    row = select_attributes(claim, "text start end kind verdict cause rule")
    return row | {"reason": describe_claim(claim), "evidence": evidence}


def _find_now(row: Row) -> datetime | None:
    now = row.get("now")
    try:
        return None if now is None else datetime.fromisoformat(now)
    except (TypeError, ValueError) as problem:
        raise BadRow(f"field 'now' must be a date and time as ISO 8601, got {now!r:.60}") from problem
