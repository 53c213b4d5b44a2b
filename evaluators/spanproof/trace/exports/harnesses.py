"""Logs of harnesses and transcripts of clients: conversations that hold what an agent did, and no spans.

inspect_ai's samples, SWE-agent's trajectories, OpenHands' events, smolagents' memory, results of τ-bench,
chats and responses as OpenAI's API has them. In: a document of unknown form. Out: the runs in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.exports.transcripts import CodeStep, Transcript
from spanproof.trace.ids import digest
from spanproof.trace.model import Message, ToolCall

Document = Mapping[str, Any]

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
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


def find_transcripts(document: object) -> list[Transcript]:
    """Return the runs in a document; empty where it is of no form that is known."""
    return [found for found in _iter_transcripts(document) if any(_is_doing(turn) for turn in found.turns)]


def _is_doing(turn: Message | CodeStep) -> bool:
    return isinstance(turn, CodeStep) or turn.role == "assistant"


def _iter_transcripts(document: object) -> Iterator[Transcript]:
    if isinstance(document, list):
        yield from _iter_list(document)
    elif isinstance(document, Mapping):
        yield from _iter_object(document)


def _iter_object(value: Document) -> Iterator[Transcript]:
    samples = value.get("samples")
    if isinstance(samples, list) and isinstance(value.get("eval"), Mapping):
        yield from (_read_sample(each, value["eval"]) for each in samples if isinstance(each, Mapping))
    elif isinstance(value.get("messages"), list) and {"id", "input"} <= value.keys() and "epoch" in value:
        yield _read_sample(value, {})
    elif isinstance(value.get("trajectory"), list):
        yield _read_swe_agent(value)
    elif isinstance(value.get("simulations"), list):
        yield from _iter_list(value["simulations"])
    elif isinstance(value.get("steps"), list) and _is_memory(value["steps"]):
        yield _read_memory(value["steps"])
    elif isinstance(value.get("history"), list) and _is_openhands(value["history"]):
        yield _read_openhands(value["history"])
    elif value.get("object") == "response" and isinstance(value.get("output"), list):
        yield _read_response(value)
    elif isinstance(traj := value.get("traj", value.get("messages")), list) and _is_chat(traj):
        yield _read_chat(value, traj)


def _iter_list(items: Sequence[Any]) -> Iterator[Transcript]:
    if _is_memory(items):
        yield _read_memory(items)
    elif _is_openhands(items):
        yield _read_openhands(items)
    elif _is_chat(items):
        yield _read_chat({}, items)
    else:
        for item in items:
            yield from _iter_transcripts(item)


def _is_chat(items: Sequence[Any]) -> bool:
    """Whether these are messages of a chat, or items of OpenAI's responses."""
    if not items or not all(isinstance(item, Mapping) for item in items):
        return False
    known = [str(item.get("role")) in _ROLES or _is_response_item(item) for item in items]
    return all(known) and any(item.get("role") == "assistant" or _is_response_item(item) for item in items)


def _is_response_item(item: Document) -> bool:
    kind = str(item.get("type") or "")
    return kind.endswith(("_call", "_call_output")) or kind in ("reasoning", "message")


def _is_memory(items: Sequence[Any]) -> bool:
    """Whether these are the steps of smolagents' memory."""
    objects = [item for item in items if isinstance(item, Mapping)]
    acting = [item for item in objects if "step_number" in item or "code_action" in item]
    return bool(acting) and any("observations" in item or "action_output" in item for item in acting)


def _is_openhands(items: Sequence[Any]) -> bool:
    objects = [item for item in items if isinstance(item, Mapping)]
    has_action = any("action" in item and "args" in item for item in objects)
    return has_action and any("source" in item or "observation" in item for item in objects)


def _read_sample(sample: Document, run: Document) -> Transcript:
    """Return a sample of inspect_ai: its messages, and what its tools failed with."""
    held = sample.get("messages")
    messages = held if isinstance(held, list) else []
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, Mapping) else None
    run_id = run.get("run_id") or run.get("task_id") or ""
    key = f"{run_id}/{sample.get('uuid') or sample.get('id')}/{sample.get('epoch')}"
    return Transcript(
        key=f"inspect/{key}",
        name=str(run.get("task") or "inspect"),
        turns=[message for item in messages if isinstance(item, Mapping) for message in _read_message(item)],
        answer=completion if isinstance(completion, str) and completion else None,
        model=run.get("model") if isinstance(run.get("model"), str) else None,
        errors=_find_errors(messages),
        started=sample.get("started_at") or run.get("created"),
    )


def _find_errors(messages: Sequence[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in messages:
        error = item.get("error") if isinstance(item, Mapping) and item.get("role") == "tool" else None
        if error:
            text = error.get("message") if isinstance(error, Mapping) else error
            found[str(item.get("tool_call_id"))] = str(text)
    return found


def _read_message(item: Document) -> tuple[Message, ...]:
    """Return a message; inspect_ai has a call's name as a text beside its arguments."""
    value = {key: part for key, part in item.items() if part is not None}
    calls = value.get("tool_calls")
    if isinstance(calls, list):
        value["tool_calls"] = [_rename_call(call) for call in calls]
    return read_messages([value], "user")


def _rename_call(call: Any) -> Any:
    named = isinstance(call, Mapping) and isinstance(call.get("function"), str)
    return {**call, "name": call["function"], "function": None} if named else call


def _read_swe_agent(value: Document) -> Transcript:
    """Return a trajectory of SWE-agent: a thought, a command, and what the shell printed."""
    turns: list[Message | CodeStep] = []
    history = value.get("history")
    first = (
        next((item for item in history if isinstance(item, Mapping) and item.get("role") == "user"), None)
        if isinstance(history, list)
        else None
    )
    if first is not None:
        turns += [message for message in _read_message(first) if message.text]
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
        call = ToolCall("bash", {"command": action}, f"step-{number}")
        turns.append(Message("assistant", thought, (call,)))
        turns.append(Message("tool", as_text(step.get("observation") or ""), (), call.call_id))
    name = str(value.get("environment") or "swe-agent")
    return Transcript(f"swe-agent/{digest(as_text(dict(value)))}", name, turns, answer=answer)


def _read_openhands(items: Sequence[Any]) -> Transcript:
    """Return a session of OpenHands: actions, and observations by the action that caused them."""
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    answer = None
    for item in (each for each in items if isinstance(each, Mapping)):
        given = item.get("args")
        args = given if isinstance(given, Mapping) else {}
        if "observation" in item:
            turns += _read_observation(item, errors)
        elif (action := str(item.get("action"))) in _OPENHANDS_RUNS:
            name, argument = _OPENHANDS_RUNS[action]
            wanted = {key: args[key] for key in ("path", "name", argument) if args.get(key) is not None}
            thought = str(args.get("thought") or "")
            turns.append(Message("assistant", thought, (ToolCall(name, wanted, str(item.get("id"))),)))
        elif action == "message":
            role = "assistant" if item.get("source") == "agent" else "user"
            turns.append(Message(role, str(args.get("content") or item.get("message") or "")))
        elif action in _OPENHANDS_ENDS:
            answer = (
                str(args.get("final_thought") or args.get("thought") or item.get("message") or "") or answer
            )
    started = next((item.get("timestamp") for item in items if isinstance(item, Mapping)), None)
    key = f"openhands/{digest(as_text(list(items)))}"
    return Transcript(key, "openhands", turns, answer=answer, errors=errors, started=started)


def _read_observation(item: Document, errors: dict[str, str]) -> list[Message]:
    cause = str(item.get("cause"))
    extras = item.get("extras")
    extras = extras if isinstance(extras, Mapping) else {}
    metadata = extras.get("metadata")
    code = extras.get("exit_code", metadata.get("exit_code") if isinstance(metadata, Mapping) else None)
    content = str(item.get("content") or "")
    if item.get("observation") == "error" or (isinstance(code, int) and code not in (0, -1)):
        errors[cause] = content or f"exit code {code}"
    return [Message("tool", content, (), cause)] if item.get("cause") is not None else []


def _read_memory(items: Sequence[Any]) -> Transcript:
    """Return a run out of smolagents' memory: the task, and steps with what came back."""
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    task = answer = started = None
    for item in (each for each in items if isinstance(each, Mapping)):
        timing = item.get("timing")
        started = started or (timing.get("start_time") if isinstance(timing, Mapping) else None)
        if "task" in item:
            task = str(item["task"])
        elif isinstance(item.get("system_prompt"), str):
            turns.append(Message("system", item["system_prompt"]))
        elif "step_number" in item or "code_action" in item:
            turns += _read_memory_step(item, errors)
            if item.get("is_final_answer"):
                answer = as_text(item.get("action_output"))
        elif "final_answer" in item or item.keys() == {"output"}:
            answer = as_text(item.get("output", item.get("final_answer")))
    key = f"smolagents/{digest(as_text(list(items)))}"
    return Transcript(key, "agent", turns, task=task, answer=answer, errors=errors, started=started)


def _read_memory_step(item: Document, errors: dict[str, str]) -> Iterator[Message | CodeStep]:
    said = item.get("model_output")
    text = said if isinstance(said, str) else as_text(said) if said else ""
    error = item.get("error")
    failed = str(error.get("message") if isinstance(error, Mapping) else error) if error else None
    observation = item.get("observations")
    observation = observation if isinstance(observation, str) else None
    source = item.get("code_action")
    if isinstance(source, str) and source.strip():
        yield Message("assistant", text)
        is_final = bool(item.get("is_final_answer"))
        yield CodeStep(source, observation, item.get("action_output"), failed, is_final=is_final)
        return
    calls = item.get("tool_calls")
    spoken = read_messages([{"role": "assistant", "content": text, "tool_calls": calls or []}])
    yield from spoken
    for call in (call for message in spoken for call in message.tool_calls):
        if failed and call.call_id:
            errors[call.call_id] = failed
        shown = observation or as_text(item.get("action_output") or "")
        yield Message("tool", shown, (), call.call_id)


def _read_response(value: Document) -> Transcript:
    """Return a response of OpenAI's API, with its input where it is beside it."""
    given = value.get("input")
    turns = [*read_messages(given, "user")] if given else []
    turns += read_messages(value["output"], "assistant")
    model = value.get("model")
    return Transcript(
        key=f"response/{value.get('id') or digest(as_text(dict(value)))}",
        name="response",
        turns=turns,
        model=model if isinstance(model, str) else None,
        started=value.get("created_at"),
    )


def _read_chat(value: Document, items: Sequence[Any]) -> Transcript:
    """Return a chat: messages as OpenAI's API has them, alone or as a harness's result holds them."""
    turns = [message for item in items if isinstance(item, Mapping) for message in _read_message(item)]
    identity = [str(value[name]) for name in ("id", "task_id", "trial") if value.get(name) is not None]
    model = value.get("model")
    return Transcript(
        key=f"chat/{'/'.join(identity)}/{digest(as_text(list(items)))}",
        name=str(value.get("name") or "chat"),
        turns=turns,
        model=model if isinstance(model, str) else None,
        errors=_find_errors(items),
    )
