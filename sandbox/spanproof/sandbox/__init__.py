"""Where snippets run: the model, the contract of backends, and the registry that finds them."""

from spanproof.sandbox.backend import AnswerTool, Availability, Feature, Sandbox, Session
from spanproof.sandbox.errors import (
    PolicyError,
    SandboxBroken,
    SandboxError,
    SandboxUnavailable,
    UnsupportedLanguage,
)
from spanproof.sandbox.model import (
    Attempt,
    AttemptKind,
    Execution,
    FailureClass,
    JsonValue,
    Limits,
    Program,
    Raised,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)

__all__ = [
    "AnswerTool",
    "Attempt",
    "AttemptKind",
    "Availability",
    "Execution",
    "FailureClass",
    "Feature",
    "JsonValue",
    "Limits",
    "PolicyError",
    "Program",
    "Raised",
    "Sandbox",
    "SandboxBroken",
    "SandboxError",
    "SandboxUnavailable",
    "Session",
    "SessionSpec",
    "ToolAnswer",
    "ToolRequest",
    "ToolStub",
    "UnsupportedLanguage",
]
