"""`python -m spanproof.sandbox.backends.remote.guest JOB`: do the one job a file describes, and report of it.

Output is lines of JSON; see `lines`.
"""

from __future__ import annotations

import base64
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from spanproof.sandbox import guest, kernel
from spanproof.sandbox.backends.remote.guest.lines import Lines
from spanproof.sandbox.backends.remote.guest.served import Served
from spanproof.sandbox.backends.remote.guest.start import start
from spanproof.sandbox.backends.remote.guest.steps import SessionRun
from spanproof.sandbox.backends.remote.guest.watch import Run
from spanproof.sandbox.backends.remote.guest.workspace import make_workspace, separate
from spanproof.sandbox.model import Limits
from spanproof.sandbox.supervisor.node import find_node

_NODE = {"javascript": "main.js", "typescript": "main.ts"}
_RUNNER = "node.cjs"
_BASH = "/bin/bash"


def main(job_file: str) -> None:
    """Run a job."""
    job: dict[str, Any] = json.loads(Path(job_file).read_bytes())
    Path(job_file).unlink()
    host = Lines(job.pop("token"))
    if not _runs(job["language"]):
        host.send("lacking")
        return
    code = _collect_code(job)  # before what lies in /tmp is covered, our own source too
    if job["language"] == "sql":
        import_module("spanproof.sandbox.guest.sql_sqlite")
    tests = _hold(f"{job_file}.tests") if job["has_tests"] else None
    tape = _hold(f"{job_file}.tape") if job["has_tape"] else None
    separated = separate(job["limits"]["disk_bytes"])
    for held, refusal in ((tests, "in_reach"), (tape, "unserved")):
        if held is not None and not separated:
            host.send(refusal)
            return
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    workspace = make_workspace(separated=separated)
    workspace.lay_out(workspace.work, {name: base64.b64decode(data) for name, data in job["files"].items()})
    workspace.lay_out(workspace.code, code)
    job["argv"] = _build_command(job, workspace.code)
    started = start(job, workspace, workspace.code / "stdin")
    served = None if tape is None else Served(tape.read(), workspace.code)
    host.send("started", separated=separated)
    kind = SessionRun if job["language"] == "session" else Run
    kind(job, started, workspace, host, None if tests is None else tests.read(), served).finish()


def _hold(path: str) -> BinaryIO:
    """Hold a file no one else can open any more; to be read when the program's process has been forked."""
    file = open(path, "rb", buffering=0)  # noqa: PTH123, SIM115 - held for the run
    Path(path).unlink()
    return file


def _runs(language: str) -> bool:
    if language in _NODE:
        found = find_node()
        return found is not None and language in found.languages
    return language != "bash" or Path(_BASH).exists()


def _collect_code(job: dict[str, Any]) -> dict[str, bytes]:
    """Collect what lies beside the work directory: the input, and a script where the program is one."""
    source = base64.b64decode(job["source"])
    code = {"stdin": base64.b64decode(job["stdin"])}
    if job["language"] == "bash":
        code["main.sh"] = source
    elif job["language"] in _NODE:
        code[_NODE[job["language"]]] = source
        code[_RUNNER] = Path(guest.__file__).with_name(_RUNNER).read_bytes()
    return code


def _build_command(job: dict[str, Any], code: Path) -> list[str] | None:
    if job["language"] == "bash":
        return [_BASH, str(code / "main.sh")]
    found = find_node() if job["language"] in _NODE else None
    if found is None:
        return None
    return found.command(str(code / _NODE[job["language"]]), str(code / _RUNNER), Limits(**job["limits"]))


if __name__ == "__main__":
    main(sys.argv[1])
