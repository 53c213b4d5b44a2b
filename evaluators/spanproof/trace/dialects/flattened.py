"""Messages that a producer flattened into one attribute per field.

`llm.input_messages.3.message.tool_calls.0.tool_call.function.name` and its likes: the indices and names in
the attribute's name are a path. The tree is built again and read as any other message. Indices may be
missing, where the producer's limits dropped the oldest attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from spanproof.trace import AttributeValue, JsonValue, Message
from spanproof.trace.dialects.decode import decode_document
from spanproof.trace.dialects.messages import read_messages

_Tree: TypeAlias = "dict[str, _Tree | AttributeValue]"

# Names that stand between an index and its fields and say nothing.
_WRAPPERS = frozenset({"message", "message_content", "tool_call"})

_MAX_LEVELS = 16


def read_flattened_messages(
    attributes: Mapping[str, AttributeValue], prefix: str, role: str
) -> tuple[Message, ...]:
    """Return the messages below this prefix, in order of their index.

    Args:
        attributes: of a span.
        prefix: without the last dot, as `llm.input_messages`.
        role: of messages whose role is not there.
    """
    by_index = read_flattened_by_index(attributes, prefix, role)
    return tuple(message for index in sorted(by_index) for message in by_index[index])


def read_flattened_by_index(
    attributes: Mapping[str, AttributeValue], prefix: str, role: str
) -> dict[int, tuple[Message, ...]]:
    """Return the messages below this prefix by the index they were written under."""
    tree: _Tree = {}
    start = prefix + "."
    for name, value in attributes.items():
        if name.startswith(start):
            _add_value(tree, name[len(start) :].split("."), value)
    branches = {int(index): branch for index, branch in tree.items() if index.isdecimal()}
    found: dict[int, tuple[Message, ...]] = {}
    answers_calls = False
    for index, branch in sorted(branches.items(), key=lambda item: item[0]):
        if isinstance(branch, dict):
            # OpenInference 2.0 for LangChain.js gives the results of tools no role.
            spoken = "tool" if answers_calls else role
            found[index] = read_messages(_read_contents(_to_json(branch)), spoken)
            answers_calls = any(
                message.tool_calls or (answers_calls and message.role == "tool") for message in found[index]
            )
    return found


def _add_value(tree: _Tree, path: list[str], value: AttributeValue) -> None:
    if len(path) > _MAX_LEVELS:
        return
    for name in path[:-1]:
        branch = tree.get(name)
        if not isinstance(branch, dict):
            branch = tree[name] = {}
        tree = branch
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _to_json(branch: _Tree | AttributeValue) -> JsonValue:
    """Return the branch as JSON: branches whose names are indices become lists, wrappers fall away."""
    if not isinstance(branch, dict):
        if isinstance(branch, str):
            return branch
        return decode_document(branch)
    if len(branch) == 1 and next(iter(branch)) in _WRAPPERS:
        return _to_json(next(iter(branch.values())))
    if branch and all(name.isdecimal() for name in branch):
        return [_to_json(branch[name]) for name in sorted(branch, key=int)]
    return {name: _to_json(inner) for name, inner in branch.items()}


def _read_contents(message: JsonValue) -> JsonValue:
    """Return the message with its text once: OpenInference writes `content`, `contents`, or both."""
    if not isinstance(message, dict) or "contents" not in message:
        return message
    contents = message["contents"]
    rest = {name: value for name, value in message.items() if name != "contents"}
    if rest.get("content"):
        return rest
    return {**rest, "content": contents}
