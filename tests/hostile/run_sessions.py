"""Runs sessions from standard input, a JSON object a line, and prints what became of their steps.

Usage: `python run_sessions.py [SETTING=VALUE …]`, in what plays the machine.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from spanproof.sandbox import Execution, Sandbox, SessionSpec, ToolAnswer, ToolRequest
from spanproof.sandbox.registry import open_sandbox


def run_session(sandbox: Sandbox, row: dict[str, Any]) -> list[dict[str, Any]]:
    with sandbox.session(SessionSpec(), no_tool) as session:
        executions = []
        for source in row["steps"]:
            executions.append(session.execute(source))
            time.sleep(row["pause_s"])
    found = session.amended()
    return [encode(found.get(number, execution)) for number, execution in enumerate(executions)]


def no_tool(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(error_type="LookupError", error_message=request.tool)


def encode(execution: Execution) -> dict[str, Any]:
    return {
        "class": execution.failure_class.value,
        "tier": execution.tier.value,
        "text": execution.result_text,
        "output": execution.stdout + execution.stderr,
        "whole": execution.attempts_whole,
        "refused": [[each.kind.value, each.target] for each in execution.attempts if not each.allowed],
    }


def main() -> None:
    settings = dict(word.split("=", 1) for word in sys.argv[1:])
    rows = [json.loads(line) for line in sys.stdin]
    with open_sandbox("jail", workers=4, settings=settings) as sandbox, ThreadPoolExecutor(4) as pool:
        for steps in pool.map(partial(run_session, sandbox), rows):
            print(json.dumps(steps), flush=True)


if __name__ == "__main__":
    main()
