"""Targets of notifications on the loopback, written from what the real ones publish.

What a tracker takes and answers follows these schemas, and anything else fails the test:

- GitHub: REST API, issues, https://docs.github.com/en/rest/issues/issues (`title`, `body`, `labels`, `state`)
- GitLab: REST API, issues, https://docs.gitlab.com/api/issues (`description`, `labels` as a list with commas,
  `state_event`)
- Linear: `IssueCreateInput`, `IssueUpdateInput` and `CommentCreateInput` of
  https://github.com/linear/linear/blob/master/packages/sdk/src/schema.graphql
- Jira: REST API 2, https://developer.atlassian.com/cloud/jira/platform/rest/v2/api-group-issues (`fields`,
  `transitions`; an edit answers 204 without a body)
- PagerDuty: Events API v2, https://developer.pagerduty.com/docs/events-api-v2/trigger-events
"""

from __future__ import annotations

import base64
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pydantic import TypeAdapter

from spanproof.alerts import Target
from spanproof.alerts.notifiers.registry import NOTIFIERS

SECRET = "hush-hush-0123456789"


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """A target on the loopback.

    Attributes:
        answers: statuses given one after another, then 200.
        hangs: requests are not answered until it is cleared.
        respond: the JSON of an answer to a request.
    """

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    hangs: threading.Event = field(default_factory=threading.Event)
    respond: Callable[[Request], Any] = lambda _: {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a target on the loopback."""
    receiver = Receiver()
    receiver.hangs.set()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, self.path, dict(self.headers), body)
            receiver.hangs.wait(60)
            status, headers = receiver.answers.pop(0) if receiver.answers else (200, {})
            if status == 200:
                receiver.requests.append(request)
            answer = json.dumps(receiver.respond(request)).encode() if status == 200 else b""
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # the client did not wait
                self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_PATCH = handle_any

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *args: object) -> None:
            """A client that did not wait is one of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.hangs.set()
        server.shutdown()
        thread.join()
        server.server_close()


HTTP_KINDS = sorted(NOTIFIERS.keys() - {"email", "exec"})


def settings_of(kind: str, url: str) -> dict[str, Any]:
    """Settings that lead to a receiver on the loopback."""
    by_kind: dict[str, dict[str, Any]] = {
        "webhook": {"url": f"{url}/hook?token={SECRET}", "secret": SECRET},
        "slack": {"url": f"{url}/services/{SECRET}"},
        "teams": {"url": f"{url}/workflows/{SECRET}"},
        "discord": {"url": f"{url}/api/webhooks/1/{SECRET}"},
        "pagerduty": {"url": url, "routing_key": SECRET},
        "opsgenie": {"url": url, "api_key": SECRET},
        "alertmanager": {"url": url, "headers": {"Authorization": f"Bearer {SECRET}"}},
        "github": {"url": url, "repository": "acme/shop", "token": SECRET, "labels": ["agents"]},
        "gitlab": {"url": url, "project": "acme/shop", "token": SECRET},
        "linear": {"url": url, "team": "OPS", "api_key": SECRET, "label_ids": ["l-1"]},
        "jira": {
            "url": url,
            "project": "OPS",
            "token": SECRET,
            "user": "a@b.c",
            "labels": ["agents"],
        },
    }
    return {"kind": kind, **by_kind[kind]}


def target_of(settings: dict[str, Any]) -> Target:
    return TypeAdapter[Target](Target).validate_python(settings)


class IssueTracker:
    """Answers as an issue tracker does: it has the issues that were opened, page by page."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._issues: list[dict[str, Any]] = []

    def serve(self, receiver: Receiver) -> IssueTracker:
        answers = {"github": self.answer, "gitlab": self.answer, "linear": self.answer_graphql}
        answers |= {"jira": self.answer_jira, "pagerduty": self.answer_pagerduty}
        if self._kind in answers:
            receiver.respond = answers[self._kind]
        return self

    def answer(self, request: Request) -> Any:
        path, query = urlsplit(request.path).path, parse_qs(urlsplit(request.path).query)
        number = re.search(r"/issues/(\d+)", path)
        if request.method == "GET":
            size, page = int(query["per_page"][0]), int(query["page"][0])
            return self._issues[::-1][(page - 1) * size : page * size]
        if path.endswith("/issues"):
            assert path in ("/repos/acme/shop/issues", "/api/v4/projects/acme%2Fshop/issues")
            key, opened = ("number", "open") if self._kind == "github" else ("iid", "opened")
            text = "body" if self._kind == "github" else "description"
            assert request.json.keys() == {"title", text, "labels"}
            assert isinstance(request.json["labels"], list if self._kind == "github" else str)
            self._issues.append({**request.json, key: len(self._issues) + 1, "state": opened})
        elif request.method in ("PATCH", "PUT"):
            assert number is not None
            issue = self._issues[int(number[1]) - 1]
            if request.json in ({"state": "closed"}, {"state_event": "close"}):
                issue["state"] = "closed"
            else:
                text = "body" if self._kind == "github" else "description"
                assert request.json.keys() == {"title", text}
                issue.update(request.json)
        return {}

    def answer_graphql(self, request: Request) -> Any:
        """Answer as Linear's API does, whose states of a team have a type and a position."""
        assert (request.path, request.headers["Authorization"]) == ("/graphql", SECRET)
        query, variables = request.json["query"], request.json["variables"]
        if "issueCreate" in query:
            assert variables["input"].keys() == {"id", "teamId", "title", "description", "labelIds"}
            assert uuid.UUID(variables["input"]["id"]).version == 4
            assert (variables["input"]["teamId"], variables["input"]["labelIds"]) == ("team-1", ["l-1"])
            self._issues.append({**variables["input"], "state": "open"})
            return {"data": {"issueCreate": {"success": True}}}
        if "issueUpdate" in query:
            issue = next(one for one in self._issues if one["id"] == variables["id"])
            if variables["input"] == {"stateId": "done"}:
                issue["state"] = "closed"
            else:
                assert variables["input"].keys() == {"title", "description"}
                issue.update(variables["input"])
        elif "query" in query:
            types = {"open": "unstarted", "closed": "completed"}
            known = [
                {"id": each["id"], "state": {"type": types[each["state"]]}}
                for each in self._issues
                if each["id"] == variables["id"]
            ]
            states = [{"id": "shipped", "position": 4.5}, {"id": "done", "position": 3}]
            teams = [{"id": "team-1", "states": {"nodes": states}}] if variables["team"] == "OPS" else []
            return {"data": {"issues": {"nodes": known}, "teams": {"nodes": teams}}}
        return {"data": {}}

    def answer_jira(self, request: Request) -> Any:
        """Answer as Jira Cloud does, whose statuses have a category, whatever a project calls them."""
        login = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        assert login == f"a@b.c:{SECRET}"
        path, query = urlsplit(request.path).path, parse_qs(urlsplit(request.path).query)
        categories = {"open": "new", "closed": "done"}
        if path == "/rest/api/2/search/jql":
            label = re.fullmatch(r'project = "OPS" AND labels = "([^"]+)"', query["jql"][0])
            assert label is not None
            return {
                "issues": [
                    {
                        "key": each["key"],
                        "fields": {"status": {"statusCategory": {"key": categories[each["state"]]}}},
                    }
                    for each in self._issues
                    if label[1] in each["labels"]
                ]
            }
        if path == "/rest/api/2/issue":
            fields = request.json["fields"]
            assert (fields["project"], fields["issuetype"]) == ({"key": "OPS"}, {"name": "Task"})
            assert {"spanproof", "agents"} < set(fields["labels"])
            assert len(fields["summary"]) <= 255
            self._issues.append({**fields, "key": f"OPS-{len(self._issues) + 1}", "state": "open"})
        elif request.method == "PUT":
            assert request.json["fields"].keys() == {"summary", "description"}
            self._issues[int(path.split("/")[-1].removeprefix("OPS-")) - 1].update(request.json["fields"])
        elif path.endswith("/transitions") and request.method == "GET":
            ways = [("11", "indeterminate"), ("31", "done")]
            return {"transitions": [{"id": each, "to": {"statusCategory": {"key": to}}} for each, to in ways]}
        elif path.endswith("/transitions"):
            assert request.json == {"transition": {"id": "31"}}
            self._issues[int(path.split("/")[-2].removeprefix("OPS-")) - 1]["state"] = "closed"
        return {}

    def answer_pagerduty(self, request: Request) -> Any:
        """Answer as Events API v2 does: an event of a known key changes its incident."""
        event = request.json
        assert (request.path, event["routing_key"]) == ("/v2/enqueue", SECRET)
        assert len(event["dedup_key"]) <= 255
        known = next((one for one in self._issues if one["key"] == event["dedup_key"]), None)
        if event["event_action"] == "resolve":
            if known is not None:
                known["state"] = "closed"
        else:
            assert event["event_action"] == "trigger"
            payload = event["payload"]
            assert payload["summary"]
            assert payload["source"]
            assert payload["severity"] in ("critical", "warning", "error", "info")
            changed = {"key": event["dedup_key"], "state": "open", "description": payload["summary"]}
            if known is None:
                self._issues.append(changed)
            else:
                known.update(changed)
        return {"status": "success", "message": "Event processed", "dedup_key": event["dedup_key"]}

    def states(self) -> list[str]:
        return [issue["state"].replace("opened", "open") for issue in self._issues]

    def texts(self) -> list[str]:
        return [issue.get("body") or issue["description"] for issue in self._issues]
