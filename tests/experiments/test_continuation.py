"""A folder knows what its trials rest on: what changed runs again, what did not counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import cache_from_source
from pathlib import Path

import pytest
import yaml

from spanproof.cli.app import run as run_command
from spanproof.experiments.code_digest import compute_code_digest, list_module_code


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with an agent in a package, a prompt in a file, and a suite of three cases."""
    monkeypatch.chdir(tmp_path)
    # Nothing here has code to replay: no sandbox is started.
    (tmp_path / "quick.yaml").write_text("evaluation: {replay: false}\n")
    monkeypatch.setenv("SPANPROOF_CONFIG", str(tmp_path / "quick.yaml"))
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("FORMAT = '{}'\n")
    (package / "prompt.txt").write_text("Answer in dollars.")
    write_agent(tmp_path, "54.00")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "suite.yaml").write_text("format: 1\n")
    for name in ("a", "b", "c"):
        write_case(tmp_path, name, "45.00")
    return tmp_path


def write_agent(project: Path, price: str) -> None:
    (project / "shop" / "agent.py").write_text(
        "from pathlib import Path\n\n"
        "HERE = Path(__file__).parent\n\n\n"
        "def answer(task):\n"
        "    from shop import helper\n"
        "    prompt = (HERE / 'prompt.txt').read_text()\n"
        f"    (HERE / 'runs.log').open('a').write('x')\n"
        f"    return helper.FORMAT.format('{price}') + ' ' + prompt\n"
    )


def write_case(project: Path, name: str, price: str) -> None:
    folder = project / "suite" / "cases" / name
    folder.mkdir(parents=True, exist_ok=True)
    case = {"format": 1, "task": "What is the refund?", "must": [{"answer": {"contains": price}}]}
    (folder / "case.yaml").write_text(yaml.safe_dump(case))


def count_runs(project: Path) -> int:
    log = project / "shop" / "runs.log"
    runs = len(log.read_text()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return runs


def run_suite(*more: str) -> int:
    command = ["suite", "run", "suite", "--agent", "shop.agent:answer", "--out", "results", *more]
    return run_command(command)


def test_the_same_command_runs_again_what_changed_and_says_so(project, capfd):
    assert run_suite() == 1
    assert count_runs(project) == 3

    write_agent(project, "45.00")
    assert run_suite() == 0
    assert "agent changed: 3 of 3 cases run again" in capfd.readouterr().err
    assert count_runs(project) == 3

    assert run_suite() == 0
    assert "nothing changed: all 3 cases are taken from results" in capfd.readouterr().err
    assert count_runs(project) == 0

    write_case(project, "b", "54.00")
    assert run_suite() == 1
    assert "case b changed: 1 of 3 cases run again" in capfd.readouterr().err
    assert count_runs(project) == 1


def test_a_change_within_a_second_of_the_last_run_is_run(project, monkeypatch):
    """Python itself takes bytecode for that of a source with the same size and the same second of change."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    agent = project / "shop" / "agent.py"
    second = 1_700_000_000 * 10**9
    os.utime(agent, ns=(second, second))
    assert run_suite() == 1

    bytecode = cache_from_source(agent)
    os.utime(bytecode, ns=(second + 1, second + 1))
    write_agent(project, "45.00")
    os.utime(agent, ns=(second + 2, second + 2))
    assert run_suite() == 0


@pytest.mark.parametrize(
    ("file", "text"),
    [("helper.py", "FORMAT = 'USD {}'\n"), ("prompt.txt", "Answer."), ("__init__.py", "X = 1\n")],
)
def test_what_the_agent_imports_and_reads_of_the_project_is_part_of_it(project, capfd, file, text):
    run_suite()
    (project / "shop" / file).write_text(text)
    capfd.readouterr()
    run_suite()
    assert "agent changed: 3 of 3 cases run again" in capfd.readouterr().err


def test_more_trials_are_added_to_those_that_are_there(project):
    run_suite()
    count_runs(project)
    run_suite("--trials", "2")
    assert count_runs(project) == 3


def test_fewer_trials_count_those_alone(project, capfd):
    run_suite("--trials", "3")
    count_runs(project)
    capfd.readouterr()
    run_suite("--trials", "2")
    shown = capfd.readouterr()
    assert count_runs(project) == 0
    assert "3 trials beyond --trials 2 are kept and do not count" in shown.err
    assert "0 of 2" in shown.out
    run_suite("--trials", "3")
    assert count_runs(project) == 0


def test_another_configuration_and_other_tools_run_again(project, capfd):
    run_suite()
    (project / "config.yaml").write_text("evaluation: {replay: false, structure: true}\n")
    run_suite("--config", "config.yaml")
    assert "configuration changed: 3 of 3 cases run again" in capfd.readouterr().err
    run_suite("--config", "config.yaml", "--tools", "recorded")
    assert "tools changed: 3 of 3 cases run again" in capfd.readouterr().err


def test_resume_goes_on_and_refuses_a_change(project, capfd):
    run_suite()
    count_runs(project)
    assert run_suite("--resume") == 1
    assert count_runs(project) == 0
    write_agent(project, "45.00")
    assert run_suite("--resume") == 2
    assert "results cannot be resumed: agent changed since" in capfd.readouterr().err
    assert run_command(["suite", "run", "suite", "--agent", "shop.agent:answer", "--resume"]) == 2
    assert run_suite("--resume", "--fresh") == 2


def test_fresh_starts_anew_even_with_another_agent(project, capfd):
    run_suite()
    (project / "results" / "notes.md").write_text("mine")
    count_runs(project)
    assert run_suite("--fresh") == 1
    assert count_runs(project) == 3
    command = ["suite", "run", "suite", "--agent", "shop.agent:Path", "--out", "results"]
    capfd.readouterr()
    assert run_command(command) == 2
    assert "--fresh to start anew" in capfd.readouterr().err
    assert (project / "results" / "notes.md").read_text() == "mine"


def test_a_program_that_changed_runs_again(project, capfd):
    (project / "main.py").write_text("import shop.helper\nprint('45.00')\n")
    command = ["suite", "run", "suite", "--command", f"{sys.executable} {project}/main.py", "--out", "out"]
    assert run_command(command) == 1
    shown = capfd.readouterr().out
    assert "inconclusive: 3 of 3 cases passed in every trial; 0 of 3 trials' correctness were judged" in shown
    (project / "shop" / "helper.py").write_text("FORMAT = 'USD {}'\n")
    assert run_command([*command, "--least-judged", "0"]) == 0
    assert "agent changed: 3 of 3 cases run again" in capfd.readouterr().err


def test_after_an_interrupt_the_command_says_how_to_go_on(project):
    (project / "shop" / "helper.py").write_text("import time\ntime.sleep(0.5)\nFORMAT = '{}'\n")
    command = ["-m", "spanproof.cli", "suite", "run", "suite", "--agent", "shop.agent:answer", "--jobs", "1"]
    path = os.pathsep.join(each for each in sys.path if each)
    process = subprocess.Popen(
        [sys.executable, *command, "--out", "results", "--trials", "3"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    trials = project / "results" / "trials.jsonl"
    deadline = time.monotonic() + 60
    while not trials.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--out results --resume" in errors
    there = len(trials.read_text().splitlines())
    assert 1 <= there < 9
    count_runs(project)
    (project / "suite" / "cases" / "a" / "case.yaml").touch()
    run_suite("--trials", "3", "--resume")
    assert count_runs(project) == 9 - there


def test_the_code_of_an_agent_is_that_of_the_project_alone(project, monkeypatch):
    """Packages are pinned by their versions, wherever the environment has them."""
    packages = project / "venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "big_framework.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(str(packages))
    agent = project / "shop" / "agent.py"
    agent.write_text(f"import big_framework, json, spanproof.trace\n{agent.read_text()}")
    before = compute_code_digest(list_module_code("shop.agent:answer", project))
    (packages / "big_framework.py").write_text("X = 2\n")
    assert compute_code_digest(list_module_code("shop.agent:answer", project)) == before
    (project / "shop" / "helper.py").write_text("FORMAT = 'USD {}'\n")
    assert compute_code_digest(list_module_code("shop.agent:answer", project)) != before
