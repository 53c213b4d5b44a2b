"""What every sandbox backend promises.

`Sandbox.run` takes one program and returns what became of it; `Sandbox.session` keeps one interpreter over
several. The contract suite in `tests/contract` checks each promise against each backend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from spanproof.sandbox.model import Execution, Program, SessionSpec, Tier, ToolAnswer, ToolRequest

if TYPE_CHECKING:
    from spanproof.sandbox.environments import Environments


class Evidence(StrEnum):
    """A fact about a run, beyond how it ended, that only some backends can observe."""

    ATTEMPTS = "attempts"
    """`Execution.attempts`, as the kernel saw them, and the failure classes that rest on them."""
    CALLS = "calls"
    """Of the attempts, where recorded calls are served: calls to them and names looked up."""
    PEAK_MEMORY = "peak_memory"
    """`Execution.peak_memory_bytes`."""


AnswerTool = Callable[[ToolRequest], ToolAnswer]
"""How the host answers a snippet's tool call; called in the thread that runs the step."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One isolation feature: whether this machine gives it, and if not, why and how to get it."""

    name: str
    present: bool
    required: bool
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a backend can run here, feature by feature.

    Attributes:
        tier: the wall programs would run behind; None where it cannot run.
    """

    backend: str
    features: tuple[Feature, ...]
    tier: Tier | None = Tier.FULL

    @property
    def usable(self) -> bool:
        """Whether every required feature is present."""
        return all(feature.present for feature in self.features if feature.required)

    @property
    def missing(self) -> tuple[Feature, ...]:
        """Required features this machine does not give."""
        return tuple(feature for feature in self.features if feature.required and not feature.present)


class Session(ABC):
    """One interpreter over several programs, in order. A context manager; leaving it ends the interpreter."""

    @abstractmethod
    def execute(self, source: str) -> Execution:
        """Run one program in the session's namespace and wait for it.

        Names the program binds stay for the next; the value of its last expression is the result. After a
        step that was stopped (`timeout`, `out_of_memory`, `killed`, `output_limit`) the session is over.

        Raises:
            SandboxBroken: the sandbox failed, or the session is over.
        """

    def amended(self) -> Mapping[int, Execution]:
        """Return executions by number, from 0, whose steps left something running that attempted more.

        Each is as `execute` returned it, with the attempts added that came later. All are known after
        `close`, which gives what is left running a moment to act. Empty where the backend does not know.
        """
        return {}

    @abstractmethod
    def close(self) -> None:
        """End the interpreter and everything it started. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Sandbox(ABC):
    """A place where hostile programs run. Thread-safe; a context manager that leaves nothing behind."""

    name: str
    """The backend's name, as configuration gives it."""

    languages: frozenset[str]
    """Those it can run."""

    settings: ClassVar[Mapping[str, str]] = {}
    """Its own settings: what each is for, by name.

    The registry calls the class with `workers` and these as keyword arguments, each a text. The constructor
    starts nothing, and raises `BadSetting` for a value it cannot take.
    """

    environments: Environments | None = None
    """Where it has package sets from; None where it gives none."""

    evidence: frozenset[Evidence] = frozenset(Evidence)
    """What it reports of a run; promises about the rest do not apply to it, and its fields stay empty."""

    @abstractmethod
    def availability(self) -> Availability:
        """Whether it can run here. Never raises, never runs anything but its own probe."""

    @abstractmethod
    def run(self, program: Program) -> Execution:
        """Run one program from a fresh state and wait for it, for `program.limits.wall_s` seconds at most.

        Everything the program started is gone when this returns, and so is what it wrote.

        Args:
            program: source, language, files, limits and what it finds around it.

        Returns:
            An `Execution`, whatever the program did: a program that fails, or is stopped by a limit, raises
            nothing here. Times are in seconds, sizes in bytes.

        Raises:
            SandboxUnavailable: this machine cannot run it; says what to install.
            UnsupportedLanguage: not one of `languages`.
            UnsupportedFixtures: it cannot fix what the program is to find.
            SandboxBroken: the sandbox failed, not the program.
        """

    @abstractmethod
    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Start an interpreter that keeps its state over several programs.

        Args:
            spec: language, tools, files and limits; those of time hold for each step.
            answer: called with each call of one of `spec.tools`, in the thread that executes the step. What
                it returns is JSON data or an exception by name; what it raises itself, `execute` raises.

        Returns:
            A `Session`, to be closed: best with `with`.

        Raises:
            SandboxUnavailable: this machine cannot run it; says what to install.
            UnsupportedLanguage: the backend has no sessions in this language.
            UnsupportedFixtures: it cannot fix what the programs are to find.
            SandboxBroken: the sandbox failed to start.
        """

    def remove_leftovers(self) -> list[str]:
        """Remove what sandboxes left whose processes were killed; return a line for each thing removed.

        Raises:
            SandboxUnavailable: it cannot be looked for; says why.
        """
        return []

    @abstractmethod
    def close(self) -> None:
        """End everything it holds. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
