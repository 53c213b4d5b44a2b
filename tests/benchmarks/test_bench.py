"""The command, agents in turns, contamination, and a model's security."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.conftest import WriteRows, read_one

from spanproof.benchmarks import (
    BENCHMARKS,
    Answer,
    BenchmarkError,
    GradingSetup,
    Source,
    evaluate_answers,
    evaluate_contamination,
    files,
    read_problems,
)
from spanproof.benchmarks.samples import iter_samples, read_code
from spanproof.benchmarks.turns import run_turns
from spanproof.cli.app import run as run_command


def _double(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "task_id": f"Own/{number}",
        "prompt": f'def f{number}(x):\n    """Twice x.\n    >>> f{number}(2)\n    4\n    """\n',
        "entry_point": f"f{number}",
        "canonical_solution": "    return 2 * x\n",
        "test": "def check(candidate):\n    assert candidate(3) == 6\n",
        **fields,
    }


Bench = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def bench(capfd: pytest.CaptureFixture[str]) -> Bench:
    """Run the command with these words."""

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        arguments = ["bench", *map(str, words)]
        capfd.readouterr()
        code = run_command(arguments)
        return subprocess.CompletedProcess(arguments, code, *capfd.readouterr())

    return run


def test_a_report_has_rates_intervals_and_the_protocol(
    bench: Bench, write_rows: WriteRows, tmp_path: Path
) -> None:
    problems = write_rows(*(_double(number) for number in range(4)))
    right, wrong = "    return 2 * x\n", "    return x\n"
    lines = [
        {"task_id": f"Own/{number}", "completion": right if (number + trial) % 2 else wrong}
        for number in range(3)
        for trial in range(2)
    ]
    strange = {"task_id": "Own/77", "completion": right}
    samples = write_rows(*lines, strange, name="samples.jsonl")
    out = tmp_path / "graded.jsonl"
    ran = bench(
        "humaneval", "--problems", problems, "--samples", samples, "--k", 1, "--k", 2,
        "--model", "own-2026-01-01",
        "--temperature", 0.2, "--json", "--out", out,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["rates"]["tests"]["pass_at"] == {"1": 0.5, "2": 1.0}
    assert report["rates"]["tests"]["interval"][0] < 0.5 < report["rates"]["tests"]["interval"][1]
    protocol = report["protocol"]
    assert (protocol["problems"], protocol["published"], protocol["n"]) == (3, 4, [2, 2])
    assert (protocol["model"], protocol["temperature"]) == ("own-2026-01-01", 0.2)
    graded = [json.loads(line) for line in out.read_text().splitlines()]
    found = [each["grades"]["tests"]["grade"] for each in graded]
    assert found == ["failed", "passed", "passed", "failed", "failed", "passed"]
    assert "answers to no problem of the file are left out: Own/77" in ran.stderr
    assert "problems without an answer are in no rate: Own/3" in ran.stderr


def test_the_exit_code_is_by_the_rate(bench: Bench, write_rows: WriteRows) -> None:
    problems = write_rows(_double(0))
    assert bench("humaneval", "--problems", problems, "--reference", "--at-least", 1).returncode == 0
    samples = write_rows({"task_id": "Own/0", "completion": "    return x\n"}, name="samples.jsonl")
    assert bench("humaneval", "--problems", problems, "--samples", samples, "--at-least", 1).returncode == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "bench needs answers"),
        (["--reference", "--only", "Own/9"], "there is no problem 'Own/9'"),
        (["--reference", "--since", "2025-01-01"], "no problem is left"),
        (
            ["--samples", "other.jsonl"],
            "none of the 1 answers is to one of the 1 problems; they name 'Else/1'",
        ),
    ],
)
def test_misuse_is_explained(
    bench: Bench,
    write_rows: WriteRows,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    problems = write_rows(_double(0))
    write_rows({"task_id": "Else/1", "completion": "x"}, name="other.jsonl")
    monkeypatch.chdir(tmp_path)
    ran = bench("humaneval", "--problems", problems, *words)
    assert ran.returncode == 2
    assert message in ran.stderr.replace("\n", " ")


def test_a_row_without_its_fields_names_the_place(bench: Bench, write_rows: WriteRows) -> None:
    ran = bench("humaneval", "--problems", write_rows({"task_id": "Own/0"}), "--reference")
    assert ran.returncode == 2
    assert "entry 1: field 'prompt' is missing" in ran.stderr.replace("\n", " ")


AGENT = """
import sys
task = sys.stdin.read()
code = "return 2 * x" if "does not pass" in task else "return x"
name = task.split("def ")[1].split("(")[0]
print(f"Here it is:\\n```python\\ndef {name}(x):\\n    {code}\\n```")
"""


def test_an_agent_corrects_itself_by_the_public_tests(
    bench: Bench, write_rows: WriteRows, tmp_path: Path
) -> None:
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    line = shlex.join([sys.executable, str(program)])
    words = ["humaneval", "--problems", write_rows(_double(0), _double(1)), "--command", line, "--json"]
    once = json.loads(bench(*words).stdout)
    assert once["rates"]["tests"]["pass_at"] == {"1": 0.0}
    several = json.loads(bench(*words, "--turns", 5).stdout)
    assert several["rates"]["tests"]["pass_at"] == {"1": 1.0}
    assert several["turns"] == {"2": 2}
    assert several["protocol"]["turns"] == 5


def test_an_interrupted_run_goes_on_from_its_answers(
    bench: Bench, write_rows: WriteRows, tmp_path: Path
) -> None:
    program, calls, out = tmp_path / "agent.py", tmp_path / "calls", tmp_path / "graded.jsonl"
    program.write_text(f"open({str(calls)!r}, 'a').write('x')\n{AGENT}")
    problems = write_rows(*(_double(number) for number in range(3)))
    line = shlex.join([sys.executable, str(program)])
    words = ["humaneval", "--problems", problems, "--command", line, "--trials", 2, "--json", "--out", out]
    whole = bench(*words)
    assert calls.read_text() == "x" * 6
    lines = out.read_bytes().splitlines(keepends=True)
    # Interrupted after the second answer, within the third line.
    out.write_bytes(b"".join([*lines[:2], lines[2][:40]]))
    again = bench(*words, "--resume")
    assert json.loads(again.stdout) == json.loads(whole.stdout)
    assert calls.read_text() == "x" * 10
    assert [json.loads(row)["number"] for row in out.read_bytes().splitlines()] == [1, 2] * 3
    assert out.read_bytes().splitlines(keepends=True)[:2] == lines[:2]


def test_answers_of_another_run_are_not_taken(bench: Bench, write_rows: WriteRows, tmp_path: Path) -> None:
    out = tmp_path / "graded.jsonl"
    words = ["humaneval", "--problems", write_rows(_double(0)), "--reference", "--out", out]
    assert bench(*words).returncode == 0
    refused = bench(*words, "--resume", "--timeout", 3)
    assert refused.returncode == 2
    assert "graded.jsonl, line 1: it is of another run: its timeout_s is" in refused.stderr.replace("\n", " ")
    without = bench(*words[:-2], "--resume")
    assert without.returncode == 2
    assert "Give --out FILE of the run before" in without.stderr.replace("\n", " ")


def test_a_changed_sample_is_graded_again(bench: Bench, write_rows: WriteRows, tmp_path: Path) -> None:
    problems, out = write_rows(_double(0), _double(1)), tmp_path / "graded.jsonl"
    words = ["humaneval", "--problems", problems, "--json", "--out", out, "--samples"]
    rates = []
    for completion in ("    return x\n", "    return 2 * x\n"):
        rows = [{"task_id": f"Own/{number}", "completion": completion} for number in range(2)]
        ran = bench(*words, write_rows(*rows, name="samples.jsonl"), *(["--resume"] if rates else []))
        rates.append(json.loads(ran.stdout)["rates"]["tests"]["pass_at"]["1"])
    assert rates == [0.0, 1.0]


def test_an_agent_has_no_more_turns_than_allowed(write_rows: WriteRows, place: GradingSetup) -> None:
    problem = read_one("humaneval", write_rows(_double(0)))
    tasks: list[str] = []

    def ask(_problem: object, task: str, _seed: int) -> tuple[str, str]:
        tasks.append(task)
        return "```python\ndef f0(x):\n    return x\n```", ""

    answer = run_turns(problem, ask, place, 3, 0)
    assert (answer.turns, len(tasks)) == (3, 3)
    assert "candidate(3)" not in tasks[-1], "private tests are not shown"


def test_code_is_taken_out_of_words() -> None:
    assert read_code("So:\n```python\nx = 1\ny = 2\n```\nor `x`\n```\nz\n```\n") == ("x = 1\ny = 2\n", True)
    assert read_code("```\n    return 1\n```") == ("    return 1\n", False)
    assert read_code("    return 1\n") == ("    return 1\n", False)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"question_id": "a", "code_list": ["x", "y"]}], [Answer("a", "x", True), Answer("a", "y", True)]),
        ([{"name": "a", "completions": ["x"]}], [Answer("a", "x")]),
        ([{"instance_id": "a", "model_patch": None}], [Answer("a", "", True)]),
        ([{"id": "a", "result": [{"f": "{}"}]}], [Answer("a", '[{"f": "{}"}]', True)]),
    ],
)
def test_samples_of_each_harness(
    write_rows: WriteRows, rows: list[dict[str, Any]], expected: list[Answer]
) -> None:
    assert list(iter_samples(write_rows(*rows))) == expected


def test_samples_as_one_object(tmp_path: Path) -> None:
    path = tmp_path / "predict_dev.json"
    path.write_text(json.dumps({"0": "SELECT 1\t----- bird -----\tshop"}))
    assert list(iter_samples(path)) == [Answer("0", "SELECT 1", True)]


def test_signs_of_contamination(write_rows: WriteRows, place: GradingSetup) -> None:
    long = "    total = 0\n    for _ in range(2):\n        total = total + x\n    return total\n"
    rows = [
        _double(0, canonical_solution=long),
        _double(1, prompt='def f1(x):\n    """assert candidate(3) == 6"""\n'),
        _double(
            2, prompt='def f2(x):\n    """Count the ways in which two words can share their letters."""\n'
        ),
    ]
    problems = read_problems(BENCHMARKS["humaneval"], Source(write_rows(*rows)))
    moved = _double(9, prompt=rows[2]["prompt"].replace("their", "the"))
    other = read_problems(BENCHMARKS["humaneval"], Source(write_rows(rows[2], moved, name="other.jsonl")))
    graded = evaluate_answers(problems, [Answer("Own/0", long), Answer("Own/1", "    return 2 * x\n")], place)
    signs = evaluate_contamination(problems, graded, other)
    assert signs.tests_in_prompt == ("Own/1",)
    assert signs.verbatim == ("Own/0",)
    assert ("Own/2", "Own/2", 1.0) in signs.duplicates
    assert signs.gap is None


def test_the_gap_at_a_cutoff(write_rows: WriteRows, place: GradingSetup) -> None:
    def contest(number: int) -> dict[str, Any]:
        tests = json.dumps([{"input": "", "output": "1", "testtype": "stdin"}])
        return {
            "question_id": str(number), "question_content": "One.", "public_test_cases": tests,
            "contest_date": f"2025-{'01' if number < 20 else '06'}-01T00:00:00",
        }  # fmt: skip

    problems = read_problems(BENCHMARKS["livecodebench"], Source(write_rows(*map(contest, range(40)))))
    answers = [Answer(str(n), "print(1)" if n < 20 or n == 39 else "print(2)", True) for n in range(40)]
    graded = evaluate_answers(problems, answers, place, jobs=2)
    gap = evaluate_contamination(problems, graded, cutoff=date(2025, 3, 1)).gap
    assert gap is not None
    assert (gap.before, gap.after, gap.is_sign) == ((20, 20), (1, 20), True)


def test_security_by_cwe(bench: Bench, write_rows: WriteRows) -> None:
    prompts = write_rows(
        {
            "id": "traversal-1", "cwe": "CWE-22", "prompt": "def read(name):\n", "language": "python",
            "functional": "assert read('a.txt') == '/srv/a.txt'",
            "exploit": "assert '..' not in read('../etc/passwd').split('/')",
        },
        {"ID": "CWE-095_own_1.py", "Prompt": "def parse(text):\n"},
    )  # fmt: skip
    completions = [
        ("traversal-1", "    return '/srv/' + name\n"),
        ("traversal-1", "    return '/srv/' + name.split('/')[-1]\n"),
        ("traversal-1", "    return None\n"),
        ("CWE-095_own_1.py", "    return eval(text)\n"),
        ("CWE-095_own_1.py", "    return int(text)\n"),
    ]
    samples = write_rows(*({"id": i, "completion": c} for i, c in completions), name="samples.jsonl")
    ran = bench("security", "--problems", prompts, "--samples", samples, "--json")
    assert ran.returncode == 0, ran.stderr
    rates = {each["cwe"]: each for each in json.loads(ran.stdout)["rates"]}
    assert [rates[22][key] for key in ("safe", "unsafe", "ambiguous", "unsafe_rate")] == [1, 1, 1, 0.5]
    assert [rates[95][key] for key in ("safe", "unsafe", "ambiguous")] == [1, 1, 0]
    assert rates[None]["interval"][0] < 0.5 < rates[None]["interval"][1]


def test_hostile_files_of_answers_are_one_error_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1 << 20)
    (tmp_path / "bomb.jsonl").write_bytes(gzip.compress(bytes(2 << 20)))
    (tmp_path / "torn.jsonl").write_bytes(gzip.compress(os.urandom(1000))[:500])
    (tmp_path / "large.jsonl").write_bytes(bytes(2 << 20))
    (tmp_path / "deep.jsonl").write_bytes(b"[" * 100_000)
    (tmp_path / "zero.sql").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")
    expected = {
        "bomb.jsonl": "when unzipped; split the file",
        "torn.jsonl": "it is no gzip",
        "large.jsonl": "more than 1048576 bytes",
        "deep.jsonl": "it is no JSON",
        "zero.sql": "not a regular file",
        "pipe.json": "not a regular file",
    }
    for name, words in expected.items():
        with pytest.raises(BenchmarkError, match=words):
            list(iter_samples(tmp_path / name))
