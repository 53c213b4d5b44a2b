"""The command as a process: exit codes, streams, Ctrl-C, readers that go away, and what it loads."""

from __future__ import annotations

import fcntl
import io
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import termios
from array import array
from pathlib import Path
from typing import IO, Any

import pytest
from waiting import wait_until

from spanproof.cli.app import run

COMMAND = [sys.executable, "-m", "spanproof.cli"]
CODE = {"language": "python", "source": "print(1)"}
BATCHES: dict[str, dict[str, Any]] = {
    "scan": CODE,
    "detect": {"text": "Run:\n```python\nprint(1)\n```\n"},
    "sandbox run": CODE,
    "sandbox run --workers 4": CODE,
    "replay": {"steps": ["1 + 1"]},
    "replay --workers 4": {"steps": ["1 + 1"]},
    "score groundedness": {"outputs": ["42"], "answer": "42"},
    "score trajectory": {"task": "t", "steps": [], "final_answer": "a"},
}


HANGS_S = 120.0
"""What is not done by then is not slow: it hangs."""


def start(*arguments: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    # Unbuffered: what is written is sent, and nothing is left to be flushed into a pipe that has gone.
    return subprocess.Popen([*COMMAND, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


def line(**row: Any) -> bytes:
    return json.dumps(row).encode() + b"\n"


def answer(process: subprocess.Popen[bytes], within_s: float = HANGS_S) -> dict[str, Any]:
    assert process.stdout is not None
    waiting = select.poll()  # select() knows no descriptor beyond 1023
    waiting.register(process.stdout, select.POLLIN)
    assert waiting.poll(within_s * 1000), "no answer came before the next line was sent"
    row = json.loads(process.stdout.readline())
    assert isinstance(row, dict)
    return row


def until_read(pipe: IO[bytes]) -> None:
    """Wait until the command has taken all that was sent: from then on it waits for more, or works."""
    left = array("i", [1])

    def empty() -> bool:
        fcntl.ioctl(pipe, termios.FIONREAD, left)
        return not left[0]

    wait_until(empty, "the command has read its input")


def feed(stdin: IO[bytes]) -> None:
    for number in range(100_000):
        stdin.write(line(id=number, **CODE))


@pytest.mark.parametrize("batch", BATCHES)
def test_lines_are_answered_before_the_next_is_sent_and_hostile_ones_in_order(batch: str) -> None:
    good = BATCHES[batch]
    rows = [
        (None, b"\x00\xff\n"),
        (None, b"[" * 50_000 + b"\n"),
        (None, b'"text"\n'),
        ("\ufffd", b'{"id": "\\ud800"}\n'),
        ("twice", line(id="twice", **good)),
        ("twice", line(id="twice", **good)),
        ({"nested": [1]}, line(id={"nested": [1]}, **good)),
        ("last", line(id="last", **good).rstrip()),
    ]
    with start(*batch.split(), "--jsonl") as process:
        assert process.stdin is not None
        for number in range(2):
            process.stdin.write(line(id=number, **good))
            assert answer(process)["id"] == number
        shown, warned = process.communicate(b"\n \n" + b"".join(row for _, row in rows), timeout=HANGS_S)
    answers = [json.loads(each) for each in shown.splitlines()]
    assert [each["id"] for each in answers] == [row_id for row_id, _ in rows]
    assert ["error" in each for each in answers] == [True] * 4 + [False] * 4
    assert "line 5: not a line of JSON" in answers[0]["error"]
    assert process.returncode == 0
    assert b"4 lines were bad" in warned


@pytest.mark.parametrize("batch", BATCHES)
def test_an_empty_batch_is_answered_with_nothing(
    batch: str, empty_input: None, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*batch.split(), "--jsonl"]) == 0
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def empty_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let standard input hold blank lines only."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n \n")))


def test_ten_megabytes_in_one_line_get_a_result() -> None:
    source = "x = '" + "y" * 10_000_000 + "'"
    for batch in ("scan", "detect"):
        row = line(id=1, language="python", source=source, text=source)
        done = subprocess.run([*COMMAND, batch, "--jsonl"], input=row, capture_output=True, timeout=HANGS_S)
        assert done.returncode == 0
        assert json.loads(done.stdout)["id"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "--jsonl"),
        ("detect",),
        ("sandbox", "run", "--jsonl"),
        ("sandbox", "run", "--jsonl", "--workers", "3"),
        ("replay", "--jsonl", "--workers", "2"),
    ],
)
def test_ctrl_c_ends_with_130_at_once_whatever_runs(arguments: tuple[str, ...]) -> None:
    asleep = "import time\ntime.sleep(3600)"
    with start(*arguments) as process:
        assert process.stdin is not None
        process.stdin.write(line(id=1, language="bash", source=""))
        if "sandbox" in arguments:
            process.stdin.write(line(id=1, language="python", source=asleep, timeout_s=3600))
        if "--jsonl" in arguments:
            answer(process)
        until_read(process.stdin)
        process.send_signal(signal.SIGINT)
        assert process.wait(HANGS_S) == 130
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b""
        assert process.stderr.read().strip() == b""


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("config", "reference"), ("doctor",)])
def test_a_reader_that_goes_away_is_no_verdict_and_no_traceback(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run([*COMMAND, *arguments], stdout=gone, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_batch_stops_when_its_answers_are_not_read(workers: str) -> None:
    with start("sandbox", "run", "--jsonl", "--workers", workers) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line(id=0, **CODE))
        answer(process)
        process.stdout.close()
        with pytest.raises(BrokenPipeError):
            feed(process.stdin)
        assert process.wait(HANGS_S) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--version",), ("config", "show", "--json"), ("doctor",)])
def test_a_full_disk_is_reported_and_is_no_pass(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_streams_that_are_closed_are_nowhere() -> None:
    command = shlex.join(COMMAND)
    shell = f"{command} detect --json <&- && {command} --version >&-"
    done = subprocess.run(["bash", "-c", shell], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"file":"stdin","snippets":[]}\n', b"")


def test_output_is_plain_where_colour_is_off_and_fits_the_width(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("```python\nprint('\x1b[31mred')\n```\n", encoding="utf-8")
    environ = {**os.environ, "NO_COLOR": "1", "COLUMNS": "60", "FORCE_COLOR": ""}
    done = subprocess.run([*COMMAND, "detect", str(tmp_path / "a.txt")], capture_output=True, env=environ)
    assert b"\x1b" not in done.stdout
    assert b"<U+001B>[31mred" in done.stdout
    doctor = subprocess.run([*COMMAND, "doctor"], capture_output=True, env=environ).stdout.decode()
    assert max(len(each.rstrip()) for each in doctor.splitlines() if "yes" in each.split()) <= 60


@pytest.mark.parametrize("arguments", [["--version"], ["scan", "--help"], ["detect", "--help"]])
def test_what_needs_no_server_loads_none(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['spanproof', *{arguments!r}]\n"
        "from spanproof.cli import main\n"
        "assert main() == 0\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"chdb", "clickhouse_connect", "google", "grpc", "httpx", "pydantic", "starlette", "uvicorn"}
    assert heavy.isdisjoint(done.stderr.split())
