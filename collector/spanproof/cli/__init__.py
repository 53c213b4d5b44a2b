"""The `spanproof` command.

`main` is the entry point of the distribution, which an agent process installs without the server's
dependencies: it answers `--version` with the standard library alone, and names the extra to install when a
command needs more.
"""

from __future__ import annotations

import os
import signal
import sys

from spanproof.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED, EXIT_MISUSE, EXIT_PASS


def main() -> int:
    """Run the command line and return its exit code: 0 pass, 1 gate failed, 2 misuse, 130 Ctrl-C."""
    _start_closed_streams()
    try:
        code = _run_command(sys.argv[1:])
        sys.stdout.flush()
        # The result is out: a Ctrl-C from here on must not end in the interpreter's own traceback.
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


def _start_closed_streams() -> None:
    """Open the null device for streams the shell closed (`>&-`): no file may get their descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - stays open


def _run_command(arguments: list[str]) -> int:
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
