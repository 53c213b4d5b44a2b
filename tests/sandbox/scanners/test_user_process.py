"""The user's scanners run in a process of their own, and are ended when their time is up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

Deadline = Callable[[float], AbstractContextManager[None]]

_FILE = """
import os, re, sys, time
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.rules import Rule
from spanproof.sandbox.scanners.scanner import Scanner

RULE = Rule(Severity.LOW, Verdict.REVIEW, "-")

def scan(context, source):
    print("a line that is no answer")
    word = source.text.split()[-1]
    if word == "hang":
        while True:
            pass
    if word == "pattern":
        re.match("(a+)+$", "a" * 60 + "!")
    if word == "sleep":
        time.sleep(600)
    if word == "exit":
        sys.exit(0)
    if word == "crash":
        os._exit(3)
    if word == "secret":
        raise ValueError("gh" + "p_a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q")
    context.report_finding("user.seen", RULE, source.place(0, 1), f"saw {word} in {os.getpid()}")

SCANNERS = Scanner("mine", None, scan)
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    (tmp_path / "mine.py").write_text(_FILE, encoding="utf-8")
    return Pipeline(parse_policy({"scanner_files": ["mine.py"], "scanner_time_s": 2}, "test", tmp_path))


def _denied_for(scan: Scan) -> str:
    assert scan.verdict is Verdict.DENY
    return next(one.message for one in scan.findings if one.rule == "scanner_error")


def _reviewed_for(scan: Scan) -> str:
    assert scan.verdict is Verdict.REVIEW
    return next(one.message for one in scan.findings if one.rule == "too-complex")


@pytest.mark.parametrize("word", ["hang", "pattern", "sleep"])
def test_a_scanner_that_does_not_end_is_ended_and_its_snippet_reviewed(
    pipeline: Pipeline, word: str, deadline: Deadline
) -> None:
    with deadline(60):
        assert "more than 2 s and was ended" in _reviewed_for(pipeline.scan("text", word))
        assert pipeline.scan("text", "fine").verdict is Verdict.REVIEW


def test_it_is_ended_in_a_thread_too(pipeline: Pipeline, deadline: Deadline) -> None:
    reported: list[Scan] = []
    threads = [
        threading.Thread(target=lambda word=word: reported.append(pipeline.scan("text", word)))
        for word in ("hang", "fine", "fine")
    ]
    with deadline(60):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    rules = sorted(one.rule for scan in reported for one in scan.findings)
    assert rules == ["too-complex", "user.seen", "user.seen"]


@pytest.mark.parametrize(("word", "reported"), [("exit", "SystemExit"), ("crash", "ended without an answer")])
def test_a_scanner_that_ends_its_process_denies(pipeline: Pipeline, word: str, reported: str) -> None:
    assert reported in _denied_for(pipeline.scan("text", word))
    assert pipeline.scan("text", "fine").verdict is Verdict.REVIEW


def test_what_a_scanner_raises_is_reported_without_secrets(pipeline: Pipeline) -> None:
    reported = _denied_for(pipeline.scan("text", "secret"))

    assert "ValueError" in reported
    assert "a8Xk29" not in reported


def test_the_users_code_is_not_loaded_into_this_process(pipeline: Pipeline) -> None:
    message = pipeline.scan("text", "fine").findings[0].message

    assert message.startswith("saw fine in ")
    assert message != f"saw fine in {os.getpid()}"


def test_a_large_text_with_any_characters_gets_there(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(_FILE, encoding="utf-8")
    pipeline = Pipeline(parse_policy({"scanner_files": ["mine.py"]}, "test", tmp_path))
    scan = pipeline.scan("text", "\ud800é\0 " + "x" * 1_500_000)

    assert any(one.rule == "user.seen" for one in scan.findings)


def test_a_fork_of_this_process_has_a_process_of_its_own(pipeline: Pipeline, deadline: Deadline) -> None:
    pipeline.scan("text", "fine")
    with deadline(60):
        child = os.fork()
        if child == 0:
            verdict = pipeline.scan("text", "fine").verdict
            os._exit(0 if verdict is Verdict.REVIEW else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert pipeline.scan("text", "fine").verdict is Verdict.REVIEW


@pytest.mark.parametrize(("text", "reported"), [("1 / 0", "division by zero"), ("SCANNERS = 3", "gives int")])
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, text: str, reported: str
) -> None:
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")

    with pytest.raises(PolicyError, match=rf"mine\.py.*{reported}"):
        Pipeline(parse_policy({"scanner_files": ["mine.py"]}, "test", tmp_path))
