"""The `spanproof` command.

`main` is the entry point of the distribution, which an agent process installs without the server's
dependencies: so it answers `--version` with the standard library alone, and says what to install when a
command needs more.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

EXIT_PASS = 0
EXIT_GATE_FAILED = 1
EXIT_MISUSE = 2


def main() -> int:
    """Run the command line and return its exit code: 0 pass, 1 gate failed, 2 misuse."""
    if sys.argv[1:] == ["--version"]:
        print(f"spanproof {version('spanproof')}")
        return EXIT_PASS
    try:
        from spanproof.cli.app import run
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("spanproof"):
            raise
        print(
            f"spanproof: the command line needs the package {missing.name!r}, which is not installed.\n"
            "  remedy: pip install 'spanproof[server]'",
            file=sys.stderr,
        )
        return EXIT_MISUSE
    return run(sys.argv[1:])
