"""Limits as a user gives them: options of `sandbox run` and `eval`, lines, and the configuration."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest

from spanproof.cli.app import run
from spanproof.config.engine import build_replay_limits
from spanproof.config.model import load_config

THREADS = (
    "import threading\ngate = threading.Event()\n"
    "threads = [threading.Thread(target=gate.wait) for _ in range(100)]\n"
    "try:\n    [thread.start() for thread in threads]\nfinally:\n    gate.set()\nprint(len(threads))\n"
)


@pytest.fixture
def threads(tmp_path):
    file = tmp_path / "threads.py"
    file.write_text(THREADS)
    return str(file)


def read(capsysbinary):
    return json.loads(capsysbinary.readouterr().out)


def test_an_option_raises_a_limit_of_sandbox_run(threads, capsysbinary):
    assert run(["sandbox", "run", "--json", "--max-processes", "150", threads]) == 0
    assert read(capsysbinary)["stdout"] == "100\n"


def test_a_reached_limit_names_the_option_that_raises_it(threads, capsysbinary):
    assert run(["sandbox", "run", "--json", threads]) == 1
    assert read(capsysbinary)["limit"] == {"name": "processes", "value": 64, "option": "--max-processes"}
    assert run(["sandbox", "run", threads]) == 1
    assert b"raise it with --max-processes" in capsysbinary.readouterr().out


def test_a_line_has_limits_of_its_own(monkeypatch, capsysbinary):
    lines = [
        {"id": 1, "language": "python", "source": THREADS, "limits": {"processes": 150}},
        {"id": 2, "language": "python", "source": "print(1)", "limits": {"procs": 150}},
        {"id": 3, "language": "python", "source": "print(1)", "limits": {"processes": 0}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    run(["sandbox", "run", "--jsonl"])
    first, second, third = (json.loads(line) for line in capsysbinary.readouterr().out.splitlines())
    assert first["failure_class"] == "ok"
    assert "some of disk_bytes, memory_bytes" in second["error"]
    assert "whole number above 0" in third["error"]


@pytest.mark.parametrize("size", ["0", "many", "12 parsecs", "-1"])
def test_a_size_that_is_none_is_refused_with_the_form(threads, size, capsys):
    assert run(["sandbox", "run", "--max-memory", size, threads]) == 2
    assert "512MiB" in capsys.readouterr().err


def test_the_configuration_bounds_what_is_evaluated(tmp_path):
    file = tmp_path / "spanproof.yaml"
    file.write_text("sandbox: {limits: {processes: 200, memory_bytes: 1073741824, wall_s: 60}}\n")
    limits = build_replay_limits(load_config(file, {}))
    assert (limits.base.processes, limits.base.memory_bytes, limits.step_s) == (200, 2**30, 60)
    assert build_replay_limits(load_config(None, {})).base.processes == 64
