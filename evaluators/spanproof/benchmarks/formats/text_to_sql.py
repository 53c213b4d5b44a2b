"""Spider and BIRD: questions to SQL, graded by the rows that the query gives.

Fields: `question`, `db_id`, `query` (Spider) or `SQL`, `evidence`, `difficulty`, `question_id` (BIRD). The
published queries and the answers run on a read-only database in the sandbox.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.files import get_text, iter_rows
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.model import (
    PASSED,
    Answer,
    Graded,
    GradingSetup,
    Problem,
    build_failed_grade,
    build_unjudged_grade,
)
from spanproof.sandbox import Database, Execution, FailureClass, Fixtures, Limits, Program
from spanproof.sandbox.untrusted_files import UnsafeFileError, get_path_beneath

_DATABASE = "database.sqlite"
_ROOM = 64 * 1024 * 1024
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)


def iter_text_to_sql(source: Source) -> Iterator[Problem]:
    """Yield the questions of Spider or BIRD.

    Raises:
        BenchmarkError: an entry lacks a field, or its database is not there.
    """
    for number, (location, row) in enumerate(iter_rows(source.problems)):
        name = get_text(location, row, "db_id")
        folder = source.get_databases()
        try:
            file = get_path_beneath(folder, f"{name}/{name}.sqlite")
        except UnsafeFileError as problem:
            raise BenchmarkError(f"{location}: {problem}") from problem
        if not file.is_file():
            raise BenchmarkError(f"{location}: there is no database {folder / name / f'{name}.sqlite'}")
        query = get_text(location, row, "SQL", "query")
        identity = str(row.get("question_id", number))
        hint = f"\nHint: {row['evidence']}" if row.get("evidence") else ""
        yield QueryProblem(
            id=identity,
            prompt=f"{get_text(location, row, 'question')}{hint}\nDatabase: {name}",
            language="sql",
            reference=Answer(identity, query, is_whole=True),
            groups={"difficulty": str(row["difficulty"])} if row.get("difficulty") else {},
            query=query,
            database=file,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryProblem(Problem):
    """A question with the query that answers it."""

    query: str
    database: Path

    @property
    def test_sets(self) -> tuple[str, ...]:
        """The rows."""
        return ("rows",)

    @property
    def task(self) -> str:
        """The question, with what form the answer must have."""
        return f"Answer with one SQLite query in one fenced block.\n\n{self.prompt}"

    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return whether the answer gives the rows of the published query."""
        return {"rows": self._evaluate_calls(answer, setup)}

    def _evaluate_calls(self, answer: Answer, setup: GradingSetup) -> Graded:
        if answer.error:
            return build_failed_grade(answer.error)
        wanted, found = self._run(self.query, setup), self._run(answer.text, setup)
        if wanted.failure_class is not FailureClass.OK:
            return build_unjudged_grade(
                f"the published query ends with {wanted.failure_class.value}", wanted.failure_class
            )
        if found.failure_class is not FailureClass.OK:
            if found.raised:
                why = found.raised.message
            else:
                why = found.failure_class.value
            return build_failed_grade(why, found.failure_class, found.wall_s)
        theirs, ours = _find_rows(wanted), _find_rows(found)
        if theirs is None:
            return build_unjudged_grade("the published query gives more rows than are kept")
        if ours is None:
            return build_failed_grade("the query gives no rows, or more than the published one")
        if _ORDERED.search(self.query):
            same = ours == theirs
        else:
            same = Counter(ours) == Counter(theirs)
        if same:
            return PASSED
        return build_failed_grade(f"gives {len(ours)} rows that differ from the {len(theirs)} expected")

    def _run(self, query: str, setup: GradingSetup) -> Execution:
        data = self.database.read_bytes()
        limits = Limits(wall_s=setup.timeout_s, cpu_s=setup.timeout_s, disk_bytes=len(data) + _ROOM)
        fixtures = Fixtures(database=Database(file=_DATABASE))
        return setup.sandbox.run(
            Program("sql", query, files={_DATABASE: data}, limits=limits, fixtures=fixtures)
        )


def _find_rows(execution: Execution) -> list[str] | None:
    result: Any = execution.result
    if not isinstance(result, dict) or result.get("cut"):
        return None
    # As text: a row may hold what cannot be hashed.
    return [repr(row) for row in result.get("rows", [])]
