"""Agents that mend a repository, or leave it as it is, on scripted models; run in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIXED = "def total(xs):\n    return sum(xs)\n"


def write_file(path: str, content: str) -> str:
    """Write a file of the repository.

    Args:
        path: its name.
        content: all of its text.
    """
    Path(path).write_text(content)
    return f"{path} is written"


PATCH = """I mended it:

```diff
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,2 @@
 def total(xs):
-    return sum(xs[1:])
+    return sum(xs)
```
"""


def _make_handler(*calls: dict[str, str], answer: str = "It is mended.") -> Any:
    from agents import Agent, Model, ModelResponse, Usage, function_tool
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Scripted(Model):
        def __init__(self) -> None:
            self._calls = [*calls]

        async def get_response(self, *_args: Any, **_options: Any) -> ModelResponse:
            if self._calls:
                arguments = json.dumps(self._calls.pop(0))
                item: Any = ResponseFunctionToolCall(
                    arguments=arguments, call_id="c", name="write_file", type="function_call"
                )
            else:
                text = ResponseOutputText(annotations=[], text=answer, type="output_text")
                item = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *_args: Any, **_options: Any) -> Any:
            raise NotImplementedError

    return Agent(name="handler", model=Scripted(), tools=[function_tool(write_file)])


def _make_coder(*code: str) -> Any:
    from smolagents import CodeAgent, tool
    from support_agents import ScriptedModel, turn

    turns = [turn("I mend it.", each) for each in code]
    model = ScriptedModel([*turns, turn("Done.", "final_answer('It is mended.')")])
    return CodeAgent(tools=[tool(write_file)], model=model, verbosity_level=0)


def handler_of_src() -> Any:
    return _make_handler({"path": "src/shop.py", "content": FIXED})


def handler_of_tests() -> Any:
    return _make_handler({"path": "tests/test_shop.py", "content": "def test_all(): pass\n"})


def coder() -> Any:
    return _make_coder(f"print(write_file('shop.py', {FIXED!r}))")


def idle_coder() -> Any:
    return _make_coder("print('looked')")


def patcher() -> Any:
    return _make_handler(answer=PATCH)


def patcher_of_nothing() -> Any:
    return _make_handler(answer=PATCH.replace("xs[1:]", "xs[2:]"))
