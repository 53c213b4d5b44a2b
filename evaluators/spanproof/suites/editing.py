"""Cases added to a suite and changed in it; nothing is written that cannot be read again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanproof.suites.behaviour import compute_behaviour_digest
from spanproof.suites.case import Case
from spanproof.suites.errors import SuiteError
from spanproof.suites.files import load_case, load_suite, write_case, write_tests
from spanproof.suites.requirements import read_requirements


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the cases given, by their ids; a duplicate names the case that behaves the same."""

    added: tuple[str, ...]
    existing: tuple[str, ...]
    duplicates: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"added": list(self.added), "known": list(self.existing), "duplicates": dict(self.duplicates)}


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one case; what is None or empty stays.

    Attributes:
        must, must_not: entries that are added, in the form of `case.yaml`.
    """

    task: str | None = None
    notes: str | None = None
    tag: tuple[str, ...] = ()
    untag: tuple[str, ...] = ()
    must: tuple[Any, ...] = ()
    must_not: tuple[Any, ...] = ()


def add_cases(suite: Path, cases: Iterable[Case], *, replace: bool = False) -> Added:
    """Add cases to a suite, which is made where it is not there.

    A case whose id the suite has stays as it is, and one that behaves as another case does is left out, so
    that the same cases can be added again.

    Args:
        suite: its folder.
        cases: without frozen runs.
        replace: write a case anew whose id the suite has.

    Raises:
        SuiteError: a case of the suite cannot be read, or a frozen run would be replaced.
    """
    if (suite / "suite.yaml").exists():
        existing = {case.id: case for case in load_suite(suite)}
    else:
        existing = {}
    behaviours = {compute_behaviour_digest(case): case.id for case in existing.values()}
    added, kept, duplicates = [], [], []
    for case in cases:
        there = existing.get(case.id)
        twin = behaviours.setdefault(compute_behaviour_digest(case), case.id)
        if there is not None and not replace:
            kept.append(case.id)
        elif there is not None and there.origin is not None:
            raise SuiteError(
                f"case {case.id} of {suite} holds a frozen run: remove it, or promote the run again"
            )
        elif twin != case.id and there is None:
            duplicates.append((case.id, twin))
        else:
            write_tests(suite, case)
            write_case(suite, case)
            existing[case.id] = case
            added.append(case.id)
    return Added(tuple(added), tuple(kept), tuple(duplicates))


def update_case(suite: Path, case: Case, change: Edit) -> Case:
    """Write a case with a change, and return it.

    Raises:
        SuiteError: an entry of `must` or `must_not` is none.
    """
    path = suite / "cases" / case.id / "case.yaml"
    added = read_requirements(str(path), list(change.must), list(change.must_not))
    tags = [tag for tag in dict.fromkeys((*case.tags, *change.tag)) if tag not in change.untag]
    write_case(
        suite,
        replace(
            case,
            task=case.task if change.task is None else change.task,
            notes=case.notes if change.notes is None else change.notes,
            tags=tuple(tags),
            requirements=(
                *case.requirements,
                *(requirement for requirement in added if requirement not in case.requirements),
            ),
        ),
    )
    return load_case(path.parent)


def update_case_text(folder: Path, text: str) -> Case:
    """Write the text of a `case.yaml`, and return the case; a text that is none changes nothing.

    Raises:
        SuiteError: the text is no case.
    """
    path = folder / "case.yaml"
    before = path.read_bytes()
    _write_file(path, text.encode())
    try:
        return load_case(folder)
    except SuiteError:
        _write_file(path, before)
        raise


def _write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".case-", delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)
