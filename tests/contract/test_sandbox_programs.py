# ruff: noqa: E501 - programs keep their lines
"""What `Sandbox` promises of a program, checked against each backend that runs programs on this machine."""

from __future__ import annotations

import time

import pytest

from spanproof.sandbox import (
    AttemptKind,
    Evidence,
    FailureClass,
    Limits,
    Program,
    Sandbox,
    SandboxBroken,
)
from spanproof.sandbox.backends.self_check.promises import PROMISES, Promise, evaluate_promise
from spanproof.sandbox.backends.self_check.recorded import RECORDED
from spanproof.sandbox.registry import open_sandbox

from .conftest import BACKENDS, PATIENT, SHORT, as_recorded, settings_of


@pytest.mark.parametrize("sandbox", BACKENDS, indirect=True, scope="module")
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_each_promise_is_kept(sandbox: Sandbox, promise: Promise) -> None:
    finding = evaluate_promise(promise, sandbox)
    assert finding.outcome != "broken", finding.detail
    if promise in RECORDED:
        assert finding.outcome == "kept", finding.detail


def test_a_program_that_ends_well_is_ok(sandbox: Sandbox) -> None:
    started = time.monotonic()
    execution = sandbox.run(Program("python", "import sys; print('out'); print('err', file=sys.stderr)"))
    took_s = time.monotonic() - started
    assert execution.failure_class is FailureClass.OK
    assert (execution.exit_code, execution.signal) == (0, None)
    assert (execution.stdout, execution.stderr) == ("out\n", "err\n")
    assert execution.attempts == ()
    assert 0 < execution.wall_s <= took_s


def test_the_cpu_time_reported_is_the_program_s_own_and_counted_once(sandbox: Sandbox) -> None:
    source = "import time\nwhile time.process_time() < 0.5: pass\nprint(time.process_time())"
    execution = sandbox.run(Program("python", source, limits=PATIENT))
    assert 0.3 < execution.cpu_s < float(execution.stdout) + 0.2


@pytest.mark.parametrize(
    ("source", "failure_class"),
    [
        ("def f(:", FailureClass.SYNTAX_ERROR),
        ("x = 'a\0b'", FailureClass.SYNTAX_ERROR),
        ("x = '\ud800'", FailureClass.SYNTAX_ERROR),
        ("assert 1 == 2, 'sums'", FailureClass.ASSERTION_FAILURE),
        ("import a_module_that_is_not_there", FailureClass.MISSING_DEPENDENCY),
        ("1 / 0", FailureClass.EXCEPTION),
        ("def f(n): return f(n + 1)\nf(0)", FailureClass.EXCEPTION),
        ("eval('1 +')", FailureClass.EXCEPTION),
        ("open('missing.csv')", FailureClass.EXCEPTION),
        ("raise SystemExit(3)", FailureClass.EXCEPTION),
        ("raise SystemExit(0)", FailureClass.OK),
        ("while True: pass", FailureClass.TIMEOUT),
        ("x = bytearray(10**12)", FailureClass.OUT_OF_MEMORY),
        ("raise MemoryError", FailureClass.EXCEPTION),
        ("import os; os.kill(os.getpid(), 9)", FailureClass.KILLED),
        ("open('/etc/shadow')", FailureClass.PERMISSION_DENIED),
        ("raise PermissionError('said so')", FailureClass.EXCEPTION),
        ("import os\ntry: open('/etc/shadow')\nexcept OSError: pass\n1 / 0", FailureClass.EXCEPTION),
        ("try: open('/etc/shadow')\nexcept OSError: pass\nopen('missing.csv')", FailureClass.EXCEPTION),
        ("import os; os.chroot('/')", FailureClass.UNSAFE_OPERATION),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", FailureClass.OUTPUT_LIMIT),
    ],
)
def test_each_end_has_its_failure_class(sandbox: Sandbox, source: str, failure_class: FailureClass) -> None:
    limits = SHORT if failure_class is FailureClass.TIMEOUT else PATIENT
    execution = sandbox.run(Program("python", source, limits=limits))
    assert execution.failure_class is as_recorded(sandbox, failure_class), execution


def test_what_was_raised_is_reported_with_its_line_and_its_chain(sandbox: Sandbox) -> None:
    source = "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('no a') from e\n"
    raised = sandbox.run(Program("python", source)).raised
    assert raised is not None
    assert (raised.type, raised.message, raised.chain, raised.line) == (
        "ValueError",
        "no a",
        ("KeyError",),
        4,
    )


def test_stdin_and_files_reach_the_program_and_what_it_leaves_is_listed(sandbox: Sandbox) -> None:
    source = "import os, sys\nos.makedirs('out')\nopen('out/sum.txt', 'w').write(open('in/a.txt').read() + input())"
    program = Program("python", source, files={"in/a.txt": b"12"}, stdin=b"345\n")
    execution = sandbox.run(program)
    assert execution.failure_class is FailureClass.OK, execution
    assert execution.files == {"in/a.txt": 2, "out/sum.txt": 5}


def test_a_large_stdin_and_a_large_source_arrive_whole(sandbox: Sandbox) -> None:
    source = "import sys; data = '" + "x" * 3_000_000 + "'; print(len(data), len(sys.stdin.read()))"
    assert sandbox.run(Program("python", source, stdin=b"y" * 2_000_000)).stdout == "3000000 2000000\n"


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
def test_a_file_outside_the_work_directory_is_refused(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ValueError, match="relative path"):
        sandbox.run(Program("python", "pass", files={name: b""}))


def test_cut_output_is_marked_and_keeps_its_start_and_end(sandbox: Sandbox) -> None:
    limits = Limits(output_bytes=1000)
    execution = sandbox.run(Program("python", "print('a' * 5000, 'the end')", limits=limits))
    assert execution.failure_class is FailureClass.OK
    assert execution.stdout_cut
    assert execution.stdout.startswith("aaa")
    assert execution.stdout.endswith("the end\n")
    assert "bytes cut" in execution.stdout
    assert len(execution.stdout) < 1100


def test_attempts_are_reported_once_each_and_in_order(sandbox: Sandbox) -> None:
    source = """
import socket, subprocess
for _ in range(3):
    try: socket.create_connection(("198.51.100.7", 443))
    except OSError: pass
try: open("/etc/shadow")
except OSError: pass
subprocess.run(["echo", "x"])
"""
    attempts = sandbox.run(Program("python", source)).attempts
    if Evidence.ATTEMPTS not in sandbox.evidence:
        assert attempts == ()
        return
    assert [(a.kind, a.target.rpartition("/")[2], a.allowed) for a in attempts] == [
        (AttemptKind.NETWORK, "198.51.100.7:443", False),
        (AttemptKind.FILE, "shadow", False),
        (AttemptKind.PROCESS, "echo", True),
    ]


TOOLS = """
for tool in git curl perl awk tar gzip sed find python3 node; do
    command -v $tool > /dev/null && $tool --version > /dev/null 2>&1 < /dev/null
done
if command -v git > /dev/null; then git init -q repository; fi
python3 -c 'import socket; print(socket.gethostbyname(socket.gethostname()))'
"""


def test_what_common_tools_look_for_by_themselves_is_no_refused_attempt(sandbox: Sandbox) -> None:
    execution = sandbox.run(Program("bash", TOOLS, limits=PATIENT))
    assert execution.failure_class is FailureClass.OK, execution
    refused = {attempt.target for attempt in execution.attempts if not attempt.allowed}
    # curl's libsasl writes to the system's log where an image, as that of the tests, has none of its plug-ins.
    assert refused <= {"/dev/log"}


def test_two_plain_runs_draw_different_random_numbers(sandbox: Sandbox) -> None:
    program = Program("python", "import random; print(random.random())")
    assert sandbox.run(program).stdout != sandbox.run(program).stdout


def test_bash_runs_with_its_own_failure_classes(sandbox: Sandbox) -> None:
    def bash(source: str, limits: Limits = PATIENT) -> FailureClass:
        return sandbox.run(Program("bash", source, limits=limits)).failure_class

    assert sandbox.run(Program("bash", "echo $((1 + 2)); cat a", files={"a": b"x"})).stdout == "3\nx"
    assert bash("exit 3") is FailureClass.EXCEPTION
    assert bash("no_such_command_here") is FailureClass.MISSING_DEPENDENCY
    assert bash("if then fi") is FailureClass.SYNTAX_ERROR
    assert bash("while :; do :; done", SHORT) is FailureClass.TIMEOUT
    assert bash("cat /etc/shadow") is as_recorded(sandbox, FailureClass.PERMISSION_DENIED)


def test_sql_runs_statement_by_statement(sandbox: Sandbox) -> None:
    script = "create table t (a, b); insert into t values (1, 'x;y'), (2, null);\nselect * from t order by a;"
    assert sandbox.run(Program("sql", script)).stdout == "1|x;y\n2|\n"
    assert sandbox.run(Program("sql", "selec 1")).failure_class is FailureClass.SYNTAX_ERROR
    assert sandbox.run(Program("sql", "select * from missing")).failure_class is FailureClass.EXCEPTION


@pytest.mark.parametrize("source", ["ATTACH '/etc/passwd' AS x", "VACUUM INTO '/usr/x.db'"])
def test_sql_that_reaches_outside_is_refused_permission(sandbox: Sandbox, source: str) -> None:
    execution = sandbox.run(Program("sql", source))
    assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution


@pytest.mark.parametrize("backend", BACKENDS)
def test_closing_twice_is_safe_and_a_closed_sandbox_says_so(
    backend: str, request: pytest.FixtureRequest
) -> None:
    opened = open_sandbox(backend, settings=settings_of(backend, request))
    opened.close()
    opened.close()
    with pytest.raises(SandboxBroken, match="closed"):
        opened.run(Program("python", "1"))
