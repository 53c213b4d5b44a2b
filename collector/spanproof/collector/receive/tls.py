"""TLS of the listeners; certificates are read again when their files change, so that they can be rotated."""

from __future__ import annotations

import logging
import ssl
import threading
import time
from typing import Any

import grpc

from spanproof.config.model import Tls

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 1.0


class TlsError(ValueError):
    """A certificate or key cannot be used; the message names the files."""


def load_ssl_context(tls: Tls) -> ssl.SSLContext | None:
    """Return the context of a listener, None where it has no TLS.

    Raises:
        TlsError: a file cannot be read or used.
    """
    if tls.certificate is None or tls.key is None:
        return None
    context = _Context(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.update_section(tls)
    if tls.client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class _Context(ssl.SSLContext):
    """A context that reads its certificate again, at a handshake, when the files have changed."""

    _tls: Tls
    _mark: tuple[int, ...] = ()
    _looked_s = 0.0

    def update_section(self, tls: Tls) -> None:
        """Load the files of this section, now and whenever they change.

        Raises:
            TlsError: one cannot be read or used.
        """
        self._tls = tls
        self._mark = _read_file_times(tls)
        self._update_certificate()
        self.sni_callback = self._on_handshake

    def _update_certificate(self) -> None:
        tls = self._tls
        assert tls.certificate is not None
        try:
            self.load_cert_chain(tls.certificate, tls.key)
            if tls.client_ca is not None:
                self.load_verify_locations(tls.client_ca)
        except (OSError, ssl.SSLError) as problem:
            raise TlsError(_format_problem(tls, problem)) from problem

    def _on_handshake(self, *_: object) -> None:
        if time.monotonic() - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = time.monotonic()
        mark = _read_file_times(self._tls)
        if mark == self._mark:
            return
        self._mark = mark
        try:
            self._update_certificate()
        except TlsError as problem:
            log.error("%s; the former certificate stays in use", problem)  # noqa: TRY400
        else:
            log.info("%s was read again", self._tls.certificate)


def load_grpc_credentials(tls: Tls) -> grpc.ServerCredentials | None:
    """Return the credentials of a listener over gRPC, None where it has no TLS.

    Raises:
        TlsError: a file cannot be read or used.
    """
    if load_ssl_context(tls) is None:  # what is wrong with the files, grpc itself would only log
        return None
    guard = threading.Lock()
    state = {"mark": _read_file_times(tls)}

    def changed() -> Any:  # None is no change, which the stubs do not know
        with guard:
            mark = _read_file_times(tls)
            if mark == state["mark"]:
                return None
            state["mark"] = mark
        try:
            load_ssl_context(tls)
            return _read_certificates(tls)
        except (TlsError, OSError) as problem:
            log.error("%s; the former certificate stays in use", problem)  # noqa: TRY400
            return None

    return grpc.dynamic_ssl_server_credentials(
        _read_certificates(tls), changed, require_client_authentication=tls.client_ca is not None
    )


def _read_certificates(tls: Tls) -> grpc.ServerCertificateConfiguration:
    assert tls.certificate is not None
    assert tls.key is not None
    authorities = tls.client_ca.read_bytes() if tls.client_ca is not None else None
    pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
    return grpc.ssl_server_certificate_configuration([pair], root_certificates=authorities)


def _read_file_times(tls: Tls) -> tuple[int, ...]:
    """Return what changes when one of the files does."""
    files = [path for path in (tls.certificate, tls.key, tls.client_ca) if path is not None]
    try:
        return tuple(path.stat().st_mtime_ns for path in files)
    except OSError:
        return ()


def _format_problem(tls: Tls, problem: Exception) -> str:
    names = ", ".join(str(path) for path in (tls.certificate, tls.key, tls.client_ca) if path is not None)
    return f"tls: {names}: {getattr(problem, 'strerror', None) or problem}"
