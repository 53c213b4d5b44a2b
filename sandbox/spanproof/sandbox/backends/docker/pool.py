"""Warm containers, by their shape.

In: the shape a program requests. Out: a container that is as new, for one caller. One is used again only
after its supervisor said that it is clean, and no more than a number of times; on any doubt it is removed.
Thread-safe.
"""

from __future__ import annotations

import contextlib
import threading

from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.backends.docker.daemon import Daemon, Settings, Shape
from spanproof.sandbox.errors import SandboxBroken


class Pool:
    """All containers of one sandbox."""

    def __init__(self, settings: Settings, workers: int, runs: int) -> None:
        self._settings = settings
        self._workers = workers
        self._runs = runs
        self._lock = threading.Lock()
        self._idle: list[Container] = []
        self._taken: set[Container] = set()
        self._daemon: Daemon | None = None
        self._closed = False

    def get_container(self, shape: Shape) -> Container:
        """Take a container for one caller, until it is given back or dropped.

        Raises:
            SandboxUnavailable: there is no daemon, or it cannot run one.
            SandboxBroken: the pool is closed.
        """
        while (container := self._find_idle(shape)) is not None:
            if container.is_clean():
                return container
            self.close_container(container)
        container = Container(self._get_daemon(), shape)
        with self._lock:
            self._taken.add(container)
            closed = self._closed
        if closed:
            self.close_container(container)
            raise SandboxBroken("the sandbox is closed")
        return container

    def is_local(self) -> bool:
        """See `Daemon`.

        Raises:
            SandboxUnavailable: there is no daemon.
        """
        return self._get_daemon().is_local

    def add_idle(self, container: Container) -> None:
        """Return a container that has answered; it may still be cleaning up."""
        if container.runs >= self._runs:
            self.close_container(container)
            return
        with self._lock:
            surplus = self._idle.pop(0) if len(self._idle) >= self._workers else None
            if not self._closed:
                self._taken.discard(container)
                self._idle.append(container)
                container = surplus  # type: ignore[assignment]
        if container is not None:
            self.close_container(container)

    def close_container(self, container: Container) -> None:
        """Remove a container."""
        with self._lock:
            self._taken.discard(container)
        container.close()

    def close(self) -> None:
        """Remove every container, those in use too. Safe to call twice."""
        with self._lock:
            self._closed = True
            left = [*self._idle, *self._taken]
            self._idle, self._taken = [], set()
            daemon, self._daemon = self._daemon, None
        for container in left:
            container.close()
        if daemon is not None:
            daemon.close()

    def _find_idle(self, shape: Shape) -> Container | None:
        with self._lock:
            if self._closed:
                raise SandboxBroken("the sandbox is closed")
            for container in self._idle:
                if container.shape == shape:
                    self._idle.remove(container)
                    self._taken.add(container)
                    return container
        return None

    def run_sweep(self) -> list[str]:
        """Remove the containers of dead owners; return their ids."""
        with contextlib.closing(Daemon(self._settings)) as daemon:
            return daemon.run_sweep()

    def _get_daemon(self) -> Daemon:
        with self._lock:
            if self._daemon is None:
                self._daemon = Daemon(self._settings)
                self._daemon.run_sweep()
            return self._daemon
