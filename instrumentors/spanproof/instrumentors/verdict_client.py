"""Requests to a collector's `/v1/verdict` and `/v1/route`, each within a deadline.

In comes code, out comes a `Scan`; or an agent's name, and out comes where it goes on. The deadline holds for
everything: names, connecting, a server that sends a byte a second. Standard library only: an agent process
needs no scanner of its own.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict

_MAX_ANSWER: Final = 4 * 1024 * 1024
_MAX_AT_ONCE: Final = 64
_KEPT: Final = 4
# Statuses of a request that the service could not read or would not take: code in it does not pass.
_NOT_JUDGED: Final = frozenset({400, 413, 422})


class VerdictUnavailable(Exception):  # noqa: N818 - says what happened
    """The service gave no answer in time; the message says why."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where an agent goes on.

    Attributes:
        action: `continue`, `model` or `person`.
        model: to use instead, with the action `model`.
        person: who takes over, with the action `person`.
        rule: the rule that applies; empty for `continue`.
        reason: in a sentence.
    """

    action: str
    model: str | None = None
    person: str | None = None
    rule: str = ""
    reason: str = ""


class VerdictClient:
    """Sends requests to one collector. Thread-safe, and safe after a fork.

    Args:
        endpoint: base URL of the collector's HTTP port, such as `http://127.0.0.1:4318`.
        token: one of the collector's `tokens`, where it has any.
        deadline_s: longest time of one request.
    """

    def __init__(self, endpoint: str, *, token: str = "", deadline_s: float = 3.0) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"endpoint={endpoint!r} is no http:// or https:// URL with a host")
        if not deadline_s > 0:
            raise ValueError(f"deadline_s={deadline_s!r} must be above 0")
        self._secure = parts.scheme == "https"
        self._address = parts.hostname, parts.port
        self._path = parts.path.rstrip("/")
        self._headers = {"content-type": "application/json"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        self._deadline_s = deadline_s
        self._room = threading.BoundedSemaphore(_MAX_AT_ONCE)
        self._kept: list[tuple[int, HTTPConnection]] = []

    def scan(self, code: str, language: str, subject: Mapping[str, str] | None = None) -> Scan:
        """Return the service's scan of a snippet.

        Args:
            code: any text; what UTF-8 cannot hold is replaced.
            language: it is written in; `text` for prose.
            subject: agent, tool and cohort, by which overrides of the policy go.

        Raises:
            VerdictUnavailable: there is no answer in time.
        """
        fields = {name: value[:500] for name, value in (subject or {}).items() if value}
        body = {"code": _clean_text(code), "language": language[:500], "subject": fields}
        status, answer = self._post_document("/v1/verdict", body)
        if status in _NOT_JUDGED:
            return _build_refusal(f"the service did not judge it: {_extract_message(answer)}")
        if status != 200:
            raise VerdictUnavailable(f"status {status}: {_extract_message(answer)}")
        try:
            return Scan(
                Verdict(answer["verdict"]),
                tuple(_parse_finding(row) for row in answer["findings"]),
                int(answer["elapsed_us"]),
            )
        except (KeyError, TypeError, ValueError) as odd:
            raise VerdictUnavailable(f"the answer is no verdict: {odd!r}") from odd

    def route(self, agent: str, *, model: str = "", trace_id: str | None = None) -> Route:
        """Return where an agent goes on.

        Args:
            agent: its name, as its traces have it.
            model: that it uses now.
            trace_id: 32 hexadecimal digits, for rules about a trace.

        Raises:
            VerdictUnavailable: there is no answer in time.
        """
        status, answer = self._post_document(
            "/v1/route", {"agent": agent, "model": model, "trace_id": trace_id}
        )
        if status != 200:
            raise VerdictUnavailable(f"status {status}: {_extract_message(answer)}")
        try:
            return Route(
                str(answer["action"]),
                answer["model"],
                answer["person"],
                answer["rule"] or "",
                answer["reason"],
            )
        except (KeyError, TypeError) as odd:
            raise VerdictUnavailable(f"the answer is no route: {odd!r}") from odd

    def _post_document(self, path: str, document: Mapping[str, object]) -> tuple[int, Any]:
        if not self._room.acquire(blocking=False):
            raise VerdictUnavailable(f"{_MAX_AT_ONCE} requests wait for an answer already")
        body = json.dumps(document).encode()
        results: SimpleQueue[tuple[int, Any] | BaseException] = SimpleQueue()
        # A thread of its own: a socket's timeout bounds each of its steps and not their sum, and looking a
        # name up has none.
        worker = threading.Thread(
            target=self._run_request, args=(path, body, results), name="spanproof-verdict", daemon=True
        )
        try:
            worker.start()
        except RuntimeError as failure:
            self._room.release()
            raise VerdictUnavailable(f"no thread for the request: {failure}") from failure
        try:
            result = results.get(timeout=self._deadline_s)
        except Empty:
            raise VerdictUnavailable(f"no answer within {self._deadline_s:g} s") from None
        if isinstance(result, BaseException):
            raise VerdictUnavailable(f"{type(result).__name__}: {result}") from result
        return result

    def _run_request(
        self, path: str, body: bytes, results: SimpleQueue[tuple[int, Any] | BaseException]
    ) -> None:
        try:
            results.put(self._send_request(path, body))
        except Exception as failure:  # noqa: BLE001 - raised in the caller's thread
            results.put(failure)
        finally:
            self._room.release()

    def _send_request(self, path: str, body: bytes) -> tuple[int, Any]:
        until = monotonic() + self._deadline_s
        with suppress(IndexError, HTTPException, OSError):  # none is kept, or the service has closed it
            pid, kept = self._kept.pop()
            if pid == os.getpid():
                return self._send(kept, path, body)
            kept.close()  # a parent's, whose own descriptor stays open
        left_s = max(0.001, until - monotonic())
        kind = HTTPSConnection if self._secure else HTTPConnection
        return self._send(kind(*self._address, timeout=left_s), path, body)

    def _send(self, connection: HTTPConnection, path: str, body: bytes) -> tuple[int, Any]:
        try:
            connection.request("POST", self._path + path, body, self._headers)
            response = connection.getresponse()
            # A longer answer is cut, and is no JSON then.
            content = response.read(_MAX_ANSWER)
            answer = json.loads(content) if content else None
        except BaseException:
            connection.close()
            raise
        if response.will_close or len(self._kept) >= _KEPT:
            connection.close()
        else:
            self._kept.append((os.getpid(), connection))
        return response.status, answer


def build_unscanned(reason: str) -> Scan:
    """Return the scan that denies code about which there is no verdict."""
    return _build_refusal(f"no verdict: {reason}")


def _build_refusal(message: str) -> Scan:
    return Scan(
        Verdict.DENY, (Finding("scanner_error", Severity.CRITICAL, Verdict.DENY, 1, 1, 1, 1, message),)
    )


def _parse_finding(row: Mapping[str, Any]) -> Finding:
    return Finding(
        rule=str(row["rule"]),
        severity=Severity(row["severity"]),
        verdict=Verdict(row["verdict"]),
        line=int(row["line"]),
        column=int(row["column"]),
        end_line=int(row["end_line"]),
        end_column=int(row["end_column"]),
        message=str(row["message"]),
        remedy=str(row["remedy"]),
        cwe=row["cwe"],
        fingerprint=str(row["fingerprint"]),
    )


def _extract_message(answer: object) -> str:
    message = answer.get("message") if isinstance(answer, dict) else None
    return str(message)[:500] if message else "no message"


def _clean_text(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
