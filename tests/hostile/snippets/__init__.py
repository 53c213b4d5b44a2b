"""Hostile programs, and what containing each of them means.

Every snippet prints `BREACH …` when it got what it must not get. `on_record` is an attempt that the kernel
must have reported: kind, a part of the target; refused, or of a program that was started. `classes` are the
failure classes that are right.
A program that never ends by itself, so that `timeout` is among its classes, is stopped soon; all others end,
however busy the machine is, and their deadline is there in case they hang.
`{canary}` is a file of the host, `{port}` a TCP port on which the host listens, `{abstract}` its abstract
socket, `{host_pid}` the host process.
"""

from __future__ import annotations

from . import (
    blind_spots,
    disguised_tools,
    disguises,
    disk,
    endings,
    evasions,
    exits,
    files,
    generated,
    judges,
    kernel_memory,
    leftovers,
    machine_view,
    network,
    origins,
    privileges,
    processes,
    races,
    resolution,
    resources,
    second_round,
    strangers,
    tampering,
    tape,
)

HOSTILE = (
    *resources.SNIPPETS,
    *kernel_memory.SNIPPETS,
    *processes.SNIPPETS,
    *disk.SNIPPETS,
    *files.SNIPPETS,
    *network.SNIPPETS,
    *privileges.SNIPPETS,
    *tampering.SNIPPETS,
    *races.SNIPPETS,
    *tape.SNIPPETS,
    *origins.SNIPPETS,
    *resolution.SNIPPETS,
    *evasions.SNIPPETS,
    *disguises.SNIPPETS,
    *blind_spots.SNIPPETS,
    *strangers.SNIPPETS,
    *generated.SNIPPETS,
    *endings.SNIPPETS,
    *machine_view.SNIPPETS,
    *exits.SNIPPETS,
    *leftovers.SNIPPETS,
    *judges.SNIPPETS,
    *disguised_tools.SNIPPETS,
    *second_round.SNIPPETS,
)
"""In the order they run: one may leave what a later one looks for."""
WITHOUT_NODE = tuple(one for one in HOSTILE if one.language not in ("javascript", "typescript"))
"""Those for containers whose image has no Node.js."""
