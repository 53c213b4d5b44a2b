"""Languages that a toolchain of the machine or the image runs, from C++ to Swift.

A program in one of them is a shell script that checks or builds the source and then runs it. Which toolchains
there are is looked up where programs run. A source that does not build is a `syntax_error`.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from spanproof.sandbox.model import Attempt, AttemptKind, Execution, FailureClass, Limits, Program

SEARCHED: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin:/usr/local/cargo/bin"
"""Where programs find toolchains: directories that guests see."""

_BUILD_FAILED: Final = 120
_MEMORY: Final = 2 * 1024**3
_DISK: Final = 1024**3
_PROCESSES: Final = 256
# Compiling takes this much more time than the program alone is given.
_SLOWER: Final = 4.0

_PRELUDE: Final = f'export HOME="$PWD" TMPDIR="$PWD" PATH="{SEARCHED}"\n'
_BUILD: Final = (
    'reported=$({{ {build}; }} 2>&1 </dev/null) || {{ printf "%s\\n" "$reported" >&2; '
    f"exit {_BUILD_FAILED}; }}}}\n"
)
_SYSTEM: Final = ("/bin", "/etc/alternatives")
_BUILT: Final = frozenset(("main", "main.test"))  # What a program is built as, in its own directory
_MAIN_OF_GO: Final = re.compile(r"^func\s+main\s*\(\s*\)", re.MULTILINE)
_OBJECT: Final = re.compile(r"^\s*object\s+(\w+)", re.MULTILINE)
_PUBLIC_CLASS: Final = re.compile(
    r"^\s*public\s+(?:(?:final|abstract|strictfp)\s+)*class\s+(\w+)", re.MULTILINE
)
# Without these the virtual machine looks for things beyond its files, which would count as attempts.
_QUIET: Final = (
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-DumpPrivateMappingsInCore", "-XX:-DumpSharedMappingsInCore"),
    *("-XX:-UsePerfData", "-XX:-UseContainerSupport"),
)
_JAVA: Final = " ".join(("java", "-ea", *_QUIET))
_JAVAC: Final = " ".join(("javac", *(f"-J{option}" for option in _QUIET), "-proc:none", "-d", ".classes"))


@dataclass(frozen=True, slots=True)
class Toolchain:
    """How a language is built and run.

    Attributes:
        file: the source's name.
        tools: programs that have to be there.
        build: checks or builds the source; empty where running it does.
        run: runs it.
        starts: names of programs that building and running start by themselves.
        package: of Debian, which has it.
        starts_evenly: whether it starts them equally often for each source: a program's own are those beyond.
    """

    file: str
    tools: tuple[str, ...]
    build: str
    run: str
    package: str
    starts: frozenset[str] = frozenset()
    starts_evenly: bool = False


# Caches and settings lie beside the work directory, which is the program's own: its files are looked at.
_GO_FOLDER: Final = "/tmp/spanproof-go"  # noqa: S108 - in the sandbox, where each run has a /tmp of its own
_GO_ENVIRONMENT: Final = (
    f"export GOCACHE={_GO_FOLDER}/cache GOPATH={_GO_FOLDER}/path XDG_CONFIG_HOME={_GO_FOLDER}/config"
    " GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOTELEMETRY=off CGO_ENABLED=0; "
)
_GO_STARTS: Final = frozenset(("go", "compile", "asm", "link", "main", "main.test"))

TOOLCHAINS: Final[Mapping[str, Toolchain]] = {
    "cpp": Toolchain(
        "main.cpp",
        ("g++",),
        "g++ -std=c++17 -O1 -o main main.cpp",
        "./main",
        "g++",
        frozenset(("g++", "cc1plus", "as", "collect2", "ld", "main")),
    ),
    "go": Toolchain(
        "main.go", ("go",), f"{_GO_ENVIRONMENT}go build -o main main.go", "./main", "golang-go", _GO_STARTS
    ),
    "java": Toolchain(
        "Main.java",
        ("java", "javac"),
        f"{_JAVAC} Main.java",
        f"{_JAVA} Main.java",
        "default-jdk-headless",
        frozenset(("java", "javac")),
    ),
    "php": Toolchain(
        "main.php",
        ("php",),
        "php -n -l main.php",
        "php -n main.php",
        "php-cli",
        frozenset(("php",)),
        starts_evenly=True,
    ),
    "r": Toolchain(
        "main.R",
        ("Rscript",),
        "Rscript -e 'invisible(parse(\"main.R\"))'",
        "Rscript main.R",
        "r-base-core",
        frozenset(("Rscript", "R", "sh", "sed", "uname", "rm", "grep", "which")),
        starts_evenly=True,
    ),
    "ruby": Toolchain(
        "main.rb",
        ("ruby",),
        "ruby -c main.rb",
        "ruby main.rb",
        "ruby",
        frozenset(("ruby",)),
        starts_evenly=True,
    ),
    "rust": Toolchain(
        "main.rs",
        ("rustc", "cc"),
        "rustc --edition 2021 -o main main.rs",
        "./main",
        "rustc",
        frozenset(("rustc", "cc", "collect2", "ld", "main")),
    ),
    "scala": Toolchain(
        "Main.scala",
        ("scala", "scalac", "java"),
        "mkdir -p .classes && scalac -d .classes Main.scala",
        "scala -cp .classes Main",
        "scala",
        frozenset(("scala", "scalac", "java", "mkdir", "uname", "sh", "bash", "tput", "stty")),
    ),
    "swift": Toolchain(
        "main.swift",
        ("swiftc",),
        "swiftc -o main main.swift",
        "./main",
        "swiftlang",
        frozenset(("swiftc", "swift-frontend", "swift-autolink-extract", "clang", "ld", "ld.gold", "main")),
    ),
}  # fmt: skip

# A Go source without a main function: its tests are what can be run.
_GO_TESTS: Final = replace(
    TOOLCHAINS["go"], file="main_test.go", build="", run=f"{_GO_ENVIRONMENT}go test -vet=off main_test.go"
)


def select_toolchains(which: Callable[[str], str | None] | None = None) -> frozenset[str]:
    """Return the languages all of whose programs are found, by default on the path that guests have."""
    look = which or (lambda name: shutil.which(name, path=SEARCHED))
    return frozenset(name for name, toolchain in TOOLCHAINS.items() if all(map(look, toolchain.tools)))


def build_script(program: Program) -> Program:
    """Return the shell script that runs a program in one of `TOOLCHAINS`, with room for its compiler."""
    how = _get_toolchain(program)
    build = _BUILD.format(build=how.build) if how.build else ""
    source = program.source.encode("utf-8", "surrogatepass")
    return replace(
        program,
        language="bash",
        source=f"{_PRELUDE}{build}{how.run}\n",
        files={**program.files, how.file: source},
        limits=_build_wide_limits(program.limits),
    )


class StartCounts:
    """How often the toolchains of one sandbox start what they start by themselves, for an empty program."""

    def __init__(self) -> None:
        self._counts: dict[str, Mapping[str, int]] = {}
        self._lock = threading.Lock()

    def find_counts(self, program: Program, run: Callable[[Program], Execution]) -> Mapping[str, int] | None:
        """Return counts by target, known from a run of its own the first time; None where they vary."""
        if not _get_toolchain(program).starts_evenly:
            return None
        with self._lock:
            if program.language not in self._counts:
                empty = run(build_script(Program(program.language, "", limits=program.limits)))
                if empty.failure_class is not FailureClass.OK:
                    return None
                self._counts[program.language] = {attempt.target: attempt.count for attempt in empty.attempts}
            return self._counts[program.language]


def read_outcome(program: Program, execution: Execution, start_counts: Mapping[str, int] | None) -> Execution:
    """Return the execution of such a script as its program's, without what the toolchain itself starts.

    Args:
        program: what was requested.
        execution: of the script.
        start_counts: how often the toolchain starts each program by itself; None where that is not known, and
            all starts of its programs count as its own.
    """
    starts = _get_toolchain(program).starts
    attempts = []
    for attempt in execution.attempts:
        if not _is_of_toolchain(attempt, starts):
            attempts.append(attempt)
        elif start_counts is not None and (beyond := attempt.count - start_counts.get(attempt.target, 0)) > 0:
            attempts.append(replace(attempt, count=beyond))
    did_not_build = execution.exit_code == _BUILD_FAILED and execution.failure_class is FailureClass.EXCEPTION
    if did_not_build:
        failure_class = FailureClass.SYNTAX_ERROR
    else:
        failure_class = execution.failure_class
    return replace(execution, attempts=tuple(attempts), failure_class=failure_class)


def _is_of_toolchain(attempt: Attempt, starts: frozenset[str]) -> bool:
    directory, _, name = attempt.target.rpartition("/")
    # A refused one under /usr is a step of the toolchain's own search: there is no such file.
    is_tool = directory.startswith("/usr/") or (attempt.allowed and directory in _SYSTEM)
    is_built = attempt.allowed and name in _BUILT
    return attempt.kind is AttemptKind.PROCESS and name in starts and (is_tool or is_built)


def _get_toolchain(program: Program) -> Toolchain:
    how = TOOLCHAINS[program.language]
    if program.language == "go" and not _MAIN_OF_GO.search(program.source):
        return _GO_TESTS
    if program.language == "scala" and (main := _OBJECT.search(program.source)) is not None:
        return replace(how, run=f"scala -cp .classes {main[1]}")
    if program.language == "java":
        named = _PUBLIC_CLASS.search(program.source)
    else:
        named = None
    if named is None:
        return how
    # The compiler demands that the file has the name of its public class.
    file = f"{named[1]}.java"
    return replace(how, file=file, build=f"{_JAVAC} {file}", run=f"{_JAVA} -cp .classes {named[1]}")


def _build_wide_limits(limits: Limits) -> Limits:
    return replace(
        limits,
        wall_s=limits.wall_s * _SLOWER,
        cpu_s=limits.cpu_s * _SLOWER,
        memory_bytes=max(limits.memory_bytes, _MEMORY),
        disk_bytes=max(limits.disk_bytes, _DISK),
        processes=max(limits.processes, _PROCESSES),
    )
