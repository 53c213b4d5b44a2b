"""Runs programs that fill supervisors with processes, in several at once, and prints their times.

Usage: `python tests/hostile/crowds.py [--set NAME=VALUE …]`. A JSON object a kind of crowd: by how much each
run passed its limit, by its own report, and what its failure class was. What a crowd takes of the processors
it takes from its own supervisor, too, and from those of the others.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor

from spanproof.sandbox import Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

SUPERVISORS = 4
WALL_S = 2.0
CROWDS = {
    "forks": """
import os
while True:
    try: os.fork()
    except OSError: pass
""",
    "sessions": """
import os
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: pass
""",
    "groups that count": """
import os
for _ in range(60):
    try:
        if os.fork() == 0:
            os.setpgid(0, 0)
            while True: pass
    except OSError: break
while True: pass
""",
    "threads of machine code": """
import hashlib, threading
def count():
    while True: hashlib.pbkdf2_hmac('sha256', b'a', b'b', 1000000)
try:
    for _ in range(60): threading.Thread(target=count, daemon=True).start()
except RuntimeError: pass
count()
""",
    "who follows its parent": """
import os, time
if os.fork(): time.sleep(60)
while True:
    try:
        if os.fork(): os._exit(0)
    except OSError: pass
""",
    "children that die": """
import os
for _ in range(5):
    try: os.fork()
    except OSError: pass  # the crowds share one bound
while True:
    try:
        if os.fork() == 0: os._exit(0)
    except OSError: pass
""",
}


def main() -> None:
    """Run each kind in all supervisors at once, and print the excess of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    settings = dict(word.split("=", 1) for word in parser.parse_args().settings)
    limits = Limits(wall_s=WALL_S, cpu_s=600.0)
    with open_sandbox("jail", workers=SUPERVISORS, settings=settings) as sandbox:
        run_at_once(sandbox, Program("python", "import time; time.sleep(0.5)", limits=Limits(wall_s=60.0)))
        for kind, source in CROWDS.items():
            rows = run_at_once(sandbox, Program("python", source, limits=limits))
            print(json.dumps({"kind": kind, "rows": rows}), flush=True)


def run_at_once(sandbox: Sandbox, program: Program) -> list[list[object]]:
    """Return, for each supervisor, by how many seconds a run passed its limit, and its failure class."""
    with ThreadPoolExecutor(SUPERVISORS) as pool:
        executions = list(pool.map(sandbox.run, [program] * SUPERVISORS))
    return [[round(one.wall_s - program.limits.wall_s, 2), one.failure_class.value] for one in executions]


if __name__ == "__main__":
    sys.exit(main())
