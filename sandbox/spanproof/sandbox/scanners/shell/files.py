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
from spanproof.sandbox.scanners.shell.catalogue import PLAIN, VALUED, split_options, without_text_options
from spanproof.sandbox.scanners.shell.interpreters import check_awk, check_sed
from spanproof.sandbox.scanners.shell.network import list_option_values
from spanproof.sandbox.scanners.shell.state import (
    HOLE,
    NOTHING,
    Stream,
    Words,
    build_joined_word,
    find_known_text,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.scanners.shell.words import decode_escapes
from spanproof.sandbox.words import split_words

_ENCODED = frozenset({"encoded"})
_KEEPERS = frozenset({"cat", "tac", "tee", "sort", "uniq", "nl", "less", "more"})
_PICKERS = frozenset({"head", "tail", "shuf"})
_FORMAT = re.compile(r"%(?:[-+ 0#]*\d{0,4}(?:\.\d{0,4})?)([sdbqxofegcXuiq%])")


def compute_output(
    program: str, arguments: Sequence[Words], operands: Sequence[Words], stdin: Stream
) -> Stream | None:
    """Return what a command writes, where it is known."""
    if program == "echo":
        return Stream(_compute_echo(arguments), stdin.origin)
    if program == "printf":
        return Stream(_compute_printf(operands), stdin.origin)
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
        return Stream(_compute_directory(operands[0]) if program == "dirname" else operands[0])
    text = find_known_text(stdin.words)
    options = {find_known_text(argument) for argument in arguments}
    if program in {"base64", "base32", "xxd", "basenc"} and not operands:
        return _encode_or_decode(program, text, options, stdin)
    if program in {"gunzip", "zcat", "gzip", "xz", "unxz", "bunzip2"}:
        return Stream(HOLE, stdin.origin | _ENCODED)
    if program == "rev" and text is not None:
        return Stream(((("\n".join(line[::-1] for line in text.split("\n"))),),), stdin.origin)
    if program == "tr" and text is not None:
        return Stream(
            ((_compute_translation(text, [find_known_text(one) for one in operands], options),),),
            stdin.origin,
        )
    return None


def _compute_echo(arguments: Sequence[Words]) -> Words:
    rest = list(arguments)
    newline, escapes = "\n", False
    while rest and (text := find_known_text(rest[0])) is not None and re.match(r"^-[neE]+$", text):
        newline = "" if "n" in text else newline
        escapes = escapes or "e" in text
        rest.pop(0)
    parts: list[Words] = []
    for index, argument in enumerate(rest):
        if index:
            parts.append(((" ",),))
        parts.append(_decode_escapes(argument) if escapes else argument)
    parts.append(((newline,),))
    return build_joined_word(parts)


def _decode_escapes(word: Words) -> Words:
    return tuple(
        tuple(piece if piece is None else decode_escapes(piece) for piece in pieces) for pieces in word
    )


def _compute_printf(operands: Sequence[Words]) -> Words:
    template = find_known_text(operands[0]) if operands else None
    if template is None:
        return HOLE
    values = list(operands[1:])
    parts: list[Words] = []
    at = 0
    for found in _FORMAT.finditer(template):
        parts.append(((decode_escapes(template[at : found.start()]),),))
        at = found.end()
        if found[1] == "%":
            parts.append((("%",),))
        else:
            value = values.pop(0) if values else (("",),)
            parts.append(_decode_escapes(value) if found[1] == "b" else value)
    parts.append(((decode_escapes(template[at:]),),))
    return build_joined_word(parts)


def _compute_directory(word: Words) -> Words:
    text = find_known_text(word)
    if text is None:
        return HOLE
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


def _compute_translation(text: str, operands: Sequence[str | None], options: set[str | None]) -> str | None:
    if not operands or any(one is None for one in operands) or len(text) > MAX_TEXT:
        return None
    old = _build_characters(operands[0] or "")
    if "-d" in options:
        return "".join(one for one in text if one not in old)
    if len(operands) < 2 or "-s" in options or "-c" in options:
        return None
    new = _build_characters(operands[1] or "")
    if not new:
        return text
    table = {one: new[min(index, len(new) - 1)] for index, one in enumerate(old)}
    return "".join(table.get(one, one) for one in text)


_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f", "[:punct:]": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}  # fmt: skip


def _build_characters(text: str) -> str:
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

# One variable by its name; the function `env` gives all of them.
_JQ_VARIABLE = re.compile(r"""\$ENV(?:\.(\w++)|\["(\w++)"\])""")


def handle_operands(
    shell: Shell, program: str, role: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    """Judge a program by the role its operands have; gives what it writes."""
    if program == "sed":
        arguments = [_without_suffix(argument) for argument in arguments]
    elif program == "jq":
        arguments = _without_named_arguments(shell, arguments, node)
    arguments = without_text_options(program, arguments)
    operands, options = split_options(arguments, VALUED.get(program, ""))
    texts: list[Words] = []
    if role == "script":
        texts, operands = _handle_program_text(shell, program, arguments, operands, options, node)
        role = (
            "write"
            if program == "sed" and any(option[:2] in {"-i", "--in"} for option in options)
            else "read"
        )
    _check_role(
        shell,
        program,
        role,
        _without_patterns(operands, arguments) if program == "csplit" else operands,
        node,
    )
    if role != "none":
        for argument in arguments:
            if argument not in operands and argument not in texts:
                shell.check_literals(argument, program, node)
    _check_option_paths(shell, program, arguments, node)
    written = compute_output(program, arguments, operands, stdin)
    if written is not None:
        return written
    reads_files = role == "read" and bool(operands)
    return Stream(HOLE, stdin.origin | _FILE if reads_files else stdin.origin)


def _without_patterns(operands: list[Words], arguments: list[Words]) -> list[Words]:
    """Return the file that `csplit` reads, without the patterns behind it; `-` is no file."""
    return [] if (("-",),) in arguments else operands[:1]


def _check_role(shell: Shell, program: str, role: str, operands: list[Words], node: Node) -> None:
    if role in {"read", "write", "delete"}:
        for operand in operands:
            shell.check_path(Action(role), operand, program, node)
    elif role == "permission":
        for operand in operands[1:]:
            shell.check_path(Action.PERMISSION, operand, program, node)
    elif role == "archive":
        for operand in operands:
            shell.check_path(Action.READ, operand, program, node)
    elif role in {"copy", "move", "link"} and operands:
        source = Action.DELETE if role == "move" else Action.READ
        for operand in operands[:-1]:
            shell.check_path(source, operand, program, node)
        shell.check_path(Action.WRITE, operands[-1], program, node)


def _check_option_paths(shell: Shell, program: str, arguments: list[Words], node: Node) -> None:
    """Judge the paths inside options: `-f/etc/passwd`, `--file=/etc/passwd`, `-o /out`."""
    previous = ""
    for argument in arguments:
        text = find_known_text(argument)
        if text is None:
            previous = ""
            continue
        value = text.partition("=")[2] if text.startswith("--") else text[2:] if text.startswith("-") else ""
        if value.startswith(("/", "~", "../")):
            shell.check_path(Action.READ, ((value,),), program, node)
        if (previous in {"-o", "--output", "-t", "--target-directory"} and program in _WRITES_BY_OPTION) or (
            previous in {"-f", "--file"} and program in {"grep", "awk", "sed", "file", "jq", "gawk", "egrep"}
        ):
            action = Action.READ if previous in {"-f", "--file"} else Action.WRITE
            shell.check_path(action, argument, program, node)
        previous = text


# Programs whose text is a pattern, which runs nothing.
_PATTERNS = split_words("grep egrep fgrep zgrep rg ag ack")

_WRITES_BY_OPTION = split_words("sort cp mv ln install tree shuf iconv gcc cc zip uniq")


def _handle_program_text(
    shell: Shell, program: str, arguments: list[Words], operands: list[Words], options: list[str], node: Node
) -> tuple[list[Words], list[Words]]:
    """Judge the program texts of awk, sed, grep or jq, which may reach out; give them, and the paths."""
    texts = _list_option_texts(program, arguments)
    if not texts and not any(map(_FROM_FILE.match, options)):
        texts, operands = operands[:1], operands[1:]
    if program in _PATTERNS or not texts:
        return texts, operands
    if any(find_known_text(text) is None for text in texts):
        shell.add("exec.dynamic", node, f"{program} runs a program text that is not known")
    text = "\n".join(find_known_text(one) or "" for one in texts)
    if program.endswith("awk"):
        check_awk(shell, text, arguments, node)
    elif program == "sed":
        check_sed(shell, text, node)
    elif _JQ_READS.search(_JQ_VARIABLE.sub("", text)):
        shell.handle_environment_read(program, node)
    else:
        for found in _JQ_VARIABLE.finditer(text):
            shell.handle_crossing(shell.context.evaluate_variable(found[1] or found[2]), program, node)
    return texts, operands


_FROM_FILE: Final = re.compile(r"-f|-[a-zA-Z]*f$|--(?:from-)?file\b")
_TEXT_OPTION: Final = re.compile(r"(?:-[a-zA-Z]*e|--(?:expression|source|regexp))$")
_TEXT_IN_OPTION: Final = re.compile(r"(?:-[nrsuzE]*e|--(?:expression|source|regexp)=)(?=.)", re.DOTALL)


def _list_option_texts(program: str, arguments: list[Words]) -> list[Words]:
    """Return the program texts that options hold; those of jq have none."""
    found: list[Words] = []
    takes = False
    for argument in arguments if program not in {"jq", "yq"} else ():
        head = argument[0][0] or ""
        inside = _TEXT_IN_OPTION.match(head)
        if takes:
            found.append(argument)
        elif inside is not None and find_known_text(argument) != inside[0]:
            found.append(tuple(((pieces[0] or "")[inside.end() :], *pieces[1:]) for pieces in argument))
        takes = not takes and _TEXT_OPTION.match(head) is not None and len(argument[0]) == 1
    return found


# Options of jq with a name and a value behind them, and whether the value is a file.
_NAMED: Final = {"--arg": False, "--argjson": False, "--slurpfile": True, "--rawfile": True}


def _without_named_arguments(shell: Shell, arguments: list[Words], node: Node) -> list[Words]:
    """Return the arguments of jq without its names and values; files among these are judged."""
    kept: list[Words] = []
    at = 0
    while at < len(arguments):
        option = find_known_text(arguments[at]) or ""
        if option not in _NAMED:
            kept.append(arguments[at])
            at += 1
            continue
        if _NAMED[option]:
            for value in arguments[at + 2 : at + 3]:
                shell.check_path(Action.READ, value, "jq", node)
        at += 3
    return kept


_SUFFIXED: Final = re.compile(r"(-[nrsuzE]*i).+", re.DOTALL)


def _without_suffix(argument: Words) -> Words:
    """Return `-i.bak` of sed without the suffix, of which no letter is an option."""
    found = _SUFFIXED.fullmatch(find_known_text(argument) or "")
    return argument if found is None else ((found[1],),)


def _handle_dd(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        for pieces in argument:
            head = pieces[0] or ""
            for prefix, action in (("if=", Action.READ), ("of=", Action.WRITE)):
                if head.startswith(prefix):
                    shell.check_path(action, ((head[3:], *pieces[1:]),), program, node)
    texts = [find_known_text(argument) or "" for argument in arguments]
    is_endless = any(_ENDLESS_INPUT.match(text) for text in texts)
    if is_endless and not any(text.startswith("count=") for text in texts):
        shell.add("resource.endless", node, "dd copies what has no end, without a count")
    return Stream(HOLE, _FILE)


_ENDLESS_INPUT: Final = re.compile(r"if=/dev/(?:zero|u?random)\Z")
# A size of `fallocate` from a hundred gigabytes on.
_LARGE: Final = re.compile(r"(?:\d{3,}g|\d+t|\d+p)i?b?\Z|\d{12,}\Z", re.IGNORECASE)


def _handle_fallocate(
    shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    if any(_LARGE.match((find_known_text(one) or "").removeprefix("-l")) for one in arguments):
        shell.add("resource.endless", node, "fallocate takes more space than a sandbox has")
    return handle_operands(shell, program, "write", arguments, stdin, node)


def _handle_tar(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    texts = [find_known_text(argument) for argument in arguments]
    first = texts[0] or "" if texts else ""
    flags = (
        "".join(text for text in texts if text and text.startswith("-") and not text.startswith("--")) + first
    )
    creates = "c" in flags or "--create" in texts
    for file in list_option_values(arguments, {"--files-from", "--exclude-from"}):
        shell.check_path(Action.READ, file, program, node)
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
        shell.check_path(action, argument, program, node)
    return Stream(HOLE, _FILE)


def _handle_date(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(re.match(r"-u?s|--set\b", find_known_text(argument) or "") for argument in arguments):
        shell.add("system.change", node, "sets the clock")
    return handle_operands(shell, program, "read", arguments, stdin, node)


def _handle_test(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(find_known_text(argument) in TESTS_OF_FILES for argument in arguments):
        for argument in arguments:
            if not (find_known_text(argument) or "").startswith("-"):
                shell.check_path(Action.READ, argument, program, node)
    return NOTHING


TESTS_OF_FILES: Final = split_words("-e -f -d -r -w -x -s -L -h -b -c -p -S -O -G -N -nt -ot -ef")


def _handle_chown(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("privilege.change", node, f"runs {program}")
    for operand in split_options(arguments, "")[0][1:]:
        shell.check_path(Action.PERMISSION, operand, program, node)
    return NOTHING


HANDLERS: Final[dict[str, Handler]] = {
    "dd": _handle_dd, "tar": _handle_tar, "chown": _handle_chown, "chgrp": _handle_chown,
    "date": _handle_date,
    "fallocate": _handle_fallocate, "test": _handle_test,
}  # fmt: skip
"""Programs whose operands say more than a role."""
