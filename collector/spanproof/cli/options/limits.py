"""The options `--max-…`: bounds of the programs that a command runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

import click

from spanproof.cli.problems import UsageProblem
from spanproof.sandbox import Execution, Limits
from spanproof.sandbox.limits import find_reached_limit

_UNITS: Final = {
    "": 1,
    "B": 1,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
}

OPTION_OF_LIMIT: Final = {
    "wall_s": "--timeout",
    "memory_bytes": "--max-memory",
    "processes": "--max-processes",
    "output_bytes": "--max-output",
    "output_kill_bytes": "--max-written",
    "disk_bytes": "--max-disk",
    "open_files": "--max-open-files",
}
"""The option of `spanproof sandbox run` that raises each field of `Limits`."""


class _Size(click.ParamType[int]):
    """A number of bytes: `512MiB`, `1GiB`, `65536`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes; a value that is a number already is one."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d{1,15})\s*([a-zA-Z]*)", str(value).strip())
        unit = match[2].upper() if match else "?"
        if match is None or unit not in _UNITS or int(match[1]) == 0:
            option = param.opts[0] if param is not None else "the size"
            raise UsageProblem(f"{option} {value!r} is no size", "write bytes, or 512MiB, 2GiB")
        return int(match[1]) * _UNITS[unit]


def with_limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options `--max-…`; it is called with `given_limits`: fields of `Limits` by name."""

    @click.option(
        "--max-memory",
        "memory_bytes",
        type=_Size(),
        help="Memory of a program and of all that it starts: 512MiB, 2GiB.",
    )
    @click.option(
        "--max-processes",
        "processes",
        type=click.IntRange(1, 32_768),
        help="Most processes and threads of a program at any time.",
    )
    @click.option(
        "--max-output",
        "output_bytes",
        type=_Size(),
        help="Keep at most this much of stdout, and of stderr: 64KiB, 1MiB.",
    )
    @click.option(
        "--max-written", "output_kill_bytes", type=_Size(), help="Stop a program that prints more than this."
    )
    @click.option(
        "--max-disk", "disk_bytes", type=_Size(), help="How much a program may write to files: 64MiB, 1GiB."
    )
    @click.option(
        "--max-open-files",
        "open_files",
        type=click.IntRange(16, 65_536),
        help="Most open files of one process.",
    )
    @wraps(command)
    def wrapped(
        *args: Any,
        memory_bytes: int | None,
        processes: int | None,
        output_bytes: int | None,
        output_kill_bytes: int | None,
        disk_bytes: int | None,
        open_files: int | None,
        **kwargs: Any,
    ) -> Any:
        limits = {
            "memory_bytes": memory_bytes,
            "processes": processes,
            "output_bytes": output_bytes,
            "output_kill_bytes": output_kill_bytes,
            "disk_bytes": disk_bytes,
            "open_files": open_files,
        }
        chosen = {name: value for name, value in limits.items() if value is not None}
        return command(*args, given_limits=chosen, **kwargs)

    return wrapped


def find_reached(execution: Execution, limits: Limits) -> Mapping[str, object] | None:
    """Return the limit that a program reached: its name, its value, and the option that raises it."""
    reached = find_reached_limit(execution, limits)
    if reached is None:
        return None
    return {"name": reached.name, "value": reached.value, "option": OPTION_OF_LIMIT[reached.name]}
