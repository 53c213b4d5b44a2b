"""Policies from YAML files: each key is read by its type, each error names file, key and remedy.

In: a path, or decoded keys and values. Out: one frozen `Policy`. PyYAML is imported when a file is read.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.model import Tier
from spanproof.sandbox.policy import SUBJECT, Aggregation, Override, Policy, SqlRule
from spanproof.sandbox.scanners.rules import PatternRule
from spanproof.sandbox.scanners.source import KNOWN_LANGUAGES, normalise_language
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    load_yaml,
    read_bounded,
    resolve_beneath,
)


def load_policy(path: Path) -> Policy:
    """Read a policy from a YAML file; what the file does not name keeps its default.

    Raises:
        PolicyError: the file is absent, no YAML, or holds a wrong key or value; names file, key, value,
        remedy.
    """
    try:
        document = load_yaml(read_bounded(path, MAX_DOCUMENT_BYTES))
    except (OSError, UnsafeFileError) as problem:
        raise PolicyError(
            f"policy {path}: cannot be read: {problem}; name a readable UTF-8 file"
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


def parse_policy(document: Mapping[object, object], origin: str, directory: Path = Path()) -> Policy:
    """Return a policy from decoded keys and values.

    Args:
        document: keys of `Policy` and what they hold.
        origin: names the document in errors.
        directory: what files are relative to that it names.

    Raises:
        PolicyError: a key is unknown or a value is not what the key takes.
    """
    return Policy(**_read(document, origin, directory, _READERS))


def _read(
    document: Mapping[object, object], origin: str, directory: Path, readers: Mapping[str, _Reader]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for given, value in document.items():
        key = str(given)
        if key not in readers:
            nearest = difflib.get_close_matches(key, readers, n=1, cutoff=0.5)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"known keys: {', '.join(readers)}"
            raise PolicyError(f"policy {origin}: unknown key {key!r}; {hint}")
        values[key] = readers[key](_Place(origin, key, directory), value)
    return values


@dataclass(frozen=True, slots=True)
class _Place:
    origin: str
    key: str
    directory: Path

    def refuse(self, value: object, remedy: str) -> PolicyError:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        return PolicyError(f"policy {self.origin}: key {self.key!r} cannot be {shown}; {remedy}")


def _read_text(place: _Place, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise place.refuse(value, "give a text")
    return value.strip()


def _read_texts(place: _Place, value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, f"give a list, as in `{place.key}: [a, b]`")
    return [_read_text(place, item) for item in value]


def _read_names(place: _Place, value: object) -> frozenset[str]:
    return frozenset(_read_texts(place, value))


def _read_lower_names(place: _Place, value: object) -> frozenset[str]:
    return frozenset(item.lower() for item in _read_texts(place, value))


def _read_tables(place: _Place, value: object) -> frozenset[str] | None:
    return None if value is None else _read_lower_names(place, value)


def _read_sql_rules(place: _Place, value: object) -> tuple[SqlRule, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list, as in `sql_rules: [{host: db.example, verbs: [select]}]`")
    return tuple(_read_sql_rule(place, number, one) for number, one in enumerate(value, start=1))


def _read_sql_rule(place: _Place, number: int, value: object) -> SqlRule:
    if not isinstance(value, Mapping) or not {"host", "database", "file", "memory"} & value.keys():
        raise place.refuse(value, "give each rule a `host`, `database`, `file` or `memory: true`")
    readers = {
        "host": _read_text, "database": _read_text, "file": _read_directory, "memory": _read_flag,
        "verbs": _read_tables, "tables": _read_tables,
    }  # fmt: skip
    return SqlRule(**_read(value, f"{place.origin}: SQL rule {number}", place.directory, readers))


def _read_directory(place: _Place, value: object) -> str:
    path = _read_text(place, value)
    if not path.startswith("/"):
        raise place.refuse(value, "give an absolute path, as the sandbox sees it")
    return posixpath.normpath(path)


def _read_directories(place: _Place, value: object) -> tuple[str, ...]:
    return tuple(_read_directory(place, item) for item in _read_texts(place, value))


def _read_hosts(place: _Place, value: object) -> tuple[str, ...]:
    hosts = tuple(item.lower().rstrip(".") for item in _read_texts(place, value))
    for host in hosts:
        if "/" in host or (":" in host.strip("[]") and not host.startswith("[")):
            raise place.refuse(host, "give a host name alone; ports have a key of their own: `ports: [443]`")
        if "*" in host.removeprefix("*."):
            raise place.refuse(host, "a star matches what is below a name only, as in `*.example.org`")
    return hosts


def _read_ports(place: _Place, value: object) -> frozenset[int]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list, as in `ports: [443]`")
    for port in value:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
            raise place.refuse(port, "a port is a number from 1 to 65535")
    return frozenset(value)


def _read_tier(place: _Place, value: object) -> Tier | None:
    if value is None:
        return None
    try:
        return Tier(str(value))
    except ValueError:
        raise place.refuse(value, f"give one of {', '.join(Tier)}") from None


def _read_aggregation(place: _Place, value: object) -> Aggregation:
    try:
        return Aggregation(str(value))
    except ValueError:
        raise place.refuse(value, f"give one of {', '.join(Aggregation)}") from None


def _read_weights(place: _Place, value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping):
        raise place.refuse(value, "give scanners and numbers, as in `weights: {python: 2}`")
    for weight in value.values():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e9:
            raise place.refuse(weight, "a weight is a number, not below 0")
    return tuple((str(name), float(weight)) for name, weight in value.items())


def _read_seconds(place: _Place, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
        raise place.refuse(value, "give seconds, above 0 and at most 3600")
    return float(value)


def _read_rules(place: _Place, value: object) -> tuple[PatternRule, ...]:
    from spanproof.sandbox.scanners.patterns import parse_rule

    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list of rules")
    rules = tuple(parse_rule(one, f"policy {place.origin}: key 'rules'") for one in value)
    _refuse_duplicates(place, [rule.id for rule in rules])
    return rules


def _read_topics(place: _Place, value: object) -> tuple[PatternRule, ...]:
    from spanproof.sandbox.scanners.patterns import parse_topic

    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list of topics")
    topics = tuple(parse_topic(one, f"policy {place.origin}: key 'topics'") for one in value)
    _refuse_duplicates(place, [topic.id for topic in topics])
    return topics


def _refuse_duplicates(place: _Place, ids: Sequence[str]) -> None:
    twice = sorted(one for one in ids if ids.count(one) > 1)
    if twice:
        raise place.refuse(twice[0], "each rule needs an id of its own")


def _read_languages(place: _Place, value: object) -> frozenset[str] | None:
    if value is None:
        return None
    named = [normalise_language(one) for one in _read_texts(place, value)]
    for one in named:
        nearest = difflib.get_close_matches(one, KNOWN_LANGUAGES, n=1, cutoff=0.7)
        if one not in KNOWN_LANGUAGES and nearest:
            raise place.refuse(one, f"did you mean {nearest[0]!r}?")
    return frozenset(named)


def _read_flag(place: _Place, value: object) -> bool:
    if not isinstance(value, bool):
        raise place.refuse(value, "give true or false")
    return value


def _read_files(place: _Place, value: object) -> tuple[str, ...]:
    # What a policy names relative to itself stays with it wherever the program is started.
    try:
        files = [resolve_beneath(place.directory, one) for one in _read_texts(place, value)]
    except UnsafeFileError as problem:
        raise place.refuse(value, str(problem)) from problem
    for file in files:
        if not file.is_file():
            raise place.refuse(file.name, f"give a Python file; there is none at {file}")
        if file.stat().st_size > MAX_DOCUMENT_BYTES:
            raise place.refuse(file.name, f"give a file of at most {MAX_DOCUMENT_BYTES} bytes")
    return tuple(str(file) for file in files)


def _read_overrides(place: _Place, value: object) -> tuple[Override, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list, as in `overrides: [{when: {agent: a}, hosts: []}]`")
    return tuple(_read_override(place, number, one) for number, one in enumerate(value, start=1))


def _read_override(place: _Place, number: int, value: object) -> Override:
    origin = f"{place.origin}: override {number}"
    if not isinstance(value, Mapping) or "when" not in value:
        raise PolicyError(
            f"policy {origin}: has no key 'when'; say what it is for, as in `when: {{agent: billing-*}}`"
        )
    when = value["when"]
    if not isinstance(when, Mapping) or not when:
        raise _Place(origin, "when", place.directory).refuse(
            when, f"give one or more of {', '.join(SUBJECT)} with a pattern each"
        )
    patterns = _read(when, f"{origin}: when", place.directory, dict.fromkeys(SUBJECT, _read_patterns))
    rest = {key: one for key, one in value.items() if key != "when"}
    if not rest:
        raise PolicyError(f"policy {origin}: changes nothing; give it keys of a policy beside 'when'")
    changes = _read(rest, origin, place.directory, _CHANGEABLE)
    return Override(tuple(patterns.items()), tuple(changes.items()))


def _read_patterns(place: _Place, value: object) -> tuple[str, ...]:
    return (_read_text(place, value),) if isinstance(value, str) else tuple(_read_texts(place, value))


def _read_salt(place: _Place, value: object) -> bytes:
    text = value if isinstance(value, str) else ""
    if len(text) < 16:
        raise PolicyError(
            f"policy {place.origin}: key {place.key!r} is too short; give at least 16 characters, in quotes"
        )
    return text.encode("utf-8", "surrogatepass")[:64]


_Reader = Callable[[_Place, object], object]

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
    "sql_tables": _read_tables,
    "sql_rules": _read_sql_rules,
    "aggregation": _read_aggregation,
    "weights": _read_weights,
    "scanner_time_s": _read_seconds,
    "rules": _read_rules,
    "scanner_files": _read_files,
    "fingerprint_salt": _read_salt,
    "languages": _read_languages,
    "topics": _read_topics,
    "bandit": _read_flag,
    "toxicity": _read_flag,
    "sandbox_tier": _read_tier,
    "overrides": _read_overrides,
}

# What an override may change: fingerprints stay comparable over all of them.
_CHANGEABLE: Final[Mapping[str, _Reader]] = {
    key: reader for key, reader in _READERS.items() if key not in {"overrides", "fingerprint_salt"}
}


def _describe_kind(value: object) -> str:
    return "list" if isinstance(value, list) else "text" if isinstance(value, str) else type(value).__name__
