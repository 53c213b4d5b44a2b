"""A suite from Python: cases added, read and written as the command line does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from spanproof.suites.case import Case
from spanproof.suites.editing import add_cases
from spanproof.suites.errors import SuiteError
from spanproof.suites.files import load_suite
from spanproof.suites.records import build_case_name
from spanproof.trace.codec import to_plain


class Suite:
    """A folder of cases; it is made with its first case.

    suite = Suite("suites/refunds")
    suite.add(Case(task="How much was refunded for A-17?", expected="45.00", inputs={"currency": "EUR"}))
    """

    def __init__(self, folder: str | Path) -> None:
        """Name the folder; nothing is read or written yet."""
        self.folder = Path(folder)

    def add(self, *cases: Case, replace_known: bool = False) -> tuple[Case, ...]:
        """Add cases without frozen runs, and return them as they are in the suite.

        A case without an id is named by its task and content. One that the suite has stays as it is, so that
        a script may run again; one that behaves as another case does is that case.

        Raises:
            SuiteError: a case has no task, or a frozen run would be replaced.
        """
        named = [_with_id(case) for case in cases]
        added = add_cases(self.folder, named, replace=replace_known)
        twins = dict(added.duplicates)
        existing = {case.id: case for case in self}
        return tuple(existing[twins.get(case.id, case.id)] for case in named)

    def __iter__(self) -> Iterator[Case]:
        """Yield the cases in the order of their ids; none where there is no suite yet."""
        return iter(load_suite(self.folder) if (self.folder / "suite.yaml").exists() else ())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _with_id(case: Case) -> Case:
    if not case.task or not case.task.strip():
        raise SuiteError("a case needs a task: write Case(task=…)")
    if case.origin is not None:
        raise SuiteError(f"case {case.id} holds a frozen run: `spanproof promote` adds those")
    if case.id:
        return case
    return replace(case, id=build_case_name(case.task, repr(to_plain(_list_content(case)))))


def _list_content(case: Case) -> list[object]:
    return [
        case.task,
        case.agent,
        dict(case.inputs),
        dict(case.files),
        [str(requirement) for requirement in case.requirements],
    ]
