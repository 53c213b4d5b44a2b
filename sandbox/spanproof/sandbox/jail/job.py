"""A program as a job: what the host checks of it, and what it tells a slot.

In: a `Program`. Out: the header and the parts of one frame. Pure, but for looking up what is installed.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib.resources import files
from importlib.util import find_spec

from spanproof.sandbox.calls import check_files
from spanproof.sandbox.errors import UnsupportedFixtures, UnsupportedLanguage
from spanproof.sandbox.jail import node
from spanproof.sandbox.jail.fixed.job import fixed_by, tape_of
from spanproof.sandbox.jail.root import CODE
from spanproof.sandbox.jail.wire import Header
from spanproof.sandbox.model import Database, DatabaseEngine, Program

_RUNNER = "node.cjs"


def languages() -> frozenset[str]:
    """What the jail runs on this machine."""
    found = node.find_node()
    return frozenset({"python", "bash", "sql"}) | (found.languages if found is not None else frozenset())


def job_of(program: Program) -> tuple[Header, list[bytes]]:
    """The frame of a program.

    Raises:
        UnsupportedLanguage: no runtime for it here; says what to install.
        UnsupportedFixtures: the database, the clock or the recorded calls cannot be given.
        ValueError: a file's name leads out of the work directory.
    """
    known = languages()
    if program.language not in known:
        hint = f" ({node.REMEDY})" if program.language in ("javascript", "typescript") else ""
        told = ", ".join(sorted(known))
        raise UnsupportedLanguage(f"the jail runs {told}, not {program.language!r}{hint}")
    check_files(program.files)
    header: Header = {
        "kind": "job",
        "language": program.language,
        "limits": asdict(program.limits),
        "files": list(program.files),
        "has_tests": program.tests is not None,
        "entry_point": program.entry_point,
        **fixed_by(program.fixtures),
        **_of_language(program),
    }
    source = program.source.encode("utf-8", "surrogatepass")
    tests = (program.tests or "").encode("utf-8", "surrogatepass")
    return header, [source, tests, program.stdin, *program.files.values(), *tape_of(program.fixtures)]


def _of_language(program: Program) -> Header:
    if program.language == "bash":
        script = f"{CODE}/main.sh"
        # It is asked first whether it can read the script.
        return {"script": "main.sh", "argv": ["/bin/bash", script], "own_execs": 2}
    if program.language in ("javascript", "typescript"):
        return _of_node(program, "main.ts" if program.language == "typescript" else "main.js")
    if program.language == "sql":
        return {"database": _database(program)}
    return {}


def _of_node(program: Program, script: str) -> Header:
    found = node.find_node()
    assert found is not None
    command, *arguments = found.command(f"{CODE}/{script}", f"{CODE}/{_RUNNER}", program.limits)
    if program.fixtures.seed is not None:
        # of `Math.random`, which starts from bytes no kernel gave; 0 would mean that there is no seed
        arguments.insert(0, f"--random-seed={program.fixtures.seed % 0x7FFFFFFF + 1}")
    return {
        "script": script,
        "argv": [command, *arguments],
        "own_execs": 1,
        "aids": {_RUNNER: _runner()},
    }


@cache
def _runner() -> str:
    return files("spanproof.sandbox.jail.guest").joinpath(_RUNNER).read_text(encoding="utf-8")


def _database(program: Program) -> Header:
    database = program.fixtures.database
    _check_database(database, program)
    return {**asdict(database), "memory_bytes": program.limits.memory_bytes}


def _check_database(database: Database, program: Program) -> None:
    if database.engine is DatabaseEngine.DUCKDB and find_spec("duckdb") is None:
        raise UnsupportedFixtures(
            "the database engine duckdb is not installed: pip install 'spanproof[duckdb]', or use sqlite"
        )
    if database.file is not None and database.file not in program.files:
        known = ", ".join(map(repr, program.files)) or "none"
        raise UnsupportedFixtures(
            f"the database {database.file!r} is not among the program's files ({known}); add it to them"
        )
