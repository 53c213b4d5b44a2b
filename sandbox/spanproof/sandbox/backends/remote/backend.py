"""The contract over a service of machines.

In: a `Program` or a `SessionSpec`. Out: `Execution`s. The machine is the wall; what became of a program is
the word of the supervisor over there, which the program cannot reach while the machine keeps its users apart.
A machine that failed, or in any doubt, is ended and replaced. See docs/sandbox.md.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from spanproof.sandbox.backend import AnswerTool, Availability, Evidence, Sandbox, Session
from spanproof.sandbox.backends.remote.conversation import Conversation
from spanproof.sandbox.backends.remote.job import check_fixtures
from spanproof.sandbox.backends.remote.machine import Life, Machine
from spanproof.sandbox.backends.remote.service import Service
from spanproof.sandbox.backends.remote.session import GRACE_S, MachineLink, RemoteSession
from spanproof.sandbox.calls import check_files
from spanproof.sandbox.errors import (
    SandboxBroken,
    SandboxSilent,
    SandboxUnavailable,
    UnsupportedFixtures,
    UnsupportedLanguage,
)
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.javascript_tests import has_javascript_tests, run_javascript_tests
from spanproof.sandbox.model import Execution, FailureClass, Program, SessionSpec
from spanproof.sandbox.supervisor.run.job import encode_program
from spanproof.sandbox.supervisor.run.session import build_session_job

_LOG = logging.getLogger(__name__)
_START_S = 30.0
_GRACE_S = GRACE_S


@dataclass(frozen=True, slots=True)
class Cost:
    """What a sandbox has used so far.

    Attributes:
        machines: made; `seconds`, how long they have lived together.
        price: in the unit of the setting `price_per_second`; None without it.
    """

    machines: int
    seconds: float
    runs: int
    price: float | None


class RemoteSandbox(Sandbox):
    """Runs programs on machines of a service; `workers` of them at once."""

    languages = frozenset({"python", "bash", "sql", "javascript", "typescript"})
    evidence = frozenset({Evidence.CALLS, Evidence.PEAK_MEMORY})

    def __init__(self, service: Service, *, workers: int = 1) -> None:
        self._service = service
        self._workers = threading.BoundedSemaphore(max(1, workers))
        self._lock = threading.Lock()
        self._idle: list[Machine] = []
        self._live: set[Machine] = set()
        self._lives: list[Life] = []
        self._runs = 0
        self._closed = False

    def availability(self) -> Availability:
        """Report what is installed, set and answering; queries the service, makes no machine."""
        return Availability(self.name, self._service.list_features())

    @property
    def _image_setting(self) -> str:
        """The name of the setting that says what machines are made of."""
        return self._service.image.partition(" ")[0]

    @property
    def cost(self) -> Cost:
        """What it has used so far."""
        with self._lock:
            seconds = sum(life.seconds for life in self._lives)
            price = self._service.settings.price_per_second
            return Cost(len(self._lives), seconds, self._runs, None if price is None else seconds * price)

    def run(self, program: Program) -> Execution:
        """Run one program; see `Sandbox.run`."""
        if has_javascript_tests(program):
            return run_javascript_tests(program, self.run)
        if program.language not in self.languages:
            languages = ", ".join(sorted(self.languages))
            raise UnsupportedLanguage(f"the {self.name} backend runs {languages}, not {program.language!r}")
        check_fixtures(program.fixtures, program.language, self.name)
        job = encode_program(program)
        with self._workers:
            machine, conversation, separated = self._build_conversation(job, program.limits.wall_s)
            return self._run_to_end(machine, conversation, program, separated=separated)

    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Start a session, on a machine of its own; see `Sandbox.session`."""
        if spec.language != "python":
            raise UnsupportedLanguage(
                f"the {self.name} backend has sessions in python only, not in {spec.language!r}"
            )
        check_files(spec.files)
        check_fixtures(spec.fixtures, spec.language, self.name)
        job = build_session_job(spec)
        machine, conversation, _ = self._build_conversation(job, spec.limits.wall_s)
        link = MachineLink(machine, conversation, spec.limits, lambda: self._close_machine(machine))
        return RemoteSession(link, job, spec, answer)

    def close(self) -> None:
        """End every machine."""
        with self._lock:
            self._closed = True
            machines = list(self._live)
            self._idle.clear()
        for machine in machines:
            self._close_machine(machine)

    def _build_conversation(
        self, job: tuple[Header, list[bytes]], wall_s: float
    ) -> tuple[Machine, Conversation, bool]:
        """Start the job on a machine; a machine that fails before it has started is replaced."""
        tries = self._service.settings.retries + 1
        while True:
            tries -= 1
            machine: Machine | None = None
            needed_s = wall_s + _START_S + _GRACE_S
            try:
                machine = self._get_machine(needed_s)
                machine.update_lifetime(needed_s)
                conversation = machine.start(*job)
                return machine, conversation, self._wait_for_start(machine, conversation)
            except SandboxBroken as problem:
                if machine is not None:
                    self._close_machine(machine)
                if tries <= 0 or self._closed:
                    raise
                _LOG.warning("%s; trying another machine", problem)
            except BaseException:
                if machine is not None:
                    self._close_machine(machine)
                raise

    def _wait_for_start(self, machine: Machine, conversation: Conversation) -> bool:
        """Wait until the program is about to run; whether the machine keeps it apart from all else."""
        try:
            header = conversation.wait_for_frame(_START_S).header
        except TimeoutError:
            raise SandboxBroken(
                f"{self.name}: machine {machine.id} did not start in {_START_S:.0f} s"
            ) from None
        except SandboxBroken as problem:
            if self._is_without_python(machine):
                raise SandboxUnavailable(
                    f"{self.name}: machines of the {self._service.image} have no python3, 3.11 or newer;"
                    f" set `{self._image_setting}` to one that has"
                ) from problem
            raise
        if header.get("kind") == "lacking":
            raise UnsupportedLanguage(
                f"the {self._service.image} lacks what runs this language; python and sql "
                "always run, javascript needs Node.js, typescript Node.js 22.18 or newer, bash /bin/bash"
            )
        lacks = f"machines of the {self._service.image} give no root with namespaces, so"
        if header.get("kind") == "in_reach":
            raise SandboxUnavailable(
                f"{lacks} a program there could read its tests and forge their results:"
                f" {self._service.separating}, or another backend for programs with tests"
            )
        if header.get("kind") == "unserved":
            raise UnsupportedFixtures(
                f"{lacks} recorded HTTP calls cannot be answered there: {self._service.separating},"
                " or the jail"
            )
        return header.get("separated") is True

    def _is_without_python(self, machine: Machine) -> bool:
        """Return whether a machine, whose first command failed, answers that it has none."""
        try:
            return machine.runs == 1 and not machine.has_python(_START_S)
        except (SandboxBroken, TimeoutError):
            return False

    def _run_to_end(
        self, machine: Machine, conversation: Conversation, program: Program, *, separated: bool
    ) -> Execution:
        began = time.monotonic()
        reusable = False
        try:
            conversation.update_allowance(program.limits.output_bytes)
            link = MachineLink(machine, conversation, program.limits, conversation.close)
            header, parts = link.wait_for_frame(program.limits.wall_s + _GRACE_S)
            reusable = separated
            execution = build_execution(
                header, parts, program.limits, language=program.language, tests=program.tests
            )
        except SandboxSilent:  # the machine's clock did not stop it, so ours does
            execution = Execution(FailureClass.TIMEOUT, wall_s=time.monotonic() - began)
        finally:
            conversation.close()
            with self._lock:
                self._runs += 1
            self._add_idle(machine, reusable=reusable)
        _LOG.debug("%s machine %s: a run of %.2f s", self.name, machine.id, time.monotonic() - began)
        return execution

    def _get_machine(self, needed_s: float) -> Machine:
        machine = self._find_idle()
        if machine is not None and not machine.can_outlast(needed_s):
            self._close_machine(machine)
            machine = None
        if machine is None:
            machine = Machine(self._service, needed_s)
            with self._lock:
                self._live.add(machine)
                self._lives.append(machine.life)
        if self._closed:
            self._close_machine(machine)
            raise SandboxBroken(f"the {self.name} sandbox is closed")
        return machine

    def _find_idle(self) -> Machine | None:
        with self._lock:
            if self._closed:
                raise SandboxBroken(f"the {self.name} sandbox is closed")
            return self._idle.pop() if self._idle else None

    def _add_idle(self, machine: Machine, *, reusable: bool) -> None:
        with self._lock:
            keep = reusable and machine.runs < self._service.settings.reuse and not self._closed
            if keep:
                self._idle.append(machine)
        if not keep:
            self._close_machine(machine)

    def _close_machine(self, machine: Machine) -> None:
        with self._lock:
            self._live.discard(machine)
        machine.kill()
