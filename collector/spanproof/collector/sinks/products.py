"""The products: how each takes a score, so that sending it twice shows it once.

An adapter is made from a sink's configuration; `open_client` returns a client with the product's credentials.
A score without a verdict (open, errored, or withdrawn by a later evaluation) has no value in any of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import httpx
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from spanproof.collector.sinks.http import Adapter, NotThere, Refused, read_json, send_request
from spanproof.collector.sinks.score import Item
from spanproof.collector.stages.attach import build_score_events
from spanproof.config.sinks import Sink, SinkKind

_BATCH = 100


class Phoenix:
    """Arize Phoenix: span annotations, one for each name, span and identifier."""

    batch = _BATCH

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Write annotations; those of the same identifier are replaced."""
        data = [
            {
                "span_id": item.score.span_id,
                "name": item.name,
                "annotator_kind": item.annotator,
                "identifier": item.key,
                "result": {
                    "score": item.amount,
                    "label": item.label,
                    "explanation": item.explanation or None,
                },
                "metadata": item.facts,
            }
            for item in items
        ]
        # Otherwise Phoenix answers before it looks whether it has the spans.
        send_request(
            client,
            "POST",
            "/v1/span_annotations",
            missing_is_late=True,
            params={"sync": "true"},
            json={"data": data},
        )

    def fetch_status(self, client: httpx.Client) -> str:
        """Return how many projects there are."""
        answer = read_json(send_request(client, "GET", "/v1/projects"))
        return f"Phoenix answers, with {_format_count(answer)} projects"


class Langfuse:
    """Langfuse: scores, one for each id."""

    batch = 1

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Write a score, or delete one that is no longer."""
        for item in items:
            if item.amount is None:
                _remove_label(client, f"/api/public/scores/{item.key}", only_if=item.was_sent)
                continue
            body = {
                # The same id and time are the same score.
                "id": item.key,
                "timestamp": item.time,
                "traceId": item.score.trace_id,
                "observationId": item.score.span_id,
                "name": item.name,
                "value": item.amount,
                "dataType": "NUMERIC",
                "comment": _format_labelled(item),
                "metadata": item.facts,
            }
            send_request(client, "POST", "/api/public/scores", missing_is_late=True, json=body)

    def fetch_status(self, client: httpx.Client) -> str:
        """Return the project of the keys."""
        answer = read_json(send_request(client, "GET", "/api/public/projects"))
        names = [str(entry.get("name")) for entry in answer.get("data", [])]
        return f"Langfuse answers; the keys are of {', '.join(names) or 'no project'}"


class LangSmith:
    """LangSmith: feedback on runs, one for each id."""

    batch = 1

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Create feedback, or change what is there."""
        for item in items:
            changes = {
                "score": _compute_rounded(item.amount),
                "value": item.label,
                "comment": item.explanation,
            }
            if item.was_sent:
                try:
                    send_request(
                        client, "PATCH", f"/feedback/{item.uuid}", missing_is_late=True, json=changes
                    )
                except NotThere:
                    pass  # it was deleted there
                else:
                    continue
            body = {
                "id": item.uuid,
                # LangSmith makes runs of OpenTelemetry's ids so.
                "run_id": str(UUID(int=int(item.score.span_id, 16))),
                "trace_id": str(UUID(item.score.trace_id)),
                "key": item.name,
                **changes,
                "feedback_source": {"type": "api", "metadata": item.facts},
            }
            try:
                send_request(client, "POST", "/feedback", missing_is_late=True, json=body)
            except Refused as refused:
                if "HTTP 409" not in str(refused):
                    raise
                send_request(client, "PATCH", f"/feedback/{item.uuid}", json=changes)

    def fetch_status(self, client: httpx.Client) -> str:
        """Check that the key is accepted; return a sentence that says so."""
        send_request(client, "GET", "/sessions", params={"limit": 1})
        return "LangSmith answers and accepts the key"


class Mlflow:
    """MLflow: assessments of traces, known by their key in the metadata."""

    batch = _BATCH

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Create assessments, or update those that are there."""
        ids_by_trace: dict[str, dict[str, str]] = {}
        for item in items:
            trace_id = f"tr-{item.score.trace_id}"
            if trace_id not in ids_by_trace:
                ids_by_trace[trace_id] = self._fetch_assessment_ids(client, trace_id)
            path = f"/api/3.0/mlflow/traces/{trace_id}/assessments"
            assessment = {"trace_id": trace_id, "rationale": item.explanation, "metadata": item.facts}
            if item.amount is not None:
                assessment["feedback"] = {"value": item.amount}
            else:
                assessment["feedback"] = {
                    "error": {"error_code": str(item.label).upper(), "error_message": item.explanation}
                }
            there = ids_by_trace[trace_id].get(item.key)
            if there is not None:
                update = {"assessment": {**assessment, "assessment_id": there}}
                mask = {"update_mask": "feedback,rationale,metadata"}
                send_request(client, "PATCH", f"{path}/{there}", json=update | mask)
                continue
            created = {
                **assessment,
                "assessment_name": item.name,
                "span_id": item.score.span_id,
                "source": {
                    "source_type": item.annotator.replace("LLM", "LLM_JUDGE"),
                    "source_id": "spanproof",
                },
            }
            send_request(client, "POST", path, json={"assessment": created})

    def fetch_status(self, client: httpx.Client) -> str:
        """Return how many experiments there are."""
        answer = read_json(
            send_request(client, "POST", "/api/2.0/mlflow/experiments/search", json={"max_results": 100})
        )
        return f"MLflow answers, with {len(answer.get('experiments', []))} experiments"

    @staticmethod
    def _fetch_assessment_ids(client: httpx.Client, trace_id: str) -> dict[str, str]:
        """Return the ids of this trace's assessments of ours, by key."""
        path = f"/api/3.0/mlflow/traces/{trace_id}"
        answer = read_json(send_request(client, "GET", path, missing_is_late=True))
        info = (answer.get("trace") or {}).get("trace_info") or {}
        return {
            assessment["metadata"]["spanproof.score.key"]: assessment["assessment_id"]
            for assessment in info.get("assessments", [])
            if "spanproof.score.key" in (assessment.get("metadata") or {})
        }


class Braintrust:
    """Braintrust: feedback on rows of a project's logs, where each name has one score."""

    batch = _BATCH

    def __init__(self, sink: Sink) -> None:
        self._project = str(sink.project)

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Merge scores into the rows of the spans."""
        rows = self._fetch_row_ids(client, sorted({item.score.span_id for item in items}))
        missing = [item.score.span_id for item in items if item.score.span_id not in rows]
        if missing:
            raise NotThere(f"the project's logs do not have the span {missing[0]}")
        feedback = [
            {
                "id": rows[item.score.span_id],
                "scores": {item.name: item.value},
                "comment": _format_labelled(item),
                "metadata": item.facts,
                "source": "external",
            }
            for item in items
        ]
        path = f"/v1/project_logs/{quote(self._project, safe='')}/feedback"
        send_request(client, "POST", path, json={"feedback": feedback})

    def fetch_status(self, client: httpx.Client) -> str:
        """Return the project's name."""
        answer = read_json(send_request(client, "GET", f"/v1/project/{quote(self._project, safe='')}"))
        return f"Braintrust answers; the project is {answer.get('name')!r}"

    def _fetch_row_ids(self, client: httpx.Client, span_ids: Sequence[str]) -> dict[str, str]:
        listed = ", ".join(f"'{span_id}'" for span_id in span_ids)  # hexadecimal digits
        project = self._project.replace("'", "")
        query = (
            f"select: id, span_id | from: project_logs('{project}') spans"
            f" | filter: span_id IN [{listed}] | limit: {10 * len(span_ids)}"
        )
        answer = read_json(send_request(client, "POST", "/btql", json={"query": query, "fmt": "json"}))
        return {str(row["span_id"]): str(row["id"]) for row in answer.get("data", [])}


class Weave:
    """Weights & Biases Weave: feedback on calls, replaced by id."""

    batch = 1

    def __init__(self, sink: Sink) -> None:
        self._project = str(sink.project)

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Replace the feedback of the item's id."""
        for item in items:
            feedback_id = item.uuid
            body = {
                "project_id": self._project,
                "weave_ref": f"weave:///{self._project}/call/{item.score.span_id}",
                "feedback_type": item.name,
                "feedback_id": feedback_id,
                "id": feedback_id,
                "creator": "spanproof",
                "payload": {
                    "value": item.amount,
                    "label": item.label,
                    "explanation": item.explanation,
                    **item.facts,
                },
            }
            send_request(client, "POST", "/feedback/replace", missing_is_late=True, json=body)

    def fetch_status(self, client: httpx.Client) -> str:
        """Check that the project can be read; return a sentence that says so."""
        send_request(client, "POST", "/feedback/query", json={"project_id": self._project, "limit": 1})
        return f"Weave answers; {self._project} can be read"


class Datadog:
    """Datadog: evaluations of spans in LLM Observability."""

    batch = _BATCH

    def __init__(self, sink: Sink) -> None:
        self._app = str(sink.project)

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Submit evaluations; one without a verdict has no form there and is left out."""
        metrics = [self._build_metric(item) for item in items if item.amount is not None]
        if metrics:
            body = {"data": {"type": "evaluation_metric", "attributes": {"metrics": metrics}}}
            send_request(
                client, "POST", "/api/intake/llm-obs/v2/eval-metric", missing_is_late=True, json=body
            )

    def fetch_status(self, client: httpx.Client) -> str:
        """Check that the key is accepted; return a sentence that says so."""
        send_request(client, "GET", "/api/v1/validate")
        return "Datadog answers and accepts the key"

    def _build_metric(self, item: Item) -> dict[str, Any]:
        metric: dict[str, Any] = {
            "join_on": {
                "span": {"span_id": str(int(item.score.span_id, 16)), "trace_id": item.score.trace_id}
            },
            "ml_app": self._app,
            "timestamp_ms": int(time.time() * 1000),
            # No dots are allowed in a label.
            "label": item.name.replace(".", "_"),
            "metric_type": "score",
            "score_value": item.amount,
            "reasoning": item.explanation,
            "metadata": item.facts,
            "tags": ["source:otel", f"ml_app:{self._app}"],
        }
        if item.label is not None:
            metric["assessment"] = item.label
        return metric


class Otlp:
    """Anything that takes OTLP logs: `gen_ai.evaluation.result` events with the score's id."""

    batch = _BATCH

    def send(self, client: httpx.Client, items: Sequence[Item]) -> None:
        """Send events; one that comes twice has the same `spanproof.score.id`."""
        request = build_score_events([item.score for item in items], time.time_ns())
        self._send_logs(client, request)

    def fetch_status(self, client: httpx.Client) -> str:
        """Check that an empty request is taken; return a sentence that says so."""
        self._send_logs(client, ExportLogsServiceRequest())
        return "the endpoint takes OTLP logs"

    @staticmethod
    def _send_logs(client: httpx.Client, request: ExportLogsServiceRequest) -> None:
        headers = {"content-type": "application/x-protobuf"}
        send_request(client, "POST", "/v1/logs", content=request.SerializeToString(), headers=headers)


ADAPTERS: Final[Mapping[SinkKind, Callable[[Sink], Adapter]]] = MappingProxyType(
    {
        SinkKind.PHOENIX: lambda _: Phoenix(),
        SinkKind.LANGFUSE: lambda _: Langfuse(),
        SinkKind.LANGSMITH: lambda _: LangSmith(),
        SinkKind.MLFLOW: lambda _: Mlflow(),
        SinkKind.BRAINTRUST: Braintrust,
        SinkKind.WEAVE: Weave,
        SinkKind.DATADOG: Datadog,
        SinkKind.OTLP: lambda _: Otlp(),
    }
)
"""How the adapter of each kind is made."""


def open_client(sink: Sink) -> httpx.Client:
    """Return a client that sends to a sink with its credentials; the caller closes it."""
    key = sink.read_key()
    headers = {name: value.get_secret_value() for name, value in sink.headers.items()}
    auth: httpx.BasicAuth | None = None
    match sink.kind:
        case SinkKind.LANGFUSE:
            auth = httpx.BasicAuth(sink.read_public_key(), key)
        case SinkKind.WEAVE:
            auth = httpx.BasicAuth("api", key)
        case SinkKind.LANGSMITH:
            headers.setdefault("x-api-key", key)
        case SinkKind.DATADOG:
            headers.setdefault("dd-api-key", key)
        case _ if key:
            headers.setdefault("authorization", f"Bearer {key}")
    return httpx.Client(base_url=sink.base_url, headers=headers, auth=auth, timeout=sink.timeout_s)


def _remove_label(client: httpx.Client, path: str, *, only_if: bool) -> None:
    if not only_if:
        return
    with suppress(NotThere):  # it is gone already
        send_request(client, "DELETE", path, missing_is_late=True)


def _format_labelled(item: Item) -> str:
    """Return the explanation behind the label, for products that have no place for one."""
    if item.label:
        return f"{item.label}: {item.explanation}"
    return item.explanation


def _compute_rounded(amount: float | None) -> float | None:
    """Return an amount with four decimal places: LangSmith refuses more."""
    return None if amount is None else round(amount, 4)


def _format_count(answer: Any) -> str:
    more = "+" if answer.get("next_cursor") else ""
    return f"{len(answer.get('data', []))}{more}"
