"""Languages that answers are written in, and the sandbox program that runs one.

Python, JavaScript, TypeScript, bash and SQL are languages of the sandbox. Others are compiled and run by a
shell script where the sandbox finds their toolchain; where it does not, answers are unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from spanproof.sandbox import FailureClass, Limits, Program, Sandbox

_PATHS: Final = 'export HOME="$PWD" PATH="$PATH:/usr/local/go/bin:/usr/local/cargo/bin"; '


@dataclass(frozen=True, slots=True)
class Language:
    """How a language is run.

    Attributes:
        runs: the sandbox's language; `bash` for those that a script compiles.
        file: the source's name, for those.
        script: compiles and runs it.
        hello: a program that does nothing, to find out whether the toolchain is there.
        before_tests: put between the answer and its tests: prints `{token}` and its number for an assertion
            that fails where the language's own only warns.
        proof: the last statement, which prints `{token}`: shows that the tests were reached and came to their
            end. Empty where a program cannot be continued so; then its exit code decides.
    """

    runs: str
    file: str = ""
    script: str = ""
    hello: str = ""
    before_tests: str = ""
    proof: str = ""


_NODE_ASSERT: Final = (
    "\n;{{ let number = 0; console.assert = holds => {{"
    " if (!holds) process.stdout.write(`\\n{token} ${{number}}\\n`); number++; }}; }}\n"
)
_NODE_PROOF: Final = "\n;process.stdout.write('\\n{token}\\n');\n"

LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language("python"),
    "javascript": Language("javascript", before_tests=_NODE_ASSERT, proof=_NODE_PROOF),
    "typescript": Language("typescript", proof=_NODE_PROOF),
    "bash": Language("bash", proof="\nprintf '\\n%s\\n' {token}\n"),
    "sql": Language("sql"),
    "cpp": Language("bash", "main.cpp", "g++ -std=c++17 -O1 -o main main.cpp && ./main", "int main() {}"),
    "rust": Language("bash", "main.rs", "rustc -o main main.rs && ./main", "fn main() {}"),
    "go": Language(
        "bash",
        "main_test.go",
        'export GOCACHE="$PWD/cache" GOPATH="$PWD/go" GOFLAGS=-mod=mod; go test main_test.go',
        'package main\nimport "testing"\nfunc TestNothing(t *testing.T) {}\n',
    ),
    "java": Language(
        "bash",
        "Main.java",
        "java -ea Main.java",
        "class Main { static int x; public static void main(String[] a) {} }",
    ),
    "php": Language("bash", "main.php", "php main.php", "<?php"),
    "ruby": Language("bash", "main.rb", "ruby main.rb", ""),
}

ALIASES: Final[Mapping[str, str]] = {
    "py": "python", "python3": "python", "js": "javascript", "ts": "typescript", "sh": "bash",
    "shell": "bash", "c++": "cpp", "rs": "rust", "go_test.go": "go", "golang": "go", "rb": "ruby",
}  # fmt: skip

_COMPILED_MEMORY: Final = 2 * 1024**3
_found: WeakKeyDictionary[Sandbox, dict[str, str]] = WeakKeyDictionary()
_finding = Lock()


def name_language(name: str) -> str:
    """Return our name of a language; a name that is not known stays as it is."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, lowered)


def build_program(language: str, source: str, limits: Limits) -> Program:
    """Return the program that runs a source in one of `LANGUAGES`."""
    how = LANGUAGES[language]
    if not how.file:
        return Program(how.runs, source, limits=limits)
    wide = Limits(
        wall_s=limits.wall_s * 4,  # of compiling, too
        cpu_s=limits.wall_s * 8,
        memory_bytes=max(limits.memory_bytes, _COMPILED_MEMORY),
        disk_bytes=1024**3,
        processes=256,
    )
    files = {how.file: source.encode("utf-8", "surrogatepass")}
    return Program(how.runs, _PATHS + how.script, files=files, limits=wide)


def find_missing(language: str, sandbox: Sandbox) -> str:
    """Return why the sandbox cannot run a language, as a sentence; empty where it can."""
    how = LANGUAGES.get(language)
    if how is None:
        return f"answers in {language} cannot be run; known are {', '.join(LANGUAGES)}"
    if how.runs not in sandbox.languages:
        return f"the backend {sandbox.name} runs no {how.runs}"
    if not how.file:
        return ""
    with _finding:
        known = _found.setdefault(sandbox, {})
        if language not in known:
            tried = sandbox.run(build_program(language, how.hello, Limits(wall_s=30)))
            works = tried.failure_class is FailureClass.OK
            known[language] = (
                "" if works else f"the sandbox has no toolchain for {language}: `{how.script}` fails"
            )
        return known[language]
