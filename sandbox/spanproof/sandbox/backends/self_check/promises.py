"""What every backend promises, as checks that anyone can run against any backend.

In: an open `Sandbox`. Out: one `Finding` per promise: kept, broken (with what came instead), or not
applicable because the backend has no such language or does not report what the promise is about. Used by
`spanproof sandbox check` and by the contract tests; who writes a backend of their own calls
`check(MyBackend())`. Needs no test framework, and never raises for a backend's failing.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from spanproof.sandbox.backend import Evidence, Sandbox
from spanproof.sandbox.backends.self_check.promise import PATIENT, Broken, Finding, Promise, check_holds
from spanproof.sandbox.backends.self_check.quiet import QUIET
from spanproof.sandbox.backends.self_check.recorded import RECORDED
from spanproof.sandbox.backends.self_check.traces import TRACES
from spanproof.sandbox.errors import UnsupportedFixtures, UnsupportedLanguage
from spanproof.sandbox.model import (
    AttemptKind,
    Clock,
    Execution,
    FailureClass,
    Fixtures,
    Limits,
    Program,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)

__all__ = ["PROMISES", "Broken", "Finding", "Promise", "evaluate_promise", "iter_findings"]

# For what never ends by itself.
_SHORT = Limits(wall_s=1.0, cpu_s=1.0)


def iter_findings(sandbox: Sandbox) -> Iterator[Finding]:
    """Check every promise in turn, each on its own."""
    for promise in PROMISES:
        yield evaluate_promise(promise, sandbox)


def evaluate_promise(promise: Promise, sandbox: Sandbox) -> Finding:
    """Check one promise."""
    if promise.language not in sandbox.languages:
        detail = f"the backend does not run {promise.language}"
        return Finding(promise.name, promise.text, "not_applicable", detail)
    if promise.needs is not None and promise.needs not in sandbox.evidence:
        detail = f"the backend does not report {promise.needs.replace('_', ' ')}"
        return Finding(promise.name, promise.text, "not_applicable", detail)
    try:
        promise.check(sandbox)
    except (UnsupportedLanguage, UnsupportedFixtures) as problem:
        return Finding(promise.name, promise.text, "not_applicable", str(problem))
    except Exception as problem:  # noqa: BLE001 - whatever a backend does is a finding
        if isinstance(problem, Broken):
            reply = str(problem)
        else:
            reply = f"{type(problem).__name__}: {problem}"
        return Finding(promise.name, promise.text, "broken", reply)
    return Finding(promise.name, promise.text, "kept")


def _build_end_check(language: str, source: str, wanted: FailureClass) -> Callable[[Sandbox], None]:
    limits = _SHORT if wanted is FailureClass.TIMEOUT else PATIENT

    def verify(sandbox: Sandbox) -> None:
        execution = sandbox.run(Program(language, source, limits=limits))
        check_holds(
            execution.failure_class is wanted, f"{execution.failure_class} instead of {wanted}: {execution}"
        )

    return verify


def _build_print_check(source: str, wanted: str, **fields: object) -> Callable[[Sandbox], None]:
    def verify(sandbox: Sandbox) -> None:
        execution = sandbox.run(Program("python", source, **fields))  # type: ignore[arg-type]
        check_holds(
            execution.stdout == wanted, f"printed {execution.stdout!r} instead of {wanted!r}: {execution}"
        )

    return verify


def _check_streams(sandbox: Sandbox) -> None:
    execution = sandbox.run(Program("python", "import sys; print('out'); print('err', file=sys.stderr)"))
    found = (execution.exit_code, execution.signal, execution.stdout, execution.stderr)
    check_holds(found == (0, None, "out\n", "err\n"), execution)
    check_holds(execution.failure_class is FailureClass.OK and not execution.attempts, execution)


def _check_files_listed(sandbox: Sandbox) -> None:
    source = "import os; os.mkdir('out'); open('out/b', 'w').write(open('in/a').read() * 2)"
    execution = sandbox.run(Program("python", source, files={"in/a": b"12"}))
    check_holds(dict(execution.files) == {"in/a": 2, "out/b": 4}, execution)


def _check_paths(sandbox: Sandbox) -> None:
    for name in ("/etc/x", "../x", "a/../../x"):
        try:
            execution = sandbox.run(Program("python", "pass", files={name: b""}))
        except ValueError:
            continue
        raise Broken(f"the file name {name!r} was taken: {execution}")


def _check_output_bound(sandbox: Sandbox) -> None:
    execution = sandbox.run(Program("python", "print('a' * 50000)", limits=Limits(output_bytes=1000)))
    check_holds(execution.stdout_cut and len(execution.stdout) < 2000, execution)


def _check_nothing_shared(sandbox: Sandbox) -> None:
    # A name no one else has, and no other file of /tmp is looked for: some backends show the machine's own.
    left = f"/tmp/spanproof-left-{secrets.token_hex(8)}"  # noqa: S108 - inside the sandbox
    source = f"import builtins; builtins.x = 1; open('{left}', 'w'); open('x', 'w')"
    sandbox.run(Program("python", source))
    probe = f"import builtins, os; print(hasattr(builtins, 'x'), os.path.exists('{left}'), os.listdir('.'))"
    _build_print_check(probe, "False False []\n")(sandbox)


def _check_threads(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: sandbox.run(Program("python", f"print({n})")).stdout, range(8)))
    check_holds(found == [f"{n}\n" for n in range(8)], found)


def _build_refusal_check(source: str, kind: AttemptKind, target: str) -> Callable[[Sandbox], None]:
    def verify(sandbox: Sandbox) -> None:
        execution = sandbox.run(Program("python", source))
        reply = [a for a in execution.attempts if a.kind is kind and target in a.target and not a.allowed]
        check_holds("BREACH" not in execution.stdout and len(reply) == 1, execution)

    return verify


def _check_memory_reported(sandbox: Sandbox) -> None:
    source = "import time; x = bytearray(50_000_000); time.sleep(0.3)"
    execution = sandbox.run(Program("python", source))
    check_holds(40_000_000 < execution.peak_memory_bytes < 150_000_000, execution)


def _check_survivors(sandbox: Sandbox) -> None:
    source = "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(3600)"
    started = time.monotonic()
    execution = sandbox.run(Program("python", source, limits=PATIENT))
    took_s = time.monotonic() - started
    check_holds(took_s < 3600 and execution.failure_class is FailureClass.OK, f"{took_s:.1f} s: {execution}")


def _check_unknown_language(sandbox: Sandbox) -> None:
    try:
        execution = sandbox.run(Program("no-such-language", "x"))
    except UnsupportedLanguage as problem:
        check_holds("python" in str(problem), f"the error does not name the languages known: {problem}")
        return
    raise Broken(f"it ran: {execution}")


def _check_unrun_tests(sandbox: Sandbox) -> None:
    for tests in ("# none", "def load_tests(loader, tests, pattern): return tests\n"):
        execution = sandbox.run(Program("python", "def f(x): return x + 1", tests=tests, entry_point="f"))
        check_holds(execution.failure_class is FailureClass.TESTS_NOT_RUN, execution)
        check_holds(bool(execution.reason), "it does not say why")


def _build_test_check(
    source: str, passed: int, tests: str, entry_point: str | None = None
) -> Callable[[Sandbox], None]:
    def verify(sandbox: Sandbox) -> None:
        execution = sandbox.run(Program("python", source, tests=tests, entry_point=entry_point))
        check_holds((execution.tests_passed, execution.tests_total) == (passed, 2), execution)
        check_holds((execution.failure_class is FailureClass.OK) == (passed == 2), execution)

    return verify


def _handle_tool(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(error_type="LookupError", error_message=request.tool)


def _check_session_state(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), _handle_tool) as session:
        session.execute("x = [1, 2]")
        failed: Execution = session.execute("x.append(3)\n1 / 0")
        check_holds(failed.failure_class is FailureClass.EXCEPTION, failed)
        step = session.execute("x")
        check_holds(step.result == [1, 2, 3] and step.exit_code is None, step)


def _check_session_repeats(sandbox: Sandbox) -> None:
    # The clock runs on: how long a session takes to start is no difference between two of them.
    source = "import random, time, uuid\n"
    source += "[random.random(), 0 <= time.time() - 1.7e9 < 60, str(uuid.uuid4()), hash('a')]"
    found = []
    for _ in range(2):
        with sandbox.session(
            SessionSpec(fixtures=Fixtures(seed=7, clock=Clock(1.7e9))), _handle_tool
        ) as session:
            found.append(session.execute(source).result)
    reply = found[0]
    check_holds(type(reply) is list and reply[1] is True and reply == found[1], found)


def _check_run_repeats(sandbox: Sandbox) -> None:
    source = "import os, random, time; print(random.random(), os.urandom(4).hex(), hash('a'))\n"
    source += "print(0 <= time.time() - 1.7e9 < 60)"
    program = Program("python", source, fixtures=Fixtures(seed=7, clock=Clock(1.7e9)))
    found = [sandbox.run(program).stdout for _ in range(2)]
    check_holds(found[0] == found[1] and found[0].endswith("True\n"), found)


def _check_tools_answered(sandbox: Sandbox) -> None:
    requests: list[ToolRequest] = []

    def answer(request: ToolRequest) -> ToolAnswer:
        requests.append(request)
        return ToolAnswer(result={"rows": [1]})

    with sandbox.session(SessionSpec(tools=(ToolStub("t", ("key",)),)), answer) as session:
        step = session.execute("t('a')['rows']")
    check_holds(step.result == [1] and requests == [ToolRequest("t", (), {"key": "a"})], (step, requests))


_CHECK = "def check(c):\n    assert c(1) == 2\n    assert c(2) == 3\n"
_FORGED = (
    "import gc, os\ndef f(x):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Reporter':\n"
    "            for n in (0, 1): o.send('test', number=n, passed=True)\n    os._exit(0)"
)
_CLASSES = (
    ("def f(:", FailureClass.SYNTAX_ERROR),
    ("assert 1 == 2", FailureClass.ASSERTION_FAILURE),
    ("import a_module_that_is_not_there", FailureClass.MISSING_DEPENDENCY),
    ("raise PermissionError('said so')", FailureClass.EXCEPTION),
    ("raise SystemExit(3)", FailureClass.EXCEPTION),
    ("while True: pass", FailureClass.TIMEOUT),
    ("x = bytearray(10**12)", FailureClass.OUT_OF_MEMORY),
    ("import os; os.kill(os.getpid(), 9)", FailureClass.KILLED),
    ("open('/etc/shadow')", FailureClass.PERMISSION_DENIED),
    # No container's profile refuses this one before it can be reported, as some do `chroot`.
    (
        "from socket import *\ntry: socket(AF_PACKET, SOCK_RAW)\nexcept OSError: pass",
        FailureClass.UNSAFE_OPERATION,
    ),
    ("import os\nwhile True: os.write(1, b'x' * 65536)", FailureClass.OUTPUT_LIMIT),
)
_NO_FILE = "/a-directory-that-is-not-there/a-file"
_READS_NOTHING = {
    "python": f"open('{_NO_FILE}')",
    "bash": f"cat {_NO_FILE}",
    "javascript": f"require('fs').readFileSync('{_NO_FILE}')",
}
_BY_ATTEMPTS = frozenset({FailureClass.PERMISSION_DENIED, FailureClass.UNSAFE_OPERATION})

PROMISES: tuple[Promise, ...] = (
    Promise("streams", "output, errors and the exit code are kept apart", "python", _check_streams),
    *(
        Promise(
            f"class {wanted} {n}",
            f"{source.splitlines()[0]!r} … is {wanted}",
            "python",
            _build_end_check("python", source, wanted),
            Evidence.ATTEMPTS if wanted in _BY_ATTEMPTS else None,
        )
        for n, (source, wanted) in enumerate(_CLASSES)
    ),
    *(
        Promise(
            f"no such file, {language}",
            "to read a file that lies nowhere, inside or outside, fails as such, and is no refusal",
            language,
            _build_end_check(language, source, FailureClass.EXCEPTION),
        )
        for language, source in _READS_NOTHING.items()
    ),
    Promise(
        "stdin",
        "what is given as input is read",
        "python",
        _build_print_check("print(input())", "a\n", stdin=b"a\n"),
    ),
    Promise("files", "files are laid out, and what is left is listed", "python", _check_files_listed),
    Promise("file names", "no file is laid outside the work directory", "python", _check_paths),
    Promise("output bound", "long output is cut and marked", "python", _check_output_bound),
    Promise("nothing shared", "a run sees nothing of the one before", "python", _check_nothing_shared),
    Promise(
        "peak memory",
        "the most memory held is reported",
        "python",
        _check_memory_reported,
        Evidence.PEAK_MEMORY,
    ),
    Promise("threads", "many threads may run programs", "python", _check_threads),
    Promise("no survivors", "what a program leaves running is ended", "python", _check_survivors),
    Promise(
        "unknown language",
        "an unknown language is refused with those known",
        "python",
        _check_unknown_language,
    ),
    Promise(
        "network",
        "a connection is refused and reported",
        "python",
        _build_refusal_check(
            "import socket; socket.create_connection(('198.51.100.7', 443), 1); print('BREACH')",
            AttemptKind.NETWORK,
            "198.51.100.7:443",
        ),
        Evidence.ATTEMPTS,
    ),
    Promise(
        "outside files",
        "a file outside is refused and reported",
        "python",
        _build_refusal_check("print('BREACH', open('/etc/shadow').read())", AttemptKind.FILE, "/etc/shadow"),
        Evidence.ATTEMPTS,
    ),
    Promise(
        "tests", "each test counts", "python", _build_test_check("def f(x): return x + 1", 2, _CHECK, "f")
    ),
    Promise(
        "failing tests",
        "one failing test does not hide the rest",
        "python",
        _build_test_check("def f(x): return 2", 1, _CHECK, "f"),
    ),
    Promise(
        "tests not run",
        "tests of which none or not each is run are no success",
        "python",
        _check_unrun_tests,
    ),
    Promise(
        "early exit",
        "ending early passes no test",
        "python",
        _build_test_check("import os; os._exit(0)", 0, _CHECK, "f"),
    ),
    Promise(
        "forged tests",
        "a program cannot report its own tests",
        "python",
        _build_test_check(_FORGED, 0, _CHECK, "f"),
    ),
    Promise(
        "bash",
        "bash has its failure classes",
        "bash",
        _build_end_check("bash", "exit 3", FailureClass.EXCEPTION),
    ),
    Promise(
        "bash syntax",
        "bash that cannot be read is a syntax error",
        "bash",
        _build_end_check("bash", "if then fi", FailureClass.SYNTAX_ERROR),
    ),
    Promise(
        "sql syntax",
        "SQL that cannot be read is a syntax error",
        "sql",
        _build_end_check("sql", "selec 1", FailureClass.SYNTAX_ERROR),
    ),
    Promise(
        "javascript syntax",
        "JavaScript that cannot be read is a syntax error",
        "javascript",
        _build_end_check("javascript", "function (", FailureClass.SYNTAX_ERROR),
    ),
    Promise("session", "a session keeps its names over steps and exceptions", "python", _check_session_state),
    Promise(
        "determinism", "a session with a seed and a clock repeats itself", "python", _check_session_repeats
    ),
    Promise(
        "seed and clock", "a program with a seed and a clock repeats itself", "python", _check_run_repeats
    ),
    *TRACES,
    *RECORDED,
    *QUIET,
    Promise(
        "tools", "tool calls reach the host, and its answers the program", "python", _check_tools_answered
    ),
)
"""In the order they are checked."""
