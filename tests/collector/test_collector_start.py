"""How a collector starts, says so in its log, and lets go of everything where it cannot."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import plain_http
import pytest
from waiting import wait_until

from spanproof.cli.commands.serve import build_collector
from spanproof.collector.receive.server import PortTaken
from spanproof.config.model import Console, load_config

from .collectors import PROTOBUF, flags_of, running, settings_of


def test_a_second_collector_on_the_same_directory_says_so(tmp_path) -> None:
    with running(tmp_path):
        second = subprocess.run(
            [sys.executable, "-m", "spanproof.cli", "serve", *flags_of(tmp_path)],
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert second.returncode == 2
        assert b"cannot start" in second.stderr
        assert b"Traceback" not in second.stderr


def test_a_start_that_fails_lets_go_of_everything_and_of_the_signals(tmp_path, taken_port) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    settings = settings_of(tmp_path, receivers__http__port=str(taken_port), receivers__fallback_port="false")
    with pytest.raises(PortTaken):
        build_collector(load_config(None, {}, settings)).run_forever()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    with running(tmp_path):
        pass


def _has_children(process: int) -> bool:
    for thread in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            if (thread / "children").read_text():
                return True
    return False


def test_ctrl_c_while_workers_start_stops_the_collector(tmp_path) -> None:
    """A terminal sends SIGINT to the whole group, whatever its processes have come to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "spanproof.cli", "serve", *flags_of(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    wait_until(lambda: _has_children(process.pid), "the collector has started a worker", pause_s=0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, lines = process.communicate(timeout=120)
    assert b"Traceback" not in lines
    assert b"error" not in lines
    assert process.returncode == 0


def test_a_signal_that_comes_before_the_collector_waits_stops_it(tmp_path) -> None:
    collector = build_collector(load_config(None, {}, settings_of(tmp_path)))
    drained = collector.run_forever(lambda _: signal.raise_signal(signal.SIGTERM))
    assert drained
    assert signal.set_wakeup_fd(-1) == -1


def test_json_log_lines_can_be_read_by_machines(tmp_path) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "spanproof.cli",
            "serve",
            "--json",
            "--log-format",
            "json",
            *flags_of(tmp_path),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    where = json.loads(process.stdout.readline())
    plain_http.post(f"{where['http']}/v1/traces", content=b"\xff", headers=PROTOBUF, timeout=120)
    process.send_signal(signal.SIGINT)
    _, lines = process.communicate(timeout=120)
    messages = [json.loads(line)["message"] for line in lines.splitlines() if line.startswith(b"{")]
    assert any(message.startswith("refused a request over http") for message in messages)
    assert process.returncode == 0


def run_serve(tmp_path: Path, **more: str) -> subprocess.Popen[str]:
    """Start `spanproof serve` as a person does, with what it prints."""
    return subprocess.Popen(
        [sys.executable, "-m", "spanproof.cli", "serve", *flags_of(tmp_path, **more)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_console_port_that_is_taken_is_one_error_before_anything_listens(tmp_path, taken_port) -> None:
    process = run_serve(tmp_path, console__port=str(taken_port))
    said, error = process.communicate(timeout=120)
    assert process.returncode == 2
    assert said == ""
    assert error.count(f"{taken_port}") == 1
    assert "console.port" in error
    assert "Traceback" not in error
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "wal").exists()


def test_serve_begins_with_a_line_for_a_person(tmp_path) -> None:
    process = run_serve(tmp_path, console__port="0")
    assert process.stderr is not None
    # What is for a person alone goes to stderr, where no program that reads the addresses meets it.
    assert process.stderr.readline().startswith("Spanproof is starting")
    process.kill()
    process.communicate()


def test_the_default_console_port_gives_way_and_the_other_one_is_named(tmp_path) -> None:
    port = Console().port
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # another process has it
            taken.bind(("127.0.0.1", port))
            taken.listen()
        process = run_serve(tmp_path)
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while not lines[-1].startswith("store"):
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    assert any(line.startswith(f"console: port {port} is taken, listening on") for line in lines)
