"""Workspaces in states that no command writes on purpose: cut, edited, removed, or of another version.

Each state changes one suite, one experiment and one report of a workspace. Beside them are others that
nothing changes: every list goes on showing them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from spanproof.evaluators.model import TraceEvaluation
from spanproof.suites import promote_run

TRACE, RUN = "5" * 32, "a" * 16
GOOD_SUITE, GOOD_EXPERIMENT, GOOD_REPORT = "suites/good", "runs/good", "runs/good.json"
ODD_SUITE, ODD_EXPERIMENT, ODD_REPORT = "suites/odd", "runs/odd", "runs/odd.json"
HOSTILE: Final = "<script>x</script>\u202e\x1b[31m'\"; DROP TABLE runs; --"


@dataclass(frozen=True)
class OddWorkspace:
    """A workspace whose suite, experiment and report a state changes."""

    root: Path
    case: str

    @property
    def suite(self) -> Path:
        return self.root / ODD_SUITE

    @property
    def case_file(self) -> Path:
        return self.suite / "cases" / self.case / "case.yaml"

    @property
    def experiment(self) -> Path:
        return self.root / ODD_EXPERIMENT

    @property
    def head(self) -> Path:
        return self.experiment / "experiment.json"

    @property
    def trials(self) -> Path:
        return self.experiment / "trials.jsonl"

    @property
    def report(self) -> Path:
        return self.root / ODD_REPORT

    def edit_head(self, **fields: object) -> None:
        """Write fields of `experiment.json` anew."""
        _edit(self.head, fields)

    def edit_trial(self, **fields: object) -> None:
        """Write fields of the trial anew."""
        _edit(self.trials, fields)

    def edit_report(self, **fields: object) -> None:
        """Write fields of the gate's report anew."""
        _edit(self.report, fields)

    def edit_assertion(self, **fields: object) -> None:
        """Write fields of the report's assertion anew."""
        _edit(self.report, {"assertions": [{**ASSERTION, **fields}]})

    def edit_case(self, pattern: str, replacement: str) -> None:
        """Replace what matches in `case.yaml`."""
        text = self.case_file.read_text()
        changed = re.sub(pattern, replacement, text)
        assert changed != text, f"case.yaml has nothing like {pattern}"
        self.case_file.write_text(changed)


def _edit(file: Path, fields: Mapping[str, object]) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}) + "\n")


ASSERTION: Final[dict[str, Any]] = {
    "assertion": "groundedness.score >= 0.9", "layer": "groundedness", "verdict": "failed",
    "reason": "1 of 1", "interval": [0.1, 0.9], "share": 0.0, "judged": 1, "satisfied": 0,
    "failing": [{"trace_id": TRACE, "run_span_id": RUN, "agent": "a", "state": "violated", "value": 0.0,
                 "explanation": "says $54.00"}],
}  # fmt: skip
_REPORT: Final = {"passed": False, "failed_layers": ["groundedness"], "assertions": [ASSERTION]}
_ROW: Final = {"trace_id": TRACE, "runs": []}


def build_workspace(root: Path, evaluation: TraceEvaluation) -> OddWorkspace:
    """Write a workspace in which nothing is odd yet."""
    for suite, experiment, report in (
        (GOOD_SUITE, GOOD_EXPERIMENT, GOOD_REPORT),
        (ODD_SUITE, ODD_EXPERIMENT, ODD_REPORT),
    ):
        case = promote_run(evaluation, RUN, root / suite)
        write_experiment(root / experiment, root / suite, case.id)
        (root / report).write_text(json.dumps(_REPORT))
    return OddWorkspace(root, case.id)


def write_experiment(folder: Path, suite: Path, case: str) -> None:
    """Write an experiment of one failed trial, whose trace is kept."""
    traces = folder / "traces"
    traces.mkdir(parents=True)
    head = {"format": 1, "suite": str(suite.resolve()), "agent": {"target": "a:b"}}
    (folder / "experiment.json").write_text(json.dumps(head))
    trial = {
        "case": case, "number": 1, "verdict": "failed", "reason": "", "layer": "groundedness",
        "findings": [{"requirement": "true", "holds": False, "reason": "no", "layer": "groundedness"}],
        "layers": {"groundedness": "fail"}, "answer": "$45.00", "wall_s": 1.0, "tokens": 10,
        "cost_usd": 0.01, "steps": 2, "ok_steps": 2, "models": [], "unknown_calls": [],
        "trace_id": TRACE, "trace_file": f"{case}-001.pb", "row": _ROW,
    }  # fmt: skip
    (folder / "trials.jsonl").write_text(json.dumps(trial) + "\n")
    (traces / f"{case}-001.pb").write_bytes(_build_request().SerializeToString())


def _build_request() -> ExportTraceServiceRequest:
    """Return the span of an agent, as a trial keeps it."""
    span = Span(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(RUN), name="agent")
    span.attributes.add(key="gen_ai.operation.name").value.string_value = "invoke_agent"
    span.attributes.add(key="gen_ai.agent.name").value.string_value = "shopper"
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])


def _rename_suite(at: OddWorkspace) -> None:
    at.suite.rename(at.suite.with_name("renamed"))


def _remove_cases(at: OddWorkspace) -> None:
    shutil.rmtree(at.suite / "cases")


def _cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _copy_experiment(at: OddWorkspace) -> None:
    """Write the same experiment again, at the very same time."""
    copy = at.experiment.with_name("copy")
    shutil.copytree(at.experiment, copy)
    for head in (at.head, copy / "experiment.json"):
        os.utime(head, ns=(1, 1))


def _link_in_a_circle(at: OddWorkspace) -> None:
    (at.root / "circle").symlink_to(at.root)
    (at.root / "nowhere.json").symlink_to(at.root / "gone.json")


def _name_with_bytes(at: OddWorkspace) -> None:
    """Give suite, experiment and report names that are no UTF-8."""
    for path in (at.suite, at.experiment, at.report):
        path.rename(Path(os.fsdecode(os.fsencode(path.parent) + b"/caf\xe9 " + os.fsencode(path.name))))


def _name_with_hostile_text(at: OddWorkspace) -> None:
    for path in (at.suite, at.experiment, at.report):
        path.rename(path.with_name(f"{HOSTILE.replace('/', '')} %2F#?{path.name}"))


def _deep_json(depth: int = 100_000) -> str:
    return "[" * depth + "]" * depth


STATES: Final[Mapping[str, Callable[[OddWorkspace], object]]] = {
    "nothing odd": lambda at: None,
    "no experiment": lambda at: shutil.rmtree(at.experiment),
    "no report": lambda at: at.report.unlink(),
    # The suite.
    "suite removed": lambda at: shutil.rmtree(at.suite),
    "suite renamed": _rename_suite,
    "suite without cases": _remove_cases,
    "suite.yaml empty": lambda at: (at.suite / "suite.yaml").write_text(""),
    "suite.yaml a list": lambda at: (at.suite / "suite.yaml").write_text("[1]"),
    "suite.yaml of a later format": lambda at: (at.suite / "suite.yaml").write_text("format: 99"),
    "suite.yaml not UTF-8": lambda at: (at.suite / "suite.yaml").write_bytes(b"\xff\xfe"),
    "case.yaml cut": lambda at: _cut(at.case_file),
    "case.yaml empty": lambda at: at.case_file.write_text(""),
    "case.yaml of a later format": lambda at: at.edit_case("format: 1", "format: 99"),
    "case.yaml with a wrong layer": lambda at: at.edit_case("layer: groundedness", "layer: colour"),
    "case.yaml with a wrong snippet": lambda at: at.edit_case(r"snippet: \d+", "snippet: 99"),
    "case with a wrong run": lambda at: at.edit_case(f"run_span_id: '?{RUN}'?", "run_span_id: bbbb"),
    "trace.json cut": lambda at: _cut(at.case_file.with_name("trace.json")),
    "trace.json removed": lambda at: at.case_file.with_name("trace.json").unlink(),
    "tests.yaml wrong": lambda at: at.case_file.with_name("tests.yaml").write_text("tests: 7"),
    # Its experiment.
    "experiment.json cut": lambda at: _cut(at.head),
    "experiment.json empty": lambda at: at.head.write_text(""),
    "experiment.json a list": lambda at: at.head.write_text("[]"),
    "experiment.json deep": lambda at: at.head.write_text(_deep_json()),
    "experiment.json a folder": lambda at: (at.head.unlink(), at.head.mkdir()),
    "experiment of an older form": lambda at: at.edit_head(format=0),
    "experiment with the format alone": lambda at: at.head.write_text('{"format": 1}'),
    "experiment with an agent of text": lambda at: at.edit_head(agent=HOSTILE),
    "experiment with an agent of null": lambda at: at.edit_head(agent=None),
    "experiment with a suite of null": lambda at: at.edit_head(suite=None),
    "experiment with a suite of a zero byte": lambda at: at.edit_head(suite="/a\0b"),
    "experiment with a suite of a lone surrogate": lambda at: at.edit_head(suite="\ud800"),
    "experiment of the other suite": lambda at: at.edit_head(suite=str((at.root / GOOD_SUITE).resolve())),
    "two experiments of one time": _copy_experiment,
    # Its trials.
    "trials.jsonl removed": lambda at: at.trials.unlink(),
    "trials.jsonl empty": lambda at: at.trials.write_text(""),
    "trials.jsonl cut": lambda at: _cut(at.trials),
    "trials.jsonl not UTF-8": lambda at: at.trials.write_bytes(b"\xff\xfe\n"),
    "trials.jsonl deep": lambda at: at.trials.write_text(_deep_json() + "\n"),
    "trial of null": lambda at: at.trials.write_text("null\n"),
    "trial without fields": lambda at: at.trials.write_text("{}\n"),
    "trial of a case that is gone": lambda at: at.edit_trial(case="gone"),
    "trial of a case of another type": lambda at: at.edit_trial(case=7),
    "trial of a hostile case": lambda at: at.edit_trial(case=HOSTILE),
    "trial with a number of text": lambda at: at.edit_trial(number="one"),
    "trial with a number of null": lambda at: at.edit_trial(number=None),
    "trial of a verdict that is not known": lambda at: at.edit_trial(verdict="great"),
    "trial of layers that are not known": lambda at: at.edit_trial(layers={"colour": "fail"}),
    "trial of states that are not known": lambda at: at.edit_trial(layers={"groundedness": "great"}),
    "trial with layers of null": lambda at: at.edit_trial(layers=None),
    "trial with layers in a list": lambda at: at.edit_trial(layers=["groundedness"]),
    "trial with findings of null": lambda at: at.edit_trial(findings=None),
    "trial with findings of text": lambda at: at.edit_trial(findings="no"),
    "trial with an unknown key": lambda at: at.edit_trial(colour="red"),
    "trial with an answer of another type": lambda at: at.edit_trial(answer={"price": 45}),
    "trial with a lone surrogate": lambda at: at.edit_trial(answer="\ud800", reason="\udfff"),
    "trial with an error": lambda at: at.edit_trial(verdict="errored", error="it ended", answer=None),
    "trial with texts for numbers": lambda at: at.edit_trial(wall_s="1", tokens="ten", cost_usd="0.1"),
    "trial with numbers that are none": lambda at: at.edit_trial(
        wall_s=float("nan"), cost_usd=float("inf"), tokens=10**30
    ),
    "trial with nulls for numbers": lambda at: at.edit_trial(wall_s=None, tokens=None, steps=None),
    "trial twice": lambda at: at.trials.write_text(at.trials.read_text() * 2),
    "trial of null after another": lambda at: at.trials.write_text(at.trials.read_text() + "null\n"),
    "trial that is open": lambda at: at.edit_trial(verdict="open", layers={"groundedness": "open"}),
    "trial that is not judged": lambda at: at.edit_trial(verdict="unjudged", layers={}, findings=[]),
    "trace removed": lambda at: shutil.rmtree(at.experiment / "traces"),
    "trace cut": lambda at: [_cut(file) for file in (at.experiment / "traces").iterdir()],
    "trace of a file elsewhere": lambda at: at.edit_trial(trace_file="../../../etc/passwd"),
    "trace of a file with a zero byte": lambda at: at.edit_trial(trace_file="a\0b"),
    "trace of a name of another type": lambda at: at.edit_trial(trace_file=["a"]),
    "trace of another id": lambda at: at.edit_trial(trace_id="6" * 32),
    "row of null": lambda at: at.edit_trial(row=None),
    "row of another form": lambda at: at.edit_trial(row={"runs": [{"scores": 7}]}),
    "row of text": lambda at: at.edit_trial(row="row"),
    "row of an error": lambda at: at.edit_trial(row={"error": "not evaluated"}),
    # The report of the gate.
    "report cut": lambda at: _cut(at.report),
    "report empty": lambda at: at.report.write_text(""),
    "report of other JSON": lambda at: at.report.write_text('{"passed": true}'),
    "report deep": lambda at: at.report.write_text(_deep_json()),
    "report with assertions of text": lambda at: at.edit_report(assertions=["groundedness"]),
    "report with assertions of null": lambda at: at.edit_report(assertions=[None]),
    "report without assertions": lambda at: at.edit_report(assertions=[]),
    "report with layers of null": lambda at: at.edit_report(failed_layers=None),
    "report with layers of a number": lambda at: at.edit_report(failed_layers=7),
    "assertion without fields": lambda at: at.edit_report(assertions=[{}]),
    "assertion without a layer": lambda at: at.edit_assertion(layer=None),
    "assertion of a verdict that is not known": lambda at: at.edit_assertion(verdict="great"),
    "assertion with an interval of one number": lambda at: at.edit_assertion(interval=[0.1]),
    "assertion with an interval of text": lambda at: at.edit_assertion(interval=["low", "high"]),
    "assertion with counts of text": lambda at: at.edit_assertion(judged="one", satisfied=None),
    "assertion with failing of null": lambda at: at.edit_assertion(failing=None),
    "assertion with failing of text": lambda at: at.edit_assertion(failing=["a"]),
    "assertion with a failing case without fields": lambda at: at.edit_assertion(failing=[{}]),
    "assertion with a failing value of text": lambda at: at.edit_assertion(
        failing=[{**ASSERTION["failing"][0], "value": "high"}]
    ),
    "assertion with hostile text": lambda at: at.edit_assertion(assertion=HOSTILE, reason="\ud800"),
    # The folder.
    "links": _link_in_a_circle,
    "names that are no UTF-8": _name_with_bytes,
    "names of hostile text": _name_with_hostile_text,
    "suite inside an experiment": lambda at: at.suite.rename(at.experiment / "suite"),
    "experiment inside a suite": lambda at: at.experiment.rename(at.suite / "run"),
    "suite and experiment in one folder": lambda at: shutil.copy(at.suite / "suite.yaml", at.experiment),
}
"""What can be odd, by its name."""
