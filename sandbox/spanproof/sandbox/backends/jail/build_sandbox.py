"""The build sandbox: a jail of its own for one program, in which one directory of the host can be written to.

In: a program, and two directories. Out: its `Execution`. As in every jail there is no network, and nothing of
the machine but the interpreter; the jail ends with the program.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from spanproof.sandbox.backends.jail.pool import Kind, Pool
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.model import Execution, Program, Tier
from spanproof.sandbox.supervisor.namespaces.root import Bind
from spanproof.sandbox.supervisor.namespaces.users import find_unused_id
from spanproof.sandbox.supervisor.run.job import build_job, read_runtimes

_GRACE_S = 15.0


def run_in_build_sandbox(
    program: Program, archives: Path, image: Path, *, demanded: Tier = Tier.FULL
) -> Execution:
    """Run a program that may read `archives`, and write to `image`: its input says where it sees them.

    Raises:
        SandboxUnavailable: this machine cannot run a jail.
        SandboxBroken: the jail failed.
    """
    owner = find_unused_id(os.geteuid(), Path("/proc/self/uid_map").read_text(encoding="utf-8"))
    if owner is not None:
        os.chown(image, owner, owner)
    kind = Kind(binds=(Bind(str(archives), "/archives"), Bind(str(image), "/image", writable=True)))
    pool = Pool(demanded)
    try:
        bound = pool.get_tier() is Tier.FULL
        places = ("/archives", "/image") if bound else (str(archives), str(image))
        header, parts = build_job(replace(program, stdin="\n".join(places).encode()), read_runtimes())
        supervisor = pool.get_supervisor(kind)
        supervisor.send(header, parts)
        answer = supervisor.wait_for_frame(program.limits.wall_s + _GRACE_S)
        supervisor.close()
    finally:
        pool.close()
    return build_execution(answer.header, answer.parts, program.limits)
