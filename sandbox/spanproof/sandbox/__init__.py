"""Programs in a sandbox: the model, the contract of backends, and `open_sandbox`, which finds one.

    from spanproof.sandbox import Program, open_sandbox

    with open_sandbox() as sandbox:
        print(sandbox.run(Program("python", "print(6 * 7)")).stdout)

docs/sandbox.md shows sessions, limits and errors.
"""

from typing import TYPE_CHECKING, Any

from spanproof.sandbox.backend import (
    AnswerTool,
    Availability,
    Evidence,
    Feature,
    Sandbox,
    Session,
)
from spanproof.sandbox.errors import (
    BadFixture,
    BadSetting,
    EnvironmentUnavailable,
    PolicyError,
    SandboxBroken,
    SandboxError,
    SandboxSilent,
    SandboxUnavailable,
    UnsupportedFixtures,
    UnsupportedLanguage,
)
from spanproof.sandbox.model import (
    Attempt,
    AttemptKind,
    Clock,
    Database,
    DatabaseEngine,
    Ecosystem,
    Exchange,
    Execution,
    ExecutionNote,
    FailureClass,
    Fixtures,
    JsonValue,
    Limits,
    NoteKind,
    PackageSet,
    Program,
    Raised,
    SessionSpec,
    Tier,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)

if TYPE_CHECKING:
    from spanproof.sandbox.registry import check_availability, list_backends, open_sandbox

__all__ = [
    "AnswerTool",
    "Attempt",
    "AttemptKind",
    "Availability",
    "BadFixture",
    "BadSetting",
    "Clock",
    "Database",
    "DatabaseEngine",
    "Ecosystem",
    "EnvironmentUnavailable",
    "Evidence",
    "Exchange",
    "Execution",
    "ExecutionNote",
    "FailureClass",
    "Feature",
    "Fixtures",
    "JsonValue",
    "Limits",
    "NoteKind",
    "PackageSet",
    "PolicyError",
    "Program",
    "Raised",
    "Sandbox",
    "SandboxBroken",
    "SandboxError",
    "SandboxSilent",
    "SandboxUnavailable",
    "Session",
    "SessionSpec",
    "Tier",
    "ToolAnswer",
    "ToolRequest",
    "ToolStub",
    "UnsupportedFixtures",
    "UnsupportedLanguage",
    "check_availability",
    "list_backends",
    "open_sandbox",
]

_OF_REGISTRY = frozenset({"check_availability", "list_backends", "open_sandbox"})


def __getattr__(name: str) -> Any:
    """Return a function of the registry, which programs inside a sandbox never load."""
    if name not in _OF_REGISTRY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from spanproof.sandbox import registry

    return getattr(registry, name)
