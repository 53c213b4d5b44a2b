"""The agent's own processes: `python -m spanproof.agent_process.child CONFIG CONTROL`.

Imports the agent's module once, prepares the tools of each framework that it imports, and then runs each job
that it is given in a fork of itself, so that a trial begins from a fresh process without its imports. Where
the module started threads, which do not survive a fork, it runs one job itself and ends.

The descriptor CONTROL is a socket. A line of JSON says that the module is loaded. Then each message on it
brings two descriptors: a connection, and the file for what its jobs print. The jobs of a connection run one
after the other, those of several connections at once. Jobs are paths, a line each; two lines of JSON answer
each: the process that runs it, and its exit code.
"""

from __future__ import annotations

import inspect
import json
import os
import socket
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from spanproof.agent_process.generators import RandomGenerators
from spanproof.agent_process.on_import import on_import
from spanproof.agent_process.recorded_tools import RecordedTools, add_recorded_tools
from spanproof.instrumentors import register, set_cohort
from spanproof.instrumentors.spans.ids import UnseededIdGenerator
from spanproof.semconv import openinference

FRAMEWORKS = {"smolagents": "smolagents", "langchain_core": "langchain", "agents": "openai-agents"}
"""Name of the framework by its package."""


class FileExporter(SpanExporter):
    """Appends spans to a file; concatenated requests of OTLP are one request."""

    def __init__(self) -> None:
        self.path = Path(os.devnull)
        self.exported = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write these spans."""
        with self.path.open("ab") as file:
            file.write(encode_spans(spans).SerializeToString())
        self.exported += len(spans)
        return SpanExportResult.SUCCESS


class AgentProcess:
    """The process that has the agent's module, and runs jobs."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Set up the trace exporter, and have tools and frameworks prepared when they are imported."""
        sys.path[0:0] = [folder for folder in config["path"] if folder not in sys.path]
        self._target: str = config["agent"]
        self._exporter = FileExporter()
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": config["service"]}), id_generator=UnseededIdGenerator()
        )
        self._provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        trace.set_tracer_provider(self._provider)
        self._tools = RecordedTools(refuse=config["refuse"])
        self._recorded: bool = config["tools"] == "recorded"
        self._generators = RandomGenerators()
        self._generators.start_watching()
        register(instrument=())
        for package, framework in FRAMEWORKS.items():
            on_import(package, partial(self._handle_import, framework))
        self._found: Any = None

    def _handle_import(self, framework: str) -> None:
        """Prepare a framework that was just imported."""
        try:
            if self._recorded:
                add_recorded_tools(self._tools, framework)
        except ModuleNotFoundError:
            return  # another package of this name
        register(instrument=(framework,))

    def run_import(self) -> None:
        """Import the agent's module."""
        module, _, name = self._target.partition(":")
        self._found = reduce(getattr, name.split("."), import_module(module))

    def run(self, path: str) -> None:
        """Run the job in this file, and write its result."""
        job = json.loads(Path(path).read_text(encoding="utf-8"))
        os.environ.update(job["environment"])
        self._generators.update_seeds(job["seed"])
        os.chdir(job["work"])
        self._exporter.path = Path(job["trace"])
        self._tools.update_calls(job["recorded"])
        result: dict[str, Any] = {"answer": None, "error": None, "made": False}
        try:
            agent = build_agent(self._found)
            result["made"] = True
            with set_cohort(**job["cohort"]):
                answer = run_agent(agent, job["task"], job["inputs"])
            result["answer"] = answer if isinstance(answer, str) else json.dumps(answer, default=str)
            if not self._exporter.exported:
                _write_run_span(self._target, job["task"], result["answer"])
        except BaseException as error:  # noqa: BLE001 - whatever the agent raises is its result
            result["error"] = encode_error(error)
        self._provider.shutdown()
        result["unknown_calls"] = self._tools.unknown
        Path(job["result"]).write_text(json.dumps(result, default=str), encoding="utf-8")


def main(config: str, control: int) -> None:
    """Serve connections until the other end of the control socket is closed."""
    with socket.socket(fileno=control) as channel:
        process = AgentProcess(json.loads(config))
        try:
            process.run_import()
        except BaseException as error:  # noqa: BLE001 - whatever its module raises
            _send_message(channel, error=encode_error(error))
            return
        forks = threading.active_count() == 1
        _send_message(channel, error=None, forks=forks)
        while descriptors := socket.recv_fds(channel, 1, 2)[1]:
            connection, printed = descriptors
            if forks and os.fork():
                os.close(connection)
                os.close(printed)
                continue
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            os.close(printed)
            channel.close()
            _handle_connection(process, socket.socket(fileno=connection), forks=forks)
            return


def _handle_connection(process: AgentProcess, connection: socket.socket, *, forks: bool) -> None:
    """Run the jobs of a connection until its other end is closed; only the first where nothing forks."""
    with connection, connection.makefile("r", encoding="utf-8") as jobs:
        for line in jobs:
            path = line.rstrip("\n")
            if not forks:
                _send_message(connection, pid=os.getpid())
                process.run(path)
                return
            pid = os.fork()
            if not pid:
                os.close(connection.detach())
                _run_in_fork(process, path)
            _send_message(connection, pid=pid)
            _, status = os.waitpid(pid, 0)
            _send_message(connection, code=os.waitstatus_to_exitcode(status))


def _send_message(connection: socket.socket, **what: Any) -> None:
    connection.sendall(json.dumps(what).encode() + b"\n")


def _run_in_fork(process: AgentProcess, path: str) -> NoReturn:
    """Run a job in a session of its own."""
    os.setsid()
    code = 1
    try:
        process.run(path)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def encode_error(error: BaseException) -> dict[str, str]:
    """Return an exception as JSON data; its traceback begins in the agent's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__ and "importlib" not in frame.filename]
    shown = "".join(traceback.format_list(own[-8:]))
    return {"type": type(error).__name__, "message": str(error), "traceback": shown}


def build_agent(found: Any) -> Any:
    """Return the agent; a class or a factory without parameters is called."""
    if inspect.isclass(found) or (inspect.isroutine(found) and not _takes_task(found)):
        return found()
    return found


def run_agent(agent: Any, task: str, inputs: Mapping[str, Any]) -> Any:
    """Return the agent's answer to a task, in the way its framework is called."""
    framework = type(agent).__module__.partition(".")[0]
    if framework == "smolagents":
        return agent.run(task, additional_args=dict(inputs) or None)
    if framework == "agents":
        return import_module("agents").Runner.run_sync(agent, task, **inputs).final_output
    if hasattr(agent, "invoke"):
        return _get_answer(agent.invoke({"messages": [("user", task)], **inputs}))
    method = agent if callable(agent) else agent.run
    answer = method(task, **inputs)
    if not inspect.isawaitable(answer):
        return answer
    import asyncio  # takes a tenth of a second, which only such an agent needs

    return asyncio.run(_wait_for(answer))


async def _wait_for(answer: Any) -> Any:
    return await answer


def _takes_task(function: Any) -> bool:
    """Whether a function has a parameter that must be given: then it is the agent, else a factory."""
    parameters = inspect.signature(function).parameters.values()
    required = (parameter for parameter in parameters if parameter.default is parameter.empty)
    return any(
        parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in required
    )


def _get_answer(state: Any) -> Any:
    """Return the text of a graph's last message; whatever else a graph returns is its answer itself."""
    messages = state.get("messages") if isinstance(state, Mapping) else None
    if not messages:
        return getattr(state, "content", state)
    return getattr(messages[-1], "content", messages[-1])


def _write_run_span(target: str, task: str, answer: str) -> None:
    """Record the run of a function that traced nothing itself, so that its answer can be judged."""
    attributes = {
        openinference.SPAN_KIND: "AGENT",
        openinference.INPUT_VALUE: task,
        openinference.OUTPUT_VALUE: answer,
    }
    tracer = trace.get_tracer("spanproof.experiments")
    tracer.start_span(target.partition(":")[2], attributes=attributes).end()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
