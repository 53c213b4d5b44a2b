"""Every notifier does the same with its target: what arrives, what is retried, what stays secret.

The receivers on the loopback take what the real ones document, and nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError

from spanproof.alerts import Alert, NotDelivered, Notification, Status, Target, build_notifier
from spanproof.alerts.model import FailureLine, Incident, ScoreLine
from spanproof.alerts.notifiers import Refreshing
from spanproof.alerts.notifiers.registry import NOTIFIERS

from .loopback_targets import HTTP_KINDS, SECRET, IssueTracker, settings_of, target_of

SUMMARY = (
    "groundedness.score of agent checkout: fails 6 of 40, 9 open (15 %) over the last 1 h; threshold 10 %."
)
AT = 1_790_000_000 * 10**9


@dataclass
class MailServer:
    port: int = 0
    mails: list[bytes] = field(default_factory=list)
    answer: str = "250 ok"


@pytest.fixture
def smtp() -> Iterator[MailServer]:
    state = MailServer()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 loopback")
            while line := self.rfile.readline().strip().upper():
                if line.startswith((b"EHLO", b"HELO")):
                    self.say("250 loopback")
                elif line.startswith(b"MAIL"):
                    self.say(state.answer)
                elif line == b"DATA":
                    self.say("354 go on")
                    self.take()
                elif line == b"QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

        def take(self) -> None:
            lines = []
            while (line := self.rfile.readline()) != b".\r\n":
                lines.append(line[1:] if line.startswith(b"..") else line)
            state.mails.append(b"".join(lines))
            self.say("250 taken")

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield state
        server.shutdown()
        thread.join()


def alert(
    number: int = 1, status: Status = Status.FIRING, text: str = "$54.00 is said", **changes: Any
) -> Alert:
    values: dict[str, Any] = {
        "id": f"episode-{number}",
        "rule": "checkout misquotes",
        "status": status,
        "severity": "error",
        "metric": "groundedness.score",
        "measure": "fail_rate",
        "cohort": {"agent": f"checkout-{number}", "release": "2026.11"},
        "group": {"agent": f"checkout-{number}"},
        "labels": {"team": "payments"},
        "summary": SUMMARY,
        "since_ns": AT - 60 * 10**9,
        "at_ns": AT,
        "window_s": 3600.0,
        "threshold": "threshold 10 %",
        "value": 0.15,
        "low": 0.07,
        "before": None,
        "part": 6,
        "whole": 40,
        "not_counted": {"skipped": 0, "errored": 0, "open": 9},
        "failures": (FailureLine(text, 4), FailureLine("a total is wrong", 2)),
        "scores": (ScoreLine("s", "0af7" * 8, "b7" * 8, "b7" * 8, "checkout", 0.0, None, "", text, ""),),
        "url": "https://spanproof.example/traces?q=label%3Afail",
    }
    return Alert(**{**values, **changes})


def notification(*alerts: Alert, number: int = 1, repeated: bool = False) -> Notification:
    return Notification(f"notification-{number}", "checkout misquotes", AT, alerts, repeated)


def test_every_kind_of_target_is_held_to_the_contract():
    assert {settings_of(kind, "http://x")["kind"] for kind in HTTP_KINDS} | {"email", "exec"} == set(
        NOTIFIERS
    )


@pytest.mark.parametrize("kind", HTTP_KINDS)
def test_a_firing_alert_and_its_end_arrive(http, kind):
    opened = IssueTracker(kind).serve(http)
    notifier = build_notifier(target_of(settings_of(kind, http.url)))
    notifier.send(notification(alert()))
    first = http.requests[:]
    assert first
    notifier.send(notification(alert(status=Status.RESOLVED), number=2))
    assert len(http.requests) > len(first)
    text = " ".join(request.body.decode() for request in first)
    if kind != "webhook":
        assert "fails 6 of 40, 9 open (15 %)" in re.sub(r"\\+", "", text)
    assert opened.states() in ([], ["closed"])


@pytest.mark.parametrize("kind", HTTP_KINDS)
def test_the_three_commonest_failures_and_the_scores_are_named(http, kind):
    IssueTracker(kind).serve(http)
    build_notifier(target_of(settings_of(kind, http.url))).send(notification(alert()))
    text = re.sub(r"\\+", "", " ".join(request.body.decode() for request in http.requests))
    for part in ("54.00 is said", "a total is wrong", "0af70af70af7"):
        assert part in text, f"{kind} leaves out {part!r}"


@pytest.mark.parametrize("kind", sorted(set(HTTP_KINDS) - {"slack", "teams", "discord"}))
def test_what_is_sent_twice_is_known_for_the_same(http, kind):
    """Chat webhooks have no field for it; everything else gets one key, or finds what is there."""
    tracker = IssueTracker(kind).serve(http)
    notifier = build_notifier(target_of(settings_of(kind, http.url)))
    for _ in range(2):
        notifier.send(notification(alert()))
    keys = {
        "webhook": lambda request: request.headers["Idempotency-Key"],
        "pagerduty": lambda request: request.json["dedup_key"],
        "opsgenie": lambda request: request.json["alias"],
        "alertmanager": lambda request: (str(request.json[0]["labels"]), request.json[0]["startsAt"]),
    }
    if kind in keys:
        assert len({keys[kind](request) for request in http.requests}) == 1
        assert len(http.requests) == 2
    else:
        assert tracker.states() == ["open"]


@pytest.mark.parametrize("kind", HTTP_KINDS)
@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_receiver_that_fails_for_now_may_be_tried_again(http, kind, status):
    http.answers = [(status, {"Retry-After": "7"})]
    with pytest.raises(NotDelivered, match=rf"{kind} 127\.0\.0\.1:\d+: HTTP {status}$") as caught:
        build_notifier(target_of(settings_of(kind, http.url))).send(notification(alert()))
    assert (caught.value.refused, caught.value.retry_after_s) == (False, 7.0)


@pytest.mark.parametrize("kind", HTTP_KINDS)
@pytest.mark.parametrize("status", [302, 400, 401, 404, 413])
def test_a_receiver_may_refuse_and_redirects_are_not_followed(http, kind, status):
    http.answers = [(status, {"Location": f"{http.url}/elsewhere"})]
    with pytest.raises(NotDelivered) as caught:
        build_notifier(target_of(settings_of(kind, http.url))).send(notification(alert()))
    assert caught.value.refused
    assert http.requests == []


@pytest.mark.parametrize("kind", HTTP_KINDS)
def test_no_connection_and_no_answer_in_time_are_trouble_for_now(http, kind):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(NotDelivered) as caught:
            build_notifier(target_of(settings_of(kind, url))).send(notification(alert()))
    assert not caught.value.refused
    http.hangs.clear()
    with pytest.raises(NotDelivered) as caught:
        build_notifier(target_of({**settings_of(kind, http.url), "timeout_s": 0.2})).send(
            notification(alert())
        )
    assert not caught.value.refused
    assert "Timeout" in str(caught.value)


@pytest.mark.parametrize("kind", HTTP_KINDS)
def test_secrets_are_in_no_message_and_no_representation(http, kind, caplog):
    target = target_of(settings_of(kind, http.url))
    http.answers = [(403, {})]
    with pytest.raises(NotDelivered) as caught:
        build_notifier(target).send(notification(alert()))
    if kind != "webhook":  # whose URL is no secret by itself
        assert SECRET not in repr(target)
    assert SECRET not in f"{caught.value!r} {caught.value} {target.id} {target.label} {caplog.text}"


HOSTILE = (
    "<!channel> @everyone <https://x|y> {noformat} ```\n# a\x1b[31m\u202e --> ![i](https://x/t.png) "
    + "9" * 5000
)


@pytest.mark.parametrize("kind", HTTP_KINDS)
def test_what_an_agent_printed_neither_mentions_nor_formats_nor_floods(http, kind):
    tracker = IssueTracker(kind).serve(http)
    alerts = [alert(number, text=HOSTILE) for number in range(1, 41)]
    build_notifier(target_of(settings_of(kind, http.url))).send(notification(*alerts))
    for request in http.requests:
        if request.method != "GET" and kind != "webhook":
            assert "\\u001b" not in request.body.decode()
            assert "\u202e" not in request.body.decode()
    if kind == "slack":
        (request,) = http.requests
        assert "<!channel>" not in request.body.decode()
        blocks = request.json["attachments"][0]["blocks"]
        assert len(blocks) <= 50
        assert all(len(block["text"]["text"]) <= 3000 for block in blocks if "text" in block)
        assert all(len(block["text"]["text"]) <= 150 for block in blocks if block["type"] == "header")
        assert "and 20 more: together 120 of 800" in request.body.decode()
    elif kind == "discord":
        (request,) = http.requests
        assert request.json["allowed_mentions"] == {"parse": []}
        assert len(request.json["embeds"]) <= 10
        sizes = [len(each["title"]) + len(each["description"]) for each in request.json["embeds"]]
        assert sum(sizes) <= 6000
        assert max(len(each["description"]) for each in request.json["embeds"]) <= 4096
    elif kind == "teams":
        (request,) = http.requests
        assert len(request.body) < 28_000
        assert "![i](" not in request.body.decode()
    elif kind == "pagerduty":
        (request,) = http.requests
        assert len(request.json["payload"]["summary"]) <= 1024
        assert len(request.body) < 512 * 1024
    elif kind == "opsgenie":
        assert all(len(request.json["message"]) <= 130 for request in http.requests)
        assert all(len(request.json["description"]) <= 15_000 for request in http.requests)
    elif kind == "jira":
        assert tracker.states() == ["open"]
        for text in tracker.texts():
            assert text.count("{noformat}") == 2
            assert len(text) < 32_767
    elif kind in ("github", "gitlab", "linear"):
        assert tracker.states() == ["open"]
        for text in tracker.texts():
            fence = re.match(r"`+", text)
            assert fence is not None
            inside = text[fence.end() :].partition(f"\n{fence[0]}\n")[0]
            assert "@everyone" in inside
            assert fence[0] not in inside


def test_the_signature_of_a_webhook_can_be_checked(http):
    build_notifier(target_of(settings_of("webhook", http.url))).send(notification(alert()))
    (request,) = http.requests
    fields = dict(part.split("=") for part in request.headers["X-Spanproof-Signature"].split(","))
    expected = hmac.new(SECRET.encode(), f"{fields['t']}.".encode() + request.body, hashlib.sha256)
    assert fields["v1"] == expected.hexdigest()
    assert abs(int(fields["t"]) - time.time()) < 600
    assert SECRET not in str(request.headers)
    assert request.json["alerts"][0]["value"] == 0.15


def test_a_webhook_without_a_secret_has_no_signature_and_may_have_headers(http):
    settings = {"url": http.url, "headers": {"Authorization": "Bearer x"}}
    build_notifier(target_of(settings)).send(notification(alert()))
    assert "X-Spanproof-Signature" not in http.requests[0].headers
    assert http.requests[0].headers["Authorization"] == "Bearer x"


@pytest.mark.parametrize(("code", "refused"), [("RATELIMITED", False), ("INPUT_ERROR", True)])
def test_an_error_of_linear_with_status_200_is_no_delivery(http, code, refused):
    http.respond = lambda _: {"errors": [{"message": "no", "extensions": {"code": code}}], "data": None}
    with pytest.raises(NotDelivered, match=f"linear: {code}") as caught:
        build_notifier(target_of(settings_of("linear", http.url))).send(notification(alert()))
    assert caught.value.refused == refused


def test_a_team_of_linear_that_is_not_there_is_named(http):
    IssueTracker("linear").serve(http)
    settings = {**settings_of("linear", http.url), "team": "NONE"}
    with pytest.raises(NotDelivered, match="there is no team with the key NONE") as caught:
        build_notifier(target_of(settings)).send(notification(alert()))
    assert caught.value.refused


def test_jira_data_center_is_searched_by_its_own_path_with_a_token_alone(http):
    settings = {**settings_of("jira", http.url), "deployment": "data_center"}
    del settings["user"]
    build_notifier(target_of(settings)).send(notification(alert()))
    found, opened = http.requests
    assert urlsplit(found.path).path == "/rest/api/2/search"
    assert urlsplit(opened.path).path == "/rest/api/2/issue"
    assert opened.headers["Authorization"] == f"Bearer {SECRET}"


def test_jira_cloud_without_a_user_is_refused():
    settings = settings_of("jira", "http://127.0.0.1:1")
    del settings["user"]
    with pytest.raises(ValidationError, match="set user, or deployment: data_center"):
        target_of(settings)


def test_a_message_in_slack_reads_well(http):
    linked = ScoreLine(
        "s", "0af7" * 8, "b7" * 8, "b7" * 8, "checkout", 0.0, None, "", "$54.00 & more", "https://c/1"
    )
    build_notifier(target_of(settings_of("slack", http.url))).send(notification(alert(scores=(linked,))))
    body = http.requests[0].json
    assert body["text"].startswith("groundedness.score of agent checkout: fails 6 of 40, 9 open (15 %)")
    assert [block["type"] for block in body["attachments"][0]["blocks"]] == [
        "header", "section", "section", "section", "context",
    ]  # fmt: skip
    texts = [block["text"]["text"] for block in body["attachments"][0]["blocks"] if "text" in block]
    assert texts == [
        "FIRING: checkout misquotes – agent checkout-1, release 2026.11",
        SUMMARY,
        "*Commonest failures*\n• 4 × $54.00 is said\n• 2 × a total is wrong",
        "*Scores*\n• <https://c/1|0af70af70af7> 0  $54.00 &amp; more",
    ]
    (context,) = body["attachments"][0]["blocks"][-1]["elements"]
    assert context["text"] == (
        "since 2026-09-21 14:12 UTC · error"
        " · <https://spanproof.example/traces?q=label%3Afail|open in the console>"
    )


def test_pagerduty_gets_a_trigger_and_a_resolve_of_one_incident(http):
    notifier = build_notifier(target_of(settings_of("pagerduty", http.url)))
    notifier.send(notification(alert()))
    notifier.send(notification(alert(status=Status.RESOLVED)))
    trigger, resolve = (request.json for request in http.requests)
    assert {request.path for request in http.requests} == {"/v2/enqueue"}
    assert (trigger["event_action"], resolve["event_action"]) == ("trigger", "resolve")
    assert trigger["dedup_key"] == resolve["dedup_key"] == "episode-1"
    assert trigger["routing_key"] == SECRET
    assert trigger["payload"]["severity"] == "error"
    assert trigger["payload"]["timestamp"] == "2026-09-21T14:12:20.000Z"
    assert trigger["links"][0]["href"].startswith("https://spanproof.example/")


def member(number: int, status: Status = Status.FIRING, update: int = 0, **changes: Any) -> Alert:
    """Return one of the tenants that fail by one database."""
    return alert(
        number,
        status,
        group={"attribute:tenant": f"t{number}"},
        cohort={"attribute:tenant": f"t{number}", "release": "2026.11"},
        failures=(FailureLine(f"database is locked after {number} s", 4),),
        shared={"service": "shop", "model": f"m{number % 2}"},
        incident=Incident("incident-1", AT - 60 * 10**9, update),
        **changes,
    )


def incident(update: int = 0, firing: int = 120, ended: int = 0) -> Notification:
    """Return a notification of an incident of so many tenants."""
    members = [member(number, update=update) for number in range(1, firing + 1)]
    members += [member(number, Status.RESOLVED, update) for number in range(firing + 1, firing + ended + 1)]
    return notification(*members, number=update + 1)


def test_an_incident_names_what_its_members_share_first():
    found = incident()
    assert found.title == "FIRING: checkout misquotes – 120 alerts"
    assert found.summary == (
        "checkout misquotes: database is locked after <value> s, in 120 of 120 alerts; all of service shop,"
        " release 2026.11. Together 720 of 4800 over the last 1 h; threshold 10 %. The worst:"
        " attribute:tenant t1 (15 %); attribute:tenant t2 (15 %); attribute:tenant t3 (15 %) and 117 more."
    )
    update = incident(1, firing=2, ended=1)
    assert update.title == "UPDATE: checkout misquotes – 2 alerts"
    assert update.summary.endswith("Ended: attribute:tenant t3.")
    over = incident(2, firing=0, ended=3)
    assert over.title == "RESOLVED: checkout misquotes – the incident has ended"
    assert "no alert fires any more after 1 min" in over.summary


def test_members_without_a_common_cause_have_none_named():
    alerts = [
        replace(member(number), failures=(FailureLine(text, 4),), shared={}, cohort={"agent": text})
        for number, text in enumerate(("database is locked", "HTTP 403", "no such order"), 1)
    ]
    assert notification(*alerts).summary.startswith("checkout misquotes: 3 alerts. Together 18 of 120")


@pytest.mark.parametrize("kind", sorted(set(HTTP_KINDS) - {"alertmanager"}))
def test_an_incident_of_120_members_is_one_thing_at_its_target(http, kind):
    """One message, event or issue for the beginning, an update of it, and its end."""
    tracker = IssueTracker(kind).serve(http)
    notifier = build_notifier(target_of(settings_of(kind, http.url)))
    keys = set()
    for number, made in enumerate((incident(), incident(1, firing=119, ended=1), incident(2, 0, 119))):
        seen = len(http.requests)
        notifier.send(made)
        written = [request for request in http.requests[seen:] if request.method != "GET"]
        text = re.sub(r"\\+", "", " ".join(request.body.decode() for request in written))
        assert ("database is locked" in text) is (number < 2) or kind == "webhook"
        if kind == "pagerduty":
            (event,) = written
            keys.add((event.json["dedup_key"], "trigger" if number < 2 else "resolve"))
            assert event.json["event_action"] == ("trigger" if number < 2 else "resolve")
        elif kind == "webhook":
            (document,) = written
            assert document.json["incident"]["id"] == "incident-1"
            assert document.json["incident"]["firing"] == (120, 119, 0)[number]
            assert sum(bool(one["scores"]) for one in document.json["alerts"]) == 20
    if kind == "pagerduty":
        assert keys == {("incident-1", "trigger"), ("incident-1", "resolve")}
    assert tracker.states() in ([], ["closed"])


def test_opsgenie_creates_and_closes_by_alias(http):
    notifier = build_notifier(target_of(settings_of("opsgenie", http.url)))
    notifier.send(notification(alert(severity="critical")))
    notifier.send(notification(alert(status=Status.RESOLVED)))
    assert [request.path for request in http.requests] == [
        "/v2/alerts",
        "/v2/alerts/episode-1/close?identifierType=alias",
    ]
    assert {request.headers["Authorization"] for request in http.requests} == {f"GenieKey {SECRET}"}
    assert http.requests[0].json["priority"] == "P1"


def test_alertmanager_gets_an_end_in_the_future_while_it_fires(http):
    notifier = build_notifier(target_of({**settings_of("alertmanager", http.url), "refresh_s": 30}))
    assert isinstance(notifier, Refreshing)
    notifier.send(notification(alert(), alert(2, Status.RESOLVED)))
    firing, resolved = http.requests[0].json
    assert http.requests[0].path == "/api/v2/alerts"
    assert firing["labels"] == {
        "alertname": "checkout misquotes", "agent": "checkout-1", "release": "2026.11", "team": "payments",
        "layer": "groundedness", "score": "groundedness.score", "severity": "error",
    }  # fmt: skip
    assert firing["endsAt"] > time.strftime("%Y-%m-%dT%H:%M", time.gmtime())
    assert resolved["endsAt"] == "2026-09-21T14:13:20.000Z"
    notifier.send_refresh([alert()])
    assert http.requests[1].json[0]["endsAt"] >= firing["endsAt"]
    assert http.requests[1].json[0]["startsAt"] == firing["startsAt"]


def test_an_issue_is_found_on_a_later_page_and_closed_once(http):
    tracker = IssueTracker("github").serve(http)
    notifier = build_notifier(target_of(settings_of("github", http.url)))
    for number in range(1, 104):
        tracker._issues.append(
            {"number": number, "body": f"<!-- spanproof:episode-{number} -->", "state": "open"}
        )
    for _ in range(2):
        notifier.send(notification(alert(1, Status.RESOLVED)))
    assert [request.method for request in http.requests].count("PATCH") == 1
    assert [request.path for request in http.requests if request.method == "POST"] == [
        "/repos/acme/shop/issues/1/comments"
    ]


def mail_target(server: MailServer, **more: Any) -> Target:
    return target_of(
        {"kind": "email", "host": "127.0.0.1", "port": server.port, "security": "none",
         "sender": "spanproof@example.org", "to": ["a@example.org", "b@example.org"], **more}
    )  # fmt: skip


def test_a_mail_has_the_ids_of_notification_and_episode(smtp):
    notifier = build_notifier(mail_target(smtp))
    notifier.send(notification(alert(text=HOSTILE)))
    notifier.send(notification(alert(status=Status.RESOLVED), number=2))
    first, second = (message_from_bytes(mail, policy=policy.default) for mail in smtp.mails)
    assert first["Subject"] == "FIRING: checkout misquotes – agent checkout-1, release 2026.11"
    assert first["Message-ID"] == "<notification-1@spanproof>"
    assert first["References"] == second["References"] == "<episode-1@spanproof>"
    assert second["Subject"].startswith("RESOLVED")
    text = first.get_content()
    assert "fails 6 of 40, 9 open (15 %)" in text
    assert "2 × a total is wrong" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(("answer", "refused"), [("451 later", False), ("550 no", True)])
def test_a_mail_server_may_refuse_for_now_or_for_good(smtp, answer, refused):
    smtp.answer = answer
    with pytest.raises(NotDelivered, match=rf"email 127\.0\.0\.1:\d+: SMTP {answer[:3]}$") as caught:
        build_notifier(mail_target(smtp)).send(notification(alert()))
    assert caught.value.refused is refused


def test_a_mail_server_without_encryption_is_refused_where_it_is_required(smtp):
    with pytest.raises(NotDelivered, match="SMTPNotSupportedError"):
        build_notifier(mail_target(smtp, security="starttls")).send(notification(alert()))
    assert smtp.mails == []


def test_a_program_gets_the_document_on_its_standard_input(tmp_path: Path):
    out = tmp_path / "got"
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['SPANPROOF_ALERT_ID'] + sys.stdin.read())"
    target = target_of({"kind": "exec", "command": [sys.executable, "-c", code, str(out)]})
    build_notifier(target).send(notification(alert()))
    text = out.read_text()
    assert text.startswith("notification-1{")
    assert json.loads(text.removeprefix("notification-1"))["alerts"][0]["part"] == 6


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["sh", "-c", "exit 3"], "exit code 3"),
        (["/nonexistent/program"], "No such file"),
        (["sh", "-c", "sleep 600 & wait"], "it took longer than 1 s"),
    ],
)
def test_a_program_that_fails_is_tried_again(command, words):
    timeout_s = 1 if "sleep" in command[-1] else 60
    notifier = build_notifier(target_of({"kind": "exec", "command": command, "timeout_s": timeout_s}))
    with pytest.raises(NotDelivered, match=words) as caught:
        notifier.send(notification(alert()))
    assert not caught.value.refused
