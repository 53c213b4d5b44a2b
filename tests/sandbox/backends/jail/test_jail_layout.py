"""Where a warm interpreter has its objects: the heap is one mapping, whatever it grows by."""

from __future__ import annotations

import subprocess
import sys

_HEAP = """
import os, re
from pathlib import Path
from spanproof.sandbox.backends.jail.forkserver import layout

def heaps():
    found = re.findall(r"^(\\S+)-(\\S+) .*\\[heap\\]$", Path("/proc/self/maps").read_text(), re.MULTILINE)
    return [(int(end, 16) - int(start, 16)) >> 20 for start, end in found]

layout.gather()
if os.fork():
    os.wait()
else:
    kept = [bytes(600) for _ in range(20_000)]
    before = heaps()
    layout.enlarge()
    print(len(before), len(heaps()), before[0] > 60, 11 < heaps()[0] < 30)
"""


def test_a_heap_that_grows_after_a_fork_is_one_mapping_and_its_room_is_given_back() -> None:
    ran = subprocess.run([sys.executable, "-c", _HEAP], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["1", "1", "True", "True"], ran.stderr
