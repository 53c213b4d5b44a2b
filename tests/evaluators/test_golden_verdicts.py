"""Golden traces with their golden scores: the specification of correctness, boundary and execution.

Each file under tests/golden/{correctness,boundary,execution} holds cases: a small trace, and every score that
its layer gives to it. tests/golden/README.md says how to read them, and lists them.

`UPDATE_GOLDEN=1 pytest …` writes the scores and the list anew, to be read before they are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from golden_traces import AGENT, trace_in_short
from golden_yaml import iter_golden
from tests.plugins.scripted_sandbox import ScriptedSandbox, ScriptedStep

from spanproof.evaluators.casetests import read_tests
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Cost, Evaluator
from spanproof.evaluators.lint import Lint
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.presence import NoCode
from spanproof.evaluators.replay import FixtureBook, FixtureSet
from spanproof.sandbox import Attempt, AttemptKind, Database, Execution, FailureClass, Sandbox
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Errored, Judgement, Layer, Outcome, Score, Scored, Skipped

GOLDEN = Path(__file__).parents[1] / "golden"
INDEX = GOLDEN / "README.md"
LAYERS = (Layer.CORRECTNESS, Layer.BOUNDARY, Layer.EXECUTION)
FILES = [path for layer in LAYERS for path in sorted((GOLDEN / layer.value).glob("*.yaml"))]
KEYS = frozenset(
    (
        *("case", "task", "answer", "hidden", "steps", "policy", "replay", "script", "repeat", "tests"),
        *("fixtures", "lint", "without_code", "raises", "scores"),
    )
)
LIST = "<!-- from here on written by tests/evaluators/test_golden_verdicts.py -->\n"
BETWEEN, EXPECTED = "\n---\n", "\nscores: |\n"
KEY = "<github-token>"
# In pieces, so that no scanner of a code host takes this file for a leak.
_MADE_UP_KEY = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"
_MB = 1024 * 1024


def cases() -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path in FILES:
        for document in iter_golden(path):
            unknown = document.keys() - KEYS
            assert not unknown, f"{path.name}: a case has no key {sorted(unknown)}"
            yield path, document


CASES = list(cases())
assert len({(path, case["case"]) for path, case in CASES}) == len(CASES), "two cases of a file have one name"


@pytest.mark.parametrize(
    ("path", "case"),
    [pytest.param(path, case, id=f"{path.parent.name}/{path.stem}: {case['case']}") for path, case in CASES],
)
def test_a_trace_gets_exactly_its_golden_scores(jail, path, case):
    layer = Layer(path.parent.name)
    found = rendered(evaluated(case, layer, jail), layer).replace(_MADE_UP_KEY, KEY)
    if os.environ.get("UPDATE_GOLDEN"):
        rewrite(path, case["case"], found)
    else:
        assert found == case.get("scores", "")


PAGES = Path(__file__).parents[2] / "docs" / "layers"
EXAMPLES = [
    (layer, yaml.safe_load(block))
    for layer in LAYERS
    for block in re.findall(
        r"^```yaml\n(case: .*?)^```$",
        (PAGES / f"{layer}.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
]


@pytest.mark.parametrize(
    ("layer", "case"), [pytest.param(layer, case, id=f"{layer}: {case['case']}") for layer, case in EXAMPLES]
)
def test_a_worked_example_of_the_docs_is_what_the_layer_says(jail, layer, case):
    said = rendered(evaluated(case, layer, jail), layer).splitlines()
    for line in case["scores"].splitlines():
        assert line in said, said
        said = said[said.index(line) + 1 :]


def test_the_docs_work_an_example_for_every_score():
    shown = {
        line.split()[0] for _, case in EXAMPLES for line in case["scores"].splitlines() if line[:1] == " "
    }
    emitted = {
        line.split()[0]
        for _, case in CASES
        for line in case["scores"].splitlines()
        if re.match(r"  [a-z_]+ ", line) and "raises" not in case
    }
    assert emitted <= shown


def test_the_index_lists_every_case():
    text = INDEX.read_text(encoding="utf-8")
    head = text.partition(LIST)[0]
    whole = head + LIST + "\n".join(listed()) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        INDEX.write_text(whole, encoding="utf-8")
    else:
        assert text == whole


def listed() -> Iterator[str]:
    """The list of the index: each layer, its files with what they specify, and their cases."""
    for layer in LAYERS:
        count = sum(path.parent.name == layer for path, _ in CASES)
        yield f"\n### {layer.value.capitalize()}: {count} cases"
        for path in (path for path in FILES if path.parent.name == layer):
            about = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            yield f"\n[{path.name}]({path.parent.name}/{path.name}): {about}\n"
            yield from (f"- {case['case']}" for of, case in CASES if of == path)


@pytest.mark.parametrize("layer", LAYERS)
def test_each_layer_has_a_full_specification(layer):
    found = [case["scores"] for path, case in CASES if path.parent.name == layer]
    assert len(found) >= 20
    words = " ".join(found)
    assert all(f" {verdict} " in words for verdict in ("1 pass", "0 fail", "skipped", "errored"))


def evaluated(case: Mapping[str, Any], layer: Layer, jail: Sandbox) -> TraceEvaluation:
    """What the engine makes of a case: real scanners and, unless the case says otherwise, the real jail."""
    own: list[Evaluator] = [Lint()] if case.get("lint") else []
    own += [NoCode([case["without_code"]])] if "without_code" in case else []
    own += [_Broken(layer, case["raises"])] if "raises" in case else []
    off = case.get("replay") is False
    engine = Engine(
        pipeline=Pipeline(parse_policy(case.get("policy", {}), "the golden case")),
        sandbox=None if off else scripted(case) if "script" in case else jail,
        replay_disabled_reason="replay is switched off",
        evaluators=own,
        layers=[layer],
        fixtures=FixtureBook((fixtures(case["fixtures"]),)) if "fixtures" in case else None,
        repeat_share=1.0 if case.get("repeat") else 0.0,
    )
    tests = {AGENT: read_tests(case["tests"], "tests")} if "tests" in case else None
    return engine.evaluate(trace_in_short(with_a_key(case)), tests)


def with_a_key(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """The case with a made-up key in its place."""
    steps = [{key: _filled(value) for key, value in step.items()} for step in case.get("steps", ())]
    return {**case, "steps": steps}


def _filled(value: object) -> object:
    return value.replace(KEY, _MADE_UP_KEY) if isinstance(value, str) else value


def fixtures(given: Mapping[str, Any]) -> FixtureSet:
    """Files by name, and whether one of them is a database."""
    files = {name: text.encode() for name, text in given.get("files", {}).items()}
    database = Database(file=given["database"]) if "database" in given else None
    return FixtureSet(files=files, database=database)


def scripted(case: Mapping[str, Any]) -> ScriptedSandbox:
    """A sandbox that answers as a case's `script` says, for what no machine does twice alike."""
    steps = {}
    for step, said in zip(case["steps"], case["script"], strict=True):
        tried = [Attempt(AttemptKind(kind), target, allowed=False) for kind, target in said.get("tries", ())]
        execution = Execution(
            FailureClass(said.get("class", "ok")),
            wall_s=said.get("wall_s", 0.0),
            peak_memory_bytes=round(said.get("memory_mb", 0) * _MB),
            stdout=said.get("prints", ""),
            result=said.get("value"),
            result_text=str(said["value"]) if "value" in said else None,
            attempts=tuple(tried),
        )
        steps[step["ran"]] = ScriptedStep(execution)
    return ScriptedSandbox(steps=_Script(steps))


class _Script(dict[str, ScriptedStep]):
    """Steps by source; what else a replay runs, its prelude, ends well."""

    def __contains__(self, source: object) -> bool:
        return True

    def __missing__(self, source: str) -> ScriptedStep:
        return ScriptedStep(Execution(FailureClass.OK))


class _Broken(Evaluator):
    """An evaluator beside the layer's own that fails."""

    name, version, cost = "broken", "1", Cost.RULES

    def __init__(self, layer: Layer, message: str) -> None:
        self.layer = layer
        self._message = message

    def judge(self, evidence: object, so_far: object) -> list[Judgement]:
        raise RuntimeError(self._message)


def rendered(evaluation: TraceEvaluation, layer: Layer) -> str:
    """Every verdict of the layer as lines for people, by place: the run, then its steps. No metrics."""
    places: dict[str, list[str]] = {}
    for score in (score for score in evaluation.scores if score.layer is layer and not _is_metric(score)):
        place = _place(score.span_id)
        snippet = next(
            (s for run in evaluation.runs for s in run.run.snippets if s.id == score.snippet_id), None
        )
        if snippet is not None and not snippet.executed:
            place += " (proposed)" if snippet.refusal is None else " (refused)"
        places.setdefault(place, []).extend(_lines(score))
    return "".join(f"{place}\n" + "".join(f"  {line}\n" for line in lines) for place, lines in places.items())


def _is_metric(score: Score) -> bool:
    return isinstance(score.outcome, Scored) and score.outcome.raw is not None


def _place(span_id: str) -> str:
    if span_id == AGENT:
        return "run"
    where = {"b": ", what the model said", "d": ", tool"}.get(span_id[-1], "")
    return f"step {int(span_id[:15] if where else span_id, 16)}{where}"


def _lines(score: Score) -> Iterator[str]:
    yield f"{score.name:<17}{_verdict(score.outcome):<10}{_words(score.outcome)}".rstrip()
    for fact in score.outcome.evidence if isinstance(score.outcome, Scored) else ():
        where = f" [{_place(fact.span_id)}]" if fact.span_id else ""
        sides = [
            f"{side} {str(said)!r}"
            for side, said in (("recorded", fact.recorded), ("replayed", fact.replayed))
            if said
        ]
        yield f"  · {fact.what}{where}{': ' if sides else ''}{', '.join(sides)}"


def _verdict(outcome: Outcome) -> str:
    if isinstance(outcome, Scored):
        return f"{round(outcome.value, 2):g} {outcome.label or '–'}"
    return type(outcome).__name__.lower()


def _words(outcome: Outcome) -> str:
    match outcome:
        case Scored(explanation=words) | Skipped(reason=words):
            return words
        case Errored(error_type=kind, message=message):
            return f"{kind}: {message}"


def rewrite(path: Path, name: str, scores: str) -> None:
    """Put these scores into the case of this name; the rest of the file stays as it was written."""
    documents = path.read_text(encoding="utf-8").rstrip("\n").split(BETWEEN)
    at = next(at for at, text in enumerate(documents) if yaml.safe_load(text)["case"] == name)
    written = documents[at].split(EXPECTED)[0].rstrip("\n")
    indented = "".join(f"  {line}\n" for line in scores.splitlines())
    documents[at] = f"{written}{EXPECTED}{indented}".rstrip("\n")
    path.write_text(BETWEEN.join(documents) + "\n", encoding="utf-8")
