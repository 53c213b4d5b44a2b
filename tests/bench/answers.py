"""Measure groundedness on sets of answers that strangers wrote.

    python -m tests.bench.answers [FOLDER] [--judge none|perfect|0.9] [--verify-passed 1] [--per-set]
                                  [--without RULE]

In: a folder of `SET.json` files, by default `answer_sets`, whose README.md has their form. Each answer is
a trace of its own, which the engine evaluates without a replay. Also `SET.jsonl.xz` files with rows of
`{outputs, answer, label, task?}`: `--rows` of each are judged.

Out: per set the shares of right answers accepted and accused, and of wrong ones rejected, passed and open.
With a judge, a scripted endpoint rules on the open sentences of an open answer: one is false where it
overlaps the untrue part. `--judge 0.9` is right in nine of ten sentences, drawn with a fixed seed;
`--verify-passed` is the setting of that name. `--without` switches a rule off, for an ablation. `--show KIND`
shows answers. Nothing of a set is executed.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.scripted_judge import MODEL, ScriptedJudge, serve_judge

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Evaluator
from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.judge import Judge, JudgeSettings, SentenceJudge, load_rubrics
from spanproof.evaluators.model import UserHints
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Errored,
    Evidence,
    ExecutedCode,
    Layer,
    Message,
    Payload,
    Scored,
    Span,
    SpanKind,
    State,
    ToolCall,
    Trace,
    get_state,
    trace_of,
)

SETS: Final = Path(__file__).parent / "answer_sets"
SEED: Final = 23
_CODE: Final = ("python", "sql", "shell")
_START_NS: Final = 1_780_000_000_000_000_000
_STEP_NS: Final = 1_000_000_000
_NUMBER: Final = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True)
class Case:
    """An answer of a set; `wrong` is its untrue part, None where it is right."""

    id: str
    trace: Trace
    text: str
    outputs: tuple[str, ...]
    is_right: bool
    wrong: str | None = None


@dataclass
class Tally:
    """How the answers of a set were judged."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)

    def format(self) -> str:
        """Return the shares; lift is the share of right answers that pass by that of wrong ones."""
        right, wrong = max(1, self.right.total()), max(1, self.wrong.total())
        accepted, passed = self.right["pass"] / right, self.wrong["pass"] / wrong
        lift = f"{accepted / passed:5.1f}" if passed else "  inf"
        return (
            f"right {self.right.total():4}: accepted {accepted:.3f}"
            f" accused {self.right['fail'] / right:.3f} | "
            f"wrong {self.wrong.total():4}: rejected {self.wrong['fail'] / wrong:.3f} passed {passed:.3f} "
            f"open {self.wrong['open'] / wrong:.3f} | lift {lift}"
        )


def iter_cases(path: Path, rows: int) -> Iterator[Case]:
    """Yield the answers of a set."""
    if path.suffix == ".json":
        for situation in json.loads(path.read_text(encoding="utf-8")):
            for number, answer in enumerate(situation["answers"]):
                outputs = tuple(step.get("output") or "" for step in situation["steps"])
                yield Case(
                    f"{situation['id']}/{number}", build_trace(situation, answer["answer"]), answer["answer"],
                    outputs, answer["right"], answer.get("wrong"),
                )  # fmt: skip
        return
    with lzma.open(path, "rt") as lines:
        read = [json.loads(line) for line in lines]
    drawn = [row for row in read if row["label"] != "uncertain"]
    random.Random(SEED).shuffle(drawn)
    for row in drawn[:rows]:
        steps = [{"tool": "look_up", "arguments": {}, "output": output} for output in row["outputs"]]
        for step, call in zip(steps, row.get("arguments") or (), strict=False):
            step["arguments"] = call.get("arguments", call) if isinstance(call, dict) else {"text": call}
        trace = build_trace({"task": row.get("task") or "", "steps": steps}, row["answer"])
        yield Case(row["id"], trace, row["answer"], tuple(row["outputs"]), row["label"] == "grounded")


def build_trace(situation: dict[str, Any], answer: str) -> Trace:
    """Return a trace of a run that took the situation's steps and answered so."""
    spans: list[Span] = []
    turns = situation.get("earlier") or []
    for number, turn in enumerate(turns):
        _add_run(spans, number, turn["user"], (), turn["assistant"], turns[:number])
    _add_run(spans, len(turns), situation["task"], situation["steps"], answer, turns)
    return trace_of(spans)


def _add_run(
    spans: list[Span], number: int, task: str, steps: Any, answer: str, turns: list[dict[str, str]]
) -> None:
    begun = _START_NS + number * 1_000 * _STEP_NS
    run_id = f"{(number + 1) << 32:016x}"
    spoken = [
        Message(role, turn[who])
        for turn in turns
        for role, who in (("user", "user"), ("assistant", "assistant"))
    ]
    for place, step in enumerate(steps, 1):
        start = begun + place * _STEP_NS
        spans.append(_build_step(f"{(number + 1 << 32) + place:016x}", run_id, start, step))
    end = begun + (len(steps) + 2) * _STEP_NS
    said = (*spoken, Message("user", task))
    spans.append(
        Span("b" * 32, f"{(number + 1 << 32) + 0xFFFF:016x}", run_id, "chat", SpanKind.LLM,
             end - _STEP_NS, end - 1, input_messages=said, output_messages=(Message("assistant", answer),))
    )  # fmt: skip
    spans.append(
        Span("b" * 32, run_id, None, "agent", SpanKind.AGENT, begun, end, agent="agent",
             input=Payload(task, task), output=Payload(answer, answer))
    )  # fmt: skip


def _build_step(span_id: str, run_id: str, start: int, step: dict[str, Any]) -> Span:
    language = next((name for name in _CODE if name in step), None)
    output = step.get("output") or ""
    if language is not None:
        code = ExecutedCode(step[language], "code", "bash" if language == "shell" else language, logs=output)
        return Span(
            "b" * 32, span_id, run_id, language, SpanKind.TOOL, start, start + _STEP_NS // 2,
            tool=ToolCall(f"run_{language}", {"code": step[language]}), code=code,
            output=Payload(output, output),
        )  # fmt: skip
    value = _decode(output)
    return Span(
        "b" * 32, span_id, run_id, step["tool"], SpanKind.TOOL, start, start + _STEP_NS // 2,
        tool=ToolCall(step["tool"], step.get("arguments") or {}), output=Payload(output, value),
    )  # fmt: skip


def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def judge_case(engine: Engine, case: Case, judge: ScriptedJudge | None) -> tuple[str, Scored | None]:
    """Return `pass`, `fail` or `open`, and the layer's outcome."""
    if judge is not None:
        judge.text, judge.wrong, judge.of_answer = case.text, case.wrong, 0
    run = engine.evaluate(case.trace).runs[-1]
    outcome = run.layers.get(Layer.GROUNDEDNESS)
    if isinstance(outcome, Errored):
        raise SystemExit(f"{case.id}: {outcome.error_type}: {outcome.message}")
    scored = outcome if isinstance(outcome, Scored) else None
    state = {State.PASS: "pass", State.FAIL: "fail"}.get(get_state(outcome), "open") if outcome else "open"
    return state, scored


def has_all_numbers(case: Case) -> bool:
    """Return whether each number of the answer is in an output: what a simple check does."""
    known = {text.replace(",", "") for output in case.outputs for text in _NUMBER.findall(output)}
    return all(text.replace(",", "") in known for text in _NUMBER.findall(case.text))


def main() -> None:
    """Judge each answer of each set and print a line a set and one of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SETS)
    parser.add_argument("--judge", default="none")
    parser.add_argument("--verify-passed", type=float, default=0.0)
    parser.add_argument("--per-set", action="store_true")
    parser.add_argument("--without", type=GroundednessRule, action="append", default=[], metavar="RULE")
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--show", choices=("accused", "passed", "accepted", "rejected", "missed", "open"))
    options = parser.parse_args()
    if options.judge == "none":
        _report(options, None, ())
        return
    judge = ScriptedJudge(1.0 if options.judge == "perfect" else float(options.judge), SEED)
    with serve_judge(judge) as endpoint:
        client = Judge(JudgeSettings(model=MODEL, endpoint=endpoint))
        rubric = load_rubrics()["Groundedness"]
        _report(options, judge, (SentenceJudge(client, rubric, options.verify_passed),))
    print(f"prompts {judge.requests}, sentences {judge.sentences}")


def _report(
    options: argparse.Namespace, judge: ScriptedJudge | None, evaluators: Sequence[Evaluator]
) -> None:
    engine = Engine(
        pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,), evaluators=evaluators,
        hints=UserHints(without_rules=frozenset(options.without)),
    )  # fmt: skip
    everything, simple = Tally(), Tally()
    seconds: list[float] = []
    expected = 0.0
    paths = [*sorted(options.folder.glob("*.json")), *sorted(options.folder.glob("*.jsonl.xz"))]
    for path in paths:
        name = path.name.partition(".")[0]
        if options.sets and name not in options.sets:
            continue
        tally = Tally()
        for case in iter_cases(path, options.rows):
            begun = time.thread_time()
            state, outcome = judge_case(engine, case, judge)
            seconds.append(time.thread_time() - begun)
            if judge is not None and case.is_right and (state == "pass" or judge.of_answer):
                # Each sentence of a right answer is called true with the judge's accuracy.
                expected += judge.accuracy**judge.of_answer
            by_numbers = "pass" if has_all_numbers(case) else "fail"
            for each, found in ((tally, state), (everything, state), (simple, by_numbers)):
                (each.right if case.is_right else each.wrong)[found] += 1
            _show(options.show, name, case, state, outcome)
        if options.per_set:
            print(f"{name:10} {tally.format()}", flush=True)
    print(f"{'all':10} {everything.format()}")
    print(f"{'numbers':10} {simple.format()}")
    if judge is not None:
        print(f"accepted as expected of such a judge: {expected / max(1, everything.right.total()):.3f}")
    print(f"CPU an answer: {1000 * sum(seconds) / max(1, len(seconds)):.1f} ms")


def _show(kind: str | None, name: str, case: Case, state: str, outcome: Scored | None) -> None:
    is_shown = {
        "accused": case.is_right and state == "fail",
        "passed": not case.is_right and state == "pass",
        "accepted": case.is_right and state == "pass",
        "rejected": not case.is_right and state == "fail",
        "missed": not case.is_right and state == "open",
        "open": case.is_right and state == "open",
    }
    if kind is None or not is_shown[kind]:
        return
    print(f"--- {name} {case.id}\n{case.text}\n=> {case.wrong!r}")
    if outcome is not None:
        print(f"=> {outcome.explanation}")
        for fact in outcome.evidence:
            print("   ", _format_fact(fact, case.text))


def _format_fact(fact: Evidence, text: str) -> str:
    mark = fact.sentence
    return fact.what if mark is None else f"[{mark.verdict}] {fact.what} <{text[mark.start : mark.end]!r}>"


if __name__ == "__main__":
    main()
