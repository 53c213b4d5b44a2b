"""Misuse of any command: one message that names the input and the remedy, exit code 2, nothing on stdout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanproof.cli.app import run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes.py").write_bytes(bytes(range(256)))
    (tmp_path / "bytes.yaml").write_bytes(bytes(range(256)))
    (tmp_path / "bytes.pb").write_bytes(b"\xff\xff\xff")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xff\xff")
    (tmp_path / "empty.pb").touch()
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "good.py").write_text("print(1)\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("scna", "did you mean 'scan'"),
        ("breakdown", "Missing argument 'FACT'. Choose from: failure_class, attempt, blocked, cwe"),
        ("connect nowhere", "'nowhere' is not one of 'phoenix'"),
        ("replay absent", "absent cannot be read: No such file"),
        ("suite run absent", "there is no suite at absent"),
        ("suite rnu", "run"),
        ("--nope", "--nope"),
        ("eval", "FILES"),
        ("eval --nope", "--nope"),
        ("eval --json --no-replay absent.pb", "absent.pb"),
        ("eval --json --no-replay folder", "folder cannot be read"),
        ("eval --json --no-replay bytes.pb", "bytes.pb"),
        ("eval --json --no-replay bytes.json", "bytes.json"),
        ("eval --json --no-replay empty.pb", "empty.pb: the file is empty"),
        ("eval --json --no-replay empty.jsonl", "empty.jsonl: the file is empty"),
        ("eval --json --policy absent.yaml empty.pb", "absent.yaml"),
        ("eval --json --policy bytes.yaml empty.pb", "bytes.yaml"),
        ("eval --json --backend nowhere empty.pb", "nowhere"),
        ("scan folder", "folder cannot be read"),
        ("scan --json good.py absent.py", "absent.py"),
        ("scan --jsonl good.py", "--jsonl reads stdin"),
        ("detect --jsonl good.py", "--jsonl reads stdin"),
        ("detect --json good.py absent.txt", "absent.txt"),
        ("detect folder", "folder cannot be read"),
        ("sandbox run folder", "folder cannot be read"),
        ("sandbox run --timeout nan good.py", "--timeout"),
        ("sandbox run --workers 0 --jsonl", "--workers"),
        ("replay", "--jsonl"),
        ("replay --jsonl --backend nowhere", "nowhere"),
        ("score groundedness", "--jsonl"),
        ("score groundedness rows.jsonl", "rows come from stdin: spanproof score groundedness --jsonl <"),
        ("score trajectory", "--jsonl"),
        ("suite run folder --policy absent.yaml", "absent.yaml"),
        ("suite run folder", "folder"),
        ("traces --limit 0", "--limit"),
        ("traces --store clickhouse://127.0.0.1:1", "127.0.0.1:1"),
        ("traces --store elsewhere://x", "elsewhere"),
        ("gate --scores good.py --assert boundary", "boundary"),
        ("config check absent.yaml", "absent.yaml"),
        ("config check bytes.yaml", "bytes.yaml"),
        ("config show --set sandbox.backend=nowhere", "nowhere"),
        ("serve --set recievers.grpc.port=1", "did you mean 'receivers'"),
        ("serve --set receivers.grpc.port=99999", "99999"),
        ("serve --set receivers.grpc.port=port", "'port'"),
        ("serve --set receivers.grpc.port", "KEY=VALUE"),
        ("serve --set wal.directory=bytes.py --set store.location=s", "bytes.py"),
        ("serve --set store.location=bytes.py --set wal.directory=w", "bytes.py"),
    ],
)
def test_misuse_is_one_message_with_its_remedy(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, named: str
) -> None:
    assert run(arguments.split()) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert named in reported.err
    assert "remedy:" in reported.err or "spanproof promote" in reported.err
    assert "internal error" not in reported.err


def test_what_an_error_quotes_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", "\x1b[2Jabsent.py"]) == 2
    reported = capsys.readouterr().err
    assert "\x1b" not in reported
    assert "<U+001B>[2Jabsent.py" in reported


def test_a_file_without_utf8_is_scanned_and_detected(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", "--json", "bytes.py"]) == 0
    assert run(["detect", "--json", "bytes.py"]) == 0
    assert all(json.loads(line)["file"] == "bytes.py" for line in capsys.readouterr().out.splitlines())


def test_the_variable_that_names_the_store_is_the_servers_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANPROOF_STORE", "elsewhere")
    assert run(["config", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["store"]["location"] == "elsewhere"


def test_config_show_reads_the_file_that_serve_would(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "spanproof.yaml").write_text("project: mine\n")
    monkeypatch.setenv("SPANPROOF_CONFIG", "spanproof.yaml")
    assert run(["config", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["project"] == "mine"
