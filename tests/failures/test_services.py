"""Failures of services by what they say, and advice that stays within the policy."""

from __future__ import annotations

import re
from random import Random

import pytest

from spanproof.failures import build_explanation, build_signature, format_masked, group_signatures
from spanproof.failures.causes import load_causes
from spanproof.failures.model import Signature
from spanproof.trace import Layer

# Words of clients and services of several languages, with and without a type that says something.
SAID = {
    "http-401": [("HTTPError", "401 Client Error: Unauthorized for url: https://crm.test/{n}"),
                 ("", "HTTP 401"), ("ToolError", "invalid API key provided")],
    "http-403": [("RuntimeError", "Client error '403 Forbidden' for url 'https://crm.test/{n}'"),
                 ("", "Request failed with status code 403"), ("Error", "access denied to project {n}")],
    "http-404": [("", "status: 404"), ("Exception", "404 Not Found: /v1/orders/{n}")],
    "http-408": [("", "504 Gateway Time-out"), ("ToolError", "HTTP 408")],
    "http-409": [("ToolError", '{{"status": 409, "order": {n}}}'), ("", "409 Conflict")],
    "http-422": [("", "server returned 422 Unprocessable Entity"), ("", "status_code=400")],
    "rate-limit": [("", "Error code: 429 - slow down"), ("Exception", "Too many requests, wait {n} s")],
    "http-quota": [("", "You exceeded your current quota"), ("APIError", "insufficient_quota")],
    "http-5xx": [("", "HTTP Error 500: Internal Server Error"), ("", "status code 503"),
                 ("Exception", "Server error '502 Bad Gateway' for url 'https://crm.test/{n}'")],
    "words-refused": [("OperationalError", "port {n} failed: Connection refused"),
                      ("", "connect ECONNREFUSED 10.0.0.1:{n}")],
    "words-reset": [("", "read ECONNRESET"), ("InterfaceError", "connection was closed in an operation")],
    "words-dns": [("", "getaddrinfo ENOTFOUND db{n}.test"), ("OSError", "could not translate host name")],
    "words-tls": [("", "certificate has expired"), ("OSError", "[SSL: CERTIFICATE_VERIFY_FAILED] failed")],
    "words-deadlock": [("", "database is locked"), ("DBError", "deadlock detected, process {n}")],
}  # fmt: skip


def sign_call(error_type: str, message: str) -> Signature:
    return build_signature(
        Layer.EXECUTION,
        "call",
        failure_class="exception",
        error_type=error_type,
        message=message,
        subject="crm",
    )


@pytest.mark.parametrize("cause", SAID)
def test_a_service_is_known_by_its_words_with_any_type(cause):
    found = {sign_call(error_type, words.format(n=41)).cause for error_type, words in SAID[cause]}
    assert found == {cause}


@pytest.mark.parametrize(
    "message",
    ["order 404 has 3 items", "expected 500 rows", "invoice 404 Smith is unpaid", "429 of 500 rows left"],
)
def test_a_number_that_is_no_status_explains_nothing(message):
    assert sign_call("ValueError", message).cause == ""


def test_occurrences_of_one_cause_are_one_cluster():
    random = Random(3)
    truth: dict[str, set[str]] = {}
    signatures = {}
    for cause, said in SAID.items():
        for _ in range(200):
            error_type, words = random.choice(said)
            signature = sign_call(error_type, words.format(n=random.randrange(10_000)))
            signatures[signature.fingerprint] = signature
            truth.setdefault(cause, set()).add(signature.fingerprint)
    clusters = group_signatures(signatures)
    of_cause = [{clusters[fingerprint] for fingerprint in found} for found in truth.values()]
    assert all(len(found) == 1 for found in of_cause)
    assert len(set.union(*of_cause)) == len(SAID)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Client error '403 Forbidden' for url 'https://a.test'", "403 forbidden"),
        ("the call failed: insufficient_quota", "insufficient_quota"),
        ("connect ECONNREFUSED 10.0.0.1:5432", "ECONNREFUSED"),
        ("gRPC error RESOURCE_EXHAUSTED for tenant_12", "RESOURCE_EXHAUSTED"),
    ],
)
def test_masking_keeps_the_words_of_the_cause(message, kept):
    assert kept in format_masked(message)
    assert "tenant_12" not in format_masked(message)


WIDER = re.compile(
    r"(?i)\ballow (?:it|the|this|them)\b|\badd it\b|\braise the|\bin the policy where\b|\binstall it\b"
    r"|\bgrant\b|\bdisable\b|\bturn off\b|\bunrestricted\b"
)


@pytest.mark.parametrize("cause", load_causes().values(), ids=lambda cause: cause.id)
def test_advice_never_widens_the_boundary(cause):
    assert WIDER.search(cause.fix) is None


STOPPED = [
    ("attempts", "network", "named host", "named host"),
    ("attempts", "network", "metadata service", "metadata service"),
    ("attempts", "file", "credentials", "credentials"),
    ("attempts", "process", "curl", "curl"),
    ("scan", "deny", "network.host", "network.host"),
    ("scan", "deny", "file.write", "file.write"),
    ("scan", "deny", "process.start", "process.start"),
]


@pytest.mark.parametrize(("check", "failure_class", "subject", "stopped"), STOPPED)
def test_what_the_policy_stopped_is_named_with_whom_to_ask(check, failure_class, subject, stopped):
    found = build_explanation(
        build_signature(Layer.BOUNDARY, check, failure_class=failure_class, subject=subject)
    )
    assert f"policy stopped {stopped}" in found.cause.replace("a connection, ", "").replace(
        "an access, ", ""
    ).replace("a program or a right, ", "")
    assert "ask the owner of the policy" in found.fix
