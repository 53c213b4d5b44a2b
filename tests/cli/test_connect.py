"""`spanproof connect` and `spanproof pull`: the file that is written, and what is sent on."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.cli.app import run
from spanproof.cli.commands.connect import format_with_sink
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import load_config
from spanproof.trace.dialects import normalise_request

from ..contract.products import PRODUCTS, Langfuse, Phoenix, listening

KEYS = ("LANGFUSE_SECRET_KEY", "LANGFUSE_PUBLIC_KEY", "PHOENIX_API_KEY", "SPANPROOF_CONFIG")
ENTRY = {"kind": "phoenix", "url": "http://127.0.0.1:6006"}


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "product", [each for each in PRODUCTS if each.kind != "otlp"], ids=lambda each: each.kind
)
def test_each_product_is_checked_and_written_without_its_key(product, tmp_path, monkeypatch, capsys) -> None:
    file = tmp_path / "spanproof.yaml"
    variables = {
        "langfuse": "LANGFUSE_SECRET_KEY", "phoenix": "PHOENIX_API_KEY", "langsmith": "LANGSMITH_API_KEY",
        "mlflow": "MLFLOW_TRACKING_TOKEN", "braintrust": "BRAINTRUST_API_KEY", "weave": "WANDB_API_KEY",
        "datadog": "DD_API_KEY",
    }  # fmt: skip
    monkeypatch.setenv(variables[product.kind], "secret")
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "public")
    project = ["--project", product.settings["project"]] if "project" in product.settings else []
    with listening(product()) as url:
        code = run(["connect", product.kind, "--url", url, *project, "--config", str(file), "--json"])
    assert code == 0, capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)["answer"]
    assert "secret" not in file.read_text()
    (sink,) = load_config(file, {}).sinks
    assert (sink.kind, sink.base_url, sink.project) == (product.kind, url, (project or [None])[-1])
    assert sink.list_missing_keys() == []


def test_what_does_not_answer_is_not_written(tmp_path, closed_port, capsys) -> None:
    file = tmp_path / "spanproof.yaml"
    assert run(["connect", "phoenix", "--url", f"http://127.0.0.1:{closed_port}", "--config", str(file)]) == 2
    assert "phoenix at http://127.0.0.1" in capsys.readouterr().err
    assert not file.exists()
    with listening(Phoenix()) as url:  # whose key is not given
        assert run(["connect", "phoenix", "--url", url, "--config", str(file)]) == 2
    assert "HTTP 401" in capsys.readouterr().err
    assert not file.exists()
    command = ["connect", "phoenix", "--url", url, "--config", str(file), "--no-check"]
    assert run(command) == 0
    before = file.read_text()
    assert run(command) == 2
    assert "has a sink named phoenix already" in capsys.readouterr().err
    assert file.read_text() == before
    assert run([*command, "--name", "second"]) == 0
    assert [sink.label for sink in load_config(file, {}).sinks] == ["second", "phoenix"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["langfuse"], "LANGFUSE_SECRET_KEY and LANGFUSE_PUBLIC_KEY are not set"),
        (["otlp"], "needs a url"),
        (["weave"], "needs project"),
        (["phoenix", "--url", "localhost"], "begins with http"),
    ],
)
def test_what_is_missing_is_named(arguments, says, tmp_path, capsys) -> None:
    assert run(["connect", *arguments, "--config", str(tmp_path / "x.yaml")]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# ours\nproject: shop\n",
        "project: shop\nsinks:\n  - kind: mlflow\n    # kept\n    scores: all\ntokens: [a]\n",
        "sinks:\n- kind: mlflow\n\n- {kind: langsmith}\n",
        "project: shop # no end of line",
        "sinks:\n  -\n    kind: mlflow\n",
    ],
)
def test_the_rest_of_the_file_stays_as_it_is(text) -> None:
    after = format_with_sink(text, ENTRY, Path("f.yaml"))
    was, now = yaml.safe_load(text) or {}, yaml.safe_load(after)
    assert now.pop("sinks") == [ENTRY, *was.pop("sinks", [])]
    assert now == was
    assert all(line in after.splitlines() for line in text.splitlines())


@pytest.mark.parametrize(
    "text", ["sinks: []\n", "sinks: [{kind: mlflow}]\n", "{project: shop}\n", "sinks:\n"]
)
def test_a_file_that_cannot_be_added_to_is_left_to_its_writer(text) -> None:
    with pytest.raises(UsageProblem, match="cannot be added to") as refused:
        format_with_sink(text, ENTRY, Path("f.yaml"))
    assert "- kind: phoenix" in refused.value.remedy


@given(
    st.lists(
        st.sampled_from(["project: shop", "# a comment", "", "tokens: [a]", "wal:\n  fsync: true"]),
        unique=True,
    ),
    st.lists(st.sampled_from(["kind: mlflow", "kind: langsmith", "kind: phoenix"]), max_size=3),
    st.integers(0, 4),
    st.integers(1, 3),
)
def test_an_entry_is_added_wherever_sinks_are(others, sinks, margin, gap) -> None:
    listed = [f"{' ' * margin}-{' ' * gap}{sink}" for sink in sinks]
    parts = [*others[:2], *(["sinks:", *listed] if listed else []), *others[2:]]
    text = "\n".join(parts) + "\n"
    now = yaml.safe_load(format_with_sink(text, ENTRY, Path("f.yaml")))
    was = yaml.safe_load(text) or {}
    assert now["sinks"] == [ENTRY, *was.get("sinks", [])]
    assert {key: value for key, value in now.items() if key != "sinks"} == {
        key: value for key, value in was.items() if key != "sinks"
    }


@contextmanager
def collecting() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """What takes spans as a collector does."""
    taken: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            taken.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", taken
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class LangfuseWithTraces(Langfuse):
    """Langfuse with two pages of observations."""

    pages: ClassVar = {
        None: [
            {
                "id": "b7ad6b7169203331", "traceId": "0af7651916cd43dd8448eb211c80319c", "type": "AGENT",
                "name": "agent", "startTime": "2026-11-20T10:00:00.123456Z",
                "endTime": "2026-11-20T10:00:02Z",
                "input": "What is 2 + 2?", "output": "4", "parentObservationId": None, "level": "DEFAULT",
            },
        ],
        "more": [
            {
                "id": "00f067aa0ba902b7", "traceId": "0af7651916cd43dd8448eb211c80319c", "type": "GENERATION",
                "name": "llm", "startTime": "2026-11-20T10:00:01Z", "endTime": None,
                "parentObservationId": "b7ad6b7169203331", "level": "ERROR", "statusMessage": "it broke",
                "input": [{"role": "user", "content": "hi"}], "output": "```python\nprint(2 + 2)\n```",
                "model": "m-1", "usageDetails": {"input": 3, "output": 4},
            },
        ],
    }  # fmt: skip

    def answer(self, method, path, query, body):
        assert (method, urlsplit(path).path) == ("GET", "/api/public/v2/observations")
        cursor = query.get("cursor", [None])[0]
        assert query["fromStartTime"][0].endswith("+00:00")
        return 200, {"data": self.pages[cursor], "meta": {"cursor": None if cursor else "more"}}


def test_observations_of_langfuse_come_as_the_spans_they_were(monkeypatch, capsys) -> None:
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "secret")
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "public")
    with listening(LangfuseWithTraces()) as url, collecting() as (to, taken):
        assert run(["pull", "langfuse", "--url", url, "--to", to, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"kind": "langfuse", "traces": 1, "spans": 2, "to": to}
    agent, llm = [span for request in taken for span in normalise_request(request)]
    assert (agent.kind, agent.name, agent.parent_id) == ("AGENT", "agent", None)
    assert agent.start_ns == 1_795_168_800_123_456_000
    assert (llm.kind, llm.parent_id, llm.model) == ("LLM", agent.span_id, "m-1")
    assert llm.error is not None
    assert "it broke" in llm.error.message
    assert llm.usage is not None


class MlflowWithTraces(Phoenix):
    """MLflow with a trace on each of two pages."""

    def answer(self, method, path, query, body):
        if path == "/api/3.0/mlflow/traces/search":
            search = json.loads(body)
            assert search["locations"][0]["mlflow_experiment"] == {"experiment_id": "7"}
            assert search["filter"].startswith("timestamp_ms >= ")
            first = "page_token" not in search
            found = {"traces": [{"trace_id": f"tr-{1 if first else 2}"}]}
            return 200, found | ({"next_page_token": "next"} if first else {})
        assert path == "/api/3.0/mlflow/traces/get"
        span = {
            "trace_id": "CvdlGRbNQ92ESOshHIAxnA==",
            "span_id": "t61rcWkgMzE=",
            "parent_span_id": "",
            "name": f"of {query['trace_id'][0]}",
            "start_time_unix_nano": 1795519547677111361,
            "end_time_unix_nano": 1795519547677112361,
            "attributes": [{"key": "mlflow.spanType", "value": {"string_value": '"AGENT"'}}],
            "status": {},
        }
        return 200, {"trace": {"spans": [span]}}


def test_every_page_of_mlflow_is_read(monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "secret")
    with listening(MlflowWithTraces()) as url, collecting() as (to, taken):
        assert run(["pull", "mlflow", "--url", url, "--project", "7", "--to", to, "--since", "24h"]) == 0
    spans = [span for request in taken for span in normalise_request(request)]
    assert [(span.name, span.kind) for span in spans] == [("of tr-1", "AGENT"), ("of tr-2", "AGENT")]
    assert spans[0].trace_id == "0af7651916cd43dd8448eb211c80319c"
    assert spans[0].start_ns == 1795519547677111361


class Odd(Phoenix):
    """What answers is not what was expected."""

    document: object = []

    def answer(self, method, path, query, body):
        return 200, self.document


@pytest.mark.parametrize(
    "document",
    [[], {}, {"data": 3}, {"data": [3]}, {"data": [{"trace_id": "zz", "span_id": "b7ad6b7169203331"}]},
     {"data": [{"trace_id": "0af7", "span_id": "b7ad6b7169203331"}]}, {"data": [{"attributes": 3}]}],
)  # fmt: skip
def test_an_answer_that_cannot_be_read_is_a_message(document, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PHOENIX_API_KEY", "secret")
    odd = Odd()
    odd.document = document
    with listening(odd) as url, collecting() as (to, taken):
        assert run(["pull", "phoenix", "--url", url, "--to", to]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert taken == []


def test_without_a_collector_nothing_is_read(closed_port, capsys) -> None:
    product = Phoenix()
    with listening(product) as url:
        to = f"http://127.0.0.1:{closed_port}"
        assert run(["pull", "phoenix", "--url", url, "--to", to]) == 2
    assert "no collector answers" in capsys.readouterr().err
    assert product.requests == []


@pytest.fixture
def closed_port() -> Iterator[int]:
    """One at which no process listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])
