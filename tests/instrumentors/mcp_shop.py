"""An MCP server with three tools: `python mcp_shop.py` serves it over stdio."""

from __future__ import annotations

import sys

from mcp.server import MCPServer


class StockError(Exception):
    """There is no such shelf."""


def make_server() -> MCPServer:
    server = MCPServer("shop")

    @server.tool()
    def run_python(code: str) -> str:
        """Run Python code."""
        return "36"

    @server.tool()
    def prices(items: list[str]) -> dict[str, int]:
        """Return prices."""
        return dict.fromkeys(items, 12)

    @server.tool()
    def stock_of(shelf: int) -> int:
        """Return how many boxes a shelf holds."""
        if shelf > 5:
            raise StockError(f"no shelf {shelf}")
        return 40 + shelf

    return server


if __name__ == "__main__":
    if "--traced" in sys.argv:
        from spanproof.instrumentors import register

        register(service_name="shop", instrument=("mcp",), batch=False)
    make_server().run("stdio")
