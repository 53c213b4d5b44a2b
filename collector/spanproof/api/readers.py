"""Who may read and write: holders of tokens with these roles, and readers of an OpenID Connect provider.

In: a bearer token and a role. Out: whether it has the role. The provider's keys are read from it when a
token needs one that is not known, and kept.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import httpx
import jwt

from spanproof.collector.receive.auth import Authoriser, Grant
from spanproof.collector.receive.refused import Refused
from spanproof.config.model import Config, Oidc, Role

log = logging.getLogger(__name__)

# Signatures by a key pair: one that is made with a shared secret could be made from the public key.
_ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)

_REQUIRED: Final = ("exp", "iss", "aud", "sub")
_LEEWAY_S: Final = 30
_TIMEOUT_S: Final = 5
_KEYS_FOR_S: Final = 300
# Between two requests for keys: tokens that name unknown keys must not become requests to the provider.
_COOLDOWN_S = 5.0


class TokenHolders:
    """The holders of tokens, with their roles. Thread-safe."""

    def __init__(self, config: Config) -> None:
        self._tokens = Authoriser(config.tokens, config.tokens_file)
        self._provider = _Provider(config.console.oidc) if config.console.oidc.issuer else None

    def list_grants(self) -> list[Grant]:
        """Return what the holders of the collector's tokens may do, with the tokens' names."""
        return self._tokens.list_grants()

    def find_grant(self, token: str, role: Role) -> Grant | None:
        """Return what is granted to a token that has a role, else None; a provider's tokens read only."""
        if self._tokens.required:
            try:
                return self._tokens.get_grant(f"Bearer {token}", role)
            except Refused:
                pass
        return self._provider.find_grant(token) if role is Role.READ and self._provider is not None else None


class _Provider:
    def __init__(self, settings: Oidc) -> None:
        self._settings = settings
        self._keys: jwt.PyJWKClient | None = None

    def find_grant(self, token: str) -> Grant | None:
        try:
            key = self._open_key_client().get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_S,
                options={"require": list(_REQUIRED)},
            )
        except (jwt.PyJWTError, httpx.HTTPError, ValueError, KeyError) as problem:
            # Never the token itself.
            log.info("a reader's token is not accepted: %s", type(problem).__name__)
            return None
        return self._find_grant(claims) if _has_claims(claims, self._settings.required_claims) else None

    def _find_grant(self, claims: Mapping[str, Any]) -> Grant | None:
        """Return the grant of a reader; None where the claim that names the project is missing."""
        claim = self._settings.project_claim
        if claim is None:
            return Grant(frozenset({Role.READ}))
        project = claims.get(claim)
        if not isinstance(project, str) or not project:
            log.info("a reader's token is not accepted: it has no text in the claim %s", claim)
            return None
        return Grant(frozenset({Role.READ}), project)

    def _open_key_client(self) -> jwt.PyJWKClient:
        if self._keys is None:
            url = self._settings.jwks_url or self._fetch_keys_url()
            self._keys = jwt.PyJWKClient(
                url, lifespan=_KEYS_FOR_S, timeout=_TIMEOUT_S, cooldown_duration=_COOLDOWN_S
            )
        return self._keys

    def _fetch_keys_url(self) -> str:
        issuer = (self._settings.issuer or "").rstrip("/")
        answer = httpx.get(f"{issuer}/.well-known/openid-configuration", timeout=_TIMEOUT_S)
        document = answer.raise_for_status().json()
        if document["issuer"].rstrip("/") != issuer:
            raise ValueError("the discovery document is another issuer's")
        return str(document["jwks_uri"])


def _has_claims(claims: Mapping[str, Any], required: Mapping[str, str]) -> bool:
    for name, wanted in required.items():
        claim = claims.get(name)
        if wanted not in (claim if isinstance(claim, list) else [claim]):
            return False
    return True
