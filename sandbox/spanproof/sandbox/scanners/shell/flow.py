"""What runs, in which order and with what values: pipelines, lists, branches, loops, functions, tests.

In: a node of the tree and the stream it reads. Out: the stream it writes. Branches are each read from the
same values and joined; a loop's body is read once, its variable standing for every value it may take.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.pieces import ENTRY, bounded
from spanproof.sandbox.scanners.shell.files import TESTS_OF_FILES
from spanproof.sandbox.scanners.shell.state import (
    HOLE,
    MAX_ALTERNATIVES,
    MAX_BRANCHED,
    NOTHING,
    Stream,
    Words,
    merge_variables,
    one_after_another,
)
from spanproof.sandbox.scanners.shell.walk import NodeHandler, Shell


def _pipeline(shell: Shell, node: Node, stdin: Stream) -> Stream:
    stream = stdin
    for child in node.named_children:
        stream = shell.run(child, stream)
    return stream


def _list(shell: Shell, node: Node, stdin: Stream) -> Stream:
    # `a && b && c` nests to the left; walked with a list, a long one cannot exhaust the stack.
    parts: list[Node] = []
    pending = [node]
    while pending:
        one = pending.pop()
        if one.type == "list":
            pending.extend(reversed(one.named_children))
        else:
            parts.append(one)
    return one_after_another([shell.run(part, stdin) for part in parts])


def _branches(shell: Shell, node: Node, stdin: Stream) -> Stream:
    if len(shell.state.variables) > MAX_BRANCHED:
        return shell.sequence(node, stdin)  # an assignment joins with the value before it instead
    before = dict(shell.state.variables)
    merged: dict[str, Words] = dict(before)
    written: list[Stream] = []
    for child in node.named_children:
        if child.type in {"elif_clause", "else_clause", "case_item"}:
            shell.state.replace_variables(before)
            written.append(shell.sequence(child, stdin))
        else:
            written.append(shell.run(child, stdin))
        merge_variables(merged, shell.state.variables)
    shell.state.replace_variables(merged)
    return one_after_another(written)


def _for(shell: Shell, node: Node, stdin: Stream) -> Stream:
    variable = node.child_by_field_name("variable")
    values: list[Words] = []
    for value in node.children_by_field_name("value"):
        values.extend(shell.words.fields(value))
    if not values and shell.state.positional:
        values = list(shell.state.positional)
    if variable is not None:
        word = bounded((pieces for one in values for pieces in one), MAX_ALTERNATIVES) or HOLE
        shell.state.variables[shell.words.text(variable)] = word
    return shell.repeat(lambda: _body(shell, node, stdin), node)


def _counting_for(shell: Shell, node: Node, stdin: Stream) -> Stream:
    for child in node.named_children:
        if child.type == "variable_assignment" or child.type.endswith("expression"):
            for name in [one for one in child.named_children if one.type == "variable_name"]:
                shell.state.variables[shell.words.text(name)] = ((ENTRY,),)
    return shell.repeat(lambda: _body(shell, node, stdin), node)


def _while(shell: Shell, node: Node, stdin: Stream) -> Stream:
    return shell.repeat(lambda: shell.sequence(node, stdin), node)


def _body(shell: Shell, node: Node, stdin: Stream) -> Stream:
    body = node.child_by_field_name("body")
    return shell.run(body, stdin) if body is not None else NOTHING


def _function(shell: Shell, node: Node, stdin: Stream) -> Stream:
    name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name_node is None or body is None:
        return NOTHING
    name = shell.words.text(name_node)
    shell.define_function(name, body)
    if _is_fork_bomb(shell.words.text(body), name):
        shell.add("process.fork", node, f"the function {name} starts itself without end")
    return NOTHING


def _is_fork_bomb(body: str, name: str) -> bool:
    plain = re.escape(name)
    return bool(re.search(rf"(?<![\w-]){plain}\s*+\|\s*+{plain}\s*+&", body))


def _test(shell: Shell, node: Node, stdin: Stream) -> Stream:
    pending = list(node.named_children)
    while pending:
        child = pending.pop()
        if child.type in {"unary_expression", "binary_expression"}:
            operators = [one for one in child.named_children if one.type == "test_operator"]
            if operators and shell.words.text(operators[0]) in TESTS_OF_FILES:
                for operand in child.named_children:
                    if operand.type != "test_operator":
                        shell.judge_path(Action.READ, shell.words.word(operand), "test", node)
                continue
            pending.extend(child.named_children)
        elif child.type in {"parenthesized_expression", "negation_expression"}:
            pending.extend(child.named_children)
        else:
            shell.run_subscripts(shell.words.word(child), node)
    return NOTHING


def _nothing(shell: Shell, node: Node, stdin: Stream) -> Stream:
    return NOTHING


HANDLERS: Final[dict[str, NodeHandler]] = {
    "pipeline": _pipeline,
    "list": _list,
    "if_statement": _branches,
    "case_statement": _branches,
    "for_statement": _for,
    "while_statement": _while,
    "c_style_for_statement": _counting_for,
    "function_definition": _function,
    "test_command": _test,
    "comment": _nothing,
}
