"""The sections of the configuration for verdicts while an agent runs: what is scanned, and who falls back."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from spanproof.config.section import Seconds, Section
from spanproof.evaluators.scores import find_nearest, find_score
from spanproof.trace import Layer

_PATTERN = Annotated[str, Field(min_length=1, max_length=200)]


class Verdicts(Section):
    """Verdicts on request, on the port of `receivers.http`: `POST /v1/verdict` and `POST /v1/route`."""

    enabled: bool = Field(default=False, description="Whether to answer these requests; see docs/verdict.md.")
    workers: int = Field(
        default=1, ge=1, le=64, description="Processes that scan, each one request at a time."
    )
    deadline_s: Seconds = Field(
        default=2.0,
        description="Longest time of one request, including waiting; a scan that takes longer is ended.",
    )
    max_waiting: int = Field(
        default=64, ge=1, description="Concurrent requests; beyond this, requests are refused with 429."
    )
    max_bytes: int = Field(
        default=1024 * 1024, ge=1024, le=64 * 1024 * 1024, description="Largest request, after decompression."
    )


class RouteRule(Section):
    """A rule of `POST /v1/route`: which scores make an agent fall back to another model or to a person."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="Unique among the rules.")
    agent: _PATTERN = Field(default="*", description="Pattern of the agent's name, as in file names.")
    model: _PATTERN = Field(default="*", description="Pattern of the model that the agent uses now.")
    of: Literal["agent", "trace"] = Field(
        default="agent",
        description="`agent`: the fail rate of the agent with that model over the window. `trace`: the"
        " verdicts on the trace that the request names.",
    )
    layer: Layer = Field(description="Layer of the score.")
    score: str | None = Field(
        default=None, description="A sub-score, such as `recovery`; null: the layer's own value."
    )
    window_s: float = Field(
        default=900.0, gt=0, description="How far back scores count; for `of: agent` only."
    )
    min_count: int = Field(
        default=10,
        ge=1,
        description="The rule does not apply with fewer verdicts in the window; for `of: agent` only.",
    )
    threshold: float = Field(
        default=0.2, gt=0, le=1, description="The rule applies if this share of the verdicts or more is fail."
    )
    to_model: str | None = Field(default=None, min_length=1, description="The model to use instead.")
    to_person: str | None = Field(
        default=None, min_length=1, description="Who takes over: a name, an address, a queue."
    )

    @model_validator(mode="after")
    def _check_destination(self) -> Self:
        if (self.to_model is None) is (self.to_person is None):
            raise ValueError("set exactly one of to_model and to_person")
        spec = find_score(self.layer, self.score_name)
        if spec is not None and (spec.advisory or not spec.stored):
            raise ValueError(f"{spec.id} never fails a run: no rule can rest on it")
        if spec is None and (meant := find_nearest(self.layer, self.score_name)):
            raise ValueError(f"there is no score {self.layer.value}.{self.score}; did you mean {meant}?")
        return self

    @property
    def score_name(self) -> str:
        """The name of the stored score."""
        if self.score in (None, "score"):
            return self.layer.value
        return str(self.score)

    def concerns(self, agent: str, model: str) -> bool:
        """Return whether the rule is about this agent with this model, and leads away from that model."""
        fits = fnmatchcase(agent, self.agent) and fnmatchcase(model, self.model)
        return fits and (self.to_model is None or self.to_model != model)
