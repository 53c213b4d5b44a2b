"""Rubrics: what a judge decides by, one editable file each.

A rubric is Markdown with a YAML head (`name`, `layer`, `score`, `pass_at`). Its version follows from its
text, so an edited rubric writes scores beside those of the old one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from spanproof.evaluators.judge.errors import RubricError
from spanproof.evaluators.scores import BUILT_IN
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    load_yaml,
    read_beneath,
)
from spanproof.trace import Layer, digest

_FENCE = "---\n"
_KEYS = frozenset({"name", "layer", "score", "pass_at"})


@dataclass(frozen=True, slots=True)
class Rubric:
    """One question a judge can answer.

    Attributes:
        score: name of the score; the layer's name for the layer's own value.
        pass_at: the lowest value that passes, from 0 to 1.
        instructions: what the model reads.
        version: follows from the text.
    """

    name: str
    layer: Layer
    score: str
    pass_at: float
    instructions: str
    version: str


def load_rubrics(directory: Path | None = None) -> dict[str, Rubric]:
    """Return the shipped rubrics by name, with those of a directory beside or in place of them.

    Raises:
        RubricError: a file cannot be read or does not say what it must.
    """
    shipped = resources.files(__package__) / "rubrics"
    texts = {
        entry.name: entry.read_text("utf-8") for entry in shipped.iterdir() if entry.name.endswith(".md")
    }
    found = {rubric.name: rubric for rubric in (parse_rubric(text, name) for name, text in texts.items())}
    places: dict[str, Path] = {}
    for path in _list_files(directory) if directory is not None else ():
        rubric = parse_rubric(_read_text(path), str(path))
        _check_score(rubric, path, found)
        if rubric.name in places:
            raise RubricError(f"{path}: {places[rubric.name].name} is a rubric named {rubric.name!r} already")
        places[rubric.name] = path
        found[rubric.name] = rubric
    return dict(sorted(found.items()))


def _check_score(rubric: Rubric, path: Path, others: Mapping[str, Rubric]) -> None:
    """Check that the rubric can be applied: its score can be open, and no other rubric settles it first."""
    for other in others.values():
        if (other.layer, other.score) == (rubric.layer, rubric.score) and other.name != rubric.name:
            raise RubricError(
                f"{path}: {other.name} settles {rubric.layer}.{rubric.score} already; name this one"
                f" {other.name!r} to put it in its place"
            )
    open_ones = {listed.score: listed.layer for listed in others.values()}
    near = difflib.get_close_matches(rubric.score, open_ones, n=1, cutoff=0.8)
    # Any other score may be one that an evaluator of the user's leaves open.
    if (rubric.score in BUILT_IN or near) and open_ones.get(rubric.score) is not rubric.layer:
        settled = ", ".join(f"{layer}.{score}" for score, layer in open_ones.items())
        raise RubricError(
            f"{path}: {rubric.layer}.{rubric.score} is never open, so this rubric would never be applied;"
            f" those that can be are {settled}"
        )


def parse_rubric(text: str, origin: str) -> Rubric:
    """Parse the rubric that a text is.

    Raises:
        RubricError: a key is missing, unknown or of the wrong kind; the message names the place.
    """
    head, body = _split_head(text.replace("\r\n", "\n"), origin)
    if wrong := sorted(head.keys() ^ _KEYS):
        raise RubricError(f"{origin}: the head must have just {', '.join(sorted(_KEYS))}; see {wrong[0]!r}")
    if head["layer"] not in list(Layer):
        raise RubricError(f"{origin}: layer {head['layer']!r} is none of {', '.join(Layer)}")
    pass_at = head["pass_at"]
    if isinstance(pass_at, bool) or not isinstance(pass_at, int | float) or not 0 <= pass_at <= 1:
        raise RubricError(f"{origin}: pass_at must be a number from 0 to 1, got {pass_at!r}")
    version = digest(text)[:12]
    return Rubric(
        str(head["name"]), Layer(str(head["layer"])), str(head["score"]), float(pass_at), body, version
    )


def _split_head(text: str, source: str) -> tuple[Mapping[str, object], str]:
    if not text.startswith(_FENCE) or _FENCE not in text[len(_FENCE) :]:
        raise RubricError(f"{source}: a rubric starts with a head between two lines of ---")
    head, _, body = text[len(_FENCE) :].partition(_FENCE)
    try:
        keys = load_yaml(head.encode("utf-8"))
    except MalformedYamlError as problem:
        raise RubricError(f"{source}: the head is no YAML: {problem}") from problem
    if not isinstance(keys, dict):
        raise RubricError(f"{source}: the head must be keys with values")
    if not body.strip():
        raise RubricError(f"{source}: there are no instructions below the head")
    return keys, body.strip()


def _list_files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise RubricError(f"{directory}: no such directory of rubrics")
    return sorted(directory.glob("*.md"))


def _read_text(path: Path) -> str:
    try:
        return read_beneath(path.parent, path.name, MAX_DOCUMENT_BYTES).decode("utf-8")
    except (OSError, UnsafeFileError, UnicodeDecodeError) as problem:
        raise RubricError(f"{path}: cannot be read: {problem}") from problem
