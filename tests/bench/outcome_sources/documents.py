"""Results that speak of failure and are none: logs, tickets, documentation, metrics, JSON data."""

from __future__ import annotations

import inspect
import json
import pydoc
import random
from collections.abc import Iterator

from outcome_sources import DOMAINS, Output, pick

MESSAGES = (
    "Connection refused by 10.0.0.7:5432",
    "TimeoutError: the read operation timed out",
    "no such table: {t}",
    "HTTP 503 Service Unavailable from {t}",
    "permission denied for relation {t}",
    'FATAL: password authentication failed for user "app"',
    "KeyError: '{t}'",
    "Failed to load {t}: file not found",
    "npm ERR! missing script: {t}",
    "exit code: 1",
    "Segmentation fault (core dumped)",
    "disk full while writing {t}",
)


def logs() -> Iterator[Output]:
    """Results of a search in logs, in the formats that log tools write."""
    draw = random.Random(3)
    for d in DOMAINS:
        for at in range(14):
            lines = []
            for _ in range(draw.choice((1, 1, 2, 4, 9))):
                message = draw.choice(MESSAGES).format(t=d.table)
                day, clock = f"{draw.randint(10, 28)}", f"{draw.randint(10, 23)}:{draw.randint(10, 59)}:07"
                stamp = f"2026-0{draw.randint(1, 9)}-{day}T{clock}Z"
                level = draw.choice(("ERROR", "error", "FATAL", "WARN", "CRITICAL"))
                form = at % 7
                lines.append(
                    (
                        f"{stamp} {level} [{d.table}] {message}",
                        f"[{level}] {stamp} {d.table}: {message}",
                        json.dumps({"ts": stamp, "level": level.lower(), "service": d.table, "msg": message}),
                        f'level={level.lower()} time={stamp} svc={d.table} err="{message}"',
                        f"{d.table}.log:{draw.randint(3, 900)}:{level}: {message}",
                        f"{stamp} {d.table}-7f9c[812]: {level.lower()}: {message}",
                        f"{level}: {message} ({stamp})",
                    )[form]
                )
            tools = ("search_logs", "log_search", "query_logs", "get_log_lines", "tail_log", "loki_logs")
            yield Output(pick(tools, d, at), "\n".join(lines), "ok")
            if at < 4:
                found = {"total": len(lines), "hits": [{"message": line} for line in lines]}
                yield Output(pick(tools, d, at, 1), json.dumps(found), "ok")
        yield Output(
            "search_logs",
            pick(("No matching log lines.", "0 results", "[]", "No results found."), d),
            "empty",
        )


def tickets() -> Iterator[Output]:
    """Tickets, mails and incident reports about failures."""
    subjects = (
        "Error: {t} page does not load",
        "Login failed for {t}",
        "Cannot open {t} report",
        "Payment failed twice",
        "500 on /{t}",
        "Export of {t} times out",
        "Access denied to {t}",
        "Printer not found",
        "App crashes with exception",
    )
    bodies = (
        'Since Monday the {t} page shows "Internal Server Error". I tried again and it failed.',
        "When I open {t}, it says permission denied. Could not reproduce on my laptop.",
        "The job failed with exit code 1 and we could not connect to the database for 40 minutes.",
        "Root cause: the {t} service was down because of a failed deployment. Fixed by rolling back.",
    )
    draw = random.Random(5)
    for d in DOMAINS:
        for at in range(9):
            subject, body = draw.choice(subjects).format(t=d.table), draw.choice(bodies).format(t=d.table)
            number = draw.randint(1000, 9999)
            text = (
                f"#{number} {subject}\n\n{body}",
                json.dumps({"id": number, "subject": subject, "body": body, "status": "open"}),
                f"Subject: {subject}\nFrom: kim@example.com\n\n{body}",
                f"Incident {number}: {subject}\nStatus: resolved\nImpact: 214 users\n{body}",
                f"{subject}\n{body}\n\nReply: Thank you, we look into it.",
                (
                    f"{number} | {subject} | open\n{number + 1} | {draw.choice(subjects).format(t=d.table)} |"
                    f" closed"
                ),
                body,
                f"Summary: {body}",
                json.dumps(
                    [{"id": number, "title": subject, "error": body}, {"id": number + 1, "title": "All fine"}]
                ),
            )[at]
            tools = (
                "get_ticket",
                "search_tickets",
                "read_email",
                "list_incidents",
                "get_issue",
                "search_issues",
            )
            yield Output(pick(tools, d, at), text, "ok")


def documentation() -> Iterator[Output]:
    """Documentation of errors, and code that handles them, as search and reading tools give it."""
    errors = (
        OSError,
        ValueError,
        KeyError,
        TimeoutError,
        ImportError,
        PermissionError,
        RuntimeError,
        ConnectionError,
        EOFError,
        LookupError,
    )
    for error in errors:
        text = pydoc.plain(pydoc.render_doc(error))
        yield Output("search_docs", text[:900], "ok")
        yield Output("read_page", f"{error.__name__}: {inspect.getdoc(error)}", "ok")
        yield Output("docs_lookup", f"{error.__name__}\n\nRaised when {inspect.getdoc(error)}", "ok")
        yield Output(
            "wiki_search",
            f"Page: {error.__name__}\nSummary: An error of Python. {inspect.getdoc(error)}",
            "ok",
        )
    import http

    for status in (s for s in http.HTTPStatus if s >= 400):
        sentence = f"{status.value} {status.phrase}: {status.description or 'see RFC 9110'}."
        yield Output(
            pick(("search_docs", "wikipedia", "explain_status"), status),
            sentence + " The client should not retry.",
            "ok",
        )
        if status.value % 2:
            yield Output("knowledge_search", json.dumps({"title": sentence, "score": 0.91}), "ok")
    modules = (
        "json.decoder",
        "subprocess",
        "http.client",
        "shutil",
        "zipfile",
        "configparser",
        "smtplib",
        "tarfile",
    )
    for name in modules:
        module = __import__(name, fromlist=["x"])
        lines = inspect.getsource(module).splitlines()
        places = [number for number, line in enumerate(lines) if "Error" in line or "except" in line]
        for start in places[3:30:9]:
            yield Output("read_file", "\n".join(lines[start : start + 12]), "ok")
            yield Output("code_search", "\n".join(f"{name}.py:{n}: {lines[n]}" for n in places[:4]), "ok")


def metrics() -> Iterator[Output]:
    """Figures about errors, and test reports without one."""
    draw = random.Random(8)
    forms = (
        "Error rate: {x:.2f}% over the last 24 h ({n} of {m} requests)",
        "Errors: {n}",
        "Failed: {n}, passed: {m}",
        "mean absolute error {x:.3f}",
        "{m} passed, {n} skipped in {x:.2f}s",
        "Standard error: {x:.4f}",
        "Error budget remaining: {x:.1f}%",
        "Failures by week: {n}, 3, 0, 1",
        "RMSE: {x:.3f}\nMAE: {x:.3f}\nMAPE: {n}%",
        "Timeouts: {n} of {m}",
        "{t}: {n} failed jobs, {m} succeeded",
        "The error is {x:.2f} on average.",
        "status 500: {n}\nstatus 404: {m}\nstatus 200: 9121",
        "Failed logins per day: {n}",
        "Exceptions\n  ValueError  {n}\n  KeyError    {m}",
        "Denied applications: {n}\nApproved applications: {m}",
        "Refused connections: {n} ({x:.1f} per minute)",
        "Crash-free sessions: 99.{n}%",
        "Errors found: 0",
        "No errors in {t}.",
        "0 failed, {m} passed",
        "Build finished with 0 errors and {n} warnings.",
        "Lint: no issues in {m} files",
        "The {t} service is up; it was unavailable for {n} minutes last month.",
        "Last failure of {t}: {n} days ago",
    )
    for d in DOMAINS:
        for form in forms:
            if draw.random() < 0.6:
                text = form.format(
                    t=d.table, n=draw.randint(1, 40), m=draw.randint(50, 900), x=draw.uniform(0.1, 9.0)
                )
                yield Output(
                    pick(
                        ("get_metrics", "query_metrics", "compute", "run_tests", "evaluate_model", "status"),
                        form,
                        d,
                    ),
                    text,
                    "ok",
                )


def json_data() -> Iterator[Output]:
    """JSON that holds errors as data or declares success, and JSON that declares failure."""
    for d in DOMAINS:
        t, key = d.table, d.key
        good = (
            {
                "error": None,
                "result": [dict(zip((key, d.number, d.text), row, strict=True)) for row in d.rows],
            },
            {"errors": [], "data": {t: len(d.rows)}},
            {"status": "failed", key: d.rows[0][0], "finished_at": "2026-03-01", "runs": 3, "owner": "kim"},
            {"success": True, "message": f"No errors in {t}", "count": 4},
            {"code": 0, "message": "ok", "data": [1, 2]},
            {"status": 200, "body": f"Error handling of {t}"},
            [{"id": 1, "error": "timeout"}, {"id": 2, "error": None}],
            {t: [{"id": 4, "state": "error", "reason": "disk full"}], "next": None},
            {"is_error": False, "content": [{"type": "text", "text": f"{t}: 3 failed"}]},
            {"error_rate": 0.02, "failed": 3, "total": 150},
            {"name": "ValueError", "count": 17, "first_seen": "2026-02-03", "service": t},
            {"exit_code": 0, "stdout": f"{t} ok", "stderr": "warning: old format"},
            {"message": f"{len(d.rows)} {t} updated"},
            {"status": "success", "failed": 0, "skipped": []},
            {"status": "cancelled", key: 7, d.number: 9.5},
            {"ok": True, "warnings": ["failed to read cache"], "value": 45.0},
        )
        bad = (
            {"error": f"{t} not found"},
            {"error": {"message": "invalid token", "type": "auth_error", "code": 401}},
            {"status": "error", "message": f"could not read {t}"},
            {"success": False, "reason": "quota exceeded"},
            {"isError": True, "content": [{"type": "text", "text": f"no {t}"}]},
            {"detail": "Not authenticated"},
            {"code": 500, "message": "Internal error"},
            {
                "errors": [{"message": f"Cannot query field {t}", "locations": [{"line": 1, "column": 3}]}],
                "data": None,
            },
            {"ok": False, "error": "channel_not_found"},
            {"statusCode": 404, "error": "Not Found", "message": f"No {t}"},
            {"type": "about:blank", "title": "Forbidden", "status": 403},
            {"jsonrpc": "2.0", "id": 4, "error": {"code": -32602, "message": "Invalid params"}},
            {"returncode": 2, "stdout": "", "stderr": f"{t}: No such file or directory"},
            {"result": None, "error": "database is locked"},
            {"data": None, "error": f"{t} timed out", "success": False},
            {"exception": "TimeoutError", "message": "read timed out"},
            {"status": "failed", "error": f"{t} unavailable", "result": None},
            [{"type": "text", "text": f"Error: {t} does not exist"}],
        )
        nothing = ({"results": []}, [], {}, {"rows": [], "total": 0}, {"data": [], "error": None})
        for at, value in enumerate(good):
            yield Output(
                pick(("call_api", "get_status", "lookup", "fetch_json", "query"), d, at),
                json.dumps(value),
                "ok",
            )
        for at, value in enumerate(bad):
            if (at + len(t)) % 2:
                yield Output(
                    pick(("call_api", "lookup", "get_status", "query", "create_item"), d, at),
                    json.dumps(value),
                    "failed",
                )
        yield Output("call_api", json.dumps(pick(nothing, d)), "empty")
