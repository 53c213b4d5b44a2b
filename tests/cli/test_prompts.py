"""`spanproof prompts` over a real embedded store."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from spanproof.cli.app import run
from spanproof.cli.output.console import console
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import open_store
from spanproof.trace import trace_of
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import decode_json

OLD = "You are a clerk.\nSay what the order costs."
NEW = "You are a clerk.\nSay what the order costs, and nothing else."


def make_document(number: int, prompt: str, answer: str, version: str | None) -> dict:
    """A run of one model call, in OpenInference, as OTLP JSON."""
    start = time.time_ns() - 10**12 + number * 10**9

    def span(place: int, parent: str, kind: str, **attributes: str) -> dict:
        return {
            "traceId": f"{number:032x}",
            "spanId": f"{number:08x}{place:08x}",
            "parentSpanId": parent,
            "name": kind.lower(),
            "startTimeUnixNano": str(start + place),
            "endTimeUnixNano": str(start + 1000 - place),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in {"openinference.span.kind": kind, **attributes}.items()
            ],
        }

    declared = {"spanproof.cohort.prompt_version": version} if version else {}
    agent = {"agent.name": "clerk", "input.value": "What does it cost?", "output.value": answer, **declared}
    messages = {
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": prompt,
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "What does it cost?",
    }
    root = f"{number:08x}{1:08x}"
    spans = [span(1, "", "AGENT", **agent), span(2, root, "LLM", **messages)]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("prompts") / "store"
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    documents = [
        make_document(1, OLD, "It costs $4.", "v1"),
        make_document(2, OLD, "It costs $5.", "v1"),
        make_document(3, NEW, "$5", "v2"),
        make_document(4, OLD + "\nToday is 27 November 2026.", "$6", None),
        make_document(5, OLD + "\nToday is 1 December 2026.", "$6", None),
    ]
    with open_store(place) as store:
        for document in documents:
            request = decode_json(json.dumps(document).encode())
            store.write_spans([request])
            store.write([engine.evaluate(trace_of(list(normalise_request(request))))])
    return str(place)


def test_versions_are_listed_with_their_verdicts_declared_or_not(location, capfd) -> None:
    assert run(["prompts", "list", "--store", location, "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [row["version"] for row in rows[1:]] == ["v2", "v1"]
    assert rows[0]["version"].startswith("prompt-")
    assert [row["text"] for row in rows[1:]] == [NEW, OLD]
    counted = rows[2]["layers"]["trajectory"]
    assert sum(counted.values()) == 2


def test_the_list_breaks_no_head_and_no_date_at_80_columns(location, capfd, monkeypatch) -> None:
    monkeypatch.setattr(console, "width", 80)
    assert run(["prompts", "list", "--store", location]) == 0
    head, *rows = capfd.readouterr().out.splitlines()
    assert head.split() == ["agent", "version", "last", "run", "correct", "bound", "exec", "ground", "traj"]
    assert len([row for row in rows if re.match(r"clerk +\S+ +\d{4}-\d\d-\d\d ", row)]) == 3
    assert max(len(row) for row in (head, *rows)) <= 80


def test_two_versions_are_compared_line_by_line(location, capfd, monkeypatch) -> None:
    monkeypatch.setattr(console, "width", 200)
    assert run(["prompts", "diff", "v1", "v2", "--store", location]) == 0
    printed = capfd.readouterr().out
    assert "-Say what the order costs." in printed
    assert "+Say what the order costs, and nothing else." in printed


def test_a_version_goes_into_a_suite(location, tmp_path: Path, capfd) -> None:
    suite = tmp_path / "suite"
    assert run(["prompts", "promote", "v1", "--suite", str(suite), "--store", location]) == 0
    (prompt,) = (suite / "prompts").iterdir()
    assert prompt.read_text(encoding="utf-8") == OLD
    assert f"spanproof suite run {suite}" in capfd.readouterr().out.replace("\n", "")


def test_an_unknown_version_is_named_with_those_there_are(location, capfd) -> None:
    assert run(["prompts", "show", "v9", "--store", location]) == 2
    problem = capfd.readouterr().err
    assert "'v9'" in problem
    assert "v2" in problem
