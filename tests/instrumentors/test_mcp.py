"""MCP: real clients and servers over stdio and HTTP, and what of their calls is on the trace."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.lowlevel import Server
from opentelemetry.trace import StatusCode
from waiting import wait_until

from spanproof.instrumentors import diagnostics, instrument_mcp, trace, uninstrument
from spanproof.instrumentors.frameworks.diagnostics import remove_diagnostics
from spanproof.instrumentors.frameworks.mcp.instrumentor import get_value

from .mcp_shop import make_server

SCRIPT = Path(__file__).parent / "mcp_shop.py"
CODE = "total = 12 * 3\nprint(total)"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("run_python", {"code": CODE}),
    ("prices", {"items": ["box"]}),
    ("stock_of", {"shelf": 2}),
    ("stock_of", {"shelf": 9}),
)


@pytest.fixture
def traced(recorded):
    trace.configure(recorded.provider)
    instrument_mcp(recorded.provider)
    yield recorded
    uninstrument()
    trace.configure()


def talk(connection: Any) -> list[Any]:
    """Play an agent whose model calls the tools in order."""

    async def run() -> list[Any]:
        async with Client(connection) as client:
            with trace.agent(name="clerk"):
                return [await client.call_tool(name, arguments) for name, arguments in CALLS]

    return asyncio.run(run())


def stdio(*arguments: str) -> Any:
    return stdio_client(StdioServerParameters(command=sys.executable, args=[str(SCRIPT), *arguments]))


@pytest.fixture
def over_http():
    """The address of a server over HTTP."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = make_server().streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the MCP server listens")
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join(20)


def assert_calls(tools: list[Any]) -> None:
    assert [span.attributes["gen_ai.tool.name"] for span in tools] == [name for name, _ in CALLS]
    given = [json.loads(span.attributes["gen_ai.tool.call.arguments"]) for span in tools]
    assert given == [arguments for _, arguments in CALLS]
    assert tools[0].attributes["spanproof.code.argument"] == "code"
    results = [json.loads(span.attributes["gen_ai.tool.call.result"]) for span in tools[:3]]
    assert results == ["36", {"box": 12}, 42]
    assert [span.status.status_code is StatusCode.ERROR for span in tools] == [False, False, False, True]


def test_a_client_s_calls_over_stdio_are_recorded_with_arguments_and_results(traced):
    results = talk(stdio())
    assert [each.is_error for each in results] == [False, False, False, True]
    tools = traced.of_kind("TOOL")
    assert_calls(tools)
    (agent,) = traced.of_kind("AGENT")
    assert {span.parent.span_id for span in tools} == {agent.context.span_id}
    assert tools[3].status.description == "Error executing tool stock_of", "all that a client gets"
    assert diagnostics().total == 0


def test_a_server_whose_caller_is_traced_records_what_it_did_in_the_caller_s_trace(traced, over_http):
    talk(over_http)
    assert_calls(traced.of_kind("TOOL"))
    served = [span for span in traced.of_kind("CHAIN") if span.name.startswith("serve ")]
    assert [span.name.removeprefix("serve ") for span in served] == [name for name, _ in CALLS]
    assert served[3].attributes["error.type"] == "StockError"
    assert served[3].status.description == "StockError: no shelf 9"
    assert diagnostics().total == 0


def test_a_server_whose_caller_is_not_traced_records_the_calls(traced, over_http):
    untraced = (
        "import asyncio, json, sys\n"
        "from mcp import Client\n"
        "async def run():\n"
        "    async with Client(sys.argv[1]) as client:\n"
        "        for name, arguments in json.loads(sys.argv[2]):\n"
        "            await client.call_tool(name, arguments)\n"
        "asyncio.run(run())\n"
    )

    async def run() -> int:
        command = (sys.executable, "-c", untraced, over_http, json.dumps(CALLS))
        return await (await asyncio.create_subprocess_exec(*command)).wait()

    assert asyncio.run(run()) == 0
    tools = traced.of_kind("TOOL")
    assert_calls(tools)
    assert tools[3].status.description == "StockError: no shelf 9"
    assert diagnostics().total == 0


def test_a_call_that_a_framework_records_is_recorded_once(traced):
    @trace.tool(name="stock_of")
    async def of_a_framework(client: Client) -> Any:
        return await client.call_tool("stock_of", {"shelf": 2})

    async def run() -> None:
        async with Client(stdio()) as client:
            await of_a_framework(client)

    asyncio.run(run())
    assert len(traced.of_kind("TOOL")) == 1


def test_no_error_of_ours_reaches_client_or_server(traced, over_http, monkeypatch):
    def broken(*_args: object) -> None:
        raise RuntimeError("ours")

    for places in (("record_call", "get_value"), ("to_text",)):
        for place in places:
            monkeypatch.setattr(f"spanproof.instrumentors.frameworks.mcp.instrumentor.{place}", broken)
        assert [each.is_error for each in talk(over_http)] == [False, False, False, True]
    assert diagnostics().errors == {
        "mcp.arguments": 4,
        "mcp.end": 8,
        "mcp.call.start": 4,
        "mcp.serve.start": 4,
    }
    assert len(traced.of_kind("TOOL")) == 4, "the calls of the first round are there, without their content"
    remove_diagnostics()


def test_an_error_of_the_protocol_reaches_the_client_and_fails_the_call(traced):
    async def run() -> None:
        async with Client(make_server()) as client:
            with pytest.raises(MCPError, match=r"(?i)timed? ?out"):
                await client.call_tool("stock_of", {"shelf": 2}, read_timeout_seconds=1e-9)

    asyncio.run(run())
    assert traced.of_kind("TOOL")[0].status.status_code is StatusCode.ERROR


def test_uninstrumented_clients_and_servers_are_as_before(recorded):
    made, call = Server.__init__, Client.call_tool
    instrument_mcp(recorded.provider)
    server = make_server()
    uninstrument()
    assert (Server.__init__, Client.call_tool) == (made, call)

    async def run() -> None:
        async with Client(server) as client:
            assert (await client.call_tool("stock_of", {"shelf": 2})).structured_content == {"result": 42}

    asyncio.run(run())
    assert [span for span in recorded.spans if "openinference.span.kind" in span.attributes] == []


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ({"content": [{"type": "text", "text": "42"}], "structuredContent": {"result": 42}}, 42),
        ({"content": [{"type": "text", "text": "a"}], "structuredContent": {"result": "a"}}, "a"),
        ({"content": [{"type": "text", "text": '{"result": 5}'}], "structuredContent": {"result": 5}},
         {"result": 5}),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, ["a", "b"]),
        ({"content": [{"type": "image", "data": "eA=="}]}, None),
        ({"content": "no list", "structuredContent": None}, None),
        (None, None),
    ],
)  # fmt: skip
def test_the_value_of_a_result_is_what_the_tool_returned(result, value):
    assert get_value(result) == value
