"""What an agent process pays to import Spanproof, beside what OpenTelemetry's SDK alone costs it.

    python tests/bench/imports.py [ROUNDS]

Each import runs in a fresh interpreter, in turn, and the least processor time of all rounds counts: a busy
machine makes a process slower, never faster. The time of an empty interpreter is taken off.
"""

from __future__ import annotations

import os
import sys

EMPTY = "pass"
API = "import opentelemetry.trace"
SDK = "import opentelemetry.sdk.trace"
IMPORTS = (
    EMPTY,
    "import spanproof",
    API,
    SDK,
    "from spanproof.instrumentors import register",
    "import spanproof.instrumentors.guard",
)


def time_import(statement: str) -> float:
    """Return the milliseconds of processor time that an interpreter takes for a statement."""
    process = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", statement])
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{statement!r} failed")
    return (used.ru_utime + used.ru_stime) * 1000


def main(rounds: int) -> None:
    """Print the figures."""
    least = dict.fromkeys(IMPORTS, float("inf"))
    for _ in range(rounds):
        for statement in IMPORTS:
            least[statement] = min(least[statement], time_import(statement))
    empty, sdk = least[EMPTY], least[SDK] - least[EMPTY]
    print(f"an empty interpreter takes {empty:.0f} ms; beyond it:")
    print(f"{'ms':>6}  {'of the SDK':>10}  {'beyond it':>9}")
    for statement in IMPORTS[1:]:
        took = max(least[statement] - empty, 0)
        print(f"{took:6.0f}  {took / sdk:10.2f}  {took - sdk:9.0f}  {statement}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
