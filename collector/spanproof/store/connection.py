"""Where a store is, and the clients that reach it.

A location is a directory (chDB, ClickHouse within this process) or a DSN (a ClickHouse server). Both give the
same client, so nothing above this module knows which it is. Clients are leased one thread at a time. An
embedded directory belongs to one process, guarded by a lock file that says who holds it; chDB hangs in a
forked child, so a child is refused before it touches anything.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError

from spanproof.store.errors import StoreBusy, StoreError, StoreUnavailable

DEFAULT_DATABASE = "spanproof"
SERVER_SCHEMES = ("clickhouse", "clickhouses", "http", "https")

_SETTINGS = {
    # Acknowledged means written: the pipeline commits its offsets on it.
    "async_insert": 0,
    # A backfill may span more days than the default of 100 partitions an insert.
    "max_partitions_per_insert_block": 0,
    # Keys hold the hour of the span, so one key never stands in two partitions.
    "do_not_merge_across_partitions_select_final": 1,
}

_TRANSIENT = frozenset(
    {
        159,  # TIMEOUT_EXCEEDED
        164,  # READONLY
        192,  # UNKNOWN_USER
        193,  # WRONG_PASSWORD
        202,  # TOO_MANY_SIMULTANEOUS_QUERIES
        203,  # NO_FREE_CONNECTION
        209,  # SOCKET_TIMEOUT
        210,  # NETWORK_ERROR
        225,  # NO_ZOOKEEPER
        236,  # ABORTED
        241,  # MEMORY_LIMIT_EXCEEDED
        242,  # TABLE_IS_READ_ONLY
        243,  # NOT_ENOUGH_SPACE
        252,  # TOO_MANY_PARTS
        279,  # ALL_CONNECTION_TRIES_FAILED
        285,  # TOO_FEW_LIVE_REPLICAS
        286,  # UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
        319,  # UNKNOWN_STATUS_OF_INSERT
        394,  # QUERY_WAS_CANCELLED
        425,  # SYSTEM_ERROR
        497,  # ACCESS_DENIED
        516,  # AUTHENTICATION_FAILED
        999,  # KEEPER_EXCEPTION
    }
)
"""Codes of ClickHouse that speak of the server and not of what it was given: the same write may pass later."""


class Connections:
    """Clients of one location, leased one at a time; thread-safe.

    Attributes:
        name: the location as the user gave it, without a password.
        database: the database that holds the tables.
    """

    def __init__(
        self, name: str, database: str, open_client: Callable[[], Client], release: Callable[[], None]
    ) -> None:
        self.name = name
        self.database = database
        self._open_client = open_client
        self._release = release
        self._idle: list[Client] = []
        self._guard = threading.Lock()
        self._closed = False
        self._pid = os.getpid()

    @contextmanager
    def lease(self) -> Iterator[Client]:
        """A client for this thread alone, for as long as the block runs.

        Raises:
            StoreUnavailable: the server does not answer.
            StoreError: the store is closed, this is a forked child, or the database refused.
        """
        self._check_usable()
        try:
            client = self._take()
            broken = True
            try:
                yield client
                broken = False
            finally:
                self._give_back(client, broken=broken)
        except ClickHouseError as problem:
            transient = isinstance(problem, OperationalError) or getattr(problem, "code", None) in _TRANSIENT
            kind = StoreUnavailable if transient else StoreError
            raise kind(f"store {self.name}: {_first_line(problem)}") from problem

    def close(self) -> None:
        """Close every idle client and let go of the directory. Safe to call twice."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
        if os.getpid() != self._pid:
            return
        for client in idle:
            client.close()
        self._release()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreError(f"store {self.name} is closed")
        if os.getpid() != self._pid:
            raise StoreError(
                f"store {self.name} was opened by process {self._pid} and this is its forked child"
                f" {os.getpid()}: open the store after the fork, in one process only"
            )

    def _take(self) -> Client:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return self._open_client()

    def _give_back(self, client: Client, *, broken: bool) -> None:
        with self._guard:
            if not self._closed and not broken:
                self._idle.append(client)
                return
        client.close()


def connect(location: str | Path) -> Connections:
    """Reach a store; the first client is opened at once, so that a wrong location is told here.

    Raises:
        StoreBusy: the directory is held by another process.
        StoreUnavailable: the server does not answer, or the directory cannot be made.
        StoreError: a DSN that cannot be read.
    """
    text = str(location)
    scheme = text.split("://", 1)[0].lower() if "://" in text else ""
    if not scheme:
        return _embedded(Path(location))
    if scheme not in SERVER_SCHEMES:
        raise StoreError(
            f"store {text!r}: unknown scheme {scheme!r}; give a directory, or a DSN that starts with"
            f" {', '.join(f'{known}://' for known in SERVER_SCHEMES)}"
        )
    return _server(text, scheme)


def _server(dsn: str, scheme: str) -> Connections:
    parts = urlsplit(dsn)
    secure = scheme in ("https", "clickhouses")
    database = parts.path.strip("/") or DEFAULT_DATABASE
    if not re.fullmatch(r"[A-Za-z_]\w*", database):
        raise StoreError(f"store: {database!r} is no name for a database; letters, digits and _ only")
    try:
        port = parts.port or (8443 if secure else 8123)
    except ValueError as problem:
        raise StoreError(f"store: the port of the DSN is no number from 1 to 65535: {problem}") from problem
    arguments: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": port,
        "username": unquote(parts.username) if parts.username else "default",
        "password": unquote(parts.password or ""),
        "interface": "https" if secure else "http",
        **dict(parse_qsl(parts.query)),
    }
    name = f"{scheme}://{arguments['host']}:{port}/{database}"
    connections = Connections(name, database, lambda: _open(arguments), lambda: None)
    with connections.lease():
        pass
    return connections


def _open(arguments: dict[str, Any]) -> Client:
    try:
        # A session would let one request at a time through; nothing here needs one.
        return clickhouse_connect.get_client(autogenerate_session_id=False, settings=_SETTINGS, **arguments)
    except (TypeError, ValueError) as problem:
        raise StoreError(f"store: an option of the DSN is not valid: {problem}") from problem


def _embedded(directory: Path) -> Connections:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        real = directory.resolve()
        _HOLDS.take(real)
    except OSError as problem:
        raise StoreUnavailable(
            f"store {directory}: cannot be used as a directory: {problem.strerror}; name another with --store"
        ) from problem

    def open_client() -> Client:
        return clickhouse_connect.get_client(interface="chdb", path=str(real / "data"), settings=_SETTINGS)

    connections = Connections(str(directory), DEFAULT_DATABASE, open_client, lambda: _HOLDS.let_go(real))
    try:
        with connections.lease():
            pass
    except StoreError:
        connections.close()
        raise
    return connections


class _Holds:
    """Which embedded directory this process holds; chDB takes one per process, by any number of clients."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._directory: Path | None = None
        self._descriptor = -1
        self._stores = 0
        self._pid = os.getpid()

    def take(self, directory: Path) -> None:
        with self._guard:
            if self._stores and self._pid != os.getpid():
                raise StoreBusy(
                    f"store {directory}: this process was forked from one that has a store open; start a"
                    " fresh process instead (multiprocessing: use the 'spawn' method)"
                )
            if self._stores and self._directory != directory:
                raise StoreBusy(
                    f"store {directory}: this process already holds {self._directory}, and an embedded store"
                    " is one per process; close that first, or use a ClickHouse server"
                )
            if not self._stores:
                self._descriptor = _lock(directory)
                self._directory, self._pid = directory, os.getpid()
            self._stores += 1

    def let_go(self, directory: Path) -> None:
        with self._guard:
            if self._directory != directory or not self._stores:
                return
            self._stores -= 1
            if not self._stores:
                os.close(self._descriptor)
                self._directory = None


_HOLDS = _Holds()


def _lock(directory: Path) -> int:
    """Take the directory for this process; the lock goes with the process, however it ends."""
    path = directory / "lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Record locks, not flock: a forked child must not keep the directory when this process is gone.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(descriptor, 400).decode("utf-8", "replace").strip()
        os.close(descriptor)
        raise StoreBusy(
            f"store {directory} is held by {holder or 'another process'}, and an embedded store belongs to"
            " one process: stop it and try again, or let both use a ClickHouse server (--store clickhouse://…)",
            holder,
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{_command()} (process {os.getpid()})\n".encode(), 0)
    return descriptor


def _command() -> str:
    words = [Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python", *sys.argv[1:2]]
    return " ".join(words)


def _first_line(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0][:500]
