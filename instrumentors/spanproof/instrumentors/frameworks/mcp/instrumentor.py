"""Tool calls of MCP clients and servers with their arguments and results, which the SDK's own spans lack.

A client's call is a TOOL span. A server's is one where its caller is not traced; else the call is recorded on
the caller's side, and what the server did for it is a CHAIN span of the same trace.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from opentelemetry import trace as otel
from opentelemetry.context import create_key, set_value

from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.texts import attribute, member, text_of, text_or_none
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.mcp.results import find_value, is_failed
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method, Patches
from spanproof.instrumentors.spans.contexts import attach, current, detach_anywhere
from spanproof.instrumentors.spans.span_start import CHAIN, SpanStart, make_start, make_tool_start
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing, was_abandoned
from spanproof.semconv import genai

_CALL: Final = "tools/call"
_CALLERS_TRACE: Final = "traceparent"
_CALL_KEY: Final = create_key("spanproof-mcp-call")


class _Call(OpenSpan):
    """A call in progress.

    Attributes:
        has_failed: its exception is recorded.
        serves: its caller's side records it as the call.
    """

    has_failed = False
    serves = False


class Instrumentor:
    """The SDK under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._patches = Patches()

    def instrument(self) -> None:
        """Patch clients, and servers that are made from now on.

        Raises:
            ImportError: mcp is not installed.
        """
        from mcp.client.session import ClientSession
        from mcp.server.lowlevel import Server

        self._patches.replace(ClientSession, "call_tool", self._call)
        self._patches.replace(Server, "__init__", self._make_server)
        try:
            from mcp.server.mcpserver.tools.tool_manager import ToolManager
        except ImportError:
            return  # another version of the SDK: a tool's exception is what the client gets of it
        self._patches.replace(ToolManager, "call_tool", self._run_tool)

    def uninstrument(self) -> None:
        """Restore every original; the middleware of servers passes everything on."""
        self._patches.restore()

    def _make_server(self, original: Method, server: Any, args: Args, kwargs: Kwargs) -> None:
        original(server, *args, **kwargs)
        self._join(server)

    @shielded("mcp.server")
    def _join(self, server: Any) -> None:
        server.middleware.append(self._serve)

    async def _call(self, original: Method, session: Any, args: Args, kwargs: Kwargs) -> Any:
        named = {**dict(zip(("name", "arguments"), args, strict=False)), **kwargs}
        call = self._begin_call(named.get("name"), named.get("arguments"))
        return await self._record(call, lambda: original(session, *args, **kwargs))

    async def _serve(self, request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Record a request of a client; a middleware of the SDK."""
        call = self._begin_served(request) if self._patches.active else None
        return await self._record(call, lambda: call_next(request))

    async def _run_tool(self, original: Method, manager: Any, args: Args, kwargs: Kwargs) -> Any:
        """Keep the exception of a server's tool, of which the client gets at most the message."""
        try:
            return await original(manager, *args, **kwargs)
        except Exception as error:
            self._note_exception(error)
            raise

    async def _record(self, call: _Call | None, work: Callable[[], Awaitable[Any]]) -> Any:
        if call is None:
            return await work()
        token = attach(call.context)
        try:
            result = await work()
        except BaseException as error:
            self._end_failed(call, error)
            raise
        else:
            self._end(call, result)
            return result
        finally:
            detach_anywhere(token)

    @shielded("mcp.call.start")
    def _begin_call(self, name: object, arguments: object) -> _Call | None:
        tool = text_of(name)
        above = attribute(otel.get_current_span(), "attributes")
        if isinstance(above, Mapping) and above.get(genai.TOOL_NAME) == tool:
            return None  # a framework calls the server, and has recorded the call
        return self._open_call(tool, arguments)

    @shielded("mcp.serve.start")
    def _begin_served(self, request: Any) -> _Call | None:
        if text_or_none(attribute(request, "method")) != _CALL:
            return None
        params = attribute(request, "params")
        tool = text_of(member(params, "name"))
        arguments = member(params, "arguments")
        if member(attribute(request, "meta"), _CALLERS_TRACE) is None:
            return self._open_call(tool, arguments)
        served = self._open(make_start(f"serve {tool}", CHAIN))
        served.serves = True
        self._show_arguments(served, tool, arguments)
        return served

    def _open_call(self, tool: str, arguments: object) -> _Call:
        call = self._open(make_tool_start(tool))
        self._show_arguments(call, tool, {} if arguments is None else arguments)
        return call

    def _open(self, start: SpanStart) -> _Call:
        opened = self._tracing.open_as(_Call, start)
        opened.context = set_value(_CALL_KEY, opened, opened.context)
        return opened

    @shielded("mcp.arguments")
    def _show_arguments(self, call: _Call, tool: str, arguments: object) -> None:
        if not call.recording:
            return
        if call.serves:
            call.input(arguments)
        else:
            record_call(call, tool, arguments)

    @shielded("mcp.end")
    def _end(self, call: _Call, result: object) -> None:
        try:
            if call.recording:
                value = find_value(result)
                if is_failed(result) and not call.has_failed:
                    self._tracing.fail_untyped(call.span, text_of(value))
                if call.serves:
                    call.output(value)
                else:
                    call.output_json(genai.TOOL_CALL_RESULT, value)
        finally:
            call.close()

    @shielded("mcp.fail")
    def _end_failed(self, call: _Call, error: BaseException) -> None:
        if not was_abandoned(error) and not call.has_failed:
            self._tracing.fail(call.span, error)
        call.close()

    @shielded("mcp.exception")
    def _note_exception(self, error: Exception) -> None:
        call = current().get(_CALL_KEY)
        if isinstance(call, _Call) and call.recording:
            call.has_failed = True
            self._tracing.fail(call.span, error.__cause__ or error)
