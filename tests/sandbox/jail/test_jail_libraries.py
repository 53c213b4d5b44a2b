"""Fewer mappings of libraries, whose pages forks inherit; what they hold stays as it is, and works."""

from __future__ import annotations

import json
import subprocess
import sys

_SCRIPT = """
import ctypes, decimal, hashlib, json, os, re, resource
from pathlib import Path
from spanproof.sandbox.jail import libraries

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
