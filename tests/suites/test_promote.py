from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.store import open_store
from spanproof.suites import Case, SuiteError, load_case, load_suite, promote_run
from spanproof.suites.files import write_case
from spanproof.trace import (
    Cohort,
    Language,
    Payload,
    RecordedCall,
    Run,
    Snippet,
    Span,
    SpanError,
    SpanKind,
    Step,
    trace_of,
)

RUN_ID = "a" * 16


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_promoting_a_run_twice_changes_no_byte(evaluation, suite):
    first = promote_run(evaluation, RUN_ID, suite)
    before = files(suite)
    assert promote_run(evaluation, RUN_ID, suite) == first
    assert promote_run(evaluation, RUN_ID, suite, replace=True) == first
    assert files(suite) == before


def test_two_suites_of_the_same_run_are_the_same_bytes(evaluation, suite, tmp_path):
    promote_run(evaluation, RUN_ID, suite)
    other = tmp_path / "elsewhere" / "shop"
    promote_run(evaluation, RUN_ID, other)
    assert files(suite) == files(other)


def test_a_case_holds_task_code_tape_and_what_the_run_did_wrong(evaluation, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    folder = suite / "cases" / case.id
    assert case.id.startswith("pricing-agent-")
    head = yaml.safe_load((folder / "case.yaml").read_text())
    assert head["task"] == "What does a box of tea cost, in dollars?"
    (grounded,) = [each for each in head["expectation"] if each["layer"] == "groundedness"]
    assert grounded["verdict"] == "fail"
    assert "$54.00" in grounded["explanation"]
    assert (folder / "snippets" / "01.py").read_text() == "cents = price_of('tea')\nprint(cents)"
    calls = json.loads((folder / "tape.json").read_text())[0]["tape"]
    assert [(call["tool"], call["args"], call["result"]["value"]) for call in calls] == [
        ("price_of", ["tea"], 4500)
    ]


def test_a_case_read_back_is_the_run_that_was_promoted(evaluation, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    assert case.trace == evaluation.trace
    assert case.snippets == evaluation.runs[0].run.snippets
    assert load_suite(suite) == [case]


def test_notes_and_expectations_edited_by_people_stay(evaluation, suite):
    path = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id / "case.yaml"
    path.write_text(path.read_text().replace("notes: ''", "notes: the invoice of May"))
    assert promote_run(evaluation, RUN_ID, suite).notes == "the invoice of May"
    assert promote_run(evaluation, RUN_ID, suite, replace=True).notes == "the invoice of May"


def test_a_run_promoted_from_the_store_is_the_same_case(evaluation, suite, tmp_path):
    direct = promote_run(evaluation, RUN_ID, suite)
    with open_store(tmp_path / "store") as store:
        store.write([evaluation])
        stored = store.evaluation(evaluation.trace.trace_id)
    assert stored is not None
    shutil.rmtree(tmp_path / "store")
    assert promote_run(stored, RUN_ID, tmp_path / "from-store") == direct


def test_a_run_that_is_not_there_is_reported_with_those_that_are(evaluation, suite):
    with pytest.raises(SuiteError, match=r"has no run b+; its runs are: a+ \(pricing agent\)"):
        promote_run(evaluation, "b" * 16, suite)
    assert not suite.exists()


def hostile() -> TraceEvaluation:
    source = "print('\ud800\x00')\r\n\ttab = '…'  # no newline at the end"
    span = Span("7" * 32, RUN_ID, None, "../../etc/passwd", SpanKind.AGENT, 1, 2, attributes={"b": b"\xff"})
    snippets = tuple(
        Snippet(
            id=f"{number:032x}",
            trace_id=span.trace_id,
            span_id=RUN_ID,
            path="p",
            language=language,
            source=source,
            executed=True,
            error=SpanError("E", "\ud800"),
            tape=(RecordedCall("t", (float("nan"), 2**80), {"$bytes": "x"}, Payload("", None)),),
        )
        for number, language in enumerate(Language)
    )
    run = Run(
        span.trace_id,
        RUN_ID,
        "../../etc/passwd",
        "yes: [no\n\x07\ud800",
        None,
        (Step(1, RUN_ID, snippets=snippets),),
        cohort=Cohort(agent="../../etc/passwd", task="- null"),
    )
    return TraceEvaluation(trace_of([span]), (RunEvaluation(run, {}, NoReplay("off"), ()),), ())


def test_hostile_names_and_sources_stay_inside_the_suite_and_come_back(suite):
    case = promote_run(hostile(), RUN_ID, suite)
    assert case.id.startswith("etc-passwd-")
    (run,) = hostile().runs
    assert case.task == run.run.task
    assert case.cohort == run.run.cohort
    assert [snippet.source for snippet in case.snippets] == [s.source for s in run.run.snippets]
    assert {path.suffix for path in (suite / "cases" / case.id / "snippets").iterdir()} == {
        ".py", ".sh", ".sql", ".js", ".ts", ".json", ".yaml", ".html", ".txt",
        ".c", ".cpp", ".cs", ".go", ".java", ".jl", ".kt", ".lua", ".pl", ".php", ".ps1", ".r", ".rb", ".rs",
        ".scala", ".swift",
    }  # fmt: skip
    assert case.snippets[0].tape[0].args[1] == 2**80


def test_fewer_snippets_frozen_anew_leave_no_stale_file(evaluation, suite):
    case = promote_run(evaluation, RUN_ID, suite)
    run = evaluation.runs[0]
    shorter = replace(run, run=replace(run.run, steps=run.run.steps[:1]))
    promote_run(TraceEvaluation(evaluation.trace, (shorter,), ()), RUN_ID, suite, replace=True)
    assert [path.name for path in (suite / "cases" / case.id / "snippets").iterdir()] == ["01.py"]


@pytest.mark.parametrize("name", ["trace.json", "tape.json", "snippets/01.py"])
def test_a_frozen_file_that_was_edited_is_reported(evaluation, suite, name):
    folder = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(SuiteError, match="is no longer what was frozen"):
        load_case(folder)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format: 1", "format: 2", "format 2, this Spanproof reads 1"),
        ("format: 1", "format: [", "not YAML"),
        (
            "verdict: pass",
            "verdict: maybe",
            "verdict must be pass, fail, open, skipped or errored, got 'maybe'",
        ),
        ("snippet: 2", "snippet: 9", "snippet must be a number from 1 to 2, got 9"),
        ("notes: ''", "notes: 2026-13-45", "not YAML"),
        ("layer: execution", "layer: vibes", "'vibes' is not a valid Layer"),
        ("agent: pricing", "agnt: pricing", "no key 'agnt' is known"),
        ("  tape.json:", "  ../../x:", "`frozen` must name"),
        ("  snippets/01.py:", "  ../../secret:", "which is no file of a case"),
    ],
)
def test_a_case_file_that_says_nonsense_is_reported_with_its_place(evaluation, suite, old, new, words):
    path = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id / "case.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(SuiteError) as caught:
        load_case(path.parent)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_frozen_file_is_reported(evaluation, suite):
    folder = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id
    (folder / "tape.json").unlink()
    with pytest.raises(SuiteError, match=r"tape\.json: No such file or directory; promote the run again"):
        load_case(folder)


@pytest.mark.parametrize("name", ["case.yaml", "trace.json", "tests.yaml", "fixtures.yaml"])
@pytest.mark.parametrize("target", ["/etc/hostname", "/dev/zero"])
def test_a_file_of_a_case_that_links_out_of_its_folder_is_refused(evaluation, suite, name, target):
    folder = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    with pytest.raises(SuiteError, match=f"{name}.*lies outside"):
        load_case(folder)


def test_a_folder_that_is_no_suite_is_reported(tmp_path):
    with pytest.raises(SuiteError, match=r"is no suite: it has no suite\.yaml"):
        load_suite(tmp_path)


def test_line_endings_are_kept_from_git(evaluation, suite):
    promote_run(evaluation, RUN_ID, suite)
    assert (suite / ".gitattributes").read_text() == "cases/** -text\n"


GOLDEN = Path(__file__).parent.parent / "golden" / "suites" / "shop"


def test_the_files_of_a_case_are_those_of_the_golden_suite(evaluation, suite):
    """Format 1, byte by byte; after a wanted change set SPANPROOF_GOLDEN=write and look at the difference."""
    shop = suite.parent / "shop"
    promote_run(evaluation, RUN_ID, shop)
    if os.environ.get("SPANPROOF_GOLDEN") == "write":
        shutil.rmtree(GOLDEN, ignore_errors=True)
        shutil.copytree(shop, GOLDEN)
    made, golden = files(shop), files(GOLDEN)
    assert made.keys() == golden.keys()
    for name, content in golden.items():
        if not name.endswith("case.yaml"):  # what it says comes from the layers, whose words may change
            assert made[name] == content, name
    (name,) = (name for name in golden if name.endswith("case.yaml"))
    assert yaml.safe_load(made[name]).keys() == yaml.safe_load(golden[name]).keys()


@given(st.data())
@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
def test_a_case_file_damaged_anywhere_is_a_case_or_one_clear_error(damaged, data):
    path, whole = damaged
    at = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.integers(0, 60))
    put = data.draw(st.binary(max_size=6) | st.sampled_from([b"null", b"[]", b": {", b"-1", b"\n- x"]))
    path.write_bytes(whole[:at] + put + whole[at + length :])
    try:
        load_case(path.parent)
    except SuiteError as problem:
        assert str(path.parent) in str(problem)  # noqa: PT017 - both ends are claims


@pytest.fixture
def damaged(evaluation, suite) -> tuple[Path, bytes]:
    path = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id / "case.yaml"
    return path, path.read_bytes()


def test_a_suite_is_written_by_hand(tmp_path):
    folder = tmp_path / "mine" / "cases" / "sum"
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text("task: What is 2+2?\nmust:\n- answer: {number: 4}\n")
    with pytest.raises(SuiteError, match="or write one with the line `format: 1`"):
        load_suite(tmp_path / "mine")
    (tmp_path / "mine" / "suite.yaml").write_text("format: 1\n")
    (case,) = load_suite(tmp_path / "mine")
    assert (case.id, case.task) == ("sum", "What is 2+2?")


@pytest.mark.parametrize("name", ["case.yaml", "fixtures.yaml", "tests.yaml"])
def test_a_pipe_in_a_suite_is_refused_and_not_waited_for(evaluation, suite, name):
    folder = suite / "cases" / promote_run(evaluation, RUN_ID, suite).id
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(SuiteError, match=f"{name}.*not a regular file"):
        load_case(folder)


@pytest.mark.parametrize("name", ["snippets", "case.yaml", "suite.yaml", ".gitattributes"])
def test_nothing_is_written_or_deleted_through_a_link_that_came_with_a_suite(suite, tmp_path, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text("kept")
    case = Case(id="a", task="Add them.")
    write_case(suite, case)
    link = (suite if name in ("suite.yaml", ".gitattributes") else suite / "cases" / "a") / name
    link.unlink(missing_ok=True)
    link.symlink_to(outside if name == "snippets" else outside / "key")
    with pytest.raises(SuiteError, match=f"{name} is a link.*remove the link"):
        write_case(suite, case)
    (suite / "cases" / "b").symlink_to(outside)
    with pytest.raises(SuiteError, match=r"b leads out of .*remove the link"):
        write_case(suite, Case(id="b", task="Add them."))
    assert (outside / "key").read_text() == "kept"
