"""Where spans go and who may read them: endpoints, certificates, credentials."""

import certifi
import pytest

from .otlp_sinks import grpc_sink, http_sink
from .programs import honours, ran, said_quietly


@honours("OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_TRACES_INSECURE")
@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_TRACES_INSECURE"])
def test_grpc_without_tls_where_the_endpoint_does_not_say(variable):
    with grpc_sink() as sink:
        said_quietly(
            OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
            OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint.removeprefix("http://"),
            **{variable: "True"},
        )
        assert sink.named("work")


@honours(
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
)
@pytest.mark.parametrize("prefixes", [("", ""), ("TRACES_", "TRACES_")])
@pytest.mark.parametrize(("protocol", "opened"), [("grpc", grpc_sink), ("http/protobuf", http_sink)])
def test_certificates_prove_who_is_who(authority, protocol, opened, prefixes):
    of_server, of_client = (f"OTEL_EXPORTER_OTLP_{prefix}" for prefix in prefixes)
    certificate, key = authority.client
    knowing = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "REQUESTS_CA_BUNDLE": certifi.where(),  # of the host's own requests, none of the exporter's
        f"{of_server}CERTIFICATE": authority.certificate,
    }
    proving = {f"{of_client}CLIENT_CERTIFICATE": certificate, f"{of_client}CLIENT_KEY": key}
    with opened(authority, requests_client=True) as sink:
        knowing["OTEL_EXPORTER_OTLP_ENDPOINT"] = sink.endpoint
        said_quietly(**knowing, **proving)
        assert sink.named("work")
        sink.taken.clear()
        errors = ran(OTEL_EXPORTER_OTLP_TIMEOUT="2", **knowing)[1]
        assert (list(errors), sink.taken) == (["export"], []), "a client that shows nothing is refused"


@pytest.mark.parametrize(("protocol", "opened"), [("grpc", grpc_sink), ("http/protobuf", http_sink)])
def test_a_server_whose_authority_no_one_named_is_not_trusted(authority, protocol, opened):
    with opened(authority) as sink:
        errors = ran(
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
            OTEL_EXPORTER_OTLP_TIMEOUT="2",
        )[1]
    assert (list(errors), sink.taken) == (["export"], [])


@honours(
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_CREDENTIAL_PROVIDER",
)
@pytest.mark.parametrize(("kind", "signal"), [("HTTP", ""), ("HTTP", "TRACES_"), ("GRPC", "")])
def test_credentials_may_come_from_another_package(authority, components, kind, signal):
    opened, name = (http_sink(), "session") if kind == "HTTP" else (grpc_sink(authority), "channel")
    with opened as sink:
        said_quietly(
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf" if kind == "HTTP" else "grpc",
            OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
            AUTHORITY=authority.certificate,
            **{f"OTEL_PYTHON_EXPORTER_OTLP_{kind}_{signal}CREDENTIAL_PROVIDER": name},
            **components,
        )
        assert sink.named("work")
    assert sink.requests[0][1].get("authorization") == ("of the session" if kind == "HTTP" else None)


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
@pytest.mark.parametrize("name", ["CERTIFICATE", "TRACES_CLIENT_KEY", "CLIENT_CERTIFICATE"])
def test_where_a_certificate_cannot_be_read_nothing_is_exported(sink, protocol, name):
    exporters, errors, _, console = ran(
        "len(provider._active_span_processor._span_processors) - 1",
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
        **{f"OTEL_EXPORTER_OTLP_{name}": "/nowhere/authority.pem"},
    )
    assert (exporters, errors, sink.taken) == (0, {"environment": 1}, []), console
    assert "No such file or directory: '/nowhere/authority.pem'" in console


def test_with_an_endpoint_that_is_no_url_nothing_is_exported(sink):
    _, errors, _, _ = ran(OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint.removeprefix("http://"))
    assert list(errors) == ["export"]
    assert sink.taken == []
