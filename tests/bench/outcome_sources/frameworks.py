"""Outputs of agent frameworks and HTTP clients: the words in which they hand a failure to the model."""

from __future__ import annotations

import asyncio
import http.server
import json
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from outcome_sources import DOMAINS, Domain, Output, pick


def raised(d: Domain) -> Iterator[Exception]:
    """Errors that tools raise."""
    yield ConnectionError(f"{d.table} database is down")
    yield ValueError(f"no {d.key} 17 in {d.table}")
    yield KeyError(d.text)
    yield TimeoutError("timed out after 30 s")
    yield PermissionError(13, "Permission denied", f"{d.table}.csv")
    yield RuntimeError("rate limit exceeded, retry in 20 s")
    yield Exception(f"{d.table} service unavailable")


def fine(d: Domain) -> Iterator[str]:
    """Results that tools return."""
    yield f"{d.table}: {len(d.rows)} rows, {d.rows[0][1]} {d.number}"
    yield f"The last {d.table} job failed on Tuesday; 3 of 4 jobs succeeded."
    yield f"{d.key} {d.rows[0][0]}: {d.text} is {d.rows[0][2]}"
    yield f"Status of {d.rows[-1][0]}: {d.rows[-1][2]}"
    yield f"Policy: if a payment is refused, an error e-mail is sent. Denied {d.table} can be opened again."
    yield json.dumps({d.key: d.rows[0][0], d.text: d.rows[0][2], "error_count": 2})


def _tool() -> tuple[list[Exception | str], Callable[[int], str]]:
    """A tool that gives or raises what its list holds."""
    held: list[Exception | str] = [""]

    def get(key: int) -> str:
        """Get rows."""
        if isinstance(held[0], Exception):
            raise held[0]
        return held[0]

    return held, get


def smolagents() -> Iterator[Output]:
    """smolagents: its own interpreter and its tool-calling agent."""
    from smolagents import LocalPythonExecutor, Tool, ToolCallingAgent
    from smolagents.models import Model

    programs = (
        "print(undefined_{t})",
        "import os",
        "{{}}['{t}']",
        "x = 1 / 0",
        "open('{t}.csv')",
        "rows = []\nrows[3]",
        "import {t}_client",
        "print('{t}'",
        "raise ValueError('no {t}')",
        "'a' + 1",
        "int('{t}')",
        "while True:\n    pass",
        "[].{t}()",
        "import subprocess",
        "eval('1')",
        "x, y = 1, 2, 3",
    )
    for d in DOMAINS:
        for at, program in enumerate(programs):
            if (at + len(d.table)) % 3 == 0 and "while" not in program:
                executor = LocalPythonExecutor([], max_print_outputs_length=500)
                executor.send_tools({})
                try:
                    executor(program.format(t=d.table))
                except Exception as error:
                    yield Output("python_interpreter", str(error), "failed")

        class Failing(Tool):  # type: ignore[misc]
            name = f"get_{d.table}"
            description = "Gets rows."
            inputs: ClassVar[dict[str, Any]] = {"key": {"type": "string", "description": "key"}}
            output_type = "string"
            error: Exception | None = None

            def forward(self, key: str) -> str:
                raise self.error or ValueError(key)

        class Nothing(Model):  # type: ignore[misc]
            def generate(self, *args: Any, **options: Any) -> Any:
                raise NotImplementedError

        tool = Failing()
        agent = ToolCallingAgent([tool], Nothing(model_id="none"), verbosity_level=0)
        for error in raised(d):
            tool.error = error
            try:
                agent.execute_tool_call(f"get_{d.table}", {"key": "17"})
            except Exception as said:
                yield Output(f"get_{d.table}", str(said), "failed")
        for name, arguments in ((f"get_{d.table}x", {}), (f"get_{d.table}", {"wrong": 1})):
            try:
                agent.execute_tool_call(name, arguments)
            except Exception as said:
                yield Output(name, str(said), "failed")
        for text in fine(d):
            yield Output(f"get_{d.table}", text, "ok")


def langgraph() -> Iterator[Output]:
    """LangGraph's tool node."""
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.prebuilt import ToolNode

    for d in DOMAINS:
        held, get = _tool()

        named = tool(f"get_{d.table}")(get)
        node = ToolNode([named], handle_tool_errors=True)

        def call(name: str, arguments: dict[str, Any], node: ToolNode = node) -> str:
            from langgraph.graph import END, START, MessagesState, StateGraph

            graph = StateGraph(MessagesState)
            graph.add_node("tools", node)
            graph.add_edge(START, "tools")
            graph.add_edge("tools", END)
            requested = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
            done = graph.compile().invoke({"messages": [AIMessage("", tool_calls=[requested])]})
            return str(done["messages"][-1].content)

        for error in raised(d):
            held[0] = error
            yield Output(f"get_{d.table}", call(f"get_{d.table}", {"key": 1}), "failed")
        yield Output(f"get_{d.table}", call(f"get_{d.table}", {"key": "many"}), "failed")
        yield Output(f"get_{d.table}", call(f"get_{d.table}", {}), "failed")
        yield Output(f"fetch_{d.table}", call(f"fetch_{d.table}", {}), "failed")
        for text in fine(d):
            held[0] = text
            yield Output(f"get_{d.table}", call(f"get_{d.table}", {"key": 1}), "ok")


def openai_agents() -> Iterator[Output]:
    """The function tools of the OpenAI Agents SDK."""
    from agents import function_tool
    from agents.tool_context import ToolContext

    for d in DOMAINS:
        held, get = _tool()

        named = function_tool(get, name_override=f"get_{d.table}")

        def call(arguments: str, named: Any = named, name: str = f"get_{d.table}") -> str:
            context = ToolContext(context=None, tool_name=name, tool_call_id="1", tool_arguments=arguments)
            return str(asyncio.run(named.on_invoke_tool(context, arguments)))

        for error in raised(d):
            held[0] = error
            yield Output(f"get_{d.table}", call('{"key": 1}'), "failed")
        for arguments in ('{"key": "many"}', "{}", "{"):
            yield Output(f"get_{d.table}", call(arguments), "failed")
        for text in fine(d):
            held[0] = text
            yield Output(f"get_{d.table}", call('{"key": 1}'), "ok")


def tool_wrappers() -> Iterator[Output]:
    """Tools that people write: they catch what is raised and return a sentence."""
    wordings: tuple[Callable[[Exception], str], ...] = (
        lambda e: f"Error: {e}",
        lambda e: f"An error occurred: {e}",
        lambda e: f"{type(e).__name__}: {e}",
        lambda e: repr(e),
        lambda e: f"Failed to fetch data: {e}",
        lambda e: f"Tool error - {e}",
        lambda e: f"Exception raised: {e}",
        lambda e: f"ERROR: {e}",
        lambda e: f"Could not complete the request ({e})",
        lambda e: f"Sorry, the lookup failed: {e}",
        lambda e: f"<error>{e}</error>",
        lambda e: f"\N{CROSS MARK} {e}",
        lambda e: f"Request failed with {type(e).__name__}: {e}",
        lambda e: f"Unable to get data due to: {e}",
        lambda e: f"Unexpected error: {e}",
        lambda e: f"[ERROR] {e}",
        lambda e: f"error={type(e).__name__} message={e}",
        lambda e: "".join(traceback.format_exception(e)),
        lambda e: f"Something went wrong while reading: {e}",
        lambda e: f"Operation failed. Reason: {e}",
        lambda e: f"The tool failed with error: {e}",
        lambda e: f"**Error:** {e}",
        lambda e: f"Error ({type(e).__name__}): {e}",
        lambda e: f"Lookup error: {e}",
    )
    for d in DOMAINS:
        for at, error in enumerate(raised(d)):
            for number, wording in enumerate(wordings):
                if (at + number + len(d.table)) % 6 == 0:
                    tool = pick(
                        (f"get_{d.table}", f"{d.table}_lookup", "lookup", "get_weather", "calculator"),
                        d,
                        number,
                    )
                    yield Output(tool, wording(error), "failed")
        for text in fine(d):
            yield Output(pick((f"get_{d.table}", "lookup", f"{d.table}_status"), d, text), text, "ok")


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = int(self.path.rsplit("/", 1)[-1])
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b'{"detail": "x"}')

    def log_message(self, *args: object) -> None:
        """Print nothing."""


def _served(get: Callable[[str], None]) -> Iterator[Exception]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    for d in DOMAINS:
        for status in (400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504):
            if (status + len(d.table)) % 3 == 0:
                try:
                    get(f"{root}/{d.table}/{status}")
                except Exception as error:
                    yield error
        for url in (f"http://127.0.0.1:1/{d.table}", f"http://{d.table}.invalid/", "not a url", "ftp://x/y"):
            try:
                get(url)
            except Exception as error:
                yield error
    server.shutdown()


def _client(name: str, get: Callable[[str], None]) -> Iterator[Output]:
    for error in _served(get):
        forms = (
            str(error),
            f"Error: {error}",
            repr(error),
            f"{type(error).__name__}: {error}",
            f"HTTP request failed: {error}",
            f"Request failed: {error}",
            f"Failed to fetch: {error}",
            "".join(traceback.format_exception(error)[-1:]),
        )
        text = pick(forms, name, str(error))
        text = re.sub(r"127\.0\.0\.1:\d{4,5}", "api.example.com", text)
        yield Output(
            pick(("http_get", "call_api", "get_json", "api_request", "lookup"), str(error), name),
            text,
            "failed",
        )
    words = (
        (
            "HTTP/1.1 200 OK\ncontent-type: text/html\n\n<h1>Error handling</h1><p>A 404 is sent when the"
            " page was not found.</p>"
        ),
        '200 OK: {"status": "failed", "id": 4, "items": [1, 2, 3]}',
        '{"items": [{"code": 503, "count": 4}], "total": 1}',
        "<html><head><title>How to fix error 500</title></head><body>Restart it.</body></html>",
        "<html><head><title>Orders</title></head><body>2 failed, 1 shipped</body></html>",
        "Status: 200\nBody: error log is empty",
        '[{"path": "/a", "status": 404}, {"path": "/b", "status": 200}]',
        "Checked 12 links; 2 return 404: /a, /b",
        "GET /orders 200 in 14 ms",
        "Uptime 99.8 %; last outage: 503 for 4 minutes",
    )
    for word in words:
        yield Output(pick(("http_get", "call_api", "check_links", "get_json"), word, name), word, "ok")


def requests_client() -> Iterator[Output]:
    """HTTP errors by requests."""
    import requests

    yield from _client("requests", lambda url: requests.get(url, timeout=5).raise_for_status())


def httpx_client() -> Iterator[Output]:
    """HTTP errors by httpx."""
    import httpx

    def get(url: str) -> None:
        httpx.get(url, timeout=5).raise_for_status()

    yield from _client("httpx", get)


def urllib_client() -> Iterator[Output]:
    """HTTP errors by urllib."""
    import urllib.request

    yield from _client("urllib", lambda url: urllib.request.urlopen(url, timeout=5).close())
