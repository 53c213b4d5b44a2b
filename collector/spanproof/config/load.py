"""Gathers configuration from file, environment and flags, and locates mistakes in them.

In: a YAML file, `SPANPROOF_…` variables, dotted overrides. Out: one tree of plain values with the origin of
each key, and problems as messages. It knows no field by name: those are in the model.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from spanproof.evaluators.invalid import describe_error
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    build_yaml_value,
    load_yaml,
    load_yaml_nodes,
    read_bounded,
)

ENV_PREFIX = "SPANPROOF_"

_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: `place` is the file with its line, the variable or the flag; `key` is dotted."""

    place: str
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        if self.key:
            return f"{where}{self.key}: {self.message}"
        return f"{where}{self.message}"


class ConfigError(ValueError):
    """The configuration is not valid; `problems` lists everything that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass(slots=True)
class Gathered:
    """A tree of plain values; `origins` holds where each dotted key was set."""

    tree: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def describe_origin(self, key: str) -> str:
        """Return where this key was set, or what is below it, or the nearest one above it."""
        below = next((origin for other, origin in self.origins.items() if other.startswith(f"{key}.")), "")
        while key and key not in self.origins and not below:
            key = key.rpartition(".")[0]
        return self.origins.get(key, below)


def load_sources(
    model: type[BaseModel], path: Path | None, environ: Mapping[str, str], overrides: Mapping[str, str]
) -> Gathered:
    """Lay the sources over each other, the later ones winning; `model` is read for its top-level keys."""
    gathered = Gathered()
    if path is not None:
        _add_file(path, gathered)
    for name, value in sorted(environ.items()):
        if name.startswith(ENV_PREFIX) and value != "":
            key = name.removeprefix(ENV_PREFIX).lower().replace("__", ".")
            if _is_ours(key, model):
                _update_key(gathered, key, value, f"environment {name}")
    for key, value in overrides.items():
        _update_key(gathered, key, value, f"--set {key}")
    return gathered


def parse_tree(
    model: type[_M], tree: Mapping[str, Any], gathered: Gathered
) -> tuple[_M | None, list[Problem]]:
    """Return the valid configuration, or every problem with the origin of its key."""
    try:
        return model.model_validate(tree), []
    except ValidationError as invalid:
        found = []
        for error in invalid.errors(include_url=False):
            error["loc"] = _build_location(model, error["loc"], tree)
            key = ".".join(map(str, error["loc"]))
            found.append(Problem(gathered.describe_origin(key), key, _describe_error(model, error)))
        return None, found


def _build_location(model: type[BaseModel], loc: tuple[int | str, ...], tree: Any) -> tuple[int | str, ...]:
    """Return where an error is, in keys that users write: pydantic adds the kind of a union's member."""
    keys, kept, at = set(iter_keys(model)), list[int | str](), tree
    for part in loc:
        general = ".".join("*" if isinstance(item, int) else item for item in (*kept, part))
        there = (isinstance(at, Mapping) and part in at) or (isinstance(at, list) and isinstance(part, int))
        if there or general in keys:
            kept.append(part)
            if there and not (isinstance(at, list) and int(part) >= len(at)):
                at = at[part]
            else:
                at = None
    return tuple(kept)


def iter_keys(model: type[BaseModel], under: str = "") -> Iterator[str]:
    """Yield every dotted key of the model; `*` is any index of a list."""
    for name, info in model.model_fields.items():
        key = f"{under}{name}"
        yield key
        for nested, is_list in _iter_models(info.annotation):
            yield from iter_keys(nested, f"{key}.*." if is_list else f"{key}.")


def _is_ours(key: str, model: type[BaseModel]) -> bool:
    """Whether a variable is meant for us: the prefix is shared with the instrumented process."""
    first, dot, _ = key.partition(".")
    return bool(dot) or bool(difflib.get_close_matches(first, model.model_fields, n=1, cutoff=0.8))


def _add_file(path: Path, gathered: Gathered) -> None:
    try:
        node = load_yaml_nodes(read_bounded(path, MAX_DOCUMENT_BYTES))
    except (OSError, UnsafeFileError) as unreadable:
        if isinstance(unreadable, OSError):
            reason = unreadable.strerror
        else:
            reason = str(unreadable)
        gathered.problems.append(Problem(str(path), "", f"cannot be read: {reason}"))
        return
    except MalformedYamlError as malformed:
        gathered.problems.append(_build_yaml_problem(path, malformed))
        return
    if node is None:
        return
    if not isinstance(node, yaml.MappingNode):
        gathered.problems.append(Problem(f"{path}:1", "", "the file must hold a mapping of keys to values"))
        return
    _record_origins(node, "", path, gathered)
    try:
        gathered.tree = build_yaml_value(node)
    except MalformedYamlError as malformed:
        gathered.problems.append(_build_yaml_problem(path, malformed))


def _build_yaml_problem(path: Path, problem: MalformedYamlError) -> Problem:
    origin = f"{path}:{problem.line}" if problem.line else str(path)
    return Problem(origin, "", f"not valid YAML: {problem.reason}")


def _record_origins(node: yaml.Node, under: str, path: Path, gathered: Gathered) -> None:
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            key = f"{under}{position}"
            gathered.origins[key] = f"{path}:{item.start_mark.line + 1}"
            _record_origins(item, f"{key}.", path, gathered)
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            key = f"{under}{name.value}"
            origin = f"{path}:{name.start_mark.line + 1}"
            if key in gathered.origins:
                first = gathered.origins[key]
                gathered.problems.append(Problem(origin, key, f"written twice, first at {first}"))
            gathered.origins[key] = origin
            _record_origins(value, f"{key}.", path, gathered)


def _update_key(gathered: Gathered, key: str, text: str, origin: str) -> None:
    """Set one dotted key; digits address an item of a list."""
    parts = key.split(".")
    at: Any = gathered.tree
    for depth, part in enumerate(parts[:-1]):
        following = parts[depth + 1]
        at = _get_child(at, part, [] if following.isdigit() else {})
        if at is None:
            gathered.problems.append(Problem(origin, key, f"{'.'.join(parts[: depth + 1])} is not a section"))
            return
    gathered.origins[key] = origin
    if isinstance(at, list):
        _get_item(at, parts[-1], None)
        at[min(int(parts[-1]), len(at) - 1)] = _parse_value(text)
    else:
        at[parts[-1]] = _parse_value(text)


def _get_child(at: Any, part: str, empty: Any) -> Any:
    """Return the list or mapping below, made where it is missing; None where something else is there."""
    if isinstance(at, list):
        below = _get_item(at, part, empty)
    else:
        below = at.get(part)
    if below is None:
        below = at[part] = empty
    return below if isinstance(below, type(empty)) else None


def _get_item(items: list[Any], part: str, empty: Any) -> Any:
    """Return an item of a list; an index beyond the end appends."""
    if int(part) >= len(items):
        items.append(empty)
        return empty
    return items[int(part)]


def _parse_value(text: str) -> Any:
    """Return a value: lists, mappings and null read as YAML; anything else as text the model converts."""
    if text.strip() == "null":
        return None
    if text.lstrip()[:1] in {"[", "{"}:
        try:
            return load_yaml(text.encode("utf-8", "surrogateescape"))
        except MalformedYamlError:
            return text
    return text


def _describe_error(model: type[BaseModel], error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown key" + _format_proposal(model, tuple(map(str, error["loc"])))
    return describe_error(error)


def _format_proposal(model: type[BaseModel], loc: tuple[str, ...]) -> str:
    """Return the nearest key, in words: first among its neighbours, then anywhere by its last name."""
    general = ["*" if part.isdigit() else part for part in loc]
    under, name = ".".join(general[:-1]), general[-1]
    keys = list(iter_keys(model))
    neighbours = [key.rpartition(".")[2] for key in keys if key.rpartition(".")[0] == under]
    near = difflib.get_close_matches(name, neighbours, n=1)
    if near:
        shown = ".".join([*loc[:-1], near[0]])
        return f"; did you mean {shown!r}?"
    last_names = {key.rpartition(".")[2]: key for key in reversed(keys)}
    elsewhere = difflib.get_close_matches(name, last_names, n=1, cutoff=0.8)
    if elsewhere:
        return f"; did you mean {last_names[elsewhere[0]]!r}?"
    return f"; known here: {', '.join(neighbours)}" if neighbours else ""


def _iter_models(annotation: Any) -> Iterator[tuple[type[BaseModel], bool]]:
    """Yield the models an annotation mentions, each with whether it is an item of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, False
    elif get_origin(annotation) is Annotated:
        yield from _iter_models(get_args(annotation)[0])
    elif get_origin(annotation) in {tuple, list}:
        for argument in get_args(annotation):
            yield from ((nested, True) for nested, _ in _iter_models(argument))
    elif get_origin(annotation) in {Union, types.UnionType}:
        for argument in get_args(annotation):
            yield from _iter_models(argument)
