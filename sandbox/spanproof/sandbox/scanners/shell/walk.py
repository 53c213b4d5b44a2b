"""Follows a script: pipelines, redirections, branches, loops, functions and what flows between them.

In: the tree of a script. Out: findings, by `programs`. Variables are propagated in order; branches join; a
function is read with each call's arguments, and once with unknown ones if nothing calls it.
"""

# ruff: noqa: SLF001 - the table of handlers stands outside its class

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.shell import programs
from spanproof.sandbox.scanners.shell.state import (
    EMPTY,
    ENTRY,
    HOLE,
    NOTHING,
    UNKNOWN_STREAM,
    State,
    Stream,
    Words,
    either,
    joined,
    known,
    merged,
)
from spanproof.sandbox.scanners.shell.words import Expander
from spanproof.sandbox.scanners.source import START, Place
from spanproof.sandbox.words import words

_MAX_CALLS = 8
_MAX_COMMANDS = 20_000
_MAX_BRANCHED = 128
"""Variables that are copied for each branch; with more, copying would make the time quadratic."""

_CHECK_EVERY = 256
_SECRET_NAME = re.compile(r"(?i)secret|token|passw|api_?key|access_?key|private_?key|credential|_key$")
_BRACED_COMMAND = re.compile(r"(?m)(?:^|(?<=[;&|(]))([ \t]{0,8}+)\{([^\s{}]{1,400}+)\}(?=[\s;&|)]|$)")
"""A command that is one brace expansion, `{cat,file}`: the shell runs it, the grammar does not read it."""

_WIDE = re.compile(r"[^\x00-\xff]")
"""Characters the grammar's own scanner hands to `isalpha`, which reads outside its table for them and may end
the process; one letter stands for each, so that columns stay."""

_TESTS_OF_FILES = words("-e -f -d -r -w -x -s -L -h -b -c -p -S -O -G -N -nt -ot -ef")


@lru_cache(maxsize=1)
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_bash.language())


class Shell:
    """Reads one script."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.state = State()
        self.words = Expander(b"", self.state, self._substitute, self._missing)
        self.called: set[str] = set()
        self.commands = 0
        self._lines: list[bytes] = []

    def read(self, text: str) -> None:
        """Read a whole script."""
        text = _WIDE.sub("é", text.replace("\0", " "))
        data = text.encode("utf-8", "replace")
        tree = tree_sitter.Parser(_language()).parse(data)
        if tree.root_node.has_error and "{" in text:
            data = _BRACED_COMMAND.sub(_spelled_out, text).encode("utf-8", "replace")
            tree = tree_sitter.Parser(_language()).parse(data)
        self.words = Expander(data, self.state, self._substitute, self._missing)
        self._lines = data.split(b"\n")
        if tree.root_node.has_error:
            self._tell_error(tree.root_node)
        self.run(tree.root_node, UNKNOWN_STREAM)
        self._read_uncalled()

    def run(self, node: Node, stdin: Stream) -> Stream:
        """Follow one node; gives what it writes."""
        handler = _HANDLERS.get(node.type)
        if handler is not None:
            return handler(self, node, stdin)
        if node.type.endswith("_expansion") or node.type in {"string", "concatenation", "word"}:
            self.words.word(node)
            return NOTHING
        return self._sequence(node, stdin)

    def place(self, node: Node) -> Place:
        """Where a node stands, in characters."""
        (row, column), (end_row, end_column) = node.start_point, node.end_point
        return Place(row + 1, self._column(row, column), end_row + 1, self._column(end_row, end_column))

    def add(self, rule: str, node: Node, message: str, verdict: Verdict | None = None) -> None:
        """Report one finding; `rule` without the language."""
        self.context.add(f"shell.{rule}", self.place(node), message, verdict)

    def judge_path(self, action: Action, word: Words, who: str, node: Node) -> None:
        """Hold a path, in each of its alternatives, against the boundary."""
        for pieces in word:
            head = pieces[0]
            if head == "" and len(pieces) == 1:
                continue
            crossing = self.context.boundary.path(action, pieces)
            self.context.crossed("shell", crossing, self.place(node), f"{who}:")

    def call_function(self, name: str, arguments: list[Words], stdin: Stream) -> Stream:
        """Read a function of the script with these arguments."""
        self.called.add(name)
        if (
            self.state.calls.count(name) >= 2
            or len(self.state.calls) >= _MAX_CALLS
            or self.commands > _MAX_COMMANDS
        ):
            return UNKNOWN_STREAM
        outer = self.state
        self.state = State(
            outer.variables,
            outer.functions,
            tuple(arguments),
            outer.origins,
            (*outer.calls, name),
            outer.aliases,
        )
        self.words.state = self.state
        try:
            return self.run(outer.functions[name], stdin)
        finally:
            self.state = outer
            self.words.state = outer

    def _read_uncalled(self) -> None:
        for name, body in list(self.state.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self.state.positional = None
                self.run(body, UNKNOWN_STREAM)

    def _sequence(self, node: Node, stdin: Stream) -> Stream:
        written: list[Stream] = []
        for child in node.named_children:
            if child.type not in {"comment", "heredoc_start", "heredoc_end"}:
                stream = self.run(child, stdin)
                if stream is not NOTHING:
                    written.append(stream)
        if len(written) == 1:
            return written[0]
        return NOTHING if not written else _put_together(written)

    def _command(self, node: Node, stdin: Stream) -> Stream:
        self.commands += 1
        if self.commands % _CHECK_EVERY == 0:
            self.context.check_time()
        fields: list[Words] = []
        assignments: list[Node] = []
        self._last_origin = frozenset()
        name_node = node.child_by_field_name("name")
        for child in node.named_children:
            if child.type == "variable_assignment":
                assignments.append(child)
            elif child.type == "herestring_redirect":
                stdin = Stream(self.words.word(child.named_children[0])) if child.named_children else stdin
            elif child.type == "file_redirect":
                stdin = self._redirect(child) or stdin
            elif child.type != "comment":
                fields.extend(self.words.fields(child))
        origins = self._origins_of(node) | self._last_origin
        for assignment in assignments:
            self._assign(assignment, keep=name_node is None)
        if not fields:
            return NOTHING
        return programs.run(self, fields, Stream(stdin.words, stdin.origin | origins), node)

    def _origins_of(self, node: Node) -> frozenset[str]:
        """Where the variables a command names got their values."""
        if not self.state.origins:
            return frozenset()
        text = self.words.text(node)
        return frozenset().union(
            *[
                origin
                for name, origin in self.state.origins.items()
                if f"${name}" in text or f"${{{name}" in text
            ]
        )

    def _pipeline(self, node: Node, stdin: Stream) -> Stream:
        stream = stdin
        for child in node.named_children:
            stream = self.run(child, stream)
        return stream

    def _list(self, node: Node, stdin: Stream) -> Stream:
        # `a && b && c` nests to the left; walked with a list, a long one cannot exhaust the stack.
        parts: list[Node] = []
        pending = [node]
        while pending:
            one = pending.pop()
            if one.type == "list":
                pending.extend(reversed(one.named_children))
            else:
                parts.append(one)
        return _put_together([self.run(part, stdin) for part in parts])

    def _redirected(self, node: Node, stdin: Stream) -> Stream:
        body = node.child_by_field_name("body")
        follow: Node | None = None
        outputs = False
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "heredoc_redirect":
                stdin, follow = self._here_document(redirect)
            elif redirect.type == "herestring_redirect" and redirect.named_children:
                stdin = Stream(self.words.word(redirect.named_children[0]))
            elif redirect.type == "file_redirect":
                given = self._redirect(redirect)
                stdin = given or stdin
                outputs = outputs or given is None
        written = self.run(body, stdin) if body is not None else NOTHING
        if follow is not None:
            return self.run(follow, written)
        return NOTHING if outputs else written

    def _here_document(self, node: Node) -> tuple[Stream, Node | None]:
        stream, follow = NOTHING, None
        quoted = False
        for child in node.named_children:
            if child.type == "heredoc_start":
                quoted = self.words.text(child)[:1] in {"'", '"', "\\"}
            elif child.type == "heredoc_body":
                stream = Stream(((self.words.text(child),),) if quoted else self.words.word(child))
            elif child.type == "file_redirect":
                self._redirect(child)
            elif child.type != "heredoc_end":
                follow = child
        return stream, follow

    def _redirect(self, node: Node) -> Stream | None:
        """Judge a redirection; gives a stream when it is an input."""
        operator = "".join(
            child.type for child in node.children if not child.is_named and child.type.strip("<>&|") == ""
        )
        reads = operator.startswith("<") and ">" not in operator
        stream: Stream | None = UNKNOWN_STREAM if reads else None
        for destination in node.children_by_field_name("destination"):
            word = self.words.word(destination)
            text = known(word)
            if ("&" in operator and text is not None and text.strip("-").isdigit()) or text == "-":
                continue
            self.judge_path(Action.READ if reads else Action.WRITE, word, "a redirection", node)
            if destination.type == "process_substitution":
                stream = self._process_substitution(destination)
        return stream

    def _process_substitution(self, node: Node) -> Stream:
        return self._sequence(node, UNKNOWN_STREAM)

    def _substitute(self, node: Node) -> Words:
        stream = self._sequence(node, UNKNOWN_STREAM)
        self._last_origin = stream.origin
        return tuple(_without_newline(pieces) for pieces in stream.words)

    _last_origin: frozenset[str] = frozenset()

    def _missing(self, name: str, node: Node) -> None:
        """A variable nothing in the script sets comes from the environment, if it is one."""
        if not name.isupper() or name.startswith("__") or not name[0].isalpha():
            return
        crossing = self.context.boundary.environment(name)
        if crossing is not None and _SECRET_NAME.search(name):
            self.context.crossed("shell", crossing, self.place(node), f"${name}:")
        elif crossing is not None:
            self.add(crossing.rule, node, f"${name}: {crossing.message}", Verdict.REVIEW)

    def _assignment(self, node: Node, stdin: Stream) -> Stream:
        self._assign(node, keep=True)
        return NOTHING

    def _assign(self, node: Node, *, keep: bool) -> None:
        name_node = node.child_by_field_name("name")
        value_node = node.child_by_field_name("value")
        if name_node is None:
            return
        self._last_origin = frozenset()
        value = EMPTY
        if value_node is not None and value_node.type == "array":
            items = [self.words.word(child) for child in value_node.named_children]
            value = tuple(pieces for one in items for pieces in one)[:8] or EMPTY
        elif value_node is not None:
            value = self.words.word(value_node)
        name = self.words.text(name_node).partition("[")[0]
        text = self.words.text(node)
        if text[len(name) :].startswith("+="):
            value = joined([self.state.variables.get(name, EMPTY), value])
        if keep:
            before = self.state.variables.get(name)
            if before is not None and len(self.state.variables) > _MAX_BRANCHED:
                value = either(before, value)
            self.state.variables[name] = value
            if self._last_origin:
                self.state.origins[name] = self._last_origin
        if name in {"LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "PROMPT_COMMAND", "PYTHONPATH"}:
            self.add("environment.write", node, f"sets {name}, which changes how programs load")

    def _declaration(self, node: Node, stdin: Stream) -> Stream:
        fields: list[Words] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, keep=True)
            else:
                fields.append(self.words.word(child))
        keyword = node.children[0].type if node.children else ""
        printing = not node.named_children or any(
            known(word) in {"-p", "-x", "-xp", "-px"} for word in fields
        )
        if (
            printing
            and len(node.named_children) == len(fields) <= 1
            and keyword in {"export", "declare", "typeset"}
        ):
            crossing = self.context.boundary.environment("")
            self.context.crossed("shell", crossing, self.place(node), f"{keyword}:")
        return NOTHING

    def _branches(self, node: Node, stdin: Stream) -> Stream:
        if len(self.state.variables) > _MAX_BRANCHED:
            return self._sequence(node, stdin)  # `_assign` joins instead
        before = dict(self.state.variables)
        merged_variables: dict[str, Words] = dict(before)
        written: list[Stream] = []
        for child in node.named_children:
            if child.type in {"elif_clause", "else_clause", "case_item"}:
                self._replace(before)
                written.append(self._sequence(child, stdin))
                _merge(merged_variables, self.state.variables)
            else:
                written.append(self.run(child, stdin))
                _merge(merged_variables, self.state.variables)
        self._replace(merged_variables)
        return _put_together(written)

    def _replace(self, variables: dict[str, Words]) -> None:
        # In place: a function's state shares the variables of its caller.
        values = dict(variables)
        self.state.variables.clear()
        self.state.variables.update(values)

    def _for(self, node: Node, stdin: Stream) -> Stream:
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        values: list[Words] = []
        for value in node.children_by_field_name("value"):
            values.extend(self.words.fields(value))
        if not values and self.state.positional:
            values = list(self.state.positional)
        if variable is not None:
            word = tuple(dict.fromkeys(pieces for one in values for pieces in one))[:8] or HOLE
            self.state.variables[self.words.text(variable)] = word
        return self.run(body, stdin) if body is not None else NOTHING

    def _counting_for(self, node: Node, stdin: Stream) -> Stream:
        for child in node.named_children:
            if child.type == "variable_assignment" or child.type.endswith("expression"):
                for name in [one for one in child.named_children if one.type == "variable_name"]:
                    self.state.variables[self.words.text(name)] = ((ENTRY,),)
        body = node.child_by_field_name("body")
        return self.run(body, stdin) if body is not None else NOTHING

    def _while(self, node: Node, stdin: Stream) -> Stream:
        return self._sequence(node, stdin)

    def _function(self, node: Node, stdin: Stream) -> Stream:
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name_node is None or body is None:
            return NOTHING
        name = self.words.text(name_node)
        self.state.functions[name] = body
        self.called.discard(name)
        if _is_fork_bomb(self.words.text(body), name):
            self.add("process.fork", node, f"the function {name} starts itself without end")
        return NOTHING

    def _test(self, node: Node, stdin: Stream) -> Stream:
        pending = list(node.named_children)
        while pending:
            child = pending.pop()
            if child.type in {"unary_expression", "binary_expression"}:
                operators = [one for one in child.named_children if one.type == "test_operator"]
                if operators and self.words.text(operators[0]) in _TESTS_OF_FILES:
                    for operand in child.named_children:
                        if operand.type != "test_operator":
                            self.judge_path(Action.READ, self.words.word(operand), "test", node)
                    continue
                pending.extend(child.named_children)
            elif child.type in {"parenthesized_expression", "negation_expression"}:
                pending.extend(child.named_children)
            else:
                self.words.word(child)
        return NOTHING

    def _unset(self, node: Node, stdin: Stream) -> Stream:
        for child in node.named_children:
            self.state.variables.pop(self.words.text(child), None)
        return NOTHING

    def _nothing(self, node: Node, stdin: Stream) -> Stream:
        return NOTHING

    def _tell_error(self, root: Node) -> None:
        pending = [root]
        while pending:
            node = pending.pop()
            if node.type == "ERROR" or node.is_missing:
                self.add("syntax", node, "does not parse as shell")
                return
            pending.extend(child for child in reversed(node.children) if child.has_error)
        self.context.add("shell.syntax", START, "does not parse as shell")

    def _column(self, row: int, column: int) -> int:
        line = self._lines[row] if row < len(self._lines) else b""
        return column + 1 if line.isascii() else len(line[:column].decode("utf-8", "ignore")) + 1


def _merge(into: dict[str, Words], variables: dict[str, Words]) -> None:
    for name, value in variables.items():
        kept = into.get(name)
        into[name] = value if kept is None else either(kept, value)


def _put_together(streams: list[Stream]) -> Stream:
    told = [stream for stream in streams if stream is not NOTHING]
    if not told:
        return NOTHING
    if len(told) == 1:
        return told[0]
    origin = frozenset[str]().union(*[stream.origin for stream in told])
    parts: list[Words] = []
    for stream in told:
        parts.append(stream.words)
        parts.append((("\n",),) if not _ends_line(stream.words) else EMPTY)
    return Stream(joined(parts), origin)


def _ends_line(words: Words) -> bool:
    return all((pieces[-1] or "").endswith("\n") for pieces in words)


def _without_newline(pieces: tuple[str | None, ...]) -> tuple[str | None, ...]:
    last = pieces[-1]
    return merged([*pieces[:-1], last.rstrip("\n")]) if last is not None else pieces


def _spelled_out(found: re.Match[str]) -> str:
    """The words of a brace expansion, in as many characters, so that places stay."""
    inner = found[2]
    return f"{found[1]} {inner.replace(',', ' ')} " if "," in inner else found[0]


def _is_fork_bomb(body: str, name: str) -> bool:
    plain = re.escape(name)
    return bool(re.search(rf"(?<![\w-]){plain}\s{{0,4}}\|\s{{0,4}}{plain}\s{{0,4}}&", body))


_HANDLERS: Final[dict[str, Callable[[Shell, Node, Stream], Stream]]] = {
    "command": Shell._command,
    "pipeline": Shell._pipeline,
    "list": Shell._list,
    "redirected_statement": Shell._redirected,
    "variable_assignment": Shell._assignment,
    "declaration_command": Shell._declaration,
    "if_statement": Shell._branches,
    "case_statement": Shell._branches,
    "for_statement": Shell._for,
    "c_style_for_statement": Shell._counting_for,
    "while_statement": Shell._while,
    "function_definition": Shell._function,
    "test_command": Shell._test,
    "unset_command": Shell._unset,
    "comment": Shell._nothing,
    "ERROR": Shell._sequence,
}
