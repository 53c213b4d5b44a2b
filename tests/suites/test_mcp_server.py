"""A coding agent's client of the Model Context Protocol, against `spanproof mcp` in a process of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from mcp import Client, StdioServerParameters

from spanproof.store import open_store
from spanproof.trace import Cause, Layer, Scored

READING = {"list_traces", "show_trace", "check_code", "list_cases", "run_suite"}


def call_all(arguments: list[str], *calls: tuple[str, dict[str, object]]) -> tuple[dict[str, object], list]:
    """Return the offered tools by name, and what each call gave: its text, and whether it is an error."""

    async def talk() -> tuple[dict[str, object], list]:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "spanproof.cli", "mcp", *arguments]
        )
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            answers = [await client.call_tool(name, given) for name, given in calls]
        return tools, [
            ("\n".join(part.text for part in each.content), bool(each.is_error)) for each in answers
        ]

    return asyncio.run(talk())


def test_a_failing_run_is_found_shown_promoted_and_run_again(stored, tmp_path):
    suite = {"suite": "shop"}
    tools, answers = call_all(
        ["--store", stored, "--suites", str(tmp_path / "suites"), "--allow-writes"],
        ("list_traces", {"layer": "groundedness"}),
        ("show_trace", {"trace": "5555"}),
        ("promote_run", {"trace": "5555", **suite}),
        ("list_cases", suite),
        ("run_suite", suite),
    )
    assert set(tools) == {*READING, "promote_run"}
    assert not any(failed for _, failed in answers), answers
    listed, shown, promoted, cases, report = (text for text, _ in answers)
    (run,) = json.loads(listed)["runs"]
    assert (json.loads(listed)["state"], run["state"]) == ("fail", "fail")
    assert run["verdicts"]["groundedness"] == "fail"
    assert "54.00" in run["why"]["groundedness"]
    assert "cents = price_of('tea')" in shown
    assert "\x1b" not in shown
    assert Path(json.loads(promoted)["folder"], "case.yaml").is_file()
    assert json.loads(cases)["fails"] == ["groundedness"]
    assert json.loads(report)["counts"]["reproduced"] == 1


def test_a_server_without_writes_lists_open_runs_scans_and_names_remedies(tmp_path, evaluation):
    (whole,) = evaluation.runs
    left_open = Scored(0.5, None, "no source has $77.31", cause=Cause.VALUE_NOT_FOUND)
    scores = tuple(
        replace(score, outcome=left_open if score.layer is Layer.GROUNDEDNESS else score.outcome)
        for score in whole.scores
    )
    with open_store(tmp_path / "store") as store:
        store.write([replace(evaluation, runs=(replace(whole, scores=scores),))])
    tools, answers = call_all(
        ["--store", str(tmp_path / "store"), "--suites", str(tmp_path / "suites")],
        ("check_code", {"source": "open('/etc/shadow').read()", "language": "python"}),
        ("promote_run", {"trace": "5555", "suite": "shop"}),
        ("show_trace", {"trace": "9999"}),
        ("list_traces", {"since": "yesterday"}),
        ("list_cases", {"suite": "../../etc"}),
        ("list_traces", {"limit": 0}),
        ("list_traces", {}),
        ("list_traces", {"states": ["open"], "layer": "groundedness"}),
        ("list_traces", {"states": ["pass"]}),
        ("list_traces", {"states": []}),
    )
    assert set(tools) == READING
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert [failed for _, failed in answers] == [False, *[True] * 5, *[False] * 4], answers
    scanned, _not_offered, unknown, since, outside, limit, listed, chosen, passed, every = (
        text for text, _ in answers
    )
    verdict = json.loads(scanned)
    assert verdict["verdict"] == "deny"
    assert verdict["findings"][0]["line"] == 1
    assert "The latest are: 5555" in unknown
    assert "Write 90s, 15m, 24h or 7d" in since
    assert "lies outside" in outside
    assert "greater than or equal to 1" in limit
    (run,) = json.loads(listed)["runs"]
    assert (run["state"], run["verdicts"]["groundedness"]) == ("open", "open")
    assert run["why"]["groundedness"] == "no source has $77.31"
    assert chosen == listed == every
    assert "trace_id" not in passed
