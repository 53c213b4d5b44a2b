"""A function attached by rule: through the engine, the configuration and the command line."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace

import pytest

from spanproof.cli.app import run
from spanproof.config.added_evaluators import load_functions
from spanproof.config.engine import build_evaluators
from spanproof.config.model import Config, ConfigError, OwnEvaluator, load_config
from spanproof.evaluators.custom import Attach, CustomEvaluator, Function, Wiring
from spanproof.evaluators.engine import Engine
from spanproof.sandbox import Ecosystem, PackageSet
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Cohort,
    Errored,
    Label,
    Layer,
    Payload,
    Scored,
    Skipped,
    Span,
    SpanKind,
    StepInfo,
    ToolCall,
    trace_of,
)
from spanproof.trace.model import ExecutedCode

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SEES = """
def main(completion, target, task, answer, code, outputs, attributes, input, **variables):
    seen = {"completion": completion, "target": target, "task": task, "outputs": outputs,
            "sources": [each["source"] for each in code], "variables": variables}
    import json
    return {"score": 1.0, "explanation": json.dumps(seen, sort_keys=True)}
"""


@pytest.fixture
def trace():
    common = {"dialect": "spanproof", "scope": "spanproof.instrumentors.smolagents"}
    root = Span(
        TRACE_ID, "a" * 16, None, kind=SpanKind.AGENT, name="pricing", start_ns=1, end_ns=9,
        input=Payload("price?", "price?"), output=Payload("45", "45"), attributes={"wanted": "46"}, **common,
    )  # fmt: skip
    steps = [
        Span(
            TRACE_ID, f"{number}" * 16, "a" * 16, kind=SpanKind.CHAIN, name=f"step {number}", start_ns=number,
            end_ns=number + 1, code=ExecutedCode(f"print(look({number}))", "python", logs=f"{number}\n"),
            step=StepInfo(number), attributes={"note": f"n{number}"}, **common,
        )
        for number in (1, 2)
    ]  # fmt: skip
    return trace_of([root, *steps])


def judged(trace, jail, source=SEES, **wiring):
    evaluator = CustomEvaluator(Function("mine", "python", source, timeout_s=60.0), jail, Wiring(**wiring))
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail, evaluators=[evaluator]).evaluate(trace)
    return {score.span_id: score for score in evaluation.scores if score.evaluator == "custom:mine"}


def test_the_run_is_judged_by_its_answer_with_all_that_is_known_of_it(trace, jail):
    (score,) = judged(
        trace, jail, target="attribute:wanted", variables={"unit": "cents"}, pass_at=0.5
    ).values()
    assert (score.span_id, score.name, score.layer) == ("a" * 16, "mine", Layer.CORRECTNESS)
    assert score.outcome.label is Label.PASS
    seen = json.loads(score.outcome.explanation)
    assert (seen["completion"], seen["target"], seen["task"]) == ("45", "46", "price?")
    assert seen["sources"] == ["print(look(1))", "print(look(2))"]
    assert seen["outputs"] == ["1\n", "2\n"]
    assert seen["variables"] == {"unit": "cents"}


@pytest.mark.parametrize(
    ("attach", "spans"),
    [
        (Attach(kind=SpanKind.CHAIN), ["1" * 16, "2" * 16]),
        (Attach(kind=None), ["a" * 16, "1" * 16, "2" * 16]),
        (Attach(kind=None, name="step *"), ["1" * 16, "2" * 16]),
        (Attach(kind=SpanKind.CHAIN, attributes={"note": "n2"}), ["2" * 16]),
        (Attach(kind=SpanKind.CHAIN, attributes={"missing": "*"}), []),
        (Attach(cohort={"agent": "another"}), []),
        (Attach(share=0.0), []),
    ],
)
def test_the_rule_chooses_the_spans(trace, jail, attach, spans):
    assert list(judged(trace, jail, attach=attach)) == spans


def test_an_agent_and_a_tool_are_named_as_their_user_names_them(trace, jail):
    agent, *steps = trace.spans
    agent = replace(agent, name="invoke_agent shop", agent="shop")
    tool = replace(
        agent, span_id="d" * 16, parent_id=agent.span_id, kind=SpanKind.TOOL, name="execute_tool look",
        agent=None, tool=ToolCall("look", {}),
    )  # fmt: skip
    whole = trace_of([agent, *steps, tool])
    for kind, name, span_id in [
        (SpanKind.AGENT, "shop", "a" * 16), (SpanKind.AGENT, "invoke_agent *", "a" * 16),
        (SpanKind.TOOL, "look", "d" * 16), (SpanKind.TOOL, "execute_tool look", "d" * 16),
    ]:  # fmt: skip
        assert list(judged(whole, jail, attach=Attach(kind=kind, name=name))) == [span_id]
    assert not judged(whole, jail, attach=Attach(kind=SpanKind.TOOL, name="shop"))


def test_a_run_without_an_agent_s_span_is_the_run_all_the_same(jail):
    chain = Span(
        TRACE_ID, "a" * 16, None, kind=SpanKind.CHAIN, name="chain", start_ns=1, end_ns=9,
        output=Payload("45", "45"), dialect="spanproof", scope="test",
    )  # fmt: skip
    model = replace(chain, span_id="b" * 16, parent_id="a" * 16, kind=SpanKind.LLM, name="model")
    assert list(judged(trace_of([chain, model]), jail)) == ["a" * 16]


def test_a_span_of_a_run_within_a_run_is_judged_once_and_there(trace, jail):
    inner = Span(
        TRACE_ID, "c" * 16, "1" * 16, kind=SpanKind.AGENT, name="inner", start_ns=1, end_ns=2,
        input=Payload("inner task", "inner task"), output=Payload("7", "7"), dialect="spanproof",
        scope="spanproof.instrumentors.smolagents", agent="inner",
    )  # fmt: skip
    tool = replace(inner, span_id="d" * 16, parent_id="c" * 16, kind=SpanKind.TOOL, name="look", agent=None)
    whole = trace_of([*trace.spans, inner, tool])
    scores = judged(whole, jail, attach=Attach(kind=None))
    tasks = {span_id: json.loads(each.outcome.explanation)["task"] for span_id, each in scores.items()}
    assert tasks == {
        "a" * 16: "price?", "1" * 16: "price?", "2" * 16: "price?",
        "c" * 16: "inner task", "d" * 16: "inner task",
    }  # fmt: skip
    assert set(judged(whole, jail)) == {"a" * 16, "c" * 16}


def test_a_function_that_has_nothing_to_score_is_skipped_in_its_own_words(trace, jail):
    (score,) = judged(trace, jail, "def main(c, t, **v): return {'skipped': 'no price'}").values()
    assert score.outcome == Skipped("no price")


def test_a_share_takes_that_share_of_the_traces(build):
    attach = Attach(share=0.25, cohort={"agent": "x"})
    runs = [build.run([], trace_id=f"{n:032x}", cohort=Cohort(agent="x")) for n in range(2000)]
    assert sum(attach.takes(run, "custom:mine") for run in runs) / 2000 == pytest.approx(0.25, abs=0.04)


def test_a_function_that_raises_is_errored_and_the_layers_stand(trace, jail):
    (score,) = judged(trace, jail, "def main(c, t, **v): raise OSError('no')").values()
    assert score.outcome == Errored("OSError", "no")


def test_without_a_sandbox_it_is_skipped_with_the_reason(trace):
    (score,) = judged(trace, None).values()
    assert isinstance(score.outcome, Skipped)
    assert "no sandbox" in score.outcome.reason


def test_without_a_threshold_the_score_is_advice(trace, jail):
    (score,) = judged(trace, jail).values()
    assert isinstance(score.outcome, Scored)
    assert score.outcome.label is None


def test_the_configuration_names_functions_by_file_or_in_place(tmp_path, jail):
    (tmp_path / "mine.ts").write_text("export const main = () => ({score: 1})")
    file = tmp_path / "spanproof.yaml"
    file.write_text(
        f"evaluators:\n  - {{name: ours, file: {tmp_path / 'mine.ts'}, layer: trajectory}}\n"
        "  - name: here\n    source: |\n      def main(completion, target): return 1\n"
    )
    ours, here = build_evaluators(load_config(file, {}), jail)
    assert (ours.name, ours.layer) == ("custom:ours", Layer.TRAJECTORY)
    assert here.name == "custom:here"


@pytest.mark.parametrize(
    "entry",
    [
        "{name: x}",
        "{name: x, file: a.py, source: b}",
        "{name: X Y, source: b}",
        "{name: x, source: b, cohort: 1}",
    ],
)
def test_a_wrong_entry_is_reported_with_its_place(tmp_path, entry):
    file = tmp_path / "spanproof.yaml"
    file.write_text(f"evaluators:\n  - {entry}\n")
    with pytest.raises(ConfigError, match=r"evaluators\.0"):
        load_config(file, {})


@pytest.mark.parametrize(
    ("entries", "reported"),
    [
        ("{name: correctness, source: CODE}", "a score of Spanproof's own"),
        ("{name: twice, source: CODE}\n  - {name: twice, source: CODE}", "an evaluator before it"),
        ("{name: loose, source: CODE, packages: [requests]}", "'requests' is not exact"),
        ("{name: empty, source: 'x = 1'}", "defines no main"),
        (
            "{name: lone, source: 'def main(completion, **v): return 1'}",
            "main does not take completion and target",
        ),
        (
            "{name: more, source: 'def main(c, t, limit, **v): return 1'}",
            "main wants limit, which nothing gives it",
        ),
        (
            "{name: own, source: CODE, variables: {target: 3}}",
            "evaluators.0.variables: target is given apart",
        ),
        (
            "{name: day, source: CODE, variables: {d: 2024-01-01}}",
            "evaluators.0.variables.d: expected what JSON can",
        ),
        (
            "{name: set, source: CODE, target: !!set {x}}",
            "evaluators.0.target: expected what JSON can say, got a set",
        ),
        ("{name: gone, file: nowhere.py}", "nowhere.py cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_called_is_reported_by_config_check(tmp_path, capsys, entries, reported):
    file = tmp_path / "spanproof.yaml"
    code = '"def main(c, t, **v): return 1"'
    file.write_text(f"evaluators:\n  - {entries.replace('CODE', code)}\n")
    assert run(["config", "check", str(file)]) == 2
    assert reported in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    "source",
    [
        "def main(completion, target, limit, **v): return 1",
        "def main(completion, target, *, limit=3, **v): return 1",
        "def main(*args, **v): return 1",
        "def main(completion, target): return 1",
        "async def main(completion, target, /, limit, **v): return 1",
        "import functools\n@functools.cache\ndef main(c): return 1",
    ],
)
def test_any_function_that_takes_what_it_is_given_can_be_called(source):
    choice = OwnEvaluator(name="x", source=source, variables={"limit": 3})
    (function,) = load_functions(Config(evaluators=(choice,)))
    assert function.name == "x"


def test_packages_that_cannot_be_had_are_reported_once_and_skip_the_score(trace, jail, caplog):
    pins = PackageSet(Ecosystem.PIP, ("spanproof-no-such-package==1.0",))
    source = "def main(c, t, **v): return 1"
    evaluator = CustomEvaluator(Function("mine", "python", source, pins), jail)
    engine = Engine(pipeline=Pipeline(), sandbox=jail, evaluators=[evaluator])
    for _ in range(2):
        (outcome,) = [
            score.outcome for score in engine.evaluate(trace).scores if score.evaluator == "custom:mine"
        ]
        assert isinstance(outcome, Skipped)
        assert "spanproof-no-such-package==1.0" in outcome.reason
    assert [record.message for record in caplog.records if "mine" in record.message] == [
        f"evaluator 'mine' cannot run, its scores are skipped: {outcome.reason.partition(': ')[2]}"
    ]
    assert [record.message for record in caplog.records].count("downloading") <= 1


def test_score_custom_tries_a_function_line_by_line(tmp_path, capfdbinary, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text(
        "def main(completion, target, **v):\n    return {'score': 1 / target, 'explanation': 'e'}"
    )
    rows = ({"id": 1, "target": 2}, {"id": 2, "target": 0}, {"id": 3, "variables": 1})
    sent = "\n".join(map(json.dumps, rows)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
    assert run(["score", "custom", str(file), "--jsonl"]) == 0
    good, raised, bad = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert good == {"id": 1, "score": 0.5, "explanation": "e"}
    assert "ZeroDivisionError" in raised["error"]
    assert "variables" in bad["error"]


def test_a_file_that_is_none_is_reported_with_the_remedy(tmp_path, capsys):
    assert run(["score", "custom", str(tmp_path / "missing.py"), "--jsonl"]) == 2
    (tmp_path / "a.py").write_text("x = 1")
    assert run(["score", "custom", str(tmp_path / "a.py"), "--jsonl"]) == 2
    reported = capsys.readouterr().err
    assert "cannot be read" in reported
    assert "defines no main" in reported
