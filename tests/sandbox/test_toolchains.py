"""Languages of toolchains: found where they are, built, run, and classified, in the real jail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spanproof.sandbox import (
    Attempt,
    AttemptKind,
    Execution,
    FailureClass,
    Program,
    Sandbox,
    UnsupportedLanguage,
)
from spanproof.sandbox.backends.jail import probe
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.run import job
from spanproof.sandbox.toolchains import TOOLCHAINS, build_script, read_outcome, select_toolchains

ECHO = {
    "cpp": "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n + 1 << std::endl; }",
    "java": "public class Adder {\n  public static void main(String[] a) throws Exception {\n"
    "    System.out.println(new java.util.Scanner(System.in).nextInt() + 1);\n  }\n}\n",
    "php": "<?php echo trim(fgets(STDIN)) + 1, PHP_EOL;",
    "r": 'cat(as.integer(readLines(file("stdin"), 1)) + 1L, "\\n", sep = "")',
    "ruby": "puts gets.to_i + 1",
    "rust": "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap();"
    ' println!("{}", s.trim().parse::<i32>().unwrap() + 1); }',
}
UNFINISHED = {
    "cpp": "int main() {",
    "java": "class A {",
    "php": "<?php echo (;",
    "r": "x <- (",
    "ruby": "def f(",
    "rust": "fn main() {",
}
RAISES = {
    "cpp": '#include <stdexcept>\nint main() { throw std::runtime_error("x"); }',
    "php": '<?php throw new Exception("x");',
    "ruby": 'raise "x"',
    "r": 'stop("x")',
}


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox("jail") as sandbox:
        yield sandbox


@pytest.mark.parametrize("language", sorted(ECHO))
def test_a_program_is_built_reads_its_input_and_attempts_nothing(jail, language):
    ran = jail.run(Program(language, ECHO[language], stdin=b"41\n"))
    assert (ran.failure_class, ran.stdout, ran.stderr, ran.attempts) == (FailureClass.OK, "42\n", "", ())


@pytest.mark.parametrize("language", sorted(UNFINISHED))
def test_a_source_that_does_not_build_is_a_syntax_error_with_what_its_compiler_says(jail, language):
    ran = jail.run(Program(language, UNFINISHED[language]))
    assert ran.failure_class is FailureClass.SYNTAX_ERROR
    assert ran.stdout == ""
    assert ran.stderr


@pytest.mark.parametrize("language", sorted(RAISES))
def test_a_program_that_fails_has_raised_an_exception(jail, language):
    assert jail.run(Program(language, RAISES[language])).failure_class is FailureClass.EXCEPTION


def test_what_a_program_attempts_is_recorded_beside_its_build(jail):
    source = '#include <fstream>\nint main() { return std::ifstream("/etc/shadow").good() ? 0 : 1; }'
    ran = jail.run(Program("cpp", source))
    assert ran.failure_class is FailureClass.PERMISSION_DENIED
    assert [(each.kind, each.target, each.allowed) for each in ran.attempts] == [
        (AttemptKind.FILE, "/etc/shadow", False)
    ]


def test_only_languages_whose_every_tool_is_there_are_found():
    assert select_toolchains(lambda name: None) == frozenset()
    assert select_toolchains(lambda name: f"/usr/bin/{name}") == TOOLCHAINS.keys()
    assert "java" not in select_toolchains(lambda name: None if name == "javac" else name), "no compiler"


def test_a_language_without_its_toolchain_is_refused_with_what_it_needs(monkeypatch):
    monkeypatch.setattr(job, "select_toolchains", frozenset)
    with open_sandbox("jail") as jail, pytest.raises(UnsupportedLanguage, match="it needs rustc and cc"):
        jail.run(Program("rust", "fn main() {}"))


def test_doctor_names_each_language_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr(probe, "select_toolchains", lambda: frozenset({"go"}))
    features = {each.name: each for each in probe._iter_toolchain_features()}
    assert features.keys() == TOOLCHAINS.keys()
    assert features["go"].present
    assert (features["rust"].present, features["rust"].required) == (False, False)
    assert "rustc" in features["rust"].remedy


def test_a_go_source_without_a_main_function_is_run_by_its_tests():
    with_main = build_script(Program("go", "package main\nfunc main() {}\n"))
    tests = build_script(Program("go", 'package main\nimport "testing"\nfunc TestA(t *testing.T) {}\n'))
    assert "main.go" in with_main.files
    assert "main_test.go" in tests.files
    assert "go test" in tests.source


def test_a_java_file_has_the_name_of_its_public_class():
    assert build_script(Program("java", "public final class Till {}")).files.keys() == {"Till.java"}
    assert build_script(Program("java", "class Till {}")).files.keys() == {"Main.java"}


def test_of_the_attempts_only_the_toolchains_own_are_left_out():
    own = Attempt(AttemptKind.PROCESS, "/usr/bin/as", allowed=True)
    shell = Attempt(AttemptKind.PROCESS, "/usr/bin/curl", allowed=True)
    refused = Attempt(AttemptKind.PROCESS, "/box/work/as", allowed=False)
    namesake = Attempt(AttemptKind.PROCESS, "/box/work/as", allowed=True)
    built = Attempt(AttemptKind.PROCESS, "/box/work/main", allowed=True)
    ran = Execution(FailureClass.OK, attempts=(own, shell, refused, namesake, built))
    assert read_outcome(Program("cpp", ""), ran, None).attempts == (shell, refused, namesake)


def test_what_a_program_of_r_starts_is_recorded_beside_what_r_starts(jail):
    source = "invisible(system('rm -f x; grep -q y z; ls', ignore.stderr = TRUE))"
    targets = {each.target: each.count for each in jail.run(Program("r", source)).attempts}
    assert targets == {"/bin/sh": 1, "/usr/bin/rm": 1, "/usr/bin/grep": 1, "/usr/bin/ls": 1}
    assert jail.run(Program("r", "cat(1)")).attempts == ()


@pytest.mark.parametrize(
    ("language", "source"),
    [("ruby", "system('ruby', '-e', '1')"), ("php", "<?php exec('php -n -r 1;');")],
)
def test_an_interpreter_that_starts_itself_again_is_on_record(jail, language, source):
    started = {
        each.target.rpartition("/")[2]: each.count for each in jail.run(Program(language, source)).attempts
    }
    assert started[language] == 1


@pytest.mark.parametrize(
    ("language", "source", "run"),
    [
        ("scala", "object Adder extends App {\n  println(1)\n}\n", "scala -cp .classes Adder"),
        ("swift", "print(1)\n", "./main"),
    ],
)
def test_scala_and_swift_are_built_and_then_run(language, source, run):
    script = build_script(Program(language, source))
    assert script.files[TOOLCHAINS[language].file] == source.encode()
    assert script.source.endswith(f"{run}\n")
    assert TOOLCHAINS[language].build in script.source


def test_caches_of_go_are_no_files_of_the_program():
    script = build_script(Program("go", "package main\nfunc main() {}\n")).source
    assert "GOCACHE=/tmp/" in script
    assert "GOPATH=/tmp/" in script
    assert "XDG_CONFIG_HOME=/tmp/" in script
