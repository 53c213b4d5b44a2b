"""The requests and answers of `/v1/verdict` and `/v1/route`, and the jobs of the processes that scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spanproof.sandbox.policy import SUBJECT
from spanproof.sandbox.scanners.model import Finding

MAX_FINDINGS = 64
"""Findings of one answer; the strictest come first."""

_Name = Annotated[str, Field(max_length=500)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VerdictRequest(_Body):
    """What is judged: exactly one of `code`, `span` and `trace`.

    Attributes:
        code: a snippet in `language`; prose too, with `text` as its language.
        span: one span as OTLP/JSON writes it.
        trace: an export request as OTLP/JSON writes it.
        subject: agent, tool and cohort of a snippet, by which overrides of the policy go.
    """

    code: str | None = None
    language: _Name = "python"
    span: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    subject: dict[_Name, _Name] = {}

    @model_validator(mode="after")
    def _check_exactly_one(self) -> Self:
        named = [name for name in ("code", "span", "trace") if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(f"give exactly one of code, span and trace, got {' and '.join(named) or 'none'}")
        if unknown := sorted(self.subject.keys() - set(SUBJECT)):
            raise ValueError(f"subject: unknown name {unknown[0]!r}; known: {', '.join(SUBJECT)}")
        return self


class RouteRequest(_Body):
    """Which agent, with which model, and, for rules about a trace, its id."""

    agent: _Name
    model: _Name = ""
    trace_id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")] | None = None
    project: _Name | None = None


class RouteAnswer(_Body):
    """What the agent should do: go on, use another model, or hand over to a person."""

    action: Literal["continue", "model", "person"] = "continue"
    model: str | None = None
    person: str | None = None
    rule: str | None = None
    reason: str = "no rule applies"
    failed: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True)
class SnippetJob:
    """A snippet to scan."""

    language: str
    code: str
    subject: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TraceJob:
    """Spans whose snippets are to be found and scanned: an OTLP request in protobuf."""

    body: bytes


Job: TypeAlias = SnippetJob | TraceJob


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of a job.

    Attributes:
        verdict: the strictest of all snippets.
        snippets: span id, language and verdict of each; a snippet that came by itself has an empty span id.
        findings: each with the position of its snippet, the strictest first.
        left_out: how many findings are not among them.
        error: what went wrong in place of a verdict.
    """

    verdict: str = "allow"
    snippets: tuple[tuple[str, str, str], ...] = ()
    findings: tuple[tuple[int, Finding], ...] = ()
    left_out: int = 0
    error: str = ""
