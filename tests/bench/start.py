"""What commands take to start, beside what every agent imports of OpenTelemetry.

    python tests/bench/start.py [ROUNDS]

Each runs in a fresh interpreter, in turn, and the least processor time of all rounds counts: a busy machine
makes a process slower, never faster. Bytecode is kept, as pip compiles it on installation: without it each
start compiles some 600 modules anew. The time of an empty interpreter is taken off the ratio.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

_TRACE = Path(__file__).parents[1] / "golden" / "dialects" / "spanproof.json"
_MAIN = "import sys; from spanproof.cli import main; sys.exit(main())"
_SDK = "the SDK"
STARTS = {
    "an interpreter": ("-c", "pass"),
    _SDK: ("-c", "import opentelemetry.sdk.trace"),
    "traces": ("-c", _MAIN, "traces", "--help"),
    "eval": ("-c", _MAIN, "eval", "--help"),
    "eval of a trace": ("-c", _MAIN, "eval", "--no-replay", "--json", str(_TRACE)),
}


def time_start(arguments: tuple[str, ...], bytecode: str) -> float:
    """Return the milliseconds of processor time of an interpreter with these arguments."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=_environment(bytecode),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000


def _environment(bytecode: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": bytecode}


def main(rounds: int) -> None:
    """Print the figures."""
    least = dict.fromkeys(STARTS, float("inf"))
    with tempfile.TemporaryDirectory() as bytecode:
        for arguments in STARTS.values():
            time_start(arguments, bytecode)
        for _ in range(rounds):
            for name, arguments in STARTS.items():
                least[name] = min(least[name], time_start(arguments, bytecode))
    empty, *_ = least.values()
    print(f"{'ms':>6}  {'of the SDK':>10}")
    for name, took in least.items():
        print(f"{took:6.0f}  {(took - empty) / (least[_SDK] - empty):10.1f}  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
