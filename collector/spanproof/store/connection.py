"""Where a store is, and the clients that reach it.

A location is a directory (chDB, ClickHouse within this process) or a DSN (a ClickHouse server). Both give the
same client, so nothing above this module knows which it is. Clients are leased one thread at a time. chDB
hangs in a forked child, so a child is refused before it touches anything.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError

from spanproof.store.errors import StoreBusy, StoreError, StoreUnavailable
from spanproof.store.hold import Hold, read_holder
from spanproof.store.layout import Layout
from spanproof.store.projects import build_project_settings
from spanproof.store.query_settings import EMBEDDED_SETTINGS, FINAL_SETTINGS

if TYPE_CHECKING:
    from spanproof.store.front import Front

DEFAULT_DATABASE = "spanproof"
SERVER_SCHEMES = ("clickhouse", "clickhouses", "http", "https")

_SETTINGS = {
    # A backfill may span more days than the default of 100 partitions an insert.
    "max_partitions_per_insert_block": 0,
    **FINAL_SETTINGS,
}

# Options of a DSN that are ours, not the driver's.
_LAYOUT_OPTIONS = ("cluster", "quorum", "async_insert")

# ClickHouse's codes that speak of the server, not of what it was given: the same write may pass later.
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


class Connections:
    """Clients of one location, leased one at a time; thread-safe.

    Args:
        open_client: opens a client whose queries have these settings beside its own.
        release: lets go of the location.
        settings: of every query.

    Attributes:
        name: the location as the user gave it, without a password.
        layout: the database that holds the tables, and its cluster.
        exclusive: whether this process holds it, so that others reach it through this one alone.
        borrowed: whether it is reached through the process that holds it, which keeps its schema up to date.
    """

    def __init__(
        self,
        name: str,
        layout: Layout,
        open_client: Callable[[Mapping[str, Any]], Client],
        release: Callable[[], None],
        *,
        exclusive: bool = False,
        borrowed: bool = False,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.layout = layout
        self.exclusive = exclusive
        self.borrowed = borrowed
        self._open_client = open_client
        self._settings = settings
        self._limited: dict[str, Connections] = {}
        self._release = release
        self._idle: list[Client] = []
        self._guard = threading.Lock()
        self._closed = False
        self._pid = os.getpid()

    @property
    def database(self) -> str:
        """The database that holds the tables."""
        return self.layout.database

    @contextmanager
    def lease(self) -> Iterator[Client]:
        """Yield a client for this thread alone, for as long as the block runs.

        Raises:
            StoreUnavailable: the server does not answer.
            StoreError: the store is closed, this is a forked child, or the database refused.
        """
        self._check_usable()
        try:
            client = self._get_client()
            broken = True
            try:
                yield client
                broken = False
            finally:
                self._close_or_keep(client, broken=broken)
        except ClickHouseError as problem:
            transient = isinstance(problem, OperationalError) or getattr(problem, "code", None) in _TRANSIENT
            kind = StoreUnavailable if transient else StoreError
            raise kind(f"store {self.name}: {_format_problem(problem)}") from problem

    def with_project(self, project: str) -> Connections:
        """Return connections that read rows of one project alone; they are closed with these.

        Raises:
            StoreError: the process that holds the directory answers the queries, without the limit.
        """
        if self.borrowed:
            raise StoreError(
                f"store {self.name} is reached through the process that holds it, which limits no client to"
                " a project: serve the console from that process (`spanproof serve`)"
            )
        with self._guard:
            limited = self._limited.get(project)
            if limited is None:
                settings = {**self._settings, **build_project_settings(self.layout, project)}
                limited = self._limited[project] = Connections(
                    self.name,
                    self.layout,
                    self._open_client,
                    lambda: None,
                    exclusive=self.exclusive,
                    settings=settings,
                )
            return limited

    def close(self) -> None:
        """Close every idle client and let go of the directory. Safe to call twice."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
            limited = list(self._limited.values())
        if os.getpid() != self._pid:
            return
        for connections in limited:
            connections.close()
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

    def _get_client(self) -> Client:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return self._open_client(self._settings)

    def _close_or_keep(self, client: Client, *, broken: bool) -> None:
        with self._guard:
            if not self._closed and not broken:
                self._idle.append(client)
                return
        client.close()


def open_connections(location: str | Path, *, read_only: bool = False, share: bool = False) -> Connections:
    """Reach a store; the first client is opened at once, so that a wrong location is reported here.

    Args:
        location: a directory or a DSN; see `spanproof.store.open_store`.
        read_only: nothing will be written.
        share: let other processes read and write a directory for as long as this one holds it. Without it a
            directory that another process holds and shares is reached through that process.

    Raises:
        StoreBusy: the directory is held by another process.
        StoreUnavailable: the server does not answer, or the directory cannot be made.
        StoreError: a DSN that cannot be read.
    """
    text = str(location)
    scheme = text.split("://", 1)[0].lower() if "://" in text else ""
    if not scheme:
        return _open_embedded(Path(location), read_only=read_only, share=share)
    if scheme not in SERVER_SCHEMES:
        raise StoreError(
            f"store: unknown scheme {scheme!r}; give a directory, or a DSN that starts with"
            f" {', '.join(f'{scheme}://' for scheme in SERVER_SCHEMES)}"
        )
    return _open_server(text, scheme)


def _open_server(dsn: str, scheme: str) -> Connections:
    parts = urlsplit(dsn)
    secure = scheme in ("https", "clickhouses")
    database = parts.path.strip("/") or DEFAULT_DATABASE
    if not re.fullmatch(r"[A-Za-z_]\w*", database):
        raise StoreError(f"store: {database!r} is no name for a database; letters, digits and _ only")
    try:
        port = parts.port or (8443 if secure else 8123)
    except ValueError as problem:
        raise StoreError(f"store: the port of the DSN is no number from 1 to 65535: {problem}") from problem
    if port in (9000, 9440):
        raise StoreError(
            f"store: {port} is the port of ClickHouse's native protocol; Spanproof uses HTTP: 8123, or 8443"
            " with TLS, where the server has its defaults"
        )
    options = dict(parse_qsl(parts.query))
    layout = Layout.from_options(database, options)
    user = unquote(parts.username) if parts.username else "default"
    others = {name: value for name, value in options.items() if name not in _LAYOUT_OPTIONS}
    arguments: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": port,
        "username": user,
        "password": unquote(parts.password or ""),
        "interface": "https" if secure else "http",
        **others,
    }
    name = f"{scheme}://{arguments['host']}:{port}/{database}"
    return _open_over_http(name, layout, arguments)


def _open_through_holder(directory: Path, url: str) -> Connections:
    """Reach a directory through the process that holds it."""
    parts = urlsplit(url)
    arguments = {
        "host": parts.hostname,
        "port": parts.port,
        "username": parts.username,
        "password": parts.password,
        "interface": "http",
        "compress": False,
    }
    return _open_over_http(str(directory), Layout(DEFAULT_DATABASE), arguments, borrowed=True)


def _open_over_http(
    name: str, layout: Layout, arguments: dict[str, Any], *, borrowed: bool = False
) -> Connections:
    connections = Connections(
        name,
        layout,
        lambda settings: _open_http_client(arguments, {**layout.settings, **settings}),
        lambda: None,
        borrowed=borrowed,
    )
    with connections.lease():
        pass
    return connections


def _open_http_client(arguments: dict[str, Any], settings: dict[str, Any]) -> Client:
    try:
        # A session would let one request at a time through; nothing here needs one.
        return clickhouse_connect.get_client(
            autogenerate_session_id=False, settings={**_SETTINGS, **settings}, **arguments
        )
    except (TypeError, ValueError) as problem:
        raise StoreError(f"store: an option of the DSN is not valid: {problem}") from problem


def _open_embedded(directory: Path, *, read_only: bool, share: bool) -> Connections:
    real = directory.resolve()
    try:
        # What agents said is in it: for its owner alone, as the log. One that is there stays as it is.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        url = _wait_for_directory(real, read_only=read_only, share=share)
    except OSError as problem:
        raise StoreUnavailable(
            f"store {directory}: cannot be used as a directory: {problem.strerror}; name another with --store"
        ) from problem
    if url is not None:
        return _open_through_holder(directory, url)
    # Acknowledged means written: the pipeline commits its offsets on it.
    settings = {**_SETTINGS, **EMBEDDED_SETTINGS, **Layout(DEFAULT_DATABASE).settings}
    fronts: list[Front] = []

    def open_client(more: Mapping[str, Any]) -> Client:
        return clickhouse_connect.get_client(
            interface="chdb",
            path=str(real / "data"),
            settings={**settings, **more},
        )

    def release() -> None:
        for front in fronts:
            _HOLD.write_urls(None, None)
            front.close()
        _HOLD.remove_store()

    connections = Connections(str(directory), Layout(DEFAULT_DATABASE), open_client, release, exclusive=True)
    try:
        with connections.lease():
            pass
        if share:
            # Here and not above: it loads the engine, which Windows does not have.
            from spanproof.store.front import Front

            fronts.append(Front(real / "data", DEFAULT_DATABASE, settings))
            _HOLD.write_urls(fronts[0].read_url, fronts[0].write_url)
    except BaseException:
        connections.close()
        raise
    return connections


_HOLD = Hold()

# How long a reader waits for a directory: other readers hold it for moments only.
_READERS_WAIT_S = 2.0


def _wait_for_directory(directory: Path, *, read_only: bool, share: bool) -> str | None:
    """Hold the directory, or return the DSN by which its holder lets this process in.

    One that shares a directory is a server of its own, which works with no other.
    """
    until = time.monotonic() + (_READERS_WAIT_S if read_only else 0.0)
    while True:
        try:
            _HOLD.add_store(directory)
        except StoreBusy:
            holder = read_holder(directory)
            if share:
                url = None
            elif read_only:
                url = holder.read_url
            else:
                url = holder.write_url
            if url is not None:
                return url
            if time.monotonic() >= until:
                raise
            time.sleep(0.1)
        else:
            return None


def _format_problem(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0][:500]
