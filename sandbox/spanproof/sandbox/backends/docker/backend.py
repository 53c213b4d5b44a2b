"""The `docker` backend: the jail's supervisor in containers of a daemon, kept warm and used again.

In: a `Program` or a `SessionSpec`. Out: `Execution`s, by the same facts as the jail's. See docs/sandbox.md
for what its wall holds.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from spanproof.sandbox.backend import AnswerTool, Availability, Evidence, Sandbox, Session
from spanproof.sandbox.backends.docker import probe
from spanproof.sandbox.backends.docker.build_sandbox import build_in
from spanproof.sandbox.backends.docker.container import Container, ContainerEnded
from spanproof.sandbox.backends.docker.daemon import Settings, Shape
from spanproof.sandbox.backends.docker.job import check_fixtures
from spanproof.sandbox.backends.docker.pool import Pool
from spanproof.sandbox.calls import check_files
from spanproof.sandbox.environments import Environments, Leases
from spanproof.sandbox.errors import BadSetting, UnsupportedFixtures, UnsupportedLanguage
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.guest.wire import Frame, Header
from spanproof.sandbox.javascript_tests import has_javascript_tests, run_javascript_tests
from spanproof.sandbox.model import (
    Execution,
    FailureClass,
    Fixtures,
    Limits,
    PackageSet,
    Program,
    SessionSpec,
)
from spanproof.sandbox.supervisor.namespaces.host_paths import may_exist_on_host
from spanproof.sandbox.supervisor.namespaces.root import ENVIRONMENT, Bind
from spanproof.sandbox.supervisor.run.job import build_job, check_database, check_language
from spanproof.sandbox.supervisor.run.session import Loan, SupervisorSession, build_session_job
from spanproof.sandbox.toolchains import TOOLCHAINS, StartCounts, build_script, read_outcome

_GRACE_S = 15.0
# What is known before the first container is up; it names the toolchains of its image.
_ALWAYS = frozenset({"python", "bash", "sql", "javascript", "typescript"})


class DockerSandbox(Sandbox):
    """Runs programs in containers; `workers` of them at once."""

    name = "docker"
    languages = _ALWAYS
    settings: ClassVar[Mapping[str, str]] = {
        "image": "The image programs find around them: needs python3, 3.11 or newer, and bash or node for"
        " those. Never pulled by itself. Default python:3.12-slim.",
        "host": "The daemon's address, as unix:///run/podman/podman.sock or tcp://…; default DOCKER_HOST, or"
        " Docker's socket.",
        "runtime": "The OCI runtime, by its name at the daemon, as runsc; default the daemon's own.",
        "user": "Whom programs run as, as UID:GID, neither of them 0. Default 64206:64206.",
        "cpus": "How many processors a container may use. Default 1.",
        "seccomp": "`own` (the default): the jail's list of calls, so that privileged ones are recorded;"
        " `default`: the daemon's profile, which refuses some before they can be recorded.",
        "runs": "After how many programs a container is replaced. Default 500.",
    }

    def __init__(
        self,
        *,
        workers: int = 1,
        image: str = "python:3.12-slim",
        host: str = "",
        runtime: str = "",
        user: str = "64206:64206",
        cpus: str = "1",
        seccomp: str = "own",
        runs: str = "500",
    ) -> None:
        ids = user.split(":")
        if len(ids) != 2 or not all(one.isdecimal() and int(one) > 0 for one in ids):
            raise BadSetting(f"docker: user {user!r} is no UID:GID of numbers above 0, as 64206:64206")
        if not image:
            raise BadSetting("docker: image is empty; name one, as python:3.12-slim")
        if seccomp not in ("own", "default"):
            raise BadSetting(f"docker: seccomp {seccomp!r} is neither own nor default")
        self._settings = Settings(image, host, runtime, user, _parse_number("cpus", cpus), seccomp)
        # Which of them holds here is known when the first container is up.
        self.evidence = frozenset(Evidence) if not runtime else frozenset(Evidence) - {Evidence.ATTEMPTS}
        self._workers = threading.BoundedSemaphore(max(1, workers))
        self._pool = Pool(self._settings, max(1, workers), max(1, int(_parse_number("runs", runs))))
        self.environments = Environments(partial(build_in, self._pool, user))
        self._leases = Leases(self.environments)
        self._start_counts = StartCounts()

    def availability(self) -> Availability:
        """Whether the daemon is there, and a container of the image comes up."""
        return probe.get_availability(self._settings)

    def run(self, program: Program) -> Execution:
        """Run one program; see `Sandbox.run`."""
        if has_javascript_tests(program):
            return run_javascript_tests(program, self.run)
        if program.language in TOOLCHAINS:
            script = build_script(program)
            self._check_toolchain(program, script)
            return read_outcome(program, self.run(script), self._start_counts.find_counts(program, self.run))
        with self._workers:
            container = self._get_container(program.limits, program.fixtures)
            try:
                check_fixtures(program.fixtures, container)
                header, parts = build_job(program, container.runtimes)
            except BaseException:
                self._pool.add_idle(container)  # nothing was sent to it
                raise
            return self._run(program, container, header, parts)

    def _check_toolchain(self, program: Program, script: Program) -> None:
        """Refuse a language whose toolchain is not in the image."""
        with self._workers:
            container = self._get_container(script.limits, script.fixtures)
            self._pool.add_idle(container)
        check_language(program.language, container.runtimes)

    def _run(self, program: Program, container: Container, header: Header, parts: list[bytes]) -> Execution:
        try:
            container.send(header, parts)
            answer: Frame = container.wait_for_frame(program.limits.wall_s + _GRACE_S)
        except ContainerEnded as end:
            self._pool.close_container(container)
            if end.out_of_memory:
                return Execution(FailureClass.OUT_OF_MEMORY, signal=9)
            raise
        except BaseException:
            self._pool.close_container(container)
            raise
        self._pool.add_idle(container)
        execution = build_execution(
            answer.header,
            answer.parts,
            program.limits,
            language=program.language,
            may_exist=self._may_exist_on_daemon_host,
            tests=program.tests,
        )
        check_database(answer.header, execution, program)
        return execution

    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Start a session; see `Sandbox.session`."""
        if spec.language != "python":
            raise UnsupportedLanguage(
                f"the docker backend has sessions in python only, not {spec.language!r}"
            )
        check_files(spec.files)
        container = self._get_container(spec.limits, spec.fixtures)
        loan = Loan(
            container, lambda: self._pool.add_idle(container), lambda: self._pool.close_container(container)
        )
        try:
            check_fixtures(spec.fixtures, container)
            return SupervisorSession(
                loan, build_session_job(spec), spec, answer, self._may_exist_on_daemon_host
            )
        except BaseException:
            loan.wait_for_close()
            raise

    def _get_container(self, limits: Limits, fixtures: Fixtures) -> Container:
        binds = () if fixtures.packages is None else (self._build_package_bind(fixtures.packages),)
        shape = Shape(limits.memory_bytes, limits.processes, limits.disk_bytes, binds)
        container = self._pool.get_container(shape)
        self.evidence = container.evidence
        self.languages = _ALWAYS | container.runtimes.toolchains
        return container

    def _may_exist_on_daemon_host(self, path: str) -> bool:
        """Whether something may lie on the daemon's machine where the image has nothing; if that is ours."""
        return self._pool.is_local() and may_exist_on_host(path)

    def _build_package_bind(self, packages: PackageSet) -> Bind:
        """Return the image of a package set, which is built at its first use."""
        if not self._pool.is_local():
            raise UnsupportedFixtures(
                "the docker backend binds package sets from this machine's files, which a daemon elsewhere"
                " does not see: name one by its socket (host=unix:///…), or put the packages into the image"
            )
        return Bind(str(self._leases.get_lease(packages).path), ENVIRONMENT)

    def remove_leftovers(self) -> list[str]:
        """See `Sandbox.remove_leftovers`: containers whose owner is dead."""
        return [f"container {container[:12]}" for container in self._pool.run_sweep()]

    def close(self) -> None:
        """Remove every container of it."""
        self._pool.close()
        self._leases.close()


def _parse_number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise BadSetting(f"docker: {name} {text!r} is no number above 0")
    return value
