"""Function tools of the OpenAI Agents SDK under guard: a refusal rejects the call, and the run goes on.

The SDK has guardrails of a tool's input for this. They run within the tool's span, before the tool does.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agents import FunctionTool, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolInputGuardrailData

from spanproof.instrumentors.guard import CodeRefused, Guard, has_argument, texts_in


def apply_guard(guard: Guard, tool: FunctionTool, argument: str, language: str) -> FunctionTool:
    """Return a copy of the tool that scans one of its arguments before it runs."""
    has_argument(tool.params_json_schema.get("properties", {}), tool.name, argument)

    def check(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        for code in texts_in(_argument(data.context.tool_arguments, argument)):
            try:
                guard.check(code, language, agent=data.agent.name, tool=tool.name)
            except CodeRefused as refused:
                return ToolGuardrailFunctionOutput.reject_content(str(refused))
        return ToolGuardrailFunctionOutput.allow()

    guardrail: ToolInputGuardrail[Any] = ToolInputGuardrail(check, name="spanproof.guard")
    return replace(tool, tool_input_guardrails=[*(tool.tool_input_guardrails or []), guardrail])


def _argument(arguments: str, name: str) -> object:
    """Return one of a call's arguments; None where they are not a JSON object, which the SDK refuses."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return None
    return given.get(name) if isinstance(given, dict) else None
