"""What each kind of node does: commands, assignments, redirections, pipelines, branches, loops, functions.

In: a node of the tree and the stream it reads. Out: the stream it writes; `programs` judges the command, its
redirections are judged here. Branches are each read from the same values and joined; a loop's body is read
until no variable changes, its variable standing for every value it may take.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action, Pieces
from spanproof.sandbox.scanners.pieces import ENTRY, limit_texts
from spanproof.sandbox.scanners.shell import programs
from spanproof.sandbox.scanners.shell.conditions import find_outcome, list_chosen
from spanproof.sandbox.scanners.shell.files import TESTS_OF_FILES
from spanproof.sandbox.scanners.shell.state import (
    EMPTY,
    HOLE,
    MAX_ALTERNATIVES,
    MAX_BRANCHED,
    NOTHING,
    UNKNOWN_STREAM,
    Stream,
    Words,
    join_alternatives,
    join_streams,
    join_words,
    merge_variables,
    read_known_text,
)
from spanproof.sandbox.scanners.shell.walk import NodeHandler, Shell


def _follow_command(shell: Shell, node: Node, stdin: Stream) -> Stream:
    parts, following = _split_at_line_end(shell, node)
    written = _run_parts(shell, node, parts, stdin)
    if not following:
        return written
    fields = [word for child in following for word in shell.words.fields(child)]
    return join_streams([written, programs.run(shell, fields, UNKNOWN_STREAM, node)])


def _run_parts(shell: Shell, node: Node, parts: list[Node], stdin: Stream) -> Stream:
    shell.count_command()
    fields: list[Words] = []
    assignments: list[Node] = []
    shell.substituted_from = frozenset()
    name_node = node.child_by_field_name("name")
    for child in parts:
        if child.type == "variable_assignment":
            assignments.append(child)
        elif child.type == "herestring_redirect":
            if child.named_children:
                stdin = Stream(shell.words.word(child.named_children[0]))
        elif child.type == "file_redirect":
            stdin = _judge_redirect(shell, child) or stdin
        elif child.type != "comment":
            fields.extend(shell.words.fields(child))
    if fields and _DROPPED_DASH.match(shell.script.data, node.end_byte):
        fields.append((("-",),))
    origins = _collect_origins(shell, node) | shell.substituted_from
    assigned = dict(_assign(shell, assignment, keep=name_node is None) for assignment in assignments)
    if not fields:
        return NOTHING
    given = Stream(stdin.words, stdin.origin | origins)
    outer = shell.given
    shell.given = outer | assigned
    try:
        return _run_with_separators(shell, fields, assignments, given, node)
    finally:
        shell.given = outer
        if (read_known_text(fields[0]) or "").rpartition("/")[2] in _WRITES_UNSEEN:
            shell.context.own_files.forget(None)


# Programs that write files whose names are not among their operands, or by code of their own.
_WRITES_UNSEEN: Final = frozenset(
    {
        "split",
        "csplit",
        "python",
        "python3",
        "node",
        "pandoc",
        "gunzip",
        "gzip",
        "bunzip2",
        "unxz",
        "xz",
        "perl",
    }
    | {"ruby", "set", "make"}
)


def _split_at_line_end(shell: Shell, node: Node) -> tuple[list[Node], list[Node]]:
    """Return the parts of a command, and those that the grammar takes from the line below.

    It does so where a pipeline of three commands ends a line, and the next command is redirected.
    """
    parts = node.named_children
    for at, (one, other) in enumerate(pairwise(parts), start=1):
        between = shell.script.data[one.end_byte : other.start_byte]
        if b"\n" in between.replace(b"\\\n", b""):
            return parts[:at], parts[at:]
    return parts, []


def _run_with_separators(
    shell: Shell, fields: list[Words], assignments: list[Node], given: Stream, node: Node
) -> Stream:
    """Run a command by the `IFS` that it is given, if any."""
    separators = [one for one in assignments if shell.words.text(one).startswith("IFS=")]
    if not separators:
        return programs.run(shell, fields, given, node)
    # `IFS=: read a b` splits by it, and only this command does.
    variables = shell.state.variables
    before = variables.get("IFS")
    variables["IFS"] = _read_value(shell, separators[-1].child_by_field_name("value"))
    written = programs.run(shell, fields, given, node)
    variables.pop("IFS", None)
    if before is not None:
        variables["IFS"] = before
    return written


# An operand that the grammar leaves out of the tree, where a here-document follows.
_DROPPED_DASH = re.compile(rb"[ \t]++-(?=[ \t]*+<<)")


def _collect_origins(shell: Shell, node: Node) -> frozenset[str]:
    """Return where the variables a command names got their values."""
    if not shell.state.origins:
        return frozenset()
    text = shell.words.text(node)
    return frozenset().union(
        *[
            origin
            for name, origin in shell.state.origins.items()
            if f"${name}" in text or f"${{{name}" in text
        ]
    )


def _follow_redirected(shell: Shell, node: Node, stdin: Stream) -> Stream:
    body = node.child_by_field_name("body")
    follow: Node | None = None
    outputs: list[Node] = []
    for redirect in node.named_children:  # that of a here-string has no field
        if redirect.type == "heredoc_redirect":
            stdin, follow = _read_here_document(shell, redirect, outputs)
        elif redirect.type == "herestring_redirect" and redirect.named_children:
            stdin = Stream(shell.words.word(redirect.named_children[0]))
        elif redirect.type == "file_redirect":
            stdin = _judge_redirect(shell, redirect, outputs) or stdin
    written = shell.run(body, stdin) if body is not None else NOTHING
    for redirect in outputs:
        _note_written(shell, redirect, written if follow is None else UNKNOWN_STREAM)
    if outputs and body is not None and _WRITES_FOREVER.match(shell.words.text(body)):
        shell.add("resource.endless", node, "writes to a file without an end")
    if follow is not None:
        return shell.run(follow, written)
    return NOTHING if any(map(_takes_output, outputs)) else written


def _takes_output(redirect: Node) -> bool:
    """Whether a redirection writes the output of a command to its file, not what it reports as errors."""
    descriptor = redirect.child_by_field_name("descriptor")
    return descriptor is None or descriptor.text != b"2"


def _note_written(shell: Shell, redirect: Node, written: Stream) -> None:
    """Note what a redirection writes to its file, where that is known."""
    destinations = redirect.children_by_field_name("destination")
    if len(destinations) == 1:
        path = shell.find_path(shell.words.word(destinations[0]))
    else:
        path = None
    text = read_known_text(written.words)
    files = shell.context.own_files
    operator = redirect.children[0].type
    if path is None or text is None or operator not in {">", ">>"}:
        files.forget(path)
    elif operator == ">>" and not files.holds(path):
        files.forget(path)  # what it is added to is not known
    else:
        if operator == ">":
            files.open_new(path)
        files.add_text(path, text)


# A program whose output has no end, with nothing behind it that takes only a part.
_WRITES_FOREVER = re.compile(r"(?:yes\b|cat\s++/dev/(?:zero|u?random))[^|]*+\Z")


def _read_here_document(shell: Shell, node: Node, outputs: list[Node]) -> tuple[Stream, Node | None]:
    """Return what a here-document feeds, and the command behind its mark; add redirections to `outputs`."""
    stream, follow = NOTHING, None
    quoted = False
    for child in node.named_children:
        if child.type == "heredoc_start":
            quoted = shell.words.text(child)[:1] in {"'", '"', "\\"}
        elif child.type == "heredoc_body":
            stream = Stream(((shell.words.text(child),),) if quoted else shell.words.word(child))
        elif child.type == "file_redirect":
            _judge_redirect(shell, child, outputs)
        elif child.type != "heredoc_end":
            follow = child
    return stream, follow


def _judge_redirect(shell: Shell, node: Node, outputs: list[Node] | None = None) -> Stream | None:
    """Judge a redirection; gives a stream when it is an input.

    One that writes is added to `outputs`, for a caller that notes what is written.
    """
    operator = "".join(
        child.type for child in node.children if not child.is_named and child.type.strip("<>&|") == ""
    )
    reads = operator.startswith("<") and ">" not in operator
    stream: Stream | None = UNKNOWN_STREAM if reads else None
    for destination in node.children_by_field_name("destination"):
        word = shell.words.word(destination)
        text = read_known_text(word)
        if ("&" in operator and text is not None and text.strip("-").isdigit()) or text == "-":
            continue
        action = Action.READ if reads else Action.WRITE
        shell.judge_path(action, word, "a redirection", node, is_followed=outputs is not None)
        if destination.type == "process_substitution":
            stream = shell.sequence(destination, UNKNOWN_STREAM)
    if outputs is not None and stream is None:
        outputs.append(node)
    return stream


def _follow_assignment(shell: Shell, node: Node, stdin: Stream) -> Stream:
    _assign(shell, node, keep=True)
    return NOTHING


def _assign(shell: Shell, node: Node, *, keep: bool) -> tuple[str, Words]:
    """Set a variable, which is kept unless it is set for one command; return its name and value."""
    name_node = node.child_by_field_name("name")
    if name_node is None:
        return "", HOLE
    shell.substituted_from = frozenset()
    value_node = node.child_by_field_name("value")
    value = _read_value(shell, value_node)
    name = shell.words.text(name_node).partition("[")[0]
    variables = shell.state.variables
    adds = any(child.type == "+=" for child in node.children)
    is_array = value_node is not None and value_node.type == "array"
    if name in variables and (name_node.type == "subscript" or (adds and is_array)):
        # Which item it becomes is not followed: a variable is any of its items.
        value = join_alternatives(variables[name], value)
    elif adds:
        value = join_words([variables.get(name, EMPTY), value])
    _assign_items(shell, name, name_node, None if adds else value_node, value)
    if keep:
        before = variables.get(name)
        if before is not None and len(variables) > MAX_BRANCHED:
            value = join_alternatives(before, value)
        variables[name] = value
        if shell.substituted_from:
            shell.state.origins[name] = shell.substituted_from
    programs.judge_assigned(shell, name, value, node)
    return name, value


def _assign_items(shell: Shell, name: str, target: Node, value_node: Node | None, value: Words) -> None:
    """Note the items of an array, as variables named `array[key]`, where their keys are known."""
    variables = shell.state.variables
    if target.type == "subscript":
        key = shell.words.subscript(target)
        for held in [one for one in variables if one.startswith(f"{name}[")] if key is None else ():
            variables[held] = join_alternatives(variables[held], value)
        if key is not None:
            variables[f"{name}[{key}]"] = value
        return
    for held in [one for one in variables if one.startswith(f"{name}[")]:
        variables[held] = value
    if value_node is not None and value_node.type == "array" and value_node.named_child_count <= _MOST_ITEMS:
        items = _read_items(shell, value_node)
        for key, item in items if all(key is not None for key, _ in items) else ():
            variables[f"{name}[{key}]"] = item


# Items of an array that are kept apart; of a longer one a subscript may be any.
_MOST_ITEMS = 16


def _read_items(shell: Shell, array: Node) -> list[tuple[str | None, Words]]:
    """Return the keys and values of an array; a key is None where it is not known."""
    items: list[tuple[str | None, Words]] = []
    for index, child in enumerate(array.named_children):
        word = shell.words.word(child)
        if not shell.words.text(child).startswith("["):
            items.append((str(index), word))
            continue
        key, is_keyed, first = (word[0][0] or "")[1:].partition("]=")
        if is_keyed and len(word) == 1:
            items.append((key, ((first, *word[0][1:]),)))
        else:
            items.append((None, tuple(map(_strip_subscript, word))))
    return items


def _strip_subscript(pieces: Pieces) -> Pieces:
    """Return the value in `[key]=value`, where the key is not known."""
    at = next((at for at, piece in enumerate(pieces) if piece is not None and "]=" in piece), None)
    if at is None:
        return pieces
    return ((pieces[at] or "").partition("]=")[2], *pieces[at + 1 :])


def _read_value(shell: Shell, node: Node | None) -> Words:
    if node is None:
        return EMPTY
    if node.type != "array":
        return shell.words.word(node)
    return (
        limit_texts((pieces for _, one in _read_items(shell, node) for pieces in one), MAX_ALTERNATIVES)
        or EMPTY
    )


def _follow_declaration(shell: Shell, node: Node, stdin: Stream) -> Stream:
    fields: list[Words] = []
    for child in node.named_children:
        if child.type == "variable_assignment":
            _assign(shell, child, keep=True)
        else:
            fields.append(shell.words.word(child))
            shell.run_subscripts(fields[-1], node)
    keyword = node.children[0].type if node.children else ""
    if any(_BY_NAME.match(read_known_text(word) or "") for word in fields):
        _judge_reference(shell, node)
    printing = not node.named_children or any(
        read_known_text(word) in {"-p", "-x", "-xp", "-px"} for word in fields
    )
    if (
        printing
        and len(node.named_children) == len(fields) <= 1
        and keyword in {"export", "declare", "typeset"}
    ):
        shell.read_all_variables(keyword, node)
    return NOTHING


def _judge_reference(shell: Shell, node: Node) -> None:
    """Judge `declare -n name=VARIABLE`: reading the one reads the other."""
    shell.add("command.dynamic", node, "makes a variable that is another by name")
    for child in node.named_children:
        if child.type == "variable_assignment":
            value = child.child_by_field_name("value")
        else:
            value = None
        name = read_known_text(shell.words.word(value)) if value is not None else None
        if name is not None:
            shell.judge_variable(name, node)


# The option of `declare` and `local` for a reference to a variable.
_BY_NAME = re.compile(r"-[A-Za-z]*n")


def _follow_unset(shell: Shell, node: Node, stdin: Stream) -> Stream:
    for child in node.named_children:
        shell.state.variables.pop(shell.words.text(child), None)
    return NOTHING


def _follow_bare_redirect(shell: Shell, node: Node, stdin: Stream) -> Stream:
    """Follow a redirection without a command: `$(< file)` gives what the file holds."""
    given = _judge_redirect(shell, node)
    return NOTHING if given is None else Stream(HOLE, frozenset({"file"}))


def _follow_pipeline(shell: Shell, node: Node, stdin: Stream) -> Stream:
    stream = stdin
    directories, before = shell.state.directories, list(shell.state.directories)
    for child in node.named_children:
        stream = shell.run(child, stream)
    # Each part has a directory of its own; one outside is kept, for `lastpipe` keeps that of the last part.
    directories[:] = [one for one in directories if one in before or one[:1] in ("/", "~", "")]
    return stream


def _flatten_list(node: Node) -> tuple[list[Node], list[str]]:
    """Return the commands of `a && b || c` and the operators between them."""
    # It nests to the left; walked with a list, a long one cannot exhaust the stack.
    parts: list[Node] = []
    operators: list[str] = []
    pending = [node]
    while pending:
        one = pending.pop()
        if one.type == "list":
            pending.extend(reversed(one.named_children))
            operators[:0] = [child.type for child in one.children if not child.is_named]
        else:
            parts.append(one)
    return parts, operators


def _follow_list(shell: Shell, node: Node, stdin: Stream) -> Stream:
    parts, operators = _flatten_list(node)
    written: list[Stream] = []
    outcome: bool | None = None
    for at, part in enumerate(parts):
        operator = operators[at - 1] if 0 < at <= len(operators) else ""
        if operator and outcome is (operator == "||"):
            continue  # it runs only where what is before it fails, or succeeds
        written.append(shell.run(part, stdin))
        outcome = _join_outcomes(outcome, operator, find_outcome(shell, part))
    return join_streams(written)


def _join_outcomes(before: bool | None, operator: str, own: bool | None) -> bool | None:
    """Return how a list ends behind a part that may have been left out, where `before` is not known."""
    is_reached = not operator or before is not None
    return own if is_reached or own is (operator == "||") else None


def _follow_branches(shell: Shell, node: Node, stdin: Stream) -> Stream:
    chosen = list_chosen(shell, node)
    if chosen is not None:
        return join_streams([shell.run(child, stdin) for child in chosen])
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
    return join_streams(written)


def _follow_for(shell: Shell, node: Node, stdin: Stream) -> Stream:
    variable = node.child_by_field_name("variable")
    values: list[Words] = []
    for value in node.children_by_field_name("value"):
        values.extend(shell.words.fields(value))
    if not values and shell.state.positional:
        values = list(shell.state.positional)
    text = shell.words.text(node)
    adds = _ACCUMULATES.search(text) is not None and not _LEAVES_LOOP.search(text)
    if variable is not None and adds and 1 < len(values) <= _MOST_TURNS:
        written: list[Stream] = []
        for turn in values:
            shell.state.variables[shell.words.text(variable)] = turn
            written.append(_run_body(shell, node, stdin))
        return join_streams(written)
    if variable is not None:
        word = limit_texts((pieces for one in values for pieces in one), MAX_ALTERNATIVES) or HOLE
        shell.state.variables[shell.words.text(variable)] = word
    return shell.repeat(lambda: _run_body(shell, node, stdin), node)


# Turns that a loop is followed through one by one, where each adds to a variable and none is left early.
_MOST_TURNS: Final = 8
_ACCUMULATES: Final = re.compile(r"\b(\w{1,40})=[^\n;]{0,80}?\$\{?\1\b")
_LEAVES_LOOP: Final = re.compile(
    r"\b(?:break|continue|return|exit|while|until)\b|\bfor\b.*\bfor\b", re.DOTALL
)


def _follow_counting_for(shell: Shell, node: Node, stdin: Stream) -> Stream:
    for child in node.named_children:
        if child.type == "variable_assignment" or child.type.endswith("expression"):
            for name in [one for one in child.named_children if one.type == "variable_name"]:
                shell.state.variables[shell.words.text(name)] = ((ENTRY,),)
    return shell.repeat(lambda: _run_body(shell, node, stdin), node)


# A loop whose condition is always true, what leaves it or waits in it, and what each turn adds.
_ENDLESS: Final = re.compile(r"\s*+(?:while\s++(?:true|:|\[\s1\s\]|\(\(\s?1\s?\)\))|until\s++false)\s*+[;\n]")
_LEAVES: Final = re.compile(
    r"\b(?:break|return|exit|sleep|read|wait|inotifywait)\b|\|\|\s*+\{?\s*+(?:break|exit)"
)
_DOES_NOTHING: Final = re.compile(r"[;\n]\s*+do\s++(?:true|:|continue)\s*+[;\n]?\s*+done\Z")
_ADDS: Final = re.compile(r">>|>\s*+[\"']?[\w./-]*+\$|[^&]&\s*+(?:\n|;|done)|\w\+=")


def _judge_endless_loop(shell: Shell, node: Node) -> None:
    text = shell.words.text(node)
    acts = _ADDS.search(text) or _DOES_NOTHING.search(text)
    if _ENDLESS.match(text) and not _LEAVES.search(text) and acts:
        shell.add("resource.endless", node, "a loop without an end adds to what it holds")


def _follow_while(shell: Shell, node: Node, stdin: Stream) -> Stream:
    _judge_endless_loop(shell, node)
    return shell.repeat(lambda: shell.sequence(node, stdin), node)


def _run_body(shell: Shell, node: Node, stdin: Stream) -> Stream:
    body = node.child_by_field_name("body")
    return shell.run(body, stdin) if body is not None else NOTHING


def _follow_function(shell: Shell, node: Node, stdin: Stream) -> Stream:
    name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name_node is None or body is None:
        return NOTHING
    name = shell.words.text(name_node)
    shell.define_function(name, body)
    if _is_fork_bomb(shell.words.text(body), name):
        shell.add("process.fork", node, f"the function {name} starts itself without end")
    return NOTHING


def _is_fork_bomb(body: str, name: str) -> bool:
    """Whether a function starts itself twice in the background: by its name alone, or with no guard."""
    own = rf"(?<![\w-]){re.escape(name)}"
    if re.search(rf"{own}\s*+\|\s*+{own}\s*+&", body):
        return True
    starts_two = re.search(
        rf"{own}\b[^\n;|&]*+(?:\|\s*+{own}\b[^\n;|&]*+&|&\s*+{own}\b[^\n;|&]*+&)(?!&)", body
    )
    return starts_two is not None and not _GUARD.search(body)


# What may end a function before it starts itself.
_GUARD: Final = re.compile(r"(?<![\w-])(?:if|case|while|until|for|return|exit|test|\[)(?![\w-])|&&|\|\|")


def _follow_test(shell: Shell, node: Node, stdin: Stream) -> Stream:
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


def _ignore_node(shell: Shell, node: Node, stdin: Stream) -> Stream:
    return NOTHING


HANDLERS: Final[dict[str, NodeHandler]] = {
    "command": _follow_command,
    "file_redirect": _follow_bare_redirect,
    "redirected_statement": _follow_redirected,
    "variable_assignment": _follow_assignment,
    "declaration_command": _follow_declaration,
    "unset_command": _follow_unset,
    "pipeline": _follow_pipeline,
    "subshell": Shell.run_apart,
    "list": _follow_list,
    "if_statement": _follow_branches,
    "case_statement": _follow_branches,
    "for_statement": _follow_for,
    "while_statement": _follow_while,
    "c_style_for_statement": _follow_counting_for,
    "function_definition": _follow_function,
    "test_command": _follow_test,
    "comment": _ignore_node,
}
"""What follows each kind of node."""
