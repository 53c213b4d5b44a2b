"""Programs that run code: shells, interpreters, `eval`, `source`, `trap` and aliases.

In: a command whose operands or input are code. Out: the findings of that code, scanned in its own language; a
review, or a denial where it came over the network or out of a decoder, when it is not known.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.context import MAX_NESTING
from spanproof.sandbox.scanners.shell.catalogue import split_options
from spanproof.sandbox.scanners.shell.network import judge_sources
from spanproof.sandbox.scanners.shell.state import (
    NOTHING,
    UNKNOWN_STREAM,
    State,
    Stream,
    Words,
    joined,
    known,
    merge_variables,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.words import words

_DOWNLOADED = frozenset({"network"})
_ENCODED = frozenset({"encoded"})
_TEXT_THAT_REACHES = re.compile(
    r"(?i)socket|fsockopen|TCPSocket|io\.popen|os\.execute|ProcessBuilder|Net::|LWP|HTTP::|open-uri|Invoke-|IEX"
)


def run_shell(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge a shell that is started: its command line, script or input."""
    operands, options = split_options(arguments, "O")
    if any(re.match(r"^-[a-zA-Z]*c[a-zA-Z]*$", option) for option in options):
        if operands:
            run_word(shell, operands[0], stdin.origin, f"{program} -c runs a command: ", node, operands[1:])
        return UNKNOWN_STREAM
    if operands:
        shell.judge_path(Action.READ, operands[0], program, node)
        if options == ["-n"]:
            return UNKNOWN_STREAM  # only looks for mistakes
        if known(operands[0]) == "/dev/fd/63":
            _run_stream(shell, stdin, f"{program} runs a script: ", node)
        else:
            shell.add("exec.dynamic", node, f"{program} runs a script that is not in the snippet")
    elif "-i" in options:
        shell.add("exec.dynamic", node, f"starts an interactive {program}")
    else:
        _run_stream(shell, stdin, f"{program} runs a script: ", node)
    return UNKNOWN_STREAM


def _run_stream(shell: Shell, stdin: Stream, origin: str, node: Node) -> None:
    run_word(shell, stdin.words, stdin.origin, origin, node)


def run_word(
    shell: Shell,
    word: Words,
    taint: frozenset[str],
    origin: str,
    node: Node,
    given: Sequence[Words] = (),
    *,
    state: State | None = None,
) -> None:
    """Scan a text that is run as commands, in each of its alternatives.

    Args:
        shell: the reader of the script that holds it.
        word: the text.
        taint: where the text comes from.
        origin: a phrase put before its findings' messages.
        node: its place.
        given: its `$0`, `$1` and on.
        state: what it finds and changes; by default it gets the variables of the script, and changes none.
    """
    for pieces in word:
        if all(piece is None for piece in pieces):
            _unknown_code(shell, taint, node)
            continue
        text = "".join("$__unknown" if piece is None else piece for piece in pieces)
        run_text(shell, text, origin, node, given, state=state)


def _eval(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """A command in this shell itself: what it sets is set after it."""
    parts = [part for argument in arguments for part in (argument, ((" ",),))]
    state = shell.state
    before = dict(state.variables)
    after: dict[str, Words] = {}
    for pieces in joined(parts[:-1]) if parts else ():
        state.replace_variables(before)
        run_word(shell, (pieces,), stdin.origin, "eval runs a command: ", node, state=state)
        merge_variables(after, state.variables)
    state.replace_variables(after or before)
    return UNKNOWN_STREAM


def _unknown_code(shell: Shell, taint: frozenset[str], node: Node) -> None:
    if taint & _DOWNLOADED:
        shell.add("exec.download", node, "runs what was just downloaded")
    elif taint & _ENCODED:
        shell.add("exec.payload", node, "runs what was just decoded")
    else:
        shell.add("exec.dynamic", node, "runs commands that are not known")


def run_text(
    shell: Shell,
    text: str,
    origin: str,
    node: Node,
    given: Sequence[Words] = (),
    *,
    state: State | None = None,
) -> None:
    """Scan a command line inside this one, with the names that are known here."""
    if shell.context.depth >= MAX_NESTING:
        shell.add("exec.payload", node, "hides commands in too many layers")
        return
    context = shell.context.nested(shell.place(node), shell.context.origin + origin)
    if state is not None:
        shell.read_nested(context, text, state, whole=False)
        return
    state = State(dict(shell.state.variables))
    if given:
        state.variables["0"] = given[0]
        state.positional = tuple(given[1:])
    shell.read_nested(context, text, state)


def run_interpreter(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge an interpreter: its inline code, script or input."""
    operands, options = split_options(arguments, "mWX")
    flags = {
        option
        for option in options
        if option in {"-c", "-e", "-E", "-r", "--eval", "-p", "--print", "-pe", "-ne"}
    }
    if "-m" in options:
        return _python_module(shell, arguments, node)
    if flags and operands:
        _inline_code(shell, program, operands[0], stdin.origin, node)
        for operand in operands[1:]:
            shell.judge_path(Action.READ, operand, program, node)
    elif operands:
        shell.judge_path(Action.READ, operands[0], program, node)
        shell.add("exec.dynamic", node, f"{program} runs a script that is not in the snippet")
    elif not options:
        _inline_code(shell, program, stdin.words, stdin.origin, node)
    return UNKNOWN_STREAM


_HARMLESS_MODULES = words("json.tool this calendar timeit unittest pytest venv tabnanny ast")


def _python_module(shell: Shell, arguments: list[Words], node: Node) -> Stream:
    names = [known(argument) or "" for argument in arguments]
    module = names[names.index("-m") + 1] if names.index("-m") + 1 < len(names) else ""
    for argument in arguments:
        shell.judge_literals(argument, f"python -m {module}", node)
    if module in {"http.server", "SimpleHTTPServer"}:
        shell.add("network.listen", node, f"python -m {module} serves files")
    elif module == "pip":
        shell.add("command.install", node, "pip installs packages")
        judge_sources(shell, "pip", arguments, node)
    elif module not in _HARMLESS_MODULES:
        shell.add("exec.dynamic", node, f"python runs the module {module or 'that is not known'}")
    return UNKNOWN_STREAM


def _inline_code(shell: Shell, program: str, word: Words, taint: frozenset[str], node: Node) -> None:
    for pieces in word:
        if all(piece is None for piece in pieces):
            _unknown_code(shell, taint, node)
            continue
        text = "".join("__unknown" if piece is None else piece for piece in pieces)
        context = shell.context.nested(shell.place(node), f"{program} runs code: ")
        if program.startswith(("python", "pypy", "ipython")):
            nested.scan("python", context, text)
        elif program in {"node", "nodejs", "deno", "bun"}:
            nested.scan("javascript", context, text)
        elif _TEXT_THAT_REACHES.search(text):
            shell.add("process.shell", node, f"{program} runs code that reaches the network or a shell")
        else:
            shell.add("exec.dynamic", node, f"{program} runs code no scanner reads")


def _source(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments[:1]:
        shell.judge_path(Action.READ, argument, program, node)
        if known(argument) == "/dev/fd/63":
            shell.add(
                "exec.download" if "network" in stdin.origin else "exec.dynamic",
                node,
                "runs what another command writes",
            )
        else:
            shell.add("exec.dynamic", node, f"{program} runs a script that is not in the snippet")
    return NOTHING


def _trap(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    text = known(arguments[0]) if arguments else None
    if text and not text.startswith("-") and len(arguments) > 1:
        run_text(shell, text, "a trap runs a command: ", node)
    return NOTHING


def _alias(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        text = known(argument) or ""
        name, equals, value = text.partition("=")
        if equals and value:
            shell.state.aliases.add(name)
            run_text(shell, value, f"the alias {name} runs a command: ", node)
    return NOTHING


HANDLERS: Final[dict[str, Handler]] = {
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "alias": _alias,
}
"""Built-ins that run code."""
