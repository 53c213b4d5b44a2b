# ruff: noqa: E501 - programs keep their lines
"""A program is judged by its tests, and cannot pass them otherwise than by being right: on each backend."""

from __future__ import annotations

import pytest

from spanproof.sandbox import FailureClass, Program, Sandbox

from .conftest import PATIENT

FORGERIES = [
    "class E(int):\n    def __eq__(self, other): return True\ndef f(x): return E()",
    "class E:\n    def __eq__(self, other): return True\n    def __bool__(self): return True\ndef f(x): return E()",
    "import gc, os\ndef f(x):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Reporter':\n            for n in (0, 1): o.send('test', number=n, passed=True)\n    os._exit(0)",
    "import sys\nframe = sys._getframe()\nwhile frame:\n    for o in list(frame.f_locals.values()):\n        if type(o).__name__ == 'Reporter':\n            for n in (0, 1): o.send('test', number=n, passed=True)\n    frame = frame.f_back",
    "import sys\nm = sys.modules['spanproof.sandbox.guest.testing']\nold = m.Tally.record\nm.Tally.record = lambda s, n, p, /: old(s, n, True)\ndef f(x): return 0",
    "import sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        for name, o in list(frame.f_globals.items()):\n            if name.startswith('_record'): [o(n, True) for n in (0, 1)]\n        frame = frame.f_back\n    return 0",
    # the token of another run's report, looked for in every process's memory
    "import glob, json, os, re, struct\ndef f(x):\n    for path in glob.glob('/proc/[0-9]*'):\n        try: maps = open(path + '/maps').read(); memory = open(path + '/mem', 'rb', 0)\n        except OSError: continue\n        for line in maps.splitlines():\n            low, high = (int(n, 16) for n in line.split()[0].split('-'))\n            try: memory.seek(low); data = memory.read(high - low)\n            except (OSError, ValueError, OverflowError): continue\n            for token in set(re.findall(rb'[0-9a-f]{32}', data)):\n                for n in (0, 1):\n                    text = json.dumps({'kind': 'test', 'token': token.decode(), 'number': n, 'passed': True, 'parts': []}).encode()\n                    os.write(900, struct.pack('!II', len(text), 0) + text)\n    return 0",
    "import builtins\nbuiltins.abs = lambda x: 0\ndef f(x): return 0",
    "import os\ndef f(x):\n    os.fork()\n    os._exit(0)",
]


def test_top_level_asserts_and_test_functions_each_count(sandbox: Sandbox) -> None:
    tests = "assert f(1) == 2\nassert f(2) == 0\ndef test_zero():\n    assert f(0) == 1\ndef test_bad():\n    f('a')\n"
    execution = sandbox.run(Program("python", "def f(x): return x + 1", tests=tests))
    assert (execution.tests_passed, execution.tests_total) == (2, 4)
    assert execution.tests_failed == (1, 3)
    assert execution.failure_class is FailureClass.ASSERTION_FAILURE


def test_a_program_that_breaks_before_its_tests_is_reported_by_its_own_exception(sandbox: Sandbox) -> None:
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
    ("tests", "total", "reported"),
    [
        ("", 0, "no test that this runner collects"),
        ("print(f(7) == 9)", 0, "no test that this runner collects"),
        ("def check(c): pass", 0, "no test that this runner collects"),
        (
            "class TestF:\n    def help(self):\n        assert f(7) == 9",
            0,
            "no test that this runner collects",
        ),
    ],
)
def test_tests_of_which_none_or_not_each_is_run_are_no_success(
    sandbox: Sandbox, tests: str, total: int, reported: str
) -> None:
    execution = sandbox.run(Program("python", "def f(x): return 0", tests=tests, entry_point="f"))
    assert (execution.failure_class, execution.tests_total) == (FailureClass.TESTS_NOT_RUN, total)
    assert reported in (execution.reason or "")


@pytest.mark.parametrize(
    "tests",
    [
        "class TestF:\n    def test_a(self):\n        assert f(7) == 9",
        "assert f(7) == 0\ndef test_a(tmp_path):\n    assert f(7) == 9",
    ],
)
def test_what_pytest_collects_is_run_by_it_or_named(sandbox: Sandbox, tests: str) -> None:
    execution = sandbox.run(Program("python", "def f(x): return 0", tests=tests))
    if execution.failure_class is FailureClass.TESTS_NOT_RUN:
        assert "install pytest" in (execution.reason or "")
    else:
        assert execution.failure_class is FailureClass.ASSERTION_FAILURE
        assert execution.tests_names[-1].endswith("test_a")


def test_a_skip_that_its_author_wrote_is_reported_and_counts_neither_way(sandbox: Sandbox) -> None:
    tests = """
import unittest
class T(unittest.TestCase):
    @unittest.skip("not on this machine")
    def test_a(self):
        self.assertEqual(f(1), 5)
    def test_b(self):
        self.assertEqual(f(1), 0)
"""
    execution = sandbox.run(Program("python", "def f(x): return 0", tests=tests))
    assert execution.failure_class is FailureClass.OK
    assert [execution.tests_names[number] for number in execution.tests_skipped] == ["T::test_a"]
    assert (execution.tests_passed, execution.tests_failed) == (1, ())


@pytest.mark.parametrize(
    "tests",
    [
        "class Fake:\n    def read(self): return 3\ndef test_a():\n    assert f(Fake()) == 3",
        "from unittest import mock\ndef test_a():\n    assert f(mock.Mock(read=lambda: 3)) == 3",
    ],
)
def test_tests_that_hand_over_a_fake_share_the_interpreter_as_reported(sandbox: Sandbox, tests: str) -> None:
    execution = sandbox.run(Program("python", "def f(x): return x.read()", tests=tests))
    assert (execution.tests_passed, execution.tests_total) == (1, 1), execution
    assert execution.tests_apart is False


def test_a_comparison_that_the_program_decides_is_reported(sandbox: Sandbox) -> None:
    source = "class V:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == getattr(o, 'n', None)"
    execution = sandbox.run(Program("python", source, tests="assert V(1) == V(1)\nassert V(1) != V(2)"))
    assert (execution.tests_passed, execution.tests_apart) == (2, False)


@pytest.mark.parametrize(
    "skip", ["import unittest\n{}\n    raise unittest.SkipTest('slow')", "{}\n    raise SystemExit(0)"]
)
def test_a_test_that_skips_itself_does_not_pass(sandbox: Sandbox, skip: str) -> None:
    tests = f"assert f(1) == 0\n{skip.format('def test_a():')}"
    execution = sandbox.run(Program("python", "def f(x): return 0", tests=tests))
    assert (execution.tests_passed, execution.tests_total) == (1, 2)
    assert execution.failure_class is not FailureClass.OK


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
    tests = "assert f(1) == 1  # secret-123456"
    execution = sandbox.run(Program("python", source, tests=tests, limits=PATIENT))
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
        # The process that holds the tests is no child of the program's.
        (
            "import os\ntry: os.wait()\nexcept ChildProcessError: has_children = False",
            "assert has_children is False\nassert not has_children",
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
