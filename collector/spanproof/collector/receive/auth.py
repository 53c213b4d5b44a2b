"""Who may do what: bearer tokens with roles, from the configuration and from a file that may change.

Comes in: the header `authorization` and what its sender wants to do. Goes out: what is granted, or `Refused`.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from spanproof.collector.receive.refused import Reason, Refused
from spanproof.config.model import Role, Token

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 1.0
_TOKENS = TypeAdapter(tuple[Token, ...])


class TokenFileError(ValueError):
    """The file of tokens cannot be used; the message names the place."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What the holder of a token may do.

    Attributes:
        project: of everything that is sent with it; None leaves that to the sender.
        name: what the token is called; None where it has no name.
    """

    roles: frozenset[Role]
    project: str | None = None
    name: str | None = None


# The grant of every caller where no token is configured.
_EVERYTHING = Grant(frozenset(Role))


class Authoriser:
    """Checks tokens. Thread-safe.

    Args:
        tokens: of the configuration.
        file: a YAML list of more; read again when it changes. One that cannot be read then leaves the former
            tokens in force.

    Raises:
        TokenFileError: the file cannot be read at start.
    """

    def __init__(self, tokens: Iterable[Token] = (), file: Path | None = None) -> None:
        self._fixed = _build_grants(tokens)
        self._file = file
        self._guard = threading.Lock()
        self._looked_s = time.monotonic()
        self._mark = _find_file_mark(file)
        self._grants = {**self._fixed, **(_read_grants(file) if file is not None else {})}

    @property
    def required(self) -> bool:
        """Whether a token is required at all."""
        return bool(self._fixed) or self._file is not None

    def list_grants(self) -> list[Grant]:
        """Return what the holders of the tokens in force may do."""
        self._update_grants()
        return list(self._grants.values())

    def get_grant(self, authorization: str | None, role: Role) -> Grant:
        """Return the grant of the client that presents this header.

        Raises:
            Refused: the token is missing or unknown, or may not do that.
        """
        if not self.required:
            return _EVERYTHING
        self._update_grants()
        scheme, _, presented = (authorization or "").partition(" ")
        # Looked up by its digest, so that the time taken says nothing about which token is near.
        grant = self._grants.get(_encode_token(presented.strip()))
        if scheme.lower() != "bearer" or grant is None:
            raise Refused(
                Reason.UNAUTHENTICATED, "send one of the collector's tokens as `authorization: Bearer …`"
            )
        if role not in grant.roles:
            held = ", ".join(sorted(grant.roles))
            raise Refused(Reason.FORBIDDEN, f"this takes a token with the role {role.value}; it has {held}")
        return grant

    def _update_grants(self) -> None:
        if self._file is None or time.monotonic() - self._looked_s < _LOOK_EVERY_S:
            return
        with self._guard:
            self._looked_s = time.monotonic()
            mark = _find_file_mark(self._file)
            if mark == self._mark:
                return
            self._mark = mark
            try:
                self._grants = {**self._fixed, **_read_grants(self._file)}
            except TokenFileError as problem:
                log.error("%s; the former tokens stay in force", problem)  # noqa: TRY400 - no stack is needed
            else:
                log.info("%s was read again: %d tokens", self._file, len(self._grants))


def _read_grants(file: Path) -> dict[bytes, Grant]:
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
        if document is None:
            # What an editor leaves for a moment while it writes must not refuse everyone.
            raise TokenFileError(f"tokens_file {file} is empty; write `[]` for no token")
        return _build_grants(_TOKENS.validate_python(document))
    except OSError as problem:
        raise TokenFileError(f"tokens_file {file} cannot be read: {problem.strerror}") from problem
    except (yaml.YAMLError, UnicodeDecodeError):
        # Not the parser's own words: they quote the line, which holds a token.
        raise TokenFileError(f"tokens_file {file} is no YAML") from None
    except ValidationError as invalid:
        # Without what was given: where it is wrong it may still be a token.
        first = invalid.errors(include_url=False, include_input=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise TokenFileError(f"tokens_file {file}: {path or 'the file'}: {first['msg']}") from None


def _build_grants(tokens: Iterable[Token]) -> dict[bytes, Grant]:
    return {
        _encode_token(entry.token.get_secret_value().strip()): Grant(
            frozenset(entry.roles), entry.project, entry.name
        )
        for entry in tokens
    }


def _encode_token(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _find_file_mark(file: Path | None) -> Mapping[str, int] | None:
    """Return what changes when the file does."""
    try:
        found = file.stat() if file is not None else None
    except OSError:
        return None
    if found:
        return {"time": found.st_mtime_ns, "size": found.st_size, "node": found.st_ino}
    return None
