"""Commands of the shell itself: what they read into variables, print, signal, or keep to run later.

In: a built-in and its operands. Out: findings, the variables that it sets, and what it writes.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import limit_texts
from spanproof.sandbox.scanners.shell import files
from spanproof.sandbox.scanners.shell.catalogue import (
    split_options,
)
from spanproof.sandbox.scanners.shell.files import judge_operands
from spanproof.sandbox.scanners.shell.interpreters import run_word
from spanproof.sandbox.scanners.shell.network import find_option_values
from spanproof.sandbox.scanners.shell.state import (
    HOLE,
    MAX_ALTERNATIVES,
    NOTHING,
    OWN_JOB,
    UNKNOWN_STREAM,
    Stream,
    Words,
    read_known_text,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell


def _judge_kill(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, options = split_options(arguments, "sn")
    if "-l" in options or "-L" in options:
        return UNKNOWN_STREAM
    if all((read_known_text(one) or "").startswith(("%", OWN_JOB)) for one in operands) and operands:
        return NOTHING
    shell.add("process.signal", node, "kill signals processes")
    return NOTHING


def _judge_read(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    names, _ = split_options(arguments, "pdnNtuia")
    lines = limit_texts((line for pieces in stdin.words for line in _split_lines(pieces)), MAX_ALTERNATIVES)
    for index, word in enumerate(names):
        name = read_known_text(word)
        if name is not None:
            is_last = index == len(names) - 1
            if len(names) == 1:
                fields = lines
            else:
                fields = _select_fields(shell, lines, index, is_last=is_last)
            shell.state.variables[name] = fields or HOLE
            if stdin.origin:
                shell.state.origins[name] = stdin.origin
    return NOTHING


def _select_fields(shell: Shell, lines: Words, index: int, *, is_last: bool) -> Words:
    """Return what a name of several gets of each line: its place's field, the last one all that is left."""
    marks = read_known_text(shell.state.variables.get("IFS", ((" \t\n",),)))
    texts = [pieces[0] or "" for pieces in lines if len(pieces) == 1 and pieces[0] is not None]
    if not texts or not marks or len(texts) != len(lines):
        return HOLE
    split = f"[{re.escape(marks)}]"
    if marks.isspace():
        split += "+"
        texts = [text.strip() for text in texts]
    parts = [re.split(split, text, maxsplit=index if is_last else 0) for text in texts]
    return tuple((one[index],) if index < len(one) else ("",) for one in parts)


def _split_lines(pieces: Pieces) -> Sequence[Pieces]:
    if len(pieces) == 1 and pieces[0] is not None:
        return [(line,) for line in pieces[0].splitlines() if line]
    return [pieces]


def _judge_printf(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    given = arguments[2:]
    has_variable = len(arguments) > 1 and read_known_text(arguments[0]) == "-v"
    name = read_known_text(arguments[1]) if has_variable else None
    if name is None:
        return judge_operands(shell, program, "none", arguments, stdin, node)
    written = files.derive_output(program, given, given, stdin)
    shell.state.variables[name] = written.words if written is not None else HOLE
    return NOTHING


def _judge_set(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if not arguments:
        shell.read_all_variables("set", node)
    texts = [read_known_text(argument) for argument in arguments]
    if any(text is None or "C" in text or text == "noclobber" for text in texts):
        shell.context.own_files.close()  # a redirection may fail
    if "--" in texts:
        shell.state.positional = tuple(arguments[texts.index("--") + 1 :])
    return NOTHING


def _judge_shift(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    count = read_known_text(arguments[0]) if arguments else "1"
    given = shell.state.positional
    if given is not None:
        shell.state.positional = given[int(count) :] if count is not None and count.isdigit() else None
    return NOTHING


def _judge_history(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("process.inspect", node, "reads or clears the shell's history")
    return NOTHING


def _judge_enable(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    # An option that is not known may be `-f`.
    options = [read_known_text(one) or "-f" for one in arguments]
    if any(option.startswith("-") and "f" in option for option in options):
        shell.add("exec.native", node, "loads a built-in from a library")
    return NOTHING


def _judge_hook(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge a built-in that takes a command to run later."""
    for given in find_option_values(arguments, {"-C", "-x", "-e"}):
        line = _strip_key(given) if program == "bind" else given
        run_word(shell, line, frozenset(), f"{program} runs a command: ", node)
    for one in arguments:
        shell.run_subscripts(one, node)
        shell.judge_literals(one, program, node)
    if program in {"mapfile", "readarray"}:
        name = next(
            (text for one in reversed(arguments) if (text := read_known_text(one)) and text[0] != "-"),
            "MAPFILE",
        )
        lines = limit_texts(
            (line for pieces in stdin.words for line in _split_lines(pieces)), MAX_ALTERNATIVES
        )
        shell.state.variables[name] = lines or HOLE
        if stdin.origin:
            shell.state.origins[name] = stdin.origin
    return NOTHING


def _judge_completion(
    shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    """Judge `compgen`, which lists variables with `-e`, `-v` and `-A export`."""
    given = [read_known_text(one) for one in arguments]
    kinds = [kind for option, kind in pairwise(given) if option == "-A"]
    if {"-e", "-v"} & set(given) or {"arrayvar", "export", "variable"} & set(kinds):
        shell.read_all_variables(program, node)
        return UNKNOWN_STREAM
    return _judge_hook(shell, program, arguments, stdin, node)


# A variable in the argument of `envsubst`: `$HOME`, `${HOME}`.
_NAMED_VARIABLE: Final = re.compile(r"\$\{?(\w+)")


def _judge_envsubst(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge `envsubst`, which writes the variables that a text names, or only those of its argument."""
    texts = [text for one in arguments if (text := read_known_text(one)) is not None and text[:1] != "-"]
    named = [name for text in texts for name in _NAMED_VARIABLE.findall(text)]
    for name in named:
        shell.judge_variable(name, node)
    if not named:
        shell.add("environment.read", node, "envsubst writes each variable that a text names", Verdict.REVIEW)
    return Stream(HOLE, stdin.origin)


def _strip_key(word: Words) -> Words:
    """Return the command in `"key": command`."""
    return tuple(((pieces[0] or "").partition(":")[2].strip(" '\""), *pieces[1:]) for pieces in word)


def _judge_printenv(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge `printenv`, which writes the variables that it names, or all."""
    # A name that is not known may be any.
    names = [name for one in arguments if not (name := read_known_text(one) or "").startswith("-")]
    judged = [name for name in names or [""] if name not in shell.given]
    read = [shell.crossed(shell.context.judge_variable(name), "printenv", node) for name in judged]
    return Stream(HOLE, frozenset({"environment"}) if any(read) else frozenset())


BUILTINS: Final[dict[str, Handler]] = {
    "kill": _judge_kill, "read": _judge_read, "printf": _judge_printf, "set": _judge_set,
    "shift": _judge_shift, "history": _judge_history, "printenv": _judge_printenv,
    "compgen": _judge_completion, "envsubst": _judge_envsubst, "enable": _judge_enable,
    **dict.fromkeys(["complete", "bind", "fc", "mapfile", "readarray", "hash"], _judge_hook),
}  # fmt: skip
"""Commands of the shell itself, and of the environment, whose operands need more than a role."""
