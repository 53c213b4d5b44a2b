"""What is sent into a container: the source of what runs there, and the few lines that load it.

The image is the user's and has no Spanproof in it; nothing is written to it, or mounted into it. The modules
are loaded from memory, so that a program finds no file of them.
"""

from __future__ import annotations

import functools
import json
import struct
import zlib
from pathlib import Path

_PACKAGE = "spanproof.sandbox.backends.docker"
ENTRY = f"{_PACKAGE}.inside"
_SANDBOX = Path(__file__).parents[2]
# The rooms whose modules run in a container, beside a few that all share.
_SENT = ("guest", "places", "supervisor")

BOOT = (
    '''
import importlib.abc, importlib.util, io, json, struct, sys, zlib
if sys.version_info < (3, 11):
    sys.exit("the image's python3 is %d.%d" % sys.version_info[:2])
def read(size):
    data = b""
    while len(data) < size:
        piece = sys.stdin.buffer.raw.read(size - len(data))
        if not piece: sys.exit("the host is gone")
        data += piece
    return data
sources = json.loads(zlib.decompress(read(struct.unpack("!I", read(4))[0])))
class Sent(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def find_spec(self, name, path=None, target=None):
        if name in sources:
            return importlib.util.spec_from_loader(name, self, is_package=self.is_package(name))
    def is_package(self, name):
        return any(other.startswith((name + ".", name + "/")) for other in sources)
    def get_source(self, name):
        return sources[name]
    def get_resource_reader(self, name):
        return Data(name)
class Data:
    def __init__(self, package):
        self.package = package
    def open_resource(self, name):
        return io.BytesIO(sources[self.package + "/" + name].encode())
sys.meta_path.insert(0, Sent())
importlib.import_module("'''
    + ENTRY
    + """").main()
"""
)
"""Run by the container's `python3 -c`."""


@functools.cache
def encode_modules() -> bytes:
    """Pack the modules and their data files, as `BOOT` reads them."""
    sources = dict.fromkeys(("spanproof", "spanproof.sandbox", "spanproof.sandbox.backends", _PACKAGE), "")
    for name in ("catalogue", "errors", "kernel", "model", "toolchains"):
        sources[f"spanproof.sandbox.{name}"] = (_SANDBOX / f"{name}.py").read_text("utf-8")
    for path in (Path(__file__).with_name(f"{name}.py") for name in ("inside", "unwatched")):
        sources[f"{_PACKAGE}.{path.stem}"] = path.read_text("utf-8")
    for path in sorted(path for room in _SENT for path in (_SANDBOX / room).rglob("*.py")):
        parts = path.relative_to(_SANDBOX).with_suffix("").parts
        name = ".".join(("spanproof", "sandbox", *(part for part in parts if part != "__init__")))
        sources[name] = path.read_text("utf-8")
    for path in (path for room in _SENT for path in (_SANDBOX / room).rglob("*.txt")):
        package = ".".join(("spanproof", "sandbox", *path.relative_to(_SANDBOX).parent.parts))
        sources[f"{package}/{path.name}"] = path.read_text("utf-8")
    data = zlib.compress(json.dumps(sources).encode())
    return struct.pack("!I", len(data)) + data
