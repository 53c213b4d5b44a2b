"""An MCP client and server with the SDK's own spans; no agent and no model."""

import asyncio

from opentelemetry.trace import set_tracer_provider
from story import CALLS, run_python, stock_of


def run(url, provider):
    set_tracer_provider(provider)
    from mcp import Client
    from mcp.server import MCPServer

    server = MCPServer("shop")
    server.tool()(run_python)
    server.tool()(stock_of)

    async def call():
        async with Client(server) as client:
            for name, arguments in CALLS:
                await client.call_tool(name, arguments)

    asyncio.run(call())
