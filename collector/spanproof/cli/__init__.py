"""The `spanproof` command.

`main` is the entry point of the distribution, which an agent process installs without the server's
dependencies: so it answers `--version` with the standard library alone, and says what to install when a
command needs more.
"""

from __future__ import annotations

import os
import signal
import sys

EXIT_PASS = 0
EXIT_GATE_FAILED = 1
EXIT_MISUSE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE
"""What a shell makes of a process whose reader has gone: no verdict can be told, so neither 0 nor 1."""


def main() -> int:
    """Run the command line and return its exit code: 0 pass, 1 gate failed, 2 misuse, 130 Ctrl-C."""
    _open_what_is_closed()
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
        # The result stands: a Ctrl-C from here on must not end in the interpreter's own traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        code = EXIT_BROKEN_PIPE
    except OSError as failure:
        print(f"spanproof: stdout cannot be written: {failure.strerror}", file=sys.stderr)
        os._exit(EXIT_MISUSE)
    if code in {EXIT_INTERRUPTED, EXIT_BROKEN_PIPE}:
        # Threads of a batch may still run a program or hold stdout; the interpreter would wait for them.
        os._exit(code)
    return code


def _open_what_is_closed() -> None:
    """A stream that the shell closed (`>&-`) is nowhere, and its descriptor must not become a file's."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - stays open


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        from importlib.metadata import version

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
    return run(arguments)
