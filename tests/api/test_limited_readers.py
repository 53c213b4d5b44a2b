"""Readers whose token names a project: they see nothing of another one, on any path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import pytest
from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, TokenHolders, build_app
from spanproof.config.model import load_config
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.semconv.spanproof import COHORT_PREFIX
from spanproof.store import Store, StoreError, open_store
from spanproof.store.connection import Connections
from spanproof.store.layout import Layout
from spanproof.trace import trace_of

from ..suites.conftest import misquote

OURS, THEIRS = "acme's \\ shop", "globex"
TRACES = {OURS: "a1" * 16, THEIRS: "b2" * 16}
TOKENS = [
    {"token": "all", "roles": ["read"]},
    {"token": "ours", "roles": ["read"], "project": OURS},
    {"token": "writes", "roles": ["read", "write"], "project": OURS},
    {"token": "nowhere", "roles": ["read"], "project": "' OR 1 = 1 OR '"},
]
TAKES_VALUES = {
    "dimension": "agent",
    "span_id": "a" * 16,
    "session_id": "globex-session",
    "layer": "groundedness",
    "name": "groundedness",
    "by": "agent",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Store]:
    """A store with a failing trace of each of two projects, counted ahead."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test")
    with open_store(tmp_path_factory.mktemp("projects") / "store") as opened:
        for project, trace_id in TRACES.items():
            spans = [
                replace(
                    span,
                    trace_id=trace_id,
                    agent=f"{project}-agent" if span.agent else span.agent,
                    resource={**span.resource, f"{COHORT_PREFIX}project": project,
                              "session.id": f"{project}-session"},
                )
                for span in misquote().spans
            ]  # fmt: skip
            opened.write([engine.evaluate(trace_of(spans))])
        opened.refresh_rollups()
        yield opened


@pytest.fixture
def app(shared) -> TestClient:
    holders = TokenHolders(load_config(None, {}, {"tokens": json.dumps(TOKENS)}))
    return TestClient(build_app(lambda: shared, ConsoleSettings(accepts=holders.find_grant)))


def get(app: TestClient, path: str, token: str, **query: object):
    return app.get(f"/api/v1/{path}", params=query, headers={"authorization": f"Bearer {token}"})


def every_get(app: TestClient, trace_id: str, agent: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each path that is read at once, about this trace, with the parameters that it requires."""
    values = {**TAKES_VALUES, "trace_id": trace_id, "cluster_id": "c", "number": 1, "case": "c"}
    for path, methods in app.get("/api/v1/openapi.json").json()["paths"].items():
        if "get" not in methods or path.endswith(("/live", "/doctor")):
            continue
        query: dict[str, object] = {}
        for parameter in methods["get"].get("parameters", ()):
            name = parameter["name"]
            if parameter["in"] == "path":
                path = path.replace(f"{{{name}}}", str(values.get(name, "x")))
            elif name == "hours":
                query[name] = 24 * 366
            elif parameter.get("required"):
                query[name] = values.get(name, trace_id)
        path = path.removeprefix("/api/v1/").replace(":path", "")
        yield path, query
        yield path, {**query, "agent": agent}


def test_a_reader_of_one_project_finds_nothing_of_another_on_any_path(app) -> None:
    seen_by_all = 0
    agent = f"{THEIRS}-agent"
    for path, query in every_get(app, TRACES[THEIRS], agent):
        answer = get(app, path, "ours", **query)
        assert answer.status_code in (200, 400, 403, 404, 422), (path, answer.text)
        # An answer may repeat the agent it was queried for, as it is or in its command line.
        text = answer.text
        if "agent" in query:
            text = text.replace(json.dumps(agent), "").replace(f"--where agent={agent}", "")
        for mark in (TRACES[THEIRS], agent, f"{THEIRS}-session"):
            assert answer.status_code != 200 or mark not in text, (path, query, mark)
        seen_by_all += TRACES[THEIRS] in get(app, path, "all", **query).text
    assert seen_by_all > 5


def test_a_reader_of_one_project_reads_its_own(app) -> None:
    listed = get(app, "traces", "ours").json()["traces"]
    assert [row["trace_id"] for row in listed] == [TRACES[OURS]]
    assert [row["trace_id"] for row in get(app, "traces", "ours", failing=True).json()["traces"]] == [
        TRACES[OURS]
    ]
    assert get(app, f"traces/{TRACES[OURS]}", "ours").json()["project"] == OURS
    assert get(app, f"traces/{TRACES[THEIRS]}", "ours").status_code == 404
    assert len(get(app, "traces", "all").json()["traces"]) == 2
    assert get(app, "projects", "ours").json() == {"projects": [OURS], "every": False}
    assert get(app, "projects", "all").json() == {"projects": sorted([OURS, THEIRS]), "every": True}
    assert get(app, "traces", "nowhere").json()["traces"] == []


def test_counts_are_of_the_reader_s_project_alone(shared) -> None:
    ours = shared.limited_to(OURS)
    window = {"start_ns": 0, "end_ns": 2**63 - 1}
    assert {row[0] for row in shared.verdicts_by("agent", **window)} == {f"{OURS}-agent", f"{THEIRS}-agent"}
    assert {row[0] for row in ours.verdicts_by("agent", **window)} == {f"{OURS}-agent"}
    assert ours.evaluation(TRACES[THEIRS]) is None
    assert list(ours.scores(trace_id=TRACES[THEIRS])) == []


@pytest.mark.parametrize("path", ["settings", "health", "alerts", "suites", "gates"])
def test_what_is_of_no_project_is_not_for_such_a_reader(app, path) -> None:
    assert get(app, path, "ours").status_code == 403
    assert get(app, path, "all").status_code == 200


def test_a_writer_of_one_project_writes_nothing_that_is_everyone_s(app) -> None:
    for path in ("silences", "promotions"):
        refused = app.post(f"/api/v1/{path}", json={}, headers={"authorization": "Bearer writes"})
        assert refused.status_code == 403


def test_a_writer_of_one_project_labels_its_own_traces_and_no_other(app, shared) -> None:
    given = {"run_span_id": "a" * 16, "layer": "groundedness", "verdict": "pass"}
    for trace_id, status in ((TRACES[THEIRS], 404), (TRACES[OURS], 201)):
        answer = app.post(
            "/api/v1/labels", json={**given, "trace_id": trace_id}, headers={"authorization": "Bearer writes"}
        )
        assert answer.status_code == status, answer.text
    assert [row.trace_id for row in shared.limited_to(OURS).browse.list_labels(limit=9)] == [TRACES[OURS]]
    assert shared.limited_to(THEIRS).browse.list_labels(limit=9) == []


def test_a_store_that_another_process_answers_for_refuses_the_limit() -> None:
    def open_client(settings: object) -> NoReturn:
        raise AssertionError(settings)

    borrowed = Connections("shop", Layout("spanproof"), open_client, lambda: None, borrowed=True)
    with pytest.raises(StoreError, match="serve the console from that process"):
        borrowed.with_project(OURS)
