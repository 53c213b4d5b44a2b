"""What a backend of remote machines brings: a service that makes machines, and a machine as it has it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Protocol

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.errors import SandboxError


class Stream(Protocol):
    """A command that runs on a machine: iterate over what it writes."""

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """Yield what it wrote to stdout and stderr; ends with the command, raises where the stream does."""
        ...

    def send_stdin(self, data: bytes) -> None:
        """Give it input."""
        ...


class Host(Protocol):
    """One machine of a service. What a method raises, `Service.explain` makes ours."""

    @property
    def id(self) -> str:
        """Its name at the service."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Write a file that only the commands' user can read."""
        ...

    def start(self, command: str, *, talks: bool) -> Stream:
        """Start a shell's command; `talks` where it is given input."""
        ...

    def prolong(self, seconds: int) -> None:
        """Let it live for so many seconds from now on."""
        ...

    def end(self) -> None:
        """End it."""
        ...


class Service(ABC):
    """Where machines come from.

    Attributes:
        name: the backend's.
        image: what machines are made of, in errors: `template 'base'`.
        separating: what to do for machines that keep programs apart from their tests.
        lifetime_s: seconds after which the service ends a machine that no one ended.
        reuse: programs a machine runs before it is replaced, where it can keep them apart.
        retries: new machines tried when one fails before the program has started.
        price_per_second: of a machine; None where it is not known.
        prolongs: whether a machine's life can be prolonged once it is made.
    """

    name: str
    image: str
    separating: str
    lifetime_s: int
    reuse: int
    retries: int
    price_per_second: float | None = None
    prolongs: bool = True

    @abstractmethod
    def features(self) -> tuple[Feature, ...]:
        """Report what is there of what the backend needs; makes no machine."""

    @abstractmethod
    def make(self, lifetime_s: int) -> Host:
        """Make a machine without a way to the internet.

        Raises:
            SandboxUnavailable: something the user can set right is missing.
            SandboxBroken: the service failed.
        """

    @abstractmethod
    def explain(self, problem: Exception, doing: str) -> SandboxError:
        """Return our error for one that the service's client raised while `doing`."""
