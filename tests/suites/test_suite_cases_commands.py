from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from spanproof.cli.app import run
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.suites import load_suite, promote_run
from spanproof.trace import ExecutedCode, Payload, Span, SpanKind, StepInfo, trace_of

RUN_ID = "a" * 16
DAY_NS = 86_400 * 10**9
NOW_NS = 1_790_000_000_000_000_000
WHERE = "layer = 'boundary' and label = 'fail'"


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A suite with two cases that people wrote."""
    data = tmp_path / "cases.jsonl"
    rows = [
        {"id": "one", "task": "How many?", "must": [{"answer": {"number": 12}}], "tags": ["safe"]},
        {"id": "two", "task": "Which?", "tags": ["risky", "slow"]},
    ]
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert run(["suite", "import", str(tmp_path / "s"), str(data)]) == 0
    return tmp_path / "s"


def test_cases_are_listed_with_version_and_balance(written, capfd):
    capfd.readouterr()
    assert run(["suite", "list", str(written), "--json"]) == 0
    (document,) = lines(capfd.readouterr().out)
    assert [case["id"] for case in document["cases"]] == ["one", "two"]
    assert document["balance"] == {"safe": 0.5, "risky": 0.5, "recovery": 0.0}
    assert run(["suite", "list", str(written), "--tag", "slow"]) == 0
    out = capfd.readouterr().out
    assert "two" in out
    assert "How many?" not in out
    (written / "cases" / "one" / "note.txt").write_text("x")
    assert run(["suite", "list", str(written), "--json"]) == 0
    (changed,) = lines(capfd.readouterr().out)
    assert changed["version"] != document["version"]


def test_a_case_is_shown_by_the_start_of_its_id(written, capfd):
    assert run(["suite", "show", str(written), "on"]) == 0
    out = capfd.readouterr().out
    assert "number: 12" in out
    assert run(["suite", "show", str(written), "one", "--json"]) == 0
    (row,) = lines(capfd.readouterr().out)
    assert row["must"] == [{"answer": {"number": 12}}]
    assert run(["suite", "show", str(written), "three"]) == 2
    assert "The cases are: one, two" in capfd.readouterr().err


def test_options_change_a_case_and_a_bad_one_changes_nothing(written, capfd):
    words = [
        "--task",
        "How many now?",
        "--tag",
        "fast",
        "--untag",
        "safe",
        "--must",
        "boundary.score == pass",
    ]
    words += ["--must-not", "call: {tool: delete_order}", "--notes", "see invoice"]
    assert run(["suite", "edit", str(written), "one", *words]) == 0
    (case, _) = load_suite(written)
    assert (case.task, case.tags, case.notes) == ("How many now?", ("fast",), "see invoice")
    assert [str(each) for each in case.requirements] == [
        '{"answer": {"number": 12}}',
        "boundary.score == pass",
        'must not: {"call": {"tool": "delete_order"}}',
    ]
    assert run(["suite", "edit", str(written), "one", *words]) == 0
    assert load_suite(written)[0] == case
    assert run(["suite", "edit", str(written), "one", "--must", "boundary.score => pass"]) == 2
    assert load_suite(written)[0] == case


def test_an_editor_is_checked_before_its_text_is_kept(written, tmp_path, monkeypatch, capfd):
    editor = tmp_path / "editor.sh"
    monkeypatch.setenv("VISUAL", f"sh {editor}")
    editor.write_text('sed -i "s/How many/How few/" "$1"\n')
    assert run(["suite", "edit", str(written), "one"]) == 0
    assert load_suite(written)[0].task == "How few?"
    editor.write_text('echo "musst: []" >> "$1"\n')
    assert run(["suite", "edit", str(written), "one"]) == 2
    assert "no key 'musst' is known" in capfd.readouterr().err
    assert load_suite(written)[0].task == "How few?"


def test_cases_are_removed_with_their_files(written, capfd):
    assert run(["suite", "remove", str(written), "tw"]) == 0
    assert [case.id for case in load_suite(written)] == ["one"]
    assert not (written / "cases" / "two").exists()
    assert run(["suite", "remove", str(written), "two"]) == 2


def test_a_difference_names_cases_and_keys(written, tmp_path, capfd):
    run(["suite", "export", str(written), "--out", str(tmp_path / "all.csv"), "--csv"])
    run(["suite", "import", str(tmp_path / "t"), str(tmp_path / "all.csv")])
    capfd.readouterr()
    assert run(["suite", "diff", str(written), str(tmp_path / "t")]) == 0
    assert capfd.readouterr().out == "no difference\n"
    run(["suite", "edit", str(tmp_path / "t"), "one", "--task", "How few?"])
    run(["suite", "remove", str(tmp_path / "t"), "two"])
    (tmp_path / "t" / "cases" / "one" / "tests.yaml").write_text(
        "entry_point: f\nunit: 'def test_a(): pass'\n"
    )
    capfd.readouterr()
    assert run(["suite", "diff", str(written), str(tmp_path / "t"), "--json"]) == 0
    (found,) = lines(capfd.readouterr().out)
    assert (found["added"], found["removed"]) == ([], ["two"])
    assert {each["key"]: (each["before"], each["now"] is not None) for each in found["changed"]["one"]} == {
        "task": ("How many?", True),
        "tests.yaml": (None, True),
    }


def test_a_frozen_run_is_exported_with_its_recorded_calls(evaluation, suite, tmp_path, capfd):
    case = promote_run(evaluation, RUN_ID, suite)
    capfd.readouterr()
    assert run(["suite", "export", str(suite)]) == 0
    (row,) = lines(capfd.readouterr().out)
    assert row["source"] == {"form": "spanproof", "trace_id": "5" * 32}
    assert [call["tool"] for call in row["recorded"]] == ["price_of"]
    out = tmp_path / "frozen.jsonl"
    assert run(["suite", "export", str(suite), "--out", str(out)]) == 0
    assert run(["suite", "import", str(tmp_path / "copy"), str(out), "--json"]) == 0
    (copied,) = load_suite(tmp_path / "copy")
    assert (copied.id, copied.task, copied.trace) == (case.id, case.task, None)


def unsafe(
    engine: Engine, number: int, task: str, start_ns: int, code: str = "open('/etc/shadow').read()"
) -> TraceEvaluation:
    """A run whose code reads a file that it may not, judged without a sandbox."""
    trace_id = f"{number:032x}"

    def span(position: int, parent: str | None, name: str, kind: SpanKind, **more: object) -> Span:
        span_id = RUN_ID if parent is None else f"{position:016x}"
        at = start_ns + position
        return Span(trace_id, span_id, parent, name, kind, at, at + 1_000, "spanproof", **more)

    executed = ExecutedCode(code, "spanproof.code.source", "python", logs="x\n")
    trace = trace_of(
        [
            span(0, None, "clerk", SpanKind.AGENT, agent="clerk", input=Payload(task, task)),
            span(1, RUN_ID, "Step 1", SpanKind.CHAIN, step=StepInfo(1), code=executed, observation="x"),
        ]
    )
    return engine.evaluate(trace)


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with four failing runs, two of which behave the same, an old one, and a harmless one."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not needed here")
    evaluations = [
        unsafe(engine, 1, "Look up order 17", NOW_NS - 4 * 10**9),
        unsafe(engine, 2, "Look up order 18", NOW_NS - 3 * 10**9),
        unsafe(engine, 3, "Delete all orders", NOW_NS - 2 * 10**9),
        unsafe(engine, 4, "Look up order 9", NOW_NS - 30 * DAY_NS),
        unsafe(engine, 5, "Add two numbers", NOW_NS - 10**9, "print(1 + 1)"),
    ]
    folder = tmp_path_factory.mktemp("production") / "store"
    with open_store(folder) as store:
        store.write(evaluations)
    return str(folder)


@pytest.fixture
def production(location: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store, a moment after its newest run."""
    monkeypatch.setattr("spanproof.cli.options.store.time.time_ns", lambda: NOW_NS)
    return location


def promoted(
    suite: Path, location: str, capfd: pytest.CaptureFixture[str], *options: str
) -> list[tuple[str, str]]:
    capfd.readouterr()
    arguments = ["promote", "--where", WHERE, "--suite", str(suite), "--store", location, "--json", *options]
    assert run(arguments) == 0
    return [(row["trace_id"][-1], row["change"]) for row in lines(capfd.readouterr().out)]


def test_runs_are_promoted_by_a_query_newest_first_and_each_behaviour_once(production, suite, capfd):
    first = promoted(suite, production, capfd, "--since", "7d")
    assert first == [("3", "added"), ("2", "added"), ("2", "duplicate")]
    files = {path: path.read_bytes() for path in suite.rglob("*") if path.is_file()}
    again = promoted(suite, production, capfd, "--since", "7d")
    assert again == [("3", "known"), ("2", "known"), ("2", "duplicate")]
    assert {path: path.read_bytes() for path in suite.rglob("*") if path.is_file()} == files


def test_a_limit_holds_over_repetitions(production, suite, capfd):
    assert promoted(suite, production, capfd, "--limit", "1") == [("3", "added")]
    assert promoted(suite, production, capfd, "--limit", "1") == [("3", "known")]


def test_duplicates_are_kept_where_that_is_wanted(production, suite, capfd):
    found = promoted(suite, production, capfd, "--keep-duplicates")
    assert [change for _, change in found] == ["added"] * 4
    assert len(load_suite(suite)) == 4


def test_a_query_that_matches_nothing_and_one_that_never_can(production, suite, capfd):
    arguments = ["promote", "--suite", str(suite), "--store", production, "--where"]
    assert run([*arguments, "agent = 'nobody-of-that-name'"]) == 0
    assert "0 runs: none matched" in capfd.readouterr().out
    assert not suite.exists()
    assert run([*arguments, "layer = 'bondary'"]) == 2
    assert "did you mean 'boundary'?" in capfd.readouterr().err
    assert run([*arguments, WHERE, "abc"]) == 2
    assert "--where is given with traces" in capfd.readouterr().err
    assert run(["promote", "--suite", str(suite), "--store", production]) == 2
    assert run(["promote", "0", "--since", "1d", "--suite", str(suite), "--store", production]) == 2


def test_a_summary_is_printed_for_people(production, suite, capfd):
    assert run(["promote", "--where", WHERE, "--suite", str(suite), "--store", production]) == 0
    out = capfd.readouterr().out
    assert "Delete all orders" in out
    assert "4 runs: 2 added, 2 duplicate" in out


def test_an_explicit_trace_is_added_even_if_it_behaves_as_another(production, suite, capfd):
    for trace in ("0" * 31 + "1", "0" * 31 + "2"):
        assert run(["promote", trace, "--suite", str(suite), "--store", production]) == 0
    assert "the suite may not need both" in capfd.readouterr().err
    assert len(load_suite(suite)) == 2


def test_what_people_wrote_stays_when_a_case_is_promoted_anew(evaluation, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    path = suite / "cases" / case.id / "case.yaml"
    head = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**head, "tags": ["safe"], "source": {"by": "ann"}}, sort_keys=False))
    again = promote_run(evaluation, RUN_ID, suite, replace=True)
    assert (again.tags, dict(again.source)) == (("safe",), {"by": "ann"})
    assert replace(again, tags=case.tags, source={}) == case
