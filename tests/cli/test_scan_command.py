from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest

from spanproof.cli.app import run


def _run(*arguments: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
    """Run the command in this process; `test_cli_process.py` starts it as one of its own."""
    given, out, err = (
        io.TextIOWrapper(io.BytesIO(data), "utf-8", write_through=True) for data in (stdin, b"", b"")
    )
    with patch.object(sys, "stdin", given), redirect_stdout(out), redirect_stderr(err):
        code = run(["scan", *arguments])
        return CompletedProcess(arguments, code, out.buffer.getvalue(), err.buffer.getvalue())


@pytest.fixture
def snippets(tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text("import os\nos.remove('/etc/x')\n", encoding="utf-8")
    (tmp_path / "good.py").write_text("print(1)\n", encoding="utf-8")
    return tmp_path


def test_each_line_gets_a_line_in_the_same_order() -> None:
    rows = [
        {"id": 1, "language": "python", "source": "open('/etc/passwd')"},
        {"id": "two", "language": "bash", "source": "ls"},
        {"id": 3, "language": "python"},
        {"id": 4, "language": "python", "source": "eval(x)"},
    ]
    done = _run("--jsonl", stdin=b"\n".join(json.dumps(row).encode() for row in rows) + b"\nnot json\n")

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert b"2 lines were bad" in done.stderr
    assert [answer["id"] for answer in answers] == [1, "two", 3, 4, None]
    assert [answer.get("verdict") for answer in answers] == ["deny", "allow", None, "review", None]
    assert "source" in answers[2]["error"]
    finding = answers[0]["findings"][0]
    assert finding["rule"] == "python.file.read-outside"
    assert (finding["line"], finding["column"], finding["severity"]) == (1, 1, "high")
    assert isinstance(answers[0]["elapsed_us"], int)


def test_a_denied_file_makes_the_exit_code_1(snippets: Path) -> None:
    bad = _run(str(snippets / "good.py"), str(snippets / "bad.py"))
    good = _run(str(snippets / "good.py"))

    assert (bad.returncode, good.returncode) == (1, 0)
    assert b"python.file.delete-outside" in bad.stdout
    assert b"2:1" in bad.stdout


def test_json_gives_one_line_per_file(snippets: Path) -> None:
    done = _run("--json", str(snippets / "bad.py"), str(snippets / "good.py"))

    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(Path(row["file"]).name, row["verdict"]) for row in rows] == [
        ("bad.py", "deny"),
        ("good.py", "allow"),
    ]


def test_a_policy_file_decides(snippets: Path) -> None:
    policy = snippets / "policy.yaml"
    policy.write_text("write_roots: [/etc]\n", encoding="utf-8")

    assert _run("--policy", str(policy), str(snippets / "bad.py")).returncode == 0


def test_mistakes_are_reported_with_their_remedy(snippets: Path) -> None:
    policy = snippets / "policy.yaml"
    policy.write_text("hosst: []\n", encoding="utf-8")
    (snippets / "noname").write_text("x", encoding="utf-8")

    for arguments, reported in (
        (["--policy", str(policy), "x.py"], b"did you mean 'hosts'"),
        ([str(snippets / "noname")], b"--language"),
        ([str(snippets / "absent.py")], b"absent.py"),
        ([], b"no file"),
    ):
        done = _run(*arguments)
        assert done.returncode == 2
        assert reported in done.stderr.replace(b"\n", b" ")


def test_standard_input_is_a_file_named_dash() -> None:
    done = _run("-", "--language", "bash", stdin=b"cat /etc/passwd")

    assert done.returncode == 1


def test_sarif_names_rule_place_and_level(snippets: Path) -> None:
    done = _run("--sarif", str(snippets / "bad.py"))

    log = json.loads(done.stdout)
    ran = log["runs"][0]
    result = ran["results"][0]
    assert log["version"] == "2.1.0"
    assert (
        ran["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
        == result["ruleId"]
        == "python.file.delete-outside"
    )
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 20,
    }  # fmt: skip


def test_notebooks_are_scanned_as_one_program_and_cells_of_other_languages_alone(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# os.remove('/etc/x')\n"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import os as system\n"]},
        {"cell_type": "code", "source": ["x = 1\n", "system.remove('/etc/x')\n"]},
        {"cell_type": "code", "source": ["%%bash\n", "rm -rf /etc\n"]},
    ]
    notebook = tmp_path / "analysis.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}), encoding="utf-8")

    done = _run("--json", str(notebook))

    python, shell = (json.loads(line) for line in done.stdout.splitlines())
    assert (done.returncode, python["language"], shell["language"]) == (1, "python", "bash")
    (removal,) = (
        finding for finding in python["findings"] if finding["rule"] == "python.file.delete-outside"
    )
    assert (removal["line"], removal["message"].startswith("cell 3: ")) == (2, True)
    assert {(finding["line"], finding["message"][:7]) for finding in shell["findings"]} == {(2, "cell 4:")}


def test_code_blocks_of_markdown_are_scanned_at_their_lines(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text(
        "Delete the file:\n\n```python\nimport os\nos.remove('/etc/x')\n```\n", encoding="utf-8"
    )

    done = _run("--json", str(prompt))

    (row,) = (json.loads(line) for line in done.stdout.splitlines())
    assert [finding["line"] for finding in row["findings"]] == [5]


def test_a_file_that_is_no_notebook_is_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ipynb"
    broken.write_text("[]", encoding="utf-8")

    done = _run(str(broken))

    assert done.returncode == 2
    assert b"broken.ipynb is no notebook" in done.stderr
