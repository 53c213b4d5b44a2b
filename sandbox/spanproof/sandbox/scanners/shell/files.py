"""Programs that work on files: each operand is held against the boundary in its role.

In: a program, the role the catalogue gives its operands, and the operands. Out: findings, and what it
writes as far as that is known.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.shell import filters
from spanproof.sandbox.scanners.shell.catalogue import VALUED
from spanproof.sandbox.scanners.shell.interpreters import run_text
from spanproof.sandbox.scanners.shell.options import split_options
from spanproof.sandbox.scanners.shell.state import HOLE, NOTHING, Stream, Words, known
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.words import words

_FILE: Final = frozenset({"file"})


_AWK_REACHES = re.compile(
    r"system\s*\(|getline\b|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n(]*(?:\([^)]*\)[^;}\n(]*){0,8}>|/inet/"
    r"|ARG[VC]\b|ENVIRON|@load|@include"
)
_AWK_LITERAL = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"|(?<=[(,~!&|{;\n])\s*/(?:[^/\n\\]|\\.)++/|\A\s*/(?:[^/\n\\]|\\.)++/"
)
"""A text, and a pattern where one may stand."""

_JQ_READS = re.compile(r"\$ENV\b|(?<![\w.\"$])env\b|\bstrenv\b|\benvsubst\b|\bload(?:_str|_\w+)?\s*\(")


_SED_REACHES = re.compile(r"(?:^|[;}\d$/])\s*[ewWrR]\s+\S|/[gip\d]*e[gip]*\s*$")


def operands_in_role(
    shell: Shell, program: str, role: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    """Judge a program by the role its operands have; gives what it writes."""
    operands, options = split_options(arguments, VALUED.get(program, ""))
    text = operands[0] if role == "script" and operands else None
    if role == "script":
        operands = _program_text(shell, program, operands, options, node)
        role = (
            "write"
            if program == "sed" and any(option[:2] in {"-i", "--in"} for option in options)
            else "read"
        )
    _judge_role(shell, program, role, operands, node)
    if role != "none":
        for argument in arguments:
            if argument not in operands and argument is not text:
                shell.judge_literals(argument, program, node)
    _judge_option_paths(shell, program, arguments, node)
    written = filters.written(program, arguments, operands, stdin)
    if written is not None:
        return written
    reads_files = role == "read" and bool(operands)
    return Stream(HOLE, stdin.origin | _FILE if reads_files else stdin.origin)


def _judge_role(shell: Shell, program: str, role: str, operands: list[Words], node: Node) -> None:
    if role in {"read", "write", "delete"}:
        for operand in operands:
            shell.judge_path(Action(role), operand, program, node)
    elif role == "permission":
        for operand in operands[1:]:
            shell.judge_path(Action.PERMISSION, operand, program, node)
    elif role == "archive":
        for operand in operands:
            shell.judge_path(Action.READ, operand, program, node)
    elif role in {"copy", "move", "link"} and operands:
        source = Action.DELETE if role == "move" else Action.READ
        for operand in operands[:-1]:
            shell.judge_path(source, operand, program, node)
        shell.judge_path(Action.WRITE, operands[-1], program, node)


def _judge_option_paths(shell: Shell, program: str, arguments: list[Words], node: Node) -> None:
    """Paths inside options: `-f/etc/passwd`, `--file=/etc/passwd`, `-o /out`."""
    previous = ""
    for argument in arguments:
        text = known(argument)
        if text is None:
            previous = ""
            continue
        value = text.partition("=")[2] if text.startswith("--") else text[2:] if text.startswith("-") else ""
        if value.startswith(("/", "~", "../")):
            shell.judge_path(Action.READ, ((value,),), program, node)
        if (previous in {"-o", "--output", "-t", "--target-directory"} and program in _WRITES_BY_OPTION) or (
            previous in {"-f", "--file"} and program in {"grep", "awk", "sed", "file", "jq", "gawk", "egrep"}
        ):
            action = Action.READ if previous in {"-f", "--file"} else Action.WRITE
            shell.judge_path(action, argument, program, node)
        previous = text


_PATTERNS = words("grep egrep fgrep zgrep rg ag ack")
"""Programs whose text is a pattern, which runs nothing."""

_WRITES_BY_OPTION = words("sort cp mv ln install tree shuf iconv gcc cc zip uniq")


def _program_text(
    shell: Shell, program: str, operands: list[Words], options: list[str], node: Node
) -> list[Words]:
    """The script of awk, sed, grep or jq is no path, but it may reach out."""
    if any(option in {"-e", "--expression", "-f", "--file", "--regexp"} for option in options):
        return operands
    if not operands:
        return operands
    text = known(operands[0]) or ""
    if program.endswith("awk") and _AWK_REACHES.search(_AWK_LITERAL.sub('""', text)):
        _awk(shell, text, node)
    if program in {"jq", "yq"} and _JQ_READS.search(text):
        shell.context.crossed(
            "shell", shell.context.boundary.environment(""), shell.place(node), f"{program}:"
        )
    if known(operands[0]) is None and program not in _PATTERNS:
        shell.add("exec.dynamic", node, f"{program} runs a program text that is not known")
    if program == "sed" and _SED_REACHES.search(text):
        shell.add("exec.dynamic", node, "sed runs commands or touches files from its script")
    return operands[1:]


def _awk(shell: Shell, text: str, node: Node) -> None:
    judged = False
    for found in re.finditer(r"system\s*+\(\s*+\"([^\"]*+)\"|\"([^\"]*+)\"\s*+\|\s*+getline", text):
        run_text(shell, found[1] or found[2], "awk runs a command: ", node)
        judged = True
    if "ENVIRON" in text:
        shell.context.crossed("shell", shell.context.boundary.environment(""), shell.place(node), "awk:")
        judged = True
    for found in re.finditer(r"(?:getline[^<\"]*+<|print[^>;]*+>)\s*+\"([^\"]++)\"", text):
        action = Action.READ if "getline" in found[0] else Action.WRITE
        shell.judge_path(action, ((found[1],),), "awk", node)
        judged = True
    open_ended = r"system\s*+\(\s*+[^\"\s]|\"\s*+\w|\w\s*+\"[^\"]*+\"\s*+\||\|\s*+[\w\"(&]|ARG[VC]|@"
    if not judged or re.search(open_ended, text) or "/inet/" in text:
        shell.add("exec.dynamic", node, "awk runs commands that are not known")


def _dd(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        for pieces in argument:
            head = pieces[0] or ""
            for prefix, action in (("if=", Action.READ), ("of=", Action.WRITE)):
                if head.startswith(prefix):
                    shell.judge_path(action, ((head[3:], *pieces[1:]),), program, node)
    return Stream(HOLE, _FILE)


def _tar(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    texts = [known(argument) for argument in arguments]
    first = texts[0] or "" if texts else ""
    flags = (
        "".join(text for text in texts if text and text.startswith("-") and not text.startswith("--")) + first
    )
    creates = "c" in flags or "--create" in texts
    for index, argument in enumerate(arguments):
        text = texts[index]
        if (text is not None and text.startswith("-")) or index == 0:
            continue
        before = texts[index - 1] or ""
        is_archive = before == "--file" or (
            before.rstrip("-").endswith("f") and (before.startswith("-") or index == 1)
        )
        is_target = before in {"-C", "--directory"}
        action = Action.WRITE if (is_archive and creates) or (is_target and not creates) else Action.READ
        shell.judge_path(action, argument, program, node)
    return Stream(HOLE, _FILE)


def _chown(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("privilege.change", node, f"runs {program}")
    for operand in split_options(arguments, "")[0][1:]:
        shell.judge_path(Action.PERMISSION, operand, program, node)
    return NOTHING


HANDLERS: Final[dict[str, Handler]] = {"dd": _dd, "tar": _tar, "chown": _chown, "chgrp": _chown}
"""Programs whose operands say more than a role."""
