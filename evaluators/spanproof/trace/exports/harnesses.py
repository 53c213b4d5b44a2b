"""Logs of harnesses and transcripts of clients: conversations that hold what an agent did, and no spans.

inspect_ai's samples, SWE-agent's trajectories, OpenHands' events, smolagents' memory, results of τ-bench,
chats and responses as OpenAI's API has them. In: a document of unknown form. Out: the runs in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanproof.trace.dialects.decode import as_text
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.exports.bedrock import is_bedrock, read_bedrock
from spanproof.trace.exports.chats import get_errors, is_session, list_chats, read_message
from spanproof.trace.exports.coding_agents import (
    is_mini_swe_agent,
    is_openhands,
    is_openhands_sdk,
    read_mini_swe_agent,
    read_openhands,
    read_openhands_sdk,
    read_swe_agent,
)
from spanproof.trace.exports.model_calls import find_model_call
from spanproof.trace.exports.transcripts import CodeStep, Transcript
from spanproof.trace.ids import digest
from spanproof.trace.model import Message

Document = Mapping[str, Any]


# Under which names APIs put a list of what they were queried for.
_ENVELOPES: Final = ("data", "results", "rows", "requests", "samples", "conversation")


def list_transcripts(document: object) -> list[Transcript]:
    """Return the runs in a document; empty where it is of no form that is known."""
    return [found for found in _iter_transcripts(document) if any(_is_doing(turn) for turn in found.turns)]


def is_one_run(documents: Sequence[Any]) -> bool:
    """Whether each line of a file is a message or an event of one run, or of sessions beside each other."""
    if is_session(documents) or is_bedrock(list(documents)) or is_openhands_sdk(list(documents)):
        return True
    return all(
        isinstance(document, dict) and not document.keys().isdisjoint({"role", "action", "observation"})
        for document in documents
    )


def _is_doing(turn: Message | CodeStep) -> bool:
    return isinstance(turn, CodeStep) or turn.role == "assistant"


def _iter_transcripts(document: object) -> Iterator[Transcript]:
    if isinstance(document, list):
        yield from _iter_list(document)
    elif isinstance(document, Mapping):
        yield from _iter_object(document)


def _iter_object(value: Document) -> Iterator[Transcript]:
    samples, run = value.get("samples"), value.get("eval")
    if isinstance(samples, list) and isinstance(run, Mapping):
        for sample in samples:
            if isinstance(sample, Mapping):
                yield _read_sample(sample, run)
    elif isinstance(value.get("messages"), list) and {"id", "input", "epoch"} <= value.keys():
        yield _read_sample(value, {})
    elif isinstance(value.get("trajectory"), list):
        yield read_swe_agent(value)
    elif is_mini_swe_agent(value):
        yield read_mini_swe_agent(value)
    elif isinstance(value.get("simulations"), list):
        yield from _iter_list(value["simulations"])
    elif isinstance(value.get("steps"), list) and _is_memory(value["steps"]):
        yield _read_memory(value["steps"])
    elif is_openhands(value.get("history")):
        yield read_openhands(value["history"], value.get("instruction"))
    elif is_bedrock([value]):
        yield read_bedrock([value])
    else:
        yield from _iter_exchanges(value)


def _iter_exchanges(value: Document) -> Iterator[Transcript]:
    """Yield one call of a model, or conversations; else what is within the object."""
    call = find_model_call(value)
    if call is not None:
        yield call
    elif chats := list_chats(value):
        yield from chats
    else:
        for name in _ENVELOPES:
            yield from _iter_transcripts(value.get(name))


def _iter_list(items: Sequence[Any]) -> Iterator[Transcript]:
    if _is_memory(items):
        yield _read_memory(items)
    elif is_openhands(items):
        yield read_openhands(items)
    elif is_openhands_sdk(items):
        yield read_openhands_sdk(items)
    elif is_bedrock(items):
        yield read_bedrock(items)
    elif chats := list_chats(items):
        yield from chats
    else:
        for item in items:
            yield from _iter_transcripts(item)


def _is_memory(items: Sequence[Any]) -> bool:
    """Whether these are the steps of smolagents' memory."""
    objects = [item for item in items if isinstance(item, Mapping)]
    acting = [item for item in objects if "step_number" in item or "code_action" in item]
    return bool(acting) and any("observations" in item or "action_output" in item for item in acting)


def _read_sample(sample: Document, run: Document) -> Transcript:
    """Return a sample of inspect_ai: its messages, and what its tools failed with."""
    held = sample.get("messages")
    messages = held if isinstance(held, list) else []
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, Mapping) else None
    run_id = run.get("run_id") or run.get("task_id") or ""
    key = f"{run_id}/{sample.get('uuid') or sample.get('id')}/{sample.get('epoch')}"
    turns: list[Message | CodeStep] = []
    for item in messages:
        if isinstance(item, Mapping):
            turns += read_message(item)
    model = run.get("model")
    started = sample.get("started_at") or run.get("created")
    answer = completion if isinstance(completion, str) and completion else None
    return Transcript(
        key=f"inspect/{key}",
        name=str(run.get("task") or "inspect"),
        turns=turns,
        answer=answer,
        model=model if isinstance(model, str) else None,
        errors=get_errors(messages),
        started=started,
    )


def _read_memory(items: Sequence[Any]) -> Transcript:
    """Return a run out of smolagents' memory: the task, and steps with what came back."""
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    task = answer = started = None
    for item in (entry for entry in items if isinstance(entry, Mapping)):
        timing = item.get("timing")
        started = started or (timing.get("start_time") if isinstance(timing, Mapping) else None)
        if "task" in item:
            task = str(item["task"])
        elif isinstance(item.get("system_prompt"), str):
            turns.append(Message("system", item["system_prompt"]))
        elif "step_number" in item or "code_action" in item:
            turns += _iter_memory_step(item, errors)
            if item.get("is_final_answer"):
                answer = as_text(item.get("action_output"))
        elif "final_answer" in item or item.keys() == {"output"}:
            answer = as_text(item.get("output", item.get("final_answer")))
    key = f"smolagents/{digest(as_text(list(items)))}"
    return Transcript(key, "agent", turns, task=task, answer=answer, errors=errors, started=started)


def _find_failure(item: Document) -> str | None:
    error = item.get("error")
    if not error:
        return None
    return str(error.get("message") if isinstance(error, Mapping) else error)


def _iter_memory_step(item: Document, errors: dict[str, str]) -> Iterator[Message | CodeStep]:
    output = item.get("model_output")
    if isinstance(output, str):
        text = output
    elif output:
        text = as_text(output)
    else:
        text = ""
    failed = _find_failure(item)
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
