"""Which agent an experiment runs: an object in a module, a program, or a service.

- `support.agents:make_agent`: a factory, a framework's agent, or a function that takes the task
- `python agent.py`: a program; the task on stdin, the answer on stdout
- `http://127.0.0.1:8000/ask`: a service; POST {"task": …}, the answer in the response
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from spanproof.experiments.container import get_image_digest
from spanproof.experiments.errors import ExperimentError

_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class AgentKind(StrEnum):
    """How an agent is reached."""

    MODULE = "module"
    COMMAND = "command"
    URL = "url"


@dataclass(frozen=True, slots=True)
class AgentUnderTest:
    """The agent of an experiment.

    Attributes:
        target: as the user wrote it.
        environment: variables that its process gets.
        image: digest of the container's image that a program runs in; empty where it runs on this machine.
    """

    kind: AgentKind
    target: str
    environment: tuple[tuple[str, str], ...] = ()
    image: str = ""

    @property
    def command(self) -> list[str]:
        """The words of a program's command line."""
        return shlex.split(self.target)


def build_module_agent(target: str) -> AgentUnderTest:
    """Return the agent `package.module:name`.

    Raises:
        ExperimentError: the target is not written like that.
    """
    if not _TARGET.fullmatch(target):
        raise ExperimentError(
            f"agent {target!r}: write it as package.module:name, like support.agents:make_agent"
        )
    return AgentUnderTest(AgentKind.MODULE, target)


def build_program_agent(command: str, image: str = "") -> AgentUnderTest:
    """Return the agent that a command line starts, in a container where an image is named.

    Raises:
        ExperimentError: the command is empty, its quotes do not match, or there is no such image.
    """
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise ExperimentError(f"command {command!r}: {problem}") from problem
    if not words:
        raise ExperimentError("command: it is empty; write it like 'python agent.py'")
    return AgentUnderTest(AgentKind.COMMAND, command, image=get_image_digest(image) if image else "")


def build_service_agent(url: str) -> AgentUnderTest:
    """Return the agent behind a URL.

    Raises:
        ExperimentError: not a URL of http or https.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ExperimentError(
            f"url {url!r} is not one of http or https; write it like http://127.0.0.1:8000/ask"
        )
    return AgentUnderTest(AgentKind.URL, url)
