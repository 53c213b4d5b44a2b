"""How long a session takes to close after steps that leave something waiting, beside one that leaves nothing.

Usage: `python tests/bench/session_end.py [ROUNDS]`: medians of interleaved rounds, and their ratio.
"""

from __future__ import annotations

import statistics
import sys
import time

from spanproof.sandbox import Sandbox, SessionSpec, ToolAnswer
from spanproof.sandbox.registry import open_sandbox

STEPS = {
    "nothing": "print(1)",
    "a timer": "import threading\ntimer = threading.Timer(60, print)\ntimer.daemon = True\ntimer.start()",
    "a heartbeat": (
        "import threading, time\ndef beat():\n    while True: time.sleep(1)\n"
        "threading.Thread(target=beat, daemon=True).start()"
    ),
    "idle workers": (
        "from concurrent.futures import ThreadPoolExecutor as Pool\nlist(Pool(2).map(abs, [1]))"
    ),
    "a progress bar": "from tqdm import tqdm\nfor _ in tqdm(range(200)): pass",
}


def measure_close_s(sandbox: Sandbox, step: str) -> float:
    """Return how long the session of one step takes to close."""
    session = sandbox.session(SessionSpec(), lambda _request: ToolAnswer())
    session.execute(step)
    began = time.perf_counter()
    session.close()
    return time.perf_counter() - began


def main() -> None:
    """Print a line for each step."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with open_sandbox() as sandbox:
        found = [
            {name: measure_close_s(sandbox, step) for name, step in STEPS.items()} for _ in range(rounds)
        ]
    medians = {name: statistics.median(each[name] for each in found) for name in STEPS}
    for name, seconds in medians.items():
        print(f"{name:15} {seconds * 1e3:7.2f} ms  {seconds / medians['nothing']:5.2f} x")


if __name__ == "__main__":
    main()
