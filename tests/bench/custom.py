"""Measures a warm call of an evaluator of the user's in the sandbox, beside the same sandbox doing nothing.

    python tests/bench/custom.py [--calls N]

The control runs the program `pass` in the same jail: what a call takes beyond it is the evaluator's own. A
call "in a row" follows the one before at once, and may wait for the next interpreter; one "after a pause"
finds it up, as where spans arrive. The quickest of these is what a call itself takes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from spanproof.evaluators.custom import Call, Function, evaluate
from spanproof.sandbox import Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

PYTHON = """
def main(completion, target, **variables):
    words = len(str(completion).split())
    return {"score": 1.0 if words <= target else 0.0, "explanation": f"{words} words"}
"""
JAVASCRIPT = """
function main(completion, target) {
    return {score: String(completion).split(" ").length <= target ? 1 : 0}
}
"""
WARM = 5
TOGETHER = 20
PAUSE_S = 0.5
PAUSED = 20
"""Calls after a pause."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=200)
    count = parser.parse_args().calls
    with open_sandbox("jail", workers=1, settings={}) as sandbox:
        control = measure(lambda: run_nothing(sandbox), count)
        report("an empty program (control)", control, control)
        for language, source in (("python", PYTHON), ("javascript", JAVASCRIPT)):
            function = Function("is_short", language, source)
            alone = caller(function, sandbox, 1)
            report(f"a call in {language}, in a row", measure(alone, count), control)
            report("  after a pause", measure(alone, PAUSED, PAUSE_S), control)
            together = measure(caller(function, sandbox, TOGETHER), count)
            report(f"  of {TOGETHER} in one program", [each / TOGETHER for each in together], control)


def caller(function: Function, sandbox: Sandbox, calls: int) -> Callable[[], None]:
    """Return what calls the function so often in one program, as it is for the spans of a run."""

    def call() -> None:
        returned = evaluate(function, [Call("four words it is", 50, {})] * calls, sandbox)
        assert {each.score for each in returned} == {1.0}, returned

    return call


def run_nothing(sandbox: Sandbox) -> None:
    """Run a program that does nothing."""
    assert sandbox.run(Program("python", "pass", limits=Limits())).exit_code == 0


def measure(call: Callable[[], None], count: int, pause_s: float = 0.0) -> list[float]:
    """Return the milliseconds of each call, once the sandbox is warm."""
    for _ in range(WARM):
        call()
    found = []
    for _ in range(count):
        time.sleep(pause_s)
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1e3)
    return found


def report(name: str, times: list[float], control: list[float]) -> None:
    """Print the quickest, the deciles and the median, and the median beside that of the control."""
    median, tens = statistics.median(times), statistics.quantiles(times, n=10)
    ratio = median / statistics.median(control)
    spread = f"10 % {tens[0]:6.1f} ms   median {median:6.1f} ms   90 % {tens[-1]:6.1f} ms"
    print(f"{name:29} quickest {min(times):6.1f} ms   {spread}   {ratio:.2f} of the control", flush=True)


if __name__ == "__main__":
    main()
