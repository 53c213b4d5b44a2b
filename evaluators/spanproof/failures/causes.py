"""What is known about failures: the rules of `causes.yaml`, and what they say of a signature.

In: the structured parts of a failure, with the exception's own message. Out: its signature, explained by the
first rule that matches; the name, suspected cause and fix of a signature for people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from spanproof.failures.messages import MAX_MESSAGE_CHARS, format_masked
from spanproof.failures.model import Signature
from spanproof.failures.packaged import load_packaged
from spanproof.failures.taxonomy import Kind, load_kinds
from spanproof.trace import Layer

_MAX_KEY_CHARS = 60
_KEYS = frozenset(
    ("id", "layer", "check", "class", "types", "subject", "message", "key", "kind", "title", "cause", "fix")
)
_ANY_TEXT = "(?s:.*)"


@dataclass(frozen=True, slots=True)
class Cause:
    """A rule: what it matches (an empty set matches all), what sets its clusters apart, what it says."""

    id: str
    layers: frozenset[str]
    checks: frozenset[str]
    classes: frozenset[str]
    types: frozenset[str]
    subject: re.Pattern[str]
    message: re.Pattern[str]
    key: tuple[str, ...]
    kind: str
    title: str
    cause: str
    fix: str

    def find_match(self, signature: Signature, message: str) -> re.Match[str] | None:
        """Return the match of the message's pattern where the rule explains this failure."""
        conditions = (
            (self.layers, signature.layer.value),
            (self.checks, signature.check),
            (self.classes, signature.failure_class),
            (self.types, signature.error_type),
        )
        # An empty set matches all.
        if any(allowed and value not in allowed for allowed, value in conditions):
            return None
        if self.subject.fullmatch(signature.subject) is None:
            return None
        return self.message.search(message[:MAX_MESSAGE_CHARS])


@dataclass(frozen=True, slots=True)
class Explanation:
    """A failure for people: its name, suspected cause and fix, and its kind; empty where nothing is known."""

    name: str
    cause: str = ""
    fix: str = ""
    kind: Kind | None = None


def build_signature(
    layer: Layer,
    check: str,
    *,
    failure_class: str = "",
    error_type: str = "",
    message: str = "",
    subject: str = "",
    package: str = "",
    rules: bool = True,
) -> Signature:
    """Return the signature of a failure.

    Args:
        layer: whose failure it is.
        check: the score or the part of it that failed.
        failure_class: what went wrong, as an enum's value.
        error_type: the exception's name.
        message: the exception's message as it was raised.
        subject: what it concerns: a tool, a kind of claim, host or path, a rule.
        package: the package whose code raised.
        rules: False leaves `causes.yaml` out: failures are then one by their messages alone.
    """
    error_type = error_type.rpartition(".")[2]
    bare = Signature(layer, check, failure_class, error_type, format_masked(message), subject, package)
    for cause in load_causes().values() if rules else ():
        found = cause.find_match(bare, message)
        if found is not None:
            return replace(bare, cause=cause.id, key=_build_key(cause, bare, found))
    return bare


def _build_key(cause: Cause, signature: Signature, found: re.Match[str]) -> str:
    groups = found.groupdict()
    parts = [groups[name] if name in groups else getattr(signature, name) for name in cause.key]
    return " ".join(part for part in parts if part)[:_MAX_KEY_CHARS]


def build_explanation(signature: Signature) -> Explanation:
    """Return what people read about a failure."""
    cause = load_causes().get(signature.cause)
    of_tool = f" (tool {signature.subject})" if _is_of_tool(signature) else ""
    if cause is None:
        return Explanation(_build_plain_name(signature) + of_tool)
    fields = {
        name: getattr(signature, name)
        for name in ("key", "subject", "error_type", "package", "check", "failure_class")
    }
    words = [text.format_map(fields).replace(" ()", "") for text in (cause.title, cause.cause, cause.fix)]
    return Explanation(words[0] + of_tool, words[1], words[2], load_kinds()[cause.kind])


def _is_of_tool(signature: Signature) -> bool:
    return signature.layer is Layer.EXECUTION and bool(signature.subject)


def _build_plain_name(signature: Signature) -> str:
    """Return the name of a failure that no rule explains: `ValueError: Expected <n> rows`."""
    if signature.error_type or signature.message:
        message = re.sub(r" ([.,:;)?!\]])|([(\[]) ", r"\1\2", signature.message)
        return ": ".join(part for part in (signature.error_type, message) if part)
    what = signature.failure_class.replace("_", " ") or "failed"
    return f"{signature.layer.value}.{signature.check}: {what}"


@cache
def load_causes() -> Mapping[str, Cause]:
    """Return the rules by id, in the order in which they are tried."""
    rules = load_packaged("causes.yaml")
    return {rule["id"]: _parse_cause(rule) for rule in rules}


def _parse_cause(rule: Mapping[str, object]) -> Cause:
    def words(name: str) -> frozenset[str]:
        listed = rule.get(name, ())
        assert isinstance(listed, list | tuple), f"{rule['id']}: {name} is a list"
        return frozenset(map(str, listed))

    unknown = rule.keys() - _KEYS
    assert not unknown, f"{rule['id']}: no key {min(unknown)!r}; quote a text with a comma or a colon"
    assert rule["kind"] in load_kinds(), f"{rule['id']}: {rule['kind']} is no kind of taxonomy.yaml"
    key = rule.get("key", ())
    assert isinstance(key, list | tuple)
    return Cause(
        id=str(rule["id"]),
        layers=words("layer"),
        checks=words("check"),
        classes=words("class"),
        types=words("types"),
        subject=re.compile(str(rule.get("subject", _ANY_TEXT))),
        message=re.compile(str(rule.get("message", ""))),
        key=tuple(map(str, key)),
        kind=str(rule["kind"]),
        title=str(rule["title"]),
        cause=str(rule["cause"]),
        fix=str(rule["fix"]),
    )
