"""Policies by name and from files: each key is read by its type, each error names file, key and remedy.

In: the name of a preset, a path, or decoded keys and values. Out: one frozen `Policy`. PyYAML is imported
when a file or a preset is read.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.model import Tier
from spanproof.sandbox.policy import ANY_PUBLIC_HOST, SUBJECT, Aggregation, Override, Policy, SqlRule
from spanproof.sandbox.presets import PRESET_NAMES, get_preset
from spanproof.sandbox.scanners.rules import PatternRule
from spanproof.sandbox.scanners.source import KNOWN_LANGUAGES, normalise_language
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    get_path_beneath,
    load_yaml,
    read_bounded,
)

_Choice = TypeVar("_Choice", bound=StrEnum)


def load_policy(source: Path | str) -> Policy:
    """Return a preset by its name, or the policy of a YAML file; keys that it leaves out keep their default.

    Args:
        source: one of `PRESET_NAMES`, or a path.

    Raises:
        PolicyError: the file is absent, no YAML, or holds a wrong key or value; names file, key, value,
        remedy.
    """
    if str(source) in PRESET_NAMES:
        return build_preset_policy(str(source))
    path = Path(source)
    try:
        document = load_yaml(read_bounded(path, MAX_DOCUMENT_BYTES))
    except (OSError, UnsafeFileError) as problem:
        raise PolicyError(
            f"policy {path}: cannot be read: {problem}; name a readable UTF-8 file,"
            f" or one of the presets {', '.join(PRESET_NAMES)}"
        ) from problem
    except MalformedYamlError as problem:
        raise PolicyError(f"policy {path}: not valid YAML: {problem}; correct the file there") from problem
    if document is None:
        return Policy()
    if not isinstance(document, Mapping):
        raise PolicyError(
            f"policy {path}: holds a {_describe_kind(document)}, not keys and values;"
            " write `hosts: [api.github.com]`"
        )
    return parse_policy(document, str(path), path.parent)


@cache
def build_preset_policy(name: str) -> Policy:
    """Return the policy of a preset, one of `PRESET_NAMES`."""
    return parse_policy(get_preset(name).to_document(), f"preset {name}")


def parse_policy(document: Mapping[object, object], origin: str, directory: Path = Path()) -> Policy:
    """Return a policy from decoded keys and values.

    `extends` is read first, then the other keys, each in the place of what it extends; then `remove` and
    `add`, and `overrides` last.

    Args:
        document: keys of `Policy` and what they hold.
        origin: names the document in errors.
        directory: what files are relative to that it names.

    Raises:
        PolicyError: a key is unknown or a value is not what the key takes.
    """
    values = _read_values(document, origin, directory, _DOCUMENT_READERS)
    base: Policy = values.pop("extends", Policy())
    changes: list[_Change] = [values.pop(key) for key in ("remove", "add") if key in values]
    overrides = values.pop("overrides", ())
    policy = replace(base, **values)
    for change in changes:
        policy = change.build_policy(policy)
    return replace(policy, overrides=tuple(one.build(policy) for one in overrides))


@dataclass(frozen=True, slots=True)
class _Change:
    """Values that are added to keys of a policy, or removed from them.

    Attributes:
        values: by key, as the readers of the keys return them.
    """

    field: _Field
    values: Mapping[str, frozenset[Any] | tuple[Any, ...]]

    def build_policy(self, policy: Policy) -> Policy:
        """Return the policy with the values added or removed.

        Raises:
            PolicyError: a key allows all already, or a value to be removed is not there.
        """
        changed: dict[str, Any] = {}
        for key, values in self.values.items():
            before: frozenset[Any] | tuple[Any, ...] | None = getattr(policy, key)
            field = replace(self.field, key=f"{self.field.key}.{key}")
            if before is None:
                raise field.build_error(sorted(values), f"{key!r} allows all; state the whole list instead")
            if self.field.key == "remove":
                missing = sorted(str(value) for value in values if value not in before)
                if missing:
                    raise field.build_error(missing[0], "name what the policy has before")
                changed[key] = type(before)(value for value in before if value not in values)
            else:
                changed[key] = type(before)(dict.fromkeys([*before, *values]))
        return replace(policy, **changed)


@dataclass(frozen=True, slots=True)
class _GivenOverride:
    """An override as a file states it.

    Attributes:
        extends: the preset that it starts from, in the place of the file's own policy; None where it names
            none.
    """

    when: tuple[tuple[str, tuple[str, ...]], ...]
    extends: Policy | None
    values: Mapping[str, Any]
    changes: tuple[_Change, ...]

    def build(self, policy: Policy) -> Override:
        """Return the override over the file's own policy.

        Raises:
            PolicyError: a value cannot be added or removed.
        """
        stated = dict(self.values)
        if self.extends is not None:
            stated = {key: getattr(self.extends, key) for key in ("name", *LIST_KEYS)} | stated
        changed = replace(policy, **stated)
        for change in self.changes:
            changed = change.build_policy(changed)
        touched = {**stated, **{key: None for change in self.changes for key in change.values}}
        return Override(self.when, tuple((key, getattr(changed, key)) for key in touched))


def _read_values(
    document: Mapping[object, object], origin: str, directory: Path, readers: Mapping[str, _Reader]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in document.items():
        key = str(name)
        if key not in readers:
            nearest = difflib.get_close_matches(key, readers, n=1, cutoff=0.5)
            if nearest:
                hint = f"did you mean {nearest[0]!r}?"
            else:
                hint = f"known keys: {', '.join(readers)}"
            raise PolicyError(f"policy {origin}: unknown key {key!r}; {hint}")
        values[key] = readers[key](_Field(origin, key, directory), value)
    return values


@dataclass(frozen=True, slots=True)
class _Field:
    origin: str
    key: str
    directory: Path

    def build_error(self, value: object, remedy: str) -> PolicyError:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        return PolicyError(f"policy {self.origin}: key {self.key!r} cannot be {shown}; {remedy}")


def _read_text(field: _Field, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise field.build_error(value, "give a text")
    return value.strip()


def _read_list(field: _Field, value: object, example: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise field.build_error(value, f"give a list, as in `{field.key}: {example}`")
    return value


def _read_texts(field: _Field, value: object) -> list[str]:
    return [_read_text(field, item) for item in _read_list(field, value, "[a, b]")]


def _read_names(field: _Field, value: object) -> frozenset[str]:
    return frozenset(_read_texts(field, value))


def _read_lower_names(field: _Field, value: object) -> frozenset[str]:
    return frozenset(item.lower() for item in _read_texts(field, value))


def _find_tables(field: _Field, value: object) -> frozenset[str] | None:
    return None if value is None else _read_lower_names(field, value)


def _read_sql_rules(field: _Field, value: object) -> tuple[SqlRule, ...]:
    rules = _read_list(field, value, "[{host: db.example, verbs: [select]}]")
    return tuple(_read_sql_rule(field, number, one) for number, one in enumerate(rules, start=1))


def _read_sql_rule(field: _Field, number: int, value: object) -> SqlRule:
    if not isinstance(value, Mapping) or not {"host", "database", "file", "memory"} & value.keys():
        raise field.build_error(value, "give each rule a `host`, `database`, `file` or `memory: true`")
    readers = {
        "host": _read_text, "database": _read_text, "file": _read_directory, "memory": _is_set,
        "verbs": _find_tables, "tables": _find_tables,
    }  # fmt: skip
    return SqlRule(**_read_values(value, f"{field.origin}: SQL rule {number}", field.directory, readers))


def _read_directory(field: _Field, value: object) -> str:
    path = _read_text(field, value)
    if not path.startswith("/"):
        raise field.build_error(value, "give an absolute path, as the sandbox sees it")
    return posixpath.normpath(path)


def _read_directories(field: _Field, value: object) -> tuple[str, ...]:
    return tuple(_read_directory(field, item) for item in _read_texts(field, value))


def _read_hosts(field: _Field, value: object) -> tuple[str, ...]:
    hosts = tuple(item.lower().rstrip(".") for item in _read_texts(field, value))
    for host in hosts:
        if "/" in host or (":" in host.strip("[]") and not host.startswith("[")):
            raise field.build_error(
                host, "give a host name alone; ports have a key of their own: `ports: [443]`"
            )
        if host != ANY_PUBLIC_HOST and "*" in host.removeprefix("*."):
            raise field.build_error(
                host, "a star matches what is below a name, as in `*.example.org`, or alone every public host"
            )
    # The boundary knows an address without the brackets that it has in a URL.
    return tuple(host.removeprefix("[").removesuffix("]") for host in hosts)


def _read_ports(field: _Field, value: object) -> frozenset[int]:
    ports = _read_list(field, value, "[443]")
    for port in ports:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
            raise field.build_error(port, "a port is a number from 1 to 65535")
    return frozenset(ports)


def _find_tier(field: _Field, value: object) -> Tier | None:
    return None if value is None else _read_choice(Tier, field, value)


def _read_choice(choices: type[_Choice], field: _Field, value: object) -> _Choice:
    try:
        return choices(str(value))
    except ValueError:
        raise field.build_error(value, f"give one of {', '.join(choices)}") from None


def _read_weights(field: _Field, value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping):
        raise field.build_error(value, "give scanners and numbers, as in `weights: {python: 2}`")
    for weight in value.values():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e9:
            raise field.build_error(weight, "a weight is a number, not below 0")
    return tuple((str(name), float(weight)) for name, weight in value.items())


def _find_seconds(field: _Field, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
        raise field.build_error(value, "give seconds, above 0 and at most 3600")
    return float(value)


def _read_rules(field: _Field, value: object) -> tuple[PatternRule, ...]:
    """Return the rules of a key: patterns over code, or topics over prose."""
    from spanproof.sandbox.scanners.patterns import parse_rule, parse_topic

    parse = parse_topic if field.key == "topics" else parse_rule
    stated = _read_list(field, value, "[{id: …}]")
    rules = tuple(parse(one, f"policy {field.origin}: key {field.key!r}") for one in stated)
    ids = [rule.id for rule in rules]
    twice = sorted(one for one in ids if ids.count(one) > 1)
    if twice:
        raise field.build_error(twice[0], "each rule needs an id of its own")
    return rules


def _find_languages(field: _Field, value: object) -> frozenset[str] | None:
    if value is None:
        return None
    named = [normalise_language(one) for one in _read_texts(field, value)]
    for one in named:
        nearest = difflib.get_close_matches(one, KNOWN_LANGUAGES, n=1, cutoff=0.7)
        if one not in KNOWN_LANGUAGES and nearest:
            raise field.build_error(one, f"did you mean {nearest[0]!r}?")
    return frozenset(named)


def _is_set(field: _Field, value: object) -> bool:
    if not isinstance(value, bool):
        raise field.build_error(value, "give true or false")
    return value


def _read_files(field: _Field, value: object) -> tuple[str, ...]:
    # What a policy names relative to itself stays with it wherever the program is started.
    try:
        files = [get_path_beneath(field.directory, one) for one in _read_texts(field, value)]
    except UnsafeFileError as problem:
        raise field.build_error(value, str(problem)) from problem
    for file in files:
        if not file.is_file():
            raise field.build_error(file.name, f"give a Python file; there is none at {file}")
        if file.stat().st_size > MAX_DOCUMENT_BYTES:
            raise field.build_error(file.name, f"give a file of at most {MAX_DOCUMENT_BYTES} bytes")
    return tuple(str(file) for file in files)


def _read_extends(field: _Field, value: object) -> Policy:
    name = _read_text(field, value)
    if name not in PRESET_NAMES:
        nearest = difflib.get_close_matches(name, PRESET_NAMES, n=1, cutoff=0.5)
        if nearest:
            hint = f"did you mean {nearest[0]!r}?"
        else:
            hint = f"give one of {', '.join(PRESET_NAMES)}"
        raise field.build_error(value, hint)
    return build_preset_policy(name)


def _read_change(field: _Field, value: object) -> _Change:
    if not isinstance(value, Mapping) or not value:
        raise field.build_error(value, f"give keys and lists, as in `{field.key}: {{hosts: [db.example]}}`")
    readers = {key: _READERS[key] for key in LIST_KEYS}
    return _Change(field, _read_values(value, f"{field.origin}: {field.key}", field.directory, readers))


def _read_overrides(field: _Field, value: object) -> tuple[_GivenOverride, ...]:
    overrides = _read_list(field, value, "[{when: {agent: a}, hosts: []}]")
    return tuple(_read_override(field, number, one) for number, one in enumerate(overrides, start=1))


def _read_override(field: _Field, number: int, value: object) -> _GivenOverride:
    origin = f"{field.origin}: override {number}"
    if not isinstance(value, Mapping) or "when" not in value:
        raise PolicyError(
            f"policy {origin}: has no key 'when'; say what it is for, as in `when: {{agent: billing-*}}`"
        )
    when = value["when"]
    if not isinstance(when, Mapping) or not when:
        raise _Field(origin, "when", field.directory).build_error(
            when, f"give one or more of {', '.join(SUBJECT)} with a pattern each"
        )
    patterns = _read_values(when, f"{origin}: when", field.directory, dict.fromkeys(SUBJECT, _read_patterns))
    rest = {key: one for key, one in value.items() if key != "when"}
    if not rest:
        raise PolicyError(f"policy {origin}: changes nothing; give it keys of a policy beside 'when'")
    values = _read_values(rest, origin, field.directory, _CHANGEABLE)
    extends = values.pop("extends", None)
    changes = tuple(values.pop(key) for key in ("remove", "add") if key in values)
    return _GivenOverride(tuple(patterns.items()), extends, values, changes)


def _read_patterns(field: _Field, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_read_text(field, value),)
    return tuple(_read_texts(field, value))


def _read_salt(field: _Field, value: object) -> bytes:
    text = value if isinstance(value, str) else ""
    if len(text) < 16:
        raise PolicyError(
            f"policy {field.origin}: key {field.key!r} is too short; give at least 16 characters, in quotes"
        )
    return text.encode("utf-8", "surrogatepass")[:64]


_Reader = Callable[[_Field, object], object]

# How each field of `Policy` is read.
_READERS: Final[Mapping[str, _Reader]] = {
    "name": _read_text,
    "allowed_modules": _read_names,
    "denied_modules": _read_names,
    "allowed_calls": _read_names,
    "denied_calls": _read_names,
    "work_directory": _read_directory,
    "read_roots": _read_directories,
    "write_roots": _read_directories,
    "hosts": _read_hosts,
    "ports": _read_ports,
    "environment": _read_names,
    "allowed_commands": _read_names,
    "denied_commands": _read_names,
    "sql_verbs": _read_lower_names,
    "sql_tables": _find_tables,
    "sql_rules": _read_sql_rules,
    "aggregation": partial(_read_choice, Aggregation),
    "weights": _read_weights,
    "scanner_time_s": _find_seconds,
    "rules": _read_rules,
    "scanner_files": _read_files,
    "fingerprint_salt": _read_salt,
    "languages": _find_languages,
    "topics": _read_rules,
    "bandit": _is_set,
    "toxicity": _is_set,
    "sandbox_tier": _find_tier,
}

LIST_KEYS: Final = (
    "allowed_modules", "denied_modules", "allowed_calls", "denied_calls", "read_roots", "write_roots",
    "hosts", "ports", "environment", "allowed_commands", "denied_commands", "sql_verbs", "sql_tables",
    "languages",
)  # fmt: skip
"""Keys whose values can be added and removed one by one, and those that presets state."""

_COMBINING: Final[Mapping[str, _Reader]] = {
    "extends": _read_extends,
    "remove": _read_change,
    "add": _read_change,
}

_DOCUMENT_READERS: Final[Mapping[str, _Reader]] = {
    **_READERS,
    **_COMBINING,
    "overrides": _read_overrides,
}

# What an override may change: fingerprints stay comparable over all of them.
_CHANGEABLE: Final[Mapping[str, _Reader]] = {
    key: reader for key, reader in {**_READERS, **_COMBINING}.items() if key != "fingerprint_salt"
}


def _describe_kind(value: object) -> str:
    if isinstance(value, list):
        return "list"
    if isinstance(value, str):
        return "text"
    return type(value).__name__
