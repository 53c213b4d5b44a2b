"""Trajectories of agents that work in a shell: SWE-agent, mini-SWE-agent, OpenHands.

In: a document of which `harnesses` found the form. Out: the run in it, as a transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.exports.transcripts import CodeStep, Transcript
from spanproof.trace.ids import digest
from spanproof.trace.model import Message, ToolCall

Document = Mapping[str, Any]

# OpenHands' actions that run something, with the argument that holds it and the tool that takes it.
_OPENHANDS_RUNS: Final = {
    "run": ("execute_bash", "command"),
    "run_ipython": ("execute_ipython_cell", "code"),
    "read": ("read_file", "path"),
    "write": ("write_file", "content"),
    "edit": ("edit_file", "content"),
    "browse": ("browse", "url"),
    "call_tool_mcp": ("call_tool_mcp", "arguments"),
}
_OPENHANDS_ENDS: Final = frozenset({"finish", "reject"})
_SUBMISSIONS: Final = frozenset({"submit", "exit_cost", "exit_context"})
# mini-SWE-agent takes one block of a reply for the command, and shows its output between tags.
_COMMAND: Final = re.compile(r"```(?:bash|mswea_bash_command|sh)[^\n]*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE: Final = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
_OUTPUT: Final = re.compile(r"<output>\n?(.*?)</output>", re.DOTALL)


def is_openhands(items: object) -> bool:
    """Whether these are events of OpenHands, until its version 0."""
    objects = _select_objects(items)
    has_action = any("action" in item and "args" in item for item in objects)
    return has_action and any("source" in item or "observation" in item for item in objects)


def is_openhands_sdk(items: object) -> bool:
    """Whether these are events of OpenHands' SDK, its version 1."""
    objects = _select_objects(items)
    return any(item.get("kind") == "ActionEvent" and "tool_name" in item for item in objects)


def is_mini_swe_agent(value: Document) -> bool:
    """Whether this is a trajectory of mini-SWE-agent: a chat whose commands are blocks of text."""
    messages = value.get("messages")
    is_named = str(value.get("trajectory_format") or "").startswith("mini-swe-agent")
    return isinstance(messages, list) and (is_named or _has_shown_output(messages))


def read_swe_agent(value: Document) -> Transcript:
    """Return a trajectory of SWE-agent: a thought, a command, and what the shell printed."""
    turns: list[Message | CodeStep] = []
    history = _select_objects(value.get("history"))
    first = next((item for item in history if item.get("role") == "user"), None)
    if first is not None:
        turns += [message for message in read_messages([dict(first)]) if message.text]
    answer = None
    for number, step in enumerate(value["trajectory"]):
        if not isinstance(step, Mapping):
            continue
        action = str(step.get("action") or "").strip()
        thought = str(step.get("thought") or step.get("response") or "")
        if not action or action.split()[0] in _SUBMISSIONS:
            answer = thought or answer
            turns.append(Message("assistant", thought))
            continue
        turns += _run_command(thought, action, as_text(step.get("observation") or ""), f"step-{number}")
    name = str(value.get("environment") or "swe-agent")
    return Transcript(f"swe-agent/{digest(as_text(dict(value)))}", name, turns, answer=answer)


def read_mini_swe_agent(value: Document) -> Transcript:
    """Return a trajectory of mini-SWE-agent: each reply holds a command, and the next message its output."""
    messages = [message for item in value["messages"] for message in read_messages(item)]
    outputs = [_OUTPUT.search(message.text) for message in messages]
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    for number, message in enumerate(messages):
        written = _COMMAND.search(message.text) if message.role == "assistant" else None
        output = outputs[number + 1] if number + 1 < len(messages) else None
        if written and output:
            thought, call_id = message.text[: written.start()].strip(), f"step-{number}"
            turns += _run_command(thought, written[1], output[1], call_id)
            errors |= _get_failed_code(output.string, output[1], call_id)
        elif written:
            # What submits the work has no output.
            turns.append(Message("assistant", message.text[: written.start()].strip()))
        elif not outputs[number]:
            turns.append(message)
    about = value.get("info")
    submission = about.get("submission") if isinstance(about, Mapping) else None
    answer = str(submission or "").strip() or None
    key = f"mini-swe-agent/{digest(as_text(dict(value)))}"
    return Transcript(key, "mini-swe-agent", turns, answer=answer, errors=errors)


def _get_failed_code(text: str, shown: str, call_id: str) -> dict[str, str]:
    """Return what a command failed with, by its call: what it printed, else its exit code."""
    code = _RETURN_CODE.search(text)
    if code and int(code[1]):
        return {call_id: shown.strip() or f"exit code {code[1]}"}
    return {}


def read_openhands(items: Sequence[Any], task: object = None) -> Transcript:
    """Return a session of OpenHands: actions, and observations by the action that caused them."""
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    answer = None
    for item in _select_objects(items):
        args = _read_members(item, "args")
        if "observation" in item:
            turns += _read_observation(item, errors)
        elif (action := str(item.get("action"))) in _OPENHANDS_RUNS:
            call = _build_call(action, args, str(item.get("id")))
            turns.append(Message("assistant", str(args.get("thought") or ""), (call,)))
        elif action == "message":
            role = "assistant" if item.get("source") == "agent" else "user"
            turns.append(Message(role, str(args.get("content") or item.get("message") or "")))
        elif action in _OPENHANDS_ENDS:
            final = args.get("final_thought") or args.get("thought") or item.get("message")
            answer = str(final or "") or answer
    return _build_openhands_transcript(items, turns, task, answer, errors)


def read_openhands_sdk(items: Sequence[Any]) -> Transcript:
    """Return a session of OpenHands' SDK: events of messages, actions and observations."""
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    answer = None
    for item in _select_objects(items):
        call_id = str(item.get("tool_call_id") or item.get("id"))
        match item.get("kind"):
            case "MessageEvent":
                turns += read_messages(item.get("llm_message") or [])
            case "ActionEvent" if item.get("tool_name") == "finish":
                answer = str(_read_members(item, "action").get("message") or "") or answer
            case "ActionEvent":
                thought = "\n".join(message.text for message in read_messages(item.get("thought") or []))
                call = ToolCall(str(item.get("tool_name")), _read_members(item, "action"), call_id)
                turns.append(Message("assistant", thought, (call,)))
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
                turns.append(_read_sdk_observation(item, call_id, errors))
    return _build_openhands_transcript(items, turns, None, answer, errors)


def _select_objects(items: object) -> list[Document]:
    if isinstance(items, list):
        return [item for item in items if isinstance(item, Mapping)]
    return []


def _has_shown_output(messages: Sequence[Any]) -> bool:
    contents = [str(item.get("content")) for item in _select_objects(list(messages))]
    return any("<returncode>" in text for text in contents) and any(map(_COMMAND.search, contents))


def _run_command(thought: str, command: str, shown: str, call_id: str) -> Iterator[Message]:
    yield Message("assistant", thought, (ToolCall("bash", {"command": command}, call_id),))
    yield Message("tool", shown, (), call_id)


def _build_openhands_transcript(
    items: Sequence[Any],
    turns: Sequence[Message | CodeStep],
    task: object,
    answer: str | None,
    errors: dict[str, str],
) -> Transcript:
    started = next((item.get("timestamp") for item in _select_objects(items)), None)
    instruction = task if isinstance(task, str) and task else None
    key = f"openhands/{digest(as_text(list(items)))}"
    return Transcript(
        key, "openhands", turns, task=instruction, answer=answer, errors=errors, started=started
    )


def _build_call(action: str, args: Document, call_id: str) -> ToolCall:
    name, argument = _OPENHANDS_RUNS[action]
    wanted = {key: args[key] for key in ("path", "name", argument) if args.get(key) is not None}
    return ToolCall(name, wanted, call_id)


def _read_observation(item: Document, errors: dict[str, str]) -> list[Message]:
    cause = str(item.get("cause"))
    extras = item.get("extras")
    extras = extras if isinstance(extras, Mapping) else {}
    metadata = extras.get("metadata")
    code = extras.get("exit_code", metadata.get("exit_code") if isinstance(metadata, Mapping) else None)
    content = str(item.get("content") or "")
    if item.get("observation") == "error" or _has_failed(code):
        errors[cause] = content or f"exit code {code}"
    if item.get("cause") is not None:
        return [Message("tool", content, (), cause)]
    return []


def _read_sdk_observation(item: Document, call_id: str, errors: dict[str, str]) -> Message:
    observed = _read_members(item, "observation")
    shown = observed.get("content", observed.get("output", item.get("error", item.get("rejection_reason"))))
    if shown:
        content = "\n".join(message.text for message in read_messages(shown))
    else:
        content = ""
    code = observed.get("exit_code")
    is_error = item.get("kind") != "ObservationEvent" or observed.get("is_error") is True
    if is_error or _has_failed(code):
        errors[call_id] = content or f"exit code {code}"
    return Message("tool", content, (), call_id)


def _read_members(item: Document, name: str) -> dict[str, Any]:
    """Return the members of an action or an observation, without the name of its class."""
    held = item.get(name)
    if isinstance(held, Mapping):
        return {key: value for key, value in held.items() if key != "kind"}
    return {}


def _has_failed(code: object) -> bool:
    """Whether a program failed; OpenHands writes -1 while it still runs."""
    return isinstance(code, int) and code not in (0, -1)
