from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from golden_traces import trace_in_short

from spanproof.cli.app import run
from spanproof.cli.output.console import console
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.structure import Structure
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.store.trace_list import TraceTerms
from spanproof.store.trace_listing import TraceListing
from spanproof.trace import Cause, Label, Layer, Scored, Skipped, State
from spanproof.trace.codec import from_plain


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory, evaluation) -> str:
    """A store with a failing trace 0xabc…, a good one and one that is near."""
    good = {layer: Scored(1.0, Label.PASS, "fine") for layer in Layer}
    directory = tmp_path_factory.mktemp("stored")
    with open_store(directory) as store:
        store.write(
            [
                evaluation(0xABC << 116),
                evaluation((0xABD << 116) + 1, verdicts=good, start_ns=1_790_000_001_000_000_000),
            ]
        )
    return str(directory)


def test_traces_are_listed_with_a_verdict_per_layer(location, capfd, monkeypatch):
    monkeypatch.setattr(console, "width", 200)
    assert run(["traces", "--store", location]) == 0
    header, good, failing, totals = capfd.readouterr().out.splitlines()
    assert header.split() == ["run", "trace", "started", "(UTC)", *Layer, "why"]
    assert good.startswith("PASS")
    assert "abd000000000" in good
    assert "abc000000000" in failing
    assert failing.startswith("FAIL")
    assert "groundedness: $54.00 is said, 4500 cents were returned" in failing
    assert totals == "2 runs: 1 passes, 1 fails"


def test_traces_for_machines_are_a_line_each(location, capfd):
    assert run(["traces", "--store", location, "--json", "--failing"]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    row = json.loads(line)
    assert row["trace_id"].startswith("abc")
    (found,) = row["runs"]
    assert (row["state"], found["state"]) == ("fail", "fail")
    assert found["layers"]["groundedness"]["label"] == "fail"
    assert found["layers"]["trajectory"] == {
        "state": "skipped",
        "outcome": "skipped",
        "reason": "the task is hidden: switch content capture on",
        "cause": "evaluator",
        "detail": "",
    }
    assert found["layers"]["execution"]["reason"] == "SandboxBroken: the supervisor went away"


def test_failing_may_name_a_layer(location, capfd):
    assert run(["traces", "--store", location, "--json", "--failing", "--layer", "boundary"]) == 0
    assert capfd.readouterr().out == ""


@pytest.fixture(scope="module")
def in_each_state(tmp_path_factory: pytest.TempPathFactory, evaluation) -> str:
    """A store with a trace that passes, one that fails, two that are open and one that was skipped."""
    passed = dict.fromkeys(Layer, Scored(1.0, Label.PASS, "fine"))
    left_open = Scored(0.5, None, "not settled", cause=Cause.VALUE_NOT_FOUND, detail="$77.31")
    runs = (
        passed,
        passed | {Layer.GROUNDEDNESS: Scored(0.0, Label.FAIL, "wrong"), Layer.CORRECTNESS: left_open},
        passed | {Layer.GROUNDEDNESS: left_open},
        passed | {Layer.CORRECTNESS: left_open},
        dict.fromkeys(Layer, Skipped("no code", Cause.NO_CODE)),
    )
    directory = tmp_path_factory.mktemp("states") / "store"
    with open_store(directory) as store:
        store.write(
            [
                evaluation(number << 120, verdicts=layers, start_ns=1_790_000_000 * 10**9 + number)
                for number, layers in enumerate(runs, 1)
            ]
        )
    return str(directory)


@pytest.mark.parametrize(
    ("arguments", "numbers"),
    [
        ([], [5, 4, 3, 2, 1]),
        (["--failing"], [2]),
        (["--passing"], [1]),
        (["--state", "open"], [4, 3]),
        (["--state", "open", "--limit", "1"], [4]),
        (["--state", "open", "--state", "fail"], [4, 3, 2]),
        (["--state", "skipped"], [5]),
        (["--state", "errored"], []),
        (["--state", "open", "--layer", "correctness"], [4, 2]),
        (["--state", "open", "--layer", "groundedness"], [3]),
    ],
)
def test_traces_are_chosen_by_state(in_each_state, capfd, arguments, numbers):
    assert run(["traces", "--store", in_each_state, "--json", *arguments]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [int(row["trace_id"], 16) >> 120 for row in rows] == numbers


def test_traces_in_a_state_are_looked_for_page_by_page(in_each_state, monkeypatch):
    monkeypatch.setattr("spanproof.store.trace_listing._LOOKED_AT_ONCE", 2)
    with open_store(in_each_state, read_only=True) as store:
        found = list(TraceListing(store, TraceTerms(states={State.PASS, State.OPEN})).iter_rows(10))
    assert [int(row.trace_id, 16) >> 120 for row in found] == [4, 3, 1]


def test_traces_are_listed_by_their_words_and_by_what_they_took(in_each_state, capfd):
    def list_numbers(*arguments):
        assert run(["traces", "--store", in_each_state, "--json", *arguments]) == 0
        rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        return [int(row["trace_id"], 16) >> 120 for row in rows]

    every = list_numbers()
    assert sorted(list_numbers("--text", "TEA", "--order", "slowest")) == sorted(every)
    assert list_numbers("--text", "tea", "--text", "no such words") == []
    assert list_numbers("--min-tokens", "1000000") == []
    assert list_numbers("--feedback", "thumbs_down") == []


def test_an_open_trace_for_machines_has_its_cause(in_each_state, capfd):
    assert run(["traces", "--store", in_each_state, "--json", "--state", "open", "--limit", "1"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["state"], row["runs"][0]["state"]) == ("open", "open")
    layer = row["runs"][0]["layers"]["correctness"]
    assert (layer["state"], layer["cause"], layer["detail"]) == ("open", "value-not-found", "$77.31")


def test_totals_are_below_the_list(in_each_state, capfd):
    assert run(["traces", "--store", in_each_state]) == 0
    assert capfd.readouterr().out.splitlines()[-3:] == [
        "5 runs: 1 passes, 1 fails, 2 open, 1 skipped",
        "  2 answers hold a value that no source has",
        "  1 run has no code",
    ]


def test_passing_traces_and_those_of_a_cohort_are_listed(location, capfd):
    assert run(["traces", "--store", location, "--json", "--passing"]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    row = json.loads(line)
    assert row["trace_id"].startswith("abd")
    agent = row["runs"][0]["agent"]
    assert run(["traces", "--store", location, "--json", "--passing", "--where", f"agent={agent}"]) == 0
    assert json.loads(capfd.readouterr().out)["trace_id"] == row["trace_id"]
    where = ["--where", "attribute:tenant.id=nobody"]
    assert run(["traces", "--store", location, "--json", *where]) == 0
    assert capfd.readouterr().out == ""


def test_a_trace_is_shown_by_the_start_of_its_id(location, capfd):
    assert run(["show", "abc", "--store", location]) == 0
    out = capfd.readouterr().out
    assert "price_of('tea')" in out
    assert "$54.00 is said, 4500 cents were returned" in out


def test_a_trace_shown_for_machines_is_the_whole_evaluation(location, capfd, evaluation):
    assert run(["show", "ABC", "--store", location, "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    # A terminal's JSON has no lone surrogates; everything else is there.
    assert from_plain(TraceEvaluation, shown).runs == evaluation(0xABC << 116).runs


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ("ab", "trace 'ab' is not one trace: abd"),
        ("fff", "no stored trace has an id that starts with 'fff'"),
        ("abc00000f", "Near it: abc0000000"),
        ("' OR 1", 'no stored trace has an id that starts with "\' OR 1"'),
        ("", "the trace's id is empty"),
    ],
)
def test_a_trace_that_is_not_there_is_reported_with_those_that_are_near(location, capfd, trace, words):
    assert run(["show", trace, "--store", location]) == 2
    assert words in capfd.readouterr().err


def test_a_run_that_is_not_there_is_reported_with_those_that_are(location, capfd):
    assert run(["show", "abc", "--run", "zzz", "--store", location]) == 2
    assert "Name one with --run: aaaaaaaaaaaaaaaa pricer" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--since", "yesterday"], "--since 'yesterday' is no span of time"),
        (["--layer", "boundary"], "Add --failing"),
    ],
)
def test_misuse_exits_2_with_a_remedy(location, capfd, arguments, words):
    assert run(["traces", "--store", location, *arguments]) == 2
    assert words in capfd.readouterr().err


def test_failing_and_passing_exclude_each_other(location, capfd):
    assert run(["traces", "--store", location, "--failing", "--passing"]) == 2
    assert "Give one of them" in capfd.readouterr().err


def test_since_leaves_older_traces_out(location, capfd):
    assert run(["traces", "--store", location, "--since", "1s", "--json"]) == 0
    reported = capfd.readouterr()
    assert reported.out == ""


def test_no_store_is_made_by_looking(tmp_path, capfd):
    assert run(["traces", "--store", str(tmp_path / "none")]) == 2
    assert "there is no store at" in capfd.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_store_a_server_shares_is_read_while_the_server_runs(location):
    with open_store(location, share=True):
        read = subprocess.run(
            [sys.executable, "-m", "spanproof.cli", "traces", "--store", location, "--json"],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert len(read.stdout.splitlines()) == 2
    assert read.returncode == 0


def test_a_store_in_use_is_reported_with_who_uses_it(location):
    with open_store(location):
        reported = subprocess.run(
            [sys.executable, "-m", "spanproof.cli", "traces", "--store", location],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert reported.returncode == 2
    assert f"(process {os.getpid()})" in reported.stderr
    assert "stop it and try again" in reported.stderr


def test_structural_metrics_are_lines_of_the_page(tmp_path, capfd):
    source = "import os\ndef f(x):\n    if x:\n        return 1\n    return 2\nprint(f(1))"
    steps = [{"ran": source, "prints": "1"}]
    engine = Engine(pipeline=Pipeline(), sandbox=None, evaluators=[Structure()])
    with open_store(tmp_path / "store") as store:
        store.write([engine.evaluate(trace_in_short({"steps": steps, "trace_id": "ab" * 16}))])
    assert run(["show", "abab", "--store", str(tmp_path / "store")]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "complexity 2 paths 2 paths through f at line 2 of <session>.py" in shown
    assert "dead_code 0.83 Nothing uses 1 of 6 lines" in shown
