"""A program as a job: what the host checks of it, and what it gives a supervisor.

In: a `Program`. Out: the header and the parts of one frame. Pure, but for looking up what is installed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec

from spanproof.sandbox.calls import check_files
from spanproof.sandbox.errors import UnsupportedFixtures, UnsupportedLanguage
from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.model import Database, DatabaseEngine, Execution, Limits, Program
from spanproof.sandbox.supervisor import node
from spanproof.sandbox.supervisor.fixtures.job import encode_fixtures, encode_tape
from spanproof.sandbox.supervisor.namespaces.root import CODE
from spanproof.sandbox.toolchains import TOOLCHAINS, select_toolchains

_RUNNER = "node.cjs"
# Languages that take no other program.
_OWN = frozenset(("python", "sql"))


@dataclass(frozen=True, slots=True)
class Runtimes:
    """What there is to run programs, where they run.

    Attributes:
        location: in errors.
        bash: its path.
        duckdb: whether Python has the module.
        toolchains: languages of `spanproof.sandbox.toolchains` that can be built and run.
        node_remedy, duckdb_remedy: how to get them there.
    """

    location: str
    bash: str | None
    node: node.Node | None
    duckdb: bool
    toolchains: frozenset[str]
    node_remedy: str
    duckdb_remedy: str

    def runs(self, language: str) -> bool:
        """Whether a language can be run."""
        return language in _OWN or language in self.languages

    @property
    def languages(self) -> frozenset[str]:
        """The languages that can be run."""
        found = _OWN | ({"bash"} | self.toolchains if self.bash is not None else set())
        return found | (self.node.languages if self.node is not None else frozenset())


def read_runtimes() -> Runtimes:
    """Find the jail's, on this machine."""
    return Runtimes(
        location="the jail",
        bash="/bin/bash",
        node=node.find_node(),
        duckdb=find_spec("duckdb") is not None,
        toolchains=select_toolchains(),
        node_remedy=node.REMEDY,
        duckdb_remedy="pip install 'spanproof[duckdb]'",
    )


def build_job(program: Program, found: Runtimes) -> tuple[Header, list[bytes]]:
    """Build the frame of a program.

    Raises:
        UnsupportedLanguage: no runtime for it here; says what to install.
        UnsupportedFixtures: the database, the clock or the recorded calls cannot be given.
        ValueError: a file's name leads out of the work directory.
    """
    check_language(program.language, found)
    header, parts = encode_program(program)
    return header | build_language_fields(program, found), parts


def encode_program(program: Program) -> tuple[Header, list[bytes]]:
    """Build the frame of a program but for what depends on the runtimes that are found where it runs.

    Raises:
        UnsupportedFixtures, ValueError: as `build_job`.
    """
    check_files(program.files)
    header: Header = {
        "kind": "job",
        "language": program.language,
        "limits": encode_limits(program.limits),
        "files": list(program.files),
        "has_tests": program.tests is not None,
        "entry_point": program.entry_point,
        **encode_fixtures(program.fixtures),
    }
    source = program.source.encode("utf-8", "surrogatepass")
    tests = (program.tests or "").encode("utf-8", "surrogatepass")
    return header, [source, tests, program.stdin, *program.files.values(), *encode_tape(program.fixtures)]


def check_language(language: str, found: Runtimes) -> None:
    """Refuse a language that has no runtime here.

    Raises:
        UnsupportedLanguage: says what there is, and what to install.
    """
    if found.runs(language):
        return
    hint = ""
    if language in ("javascript", "typescript"):
        hint = f" ({found.node_remedy})"
    elif language in TOOLCHAINS:
        hint = f" (it needs {' and '.join(TOOLCHAINS[language].tools)})"
    reply = ", ".join(sorted(found.languages))
    raise UnsupportedLanguage(f"{found.location} runs {reply}, not {language!r}{hint}")


@lru_cache
def encode_limits(limits: Limits) -> Header:
    """Encode them as they travel; most programs share theirs."""
    return asdict(limits)


def build_language_fields(program: Program, found: Runtimes) -> Header:
    """Build what a language's runtime needs of a frame."""
    if program.language == "bash":
        script = f"{CODE}/main.sh"
        # It is checked first: it can read the script.
        return {"script": "main.sh", "argv": [found.bash, script], "own_execs": 2}
    if program.language in ("javascript", "typescript"):
        assert found.node is not None
        script = "main.ts" if program.language == "typescript" else "main.js"
        return _build_node_fields(found.node, program, script)
    if program.language == "sql":
        return {"database": _build_database_fields(program, found)}
    return {}


def _build_node_fields(found: node.Node, program: Program, script: str) -> Header:
    command, *arguments = found.build_command(f"{CODE}/{script}", f"{CODE}/{_RUNNER}", program.limits)
    if program.fixtures.seed is not None:
        # of `Math.random`, which starts from bytes no kernel gave; 0 would mean that there is no seed
        arguments.insert(0, f"--random-seed={program.fixtures.seed % 0x7FFFFFFF + 1}")
    return {"script": script, "argv": [command, *arguments], "own_execs": 1, "aids": {_RUNNER: _get_runner()}}


@cache
def _get_runner() -> str:
    return files("spanproof.sandbox.guest").joinpath(_RUNNER).read_text(encoding="utf-8")


def _build_database_fields(program: Program, found: Runtimes) -> Header:
    database = program.fixtures.database
    if program.fixtures.packages is not None:
        raise UnsupportedFixtures("SQL takes no packages: leave them out, or run it from Python")
    _check_database(database, program, found)
    engine = database.engine.value
    return {**asdict(database), "engine": engine, "memory_bytes": program.limits.memory_bytes}


def _check_database(database: Database, program: Program, found: Runtimes) -> None:
    if database.engine is DatabaseEngine.DUCKDB and not found.duckdb:
        raise UnsupportedFixtures(
            f"the database engine duckdb is not installed: {found.duckdb_remedy}, or use sqlite"
        )
    if database.file is not None and database.file not in program.files:
        names = ", ".join(map(repr, program.files)) or "none"
        raise UnsupportedFixtures(
            f"the database {database.file!r} is not among the program's files ({names}); add it to them"
        )


def check_database(header: Header, execution: Execution, program: Program) -> None:
    """Refuse a result that shows only that there is no database.

    Raises:
        UnsupportedFixtures: it could not be made; says why.
    """
    if program.language == "sql" and header.get("outcome") == "fixture":
        if execution.raised is not None:
            reply = execution.raised.message
        else:
            reply = "it cannot be read"
        file = program.fixtures.database.file
        raise UnsupportedFixtures(f"the database {file!r} cannot be made: {reply}")
