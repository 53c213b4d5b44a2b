"""What replaces a backend of our own on a system that it is not made for."""

from __future__ import annotations

import sys
from typing import NoReturn

from spanproof.sandbox.backend import AnswerTool, Availability, Feature, Sandbox, Session
from spanproof.sandbox.errors import SandboxUnavailable
from spanproof.sandbox.model import Execution, Program, SessionSpec

_NAMES = {"darwin": "macOS", "win32": "Windows"}
# One line for each system. What a wheel installs knows no path of the repository.
_REMEDIES = {
    "jail": "run code in a container: Spanproof's image or, on macOS, --backend docker; else --no-replay",
    "docker": "run code in Spanproof's image, or under WSL 2; else --no-replay",
}


def needs_other_system(backend: str) -> bool:
    """Whether a backend of our own cannot run on this system: the jail needs Linux, docker POSIX."""
    return sys.platform == "win32" or (backend == "jail" and sys.platform != "linux")


class ElsewhereSandbox(Sandbox):
    """Reports what the backend needs, and runs nothing."""

    name = "jail"
    languages = frozenset[str]()

    def __init__(self, *, workers: int, **_settings: str) -> None:
        self._system = _NAMES.get(sys.platform, sys.platform)

    def availability(self) -> Availability:
        """Return that the system is missing."""
        detail, remedy = f"this system is {self._system}", _REMEDIES[self.name]
        feature = Feature("linux", present=False, required=True, detail=detail, remedy=remedy)
        return Availability(self.name, (feature,), tier=None)

    def run(self, program: Program) -> Execution:
        """Raise SandboxUnavailable."""
        self._refuse()

    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Raise SandboxUnavailable."""
        self._refuse()

    def close(self) -> None:
        """Return at once; there is nothing to end."""

    def _refuse(self) -> NoReturn:
        raise SandboxUnavailable(
            f"the sandbox {self.name} does not run on {self._system}: {_REMEDIES[self.name]}"
        )


class ElsewhereDocker(ElsewhereSandbox):
    """The same in place of docker."""

    name = "docker"
