from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from spanproof.api import TokenHolders
from spanproof.config.model import Role, load_config


class Provider:
    """An OpenID Connect provider: its discovery document, its keys, and tokens."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.keys: dict[str, RSAPrivateKey] = {}
        self.rotate("first")

    def rotate(self, name: str) -> None:
        self.keys[name] = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def documents(self) -> dict[str, object]:
        keys = [
            json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": name, "use": "sig"}
            for name, key in self.keys.items()
        ]
        return {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/keys": {"keys": keys},
        }

    def token(self, kid: str = "first", **changes: object) -> str:
        claims = {
            "iss": self.url,
            "aud": "spanproof",
            "sub": "someone",
            "exp": time.time() + 600,
            "groups": ["a", "reviewers"],
        } | changes
        given = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(given, self.keys[kid], algorithm="RS256", headers={"kid": kid})


@pytest.fixture
def provider() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answering.documents()[self.path]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answering = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield answering
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def readers(provider: Provider) -> Callable[..., TokenHolders]:
    def make(**more: str) -> TokenHolders:
        return TokenHolders(load_config(None, {}, {"console.oidc.issuer": provider.url, **more}))

    return make


def test_a_token_of_the_provider_is_a_reader_s(provider, readers) -> None:
    assert readers().find_grant(provider.token(), Role.READ)


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"exp": None},
        {"aud": "another"},
        {"iss": "https://another.example"},
        {"sub": None},
        {"nbf": 2**40},
    ],
    ids=str,
)
def test_a_token_with_a_wrong_claim_is_not(provider, readers, changes) -> None:
    assert not readers().find_grant(provider.token(**changes), Role.READ)


def test_a_token_that_is_signed_by_another_key_or_by_none_is_not(provider, readers) -> None:
    genuine = provider.token()
    header, claims, _ = genuine.split(".")
    unsigned = jwt.encode({"iss": provider.url, "aud": "spanproof"}, None, algorithm="none")
    provider.rotate("first")
    forged = readers()
    assert not forged.find_grant(genuine, Role.READ)
    for token in (unsigned, f"{header}.{claims}.", "", "a.b.c", "x" * 5000):
        assert not forged.find_grant(token, Role.READ)


def test_a_token_signed_with_the_public_key_as_a_shared_secret_is_not(provider, readers) -> None:
    claims = {"iss": provider.url, "aud": "spanproof", "sub": "x", "exp": time.time() + 600}
    shared = jwt.encode(claims, "k" * 64, algorithm="HS256", headers={"kid": "first"})
    assert not readers().find_grant(shared, Role.READ)


def test_a_key_that_is_new_is_read_when_a_token_needs_it(provider, readers, monkeypatch) -> None:
    monkeypatch.setattr("spanproof.api.readers._COOLDOWN_S", 0.0)
    known = readers()
    assert known.find_grant(provider.token(), Role.READ)
    provider.rotate("second")
    assert known.find_grant(provider.token("second"), Role.READ)


def test_required_claims_are_required(provider, readers) -> None:
    assert readers(**{"console.oidc.required_claims": "{groups: reviewers}"}).find_grant(
        provider.token(), Role.READ
    )
    assert not readers(**{"console.oidc.required_claims": "{groups: owners}"}).find_grant(
        provider.token(), Role.READ
    )


def test_tokens_with_the_role_read_are_readers_s_and_others_are_not(readers) -> None:
    tokens = "[{token: reader, roles: [read]}, sender]"
    known = TokenHolders(load_config(None, {}, {"tokens": tokens}))
    assert known.find_grant("reader", Role.READ)
    assert not known.find_grant("sender", Role.READ)
    assert not known.find_grant("other", Role.READ)


def test_a_provider_that_does_not_answer_lets_no_reader_in() -> None:
    with socket.socket() as taken:  # bound, and nothing listens
        taken.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert not TokenHolders(load_config(None, {}, {"console.oidc.issuer": issuer})).find_grant(
            "a.b.c", Role.READ
        )


def test_a_claim_may_name_the_one_project_that_a_reader_sees(provider, readers) -> None:
    known = readers(**{"console.oidc.project_claim": "tenant"})
    granted = known.find_grant(provider.token(tenant="acme"), Role.READ)
    assert granted is not None
    assert (granted.project, granted.roles) == ("acme", {Role.READ})
    for missing in (None, "", ["acme"], 7):
        assert not known.find_grant(provider.token(tenant=missing), Role.READ)
