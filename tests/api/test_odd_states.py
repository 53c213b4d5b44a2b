"""Every path of the API over stores and workspaces in odd states: no answer is the server's own fault.

Paths and parameters are those of the OpenAPI document: a new path is tried without a line here, and a
parameter of a new type fails the test.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, build_app
from spanproof.api.parameters import encode_cursor
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import Store, StoreError, open_store
from spanproof.store.alerts import AlertEvent, Delivery, MadeRule, Silence
from spanproof.store.assignments import Assignment
from spanproof.store.failures import TriageAction
from spanproof.store.saved_views import SavedView
from spanproof.trace import Trace, trace_of

from ..console.filled_store import ERRORED, OPEN, SPOILT, errored, half_checked, hostile, recorded_engine
from ..suites.conftest import misquote
from .odd_workspaces import (
    GOOD_EXPERIMENT,
    GOOD_REPORT,
    GOOD_SUITE,
    HOSTILE,
    ODD_EXPERIMENT,
    ODD_REPORT,
    ODD_SUITE,
    RUN,
    STATES,
    TRACE,
    OddWorkspace,
    build_workspace,
)

OURS = {"host": "testserver", "origin": "http://testserver", "sec-fetch-site": "same-origin"}
WITHOUT_RUNS, OF_THE_FUTURE, OF_TIME_ZERO = "1" * 32, "2" * 32, "3" * 32
_SERVER_FAULT: Final = 500
_UNAVAILABLE: Final = 503
_HOSTILE_NAMES: Final = (HOSTILE, "..", "%00", "\0", "x" * 400)
_NO_NAMES: Final = {"name": ("none", *_HOSTILE_NAMES), "case": ("none", HOSTILE)}
_OF_ODD_WORKSPACE: Final = {
    "experiment": (ODD_EXPERIMENT,), "number": (1,), "span_id": (RUN,), "image_id": ("none",),
    "text": ("tea",), "baseline": (GOOD_EXPERIMENT,), "runs": ([{"trace_id": TRACE}],), "suite": (ODD_SUITE,),
    "limit": (50,), "columns": (6,), "offset": (0,), "first_step": (1,),
}  # fmt: skip
_AREAS: Final = {"suites": ODD_SUITE, "experiments": ODD_EXPERIMENT, "gates": ODD_REPORT}

# What a parameter or a field of a body is given, where the document does not say it; the first one is valid.
_VALUES: Final[Mapping[str, Sequence[object]]] = {
    "trace_id": (TRACE, OPEN, ERRORED, SPOILT, WITHOUT_RUNS, OF_THE_FUTURE, OF_TIME_ZERO, "5", "f" * 32, "G"),
    "run": (RUN, "b"), "run_span_id": (RUN,), "span_id": (RUN, "b" * 16),
    "experiment": (ODD_EXPERIMENT, GOOD_EXPERIMENT, HOSTILE), "number": (1, 2, 0, -1, 10**30),
    "before": (f"traces/{TRACE}", f"traces/{OPEN}/{RUN}", "trials/a/b/c", f"cases/{ODD_SUITE}/x", HOSTILE),
    "after": (f"traces/{TRACE}", f"traces/{WITHOUT_RUNS}", f"trials/{ODD_EXPERIMENT}/x/1", "colour"),
    "dimension": ("agent", "window", "session", "attribute:tenant.id", f"attribute:{HOSTILE[:20]}", "colour"),
    "by": ("agent", "task", "attribute:tenant.id"),
    "where": ("agent=x", f"attribute:tenant={HOSTILE}"),
    "cursor": (encode_cursor(2**63 - 1, HOSTILE), encode_cursor(0, ""), encode_cursor(1, "a.b.c/d"), "!"),
    "assertion": (
        "groundedness.score >= 0.9 for all cases", "execution.score >= 0.5 for at_least 3 cases",
        "p95(trajectory.score) <= 10", "groundedness.score no_worse than baseline", "groundedness >", HOSTILE,
    ),
    # Time passes while a stream is open.
    "seconds": (0,),
    "rule": ("{name: low, layer: groundedness}", "{name: low, layer: colour}", "[", HOSTILE),
    "matchers": ({"agent": "a*"}, {HOSTILE: HOSTILE}),
    "policy": ("", "denied_calls: [print]", "- a", "{", HOSTILE),
    "runs": ([{"trace_id": TRACE}], [{"trace_id": WITHOUT_RUNS}], [{"trace_id": TRACE, "run_span_id": "b"}]),
    "suite": (ODD_SUITE, "new", "../outside", HOSTILE),
    "sources": ({}, {"none": "1"}), "results": ({}, {"9": 1}),
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """A path with a method, and what it takes."""

    method: str
    path: str
    parameters: Sequence[Mapping[str, Any]]
    fields: Sequence[Mapping[str, Any]]
    names_workspace: bool

    @property
    def required(self) -> list[Mapping[str, Any]]:
        """Parameters and fields that each request has."""
        return [each for each in (*self.parameters, *self.fields) if each.get("required")]


def list_operations(app: FastAPI) -> list[Operation]:
    """Return what the application offers."""
    document = app.openapi()
    schemas = document["components"]["schemas"]
    operations = []
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            parameters = [
                {**each, "schema": _resolve(each["schema"], schemas)}
                for each in described.get("parameters", ())
            ]
            content = described.get("requestBody", {}).get("content")
            body = _resolve(content["application/json"]["schema"], schemas) if content else {}
            required = body.get("required", ())
            fields = [
                {"name": name, "required": name in required, "schema": _resolve(schema, schemas)}
                for name, schema in body.get("properties", {}).items()
            ]
            is_of_workspace = "workspace" in json.dumps([described, body])
            operations.append(Operation(method, path, parameters, fields, is_of_workspace))
    return operations


def _resolve(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without references; where the value may be null, that of other values."""
    if "anyOf" in schema:
        return _resolve(schema["anyOf"][0], schemas)
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def list_values(
    name: str, schema: Mapping[str, Any], of_state: Mapping[str, Sequence[object]]
) -> list[object]:
    """Return what a parameter is given, a common value first."""
    if name in of_state:
        return list(of_state[name])
    if name in _VALUES:
        return list(_VALUES[name])
    if "enum" in schema:
        return list(schema["enum"])
    if schema["type"] == "boolean":
        return [True, False]
    if schema["type"] in ("integer", "number"):
        lowest, highest = schema.get("minimum", 1e-9), schema.get("maximum", 2**62)
        return [schema.get("default", highest), lowest, highest]
    assert schema["type"] in ("string", "array"), f"give {name} a value in _VALUES"
    return ["ann", HOSTILE[:50]] if schema["type"] == "string" else [[]]


def iter_requests(
    operation: Operation, of_state: Mapping[str, Sequence[object]]
) -> Iterator[Mapping[str, object]]:
    """Yield what to give to a path.

    Each value of what it requires comes once; the values of all else come together, the first of each first.
    """
    every = (*operation.parameters, *operation.fields)
    values = {each["name"]: list_values(each["name"], each["schema"], of_state) for each in every}
    required = {each["name"] for each in operation.required} | {"seconds"} & values.keys()
    plain = {name: values[name][0] for name in required}
    yield plain
    for name in sorted(required):
        yield from ({**plain, name: value} for value in values[name][1:])
    optional = {name: others for name, others in values.items() if name not in required}
    for number in range(max(map(len, optional.values()), default=0)):
        yield {**plain, **{name: others[number % len(others)] for name, others in optional.items()}}


def send(client: TestClient, operation: Operation, given: Mapping[str, object]) -> tuple[int, str]:
    """Return the status of an answer, and what is wrong with it."""
    path, query = operation.path, {}
    for parameter in operation.parameters:
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", quote(str(given[name])))
        elif name in given:
            query[name] = given[name]
    fields = {each["name"]: given[each["name"]] for each in operation.fields if each["name"] in given}
    body = fields if operation.method == "post" else None
    try:
        answer = client.request(operation.method, path, params=query, json=body, headers=OURS)
    except Exception as problem:
        # A client gets 500.
        return _SERVER_FAULT, f"{operation.method} {path} {query} {fields}: {problem!r}"
    is_problem = answer.headers["content-type"] == "application/problem+json" and answer.json()["detail"]
    if answer.is_success or answer.is_redirect or is_problem:
        return answer.status_code, ""
    return answer.status_code, f"{operation.method} {path} {query}: {answer.text[:200]}"


def list_faults(
    client: TestClient, operations: Sequence[Operation], of_state: Mapping[str, Sequence[object]]
) -> list[str]:
    """Return every fault of the server."""
    faults = []
    for operation in operations:
        area = operation.path.split("/")[3]
        names = {"name": (_AREAS[area],) if area in _AREAS else _HOSTILE_NAMES, **of_state}
        sent = [send(client, operation, given) for given in iter_requests(operation, names)]
        faults += [fault for _, fault in sent if fault]
    return faults


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a trace in each odd state, and rows about traces, rules and clusters that are gone."""
    with open_store(tmp_path_factory.mktemp("odd") / "store") as store:
        write_traces(store)
        write_leftovers(store)
        yield store


def write_traces(store: Store) -> None:
    """Write a failing run, and traces in odd states."""
    engine = recorded_engine()
    failing = engine.evaluate(misquote())
    store.write([failing, engine.evaluate(half_checked()), errored(engine.evaluate(half_checked()))])
    store.write([engine.evaluate(hostile(misquote()))])
    store.write([TraceEvaluation(_move(misquote(), WITHOUT_RUNS, 0), (), ())])
    store.write([engine.evaluate(_move(misquote(), OF_THE_FUTURE, 10**18))])
    start = min(span.start_ns for span in misquote().spans)
    store.write([engine.evaluate(_move(misquote(), OF_TIME_ZERO, -start))])


def _move(trace: Trace, trace_id: str, by_ns: int) -> Trace:
    """Return a trace under another id, at another time."""
    return trace_of(
        [
            replace(span, trace_id=trace_id, start_ns=span.start_ns + by_ns, end_ns=span.end_ns + by_ns)
            for span in trace.spans
        ]
    )


def write_leftovers(store: Store) -> None:
    """Write what refers to nothing: an alert of no rule, decisions on no cluster, work on no trace."""
    now, log = time.time_ns(), store.alerts
    for number, document in enumerate(("{}", "[]", "", '{"id": "a"}')):
        place = ("gone", f"{number}", now, 0)
        log.write_events([AlertEvent(*place, "firing", now, now, now, "n", ("chat",), False, document)])
    log.write_delivery(Delivery("none", "gone", HOSTILE, "of a later version", 3, HOSTILE, now))
    log.write_silence(Silence("s", {HOSTILE: "*"}, now, now, HOSTILE, HOSTILE))
    log.save_rule(MadeRule("broken", "[", "ann", now))
    log.save_rule(MadeRule(HOSTILE, "{name: x, layer: colour}", HOSTILE, now))
    store.triage("gone", TriageAction.STATE, "of a later version", HOSTILE)
    store.assignments.write_assignment(Assignment("other", "f" * 32, RUN, "colour", "ann", 0, "ann", now))
    store.views.write_view(SavedView("other", HOSTILE, HOSTILE, HOSTILE, now))


def test_no_path_fails_over_an_empty_store_without_a_workspace(tmp_path):
    with open_store(tmp_path / "store") as store:
        app = build_app(lambda: store)
        assert not list_faults(TestClient(app), list_operations(app), _NO_NAMES)


def test_no_path_fails_over_odd_traces(full, tmp_path):
    app = build_app(lambda: full, ConsoleSettings(workspace=tmp_path))
    assert not list_faults(TestClient(app), list_operations(app), _NO_NAMES)


@pytest.fixture(scope="module")
def template(full: Store, tmp_path_factory: pytest.TempPathFactory) -> OddWorkspace:
    evaluation = full.evaluation(TRACE)
    assert evaluation is not None, "the store has the failing run"
    return build_workspace(tmp_path_factory.mktemp("odd") / "workspace", evaluation)


@pytest.fixture(scope="module")
def application(full: Store, template: OddWorkspace) -> FastAPI:
    return build_app(lambda: full, ConsoleSettings(workspace=template.root))


@pytest.fixture(scope="module")
def of_workspace(application: FastAPI, template: OddWorkspace) -> list[Operation]:
    """What needs no store, or says that it takes what the workspace has."""

    def fail() -> Store:
        raise StoreError("it is gone")

    client = TestClient(build_app(fail, ConsoleSettings(workspace=template.root)))
    return [
        each
        for each in list_operations(application)
        if each.names_workspace or send(client, each, next(iter_requests(each, _NO_NAMES)))[0] != _UNAVAILABLE
    ]


@pytest.mark.parametrize("state", STATES)
def test_no_path_fails_over_an_odd_workspace_and_its_lists_go_on(application, template, of_workspace, state):
    kept = template.root.with_name("kept")
    shutil.copytree(template.root, kept)
    try:
        STATES[state](template)
        client = TestClient(application)
        places = [f"trials/{ODD_EXPERIMENT}/{template.case}/1", f"cases/{ODD_SUITE}/{template.case}"]
        names = {**_OF_ODD_WORKSPACE, "case": (template.case, "gone"), "before": places, "after": places}
        assert not list_faults(client, of_workspace, names)
        lists = [client.get(f"/api/v1/{area}").json() for area in ("suites", "experiments", "gates")]
        assert GOOD_SUITE in {row["name"] for row in lists[0]["suites"]}
        assert GOOD_EXPERIMENT in {row["column"]["name"] for row in lists[1]["experiments"]}
        assert GOOD_REPORT in {row["name"] for row in lists[2]["reports"]}
    finally:
        shutil.rmtree(template.root)
        kept.rename(template.root)
