"""Products that take scores, as servers on loopback: each as its API describes it, and what it would show."""

from __future__ import annotations

import json
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

Answer = tuple[int, Any]
Shown = dict[tuple[str, str], float | None]
"""Value by span id and name; None where the product shows the score without a value."""


@dataclass
class Product:
    """A product with the spans that it has; `trouble` is answered first, one for each request that writes."""

    kind: ClassVar[str]
    settings: ClassVar[dict[str, str]] = {}
    shows_errors: ClassVar[bool] = True

    spans: dict[str, str] = field(default_factory=dict)
    trouble: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    kept: dict[Any, Any] = field(default_factory=dict)
    refused_spans: set[str] = field(default_factory=set)

    def authorised(self, headers: dict[str, str]) -> bool:
        """Whether the request has the key."""
        return headers.get("authorization") == "Bearer secret"

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> Answer:
        """Return status and document."""
        raise NotImplementedError

    def shown(self) -> Shown:
        """What a user sees."""
        raise NotImplementedError

    def status_of(self, span_id: str) -> int:
        """200, or why the span takes nothing."""
        if span_id in self.refused_spans:
            return 422
        return 200 if span_id in self.spans else 404


class Phoenix(Product):
    kind = "phoenix"

    def answer(self, method, path, query, body):
        if (method, path) == ("GET", "/v1/projects"):
            return 200, {"data": [{"name": "default"}], "next_cursor": None}
        assert (method, path, query) == ("POST", "/v1/span_annotations", {"sync": ["true"]})
        data = json.loads(body)["data"]
        for each in data:
            if (status := self.status_of(each["span_id"])) != 200:
                return status, {"detail": "Spans do not exist."}
        for each in data:
            assert each["annotator_kind"] in {"LLM", "CODE", "HUMAN"}
            self.kept[each["name"], each["span_id"], each["identifier"]] = each["result"]
        return 200, {"data": []}

    def shown(self):
        return {(span, name): result["score"] for (name, span, _), result in self.kept.items()}


class Langfuse(Product):
    kind = "langfuse"
    settings: ClassVar = {"public_key": "public"}
    shows_errors = False

    def authorised(self, headers):
        return b64decode(headers.get("authorization", "").removeprefix("Basic ")) == b"public:secret"

    def answer(self, method, path, query, body):
        if (method, path) == ("GET", "/api/public/projects"):
            return 200, {"data": [{"id": "p", "name": "shop"}]}
        if method == "DELETE":
            return (202, {}) if self.kept.pop(path.rpartition("/")[2], None) else (404, {})
        assert (method, path) == ("POST", "/api/public/scores")
        score = json.loads(body)
        if (status := self.status_of(score["observationId"])) != 200:
            return status, {"message": "no such observation"}
        assert score["traceId"] == self.spans[score["observationId"]]
        assert (score["dataType"], type(score["value"])) == ("NUMERIC", float)
        known = self.kept.get(score["id"])
        assert known is None or known["timestamp"] == score["timestamp"], "another time is another score"
        self.kept[score["id"]] = score
        return 200, {"id": score["id"]}

    def shown(self):
        return {(each["observationId"], each["name"]): each["value"] for each in self.kept.values()}


class LangSmith(Product):
    kind = "langsmith"

    def authorised(self, headers):
        return headers.get("x-api-key") == "secret"

    def answer(self, method, path, query, body):
        if (method, path) == ("GET", "/sessions"):
            return 200, []
        feedback = json.loads(body)
        assert feedback["score"] is None or round(feedback["score"], 4) == feedback["score"]
        if method == "PATCH":
            feedback_id = path.rpartition("/")[2]
            if feedback_id not in self.kept:
                return 404, {"detail": "no such feedback"}
            self.kept[feedback_id] |= feedback
            return 200, {}
        assert (method, path) == ("POST", "/feedback")
        span_id = f"{UUID(feedback['run_id']).int:016x}"
        if (status := self.status_of(span_id)) != 200:
            return status, {"detail": "no such run"}
        if feedback["id"] in self.kept:
            return 409, {"detail": "it is there"}
        self.kept[feedback["id"]] = feedback | {"span_id": span_id}
        return 200, {}

    def shown(self):
        return {(each["span_id"], each["key"]): each["score"] for each in self.kept.values()}


class Mlflow(Product):
    kind = "mlflow"

    def answer(self, method, path, query, body):
        if path == "/api/2.0/mlflow/experiments/search":
            return 200, {"experiments": [{"experiment_id": "0"}]}
        parts = path.removeprefix("/api/3.0/mlflow/traces/").split("/")
        trace_id = parts[0].removeprefix("tr-")
        if trace_id not in self.spans.values():
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST"}
        if method == "GET":
            mine = [each for each in self.kept.values() if each["trace_id"] == parts[0]]
            return 200, {"trace": {"trace_info": {"trace_id": parts[0], "assessments": mine}}}
        given = json.loads(body)["assessment"]
        if method == "PATCH":
            assert json.loads(body)["update_mask"] == "feedback,rationale,metadata"
            self.kept[parts[2]] |= given
            return 200, {}
        assert (method, parts[1:]) == ("POST", ["assessments"])
        if given["span_id"] in self.refused_spans:
            return 400, {"error_code": "INVALID_PARAMETER_VALUE"}
        assessment_id = f"a-{len(self.kept)}"
        self.kept[assessment_id] = given | {"assessment_id": assessment_id}
        return 200, {"assessment": {"assessment_id": assessment_id}}

    def shown(self):
        return {
            (each["span_id"], each["assessment_name"]): each["feedback"].get("value")
            for each in self.kept.values()
        }


class Braintrust(Product):
    kind = "braintrust"
    settings: ClassVar = {"project": "5f1c"}

    def answer(self, method, path, query, body):
        if (method, path) == ("GET", "/v1/project/5f1c"):
            return 200, {"id": "5f1c", "name": "shop"}
        document = json.loads(body)
        if path == "/btql":
            assert "project_logs('5f1c')" in document["query"]
            rows = [
                {"id": f"row {span}", "span_id": span} for span in self.spans if span in document["query"]
            ]
            return 200, {"data": rows}
        assert (method, path) == ("POST", "/v1/project_logs/5f1c/feedback")
        for each in document["feedback"]:
            if each["id"].removeprefix("row ") in self.refused_spans:
                return 400, {"error": "bad"}
        for each in document["feedback"]:
            self.kept.setdefault(each["id"].removeprefix("row "), {}).update(each["scores"])
        return 200, {"status": "success"}

    def shown(self):
        return {(span, name): value for span, scores in self.kept.items() for name, value in scores.items()}


class Weave(Product):
    kind = "weave"
    settings: ClassVar = {"project": "team/shop"}

    def authorised(self, headers):
        return b64decode(headers.get("authorization", "").removeprefix("Basic ")) == b"api:secret"

    def answer(self, method, path, query, body):
        document = json.loads(body)
        assert document["project_id"] == "team/shop"
        if path == "/feedback/query":
            return 200, {"result": []}
        assert (method, path) == ("POST", "/feedback/replace")
        span_id = document["weave_ref"].removeprefix("weave:///team/shop/call/")
        if (status := self.status_of(span_id)) != 200:
            return status, {"reason": "no such call"}
        assert document["id"] == document["feedback_id"]
        self.kept[document["feedback_id"]] = (
            span_id,
            document["feedback_type"],
            document["payload"]["value"],
        )
        return 200, {"id": document["id"]}

    def shown(self):
        return {(span, name): value for span, name, value in self.kept.values()}


class Datadog(Product):
    kind = "datadog"
    settings: ClassVar = {"project": "shop"}
    shows_errors = False

    def authorised(self, headers):
        return headers.get("dd-api-key") == "secret"

    def answer(self, method, path, query, body):
        if (method, path) == ("GET", "/api/v1/validate"):
            return 200, {"valid": True}
        assert (method, path) == ("POST", "/api/intake/llm-obs/v2/eval-metric")
        data = json.loads(body)["data"]
        assert data["type"] == "evaluation_metric"
        for each in data["attributes"]["metrics"]:
            span_id = f"{int(each['join_on']['span']['span_id']):016x}"
            if (status := self.status_of(span_id)) != 200:
                return status, {"errors": ["no such span"]}
            assert "source:otel" in each["tags"]
            assert "." not in each["label"]
            self.kept[span_id, each["label"].replace("_", ".")] = each["score_value"]
        return 202, {}

    def shown(self):
        return dict(self.kept)


class Otlp(Product):
    kind = "otlp"

    def answer(self, method, path, query, body):
        assert (method, path) == ("POST", "/v1/logs")
        request = ExportLogsServiceRequest.FromString(body)
        records = [
            record
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]
        for record in records:
            if (status := self.status_of(record.span_id.hex())) != 200:
                return status, {}
        for record in records:
            assert record.event_name == "gen_ai.evaluation.result"
            values = {pair.key: pair.value for pair in record.attributes}
            value = values.get("gen_ai.evaluation.score.value")
            name = values["gen_ai.evaluation.name"].string_value
            self.kept[record.span_id.hex(), name] = None if value is None else value.double_value
        return 200, {}

    def shown(self):
        return dict(self.kept)


PRODUCTS: tuple[type[Product], ...] = (
    Phoenix, Langfuse, LangSmith, Mlflow, Braintrust, Weave, Datadog, Otlp,
)  # fmt: skip


@contextmanager
def listening(product: Product) -> Iterator[str]:
    """Serve a product; yields its URL. An assertion that fails there is answered 500, and raised here."""
    failures: list[BaseException] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            product.requests.append((self.command, url.path))
            more: dict[str, str] = {}
            status: int
            document: Any = {}
            if self.command != "GET" and product.trouble:
                status, more = product.trouble.pop(0)
            elif not product.authorised(headers):
                status = 401
            else:
                try:
                    status, document = product.answer(self.command, url.path, parse_qs(url.query), body)
                except BaseException as failure:
                    failures.append(failure)
                    status = 500
            content = json.dumps(document).encode()
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = _do

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    if failures:
        raise failures[0]
