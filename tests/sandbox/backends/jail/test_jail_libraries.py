"""Fewer mappings of libraries, whose pages forks inherit, and larger pages; what they hold stays."""

from __future__ import annotations

import json
import subprocess
import sys

_SCRIPT = """
import ctypes, decimal, hashlib, json, os, re, resource
from pathlib import Path
from spanproof.sandbox.backends.jail.forkserver import libraries

MAPPING = re.compile(r"^(\\S+)-(\\S+) r([w-])[x-]p \\S+ \\S+ [1-9]\\d* +/.+[.]so", re.MULTILINE)

def places():
    found = MAPPING.findall(Path("/proc/self/maps").read_text())
    return [(int(start, 16), int(end, 16), writable == "w") for start, end, writable in found]

def read(places):
    held = hashlib.sha256()
    for start, end, _ in places:
        held.update((ctypes.c_char * (end - start)).from_address(start))
    return held.hexdigest()

def faults_of_a_fork_that_reads(places):
    report, tell = os.pipe()
    if os.fork() == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        read(places)
        os.write(tell, b"%d" % (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before))
        os._exit(0)
    os.wait()
    return int(os.read(report, 100))

before = places()
constant = [place for place in before if not place[2]]
held, faults = read(constant), faults_of_a_fork_that_reads(constant)
libraries.unite()
libraries.hand_down()
told = {
    "mappings": [len(before), len(places())],
    "same": read(constant) == held,
    "faults": [faults, faults_of_a_fork_that_reads(constant)],
}
import sqlite3, zoneinfo
print(json.dumps({**told, "works": str(decimal.Decimal(1) / 3)[:6]}))
"""


def test_libraries_are_in_fewer_mappings_that_forks_inherit_and_hold_what_they_held() -> None:
    ran = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["same"], told["works"]) == (True, "0.3333")
    for before, after in (told["mappings"], told["faults"]):
        assert after < 0.7 * before


_CODE = """
import ctypes, hashlib, json, re
from pathlib import Path
from spanproof.sandbox.backends.jail.forkserver import layout, libraries

ENTRY = re.compile(r"^(\\S+)-(\\S+) r-xp .*\\n(?:.*:.*\\n)*?AnonHugePages: +(\\d+)", re.MULTILINE)
somewhere = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value

def place():
    for found in ENTRY.findall(Path("/proc/self/smaps").read_text()):
        start, end = (int(each, 16) for each in found[:2])
        if start <= somewhere < end:
            return start, end, int(found[2]) * 1024

def read(first, end):
    return hashlib.sha256((ctypes.c_char * (end - first)).from_address(first)).hexdigest()

libraries.unite()
start, end, _ = place()
first, last = layout.large_part(start, end)
held = read(start, end)
scratch = layout.LARGE * 2
room = libraries._libc.mmap(None, ctypes.c_size_t(scratch), 3, 0x22, -1, ctypes.c_long(0))
ctypes.memset(room, 1, scratch)
can = layout.collapse(*layout.large_part(room, room + scratch))
libraries.enlarge()
print(json.dumps({
    "same": read(start, end) == held,
    "wanted": max(0, last - first) if can else 0,
    "large": place()[2] if can else 0,
}))
"""


def test_the_interpreter_s_code_comes_to_lie_in_large_pages_and_stays_what_it_is() -> None:
    ran = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["same"]
    assert told["large"] == told["wanted"]
