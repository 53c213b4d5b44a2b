"""Each published format of code benchmarks: the right answer passes, a wrong one fails."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from tests.benchmarks.conftest import WriteRows, grade, grades, read_one

from spanproof.benchmarks import BENCHMARKS, BenchmarkError, Grade, GradingSetup, Source, read_problems
from spanproof.benchmarks.languages import describe_missing

HUMANEVAL = {
    "task_id": "Own/0",
    "prompt": 'def double(x: int) -> int:\n    """Twice x.\n    >>> double(2)\n    4\n    """\n',
    "entry_point": "double",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(3) == 6\n    assert candidate(0) == 0\n",
}


def test_humaneval_grades_completions_and_whole_answers(write_rows: WriteRows, place: GradingSetup) -> None:
    problem = read_one("humaneval", write_rows(HUMANEVAL))
    assert grades(problem, "    return 2 * x\n", place) == {"tests": "passed"}
    assert grades(problem, "    return x\n", place) == {"tests": "failed"}
    assert grades(problem, "def double(x):\n    return x + x\n", place, whole=True) == {"tests": "passed"}
    assert grade(problem, "    return x +\n", place)["tests"].failure == "syntax_error"


BODY = "def double(x):\n    return x + x\n"
FUTURE = "from __future__ import annotations\n"
MAIN = 'if __name__ == "__main__":\n'


@pytest.mark.parametrize(
    "answer",
    [
        f"{BODY}{MAIN}    print(double(int(input())))\n",
        f"import sys\n{BODY}{MAIN}    print(double(int(sys.argv[1])))\n",
        f"import sys\n{BODY}{MAIN}    sys.exit(double(1))\n",
        f"import unittest\n{BODY}{MAIN}    unittest.main()\n",
        f'"""Doubles."""\n{FUTURE}x = 1\n{BODY}{MAIN}    input()\n',
        f"{FUTURE}from dataclasses import dataclass\n@dataclass\nclass Pair:\n    first: int\n{BODY}",
    ],
)
def test_an_answer_is_imported_as_the_harnesses_do_it(
    write_rows: WriteRows, place: GradingSetup, answer: str
) -> None:
    problem = read_one("humaneval", write_rows(HUMANEVAL))
    assert grades(problem, answer, place, whole=True) == {"tests": "passed"}


@pytest.mark.parametrize(
    "end",
    [
        "input()\n",
        "try:\n    input()\nexcept EOFError:\n    pass\n",
        "import sys\nsys.exit(0)\n",
        "import sys\nsys.argv[9]\n",
    ],
)
def test_an_answer_that_cannot_be_imported_fails(
    write_rows: WriteRows, place: GradingSetup, end: str
) -> None:
    problem = read_one("humaneval", write_rows(HUMANEVAL))
    assert grades(problem, BODY + end, place, whole=True) == {"tests": "failed"}


@pytest.mark.parametrize(
    "cheat",
    [
        "    import os; os._exit(0)\n",
        "    return 2 * x\nraise SystemExit(0)\n",
        "    class Equal:\n        def __eq__(self, other): return True\n    return Equal()\n",
    ],
)
def test_answers_that_leave_or_equal_everything_fail(
    write_rows: WriteRows, place: GradingSetup, cheat: str
) -> None:
    problem = read_one("humaneval", write_rows(HUMANEVAL))
    assert grades(problem, cheat, place) == {"tests": "failed"}


@pytest.mark.parametrize(
    ("test", "reported"),
    [
        ("def check(candidate):\n    pass\n", "no test that this runner collects"),
        ("def check(candidate):\n    print(candidate(3) == 6)\n", "no test that this runner collects"),
        (f"{HUMANEVAL['test']}def load_tests(*given): pass\n", "function load_tests (line 4)"),
    ],
)
def test_a_problem_whose_tests_are_not_run_judges_nothing(
    write_rows: WriteRows, place: GradingSetup, test: str, reported: str
) -> None:
    problem = read_one("humaneval", write_rows({**HUMANEVAL, "test": test}))
    found = grade(problem, "    return 2 * x\n", place)["tests"]
    assert (found.grade, found.failure) == ("unjudged", "tests_not_run")
    assert reported in found.reason


def test_a_class_of_tests_beside_check_is_run_too(write_rows: WriteRows, place: GradingSetup) -> None:
    test = f"{HUMANEVAL['test']}class TestX:\n    def test_x(self): assert double(-4) == -8\n"
    problem = read_one("humaneval", write_rows({**HUMANEVAL, "test": test}))
    assert grades(problem, "    return 2 * x\n", place) == {"tests": "passed"}
    assert grades(problem, "    return 2 * abs(x)\n", place) == {"tests": "failed"}


def test_public_examples_are_those_of_the_docstring(write_rows: WriteRows, place: GradingSetup) -> None:
    problem = read_one("humaneval", write_rows(HUMANEVAL))
    assert problem.reference is not None
    tried = problem.evaluate_public(problem.reference, place)
    assert tried is not None
    assert tried.passed


def _javascript(test: str, task_id: str = "JavaScript/0") -> dict[str, Any]:
    return {
        "task_id": task_id,
        "prompt": "const double = (x) => {\n",
        "canonical_solution": "  return 2 * x\n}\n",
        "test": test,
        "example_test": "console.assert(double(1) === 2)\n",
    }


JAVASCRIPT = _javascript("console.assert(double(3) === 6)\nconsole.assert(double(0) === 0)\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("  return 2 * x\n}\n", "passed"),
        ("  return x\n}\n", "failed"),  # Node.js itself only warns of a failed console.assert
        ("  return 2 * x\n}\nprocess.exit(0)\n", "failed"),
        ("  return 2 *\n}\n", "failed"),
    ],
)
def test_humaneval_x_in_javascript(
    write_rows: WriteRows, place: GradingSetup, code: str, expected: str
) -> None:
    assert grades(read_one("humaneval-x", write_rows(JAVASCRIPT)), code, place) == {"tests": expected}


@pytest.mark.parametrize("language", ["javascript", "python"])
def test_tests_that_must_share_the_interpreter_can_be_refused(
    write_rows: WriteRows, place: GradingSetup, language: str
) -> None:
    if language == "javascript":
        row = _javascript("console.assert(double((x) => x) === 14)\n")
        name, code = "humaneval-x", "  return 2 * x(7)\n}\n"
    else:
        test = "class Seven:\n    def get(self):\n        return 7\n\n"
        test += "def check(candidate):\n    assert candidate(Seven()) == 14\n"
        row = {"task_id": "Own/0", "prompt": "def double(x):\n", "entry_point": "double", "test": test}
        row["canonical_solution"] = code = "    return 2 * x.get()\n"
        name = "humaneval"
    problem = read_one(name, write_rows(row))
    assert grades(problem, code, place) == {"tests": "passed"}
    found = grade(problem, code, replace(place, require_apart=True))["tests"]
    assert (found.grade, found.reason[:24]) == (Grade.UNJUDGED, "its tests share the answ")


def test_an_assertion_that_the_published_solution_fails_is_not_counted(
    write_rows: WriteRows, place: GradingSetup
) -> None:
    wrong = _javascript("console.assert(double(3) === 6)\nconsole.assert(double(1) === 3)\n")
    problem = read_one("humaneval-x", write_rows(wrong))
    found = grade(problem, "  return x + x\n}\n", place)["tests"]
    assert found.passed
    assert "published solution" in found.reason
    assert grades(problem, "  return x\n}\n", place) == {"tests": "failed"}


def test_humaneval_x_in_cpp(write_rows: WriteRows, place: GradingSetup) -> None:
    missing = describe_missing("cpp", place.sandbox)
    row = {
        "task_id": "CPP/0",
        "prompt": "#include <cassert>\nint twice(int x) {\n",
        "canonical_solution": "  return 2 * x;\n}\n",
        "test": "int main() { assert(twice(3) == 6); }\n",
    }
    problem = read_one("humaneval-x", write_rows(row))
    right, wrong = ("unjudged", "unjudged") if missing else ("passed", "failed")
    assert grades(problem, "  return 2 * x;\n}\n", place) == {"tests": right}
    assert grades(problem, "  return x;\n}\n", place) == {"tests": wrong}


def test_a_language_that_nothing_runs_is_unjudged(write_rows: WriteRows, place: GradingSetup) -> None:
    row = {"name": "own", "language": "jl", "prompt": "", "tests": ""}
    found = grade(read_one("multipl-e", write_rows(row)), "x = 1", place)["tests"]
    assert found.grade == "unjudged"
    assert "jl" in found.reason


MULTIPL_E = {
    "js": ("const twice = x => {\n", "  return 2 * x }\n", "require('node:assert').deepEqual(twice(3), 6)\n"),
    "ts": (
        "function twice(x: number): number {\n",
        "  return 2 * x }\n",
        "declare var require: any;\nrequire('node:assert').deepEqual(twice(3), 6)\n",
    ),
    "sh": ("twice() {\n", "  echo $((2 * $1))\n}\n", 'set -e\n[[ $(twice 3) = "6" ]]\n'),
    "py": ("def twice(x):\n", "    return 2 * x\n", "assert twice(3) == 6\n"),
}


@pytest.mark.parametrize("language", MULTIPL_E)
def test_multipl_e(write_rows: WriteRows, place: GradingSetup, language: str) -> None:
    prompt, right, tests = MULTIPL_E[language]
    row = {"name": "own", "language": language, "prompt": prompt, "tests": tests}
    problem = read_one("multipl-e", write_rows(row))
    assert grades(problem, right, place) == {"tests": "passed"}
    assert grades(problem, right.replace("2", "3"), place) == {"tests": "failed"}


def test_mbpp_with_challenges(write_rows: WriteRows, place: GradingSetup) -> None:
    row = {
        "task_id": 1,
        "text": "Write a function that doubles.",
        "code": "def double(x):\n    return 2 * x",
        "test_setup_code": "",
        "test_list": ["assert double(2) == 4"],
        "challenge_test_list": ["assert double(-1) == -2"],
    }
    problem = read_one("mbpp", write_rows(row))
    assert problem.reference is not None
    assert grades(problem, problem.reference.text, place, whole=True) == dict.fromkeys(
        ("challenge", "tests"), "passed"
    )
    only_base = "def double(x):\n    return abs(2 * x)"
    assert grades(problem, only_base, place, whole=True) == {"challenge": "failed", "tests": "passed"}


def test_evalplus_grades_base_and_plus(write_rows: WriteRows, place: GradingSetup) -> None:
    row = {
        **{key: HUMANEVAL[key] for key in ("prompt", "entry_point", "canonical_solution")},
        "task_id": "HumanEval/0",
        "base_input": [[1], [2]],
        "plus_input": [[-5]],
        "atol": 0,
    }
    problem = read_one("humaneval+", write_rows(row))
    assert grades(problem, "    return 2 * x\n", place) == {"plus": "passed", "base": "passed"}
    assert grades(problem, "    return abs(2 * x)\n", place) == {"plus": "failed", "base": "passed"}
    assert grades(problem, "    return x\n", place) == {"plus": "failed", "base": "failed"}


def test_evalplus_reads_types_and_tolerance_from_the_assertion(
    write_rows: WriteRows, place: GradingSetup
) -> None:
    row = {
        "task_id": "Mbpp/1",
        "prompt": '"""\nThe mean and the common items.\n"""\n',
        "entry_point": "f",
        "canonical_solution": "def f(a, b):\n    return sum(a) / 3, {*a} & {*b}",
        "base_input": [[[1, 2, 3], [2]]],
        "plus_input": [[[0.1, 0.2, 0.3], [5]]],
        "atol": 1e-6,
        "assertion": "assert f((1, 2, 3), (2,)) == (2.0, {2})",
    }
    problem = read_one("mbpp+", write_rows(row))
    right = "def f(a, b):\n    assert type(a) is tuple\n    return a[0]/3 + a[1]/3 + a[2]/3, set(a) & set(b)"
    assert grades(problem, right, place, whole=True) == {"plus": "passed", "base": "passed"}
    wrong = "def f(a, b):\n    return [sum(a) / 3, set(a) & set(b)]"
    assert grades(problem, wrong, place, whole=True) == {"plus": "failed", "base": "failed"}


def test_evalplus_without_a_sound_solution_is_unjudged(write_rows: WriteRows, place: GradingSetup) -> None:
    row = {
        "task_id": "HumanEval/0", "prompt": "def f():\n", "entry_point": "f",
        "canonical_solution": "    raise OSError\n", "base_input": [[]], "plus_input": [], "atol": 0,
    }  # fmt: skip
    assert set(grades(read_one("humaneval+", write_rows(row)), "    pass\n", place).values()) == {"unjudged"}


def _packed(tests: list[dict[str, str]]) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


def _contest(**fields: Any) -> dict[str, Any]:
    return {
        "question_id": "own_1", "question_content": "Add two numbers.", "platform": "own",
        "difficulty": "easy", "contest_date": "2025-01-05T00:00:00", "starter_code": "", "metadata": "{}",
        "public_test_cases": json.dumps([{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]),
        "private_test_cases": _packed([{"input": "2 2\n", "output": "4.0", "testtype": "stdin"}]),
        **fields,
    }  # fmt: skip


def test_livecodebench_by_streams(write_rows: WriteRows, place: GradingSetup) -> None:
    problem = read_one("livecodebench", write_rows(_contest()))
    assert problem.published == date(2025, 1, 5)
    assert grades(problem, "print(sum(map(int, input().split())))", place, whole=True) == {"tests": "passed"}
    assert grades(problem, "print(3)", place, whole=True) == {"tests": "failed"}


def test_livecodebench_by_calls(write_rows: WriteRows, place: GradingSetup) -> None:
    row = _contest(
        starter_code="class Solution:\n    def add(self, a: int, b: int) -> List[int]:\n",
        metadata='{"func_name": "add"}',
        public_test_cases=json.dumps([{"input": "1\n2", "output": "[3]", "testtype": "functional"}]),
        private_test_cases="[]",
    )
    problem = read_one("livecodebench", write_rows(row))
    answer = "class Solution:\n    def add(self, a: int, b: int) -> List[int]:\n        return (a + b,)"
    assert grades(problem, answer, place, whole=True) == {"tests": "passed"}
    assert grades(problem, answer.replace("+", "-"), place, whole=True) == {"tests": "failed"}


class _Hostile:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (print, ("unpickled",))


def test_a_pickle_that_names_a_function_is_refused(
    write_rows: WriteRows, capfd: pytest.CaptureFixture[str]
) -> None:
    packed = base64.b64encode(zlib.compress(pickle.dumps(_Hostile()))).decode()
    path = write_rows(_contest(private_test_cases=packed))
    with pytest.raises(BenchmarkError, match="it names builtins"):
        read_problems(BENCHMARKS["livecodebench"], Source(path))
    assert "unpickled" not in capfd.readouterr().out


BIG = {
    "task_id": "Own/1",
    "complete_prompt": "import json\n\ndef f(text):\n",
    "canonical_solution": "    return json.loads(text)\n",
    "test": (
        "import unittest\nfrom unittest.mock import patch\nclass TestCases(unittest.TestCase):\n"
        "    def test_list(self):\n        self.assertEqual(f('[1]'), [1])\n"
        "    @patch('json.loads', return_value=7)\n    def test_patched(self, _):\n"
        "        self.assertEqual(f('1'), 7)\n"
    ),
}


def test_bigcodebench_shares_the_interpreter_with_its_tests(
    write_rows: WriteRows, place: GradingSetup
) -> None:
    problem = read_one("bigcodebench", write_rows(BIG))
    assert grades(problem, "    return json.loads(text)\n", place) == {"tests": "passed"}
    found = grade(problem, "    return [1]\n", place)["tests"]
    assert (found.grade, "test_patched" in found.reason) == ("failed", True)


def test_a_package_that_the_tests_need_and_the_sandbox_lacks_is_unjudged(
    write_rows: WriteRows, place: GradingSetup
) -> None:
    row = {**BIG, "complete_prompt": "import no_such_package_at_all\ndef f(text):\n"}
    found = grade(read_one("bigcodebench", write_rows(row)), "    return 1\n", place)["tests"]
    assert (found.grade, "no_such_package_at_all" in found.reason) == ("unjudged", True)
