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
from spanproof.sandbox.scanners.shell.catalogue import VALUED, split_options
from spanproof.sandbox.scanners.shell.network import values_of
from spanproof.sandbox.scanners.shell.program_texts import judge_awk, judge_sed
from spanproof.sandbox.scanners.shell.state import HOLE, NOTHING, Stream, Words, known
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.words import words

_FILE: Final = frozenset({"file"})


_JQ_READS = re.compile(r"\$ENV\b|(?<![\w.\"$])env\b|\bstrenv\b|\benvsubst\b|\bload(?:_str|_\w+)?\s*\(")


def operands_in_role(
    shell: Shell, program: str, role: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    """Judge a program by the role its operands have; gives what it writes."""
    if program == "sed":
        arguments = [_without_suffix(argument) for argument in arguments]
    elif program == "jq":
        arguments = _without_named(shell, arguments, node)
    operands, options = split_options(arguments, VALUED.get(program, ""))
    texts: list[Words] = []
    if role == "script":
        texts, operands = _program_text(shell, program, arguments, operands, options, node)
        role = (
            "write"
            if program == "sed" and any(option[:2] in {"-i", "--in"} for option in options)
            else "read"
        )
    _judge_role(shell, program, role, operands[:1] if program == "csplit" else operands, node)
    if role != "none":
        for argument in arguments:
            if argument not in operands and argument not in texts:
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
    shell: Shell, program: str, arguments: list[Words], operands: list[Words], options: list[str], node: Node
) -> tuple[list[Words], list[Words]]:
    """Judge the program texts of awk, sed, grep or jq, which may reach out; give them, and the paths."""
    texts = _texts_in_options(program, arguments)
    if not texts and not any(map(_FROM_FILE.match, options)):
        texts, operands = operands[:1], operands[1:]
    if program in _PATTERNS or not texts:
        return texts, operands
    if any(known(text) is None for text in texts):
        shell.add("exec.dynamic", node, f"{program} runs a program text that is not known")
    text = "\n".join(known(one) or "" for one in texts)
    if program.endswith("awk"):
        judge_awk(shell, text, node)
    elif program == "sed":
        judge_sed(shell, text, node)
    elif _JQ_READS.search(text):
        shell.context.crossed(
            "shell", shell.context.boundary.environment(""), shell.place(node), f"{program}:"
        )
    return texts, operands


_FROM_FILE: Final = re.compile(r"-f|-[a-zA-Z]*f$|--(?:from-)?file\b")
_TEXT_OPTION: Final = re.compile(r"(?:-[a-zA-Z]*e|--(?:expression|source|regexp))$")
_TEXT_IN_OPTION: Final = re.compile(r"(?:-[nrsuzE]*e|--(?:expression|source|regexp)=)(?=.)", re.DOTALL)


def _texts_in_options(program: str, arguments: list[Words]) -> list[Words]:
    """Program texts that options hold; those of jq have none."""
    found: list[Words] = []
    takes = False
    for argument in arguments if program not in {"jq", "yq"} else ():
        head = argument[0][0] or ""
        inside = _TEXT_IN_OPTION.match(head)
        if takes:
            found.append(argument)
        elif inside is not None and known(argument) != inside[0]:
            found.append(tuple(((pieces[0] or "")[inside.end() :], *pieces[1:]) for pieces in argument))
        takes = not takes and _TEXT_OPTION.match(head) is not None and len(argument[0]) == 1
    return found


_NAMED: Final = {"--arg": False, "--argjson": False, "--slurpfile": True, "--rawfile": True}
"""Options of jq with a name and a value behind them, and whether the value is a file."""


def _without_named(shell: Shell, arguments: list[Words], node: Node) -> list[Words]:
    """The arguments of jq without the names and values that it gets; files among these are judged."""
    kept: list[Words] = []
    at = 0
    while at < len(arguments):
        option = known(arguments[at]) or ""
        if option not in _NAMED:
            kept.append(arguments[at])
            at += 1
            continue
        if _NAMED[option]:
            for value in arguments[at + 2 : at + 3]:
                shell.judge_path(Action.READ, value, "jq", node)
        at += 3
    return kept


_SUFFIXED: Final = re.compile(r"(-[nrsuzE]*i).+", re.DOTALL)


def _without_suffix(argument: Words) -> Words:
    """`-i.bak` of sed without the suffix, of which no letter is an option."""
    found = _SUFFIXED.fullmatch(known(argument) or "")
    return argument if found is None else ((found[1],),)


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
    for file in values_of(arguments, {"--files-from", "--exclude-from"}):
        shell.judge_path(Action.READ, file, program, node)
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


def _date(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(re.match(r"-u?s|--set\b", known(argument) or "") for argument in arguments):
        shell.add("system.change", node, "sets the clock")
    return operands_in_role(shell, program, "read", arguments, stdin, node)


def _test(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(known(argument) in TESTS_OF_FILES for argument in arguments):
        for argument in arguments:
            if not (known(argument) or "").startswith("-"):
                shell.judge_path(Action.READ, argument, program, node)
    return NOTHING


TESTS_OF_FILES: Final = words("-e -f -d -r -w -x -s -L -h -b -c -p -S -O -G -N -nt -ot -ef")


def _chown(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("privilege.change", node, f"runs {program}")
    for operand in split_options(arguments, "")[0][1:]:
        shell.judge_path(Action.PERMISSION, operand, program, node)
    return NOTHING


HANDLERS: Final[dict[str, Handler]] = {
    "dd": _dd, "tar": _tar, "chown": _chown, "chgrp": _chown, "date": _date, "test": _test,
}  # fmt: skip
"""Programs whose operands say more than a role."""
