"""What a backend of remote machines brings: a service that makes machines, and a machine as it has it."""

from __future__ import annotations

import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import ClassVar, Protocol

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.remote.settings import RemoteSettings
from spanproof.sandbox.errors import SandboxBroken, SandboxError, SandboxUnavailable

# Of what a service's client says, in errors.
_CAUSE_CHARACTERS = 500


class Stream(Protocol):
    """A command that runs on a machine: iterate over what it writes."""

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """Yield what it wrote to stdout and stderr; ends with the command, raises where the stream does."""
        ...

    def send_stdin(self, data: bytes) -> None:
        """Give it input."""
        ...


class Host(Protocol):
    """One machine of a service. What a method raises, `Service.build_error` makes ours."""

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

    def update_lifetime(self, seconds: int) -> None:
        """Let it live for so many seconds from now on."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Fault(Enum):
    """What a service's error means, where the user can set it right."""

    NO_CONFIGURATION = "no configuration"
    REFUSED = "refused"
    NO_ANSWER = "no answer"
    NO_IMAGE = "no image"
    """Machines cannot be made of what they are to be made of."""


class Service(ABC):
    """Where machines come from.

    Attributes:
        name: the backend's.
        noun: what it is, in the report of what is there.
        making: what `make` does, in errors.
        separating: what to do for machines that keep programs apart from their tests.
        remedy: what to do where it does not answer, in the report of what is there.
        remedies: what is said of a fault; `{cause}`, `{doing}`, `{image}` and `{settings.…}` are filled
            in.
        prolongs: whether a machine's life can be prolonged once it is made.
        image: what machines are made of, in errors: `template 'base'`.
        settings: of the backend.
    """

    name: str
    noun: str = "service"
    making: str = "make a machine"
    separating: str
    remedy: str
    remedies: ClassVar[Mapping[Fault, str]]
    prolongs: bool = True

    def __init__(self, settings: RemoteSettings, image: str) -> None:
        self.settings = settings
        self.image = image

    def list_features(self) -> tuple[Feature, ...]:
        """Report what is there of what the backend needs; queries the service, and makes no machine."""
        required = self.list_requirements()
        if not all(feature.present for feature in required):
            return required
        try:
            return (*required, *self.list_service_features())
        except Exception as problem:  # noqa: BLE001 - whatever a client raises, there is no service for us
            detail = str(self.build_error(problem, f"query the {self.noun}"))
            missing = Feature(self.noun, present=False, required=True, detail=detail, remedy=self.remedy)
            return (*required, missing)

    def start_machine(self, lifetime_s: int) -> Host:
        """Make a machine without a way to the internet.

        Raises:
            SandboxUnavailable: something the user can set right is missing.
            SandboxBroken: the service failed.
        """
        for feature in self.list_requirements():
            if not feature.present:
                raise SandboxUnavailable(f"{self.name}: {feature.detail}; {feature.remedy}")
        try:
            return self.start_host(lifetime_s)
        except Exception as problem:
            raise self.build_error(problem, self.making) from problem

    def build_error(self, problem: Exception, doing: str) -> SandboxError:
        """Return our error for one that the service's client raised while `doing`."""
        if isinstance(problem, SandboxError):
            return problem
        fault, cause = self.find_fault(problem), self.describe_problem(problem)[:_CAUSE_CHARACTERS]
        if fault is None or (fault is Fault.NO_IMAGE and doing != self.making):
            return SandboxBroken(f"{self.name}: could not {doing}: {cause}")
        values = {"cause": cause, "doing": doing, "image": self.image, "settings": self.settings}
        text = self.remedies[fault].format_map(values)
        return SandboxUnavailable(f"{self.name}: {text}")

    def describe_problem(self, problem: Exception) -> str:
        """Return what the service's client said."""
        return f"{type(problem).__name__}: {problem}"

    @abstractmethod
    def list_requirements(self) -> tuple[Feature, ...]:
        """Report what is there without the service: its client, a key."""

    @abstractmethod
    def list_service_features(self) -> tuple[Feature, ...]:
        """Report what the service says; raises what its client raises."""

    @abstractmethod
    def start_host(self, lifetime_s: int) -> Host:
        """Make a machine; raises what the service's client raises."""

    @abstractmethod
    def find_fault(self, problem: Exception) -> Fault | None:
        """Return what an error of the service's client means, where the user can set it right."""


def build_package_feature(label: str, module: str, missing: str, extra: str) -> Feature:
    """Report whether a package is installed, by a module of it and the extra of ours that brings it."""
    present = importlib.util.find_spec(module) is not None
    remedy = f"pip install 'spanproof[{extra}]'"
    return Feature(label, present, required=True, detail="" if present else missing, remedy=remedy)


def build_variable_feature(label: str, variable: str) -> Feature:
    """Report whether a variable of the environment is set."""
    present = bool(os.environ.get(variable))
    detail = "" if present else f"{variable} is not set"
    return Feature(label, present, required=True, detail=detail, remedy=f"set {variable} in the environment")
