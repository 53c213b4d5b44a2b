"""Promises about recorded HTTP: see `promises`, which has them among all others."""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.sandbox.backend import Evidence, Sandbox
from spanproof.sandbox.backends.self_check.promise import PATIENT, Promise, check_holds
from spanproof.sandbox.model import (
    AttemptKind,
    Exchange,
    Execution,
    FailureClass,
    Fixtures,
    Program,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
)

_API, _SECURE = "http://api.example.com", "https://api.example.com/secret"
_NOT_RECORDED = (f"{_API}/other", _SECURE, "http://198.51.100.7/", "http://elsewhere.example/")


def _run_calls(sandbox: Sandbox, urls: Sequence[str], *recorded: Exchange) -> Execution:
    """Run a program that opens these, one after the other."""
    source = f"import urllib.request\nfor url in {list(urls)!r}:\n"
    source += "    print(urllib.request.urlopen(url).read().decode())"
    program = Program("python", source, limits=PATIENT, fixtures=Fixtures(http=recorded))
    return sandbox.run(program)


def _check_answered(sandbox: Sandbox) -> None:
    recorded = [Exchange("GET", f"{_API}/{path}", body=path.encode()) for path in ("a", "b", "a")]
    execution = _run_calls(sandbox, [one.url for one in recorded], *recorded)
    check_holds((execution.stdout, execution.failure_class) == ("a\nb\na\n", FailureClass.OK), execution)


def _check_answered_over_tls(sandbox: Sandbox) -> None:
    execution = _run_calls(sandbox, [_SECURE], Exchange("GET", _SECURE, body=b"secret"))
    check_holds((execution.stdout, execution.failure_class) == ("secret\n", FailureClass.OK), execution)


def _check_redirected(sandbox: Sandbox) -> None:
    moved = Exchange("GET", f"{_API}/old", 302, (("Location", _SECURE),))
    execution = _run_calls(sandbox, [moved.url], moved, Exchange("GET", _SECURE, body=b"new"))
    check_holds((execution.stdout, execution.failure_class) == ("new\n", FailureClass.OK), execution)


def _check_no_other_call(sandbox: Sandbox) -> None:
    recorded = Exchange("GET", f"{_API}/a", body=b"recorded")
    for other in (recorded.url, *_NOT_RECORDED):
        execution = _run_calls(sandbox, [recorded.url, other, recorded.url], recorded)
        check_holds(execution.stdout == "recorded\n", (other, execution))
        check_holds(execution.failure_class is not FailureClass.OK, (other, execution))


def _check_calls_reported(sandbox: Sandbox) -> None:
    recorded = Exchange("GET", f"{_API}/a", body=b"recorded")
    execution = _run_calls(sandbox, [recorded.url, f"{_API}/other"], recorded)
    reply = [(one.target, one.allowed) for one in execution.attempts if one.kind is AttemptKind.NETWORK]
    check_holds(reply == [(f"GET {_API}/a", True), (f"GET {_API}/other", False)], execution)
    check_holds(execution.failure_class is FailureClass.PERMISSION_DENIED, execution)


def _check_session_calls(sandbox: Sandbox) -> None:
    recorded = Exchange("GET", f"{_API}/a", body=b"recorded")
    source = (
        f"import urllib.request\ndef call(): return urllib.request.urlopen({recorded.url!r}).read().decode()"
    )
    fixtures = Fixtures(http=(recorded,))
    with sandbox.session(SessionSpec(limits=PATIENT, fixtures=fixtures), _handle_tool) as session:
        session.execute(source)
        first, second = session.execute("call()"), session.execute("call()")
    check_holds(first.result == "recorded", first)
    check_holds(second.result is None and second.failure_class is not FailureClass.OK, second)


def _handle_tool(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(error_type="LookupError", error_message=request.tool)


RECORDED: tuple[Promise, ...] = (
    Promise("recorded calls", "recorded HTTP calls are answered", "python", _check_answered),
    Promise(
        "recorded TLS", "recorded HTTPS calls are answered, and trusted", "python", _check_answered_over_tls
    ),
    Promise("recorded redirects", "a recorded redirect leads where it did", "python", _check_redirected),
    Promise("recorded steps", "a session's steps share the recorded calls", "python", _check_session_calls),
    Promise("no other call", "a call that was not recorded fails", "python", _check_no_other_call),
    Promise(
        "calls reported",
        "calls are reported, the recorded as allowed and all others as refused",
        "python",
        _check_calls_reported,
        Evidence.CALLS,
    ),
)
"""In the order they are checked."""
