"""The hook of `make hooks` takes messages as CONTRIBUTING.md describes them, and names what is wrong."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOK = ROOT / ".githooks" / "commit-msg"
check_message = runpy.run_path(str(HOOK))["check_message"]


@pytest.mark.parametrize(
    ("message", "changed_lines"),
    [
        ("jail: kill the PID namespace when a guest overruns its exit", 50),
        ("failures, api: pass the shares by their names\n\nA client read them by position.", 400),
        ("store: process rows in turn\n# Please enter the commit message", 1),
        ("cli: focus the first field", 1),
        ("Merge branch 'main' into topic", 4000),
        ("lint: add a hook\n\n# ------------------------ >8 ------------------------\ndiff --git a/x b/x", 1),
    ],
)
def test_a_message_of_the_described_form_is_taken(message: str, changed_lines: int) -> None:
    assert check_message(message, changed_lines) == []


@pytest.mark.parametrize(
    ("message", "changed_lines", "problem"),
    [
        (f"jail: kill {'all of ' * 10}it", 1, "the subject has 83 characters: 72 is the most"),
        ("kill the PID namespace", 1, 'the subject names no package first: "jail: kill the PID namespace"'),
        ("jail: kills the PID namespace", 1, 'the subject is not in the imperative: "kills"'),
        ("jail: killed the PID namespace", 1, 'the subject is not in the imperative: "killed"'),
        ("jail: killing the PID namespace", 1, 'the subject is not in the imperative: "killing"'),
        ("jail: kill it\nat once", 1, "the second line is not empty"),
        ("jail: kill it\n\n# Changes to be committed:", 51, "51 lines change: a body says why"),
    ],
)
def test_what_is_wrong_is_named(message: str, changed_lines: int, problem: str) -> None:
    assert check_message(message, changed_lines) == [problem]


def test_the_hook_counts_the_lines_of_the_commit(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("row\n" * 51)
    (tmp_path / "message").write_text("store: keep rows\n")
    for arguments in (["init", "--quiet"], ["add", "rows.txt"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    hook = [sys.executable, str(HOOK), "message"]
    refused = subprocess.run(hook, cwd=tmp_path, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (1, "commit-msg: 51 lines change: a body says why\n")
    (tmp_path / "message").write_text("store: keep rows\n\nThey are read again.\n")
    assert subprocess.run(hook, cwd=tmp_path).returncode == 0
