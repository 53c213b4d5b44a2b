"""Snippets of the languages that have no session: each is a program of its own.

Takes a run's fixtures and, one by one, its snippets; gives their executions. A bash, JavaScript or TypeScript
snippet starts from the fixtures alone: nothing of an earlier one is carried over, as no record says whether
the run's tool kept its shell. SQL is what a database keeps: the statements that came before and may have
changed it are run again in front, in the same database.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from spanproof.evaluators.replay.fixtures import FixtureSet
from spanproof.evaluators.replay.recorded_tables import SCRIPT, RecordedTables
from spanproof.sandbox import (
    Clock,
    Database,
    DatabaseEngine,
    Ecosystem,
    Execution,
    FailureClass,
    Fixtures,
    Limits,
    Program,
    Sandbox,
)
from spanproof.trace import Language, Snippet, digest

NO_DATABASE = (
    "its database is not on the trace, and the fixtures name none for this cohort;"
    " give one as `database` in the file of `evaluation.fixtures`"
)

_READS = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:select|values|explain|show|describe|desc)\b", re.IGNORECASE)
_SEVERAL = re.compile(r";\s*\S")


@dataclass(slots=True)
class Programs:
    """The programs of one run, in order."""

    sandbox: Sandbox
    fixtures: FixtureSet
    limits: Limits
    clock: Clock | None
    recorded: RecordedTables = field(default_factory=RecordedTables)
    _changes: list[str] = field(default_factory=list)

    def find_obstacle(self, snippet: Snippet) -> str | None:
        """Return why a snippet cannot be replayed, None where it can."""
        if snippet.language is not Language.SQL or self.fixtures.database is not None:
            return None
        if not self.recorded.script:
            return NO_DATABASE
        why = self.recorded.find_obstacle(snippet)
        if why is not None:
            return f"its database is not on the trace, and {why}"
        return None

    def run_snippet(self, snippet: Snippet) -> Execution:
        """Run one.

        Raises:
            SandboxUnavailable: the backend cannot run here.
            UnsupportedFixtures: it cannot give what the program is to find.
            SandboxBroken: it failed.
        """
        if snippet.language is Language.SQL:
            return self._run_query(snippet.source)
        return self.sandbox.run(self._build_program(snippet.language, snippet.source))

    def _run_query(self, source: str) -> Execution:
        mark = f"replayed-{digest('sql', source)[:12]}"
        before = "".join(f"{change.rstrip().rstrip(';')}\n;\n" for change in self._changes)
        front = f"{before}SELECT '{mark}' AS mark;\n" if before else ""
        execution = self.sandbox.run(self._build_program(Language.SQL, front + source))
        if execution.failure_class is FailureClass.OK and not _is_read_only(source):
            self._changes.append(source)
        if not front:
            return execution
        result = execution.result
        if isinstance(result, dict) and result.get("rows") == [[mark]]:
            result = None
        return replace(execution, stdout=execution.stdout.partition(f"{mark}\n")[2], result=result)

    def _build_program(self, language: Language, source: str) -> Program:
        fixture_set = self.fixtures
        script = language in (Language.JAVASCRIPT, Language.TYPESCRIPT)
        if script and pins_packages_of(fixture_set, Ecosystem.NPM):
            packages = fixture_set.packages
        else:
            packages = None
        sql = language is Language.SQL
        fixtures = Fixtures(seed=fixture_set.seed, clock=self.clock, http=fixture_set.http, packages=packages)
        files = fixture_set.files
        if sql and fixture_set.database is not None:
            fixtures = Fixtures(database=fixture_set.database)
        elif sql:
            # In an engine of its own: what it cannot read fails there, and a failure proves nothing.
            fixtures = Fixtures(database=Database(DatabaseEngine.DUCKDB, SCRIPT))
            files = {SCRIPT: self.recorded.script.encode()}
        return Program(language.value, source, files=files, limits=self.limits, fixtures=fixtures)


def pins_packages_of(fixture_set: FixtureSet, ecosystem: Ecosystem) -> bool:
    """Whether the set pins packages of this ecosystem."""
    return fixture_set.packages is not None and fixture_set.packages.ecosystem is ecosystem


def _is_read_only(source: str) -> bool:
    return _READS.match(source) is not None and not _SEVERAL.search(source)
