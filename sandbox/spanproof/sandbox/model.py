"""What goes into a sandbox and what comes out.

A `Program` is a snippet with its limits; an `Execution` is what became of it, in facts: exit, signal,
bounded output, times, memory, files, and what it attempted. The failure class is derived from those facts,
never from words in the output. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What a JSON document decodes to: all that crosses the wall of a sandbox."""


class FailureClass(StrEnum):
    """How a program ended: one enum for recorded and for replayed outcomes."""

    OK = "ok"
    SYNTAX_ERROR = "syntax_error"
    ASSERTION_FAILURE = "assertion_failure"
    EXCEPTION = "exception"
    MISSING_DEPENDENCY = "missing_dependency"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    PERMISSION_DENIED = "permission_denied"
    UNSAFE_OPERATION = "unsafe_operation"
    OUTPUT_LIMIT = "output_limit"
    KILLED = "killed"
    TESTS_NOT_RUN = "tests_not_run"
    """It ended well, and has tests of which none, or not each, can be carried out: that is no success."""
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"


class Tier(StrEnum):
    """How much of a wall is between a program and the machine."""

    FULL = "full"
    """Namespaces, or a machine of its own: what is outside has no name inside."""
    REDUCED = "reduced"
    """The machine's files, processes and network are in sight, and held back; see docs/sandbox.md."""

    def holds(self, demanded: Tier) -> bool:
        """Whether it is as strong as what is demanded."""
        return self is Tier.FULL or demanded is Tier.REDUCED


class AttemptKind(StrEnum):
    """An attempt of a program that concerns its boundary."""

    NETWORK = "network"
    FILE = "file"
    PROCESS = "process"
    PRIVILEGE = "privilege"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing a program tried, as the kernel saw it.

    Attributes:
        target: `host:port` for network, an absolute path for files, the program for processes, the system
            call for privileges.
        allowed: whether it went through.
        count: how often it was made; two attempts are equal whatever their counts.
    """

    kind: AttemptKind
    target: str
    allowed: bool
    count: int = field(default=1, compare=False)


class NoteKind(StrEnum):
    """An action of a program that is noted and is no violation."""

    MISSING_FILE = "missing_file"
    """It looked for a file that is not there, and that no sensitive tree would hold."""
    LEFT_RUNNING = "left_running"
    """It left something running when it ended, which was killed."""


@dataclass(frozen=True, slots=True)
class ExecutionNote:
    """One thing on a program's record that crosses no boundary.

    Attributes:
        target: an absolute path; of what was left running, `thread` or `process`.
        count: how often it looked; how many were running.
    """

    kind: NoteKind
    target: str
    count: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one program (of one step, in a session).

    Attributes:
        wall_s, cpu_s: seconds.
        memory_bytes: for the whole process tree.
        processes: how many may live at once, threads included.
        output_bytes: kept of stdout and of stderr each; beyond it the stream is cut and marked.
        output_kill_bytes: a program that writes more than this is stopped.
        disk_bytes: of the work directory, which is memory.
        open_files: descriptors of one process.
    """

    wall_s: float = 10.0
    cpu_s: float = 10.0
    memory_bytes: int = 512 * 1024 * 1024
    processes: int = 64
    output_bytes: int = 256 * 1024
    output_kill_bytes: int = 64 * 1024 * 1024
    disk_bytes: int = 64 * 1024 * 1024
    open_files: int = 256


@dataclass(frozen=True, slots=True)
class Clock:
    """The time a program sees; what measures spans (monotonic clocks) and what sleeps stay real.

    Attributes:
        start_s: Unix time at its start.
        rate: seconds that pass for each real one; 0 stops the clock.
    """

    start_s: float
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One recorded HTTP call, served again to a program that makes it.

    Attributes:
        url: absolute, `http` or `https`.
        request_body: what the call must carry to match; None matches any.
        headers: of the answer, in order; those of its length and its connection are made anew.
        body: of the answer, as it goes over the wire: in the `Content-Encoding` the headers name, if any.
    """

    method: str
    url: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    request_body: bytes | None = None


class Ecosystem(StrEnum):
    """Where packages come from."""

    PIP = "pip"
    NPM = "npm"


@dataclass(frozen=True, slots=True)
class PackageSet:
    """Packages that a program finds in addition to the runtime, each at an exact version.

    Attributes:
        pins: `name==1.2.3` for pip, `name@1.2.3` for npm.
    """

    ecosystem: Ecosystem
    pins: tuple[str, ...]


class DatabaseEngine(StrEnum):
    """What runs SQL."""

    SQLITE = "sqlite"
    DUCKDB = "duckdb"


@dataclass(frozen=True, slots=True)
class Database:
    """The database of a SQL program.

    Attributes:
        file: which of the program's files is the database: a database file of the engine, or a `.sql` script
            that makes it. None is an empty one, which may be written.
        writable: whether the program may change it.
    """

    engine: DatabaseEngine = DatabaseEngine.SQLITE
    file: str | None = None
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Fixtures:
    """The environment of a program, fixed so that each run finds the same.

    Attributes:
        seed: of `random`, of numpy where loaded, and of the kernel's random bytes; None leaves them as they
            come.
        hash_seed: of Python's string hashes, and so of the order of its sets: the same in every run. The jail
            alone gives another than 0, to its sessions.
        clock: None is the real one.
        http: calls that are answered, each once and in their order; every other is refused and recorded.
            Empty: there is no network.
        packages: None is the runtime's own.
    """

    seed: int | None = None
    hash_seed: int = 0
    clock: Clock | None = None
    http: tuple[Exchange, ...] = ()
    packages: PackageSet | None = None
    database: Database = Database()


@dataclass(frozen=True, slots=True)
class Program:
    """What to run.

    Attributes:
        language: `python`, `bash`, `sql`, `javascript`, `typescript`, or one of `toolchains`; a backend names
            those it knows.
        source: the code; any text, NUL bytes and lone surrogates included.
        tests: Python code that sees the source's names; each `assert` statement at its top level, or each
            `test_…` function and each assert in a `check(candidate)`, counts as a test. What unittest,
            doctest or pytest collect besides is run by these, pytest where the environment has it; where it
            does not, the failure class is `tests_not_run` where it would be `ok`, as where there is no test.
            Of a program in JavaScript they are JavaScript: assertions of node:assert, console.assert, and
            `test` and `describe` of node:test.
        entry_point: with tests in HumanEval's form, the function handed to `check`.
        files: laid into the work directory first, by relative path.
        stdin: what the program reads.
    """

    language: str
    source: str
    tests: str | None = None
    entry_point: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    limits: Limits = Limits()
    fixtures: Fixtures = Fixtures()


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as the guest reported it: for people; never the ground of an `unsafe` or `killed` verdict.

    Attributes:
        type: the class's name; `chain` holds those behind it (`__cause__`, `__context__`), nearest first.
        line: in the program's source, where known.
    """

    type: str
    message: str
    chain: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of a program.

    Attributes:
        exit_code: None where a signal ended it, or where it is a step of a session that goes on.
        signal: the number of the signal that ended it.
        stdout, stderr: what was kept; `stdout_cut`, `stderr_cut` say that more was written.
        peak_memory_bytes: of the whole tree, less the warm interpreter's own.
        attempts: in order, each distinct one once. Where there were more than are kept, those beyond are one
            of each kind with the target `(others)`, and `attempts_whole` is False.
        notes: what crosses no boundary, and explains what the program found or left.
        files: what the program left in its work directory: size in bytes by relative path.
        raised: the exception that ended it, as the guest reported it.
        result: JSON form of the value of the last expression, where the program was a session's step;
            `result_text` is its `str()`, for values that have no JSON form too. Of a SQL script: `columns`,
            `rows` and `cut` (more rows than are kept) of its last query. A value that takes more than
            384 KiB as JSON has no JSON form.
        result_characters: of `str()` of the value where that takes more than 384 KiB as JSON: then
            `result_text` is its start, with a mark behind it.
        tests_passed, tests_total: None where the program had no tests.
        tests_failed: numbers, from 0 in the order of their names, of the first tests that did not pass.
        tests_skipped: numbers of tests that their author had skipped: they count neither way.
        tests_names: of the first 1,000 tests, in the order of their numbers.
        tests_apart: whether the program had no part in a result: the tests ran in an interpreter that it
            never had, and no method of its own decided a comparison. None without tests.
        reason: for `sandbox_unavailable`, what is missing and how to get it; for `tests_not_run`, what the
            tests have that is not run, and how to write it.
        tier: the wall it ran behind.
    """

    failure_class: FailureClass
    exit_code: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    stdout_cut: bool = False
    stderr_cut: bool = False
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    attempts: tuple[Attempt, ...] = ()
    attempts_whole: bool = True
    notes: tuple[ExecutionNote, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)
    raised: Raised | None = None
    result: JsonValue = None
    result_text: str | None = None
    result_characters: int | None = None
    tests_passed: int | None = None
    tests_total: int | None = None
    tests_failed: tuple[int, ...] = ()
    tests_skipped: tuple[int, ...] = ()
    tests_names: tuple[str, ...] = ()
    tests_apart: bool | None = None
    reason: str | None = None
    tier: Tier = Tier.FULL


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call a snippet makes to one of the agent's tools; bounded JSON, so nothing in it is trusted."""

    tool: str
    args: tuple[JsonValue, ...]
    kwargs: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The host's answer: a result, or an exception to raise in the program.

    Attributes:
        error_type: the exception's class, with its module where known (`json.decoder.JSONDecodeError`). Where
            the session has that class it is raised, else one made for the name.
    """

    result: JsonValue = None
    error_type: str | None = None
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class ToolStub:
    """A tool that exists inside a session as a function of this name.

    Attributes:
        parameters: their names, in order, where known: a stub with parameters binds positional arguments
            to them and raises `TypeError` as the real function would; without, it takes anything.
    """

    name: str
    parameters: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """How a session is set up.

    Attributes:
        tools: stubs the host answers.
        files: laid into the work directory first.
        limits: `wall_s` and `cpu_s` hold per step, the rest for the session.
        imports: top-level modules its programs import, where known. A backend may have them loaded ahead;
            nothing else depends on it.
    """

    language: str = "python"
    tools: tuple[ToolStub, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    limits: Limits = Limits()
    fixtures: Fixtures = Fixtures()
    imports: tuple[str, ...] = ()
