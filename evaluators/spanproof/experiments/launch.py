"""The agent of one trial: started as a process of its own, traced, and ended with all that it started.

A module's agent runs in forks of `spanproof.agent_process.child`, which traces it into a file. A program or a
service traces itself, and sends its spans to a listener on loopback; a service's are found by the
`traceparent` it was called with.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from spanproof.evaluators.replay.fixtures import NO_FIXTURES, FixtureSet
from spanproof.experiments.agents import AgentKind, AgentUnderTest
from spanproof.experiments.code_digest import list_module_folders
from spanproof.experiments.container import run_in_container
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.listener import OtlpListener
from spanproof.experiments.settings import Settings, Tools
from spanproof.sandbox.errors import BadFixture, UnsupportedFixtures
from spanproof.sandbox.untrusted_files import UnsafeFileError, read_beneath
from spanproof.suites import Case
from spanproof.suites.requests import HttpRequest
from spanproof.suites.requirements import list_required_files
from spanproof.trace import RecordedCall

if TYPE_CHECKING:
    from spanproof.experiments.fixture_proxy import FixtureProxy

_OUTPUT_BYTES = 64 * 1024
# Of a work directory: more than any case that is mined has.
_MAX_FILES = 1_000
_LEFT_OUT_FOLDERS = frozenset(
    (".git", ".mypy_cache", ".pytest_cache", ".venv", "__pycache__", "node_modules")
)
_FILE_BYTES = 16 * 1024 * 1024
# How long the agent's module may take to be imported.
_IMPORT_S = 300.0

# How long a service's last spans are waited for.
_SETTLE_S = 2.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How the agent's process ended.

    Attributes:
        error: why there is no answer, as a sentence; None where there is one.
        wall_s: from its start to its end.
        output: the end of what it printed.
        files: those of its work directory that the case's requirements name, all where the case has tests;
            None of a service.
        requests: calls over HTTP to the hosts that the case has records of.
    """

    answer: str | None
    error: str | None
    wall_s: float
    output: str = ""
    unknown_calls: tuple[Mapping[str, Any], ...] = field(default=())
    files: Mapping[str, bytes] | None = None
    requests: tuple[HttpRequest, ...] = ()


class AgentRunner:
    """Runs one agent, a trial at a time.

    Not thread-safe: one for each trial that runs at once.
    """

    def __init__(
        self,
        agent: AgentUnderTest,
        settings: Settings,
        servers: AgentServers,
        listener: OtlpListener | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            agent: which one.
            settings: the limits.
            servers: has the process of a module's agent, which runners share.
            listener: where a service sends its spans; needed for one.
        """
        self._agent = agent
        self._settings = settings
        self._servers = servers
        self._listener = listener
        self._connection: AgentConnection | None = None

    def run(
        self, case: Case, recorded: Sequence[RecordedCall], seed: int, folder: Path, trace_file: Path
    ) -> Ended:
        """Run the agent on a case once.

        Args:
            case: the task with its inputs and files.
            recorded: the tool calls that it may be answered from.
            seed: of this trial.
            folder: a new, empty folder for it.
            trace_file: where its spans are written.

        Raises:
            ExperimentError: the agent cannot be made or started at all.
        """
        work = folder / "work"
        work.mkdir()
        fixtures = _build_fixtures(case)
        files = {name: content.encode() for name, content in case.files.items()}
        _write_files(work, {**fixtures.files, **files})
        if self._agent.kind is AgentKind.URL:
            return self._run_service(case, trace_file)
        with ExitStack() as stack:
            proxy = stack.enter_context(_open_proxy(fixtures, folder)) if fixtures.http else None
            if self._agent.kind is AgentKind.MODULE:
                ended = self._run_module(case, recorded, seed, folder, trace_file, proxy)
            else:
                own = stack.enter_context(OtlpListener())
                ended = _run_program(self._agent, case, self._settings, seed, work, own, proxy)
                own.write(trace_file)
        requests = (*proxy.requests,) if proxy else ()
        unknown = (*ended.unknown_calls, *_iter_unknown_requests(requests))
        names = {*list_required_files(case.required)}
        if case.tests is not None:
            names |= _list_files(work)
        files = _read_files(work, sorted(names))
        return replace(ended, files=files, unknown_calls=unknown, requests=requests)

    def close(self) -> None:
        """Give up the connection to the process that has the agent's module."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run_service(self, case: Case, trace_file: Path) -> Ended:
        trace_id = secrets.token_hex(16)
        ended = _fetch_from_service(self._agent, case, self._settings, trace_id)
        if self._listener is not None:
            self._listener.write(trace_file, trace_id, _SETTLE_S)
        return ended

    def _run_module(
        self,
        case: Case,
        recorded: Sequence[RecordedCall],
        seed: int,
        folder: Path,
        trace_file: Path,
        proxy: FixtureProxy | None,
    ) -> Ended:
        answers = recorded if self._settings.tools is Tools.RECORDED else ()
        result = folder / "result.json"
        job = {
            "task": case.task,
            "inputs": dict(case.inputs),
            "seed": seed,
            "cohort": {"task": case.cohort.task or case.id},
            "recorded": [_encode_call(call) for call in answers],
            "environment": proxy.environment if proxy else {},
            "work": str(folder / "work"),
            "trace": str(trace_file),
            "result": str(result),
        }
        path = folder / "job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        if self._connection is None or self._connection.is_used_up:
            self.close()
            self._connection = self._servers.open_connection()
        start = time.monotonic()
        code = self._connection.run(path, self._settings.timeout_s)
        wall_s = time.monotonic() - start
        output = self._connection.output
        if code is None:
            return Ended(None, f"it did not answer within {self._settings.timeout_s:g} s", wall_s, output)
        if not result.exists():
            return Ended(
                None, f"its process ended with exit code {code}: {_read_last_line(output)}", wall_s, output
            )
        ended = json.loads(result.read_text(encoding="utf-8"))
        error = ended["error"]
        if not ended["made"]:
            raise _build_error(self._agent, error)
        shown = f"it raised {error['type']}: {error['message']}" if error else None
        return Ended(ended["answer"], shown, wall_s, output, tuple(ended["unknown_calls"]))


def _build_fixtures(case: Case) -> FixtureSet:
    """Return what the case's runs find around them.

    Raises:
        ExperimentError: the case names a set that its fixtures do not have.
    """
    if case.fixtures is None:
        return NO_FIXTURES
    try:
        return case.fixtures.get_fixture_set(replace(case.cohort, task=case.cohort.task or case.id))
    except BadFixture as problem:
        raise ExperimentError(str(problem)) from problem


def _write_files(work: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)


def _open_proxy(fixtures: FixtureSet, folder: Path) -> FixtureProxy:
    """Return the proxy that answers the recorded calls.

    Raises:
        ExperimentError: no certificate can be made for a recorded host.
    """
    # Imported here: it needs epoll, which only Linux has.
    from spanproof.experiments.fixture_proxy import FixtureProxy

    try:
        return FixtureProxy(fixtures.http, folder)
    except UnsupportedFixtures as problem:
        raise ExperimentError(str(problem)) from problem


def _iter_unknown_requests(requests: Iterable[HttpRequest]) -> Iterator[Mapping[str, Any]]:
    for request in requests:
        if not request.is_recorded:
            yield {"tool": request.method, "args": [request.url], "kwargs": {}}


def _list_files(work: Path) -> set[str]:
    """Return the names of the files in a work directory, without caches and version control."""
    found: set[str] = set()
    for folder, folders, names in os.walk(work):
        folders[:] = [name for name in folders if name not in _LEFT_OUT_FOLDERS]
        location = Path(folder).relative_to(work)
        found.update((location / name).as_posix() for name in names)
        if len(found) > _MAX_FILES:
            break
    return found


def _read_files(work: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return the files of a work directory that are there; links out of it are not followed."""
    found = {}
    for name in names:
        with suppress(OSError, UnsafeFileError):
            found[name] = read_beneath(work, name, _FILE_BYTES)
    return found


class AgentServer:
    """The process that has the agent's module: `spanproof.agent_process.child`.

    Attributes:
        forks: whether it runs jobs of several connections, each in a fork; else the first job only.
    """

    def __init__(self, agent: AgentUnderTest, settings: Settings) -> None:
        """Start it, and wait until the module is loaded.

        Raises:
            ExperimentError: the module cannot be imported, or that takes longer than five minutes.
        """
        config = {
            "agent": agent.target,
            "path": list_module_folders(),
            "service": agent.target.partition(":")[2],
            "tools": settings.tools.value,
            "refuse": settings.refuse_unknown,
        }
        self._control, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile("a+b") as printed:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "spanproof.agent_process.child",
                    json.dumps(config),
                    str(theirs.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                # Hashes are seeded, so that sets are in the same order in each run.
                env={**os.environ, **dict(agent.environment), "PYTHONHASHSEED": str(settings.seed % 2**32)},
                start_new_session=True,
            )
            theirs.close()
            loaded = LineReader(self._control.fileno()).wait_for_line(_IMPORT_S)
            if not loaded or loaded["error"]:
                self.close()
                if loaded:
                    raise _build_error(agent, loaded["error"])
                raise ExperimentError(
                    f"the module of the agent {agent.target} was not imported within {_IMPORT_S:g} s:"
                    f" {_read_last_line(_read_end(printed.fileno()))}"
                )
        self.forks: bool = loaded["forks"]

    def open_connection(self) -> AgentConnection:
        """Return a connection, which runs jobs beside those of others.

        Raises:
            OSError: the process has ended.
        """
        ours, theirs = socket.socketpair()
        printed = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - it is closed with the connection
        with theirs:
            socket.send_fds(self._control, [b"\n"], [theirs.fileno(), printed.fileno()])
        return AgentConnection(self, ours.detach(), printed)

    def find_exit_code(self) -> int | None:
        """Return its exit code; None while it runs."""
        return self._process.poll()

    def close(self) -> None:
        """Kill it with all that it started."""
        _close_process_group(self._process.pid)
        self._process.wait()
        self._control.close()


class AgentServers:
    """The processes of an agent: one that is shared, or one for each job where it cannot be forked.

    Thread-safe.
    """

    def __init__(self, agent: AgentUnderTest, settings: Settings) -> None:
        """Start nothing yet."""
        self._agent = agent
        self._settings = settings
        self._lock = threading.Lock()
        self._server: AgentServer | None = None

    def open_connection(self) -> AgentConnection:
        """Return a connection to a process that has the agent's module.

        Raises:
            ExperimentError: the module cannot be imported.
        """
        with self._lock:
            if self._server is None or self._server.find_exit_code() is not None:
                self.close()
                self._server = AgentServer(self._agent, self._settings)
            server = self._server
            if not server.forks:
                self._server = None
            return server.open_connection()

    def close(self) -> None:
        """End the process that is shared."""
        if self._server is not None:
            self._server.close()
            self._server = None


class AgentConnection:
    """Runs jobs in an agent's process, one after the other."""

    def __init__(self, server: AgentServer, descriptor: int, printed: IO[bytes]) -> None:
        self._server = server
        self._descriptor = descriptor
        self._answers = LineReader(descriptor)
        self._printed = printed
        self.is_used_up = False

    def run(self, job: Path, timeout_s: float) -> int | None:
        """Run a job; returns its exit code, None where it was killed for being late."""
        forks = self._server.forks
        self.is_used_up = not forks
        self._printed.truncate(0)
        os.write(self._descriptor, f"{job}\n".encode())
        started = self._answers.wait_for_line(timeout_s)
        if not started:
            return None
        ended = self._answers.wait_for_line(timeout_s)
        # What the agent left running, and the agent itself where it is late.
        _close_process_group(started["pid"])
        if forks and ended is None:
            self.is_used_up = self._answers.wait_for_line(_SETTLE_S) is None
            return None
        return ended["code"] if ended else self._server.find_exit_code()

    @property
    def output(self) -> str:
        """The end of what the agent printed."""
        return _read_end(self._printed.fileno())

    def close(self) -> None:
        """Close it, and end a process that is not shared."""
        self._answers.close()
        self._printed.close()
        if not self._server.forks:
            self._server.close()


def _read_end(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    text = os.pread(descriptor, _OUTPUT_BYTES, max(0, size - _OUTPUT_BYTES))
    return text.decode("utf-8", "replace")


class LineReader:
    """Reads lines of JSON from a descriptor, with a limit on how long that takes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._run_polling = select.poll()
        self._run_polling.register(descriptor, select.POLLIN)
        self._rest = b""

    def wait_for_line(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next line; None where none comes in time, or the other end was closed."""
        until = time.monotonic() + timeout_s
        while b"\n" not in self._rest:
            # `select.select` refuses descriptors from 1,024 on.
            ready = self._run_polling.poll(max(0.0, until - time.monotonic()) * 1000)
            part = os.read(self._descriptor, 65536) if ready else b""
            if not part:
                return None
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)


def _build_error(agent: AgentUnderTest, error: Mapping[str, str]) -> ExperimentError:
    module, _, name = agent.target.partition(":")
    message = f"the agent {agent.target} cannot be made: {error['type']}: {error['message']}"
    if error["traceback"]:
        return ExperimentError(f"{message}\n{error['traceback'].rstrip()}")
    return ExperimentError(
        f"{message}; the working directory must have the module {module}, or it must be installed, and the"
        f" module must have {name}"
    )


def _close_process_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _run_program(
    agent: AgentUnderTest,
    case: Case,
    settings: Settings,
    seed: int,
    work: Path,
    listener: OtlpListener,
    proxy: FixtureProxy | None,
) -> Ended:
    environment = {
        **dict(agent.environment),
        **(proxy.environment if proxy else {}),
        "OTEL_EXPORTER_OTLP_ENDPOINT": listener.url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "SPANPROOF_TASK": case.task or "",
        "SPANPROOF_INPUTS": json.dumps(dict(case.inputs)),
        "SPANPROOF_SEED": str(seed),
        "PYTHONHASHSEED": str(seed),
    }
    stdin = (case.task or "").encode()
    if agent.image:
        code, wall_s, printed = run_in_container(
            agent.image,
            agent.command,
            settings.timeout_s,
            work,
            environment,
            stdin,
            readable=[proxy.authorities] if proxy and proxy.authorities else [],
        )
    else:
        code, wall_s, printed = _run_process(agent.command, settings.timeout_s, work, environment, stdin)
    output = printed[-_OUTPUT_BYTES:].decode("utf-8", "replace")
    if code is None:
        return Ended(None, f"it did not answer within {settings.timeout_s:g} s", wall_s, output)
    if code:
        return Ended(None, f"it ended with exit code {code}: {_read_last_line(output)}", wall_s, output)
    return Ended(output.strip(), None, wall_s, output)


def _fetch_from_service(agent: AgentUnderTest, case: Case, settings: Settings, trace_id: str) -> Ended:
    body = json.dumps({"task": case.task, "inputs": dict(case.inputs)}).encode()
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked
        agent.target,
        body,
        {"content-type": "application/json", "traceparent": f"00-{trace_id}-{secrets.token_hex(8)}-01"},
    )
    start = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=settings.timeout_s) as response:  # noqa: S310
            answer = response.read(_OUTPUT_BYTES).decode("utf-8", "replace")
    except urllib.error.HTTPError as problem:
        return Ended(None, f"it answered with status {problem.code}", time.monotonic() - start)
    except OSError as problem:
        return Ended(None, f"{agent.target} cannot be reached: {problem}", time.monotonic() - start)
    return Ended(_read_answer(answer), None, time.monotonic() - start)


def _run_process(
    words: Sequence[str],
    timeout_s: float,
    work: Path,
    environment: Mapping[str, str],
    stdin: bytes = b"",
) -> tuple[int | None, float, bytes]:
    """Run a program in a session of its own; returns its exit code, None where it was killed."""
    start = time.monotonic()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=work,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    except OSError as problem:
        raise ExperimentError(
            f"the agent {words[0]!r} cannot be started: {problem.strerror or problem}"
        ) from problem
    try:
        output, _ = process.communicate(stdin, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return None, time.monotonic() - start, b""
    finally:
        # What the agent left running, and the agent itself where it is late or we are interrupted.
        _close_process_group(process.pid)
        process.wait()
    return process.returncode, time.monotonic() - start, output


def _encode_call(call: RecordedCall) -> dict[str, Any]:
    error = call.error
    return {
        "tool": call.tool,
        "args": list(call.args),
        "kwargs": dict(call.kwargs),
        "result": call.result.value if call.result else None,
        "error": {"type": error.type or "RuntimeError", "message": error.message} if error else None,
    }


def _read_answer(body: str) -> str:
    """Return the answer in a response: the field `answer` of a JSON object, else the text itself."""
    try:
        content = json.loads(body)
    except ValueError:
        return body
    answer = content.get("answer", content) if isinstance(content, dict) else content
    return answer if isinstance(answer, str) else json.dumps(answer)


def _read_last_line(output: str) -> str:
    return output.strip().rpartition("\n")[2] or "it printed nothing"
