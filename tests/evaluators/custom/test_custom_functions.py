"""A user's function in the real sandbox: what it returns is checked, and its failure is never a 0."""

from __future__ import annotations

import pytest

from spanproof.evaluators.custom import Call, EvaluatorError, Function, evaluate
from spanproof.sandbox import FailureClass

EQUAL = {
    "python": """
def main(completion, target, **variables):
    print("hello")
    if completion == "raise":
        raise KeyError("nothing there")
    odd = {"nan": float("nan"), "nine": 9, "text": "1", "none": None}
    score = odd.get(str(completion), float(completion == target))
    return {"score": score, "explanation": variables.get("note", "")}
""",
    "typescript": """
export async function main({completion, target, note}: {completion: string, target?: string, note?: string}) {
    console.log("hello")
    if (completion === "raise") throw new RangeError("nothing there")
    const odd: Record<string, unknown> = {nan: NaN, nine: 9, text: "1", none: null}
    const score = String(completion) in odd ? odd[completion] : Number(completion === target)
    return {score, explanation: note ?? ""}
}
""",
    "javascript": """
const main = ({completion, target, note}) => {
    if (completion === "raise") throw new RangeError("nothing there")
    const odd = {nan: NaN, nine: 9, text: "1", none: null}
    const score = String(completion) in odd ? odd[completion] : Number(completion === target)
    return {score, explanation: note ?? ""}
}
""",
}


@pytest.mark.parametrize("language", EQUAL)
def test_each_call_gets_its_own_answer(jail, language):
    calls = [
        Call("a", "a", {"note": "same"}),
        Call("a", "b"),
        Call("raise"),
        *(Call(odd) for odd in ("nan", "nine", "text", "none")),
        Call({"x": [1, "\u2028é"]}, None),
    ]
    function = Function("equal", language, EQUAL[language])
    function.check()
    good, other, raised, *odd, last = evaluate(function, calls, jail)
    assert (good.score, good.explanation) == (1.0, "same")
    assert other.score == 0.0
    assert raised.score is None
    assert (raised.error_type, raised.message.strip("'")) == (
        "KeyError" if language == "python" else "RangeError",
        "nothing there",
    )
    assert [each.error_type for each in odd] == ["BadScore"] * 4
    assert last.score is not None


@pytest.mark.parametrize(
    ("source", "error_type"),
    [
        ("def main(c, t, **v):\n    while True: pass", "timeout"),
        ("def main(c, t, **v):\n    import os; os._exit(0)", "NoAnswer"),
        ("def main(c, t, **v):\n    import os; os.kill(os.getpid(), 9)", "killed"),
        ("def main(c, t, **v):\n    return 'x' * 10**10", "out_of_memory"),
        ("1 / 0\ndef main(c, t, **v): pass", "exception"),
        ("import nothing_of_this_name\ndef main(c, t, **v): pass", "missing_dependency"),
        ("def main(c, t, **v):\n    print('{\"answer\": 1}')\n    import os; os._exit(0)", "NoAnswer"),
    ],
)
def test_a_function_that_gives_no_answer_errs_with_the_reason(jail, source, error_type):
    timeout_s = 1.0 if error_type == "timeout" else 60.0
    (returned,) = evaluate(Function("bad", "python", source, timeout_s=timeout_s), [Call("c")], jail)
    assert returned.score is None
    assert returned.error_type in (error_type, "MemoryError")
    assert returned.message


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("while True: pass", "no answer within 1 s"),
        ("import time; time.sleep(60)", "no answer within 1 s"),
        ("return len(str(7 ** 10**8))", "no answer within 1 s"),
        ("raise SystemExit(3)", "it ended the program with exit code 3"),
        ("import os; os._exit(3)", "it ended the program with exit code 3"),
        ("return {'score': ['x' * 100_000]}", "longer than 16000 characters"),
        ("import os\n    while True: os.write(2, b'x' * 10**6)", "it printed more than 64 MiB"),
        ("import os; os.kill(os.getpid(), 9)", "it ended the program with signal 9"),
    ],
)
def test_the_reason_says_what_happened(jail, body, reported):
    source = f"def main(c, t, **v):\n    {body}"
    timeout_s = 1.0 if "within 1 s" in reported else 60.0
    (returned,) = evaluate(Function("bad", "python", source, timeout_s=timeout_s), [Call("c")], jail)
    assert reported in returned.message


ENDS = """
def main(completion, target, **v):
    import os, sys, time
    match completion:
        case "hang":
            while True: pass
        case "sleep": time.sleep(60)
        case "exit": sys.exit(0)
        case "gone": os._exit(0)
    return 1
"""


def test_a_call_that_hangs_or_ends_the_program_costs_itself_alone(jail):
    calls = [Call(each) for each in ("fine", "hang", "fine", "sleep", "exit", "fine", "gone", "fine")]
    returned = evaluate(Function("ends", "python", ENDS, timeout_s=1.5), calls, jail)
    assert [each.score for each in returned] == [1.0, None, 1.0, None, None, 1.0, None, 1.0]
    assert [each.error_type for each in returned if each.error_type] == [
        "timeout", "timeout", "SystemExit", "NoAnswer"
    ]  # fmt: skip


def test_calls_behind_three_ended_programs_are_not_requested(jail):
    calls = [Call("gone")] * 4 + [Call("fine")]
    returned = evaluate(Function("ends", "python", ENDS), calls, jail)
    assert [each.error_type for each in returned] == ["NoAnswer"] * 3 + ["NotCalled"] * 2


def test_a_call_in_typescript_that_hangs_costs_itself_alone(jail):
    source = """
    export async function main({completion}: {completion: string}) {
        if (completion === "sleep") await new Promise(done => setTimeout(done, 60_000))
        while (completion === "hang") {}
        if (completion === "exit") process.exit(3)
        setInterval(() => {}, 1000)
        return {score: 1, explanation: "y".repeat(5000)}
    }"""
    calls = [Call("hang"), Call("fine"), Call("sleep"), Call("exit"), Call("fine")]
    returned = evaluate(Function("ends", "typescript", source, timeout_s=1.5), calls, jail)
    assert [each.score for each in returned] == [None, 1.0, None, None, 1.0]
    assert [each.error_type for each in returned if each.error_type] == ["timeout", "timeout", "exception"]
    assert len(returned[1].explanation) == 2000


class Watched:
    """Reports how the programs ended."""

    def __init__(self, sandbox):
        self.sandbox, self.classes = sandbox, []

    def run(self, program):
        execution = self.sandbox.run(program)
        self.classes.append(execution.failure_class)
        return execution


@pytest.mark.parametrize("language", ["typescript", "javascript"])
def test_a_call_that_loops_after_an_await_is_late_by_its_own_bound(jail, language):
    source = """
    async function main({completion}) {
        await null
        if (completion === "later") await new Promise(done => setTimeout(done, 100))
        while (completion !== "fine") {}
        return 1
    }"""
    calls = [Call("fine"), Call("at once"), Call("later"), Call("fine")]
    watched = Watched(jail)
    returned = evaluate(Function("loops", language, source, timeout_s=1.5), calls, watched)
    assert [each.score for each in returned] == [1.0, None, None, 1.0]
    assert [each.error_type for each in returned if each.error_type] == ["timeout"] * 2
    assert FailureClass.TIMEOUT not in watched.classes  # the bound of a whole program


@pytest.mark.parametrize(
    "body",
    [
        "for n in range(60_000): print('rubbish', n)",
        "import os; [os.write(fd, b'rubbish') for fd in (1, 2)]",
        "import os; os.close(1); os.close(2)",
        "import sys; sys.stdout = sys.stderr = None",
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
        "print('\\n' + '0' * 32 + '{\"answer\": 1}')",
    ],
)
def test_what_a_function_does_to_its_output_leaves_its_answer(jail, body):
    source = f"def main(c, t, **v):\n    {body}\n    return 0.25"
    (returned,) = evaluate(Function("prints", "python", source), [Call("c")], jail)
    assert (returned.score, returned.error_type) == (0.25, None)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", "def main(c, t, **v): return {'skipped': 'there is no price in it'}"),
        ("typescript", "export const main = () => ({skipped: 'there is no price in it'})"),
    ],
)
def test_a_function_may_say_that_there_is_nothing_to_score(jail, language, source):
    (returned,) = evaluate(Function("prices", language, source), [Call("c")], jail)
    assert (returned.score, returned.error_type) == (None, None)
    assert returned.skipped == "there is no price in it"


def test_the_time_a_function_takes_to_be_imported_is_not_the_call_s(jail):
    source = "import time\ntime.sleep(2.5)\ndef main(c, t, **v): return 1"
    (returned,) = evaluate(Function("slow", "python", source, timeout_s=2.0), [Call("c")], jail)
    assert returned.score == 1.0


def test_an_evaluator_may_be_async_and_return_a_bare_number(jail):
    (returned,) = evaluate(
        Function("waits", "python", "async def main(c, t, **v):\n    return True"), [Call(1)], jail
    )
    assert returned.score == 1.0


def test_an_evaluator_reaches_no_network_and_no_file_of_the_host(jail, tmp_path):
    (tmp_path / "secret").write_text("s")
    source = f"def main(c, t, **v):\n    return float(len(open({str(tmp_path / 'secret')!r}).read()))"
    (returned,) = evaluate(Function("reads", "python", source), [Call(1)], jail)
    assert returned.error_type == "FileNotFoundError"


@pytest.mark.parametrize(
    ("language", "source", "reported"),
    [
        ("python", "def other(): pass", "defines no main"),
        ("python", "def main(", "does not compile"),
        ("typescript", "const x = 1", "async function main"),
        ("ruby", "def main; end", "none of python"),
    ],
)
def test_a_function_that_cannot_be_called_is_reported_before_anything_runs(language, source, reported):
    with pytest.raises(EvaluatorError, match=reported):
        Function("mine", language, source).check()


@pytest.mark.parametrize(
    "takes",
    ["c, t", "c, t, /, limit", "c, t, limit=1", "c, t, *, limit", "*both, limit", "c, t, limit, **rest"],
)
def test_a_function_is_given_the_variables_it_takes(jail, takes):
    held = "limit" if "limit" in takes else "4"
    function = Function("f", "python", f"def main({takes}): return {held} / 4")
    (returned,) = evaluate(function, [Call("c", "t", {"limit": 4, "outputs": []})], jail)
    assert returned.score == 1.0


def test_the_version_follows_from_the_source():
    one, other = (Function("f", "python", f"def main(c, t): return {n}") for n in (0, 1))
    assert one.version != other.version
