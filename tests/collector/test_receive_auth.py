from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import grpc
import httpx
import pytest
import trustme
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from waiting import wait_until

from spanproof.collector.receive import auth
from spanproof.collector.receive.auth import Authoriser, TokenFileError
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.tls import TlsError
from spanproof.config.model import Role, Token
from spanproof.semconv.spanproof import COHORT_PREFIX
from spanproof.trace.otlp import get_attributes

PROJECT = f"{COHORT_PREFIX}project"
PROTOBUF = {"content-type": "application/x-protobuf"}
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
post = partial(httpx.post, timeout=120)


def token(text: str, **more: object) -> Token:
    return Token.model_validate({"token": text, **more})


def reason_of(authoriser: Authoriser, presented: str, role: Role) -> Reason | None:
    try:
        authoriser.get_grant(f"Bearer {presented}", role)
    except Refused as refused:
        return refused.reason
    return None


def test_a_token_opens_what_its_roles_name() -> None:
    authoriser = Authoriser([token("all", roles=["send", "read", "write"]), token("reader", roles=["read"])])
    assert [reason_of(authoriser, "all", role) for role in Role] == [None, None, None]
    assert reason_of(authoriser, "reader", Role.READ) is None
    assert reason_of(authoriser, "reader", Role.SEND) is Reason.FORBIDDEN
    assert reason_of(authoriser, "other", Role.READ) is Reason.UNAUTHENTICATED


def test_a_text_alone_may_send_and_write() -> None:
    authoriser = Authoriser([Token.model_validate("plain")])
    assert [reason_of(authoriser, "plain", role) for role in (Role.SEND, Role.WRITE, Role.READ)] == [
        None,
        None,
        Reason.FORBIDDEN,
    ]


def test_tokens_of_a_file_are_rotated_while_it_runs(tmp_path: Path, monkeypatch, caplog) -> None:
    monkeypatch.setattr(auth, "_LOOK_EVERY_S", 0.0)
    file = tmp_path / "tokens.yaml"
    file.write_text("- old\n")
    authoriser = Authoriser((), file)
    assert reason_of(authoriser, "old", Role.SEND) is None
    file.write_text("- {token: new, roles: [send]}\n- both\n")
    assert reason_of(authoriser, "old", Role.SEND) is Reason.UNAUTHENTICATED
    assert reason_of(authoriser, "new", Role.SEND) is None
    file.write_text("- {tokn: hush\n")
    assert reason_of(authoriser, "new", Role.SEND) is None
    assert "the former tokens stay in force" in caplog.text
    assert "hush" not in caplog.text
    # As an editor leaves it for a moment while it writes.
    file.write_text("")
    assert reason_of(authoriser, "new", Role.SEND) is None
    file.write_text("[]")
    assert reason_of(authoriser, "new", Role.SEND) is Reason.UNAUTHENTICATED


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[3]", "0.token: Input should be a valid string"),
        ("[{token: a, role: b}]", "0.role"),
        ("{", "is no YAML"),
        ("# none yet\n", "is empty"),
    ],
)
def test_a_file_of_tokens_that_is_none_is_reported_with_its_place(tmp_path, content, message) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(content)
    with pytest.raises(TokenFileError, match=message):
        Authoriser((), file)


def test_the_role_is_checked_over_both_protocols(listen, make_request) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen(tokens=({"token": "reader", "roles": ["read"]},)) as listening:
        headers = PROTOBUF | {"authorization": "Bearer reader"}
        assert post(listening.traces_url, content=body, headers=headers).status_code == 403
        with (
            grpc.insecure_channel(listening.endpoints.grpc) as channel,
            pytest.raises(grpc.RpcError) as refused,
        ):
            channel.unary_unary(EXPORT)(body, metadata=(("authorization", "Bearer reader"),), timeout=60)
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
        assert listening.accepted == []


def projects_of(listening) -> list[object]:
    return [
        get_attributes(resource.resource.attributes).get(PROJECT)
        for accepted in listening.accepted
        for resource in accepted.request.resource_spans
    ]


def test_a_token_or_a_header_puts_a_request_into_a_project(listen, make_request) -> None:
    request = make_request((1, 1, None))
    request.resource_spans[0].resource.attributes.add(key=PROJECT).value.string_value = "claimed"
    body = request.SerializeToString()
    tokens = ({"token": "bound", "project": "ours"}, "free")
    with listen(tokens=tokens) as listening:
        for presented, named, status in [
            ("bound", None, 200),
            ("bound", "ours", 200),
            ("bound", "theirs", 403),
            ("free", "named", 200),
            ("free", None, 200),
            ("free", "x" * 300, 400),
        ]:
            headers = PROTOBUF | {"authorization": f"Bearer {presented}"}
            headers |= {"x-spanproof-project": named} if named else {}
            assert post(listening.traces_url, content=body, headers=headers).status_code == status
        assert projects_of(listening) == ["ours", "ours", "named", "claimed"]


def test_pages_of_listed_origins_may_send_and_no_others(listen) -> None:
    with listen(http={"port": 0, "cors_origins": ["https://app.example.com"]}) as listening:
        for origin, allowed in [("https://app.example.com", True), ("https://evil.example.com", False)]:
            answer = httpx.options(
                listening.traces_url,
                headers={
                    "origin": origin,
                    "access-control-request-method": "POST",
                    "access-control-request-headers": "content-type,authorization",
                },
                timeout=60,
            )
            assert (answer.headers.get("access-control-allow-origin") == origin) is allowed
    with listen() as listening:
        answer = httpx.options(listening.traces_url, headers={"origin": "https://a.example"}, timeout=60)
        assert "access-control-allow-origin" not in answer.headers


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def write_pair(folder: Path, authority: trustme.CA, name: str = "127.0.0.1") -> dict[str, str]:
    issued = authority.issue_cert(name)
    certificate, key, ca = folder / "certificate.pem", folder / "key.pem", folder / "ca.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    authority.cert_pem.write_to_path(ca)
    return {"certificate": str(certificate), "key": str(key)}


def test_spans_come_in_over_tls_by_both_protocols(listen, make_request, authority, tmp_path) -> None:
    tls = write_pair(tmp_path, authority)
    with listen(http={"port": 0, "tls": tls}, grpc={"port": 0, "tls": tls}) as listening:
        assert listening.traces_url.startswith("https://")
        body = make_request((1, 1, None)).SerializeToString()
        context = httpx.create_ssl_context(verify=str(tmp_path / "ca.pem"))
        assert post(listening.traces_url, content=body, headers=PROTOBUF, verify=context).status_code == 200
        with pytest.raises(httpx.TransportError):
            post(listening.traces_url, content=body, headers=PROTOBUF)
        credentials = grpc.ssl_channel_credentials((tmp_path / "ca.pem").read_bytes())
        exporter = GrpcExporter(endpoint=f"https://{listening.endpoints.grpc}", credentials=credentials)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with provider.get_tracer("t").start_as_current_span("by tls"):
            pass
        provider.shutdown()
        assert listening.span_names() == ["span 1", "by tls"]


def test_mutual_tls_refuses_who_has_no_certificate(listen, make_request, authority, tmp_path) -> None:
    tls = write_pair(tmp_path, authority) | {"client_ca": str(tmp_path / "ca.pem")}
    client = authority.issue_cert("client.example")
    pair = tmp_path / "client.pem"
    client.private_key_and_cert_chain_pem.write_to_path(pair)
    body = make_request((1, 1, None)).SerializeToString()
    with listen(http={"port": 0, "tls": tls}, grpc={"port": 0, "tls": tls}) as listening:
        context = httpx.create_ssl_context(verify=str(tmp_path / "ca.pem"))
        with pytest.raises(httpx.TransportError):
            post(listening.traces_url, content=body, headers=PROTOBUF, verify=context)
        context.load_cert_chain(pair)
        assert post(listening.traces_url, content=body, headers=PROTOBUF, verify=context).status_code == 200
        ca = (tmp_path / "ca.pem").read_bytes()
        chain = b"".join(blob.bytes() for blob in client.cert_chain_pems)
        for credentials, taken in [
            (grpc.ssl_channel_credentials(ca), False),
            (grpc.ssl_channel_credentials(ca, client.private_key_pem.bytes(), chain), True),
        ]:
            with grpc.secure_channel(listening.endpoints.grpc, credentials) as channel:
                try:
                    channel.unary_unary(EXPORT)(body, timeout=20)
                except grpc.RpcError:
                    assert not taken
                else:
                    assert taken
        assert len(listening.accepted) == 2


def test_a_certificate_is_rotated_while_it_runs(listen, authority, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("spanproof.collector.receive.tls._LOOK_EVERY_S", 0.0)
    tls = write_pair(tmp_path, authority)
    with listen(http={"port": 0, "tls": tls}, grpc={"port": 0, "tls": tls}) as listening:
        later = trustme.CA()
        write_pair(tmp_path, later)
        for name in ("certificate.pem", "key.pem"):
            os.utime(tmp_path / name, (2e9, 2e9))
        context = httpx.create_ssl_context(verify=str(tmp_path / "ca.pem"))

        def answers() -> bool:
            try:
                url = f"{listening.endpoints.http}/livez"
                return httpx.get(url, verify=context, timeout=20).is_success
            except httpx.TransportError:
                return False

        wait_until(answers, "the new certificate is in use")


def test_a_certificate_that_is_none_is_an_error_that_names_the_file(listen, tmp_path) -> None:
    (tmp_path / "a.pem").write_text("nothing")
    tls = {"certificate": str(tmp_path / "a.pem"), "key": str(tmp_path / "a.pem")}
    with pytest.raises(TlsError, match=r"a\.pem"), listen(http={"port": 0, "tls": tls}):
        pass
