"""Tests as the process that holds them runs them: read once, where no page is copied for it.

In: their text. Out: what of it must be known before they run. A supervisor prepares tests while the guest is
forked, and sends both; where it could not, the judge prepares them itself, and reports why that fails.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from spanproof.sandbox.guest.apart import find_reason_to_share, list_imports, select_program_builtins
from spanproof.sandbox.guest.collecting import list_collectors, list_expected_names
from spanproof.sandbox.guest.testing import TESTS_FILENAME, Plan, build_test_plan

RECORDER = "_record_test"
"""The global name under which tests find their recorder."""
TYPE_OF = "_type_of_value"
"""What calls of `type` in tests become; the class itself stays what `isinstance` takes."""
# Longer ones take time and memory that are to be the guest's.
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PreparedTests:
    """Tests, read.

    Attributes:
        plan: of the runner's own.
        expected: names of tests as their text shows them.
        reason_to_share: what in them needs the program's interpreter, as a clause; None where nothing does.
        imports: modules that they import.
        collectors: modules that collect them; none where the plan holds all of them.
        program_builtins: builtin names that mean the program's.
    """

    plan: Plan
    expected: list[str]
    reason_to_share: str | None
    imports: list[str]
    collectors: list[str]
    program_builtins: frozenset[str]

    def to_message(self) -> list[Any]:
        """Return the form that `marshal` knows."""
        plan, *rest = (getattr(self, field.name) for field in fields(self))
        return [[getattr(plan, field.name) for field in fields(plan)], *rest]

    @classmethod
    def from_message(cls, message: list[Any]) -> PreparedTests:
        """Return what `to_message` gave."""
        return cls(Plan(*message[0]), *message[1:])


def build_tests(text: str, entry_point: str | None) -> PreparedTests:
    """Read tests.

    Raises:
        SyntaxError, ValueError, OverflowError, MemoryError, RecursionError: they do not compile.
    """
    plan = build_test_plan(text, entry_point, RECORDER, TYPE_OF)
    nodes = [*ast.walk(ast.parse(text, TESTS_FILENAME))]
    collectors = list_collectors(text)
    return PreparedTests(
        plan,
        list_expected_names(text, plan, collectors),
        find_reason_to_share(nodes),
        list_imports(nodes),
        collectors,
        select_program_builtins(nodes, entry_point),
    )


@lru_cache(maxsize=32)
def load_message(tests: bytes, entry_point: str | None) -> list[Any] | None:
    """Return prepared tests for a message; None of those that are long, or do not compile."""
    if len(tests) > _MOST_BYTES:
        return None
    try:
        return build_tests(tests.decode("utf-8", "surrogatepass"), entry_point).to_message()
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        return None
