from __future__ import annotations

import json
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from spanproof.cli.app import run as run_command
from spanproof.experiments import (
    CaseStatus,
    Change,
    ExperimentError,
    Settings,
    Tools,
    TrialVerdict,
    build_module_agent,
    build_program_agent,
    build_service_agent,
    evaluate_again,
    read_baseline,
    run_experiment,
)
from spanproof.experiments.scores import list_scores

MUST = [
    "groundedness.score == pass",
    {"answer": {"contains": "45.00"}},
    {"call": {"tool": "refund_lines", "args": {"order_id": "A-17"}}},
]
RECORDED = Settings(tools=Tools.RECORDED, timeout_s=60)


def agent(name: str):
    return build_module_agent(f"support_agents:{name}")


def plain(name: str):
    return build_module_agent(f"plain_agents:{name}")


def test_the_misquoting_agent_fails_and_the_mended_one_passes(write_suite, engine, tmp_path):
    suite = write_suite(refund={"must": MUST})

    bad = run_experiment(agent("misquoting"), suite, tmp_path / "bad", engine, RECORDED)
    good = run_experiment(agent("mended"), suite, tmp_path / "good", engine, RECORDED)

    (case,) = bad.cases
    assert (bad.passed, case.status) == (False, CaseStatus.FAILED)
    assert case.trials[0].layer == "groundedness"
    assert "54.00" in case.trials[0].reason
    assert good.passed
    assert good.cases[0].trials[0].findings[0].holds is True
    comparison = good.compare(bad)
    assert (comparison.fixed, comparison.regressed, comparison.difference.mean) == (("refund",), (), 1.0)
    assert comparison.change is Change.NONE_SHOWN, "one case shows nothing"


@pytest.mark.parametrize(
    ("target", "tool"),
    [
        ("support_agents:mended", "refund_lines"),
        ("framework_agents:graph", "refund_cents"),
        ("framework_agents:handler", "look_up"),
    ],
)
def test_the_tools_of_each_framework_answer_from_the_record(write_suite, engine, tmp_path, target, tool):
    must = [{"answer": {"contains": "45.00"}}, {"call": {"tool": tool, "args": {"order_id": "A-17"}}}]
    suite = write_suite(refund={"must": must})
    found = run_experiment(build_module_agent(target), suite, tmp_path / "x", engine, RECORDED)
    (trial,) = found.trials
    assert (trial.verdict, trial.reason, trial.unknown_calls) == (TrialVerdict.PASSED, "", ())


def test_a_call_without_a_recorded_result_is_refused_and_reported(write_suite, engine, tmp_path):
    suite = write_suite(refund={"must": [{"answer": {"contains": "45"}}]})
    found = run_experiment(agent("curious"), suite, tmp_path / "x", engine, RECORDED)
    (trial,) = found.trials
    assert trial.verdict is TrialVerdict.FAILED
    assert trial.unknown_calls == ({"tool": "refund_lines", "args": [], "kwargs": {"order_id": "B-99"}},)


def test_a_recorded_error_is_raised_again(write_suite, engine, tmp_path):
    error = {"type": "requests.exceptions.Timeout", "message": "after 3 s"}
    recorded = [{"tool": "refund_lines", "args": {"order_id": "A-17"}, "error": error}]
    suite = write_suite(refund={"recorded": recorded, "must": ["execution.score == fail"]})
    found = run_experiment(agent("mended"), suite, tmp_path / "x", engine, RECORDED)
    (run,) = found.load_row(found.trials[0])["runs"]
    assert any("Timeout" in (score["explanation"] or "") for score in run["scores"])


def test_some_trials_of_a_wavering_agent_fail_and_each_seed_gives_the_same_again(
    write_suite, engine, tmp_path
):
    suite = write_suite(refund={"must": MUST})
    settings = Settings(trials=8, tools=Tools.RECORDED)
    first = run_experiment(agent("wavering"), suite, tmp_path / "1", engine, settings)
    second = run_experiment(agent("wavering"), suite, tmp_path / "2", engine, settings)
    (case,) = first.cases
    assert case.status is CaseStatus.FLAKY
    assert [trial.answer for trial in case.trials] == [trial.answer for trial in second.cases[0].trials]
    assert first.compute_pass_at(8) == 1.0
    assert first.compute_pass_hat(8) == 0.0

    # It is quarantined only where the baseline was flaky, too.
    steady = run_experiment(agent("mended"), suite, tmp_path / "steady", engine, RECORDED)
    beside_flaky = replace(first, baseline=read_baseline(tmp_path / "2"), quarantine=True)
    beside_steady = replace(first, baseline=read_baseline(tmp_path / "steady"), quarantine=True)
    assert beside_flaky.cases[0].quarantined
    assert beside_flaky.conclusion.endswith("every case is quarantined: flaky here and in the baseline")
    assert not beside_steady.cases[0].quarantined
    assert steady.passed


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raising", "it raised LookupError: no such order"),
        ("exiting", "its process ended with exit code 9"),
        ("sleeping", "it did not answer within 1 s"),
    ],
)
def test_an_agent_that_gives_no_answer_fails_with_the_reason(write_suite, engine, tmp_path, name, reason):
    suite = write_suite(refund={}, second={})
    settings = Settings(timeout_s=1 if name == "sleeping" else 60)
    found = run_experiment(plain(name), suite, tmp_path / "x", engine, settings)
    assert [trial.verdict for trial in found.trials] == [TrialVerdict.FAILED] * 2
    assert all(reason in trial.reason for trial in found.trials)


def test_a_function_is_an_agent_and_gets_inputs_and_files(write_suite, engine, tmp_path):
    about = {
        "inputs": {"path": "notes/a.txt"},
        "files": {"notes/a.txt": "45.00"},
        "must": [{"answer": {"equals": 45}}],
    }
    found = run_experiment(
        plain("reads_file"), write_suite(refund=about), tmp_path / "x", engine, Settings(timeout_s=60)
    )
    assert found.trials[0].answer == "45.00"
    assert found.passed


@pytest.mark.parametrize("about", [{}, {"requires": ["boundary"]}, {"requires": []}])
def test_an_agent_that_does_nothing_has_not_passed(write_suite, engine, tmp_path, about):
    suite = write_suite(a=about)
    found = run_experiment(plain("idle"), suite, tmp_path / "out", engine)
    assert (found.verdict, found.passed) == ("inconclusive", False)
    assert "; 1 trial: not judged: no required layer has a verdict" in found.conclusion


def test_an_agent_that_cannot_be_made_ends_the_experiment_at_once(write_suite, engine, tmp_path):
    suite = write_suite(refund={})
    with pytest.raises(ExperimentError, match="cannot be made: KeyError: 'MODEL_NAME'"):
        run_experiment(plain("unmade"), suite, tmp_path / "x", engine)
    with pytest.raises(ExperimentError, match="the module must have no_such_name") as refused:
        run_experiment(plain("no_such_name"), suite, tmp_path / "y", engine)
    assert "Traceback" not in str(refused.value)
    with pytest.raises(ExperimentError, match="No module named"):
        run_experiment(build_module_agent("no_such_module:x"), suite, tmp_path / "z", engine)


def test_an_experiment_goes_on_where_it_stopped(write_suite, engine, tmp_path):
    suite = write_suite(a={}, b={}, c={})
    folder = tmp_path / "x"
    seen: list[str] = []

    class InterruptedError_(Exception):
        pass

    def stop(trial) -> None:
        seen.append(trial.case)
        if len(seen) == 2:
            raise InterruptedError_

    with pytest.raises(InterruptedError_):
        run_experiment(plain("plain"), suite, folder, engine, Settings(jobs=1, timeout_s=60), stop)
    with (folder / "trials.jsonl").open("ab") as file:
        file.write(b'{"case": "torn')  # what a kill in the middle of a line leaves

    again: list[str] = []
    found = run_experiment(
        plain("plain"), suite, folder, engine, Settings(jobs=1, timeout_s=60), lambda t: again.append(t.case)
    )
    assert again[:2] == seen
    assert sorted(again) == ["a", "b", "c"]
    assert len((folder / "trials.jsonl").read_text().splitlines()) == 3
    assert len(found.trials) == 3

    with pytest.raises(ExperimentError, match="another experiment: its agent"):
        run_experiment(plain("drawn"), suite, folder, engine)


def test_no_trial_begins_beyond_the_budget(write_suite, engine, tmp_path):
    suite = write_suite(a={}, b={}, c={})
    settings = Settings(jobs=1, tools=Tools.RECORDED, max_tokens=10)
    found = run_experiment(agent("mended"), suite, tmp_path / "x", engine, settings)
    assert len(found.trials) == 1
    assert "budget of 10 tokens is spent" in found.stopped
    assert not found.passed


def test_a_program_traces_itself_into_the_experiment(write_suite, engine, tmp_path):
    program = build_program_agent(
        shlex.join([sys.executable, str(Path(__file__).parent / "program_agent.py")])
    )
    suite = write_suite(refund={"must": [{"answer": {"contains": "45.00"}}]})
    found = run_experiment(program, suite, tmp_path / "x", engine, Settings(timeout_s=60))
    (trial,) = found.trials
    assert (trial.verdict, trial.reason) == (TrialVerdict.PASSED, "")
    assert trial.steps >= 1


def test_answers_and_files_of_a_program_without_spans_are_judged_and_calls_are_not(
    write_suite, engine, tmp_path
):
    answer, file = {"answer": {"contains": "A-17"}}, {"file": {"path": "out/n.csv", "number": 45}}
    suite = write_suite(
        answered={"must": [answer, file], "must_not": [{"file": {"path": "secret"}}]},
        calling={"must": [answer], "must_not": [{"call": {"tool": "delete_order"}}]},
        wrong={"must": [{"file": {"path": "out/n.csv", "contains": "46"}}]},
        linked={"must": [{"file": {"path": "link"}}]},
    )
    program = build_program_agent("sh -c 'mkdir out; echo 45.00 > out/n.csv; ln -s /etc/passwd link; cat'")
    found = run_experiment(program, suite, tmp_path / "x", engine, Settings(timeout_s=60))
    trials = {trial.case: trial for trial in found.trials}
    assert {case: trial.verdict for case, trial in trials.items()} == {
        "answered": TrialVerdict.PASSED,
        "calling": TrialVerdict.UNJUDGED,
        "wrong": TrialVerdict.FAILED,
        "linked": TrialVerdict.FAILED,
    }
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in trials["calling"].reason
    assert "out/n.csv is 45.00" in trials["wrong"].reason
    assert "it left no file link that can be read" in trials["linked"].reason

    again = evaluate_again(tmp_path / "x", suite, tmp_path / "again", engine)
    assert [(each.case, each.verdict) for each in again.trials] == [
        (each.case, each.verdict) for each in found.trials
    ]
    assert again.comparison is not None
    assert again.comparison.difference.mean == 0.0


def test_stored_trials_are_judged_by_what_the_suite_requires_today(write_suite, engine, tmp_path):
    suite = write_suite(refund={"must": MUST, "tags": ["safe"]}, second={"must": MUST, "tags": ["risky"]})
    ran = run_experiment(agent("misquoting"), suite, tmp_path / "x", engine, RECORDED)
    case = suite / "cases" / "second" / "case.yaml"
    head = yaml.safe_load(case.read_text())
    case.write_text(
        yaml.safe_dump({**head, "must": [{"answer": {"contains": "54.00"}}], "requires": ["boundary"]})
    )
    again = evaluate_again(tmp_path / "x", suite, tmp_path / "again", engine)
    statuses = {each.case.id: each.status for each in again.cases}
    assert statuses == {"refund": CaseStatus.REPRODUCED, "second": CaseStatus.FIXED}
    assert again.trials[0].answer == ran.trials[0].answer
    assert list(again.groups) == [("tag", "risky", (1, 1, 0)), ("tag", "safe", (0, 1, 0))]
    head = again.build_json_head()
    assert [each["interval"] is not None for each in head["groups"]] == [True, True]
    assert head["judge_s"] > 0
    with pytest.raises(ExperimentError, match="holds another experiment: its rescored"):
        evaluate_again(tmp_path / "x", suite, tmp_path / "x", engine)


def test_structural_metrics_compare_with_the_same_case_of_the_baseline(write_suite, tmp_path, capfd):
    suite = write_suite(refund={"must": MUST})
    config = tmp_path / "config.yaml"
    config.write_text("evaluation: {structure: true, replay: false}\n")

    def experiment(name: str, out: str, *more: str) -> dict[str, str]:
        arguments = ["--agent", f"support_agents:{name}", "--tools", "recorded", "--out", str(tmp_path / out)]
        command = ["suite", "run", str(suite), "--json", "--config", str(config), *arguments, *more]
        assert run_command(command) == 1
        (case,) = json.loads(capfd.readouterr().out)["cases"]
        (row,) = case["cases"]
        return {each["name"]: each["explanation"] for each in row["runs"][0]["scores"]}

    first = experiment("misquoting", "first")
    assert "complexity" in first
    assert "growth" not in first
    second = experiment("rambling", "second", "--baseline", str(tmp_path / "first"))
    assert "lines" in second["growth"]
    assert "before" in second["growth"]


def test_every_trial_has_a_trace_of_its_own_whatever_its_seed(write_suite, engine, tmp_path):
    suite = write_suite(refund={"must": MUST}, second={"must": MUST})
    settings = replace(RECORDED, trials=2, seed=7)
    found = run_experiment(agent("misquoting"), suite, tmp_path / "x", engine, settings)
    assert len({trial.trace_id for trial in found.trials}) == 4


def test_the_tools_of_a_program_cannot_answer_from_the_record(write_suite, engine, tmp_path):
    with pytest.raises(ExperimentError, match="leave out --tools recorded"):
        run_experiment(build_program_agent("true"), write_suite(refund={}), tmp_path / "x", engine, RECORDED)


def test_a_service_is_judged_by_the_spans_of_its_trace(write_suite, engine, tmp_path):
    service = Path(__file__).parent / "service_agent.py"
    process = subprocess.Popen([sys.executable, str(service)], stdout=subprocess.PIPE, text=True)
    try:
        port, listen_port = map(int, process.stdout.readline().split())
        suite = write_suite(refund={"must": [{"answer": {"contains": "45.00"}}]})
        settings = Settings(timeout_s=60, listen_port=listen_port, trials=2)
        found = run_experiment(
            build_service_agent(f"http://127.0.0.1:{port}/ask"), suite, tmp_path / "x", engine, settings
        )
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert [trial.verdict for trial in found.trials] == [TrialVerdict.PASSED] * 2
    assert len({trial.trace_id for trial in found.trials}) == 2


def test_what_an_agent_started_does_not_outlive_its_trial(write_suite, engine, tmp_path):
    mark = tmp_path / "alive"
    loop = f"(while true; do date +%s%N > {mark}; sleep 0.05; done) > /dev/null 2>&1"
    command = f"sh -c '{loop} & echo done'"
    run_experiment(
        build_program_agent(command), write_suite(refund={}), tmp_path / "x", engine, Settings(timeout_s=60)
    )
    before = mark.read_text() if mark.exists() else ""
    time.sleep(0.5)
    assert (mark.read_text() if mark.exists() else "") == before


def test_the_environment_is_on_record(write_suite, engine, tmp_path):
    run_experiment(plain("plain"), write_suite(refund={}), tmp_path / "x", engine, Settings(timeout_s=60))
    head = json.loads((tmp_path / "x" / "experiment.json").read_text())
    assert any(each.startswith("smolagents==") for each in head["environment"]["packages"])
    assert head["environment"]["python"].count(".") == 2


@pytest.mark.parametrize("target", ["support_agents", "support_agents:", ":x", "a b:c", "a.b:c-d"])
def test_a_target_that_names_no_agent_is_refused(target):
    with pytest.raises(ExperimentError, match=r"package\.module:name"):
        build_module_agent(target)


def test_runs_stay_on_the_disk_and_are_read_from_there(write_suite, engine, tmp_path):
    suite = write_suite(refund={"must": MUST}, again={"must": MUST, "task": "Another task?"})
    settings = Settings(trials=2, tools=Tools.RECORDED, timeout_s=60)
    found = run_experiment(agent("mended"), suite, tmp_path / "x", engine, settings)
    assert [trial.row for trial in found.trials] == [None] * 4
    rows = {(trial.case, trial.number): found.load_row(trial) for trial in found.trials}
    assert {key: (row["case"], row["trial"]) for key, row in rows.items()} == {key: key for key in rows}
    document = found.to_json()
    assert document == {**found.build_json_head(), "cases": list(found.iter_json_cases())}
    assert [len(case["cases"]) for case in document["cases"]] == [2, 2]

    # Taken up again, with a last line that was cut off.
    with (tmp_path / "x" / "trials.jsonl").open("ab") as file:
        file.write(b'{"case": "cut')
    again = run_experiment(agent("mended"), suite, tmp_path / "x", engine, settings)
    assert again.to_json() == document
    assert len(list_scores(again)) == len(list_scores(found)) > 0
    assert (tmp_path / "x" / "trials.jsonl").read_bytes().endswith(b"\n")


HAR = {
    "log": {
        "entries": [
            {
                "request": {"method": "GET", "url": "https://api.example.com/rate"},
                "response": {"status": 200, "headers": [], "content": {"text": "1.25"}},
            }
        ]
    }
}


def test_an_agent_finds_the_files_the_database_and_the_calls_of_its_case(write_suite, engine, tmp_path):
    must = [{"answer": {"equals": "as noted 4500 1.25 once"}}]
    suite = write_suite(rates={"must": must, "unknown_calls": "allow"})
    folder = suite / "cases" / "rates"
    (folder / "notes.txt").write_text("as noted")
    (folder / "rate.har").write_text(json.dumps(HAR))
    with sqlite3.connect(folder / "shop.db") as shop:
        shop.execute("create table refunds (cents integer)")
        shop.execute("insert into refunds values (3000), (1500)")
    fixtures = {
        "name": "shop",
        "files": {"notes.txt": "notes.txt"},
        "database": {"file": "shop.db"},
        "http": "rate.har",
    }
    (folder / "fixtures.yaml").write_text(yaml.safe_dump({"sets": [fixtures]}))
    found = run_experiment(plain("looks_around"), suite, tmp_path / "out", engine)
    (trial,) = found.cases[0].trials
    assert (trial.verdict, trial.reason) == (TrialVerdict.PASSED, trial.reason), trial
    assert [dict(each) for each in trial.unknown_calls] == [
        {"tool": "GET", "args": ["https://api.example.com/rate"], "kwargs": {}}
    ]
