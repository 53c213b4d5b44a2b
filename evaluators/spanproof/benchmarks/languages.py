"""Languages that answers are written in, and the sandbox program that runs one.

Python, JavaScript, TypeScript, bash and SQL are languages of every sandbox. Others are built and run by a
shell script where the sandbox finds their toolchain; where it does not, answers are unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from spanproof.sandbox import FailureClass, Limits, Program, Sandbox
from spanproof.sandbox.toolchains import TOOLCHAINS, build_script


@dataclass(frozen=True, slots=True)
class Language:
    """How a language is run.

    Attributes:
        runs: the sandbox's language.
        hello: a program that does nothing, to find out whether the toolchain is there; empty where none is
            needed.
        has_tests: whether tests in this language are given to the sandbox apart from the answer.
        proof: the last statement, which prints `{token}`: shows that the tests were reached and came to their
            end. Empty where a program cannot be continued so; then its exit code decides.
    """

    runs: str
    hello: str = ""
    has_tests: bool = False
    proof: str = ""


LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language("python", has_tests=True),
    "javascript": Language("javascript", has_tests=True),
    "typescript": Language("typescript", has_tests=True),
    "bash": Language("bash", proof="\nprintf '\\n%s\\n' {token}\n"),
    "sql": Language("sql"),
    "cpp": Language("cpp", hello="int main() {}"),
    "rust": Language("rust", hello="fn main() {}"),
    "go": Language("go", hello='package main\nimport "testing"\nfunc TestNothing(t *testing.T) {}\n'),
    "java": Language("java", hello="class Main { public static void main(String[] a) {} }"),
    "php": Language("php", hello="<?php"),
    "r": Language("r", hello="NULL"),
    "ruby": Language("ruby", hello="nil"),
    "scala": Language("scala", hello="object Main { def main(a: Array[String]): Unit = {} }"),
    "swift": Language("swift", hello="let nothing = 0"),
}

ALIASES: Final[Mapping[str, str]] = {
    "py": "python", "python3": "python", "js": "javascript", "ts": "typescript", "sh": "bash",
    "shell": "bash", "c++": "cpp", "rs": "rust", "go_test.go": "go", "golang": "go", "rb": "ruby",
}  # fmt: skip

_found: WeakKeyDictionary[Sandbox, dict[str, str]] = WeakKeyDictionary()
_finding = Lock()


def get_language(name: str) -> str:
    """Return our name of a language; a name that is not known stays as it is."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, lowered)


def build_program(language: str, source: str, limits: Limits) -> Program:
    """Return the program that runs a source in one of `LANGUAGES`."""
    how = LANGUAGES[language]
    program = Program(how.runs, source, limits=limits)
    if how.runs not in TOOLCHAINS:
        return program
    # The script itself: it runs on every backend that has bash.
    return build_script(replace(program, limits=replace(limits, cpu_s=limits.wall_s * 2)))


def describe_missing(language: str, sandbox: Sandbox) -> str:
    """Return why the sandbox cannot run a language, as a sentence; empty where it can."""
    how = LANGUAGES.get(language)
    if how is None:
        return f"answers in {language} cannot be run; known are {', '.join(LANGUAGES)}"
    shell = "bash" if how.runs in TOOLCHAINS else how.runs
    if shell not in sandbox.languages:
        return f"the backend {sandbox.name} runs no {shell}"
    if not how.hello:
        return ""
    with _finding:
        problems = _found.setdefault(sandbox, {})
        if language not in problems:
            tried = sandbox.run(build_program(language, how.hello, Limits(wall_s=30)))
            needed = " and ".join(TOOLCHAINS[how.runs].tools)
            works = tried.failure_class is FailureClass.OK
            problems[language] = "" if works else f"the sandbox has no toolchain for {language}: {needed}"
        return problems[language]
