"""The tutorial works as written: its files are saved, its commands are run, in its order."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from github_action import run_action
from waiting import wait_until

from .test_serve import cli, serving, stored, wait_evaluated

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")


GIT_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language, without indentation."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_tutorial_ends_with_a_red_then_a_green_pull_request(tmp_path: Path) -> None:
    install, serve, agent, list_, show, promote, run_suite, commit, mend = blocks("sh")
    assert "spanproof doctor" in install
    assert serve.strip() == "spanproof serve"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SPANPROOF_STORE": str(tmp_path / "store"),
        "NO_COLOR": "1",
        **{
            f"GIT_{who}_{what}": "a@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }

    def run(script: str, *, code: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    with serving(tmp_path) as (process, where):
        # The ports of the page may be taken on this machine.
        (tmp_path / "agent.py").write_text(
            blocks("python")[0].replace("http://127.0.0.1:4318", where["http"])
        )
        assert "The refund of order A-17 is $54.00." in run(agent)
        wait_evaluated(where)
        wait_until(lambda: stored(tmp_path))
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    assert "groundedness: The answer says $54.00; the code printed 45.0 (step 2)" in run(list_)
    assert "trace_id" not in run("spanproof traces --passing --json")
    assert run(show).startswith("FAIL  refund_clerk fails groundedness")
    assert "fail   groundedness: The answer says $54.00; the code printed 45.0 (step 2)" in run(promote)
    assert "0 of 1 case passed in every trial" in run(run_suite, code=1)
    (workflow,) = blocks("yaml")
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "agent.yml").write_text(workflow)
    run(commit)
    red, annotated = check_pull_request(tmp_path, tmp_path / "before" / "checkout", workflow)
    assert (red, "The answer says $54.00; the code printed 45.0 (step 2)" in annotated) == (1, True)
    assert "1 of 1 case passed in every trial" in run(mend)
    assert check_pull_request(tmp_path, tmp_path / "after" / "checkout", workflow)[0] == 0


def check_pull_request(repository: Path, checkout: Path, workflow: str) -> tuple[int, str]:
    """Clone what is committed and run the workflow's step of Spanproof; return exit code and output."""
    clone = ["git", "clone", "--quiet", str(repository), str(checkout)]
    subprocess.run(clone, check=True, capture_output=True, timeout=60)
    steps = yaml.safe_load(workflow)["jobs"]["gate"]["steps"]
    (step,) = (step for step in steps if step["uses"].startswith("spanproof/"))
    code, output, _ = run_action(checkout, **{**step["with"], "install": ""})
    return code, output


# No output of the tutorial's agent has one of them, and none is a sum, a difference, a share or a scale of
# what it has: 3000, 1500 and 45.0.
FIGURES = (
    "$77.31", "$12.34", "$45.01", "$44.10", "$54.50", "$31.70", "$61.27", "$83.20", "$29.95", "$99.99",
    "$1,234.00", "$7.13",
)  # fmt: skip


def write_agent_of_figures(file: Path, endpoint: str) -> None:
    """Save the agent of the page so that it runs once for each figure that it is given."""
    before, main = (
        blocks("python")[0].replace("http://127.0.0.1:4318", endpoint).split('if __name__ == "__main__":\n')
    )
    register, runs = main.split("\n", 1)
    file.write_text(
        f"import sys\n{before}\n{dedent(register)}\nturns = Scripted.turns\nfor figure in sys.argv[1:]:\n"
        "    Scripted.turns = [turn.replace('$54.00', figure) for turn in turns]\n" + runs
    )


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of the tutorial's agent for each figure, and its spans in `spans.jsonl`."""
    directory = tmp_path_factory.mktemp("figures")
    forwarded = f"forward.0.endpoint=file://{directory / 'spans.jsonl'}"
    with serving(directory, forwarded) as (process, where):
        write_agent_of_figures(directory / "agent.py", where["http"])
        subprocess.run(
            [sys.executable, "agent.py", *FIGURES],
            cwd=directory,
            check=True,
            capture_output=True,
            timeout=120,
        )
        wait_evaluated(where, len(FIGURES))
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    return directory


def test_a_figure_that_nothing_holds_never_passes_in_what_traces_lists(made_up: Path) -> None:
    rows = stored(made_up).values()
    assert len(rows) == len(FIGURES)
    for row in rows:
        (run,) = row["runs"]
        assert row["state"] == run["state"] == run["layers"]["groundedness"]["state"], run
        assert run["state"] in ("open", "fail"), run
    listed = cli("traces", "--store", str(made_up / "store"))
    shown = [line.split()[0] for line in listed.stdout.splitlines() if "refund_clerk" in line]
    assert sorted(shown) == sorted(row["state"].upper() for row in rows)
    assert "PASS" not in listed.stdout
    assert {row["state"] for row in rows} == {"fail"}, "each contradicts the amount that was printed last"


def test_a_figure_that_nothing_holds_never_passes_in_what_show_shows(made_up: Path) -> None:
    for trace_id, row in stored(made_up).items():
        shown = cli("show", trace_id, "--store", str(made_up / "store")).stdout
        assert shown.startswith(
            "FAIL  refund_clerk fails" if row["state"] == "fail" else "OPEN  refund_clerk  open:"
        )
        assert "groundedness" in shown.splitlines()[0]
        figure = next(each for each in FIGURES if f"A-17 is {each}." in shown)
        assert f"The answer says {figure}" in shown
    last = cli("show", "--last", "--json", "--store", str(made_up / "store"))
    assert json.loads(last.stdout)["state"] in ("open", "fail")
    assert last.stderr == ""


def test_a_figure_that_nothing_holds_never_passes_in_what_eval_says(made_up: Path) -> None:
    done = cli("eval", str(made_up / "spans.jsonl"), "--json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["trace_id"]: row["state"] for row in rows} == {
        trace_id: row["state"] for trace_id, row in stored(made_up).items()
    }
    assert {run["state"] for row in rows for run in row["runs"]} <= {"open", "fail"}
