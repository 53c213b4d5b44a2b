from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import jsonschema
import pytest
from result_schemas import SARIF, check_junit

from spanproof.cli.app import run


def line(trace: str, layer: str, value: float | None, name: str | None = None) -> dict[str, object]:
    outcome = "scored" if value is not None else "skipped"
    return {
        "layer": layer,
        "name": name or layer,
        "span_id": "r",
        "outcome": outcome,
        "value": value,
        "label": None if value is None else "pass" if value >= 0.5 else "fail",
        "explanation": f"because of {trace}" if value is not None else None,
        "reason": None if value is not None else "hidden",
    }


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Ten runs; the last misquotes, and has no trajectory."""
    path = tmp_path / "scores.jsonl"
    rows = []
    for number in range(10):
        trace = f"trace-{number}"
        found = [line(trace, "groundedness", 0.0 if number == 9 else 1.0)]
        found.append(line(trace, "trajectory", None if number == 9 else 1.0))
        rows.append({"trace_id": trace, "runs": [{"span_id": "r", "name": "pricer", "scores": found}]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


NINETY = "groundedness.score >= 0.85 for at_least 90% of cases"
ALL = "groundedness.score >= 0.85 for all cases"


def test_a_gate_that_holds_exits_0(scores, capfd):
    assert run(["gate", "--scores", str(scores), "--assert", NINETY]) == 0
    assert "pass  groundedness.score >= 0.85 for at_least 90% of cases" in capfd.readouterr().out


def test_a_gate_that_fails_exits_1_and_says_which_layer_and_why(scores, capfd):
    assert run(["gate", "--scores", str(scores), "--assert", NINETY, "--assert", ALL]) == 1
    out = capfd.readouterr().out
    assert "FAIL  groundedness.score >= 0.85 for all cases" in out
    assert "9 of 10 judged cases satisfy it, 10 must" in out
    assert "because of trace-9" in out
    assert out.rstrip().endswith("gate failed: groundedness")


def test_the_report_for_machines_is_one_json_document_on_stdout(scores, capfd):
    assert run(["gate", "--scores", str(scores), "--assert", ALL, "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert document["failed_layers"] == ["groundedness"]
    (assertion,) = document["assertions"]
    assert (assertion["satisfied"], assertion["judged"], assertion["needed"]) == (9, 10, 10)
    assert assertion["failing"][0]["trace_id"] == "trace-9"


def test_a_junit_file_is_written(scores, tmp_path, capfd):
    junit = tmp_path / "out" / "gate.xml"
    assert run(["gate", "--scores", str(scores), "--assert", ALL, "--junit", str(junit)]) == 1
    suite = check_junit(junit.read_text()).find("testsuite")
    assert suite.get("failures") == "1"
    assert str(junit) in capfd.readouterr().err


@pytest.fixture
def unsettled(tmp_path: Path) -> Path:
    """Four runs; one answer holds a value that no source has."""
    path = tmp_path / "unsettled.jsonl"
    rows = []
    for number in range(4):
        found = line(f"trace-{number}", "groundedness", 1.0)
        if number == 3:
            cause = {"cause": "value-not-found", "detail": "12.34", "state": "open"}
            found |= {"value": 0.5, "label": None, "explanation": "no source has 12.34", **cause}
        about = {"span_id": "r", "name": "pricer", "scores": [found]}
        rows.append({"trace_id": f"trace-{number}", "runs": [about]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


PASSES = "groundedness.score == pass for all cases"


def test_what_is_open_does_not_pass_and_is_shown(unsettled, tmp_path, capfd):
    files = {name: tmp_path / f"gate.{name}" for name in ("junit", "html", "markdown", "sarif")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    assert run(["gate", "--scores", str(unsettled), "--assert", PASSES, *options]) == 1
    out = " ".join(capfd.readouterr().out.split())
    assert (
        f"inconclusive {PASSES} 1 open: 1 answer holds a value that no source has; 3 of 4 cases satisfy it"
        in out
    )
    assert "open 0.50 pricer trace-3 no source has 12.34" in out
    assert check_junit(files["junit"].read_text()).find("testsuite").get("errors") == "1"
    page = files["html"].read_text()
    held = json.loads(page.partition('id="report">')[2].partition("</script>")[0])["answers"]["gates/report"]
    assert (held["open_counts_as"], held["assertions"][0]["open"]) == ("not-passed", 1)
    assert "- <code>open</code>: <code>1</code>" in files["markdown"].read_text()


def test_open_counts_otherwise_by_the_option_or_by_the_file(unsettled, tmp_path, capfd):
    gate = ["gate", "--scores", str(unsettled)]
    for given, code in (("pass", 0), ("ignore", 0), ("fail", 1), ("not-passed", 1)):
        # One of two cases is judged where open ones are left out: any share is enough here.
        assert run([*gate, "--assert", PASSES, "--open", given, "--least-judged", "0", "--json"]) == code
        document = json.loads(capfd.readouterr().out)
        assert (document["open_counts_as"], document["open"]) == (given, 1)
    file = tmp_path / "gate.yaml"
    file.write_text(f"assertions: ['{PASSES}']\nopen: ignore\nleast_judged: 0\n")
    assert run([*gate, "--assertions", str(file)]) == 0
    assert run([*gate, "--assertions", str(file), "--least-judged", "0.8"]) == 1
    capfd.readouterr()
    assert run([*gate, "--assertions", str(file)]) == 0
    assert "open is left out (--open ignore)" in capfd.readouterr().out
    assert run([*gate, "--assertions", str(file), "--open", "fail"]) == 1
    assert run([*gate, "--assert", PASSES, "--open", "maybe"]) == 2


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """One run whose only snippet reads a file outside its directory, and has a test."""
    finding = {"rule": "python.file", "severity": "high", "verdict": "deny", "line": 2, "end_line": 2}
    snippet = {
        "id": "s",
        "number": 1,
        "language": "python",
        "executed": True,
        "source": "x = 1\nopen('/y')\n",
    }
    snippet["findings"] = [{**finding, "message": "reads /y"}]
    found = [line("t", "boundary", 0.0), {**line("t", "correctness", 1.0, "compiles"), "snippet_id": "s"}]
    found.append(line("t", "correctness", 1.0, "tests_pass"))
    run = {"span_id": "r", "name": "pricer", "scores": found, "snippets": [snippet]}
    path = tmp_path / "coded.jsonl"
    path.write_text(json.dumps({"trace_id": "t", "runs": [run]}) + "\n")
    return path


def test_files_of_results_point_into_the_code(coded, tmp_path, capfd, monkeypatch):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = {name: tmp_path / f"gate.{name}" for name in ("sarif", "html", "markdown")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    text = "boundary.score == pass for all cases"
    assert run(["gate", "--scores", str(coded), "--assert", text, "--github", *options]) == 1
    sarif = json.loads(files["sarif"].read_text())
    jsonschema.validate(sarif, SARIF)
    (result,) = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "traces/t/r/01.py"
    assert place["region"]["startLine"] == 2
    assert sarif["runs"][0]["artifacts"][0]["contents"]["text"] == "x = 1\nopen('/y')\n"
    page = files["html"].read_text()
    held = json.loads(page.partition('id="report">')[2].partition("</script>")[0])
    (mark,) = held["answers"]["gates/report"]["assertions"][0]["marks"]
    assert (mark["uri"], mark["line"], mark["message"]) == ("traces/t/r/01.py", 2, "reads /y")
    code = [unescape(re.sub("<[^>]*>", "", each)) for each in mark["lines"]]
    assert code == ["x = 1", "open('/y')"]
    assert summary.read_text().startswith("### ❌")
    assert files["markdown"].read_text() + "\n" == summary.read_text()
    annotation = "::error file=traces/t/r/01.py,line=2,endLine=2,title=boundary.score == pass for all cases"
    assert f"{annotation}::reads /y\n" in capfd.readouterr().out


def test_annotations_stay_out_of_the_json(coded, capfd, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    text = "boundary.score == pass for all cases"
    assert run(["gate", "--scores", str(coded), "--assert", text, "--github", "--json"]) == 1
    captured = capfd.readouterr()
    assert json.loads(captured.out)["passed"] is False
    assert "::error file=" in captured.err


def test_a_required_sandbox_pass_rate_is_read_from_yaml(coded, tmp_path, capfd):
    file = tmp_path / "gate.yaml"
    file.write_text("required_sandbox_pass_rate: 1.0\n")
    assert run(["gate", "--scores", str(coded), "--assertions", str(file)]) == 0
    assert "sandbox_pass_rate is 100.0% over 1 cases with code and tests" in capfd.readouterr().out


def test_assertions_are_read_from_a_file(scores, tmp_path):
    file = tmp_path / "gate.txt"
    file.write_text(f"# release\n{NINETY}\ntrajectory.score == pass for at_least 9 cases\n")
    assert run(["gate", "--scores", str(scores), "--assertions", str(file)]) == 0


def test_a_baseline_is_read_from_a_file(scores, tmp_path, capfd):
    better = tmp_path / "before.jsonl"
    better.write_text("".join(scores.read_text().splitlines(keepends=True)[:9]))
    text = "avg(groundedness.score) no_worse_than baseline by 5%"
    arguments = ["gate", "--scores", str(scores), "--assert", text]
    assert run([*arguments, "--baseline", str(scores)]) == 0
    assert run([*arguments, "--baseline", str(better), "--json"]) == 1
    (assertion,) = json.loads(capfd.readouterr().out.splitlines()[-1])["assertions"]
    assert (assertion["value"], assertion["baseline"], assertion["total"]) == (0.9, 1.0, 10)
    assert run(arguments) == 2
    assert "Add --baseline FILE" in capfd.readouterr().err
    assert run([*arguments, "--baseline", str(tmp_path / "none")]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no assertion is given"),
        (["--assert", "groundedness.score >= 0.85"], "column 27: expected 'for'"),
        (["--assert", "p99(execution.wall_s) <= 1s"], "p50, p95, presence_rate); did you mean p95?"),
        (["--assert", "execution.scor == pass for all"], "did you mean execution.score?"),
        (["--assert", "trajectory.steps_score <= 6 for all"], "write trajectory.steps <= 6"),
        (["--assertions", "/no/such/file"], "/no/such/file"),
        (["--assert", ALL, "--since", "1h"], "--scores is given with --store, --project or --since"),
        (["--assert", ALL, "--store", "elsewhere"], "--scores is given with --store"),
    ],
)
def test_misuse_exits_2_with_one_message(scores, capfd, arguments, words):
    assert run(["gate", "--scores", str(scores), *arguments]) == 2
    reported = capfd.readouterr()
    assert words in reported.err
    assert reported.out == ""


def test_a_store_in_the_environment_leaves_a_file_of_scores_alone(scores, monkeypatch):
    monkeypatch.setenv("SPANPROOF_STORE", "elsewhere")
    assert run(["gate", "--scores", str(scores), "--assert", NINETY]) == 0


def test_a_bad_line_of_scores_exits_2_and_is_named(scores, capfd):
    with scores.open("a") as file:
        file.write("{oops\n")
    assert run(["gate", "--scores", str(scores), "--assert", NINETY]) == 2
    assert f"{scores}, line 11: not JSON" in capfd.readouterr().err


def test_scores_that_are_not_there_exit_2(tmp_path, capfd):
    assert run(["gate", "--scores", str(tmp_path / "none"), "--assert", NINETY]) == 2
    assert "No such file or directory" in capfd.readouterr().err
    assert run(["gate", "--store", str(tmp_path / "none"), "--assert", NINETY]) == 2
    assert "there is no store at" in capfd.readouterr().err
    assert not (tmp_path / "none").exists()
