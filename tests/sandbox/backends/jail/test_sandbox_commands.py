"""The command line around the sandbox: JSON Lines, one file for people, and the doctor."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FIELDS = [
    "id",
    "failure_class",
    "exit_code",
    "signal",
    "stdout",
    "stderr",
    "wall_s",
    "cpu_s",
    "peak_memory_bytes",
    "attempts",
    "tests_passed",
    "tests_total",
]


def spanproof(*arguments: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[bytes]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    command = [sys.executable, "-m", "spanproof.cli", *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def answers(*rows: dict[str, Any] | bytes, arguments: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    done = spanproof("sandbox", "run", "--jsonl", *arguments, stdin=b"\n".join(lines))
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_line_in_gives_a_line_out_with_the_fields_of_the_interface() -> None:
    (answer,) = answers({"id": "a", "language": "python", "source": "print(1)"})
    assert list(answer) == FIELDS
    assert (answer["id"], answer["failure_class"], answer["stdout"]) == ("a", "ok", "1\n")


def test_a_language_may_have_the_names_that_a_scan_takes() -> None:
    sources = {"py": "print(1)", "Python": "print(1)", "sh": "echo 1", "js": "console.log(1)"}
    rows = [{"id": name, "language": name, "source": source} for name, source in sources.items()]
    assert [answer["stdout"] for answer in answers(*rows)] == ["1\n"] * 4


def test_order_is_kept_whatever_ends_first() -> None:
    rows = [
        {"id": n, "language": "python", "source": f"import time; time.sleep({0.3 - n / 10})"}
        for n in range(4)
    ]
    assert [answer["id"] for answer in answers(*rows, arguments=("--workers", "3"))] == [0, 1, 2, 3]


def test_a_bad_line_is_answered_and_the_rest_goes_on() -> None:
    found = answers(
        b"{not json",
        {"id": 1, "language": "python"},
        {"id": 2, "language": "cobol", "source": "x"},
        {"id": 3, "language": "python", "source": "pass", "timeout_s": "soon"},
        {"id": 4, "language": "python", "source": "pass", "files": {"../x": "y"}},
        {"id": 5, "language": "python", "source": "pass", "files": {"x": {"base64": "!"}}},
        {"id": 6, "language": "python", "source": "print('good')"},
    )
    assert [answer["id"] for answer in found] == [None, 1, 2, 3, 4, 5, 6]
    assert all("error" in answer for answer in found[:6])
    assert "cobol" in found[2]["error"]
    assert found[6]["stdout"] == "good\n"


def test_odd_sources_give_results() -> None:
    found = answers(
        {"id": "nul", "language": "python", "source": "a = 1\0"},
        b'{"id": "surrogate", "language": "python", "source": "x = \'\\ud800\'"}',
        {"id": "long", "language": "python", "source": "x = '" + "y" * 10_000_000 + "'; print(len(x))"},
        {"id": "deep", "language": "python", "source": "(" * 100_000},
        {"id": "empty", "language": "python", "source": ""},
        b'{"id": "bash", "language": "bash", "source": "echo a\\u0000b"}',
        {"id": "sql", "language": "sql", "source": "select 'a\0b'"},
    )
    classes = {answer["id"]: answer.get("failure_class") for answer in found}
    assert classes["nul"] == classes["surrogate"] == classes["deep"] == "syntax_error"
    assert classes["long"] == classes["empty"] == "ok"
    assert None not in classes.values()


def test_tests_files_and_entry_point_are_taken() -> None:
    files = {"a.txt": "12", "b.bin": {"base64": base64.b64encode(b"\xff\0").decode()}}
    source = "def f(): return open('a.txt').read(), open('b.bin', 'rb').read()"
    tests = "def check(c):\n    assert c() == ('12', bytes([255, 0]))\n    assert c() is None\n"
    row = {
        "id": 1,
        "language": "python",
        "source": source,
        "tests": tests,
        "files": files,
        "entry_point": "f",
    }
    (answer,) = answers(row)
    assert (answer["tests_passed"], answer["tests_total"]) == (1, 2)


@pytest.mark.parametrize("tests", ["# none", "def load_tests(loader, tests, pattern):\n    return tests"])
def test_tests_that_are_not_run_are_an_error_of_the_line(tests: str) -> None:
    (answer,) = answers({"id": 1, "language": "python", "source": "def f(x): return 0", "tests": tests})
    assert (answer["failure_class"], answer["tests_total"]) == ("tests_not_run", 0)
    assert "this runner" in answer["error"]


def test_a_file_is_run_for_people(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("print('hello')")
    bad.write_text("open('/etc/shadow')")
    done = spanproof("sandbox", "run", str(good))
    assert (done.returncode, b"hello" in done.stdout) == (0, True)
    done = spanproof("sandbox", "run", str(bad))
    assert done.returncode == 1
    assert b"permission_denied" in done.stdout
    assert b"/etc/shadow (refused)" in done.stdout


def test_misuse_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x.unknown").write_text("print(1)")
    for arguments, word in (
        (("sandbox", "run"), b"--jsonl"),
        (("sandbox", "run", "--jsonl", "--backend", "nowhere"), b"jail"),
        (("sandbox", "run", str(tmp_path / "absent.py")), b"absent.py"),
        (("sandbox", "run", str(tmp_path / "x.unknown")), b"--language"),
        (("doctor", "--backend", "nowhere"), b"jail"),
    ):
        done = spanproof(*arguments)
        assert done.returncode == 2, done
        assert word in done.stderr
        assert b"Traceback" not in done.stderr


def test_the_doctor_shows_each_feature() -> None:
    done = spanproof("doctor", "--json")
    rows = {row["backend"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {"jail", "docker", "e2b"} <= rows.keys()
    assert done.returncode == (0 if rows["jail"]["usable"] else 1)
    for feature in (feature for row in rows.values() for feature in row["features"]):
        assert {"name", "present", "required", "detail", "remedy"} == set(feature)
        assert feature["remedy"] or feature["present"]


HAR = {
    "log": {
        "version": "1.2",
        "entries": [
            {
                "request": {"method": "GET", "url": "https://api.example.com/rate", "headers": []},
                "response": {
                    "status": 200,
                    "headers": [{"name": "Content-Type", "value": "application/json"}],
                    "content": {"size": 13, "mimeType": "application/json", "text": '{"rate": 1.5}'},
                },
            }
        ],
    }
}
CALLS = "import requests\nprint(requests.get('https://api.example.com/rate').json()['rate'])"


def test_a_har_file_answers_a_program(tmp_path: Path) -> None:
    (tmp_path / "tape.har").write_text(json.dumps(HAR))
    (tmp_path / "calls.py").write_text(CALLS)
    done = spanproof(
        "sandbox", "run", str(tmp_path / "calls.py"), "--http", str(tmp_path / "tape.har"), "--json"
    )
    answer = json.loads(done.stdout)
    assert (answer["stdout"], answer["failure_class"]) == ("1.5\n", "ok"), answer
    assert answer["attempts"] == [
        {"kind": "network", "target": "GET https://api.example.com/rate", "allowed": True}
    ]
    (tmp_path / "tape.har").write_text("{}")
    done = spanproof("sandbox", "run", str(tmp_path / "calls.py"), "--http", str(tmp_path / "tape.har"))
    assert done.returncode == 2
    assert b"log: must be there" in done.stderr


def test_a_line_has_fixtures_of_its_own() -> None:
    calls = {"language": "python", "source": CALLS}
    shows = {"language": "python", "source": "import random, time; print(int(time.time()), random.random())"}
    fixed = {"seed": 4, "clock": {"start_s": 1_600_000_000, "rate": 0}}
    found = answers(
        {"id": 0, **calls, "http": HAR},
        {"id": 1, **calls},
        {"id": 2, **shows, **fixed},
        {"id": 3, **shows},
        {"id": 4, **calls, "http": {"log": {"entries": [1]}}},
        {"id": 5, **shows, "clock": "noon"},
        {"id": 6, **shows, "clock": {"start_s": -1}},
        arguments=("--seed", "4", "--clock", "2020-09-13T12:26:40Z@0"),
    )
    assert found[0]["stdout"] == "1.5\n"
    assert found[1]["failure_class"] == "permission_denied"
    assert found[2]["stdout"] == found[3]["stdout"] == f"1600000000 {random.Random(4).random()}\n"
    assert found[4]["error"] == "field 'http': log.entries[0]: must be an object"
    assert "field 'clock' must be" in found[5]["error"]
    assert "between 1970 and 2200" in found[6]["error"]


def test_a_clock_that_is_none_is_a_misuse() -> None:
    done = spanproof("sandbox", "run", "x.py", "--clock", "yesterday")
    assert done.returncode == 2
    assert b"--clock 'yesterday' is no moment" in done.stderr
