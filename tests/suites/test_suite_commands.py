from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import suppress
from pathlib import Path

import pytest

from spanproof.cli.app import run
from spanproof.store import open_store

RUN_ID = "a" * 16


def test_a_failing_trace_becomes_a_case_that_fails_again_in_the_same_way(stored, suite, capfd):
    assert run(["promote", "5555", "--suite", str(suite), "--store", stored]) == 0
    out = capfd.readouterr().out
    assert "case pricing-agent-" in out
    assert "2 snippets, 1 tool call on tape" in out
    assert re.search(r"fail +groundedness: The answer says \$54\.00; the tool returned", out)
    assert run(["suite", "run", str(suite)]) == 0
    out = capfd.readouterr().out
    assert "reproduced" in out
    assert "fails groundedness again in the same way" in out
    assert out.rstrip().endswith("1 case: 1 reproduced")


def test_the_newest_trace_is_promoted_by_last_and_a_second_time_it_is_unchanged(stored, suite, capfd):
    promote = ["promote", "--last", "--suite", str(suite), "--store", stored]
    assert run(promote) == 0
    first = capfd.readouterr()
    assert "case pricing-agent-" in first.out
    assert "already" not in first.err
    assert run(promote) == 0
    again = capfd.readouterr()
    assert again.out == first.out
    assert "was in the suite already and is unchanged; --replace writes it anew" in again.err
    assert run([*promote, "5555"]) == 2
    assert "--last is given with traces" in capfd.readouterr().err
    assert run([*promote, "--since", "7d"]) == 2
    assert "--since is given with --last" in capfd.readouterr().err


def test_a_store_without_a_trace_says_so_and_what_to_do(suite, tmp_path, capfd):
    empty = str(tmp_path / "empty")
    with open_store(tmp_path / "empty"):
        pass
    for arguments in (["promote", "--last", "--suite", str(suite)], ["show", "--last"]):
        assert run([*arguments, "--store", empty]) == 2
        problem = capfd.readouterr().err
        assert f"no trace in {empty} is evaluated yet" in problem
        assert "remedy: Run an agent that exports its spans" in problem
    assert run(["traces", "--store", empty]) == 0
    assert f"no trace in {empty} is evaluated yet" in capfd.readouterr().err


def test_commands_report_machines_in_json(stored, suite, tmp_path, capfd):
    assert run(["promote", "5555", "--suite", str(suite), "--store", stored, "--json"]) == 0
    case = json.loads(capfd.readouterr().out)
    assert Path(case["folder"], "case.yaml").is_file()
    assert case["expectation"]["groundedness"] == "fail"
    junit = tmp_path / "suite.xml"
    assert run(["suite", "run", str(suite), "--json", "--junit", str(junit)]) == 0
    assert json.loads(capfd.readouterr().out)["counts"]["reproduced"] == 1
    assert ET.fromstring(junit.read_text()).find("testsuite").get("failures") == "0"


def test_a_verdict_that_changed_exits_1_and_is_shown_beside_the_frozen_one(stored, suite, capfd):
    run(["promote", "5555", "--suite", str(suite), "--store", stored])
    (path,) = suite.glob("cases/*/case.yaml")
    path.write_text(
        path.read_text().replace(
            "layer: groundedness\n  verdict: fail", "layer: groundedness\n  verdict: pass"
        )
    )
    capfd.readouterr()
    assert run(["suite", "run", str(suite)]) == 1
    out = capfd.readouterr().out
    assert "regressed" in out
    assert "groundedness.groundedness: expected pass, found fail" in out


def test_misuse_exits_2(stored, suite, tmp_path, capfd):
    assert run(["suite", "run", str(tmp_path)]) == 2
    assert "is no suite" in capfd.readouterr().err
    assert run(["promote", "5555", "--run", "nobody", "--suite", str(suite), "--store", stored]) == 2
    assert f"Name one with --run: {RUN_ID} pricing agent" in capfd.readouterr().err
    (tmp_path / "file").write_text("")
    assert run(["promote", "5555", "--suite", str(tmp_path / "file" / "x"), "--store", stored]) == 2
    assert "Not a directory" in capfd.readouterr().err


@pytest.fixture
def promoted(stored, suite, capfd) -> Path:
    run(["promote", "5555", "--suite", str(suite), "--store", stored])
    capfd.readouterr()
    return suite


def stderr_on_a_terminal(*arguments: str) -> tuple[bytes, bytes]:
    """What a command says on stdout, and on a terminal that is its stderr."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    command = [sys.executable, "-m", "spanproof.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environ) as process:
        os.close(theirs)
        out = process.stdout.read()
    shown = b""
    with suppress(OSError):  # Linux says EIO where the other end is closed
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    return out, shown


def test_progress_is_shown_on_a_terminal_and_not_among_json(promoted):
    out, shown = stderr_on_a_terminal("suite", "run", str(promoted))
    assert b"1/1" in shown
    assert b"1 reproduced" in out
    out, shown = stderr_on_a_terminal("suite", "run", str(promoted), "--json")
    assert json.loads(out)["counts"]["reproduced"] == 1
    assert shown == b""


OWN = """
evaluators:
  - {name: says_tea, source: "def main(completion, target, **v): return 'tea' in completion", pass_at: 1.0}
"""


def test_a_suite_is_judged_by_the_configuration(promoted, tmp_path, capfd):
    config = tmp_path / "spanproof.yaml"
    config.write_text(OWN)
    (path,) = promoted.glob("cases/*/case.yaml")
    own = "- {layer: correctness, name: says_tea, verdict: pass}\n"
    path.write_text(path.read_text().replace("details:\n", f"details:\n{own}"))
    assert run(["suite", "run", str(promoted), "--config", str(config)]) == 0
    capfd.readouterr()
    assert run(["suite", "run", str(promoted)]) == 1
    out = capfd.readouterr().out
    assert "no says_tea score any more: nothing that is configured here gives it" in " ".join(out.split())
    config.write_text("evaluation: {repaly: false}\n")
    assert run(["suite", "run", str(promoted), "--config", str(config)]) == 2
    assert "did you mean 'evaluation.replay'?" in capfd.readouterr().err
