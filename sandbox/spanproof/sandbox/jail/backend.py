"""The `jail` backend: programs in namespaces of their own, on this machine, with nothing but Python.

In: a `Program` or a `SessionSpec`. Out: `Execution`s. Slots are kept warm and handed to one caller at a time;
one that breaks is dropped and replaced. See docs/sandbox.md for what the wall holds.
"""

from __future__ import annotations

import shutil
import threading
from dataclasses import asdict

from spanproof.sandbox.backend import AnswerTool, Availability, Sandbox, Session
from spanproof.sandbox.calls import check_files
from spanproof.sandbox.errors import UnsupportedLanguage
from spanproof.sandbox.jail import probe
from spanproof.sandbox.jail.fixed.job import fixed_by
from spanproof.sandbox.jail.host import guest_environment
from spanproof.sandbox.jail.outcome import execution_of
from spanproof.sandbox.jail.pool import PLAIN, Pool, kind_for
from spanproof.sandbox.jail.session import JailSession
from spanproof.sandbox.jail.wire import Frame, Header
from spanproof.sandbox.model import Execution, Program, SessionSpec

_GRACE_S = 15.0
_SCRIPTS = {"bash": ("main.sh", "/bin/bash"), "javascript": ("main.js", "node")}


class JailSandbox(Sandbox):
    """Runs programs in the jail; `workers` of them at once."""

    name = "jail"

    def __init__(self, *, workers: int = 1) -> None:
        self.languages = frozenset({"python", "bash", "sql"} | ({"javascript"} if _node() else set()))
        self._workers = threading.BoundedSemaphore(max(1, workers))
        self._pool = Pool()

    def availability(self) -> Availability:
        """What this machine gives."""
        return probe.availability()

    def run(self, program: Program) -> Execution:
        """Run one program; see `Sandbox.run`."""
        header, parts = self._job(program)
        with self._workers:
            answer = self._answer(header, parts, program)
        script = program.language != "python"
        return execution_of(answer.header, answer.parts, program.limits, script=script)

    def _answer(self, header: Header, parts: list[bytes], program: Program) -> Frame:
        kind = kind_for(program.source) if program.language == "python" else PLAIN
        slot = self._pool.take(kind)
        try:
            slot.send(header, parts)
            answer = slot.receive(program.limits.wall_s + _GRACE_S)
        except BaseException:
            slot.close()
            raise
        self._pool.give_back(kind, slot)
        return answer

    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Start a session; see `Sandbox.session`."""
        if spec.language != "python":
            raise UnsupportedLanguage(f"the jail has sessions in python only, not in {spec.language!r}")
        check_files(spec.files)
        return JailSession(self._pool.take(self._pool.warmest()), spec, answer)

    def close(self) -> None:
        """End every process of it."""
        self._pool.close()

    def _job(self, program: Program) -> tuple[Header, list[bytes]]:
        if program.language not in self.languages:
            hint = " (install Node.js under /usr for javascript)" if program.language == "javascript" else ""
            known = ", ".join(sorted(self.languages))
            raise UnsupportedLanguage(f"the jail runs {known}, not {program.language!r}{hint}")
        check_files(program.files)
        header: Header = {
            "kind": "job",
            "language": program.language,
            "limits": asdict(program.limits),
            "files": list(program.files),
            "has_tests": program.tests is not None,
            "entry_point": program.entry_point,
            **fixed_by(program.fixtures),
        }
        if program.language in _SCRIPTS:
            script, interpreter = _SCRIPTS[program.language]
            command = interpreter if interpreter.startswith("/") else _node()
            header |= {
                "script": script,
                "argv": [command, f"/box/code/{script}"],
                "own_execs": 2,  # it is asked first whether it can read the script
            }
        source = program.source.encode("utf-8", "surrogatepass")
        tests = (program.tests or "").encode("utf-8", "surrogatepass")
        return header, [source, tests, program.stdin, *program.files.values()]


def _node() -> str | None:
    return shutil.which("node", path=guest_environment()["PATH"])
