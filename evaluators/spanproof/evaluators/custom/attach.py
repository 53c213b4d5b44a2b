"""Which spans an evaluator is attached to: by kind, name, attributes and cohort, and a share of those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import blake2b

from spanproof.semconv.spanproof import EVAL_TAGS
from spanproof.trace import Run, Span, SpanKind


@dataclass(frozen=True, slots=True)
class Attach:
    """A rule; what it leaves open fits every span.

    Attributes:
        kind: of the span; AGENT, the default, is the run itself, once, whatever the kind of its span.
        name: of the span, or of the agent or tool it is; `*` and `?` as in file names.
        attributes: what the span's attributes must be, as text, by key; `*` and `?` as in file names.
        cohort: only runs with these values, by dimension; see `spanproof.trace.Cohort`.
        share: of the traces that fit, from 0 to 1; the same traces every time.
        tags: one of them must be among the span's `spanproof.eval.tags`.
    """

    kind: SpanKind | None = SpanKind.AGENT
    name: str = "*"
    attributes: Mapping[str, str] = field(default_factory=dict)
    cohort: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    tags: tuple[str, ...] = ()

    def takes(self, run: Run, evaluator: str) -> bool:
        """Whether anything of this run may be judged."""
        fits = all(getattr(run.cohort, dimension) == value for dimension, value in self.cohort.items())
        drawn = blake2b(f"{evaluator} {run.trace_id}".encode(), digest_size=8).digest()
        return fits and int.from_bytes(drawn) < self.share * 2**64

    def fits(self, span: Span, run: Run) -> bool:
        """Whether this span of the run is judged."""
        if span.span_id == run.span_id:
            kinds = {span.kind, SpanKind.AGENT}
        else:
            kinds = {span.kind} - {SpanKind.AGENT}
        if self.kind is not None and self.kind not in kinds:
            return False
        attributes = {**span.resource, **span.attributes}
        if self.tags and not set(self.tags) & set(_parse_tags(attributes.get(EVAL_TAGS))):
            return False
        if not any(fnmatchcase(name, self.name) for name in _list_names(span, run)):
            return False
        return all(
            key in attributes and fnmatchcase(str(attributes[key]), pattern)
            for key, pattern in self.attributes.items()
        )


def _parse_tags(value: object) -> list[str]:
    """Return the tags of a span: a list, or a text with commas."""
    if isinstance(value, str):
        return [tag.strip() for tag in value.split(",")]
    if isinstance(value, list | tuple):
        return [str(tag) for tag in value]
    return []


def _list_names(span: Span, run: Run) -> list[str]:
    """Return what a user may call it: a span is named `invoke_agent shop`, the agent `shop`."""
    own = [run.name] if span.span_id == run.span_id else []
    return [span.name, *own, *([span.tool.name] if span.tool else [])]
