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
from collections.abc import Sequence
from typing import Final

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
_KEEPERS = frozenset({"cat", "tac", "tee", "sort", "uniq", "nl", "less", "more"})
_PICKERS = frozenset({"head", "tail", "shuf"})
_FORMAT = re.compile(r"%(?:[-+ 0#]*\d{0,4}(?:\.(\d{0,4}))?)([sdbqxofegcXuiq%])")
# Times that `printf` goes through its format, once for all values that it takes.
_MOST_ROUNDS: Final = 32


def derive_output(
    program: str, arguments: Sequence[Words], operands: Sequence[Words], stdin: Stream
) -> Stream | None:
    """Return what a command writes, where it is known."""
    if program == "echo":
        return Stream(_derive_echo(arguments), stdin.origin)
    if program == "printf":
        return Stream(_derive_printf(operands), stdin.origin)
    if program in _KEEPERS and not operands:
        return stdin
    if program in _PICKERS and not operands and stdin.words == ((ENTRY,),):
        return stdin  # a part of a plain name is one
    if program in {"ls", "dir", "vdir"}:
        return Stream(((ENTRY,),))
    if program in PLAIN:
        return Stream(((ENTRY,),)) if program != "pwd" else Stream(((".",),))
    if program == "mktemp":
        return Stream((("/tmp/" + ENTRY,),))  # noqa: S108 - inside the sandbox
    if program in {"dirname", "realpath"} and operands:
        return Stream(_derive_directory(operands[0]) if program == "dirname" else operands[0])
    text = read_known_text(stdin.words)
    options = {read_known_text(argument) for argument in arguments}
    if program in {"base64", "base32", "xxd", "basenc"} and not operands:
        return _encode_or_decode(program, text, options, stdin)
    if program in {"gunzip", "zcat", "gzip", "xz", "unxz", "bunzip2"}:
        return Stream(HOLE, stdin.origin | _ENCODED)
    if program == "rev" and text is not None:
        return Stream(((("\n".join(line[::-1] for line in text.split("\n"))),),), stdin.origin)
    if program == "tr" and text is not None:
        return Stream(
            ((_translate(text, [read_known_text(one) for one in operands], options),),), stdin.origin
        )
    return None


def _derive_echo(arguments: Sequence[Words]) -> Words:
    rest = list(arguments)
    newline, escapes = "\n", False
    while rest and (text := read_known_text(rest[0])) is not None and re.match(r"^-[neE]+$", text):
        newline = "" if "n" in text else newline
        escapes = escapes or "e" in text
        rest.pop(0)
    parts: list[Words] = []
    for index, argument in enumerate(rest):
        if index:
            parts.append(((" ",),))
        parts.append(_resolve_escapes(argument) if escapes else argument)
    parts.append(((newline,),))
    return join_words(parts)


def _resolve_escapes(word: Words) -> Words:
    return tuple(
        tuple(piece if piece is None else resolve_escapes(piece) for piece in pieces) for pieces in word
    )


def _derive_printf(operands: Sequence[Words]) -> Words:
    template = read_known_text(operands[0]) if operands else None
    if template is None:
        return HOLE
    values = list(operands[1:])
    parts = _fill_format(template, values)
    for _ in range(_MOST_ROUNDS):
        before = len(values)
        if not values:
            break
        parts += _fill_format(template, values)
        if len(values) == before:
            values.clear()  # a format that takes none is written once
            break
    return join_words([*parts, HOLE] if values else parts)


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


def _derive_directory(word: Words) -> Words:
    text = read_known_text(word)
    if text is None:
        return HOLE
    if text in {".", ".."}:
        return ((".." if text == "." else "../..",),)  # `$PWD` is `.`
    return ((text.rpartition("/")[0] or ".",),)


def _encode_or_decode(program: str, text: str | None, options: set[str | None], stdin: Stream) -> Stream:
    decodes = any(option and re.match(r"^(?:-[a-zA-Z]*[dDr][a-z]*|--decode)$", option) for option in options)
    origin = stdin.origin | _ENCODED
    if text is None:
        return Stream(HOLE, origin if decodes else stdin.origin)
    try:
        data = text.encode("utf-8", "surrogateescape")
        if program == "xxd":
            result = binascii.unhexlify(re.sub(rb"\s", b"", data)) if decodes else binascii.hexlify(data)
        elif program == "base32":
            result = base64.b32decode(data.strip()) if decodes else base64.b32encode(data)
        else:
            result = base64.b64decode(data) if decodes else base64.b64encode(data)
    except (ValueError, zlib.error):
        return Stream(HOLE, origin)
    if len(result) > MAX_TEXT:
        return Stream(HOLE, origin)
    return Stream(((result.decode("utf-8", "replace"),),), origin)


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
    if role == "script":
        texts, operands = _judge_program_text(shell, program, arguments, operands, options, node)
        role = (
            "write"
            if program == "sed" and any(option[:2] in {"-i", "--in"} for option in options)
            else "read"
        )
    _judge_role(
        shell, program, role, _drop_patterns(operands, arguments) if program == "csplit" else operands, node
    )
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
        value = text.partition("=")[2] if text.startswith("--") else text[2:] if text.startswith("-") else ""
        if value.startswith(("/", "~", "../")):
            shell.judge_path(Action.READ, ((value,),), program, node)
        if (previous in {"-o", "--output", "-t", "--target-directory"} and program in _WRITES_BY_OPTION) or (
            previous in {"-f", "--file"} and program in {"grep", "awk", "sed", "file", "jq", "gawk", "egrep"}
        ):
            action = Action.READ if previous in {"-f", "--file"} else Action.WRITE
            shell.judge_path(action, argument, program, node)
        previous = text


# Programs whose text is a pattern, which runs nothing.
_PATTERNS = split_words("grep egrep fgrep zgrep rg ag ack")

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
    texts = [read_known_text(argument) for argument in arguments]
    first = texts[0] or "" if texts else ""
    flags = (
        "".join(text for text in texts if text and text.startswith("-") and not text.startswith("--")) + first
    )
    creates = "c" in flags or "--create" in texts
    for file in find_option_values(arguments, {"--files-from", "--exclude-from"}):
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
