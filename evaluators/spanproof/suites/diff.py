"""Two versions of a suite beside each other: which cases came, went and changed, and in which keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from spanproof.suites.case import Case
from spanproof.suites.files import load_suite
from spanproof.suites.records import encode_record
from spanproof.trace import digest

_CASE = "case.yaml"


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One key or file of a case that differs; None where a side does not have it."""

    key: str
    before: Any
    now: Any


@dataclass(frozen=True, slots=True)
class SuiteDiff:
    """What differs, by case id."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[tuple[str, tuple[KeyChange, ...]], ...]

    @property
    def is_empty(self) -> bool:
        """Whether the two are the same."""
        return not (self.added or self.removed or self.changed)

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON data."""
        changed = {
            case: [{"key": key.key, "before": key.before, "now": key.now} for key in keys]
            for case, keys in self.changed
        }
        return {"added": list(self.added), "removed": list(self.removed), "changed": changed}


def compare_suites(before: Path, now: Path) -> SuiteDiff:
    """Return the results of a suite's cases.

    Raises:
        SuiteError: one of the two is no suite, or a case cannot be read.
    """
    old, new = _load_contents(before), _load_contents(now)
    changes = ((key, _compare_keys(old[key], new[key])) for key in sorted(old.keys() & new.keys()))
    return SuiteDiff(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple((case, keys) for case, keys in changes if keys),
    )


def compute_version(suite: Path) -> str:
    """Return the version of a suite: a digest of all files of its cases."""
    found = sorted(_compute_digests(suite / "cases").items())
    return digest(*(part for entry in found for part in entry))[:12]


def _load_contents(suite: Path) -> dict[str, dict[str, Any]]:
    return {case.id: _encode_case(case, suite / "cases" / case.id) for case in load_suite(suite)}


def _encode_case(case: Case, folder: Path) -> dict[str, Any]:
    """Return all that a case says; files beside `case.yaml` by their digest."""
    found = encode_record(case)
    if case.expectations:
        found["expectation"] = [
            f"{frozen.layer.value}.{frozen.name} {frozen.snippet or frozen.span_id}: {frozen.verdict}"
            for frozen in case.expectations
        ]
    files = _compute_digests(folder)
    files.pop(_CASE, None)
    return found | files


def _compute_digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): blake2b(path.read_bytes(), digest_size=6).hexdigest()
        for path in _iter_files(folder)
    }


def _iter_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _compare_keys(old: dict[str, Any], new: dict[str, Any]) -> tuple[KeyChange, ...]:
    keys = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
    return tuple(KeyChange(key, old.get(key), new.get(key)) for key in keys)
