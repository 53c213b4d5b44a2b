"""Programs that work on files or on what they read: operands in their roles, and what is written.

In: a program, the role the catalogue gives its operands, the operands and what it reads. Out: findings, and
its output where that is known: a text, or a placeholder for a plain name. Decoding is followed, so that a
script hidden in base64 is read in its turn.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.pieces import ENTRY, MAX_TEXT
from spanproof.sandbox.scanners.shell.catalogue import PLAIN, VALUED, drop_text_options, split_options
from spanproof.sandbox.scanners.shell.interpreters import judge_awk, judge_sed
from spanproof.sandbox.scanners.shell.network import find_option_values
from spanproof.sandbox.scanners.shell.state import HOLE, NOTHING, Stream, Words, join_words, read_known_text
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.scanners.shell.words import resolve_escapes
from spanproof.sandbox.words import split_words

_ENCODED = frozenset({"encoded"})
_FORMAT = re.compile(r"%(?:[-+ 0#]*\d{0,4}(?:\.(\d{0,4}))?)([sdbqxofegcXuiq%])")
# Times that `printf` goes through its format, once for all values that it takes.
_MOST_ROUNDS: Final = 32


class _Command(NamedTuple):
    """A program with its arguments, those of them that are operands, and what it reads."""

    program: str
    arguments: Sequence[Words]
    operands: Sequence[Words]
    stdin: Stream


def derive_output(
    program: str, arguments: Sequence[Words], operands: Sequence[Words], stdin: Stream
) -> Stream | None:
    """Return what a command writes, where it is known."""
    derive = _OUTPUTS.get(program)
    if derive is not None:
        return derive(_Command(program, arguments, operands, stdin))
    return _ALWAYS_WRITTEN.get(program)


# What a program writes, whatever its operands are.
_ALWAYS_WRITTEN: Final[dict[str, Stream]] = {
    **dict.fromkeys((*PLAIN, "ls", "dir", "vdir"), Stream(((ENTRY,),))),
    "pwd": Stream(((".",),)),
    "mktemp": Stream((("/tmp/" + ENTRY,),)),  # noqa: S108 - inside the sandbox
}


def _compute_kept(command: _Command) -> Stream | None:
    """Return what a filter writes that keeps each line, or changes their order: all that it reads."""
    return None if command.operands else command.stdin


def _compute_picked(command: _Command) -> Stream | None:
    """Return what a filter writes that picks some lines: a part of a plain name is one."""
    reads_plain_name = command.stdin.words == ((ENTRY,),) and not command.operands
    return command.stdin if reads_plain_name else None


def _compute_resolved_path(command: _Command) -> Stream | None:
    return Stream(command.operands[0]) if command.operands else None


def _compute_compressed(command: _Command) -> Stream:
    return Stream(HOLE, command.stdin.origin | _ENCODED)


def _compute_reversed(command: _Command) -> Stream | None:
    text = read_known_text(command.stdin.words)
    if text is None:
        return None
    lines = [line[::-1] for line in text.split("\n")]
    return Stream((("\n".join(lines),),), command.stdin.origin)


def _derive_echo(command: _Command) -> Stream:
    rest = list(command.arguments)
    newline, escapes = "\n", False
    while rest and (text := read_known_text(rest[0])) is not None and re.match(r"^-[neE]+$", text):
        if "n" in text:
            newline = ""
        escapes = escapes or "e" in text
        rest.pop(0)
    parts: list[Words] = []
    for index, argument in enumerate(rest):
        if index:
            parts.append(((" ",),))
        parts.append(_resolve_escapes(argument) if escapes else argument)
    parts.append(((newline,),))
    return Stream(join_words(parts), command.stdin.origin)


def _resolve_escapes(word: Words) -> Words:
    return tuple(
        tuple(piece if piece is None else resolve_escapes(piece) for piece in pieces) for pieces in word
    )


def _derive_printf(command: _Command) -> Stream:
    template = read_known_text(command.operands[0]) if command.operands else None
    if template is None:
        return Stream(HOLE, command.stdin.origin)
    values = list(command.operands[1:])
    parts = _fill_format(template, values)
    for _ in range(_MOST_ROUNDS):
        before = len(values)
        if not values:
            break
        parts += _fill_format(template, values)
        if len(values) == before:
            values.clear()  # a format that takes none is written once
            break
    return Stream(join_words([*parts, HOLE] if values else parts), command.stdin.origin)


def _fill_format(template: str, values: list[Words]) -> list[Words]:
    """Return what one round through a format writes; the values that it takes are taken out."""
    parts: list[Words] = []
    at = 0
    for found in _FORMAT.finditer(template):
        parts.append(((resolve_escapes(template[at : found.start()]),),))
        at = found.end()
        if found[2] == "%":
            parts.append((("%",),))
            continue
        value = values.pop(0) if values else (("",),)
        text = read_known_text(value)
        if found[1] is not None and found[2] == "s":
            value = HOLE if text is None else ((text[: int(found[1] or 0)],),)
        parts.append(_resolve_escapes(value) if found[2] == "b" else value)
    parts.append(((resolve_escapes(template[at:]),),))
    return parts


def _derive_directory(command: _Command) -> Stream | None:
    if not command.operands:
        return None
    text = read_known_text(command.operands[0])
    if text is None:
        return Stream(HOLE)
    if text in {".", ".."}:
        return Stream(((".." if text == "." else "../..",),))  # `$PWD` is `.`
    return Stream(((text.rpartition("/")[0] or ".",),))


_DECODES: Final = re.compile(r"-[a-zA-Z]*[dDr][a-z]*|--decode")


def _encode_or_decode(command: _Command) -> Stream | None:
    if command.operands:
        return None
    options = [read_known_text(argument) or "" for argument in command.arguments]
    decodes = any(map(_DECODES.fullmatch, options))
    origin = command.stdin.origin | _ENCODED
    text = read_known_text(command.stdin.words)
    if text is None:
        return Stream(HOLE, origin if decodes else command.stdin.origin)
    try:
        data = text.encode("utf-8", "surrogateescape")
        if command.program == "xxd":
            if decodes:
                result = binascii.unhexlify(re.sub(rb"\s", b"", data))
            else:
                result = binascii.hexlify(data)
        elif command.program == "base32":
            result = base64.b32decode(data.strip()) if decodes else base64.b32encode(data)
        else:
            result = base64.b64decode(data) if decodes else base64.b64encode(data)
    except (ValueError, zlib.error):
        return Stream(HOLE, origin)
    if len(result) > MAX_TEXT:
        return Stream(HOLE, origin)
    return Stream(((result.decode("utf-8", "replace"),),), origin)


def _compute_tr_output(command: _Command) -> Stream | None:
    text = read_known_text(command.stdin.words)
    if text is None:
        return None
    operands = [read_known_text(one) for one in command.operands]
    options = {read_known_text(one) for one in command.arguments}
    return Stream(((_translate(text, operands, options),),), command.stdin.origin)


def _translate(text: str, operands: Sequence[str | None], options: set[str | None]) -> str | None:
    if not operands or any(one is None for one in operands) or len(text) > MAX_TEXT:
        return None
    old = _expand_characters(operands[0] or "")
    if "-d" in options:
        return "".join(one for one in text if one not in old)
    if len(operands) < 2 or "-s" in options or "-c" in options:
        return None
    new = _expand_characters(operands[1] or "")
    if not new:
        return text
    table = {one: new[min(index, len(new) - 1)] for index, one in enumerate(old)}
    return "".join(table.get(one, one) for one in text)


_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f", "[:punct:]": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}  # fmt: skip


def _expand_characters(text: str) -> str:
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    return re.sub(
        r"(.)-(.)",
        lambda found: "".join(chr(code) for code in range(ord(found[1]), min(ord(found[2]), 0x17F) + 1)),
        text,
    )


# What a program writes by what it reads or gets; None where that is not known.
_OUTPUTS: Final[dict[str, Callable[[_Command], Stream | None]]] = {
    "echo": _derive_echo,
    "printf": _derive_printf,
    **dict.fromkeys(("cat", "tac", "tee", "sort", "uniq", "nl", "less", "more"), _compute_kept),
    **dict.fromkeys(("head", "tail", "shuf"), _compute_picked),
    "dirname": _derive_directory,
    "realpath": _compute_resolved_path,
    **dict.fromkeys(("base64", "base32", "xxd", "basenc"), _encode_or_decode),
    **dict.fromkeys(("gunzip", "zcat", "gzip", "xz", "unxz", "bunzip2"), _compute_compressed),
    "rev": _compute_reversed,
    "tr": _compute_tr_output,
}

_FILE: Final = frozenset({"file"})


_JQ_READS = re.compile(
    r"\$ENV\b|(?<![\w.\"$])env\b(?!\s*+:)|\bstrenv\b|\benvsubst\b|\bload(?:_str|_\w+)?\s*\("
)

# One variable by its name; `$ENV` or `env` alone gives all of them.
_JQ_VARIABLE = re.compile(r"""(?:\$ENV|(?<![\w.\"$])env)(?:\.(\w++)|\["(\w++)"\])(?!\s*+\()""")


def judge_operands(
    shell: Shell, program: str, role: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    """Judge a program by the role its operands have; gives what it writes."""
    if program == "sed":
        arguments = [_drop_suffix(argument) for argument in arguments]
    elif program == "jq":
        arguments = _drop_named_arguments(shell, arguments, node)
    arguments = drop_text_options(program, arguments)
    operands, options = split_options(arguments, VALUED.get(program, ""))
    texts: list[Words] = []
    files = operands
    if role == "script":
        texts, operands = _judge_program_text(shell, program, arguments, operands, options, node)
        files = operands
        role = "write" if _edits_in_place(program, options) else "read"
    elif program == "csplit":
        files = _drop_patterns(operands, arguments)
    _judge_role(shell, program, role, files, node)
    if role != "none":
        for argument in arguments:
            if argument not in operands and argument not in texts:
                shell.judge_literals(argument, program, node)
    _judge_option_paths(shell, program, arguments, node)
    written = derive_output(program, arguments, operands, stdin)
    if written is not None:
        return written
    reads_files = role == "read" and bool(operands)
    return Stream(HOLE, stdin.origin | _FILE if reads_files else stdin.origin)


_IN_PLACE: Final = re.compile(r"-[nrsuzE]*i|--i")


def _edits_in_place(program: str, options: list[str]) -> bool:
    return program == "sed" and any(map(_IN_PLACE.match, options))


def _drop_patterns(operands: list[Words], arguments: list[Words]) -> list[Words]:
    """Return the file that `csplit` reads, without the patterns behind it; `-` is no file."""
    return [] if (("-",),) in arguments else operands[:1]


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
    """Judge the paths inside options: `-f/etc/passwd`, `--file=/etc/passwd`, `-o /out`."""
    previous = ""
    for argument in arguments:
        text = read_known_text(argument)
        if text is None:
            previous = ""
            continue
        value = ""
        if text.startswith("--"):
            value = text.partition("=")[2]
        elif text.startswith("-"):
            value = text[2:]
        if value.startswith(("/", "~", "../")):
            shell.judge_path(Action.READ, ((value,),), program, node)
        if previous in {"-o", "--output", "-t", "--target-directory"} and program in _WRITES_BY_OPTION:
            shell.judge_path(Action.WRITE, argument, program, node)
        elif previous in {"-f", "--file"} and program in _READS_BY_OPTION:
            shell.judge_path(Action.READ, argument, program, node)
        previous = text


# Programs whose text is a pattern, which runs nothing.
_PATTERNS = split_words("grep egrep fgrep zgrep rg ag ack")

_READS_BY_OPTION: Final = split_words("grep awk sed file jq gawk egrep")
_WRITES_BY_OPTION = split_words("sort cp mv ln install tree shuf iconv gcc cc zip uniq")


def _judge_program_text(
    shell: Shell, program: str, arguments: list[Words], operands: list[Words], options: list[str], node: Node
) -> tuple[list[Words], list[Words]]:
    """Judge the program texts of awk, sed, grep or jq, which may reach out; give them, and the paths."""
    texts = _find_option_texts(program, arguments)
    if not texts and not any(map(_FROM_FILE.match, options)):
        texts, operands = operands[:1], operands[1:]
    if program in _PATTERNS or not texts:
        return texts, operands
    if any(read_known_text(text) is None for text in texts):
        shell.add("exec.dynamic", node, f"{program} runs a program text that is not known")
    text = "\n".join(read_known_text(one) or "" for one in texts)
    if program.endswith("awk"):
        judge_awk(shell, text, arguments, node)
    elif program == "sed":
        judge_sed(shell, text, node)
    else:
        _judge_jq(shell, program, text, node)
    return texts, operands


def _judge_jq(shell: Shell, program: str, text: str, node: Node) -> None:
    """Judge the variables of the environment that a program text of jq reads."""
    if _JQ_READS.search(_JQ_VARIABLE.sub("", text)):
        shell.read_all_variables(program, node)
        return
    for found in _JQ_VARIABLE.finditer(text):
        name = found[1] or found[2]
        if name not in shell.state.variables and name not in shell.given:
            shell.crossed(shell.context.judge_variable(name), program, node)


_FROM_FILE: Final = re.compile(r"-f|-[a-zA-Z]*f$|--(?:from-)?file\b")
_TEXT_OPTION: Final = re.compile(r"(?:-[a-zA-Z]*e|--(?:expression|source|regexp))$")
_TEXT_IN_OPTION: Final = re.compile(r"(?:-[nrsuzE]*e|--(?:expression|source|regexp)=)(?=.)", re.DOTALL)


def _find_option_texts(program: str, arguments: list[Words]) -> list[Words]:
    """Return the program texts that options hold; those of jq have none."""
    found: list[Words] = []
    takes = False
    for argument in arguments if program not in {"jq", "yq"} else ():
        head = argument[0][0] or ""
        inside = _TEXT_IN_OPTION.match(head)
        if takes:
            found.append(argument)
        elif inside is not None and read_known_text(argument) != inside[0]:
            found.append(tuple(((pieces[0] or "")[inside.end() :], *pieces[1:]) for pieces in argument))
        takes = not takes and _TEXT_OPTION.match(head) is not None and len(argument[0]) == 1
    return found


# Options of jq with a name and a value behind them, and whether the value is a file.
_NAMED: Final = {"--arg": False, "--argjson": False, "--slurpfile": True, "--rawfile": True}


def _drop_named_arguments(shell: Shell, arguments: list[Words], node: Node) -> list[Words]:
    """Return the arguments of jq without its names and values; files among these are judged."""
    kept: list[Words] = []
    at = 0
    while at < len(arguments):
        option = read_known_text(arguments[at]) or ""
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


def _drop_suffix(argument: Words) -> Words:
    """Return `-i.bak` of sed without the suffix, of which no letter is an option."""
    found = _SUFFIXED.fullmatch(read_known_text(argument) or "")
    return argument if found is None else ((found[1],),)


def _judge_dd(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        for pieces in argument:
            head = pieces[0] or ""
            for prefix, action in (("if=", Action.READ), ("of=", Action.WRITE)):
                if head.startswith(prefix):
                    shell.judge_path(action, ((head[3:], *pieces[1:]),), program, node)
    texts = [read_known_text(argument) or "" for argument in arguments]
    is_endless = any(_ENDLESS_INPUT.match(text) for text in texts)
    if is_endless and not any(text.startswith("count=") for text in texts):
        shell.add("resource.endless", node, "dd copies what has no end, without a count")
    return Stream(HOLE, _FILE)


_ENDLESS_INPUT: Final = re.compile(r"if=/dev/(?:zero|u?random)\Z")
# A size of `fallocate` from a hundred gigabytes on.
_LARGE: Final = re.compile(r"(?:\d{3,}g|\d+t|\d+p)i?b?\Z|\d{12,}\Z", re.IGNORECASE)


def _judge_fallocate(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(_LARGE.match((read_known_text(one) or "").removeprefix("-l")) for one in arguments):
        shell.add("resource.endless", node, "fallocate takes more space than a sandbox has")
    return judge_operands(shell, program, "write", arguments, stdin, node)


def _judge_tar(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    texts = [read_known_text(argument) or "" for argument in arguments]
    # The first word may hold flags without a dash.
    flags = [text for index, text in enumerate(texts) if index == 0 or text.startswith("-")]
    creates = "--create" in texts or any("c" in text for text in flags if not text.startswith("--"))
    for file in find_option_values(arguments, {"--files-from", "--exclude-from"}):
        shell.judge_path(Action.READ, file, program, node)
    for index, argument in enumerate(arguments[1:], start=1):
        if texts[index].startswith("-"):
            continue
        before = texts[index - 1]
        has_flags = before.startswith("-") or index == 1
        is_archive = before == "--file" or (has_flags and before.rstrip("-").endswith("f"))
        is_target = before in {"-C", "--directory"}
        is_written = is_archive if creates else is_target
        shell.judge_path(Action.WRITE if is_written else Action.READ, argument, program, node)
    return Stream(HOLE, _FILE)


def _judge_date(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(re.match(r"-u?s|--set\b", read_known_text(argument) or "") for argument in arguments):
        shell.add("system.change", node, "sets the clock")
    return judge_operands(shell, program, "read", arguments, stdin, node)


def _judge_test(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(read_known_text(argument) in TESTS_OF_FILES for argument in arguments):
        for argument in arguments:
            if not (read_known_text(argument) or "").startswith("-"):
                shell.judge_path(Action.READ, argument, program, node)
    return NOTHING


TESTS_OF_FILES: Final = split_words("-e -f -d -r -w -x -s -L -h -b -c -p -S -O -G -N -nt -ot -ef")


def _judge_chown(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("privilege.change", node, f"runs {program}")
    for operand in split_options(arguments, "")[0][1:]:
        shell.judge_path(Action.PERMISSION, operand, program, node)
    return NOTHING


HANDLERS: Final[dict[str, Handler]] = {
    "dd": _judge_dd, "tar": _judge_tar, "chown": _judge_chown, "chgrp": _judge_chown, "date": _judge_date,
    "fallocate": _judge_fallocate, "test": _judge_test,
}  # fmt: skip
"""Programs whose operands say more than a role."""
