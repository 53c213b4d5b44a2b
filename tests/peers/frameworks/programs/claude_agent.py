"""The Claude Agent SDK under OpenInference's instrumentor, over a transport that plays a recorded session."""

import asyncio
import json

from claude_agent_sdk import ClaudeAgentOptions, Transport
from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor
from story import ANSWER, CALLS, INSTRUCTIONS, TASK

_MODEL = "claude-sonnet-4-5"


def _message(role, content, index):
    message = {"role": role, "content": content}
    if role == "assistant":
        usage = {"input_tokens": 10, "output_tokens": 4}
        message |= {
            "id": f"msg_{index}",
            "model": _MODEL,
            "type": "message",
            "usage": usage,
            "stop_reason": None,
        }
    return {
        "type": role,
        "message": message,
        "parent_tool_use_id": None,
        "session_id": "s1",
        "uuid": f"u{index}",
    }


def _session():
    yield {"type": "system", "subtype": "init", "session_id": "s1", "model": _MODEL, "tools": ["run_python"]}
    results = ({"content": "36"}, {"content": "no shelf 9", "is_error": True})
    for index, ((name, arguments), result) in enumerate(zip(CALLS, results, strict=True)):
        use = {"type": "tool_use", "id": f"call_{index}", "name": f"mcp__shop__{name}", "input": arguments}
        yield _message("assistant", [use], index)
        yield _message("user", [{"type": "tool_result", "tool_use_id": f"call_{index}", **result}], index)
    yield _message("assistant", [{"type": "text", "text": ANSWER}], 9)
    times = {"duration_ms": 9, "duration_api_ms": 8, "num_turns": 3, "total_cost_usd": 0.01}
    usage = {"input_tokens": 30, "output_tokens": 12}
    yield {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "session_id": "s1",
        "result": ANSWER,
        **times,
        "usage": usage,
    }


class Played(Transport):
    """Answers the SDK's requests to its command line, and plays the session once it gets a question."""

    def __init__(self):
        self._lines = asyncio.Queue()

    async def connect(self):
        pass

    async def write(self, data):
        for line in data.splitlines():
            message = json.loads(line)
            if message["type"] == "control_request":
                answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
                await self._lines.put({"type": "control_response", "response": answer})
            elif message["type"] == "user":
                for played in _session():
                    await self._lines.put(played)
                await self._lines.put(None)

    async def read_messages(self):
        while (message := await self._lines.get()) is not None:
            yield message

    async def close(self):
        pass

    async def end_input(self):
        pass

    def is_ready(self):
        return True


def run(url, provider):
    ClaudeAgentSDKInstrumentor().instrument(tracer_provider=provider)
    import claude_agent_sdk

    async def ask():
        options = ClaudeAgentOptions(system_prompt=INSTRUCTIONS, model=_MODEL)
        async for _ in claude_agent_sdk.query(prompt=TASK, options=options, transport=Played()):
            pass

    asyncio.run(ask())
