"""A collector that is stopped or killed loses nothing of what it has acknowledged."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import httpx
import plain_http
import pytest
from waiting import wait_until

from spanproof.store import Store, open_store
from spanproof.trace import Scored
from spanproof.trace.otlp import build_any_value

from .collectors import AGENT, PROTOBUF, agent_request, post, running, serving


def test_stopping_evaluates_what_was_received_without_waiting_for_quiet(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__quiet_s="300", assembly__orphan_quiet_s="300") as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        began = time.monotonic()
    assert time.monotonic() - began < 200
    assert collector.evaluated.traces == 1
    with open_store(tmp_path / "store") as store:
        assert store.evaluation(f"{1:032x}") is not None


def test_what_was_acknowledged_before_kill_9_is_evaluated_by_the_next_one_that_drains_on_sigterm(
    tmp_path, make_request
) -> None:
    traces = 12
    never_quiet = {"assembly__quiet_s": "200", "assembly__orphan_quiet_s": "200"}
    with serving(tmp_path, **never_quiet) as (process, where), httpx.Client(timeout=120) as client:
        for number in range(1, traces + 1):
            body = agent_request(make_request, (number, 1, None), (number, 2, 1))
            assert client.post(f"{where['http']}/v1/traces", content=body, headers=PROTOBUF).is_success
        process.kill()
        process.wait()
    with serving(tmp_path, **never_quiet) as (process, where):
        body = agent_request(make_request, (traces + 1, 1, None), (traces + 1, 2, 1))
        url = f"{where['http']}/v1/traces"
        assert plain_http.post(url, content=body, headers=PROTOBUF, timeout=120).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
    with open_store(tmp_path / "store") as store:
        assert len(store.traces(limit=100)) == traces + 1
        stored = store.evaluation(f"{traces + 1:032x}")
        assert stored is not None
        assert any(isinstance(score.outcome, Scored) for score in stored.scores)


CODE = ["price = 12\nprint(price * 3)", "print(1 / 0)", "import random\nprint(sorted({'a', 'b'}))"]
LOGS = ["36\n", "", "['a', 'b']\n"]
TRACES = 24


@pytest.mark.load
def test_several_workers_say_what_one_says_and_kill_9_amid_their_work_loses_nothing(
    tmp_path, make_request
) -> None:
    (tmp_path / "one").mkdir()
    bodies = [code_request(make_request, number) for number in range(1, TRACES + 1)]
    replaying = {"evaluation__replay": "true", "evaluation__store_batch": "4"}
    with running(tmp_path / "one", evaluation__workers="1", **replaying) as collector:
        for body in bodies:
            post(collector, body)
        assert collector.evaluated.wait_for(TRACES, timeout_s=120)
        by_one = said_of(collector.store)
    with serving(tmp_path, evaluation__workers="4", sandbox__workers="3", **replaying) as (process, where):
        with httpx.Client(timeout=120) as client:
            for body in bodies:
                assert client.post(f"{where['http']}/v1/traces", content=body, headers=PROTOBUF).is_success
            wait_until(
                lambda: "spanproof_traces_completed_total{" in client.get(f"{where['http']}/metrics").text
            )
        process.kill()
        process.wait()
    with running(tmp_path, evaluation__workers="3", **replaying) as collector:
        wait_until(lambda: len(collector.store.traces(limit=1000)) == TRACES, within_s=120)
        by_several = said_of(collector.store)
    assert by_several == by_one
    assert len({str(said) for said in by_one.values()}) == len(CODE)


def code_request(make_request: Callable[..., object], number: int) -> bytes:
    """A run with a step of code, one of three."""
    request = make_request((number, 1, None), (number, 2, 1), scope="spanproof.instrumentors.smolagents")
    root, step = request.resource_spans[0].scope_spans[0].spans
    kind = number % len(CODE)
    of_step = {
        "openinference.span.kind": "CHAIN",
        "spanproof.step.number": 1,
        "spanproof.code.source": CODE[kind],
        "spanproof.code.language": "python",
        "spanproof.execution.logs": LOGS[kind],
    }
    for span, attributes in ((root, AGENT), (step, of_step)):
        for key, value in attributes.items():
            span.attributes.add(key=key, value=build_any_value(value))
    return bytes(request.SerializeToString())


def said_of(store: Store) -> dict[int, list[tuple[object, ...]]]:
    """What was said of each trace, by number; each score once."""
    said = {}
    for number in range(1, TRACES + 1):
        stored = store.evaluation(f"{number:032x}")
        assert stored is not None
        of_trace = sorted(
            (score.layer, score.name, score.span_id, repr(score.outcome)) for score in stored.scores
        )
        assert len({each[:3] for each in of_trace}) == len(of_trace)
        said[number] = of_trace
    return said
