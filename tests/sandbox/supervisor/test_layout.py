"""The interpreter's code comes to lie in large pages, forks copy its entries, and it stays what it is."""

from __future__ import annotations

import json
import subprocess
import sys

_CODE = """
import ctypes, hashlib, json, re
from pathlib import Path
from spanproof.sandbox.supervisor.forkserver import layout

ENTRY = re.compile(r"^(\\S+)-(\\S+) r-xp .*\\n(?:.*:.*\\n)*?AnonHugePages: +(\\d+)", re.MULTILINE)
somewhere = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value

def place():
    for found in ENTRY.findall(Path("/proc/self/smaps").read_text()):
        start, end = (int(each, 16) for each in found[:2])
        if start <= somewhere < end:
            return start, end, int(found[2]) * 1024

def read(first, end):
    return hashlib.sha256((ctypes.c_char * (end - first)).from_address(first)).hexdigest()

start, end, _ = place()
first, last = layout.align_to_large_pages(start, end)
held = read(start, end)
scratch = layout.LARGE * 2
room = layout._libc.mmap(None, ctypes.c_size_t(scratch), 3, 0x22, -1, ctypes.c_long(0))
ctypes.memset(room, 1, scratch)
can = layout.collapse(*layout.align_to_large_pages(room, room + scratch))
layout.enlarge_code(Path("/proc/self/maps").read_text())
print(json.dumps({
    "same": read(start, end) == held,
    "wanted": max(0, last - first) if can else 0,
    "large": place()[2] if can else 0,
}))
"""


def test_the_interpreter_s_code_comes_to_lie_in_large_pages_and_stays_what_it_is() -> None:
    ran = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["same"]
    assert found["large"] == found["wanted"]


_FORKED = """
import json, os, re, resource
from pathlib import Path
from spanproof.sandbox.supervisor.forkserver import layout

def rights():
    found = []
    for entry in re.findall(r"^(\\S+)-(\\S+) (r-.)p", Path("/proc/self/maps").read_text(), re.MULTILINE):
        start, end, access = int(entry[0], 16), int(entry[1], 16), entry[2]
        if found and found[-1][1:] == [start, access]:
            start = found.pop()[0]
        found.append([start, end, access])
    return found

def count_faults_of_a_child():
    ours, theirs = os.pipe()
    if os.fork() == 0:
        json.dumps(sorted(re.findall("a+", "a b aa")))
        os.write(theirs, b"%d" % resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
        os._exit(0)
    os.wait()
    return int(os.read(ours, 64))

count_faults_of_a_child()
held, before = rights(), count_faults_of_a_child()
layout.prepare_for_forks()
print(json.dumps({"same": rights() == held, "before": before, "after": count_faults_of_a_child()}))
"""


def test_a_child_finds_the_code_it_enters_at_hand() -> None:
    ran = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["same"]
    assert found["after"] < found["before"]
