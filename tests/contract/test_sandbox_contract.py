# ruff: noqa: E501 - programs keep their lines
"""Every promise of `Sandbox` and `Session`, checked against each backend that runs programs on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from spanproof.sandbox import (
    AttemptKind,
    Clock,
    Evidence,
    FailureClass,
    Fixtures,
    Foreseen,
    Limits,
    Program,
    Sandbox,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
    UnsupportedLanguage,
)
from spanproof.sandbox.backends.promises import PROMISES, Promise, check_one
from spanproof.sandbox.registry import availability, backend_names, open_sandbox

BACKENDS = backend_names()
"""All of ours: one that cannot run here fails its tests."""
TIER = os.environ.get("SPANPROOF_TESTED_TIER")
"""Of the jail alone, where it is given: see test_reduced_tier.py."""
if TIER:
    BACKENDS = ("jail",)
FORGERIES = [
    "class E(int):\n    def __eq__(self, other): return True\ndef f(x): return E()",
    "class E:\n    def __eq__(self, other): return True\n    def __bool__(self): return True\ndef f(x): return E()",
    "import gc, os\ndef f(x):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Reporter':\n            for n in (0, 1): o.send('test', number=n, passed=True)\n    os._exit(0)",
    "import sys\nframe = sys._getframe()\nwhile frame:\n    for o in list(frame.f_locals.values()):\n        if type(o).__name__ == 'Reporter':\n            for n in (0, 1): o.send('test', number=n, passed=True)\n    frame = frame.f_back",
    "import sys\nm = sys.modules['spanproof.sandbox.jail.guest.testing']\nold = m.Tally.record\nm.Tally.record = lambda s, n, p, /: old(s, n, True)\ndef f(x): return 0",
    "import sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        for name, o in list(frame.f_globals.items()):\n            if name.startswith('_record'): [o(n, True) for n in (0, 1)]\n        frame = frame.f_back\n    return 0",
    # the token of another run's report, looked for in every process's memory
    "import glob, json, os, re, struct\ndef f(x):\n    for path in glob.glob('/proc/[0-9]*'):\n        try: maps = open(path + '/maps').read(); memory = open(path + '/mem', 'rb', 0)\n        except OSError: continue\n        for line in maps.splitlines():\n            low, high = (int(n, 16) for n in line.split()[0].split('-'))\n            try: memory.seek(low); data = memory.read(high - low)\n            except (OSError, ValueError, OverflowError): continue\n            for token in set(re.findall(rb'[0-9a-f]{32}', data)):\n                for n in (0, 1):\n                    text = json.dumps({'kind': 'test', 'token': token.decode(), 'number': n, 'passed': True, 'parts': []}).encode()\n                    os.write(900, struct.pack('!II', len(text), 0) + text)\n    return 0",
    "import builtins\nbuiltins.abs = lambda x: 0\ndef f(x): return 0",
    "import os\ndef f(x):\n    os.fork()\n    os._exit(0)",
]
SHORT = Limits(wall_s=1.0, cpu_s=1.0)
"""For what never ends by itself; all else ends, however busy the machine is."""
PATIENT = Limits(wall_s=120.0, cpu_s=120.0)
CALLS_A_STEP = 10_000
"""Tool calls: their time is not the step's, so that their number is bounded."""


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    settings = settings_of(request.param, request)
    missing = availability(request.param, settings).missing
    assert not missing, missing
    with open_sandbox(request.param, workers=2, settings=settings) as opened:
        yield opened


def settings_of(backend: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """What a backend needs on this machine, started where it must be."""
    if backend == "docker":
        daemon = request.getfixturevalue("docker_daemon")
        return {"host": daemon.host, "image": daemon.image}
    if backend == "e2b":
        return dict(request.getfixturevalue("e2b_settings"))
    return {"tier": TIER} if backend == "jail" and TIER else {}


def as_told(sandbox: Sandbox, failure_class: FailureClass) -> FailureClass:
    """A class that rests on attempts; where they are not told, such a program has failed by itself."""
    by_attempts = failure_class in (FailureClass.PERMISSION_DENIED, FailureClass.UNSAFE_OPERATION)
    untold = by_attempts and Evidence.ATTEMPTS not in sandbox.tells
    return FailureClass.EXCEPTION if untold else failure_class


def no_tools(request: ToolRequest) -> ToolAnswer:
    raise AssertionError(f"no tool was expected: {request}")


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_each_promise_is_kept(sandbox: Sandbox, promise: Promise) -> None:
    finding = check_one(promise, sandbox)
    assert finding.outcome != "broken", finding.detail


def test_a_program_that_ends_well_is_ok(sandbox: Sandbox) -> None:
    started = time.monotonic()
    execution = sandbox.run(Program("python", "import sys; print('out'); print('err', file=sys.stderr)"))
    took_s = time.monotonic() - started
    assert execution.failure_class is FailureClass.OK
    assert (execution.exit_code, execution.signal) == (0, None)
    assert (execution.stdout, execution.stderr) == ("out\n", "err\n")
    assert execution.attempts == ()
    assert 0 < execution.wall_s <= took_s


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
    assert execution.failure_class is as_told(sandbox, failure_class), execution


def test_what_was_raised_is_told_with_its_line_and_its_chain(sandbox: Sandbox) -> None:
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


def test_attempts_are_told_once_each_and_in_order(sandbox: Sandbox) -> None:
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
    if Evidence.ATTEMPTS not in sandbox.tells:
        assert attempts == ()
        return
    assert [(a.kind, a.target.rpartition("/")[2], a.allowed) for a in attempts] == [
        (AttemptKind.NETWORK, "198.51.100.7:443", False),
        (AttemptKind.FILE, "shadow", False),
        (AttemptKind.PROCESS, "echo", True),
    ]


def test_runs_share_nothing(sandbox: Sandbox) -> None:
    sandbox.run(Program("python", "import builtins; builtins.x = 1; open('/tmp/x', 'w'); open('x', 'w')"))
    # Of /tmp only this file is asked for: an interpreter that lies under /tmp is seen there too.
    probe = "import builtins, os; print(hasattr(builtins, 'x'), os.path.exists('/tmp/x'), os.listdir('.'))"
    assert sandbox.run(Program("python", probe)).stdout == "False False []\n"


def test_two_plain_runs_draw_different_random_numbers(sandbox: Sandbox) -> None:
    program = Program("python", "import random; print(random.random())")
    assert sandbox.run(program).stdout != sandbox.run(program).stdout


def test_it_takes_calls_from_many_threads(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: sandbox.run(Program("python", f"print({n})")).stdout, range(12)))
    assert answers == [f"{n}\n" for n in range(12)]


def test_an_unknown_language_is_named_with_those_known(sandbox: Sandbox) -> None:
    with pytest.raises(UnsupportedLanguage, match="python"):
        sandbox.run(Program("cobol", "DISPLAY 'X'"))


def test_top_level_asserts_and_test_functions_each_count(sandbox: Sandbox) -> None:
    tests = "assert f(1) == 2\nassert f(2) == 0\ndef test_zero():\n    assert f(0) == 1\ndef test_bad():\n    f('a')\n"
    execution = sandbox.run(Program("python", "def f(x): return x + 1", tests=tests))
    assert (execution.tests_passed, execution.tests_total) == (2, 4)
    assert execution.tests_failed == (1, 3)
    assert execution.failure_class is FailureClass.ASSERTION_FAILURE


def test_a_program_that_breaks_before_its_tests_is_told_by_its_own_exception(sandbox: Sandbox) -> None:
    execution = sandbox.run(Program("python", "import no_such_module", tests="assert True"))
    assert (execution.tests_passed, execution.tests_total, execution.tests_failed) == (0, 1, (0,))
    assert execution.raised is not None
    assert execution.raised.type == "ModuleNotFoundError"
    assert execution.failure_class is FailureClass.MISSING_DEPENDENCY


def test_every_assert_of_check_counts_and_failing_ones_do_not_hide_the_rest(sandbox: Sandbox) -> None:
    tests = "def check(c):\n    assert c(1) == 2\n    assert c(2) == 9\n    for i in range(3):\n        assert c(i) == i + 1\n"
    execution = sandbox.run(Program("python", "def f(x): return x + 1", tests=tests, entry_point="f"))
    assert (execution.tests_passed, execution.tests_total) == (2, 3)


def test_a_check_that_is_called_by_the_tests_themselves_is_not_called_again(sandbox: Sandbox) -> None:
    tests = "def check(c):\n    print('once')\n    assert c(1) == 2\ncheck(f)\n"
    execution = sandbox.run(Program("python", "def f(x): return x + 1", tests=tests, entry_point="f"))
    assert (execution.stdout, execution.tests_passed) == ("once\n", 1)


@pytest.mark.parametrize(
    "source",
    [
        "import os; os._exit(0)",
        "import sys; sys.exit(0)",
        "def f(x):\n    import os; os._exit(0)",
        'print(\'{"kind": "test", "number": 0, "passed": true}\')\ndef f(x): raise SystemExit(0)',
        "import builtins; builtins.AssertionError = Exception\ndef f(x): return 0",
        "def f(x): return 0\ndef check(c): pass",
        "import json, os; json.dumps = os.write = print\ndef f(x): return 0",
        "def f(x): raise KeyboardInterrupt",
        *FORGERIES,
    ],
)
def test_a_program_cannot_pass_tests_by_simple_means(sandbox: Sandbox, source: str) -> None:
    tests = "def check(c):\n    assert c(1) == 2\n    assert c(2) == 3\n"
    execution = sandbox.run(Program("python", source, tests=tests, entry_point="f"))
    assert (execution.tests_passed, execution.tests_total) == (0, 2)
    assert execution.failure_class is not FailureClass.OK


def test_no_memory_of_a_program_s_holds_its_tests(sandbox: Sandbox) -> None:
    source = """
import re
def look():
    with open("/proc/self/mem", "rb", 0) as memory:
        for line in open("/proc/self/maps"):
            low, high = (int(n, 16) for n in line.split()[0].split("-"))
            try:
                memory.seek(low); data = memory.read(high - low)
            except (OSError, ValueError, OverflowError):
                continue
            print(*set(re.findall(rb"secret-[0-9]{6}|def loo[k]", data)))
look()
def f(x): look(); return x
"""
    execution = sandbox.run(Program("python", source, tests="assert f(1) == 1  # secret-123456"))
    assert (execution.tests_passed, execution.tests_total) == (1, 1), execution
    assert "secret-123456" not in execution.stdout
    assert execution.stdout.strip(), "it saw none of its memory"


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        (
            "class S(list):\n    def top(self): return self[-1]",
            "s = S()\ns.append(4)\nassert s.top() == 4\nassert s == [4]",
        ),
        ("def f(x): x.sort()", "x = [2, 1]\nf(x)\nassert x == [1, 2]\nassert f([]) is None"),
        (
            "class Bad(Exception): pass\ndef f(x): raise Bad('no')",
            "try: f(1)\nexcept Bad as e: assert str(e) == 'no'\nassert issubclass(Bad, Exception)",
        ),
        (
            "def f(g, x): return [g(i) for i in x]",
            "assert f(lambda n: n + 1, [1]) == [2]\nassert f(str, range(2)) == ['0', '1']",
        ),
        ("def f(n): yield from range(n)", "assert list(f(3)) == [0, 1, 2]\nassert sum(f(4)) == 6"),
        (
            "import enum\nclass C(enum.IntEnum): A = 1\ndef f(): return C.A",
            "assert f() is C.A\nassert f() == 1",
        ),
        (
            "from collections import namedtuple\nP = namedtuple('P', 'a b')\ndef f(): return P(1, 2)",
            "assert f().a == 1\nassert f() == (1, 2)",
        ),
        (
            "import numpy as np\ndef f(n): return np.arange(n)",
            "assert (f(3) == [0, 1, 2]).all()\nassert f(2).dtype == np.int64",
        ),
        ("def sum(a, b): return a * b", "assert sum(2, 3) == 6\nassert sum(1, 1) == 1"),
        (
            "def f(): return input()",
            "from unittest import mock\nwith mock.patch('builtins.input', return_value='x'):\n    assert f() == 'x'\n    assert f() != 'y'",
        ),
    ],
)
def test_what_honest_tests_do_with_a_program_s_values_works(
    sandbox: Sandbox, source: str, tests: str
) -> None:
    execution = sandbox.run(Program("python", source, tests=tests))
    assert (execution.tests_passed, execution.tests_total) == (2, 2), execution


def test_bash_runs_with_its_own_failure_classes(sandbox: Sandbox) -> None:
    def bash(source: str, limits: Limits = PATIENT) -> FailureClass:
        return sandbox.run(Program("bash", source, limits=limits)).failure_class

    assert sandbox.run(Program("bash", "echo $((1 + 2)); cat a", files={"a": b"x"})).stdout == "3\nx"
    assert bash("exit 3") is FailureClass.EXCEPTION
    assert bash("no_such_command_here") is FailureClass.MISSING_DEPENDENCY
    assert bash("if then fi") is FailureClass.SYNTAX_ERROR
    assert bash("while :; do :; done", SHORT) is FailureClass.TIMEOUT
    assert bash("cat /etc/shadow") is as_told(sandbox, FailureClass.PERMISSION_DENIED)


def test_sql_runs_statement_by_statement(sandbox: Sandbox) -> None:
    script = "create table t (a, b); insert into t values (1, 'x;y'), (2, null);\nselect * from t order by a;"
    assert sandbox.run(Program("sql", script)).stdout == "1|x;y\n2|\n"
    assert sandbox.run(Program("sql", "selec 1")).failure_class is FailureClass.SYNTAX_ERROR
    assert sandbox.run(Program("sql", "select * from missing")).failure_class is FailureClass.EXCEPTION


def test_a_session_keeps_its_names_and_gives_the_last_value(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), no_tools) as session:
        assert session.execute("x = [1, 2]").result_text is None
        step = session.execute("print('seen'); x.append(3); {'n': sum(x), 'x': x}")
        assert (step.result, step.stdout, step.exit_code) == ({"n": 6, "x": [1, 2, 3]}, "seen\n", None)
        assert session.execute("{1, 2}").result is None
        assert session.execute("{1, 2}").result_text == "{1, 2}"


def test_an_exception_ends_a_step_but_not_the_session(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), no_tools) as session:
        session.execute("x = 1")
        failed = session.execute("x = 2\n1 / 0")
        assert failed.failure_class is FailureClass.EXCEPTION
        assert failed.raised is not None
        assert failed.raised.line == 2
        assert session.execute("y = (").failure_class is FailureClass.SYNTAX_ERROR
        assert session.execute("assert x == 3").failure_class is FailureClass.ASSERTION_FAILURE
        denied = as_told(sandbox, FailureClass.PERMISSION_DENIED)
        assert session.execute("open('/etc/shadow')").failure_class is denied
        assert session.execute("x").attempts == ()
        assert session.execute("x").result == 2


def test_tools_are_answered_by_the_host(sandbox: Sandbox) -> None:
    asked: list[ToolRequest] = []

    def answer(request: ToolRequest) -> ToolAnswer:
        asked.append(request)
        if request.tool == "fails":
            return ToolAnswer(error_type=str(request.args[0]), error_message="as told")
        return ToolAnswer(result={"rows": [1, 2]})

    tools = (ToolStub("lookup", ("key", "limit")), ToolStub("fails"))
    with sandbox.session(SessionSpec(tools=tools), answer) as session:
        assert session.execute("lookup('a', limit=2)['rows']").result == [1, 2]
        assert session.execute("lookup('a', 1, 2)").raised is not None
        assert session.execute("lookup(object())").failure_class is FailureClass.EXCEPTION
        error = session.execute("fails('KeyError')").raised
        assert error is not None
        assert (error.type, error.message) == ("KeyError", "'as told'")
        session.execute("try: fails('RateLimited')\nexcept Exception as e: name = type(e).__name__")
        assert session.execute("name").result == "RateLimited"
    assert asked[0] == ToolRequest("lookup", (), {"key": "a", "limit": 2})
    assert [request.tool for request in asked] == ["lookup", "fails", "fails"]


class Asked:
    """Answers `price` by its item, and remembers what it was asked."""

    def __init__(self) -> None:
        self.items: list[object] = []

    def __call__(self, request: ToolRequest) -> ToolAnswer:
        self.items.append(request.args[0])
        return ToolAnswer(result=len(self.items))


def price_step(item: str, answer: int) -> Foreseen:
    return Foreseen(f"price({item!r})", [(ToolRequest("price", (item,), {}), ToolAnswer(result=answer))])


def test_what_was_foreseen_comes_out_as_if_it_were_not(sandbox: Sandbox) -> None:
    asked = Asked()
    with sandbox.session(SessionSpec(tools=(ToolStub("price"),)), asked) as session:
        steps = [price_step("a", 1), Foreseen("print('seen')\nx = 2"), price_step("b", 2)]
        session.foresee(steps)
        found = [session.execute(step.source) for step in steps]
        assert not session.is_ahead
        assert session.execute("x").result == 2
    assert [each.result for each in found] == [1, None, 2]
    assert [each.stdout for each in found] == ["", "seen\n", ""]
    assert asked.items == ["a", "b"]


def test_a_call_made_otherwise_than_foreseen_is_put_to_the_caller(sandbox: Sandbox) -> None:
    asked = Asked()
    with sandbox.session(SessionSpec(tools=(ToolStub("price"),)), asked) as session:
        otherwise = Foreseen("[price('a'), price('c'), price(True)]", price_step("a", 1).calls)
        steps = [otherwise, price_step("b", 4)]
        session.foresee(steps)
        assert [session.execute(step.source).result for step in steps] == [[1, 2, 3], 4]
    assert asked.items == ["a", "c", True, "b"]


def test_after_an_exception_nothing_foreseen_has_run(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), no_tools) as session:
        session.foresee([Foreseen("x = 1"), Foreseen("1 / 0"), Foreseen("x = 2")])
        session.execute("x = 1")
        assert session.execute("1 / 0").failure_class is FailureClass.EXCEPTION
        assert not session.is_ahead
        assert session.execute("x").result == 1


def test_a_foreseen_step_that_is_stopped_ends_the_session(sandbox: Sandbox) -> None:
    asked = Asked()
    spec = SessionSpec(limits=SHORT, tools=(ToolStub("price"),))
    with sandbox.session(spec, asked) as session:
        endless = Foreseen("price('a')\nwhile True: pass", price_step("a", 1).calls)
        session.foresee([Foreseen("x = 1"), endless, Foreseen("x = 2")])
        assert session.execute("x = 1").failure_class is FailureClass.OK
        assert session.execute(endless.source).failure_class is FailureClass.TIMEOUT
        assert asked.items == ["a"]
        with pytest.raises(SandboxBroken):
            session.execute("x = 2")


def test_a_stopped_step_ends_the_session(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(limits=SHORT), no_tools) as session:
        assert session.execute("while True: pass").failure_class is FailureClass.TIMEOUT
        with pytest.raises(SandboxBroken, match="over"):
            session.execute("1")


def test_a_session_repeats_itself(sandbox: Sandbox) -> None:
    spec = SessionSpec(fixtures=Fixtures(seed=7, clock=Clock(1_700_000_000.0)))
    source = "import random, time, datetime\n[random.random(), int(time.time()), datetime.date.today().isoformat(), hash('a')]"
    values = []
    for _ in range(2):
        with sandbox.session(spec, no_tools) as session:
            values.append(session.execute(source).result)
    assert values[0] == values[1]
    assert isinstance(values[0], list)
    assert values[0][1:3] == [1_700_000_000, "2023-11-14"]


def test_what_comes_from_the_operating_system_s_entropy_repeats_in_a_session(sandbox: Sandbox) -> None:
    source = "import numpy as np, os, secrets, uuid\n"
    source += "[str(uuid.uuid4()), secrets.token_hex(), os.urandom(4).hex(), float(np.random.default_rng().random())]"
    values = []
    for seed in (1, 1, 2):
        with sandbox.session(SessionSpec(fixtures=Fixtures(seed=seed)), no_tools) as session:
            values.append(session.execute(source).result)
    assert values[0] == values[1] != values[2]


def test_the_time_a_tool_takes_is_not_the_step_s(sandbox: Sandbox) -> None:
    limits = Limits(wall_s=3.0, cpu_s=3.0)

    def slow(request: ToolRequest) -> ToolAnswer:
        time.sleep(3.2)
        return ToolAnswer(result=1)

    with sandbox.session(SessionSpec(tools=(ToolStub("slow"),), limits=limits), slow) as session:
        assert session.execute("slow()").result == 1


def test_a_host_tool_that_raises_ends_the_session_and_is_not_swallowed(sandbox: Sandbox) -> None:
    def broken(request: ToolRequest) -> ToolAnswer:
        raise RuntimeError("the tape is torn")

    with sandbox.session(SessionSpec(tools=(ToolStub("t"),)), broken) as session:
        with pytest.raises(RuntimeError, match="torn"):
            session.execute("t()")
        with pytest.raises(SandboxBroken):
            session.execute("1")


@pytest.mark.parametrize(
    "source",
    [
        "while True: R.send('call', call=1, tool='t', args=[], kwargs={})",
        "for n in range(300): R.send('step', step=n, outcome='ok', result='forged'); R.send('ready')\nwhile True: pass",
    ],
)
def test_a_session_s_channel_cannot_be_abused(sandbox: Sandbox, source: str) -> None:
    find = "import gc\nR = next(o for o in gc.get_objects() if type(o).__name__ == 'Reporter')\n"
    spec = SessionSpec(tools=(ToolStub("t"),), limits=SHORT)
    asked: list[ToolRequest] = []

    def answer(request: ToolRequest) -> ToolAnswer:
        asked.append(request)
        return ToolAnswer(result=1)

    with sandbox.session(spec, answer) as session:
        first = session.execute(find + source)
        assert len(asked) <= CALLS_A_STEP
        if first.failure_class is not FailureClass.TIMEOUT:
            assert session.execute("40 + 2").result != "forged"


@pytest.mark.parametrize("source", ["ATTACH '/etc/passwd' AS x", "VACUUM INTO '/usr/x.db'"])
def test_sql_that_reaches_outside_is_refused_permission(sandbox: Sandbox, source: str) -> None:
    execution = sandbox.run(Program("sql", source))
    assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution


def test_closing_twice_is_safe_and_a_closed_sandbox_says_so(request: pytest.FixtureRequest) -> None:
    for name in BACKENDS:
        opened = open_sandbox(name, settings=settings_of(name, request))
        opened.close()
        opened.close()
        with pytest.raises(SandboxBroken, match="closed"):
            opened.run(Program("python", "1"))
