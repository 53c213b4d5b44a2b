"""What commands write, where their operands determine it: constant folding for a shell.

In: a program, its operands and what it reads. Out: its output as text, a placeholder for a plain name, or
None. Decoding is followed, so that a script hidden in base64 is read in its turn.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence

from spanproof.sandbox.scanners.pieces import ENTRY, MAX_TEXT
from spanproof.sandbox.scanners.shell.state import HOLE, Stream, Words, joined, known
from spanproof.sandbox.words import words

_ENCODED = frozenset({"encoded"})
_NAMES = words(
    "date seq wc basename nproc id whoami hostname uname pwd expr bc factor cal uuidgen arch tty"
    " md5sum sha1sum sha256sum sha512sum cksum stat du df uptime free lscpu logname getconf locale"
)
"""Programs that write numbers, names and dates only."""

_KEEPERS = frozenset({"cat", "tac", "tee", "sort", "uniq", "nl", "less", "more"})
_PICKERS = frozenset({"head", "tail", "shuf"})
_FORMAT = re.compile(r"%(?:[-+ 0#]*\d{0,4}(?:\.\d{0,4})?)([sdbqxofegcXuiq%])")


def written(
    program: str, arguments: Sequence[Words], operands: Sequence[Words], stdin: Stream
) -> Stream | None:
    """What a command writes, where it is known."""
    if program == "echo":
        return Stream(_echo(arguments), stdin.origin)
    if program == "printf":
        return Stream(_printf(operands), stdin.origin)
    if program in _KEEPERS and not operands:
        return stdin
    if program in _PICKERS and not operands and stdin.words == ((ENTRY,),):
        return stdin  # a part of a plain name is one
    if program in {"ls", "dir", "vdir"}:
        return Stream(((ENTRY,),))
    if program in _NAMES:
        return Stream(((ENTRY,),)) if program != "pwd" else Stream(((".",),))
    if program == "mktemp":
        return Stream((("/tmp/" + ENTRY,),))  # noqa: S108 - inside the sandbox
    if program in {"dirname", "realpath"} and operands:
        return Stream(_directory(operands[0]) if program == "dirname" else operands[0])
    text = known(stdin.words)
    options = {known(argument) for argument in arguments}
    if program in {"base64", "base32", "xxd", "basenc"} and not operands:
        return _coded(program, text, options, stdin)
    if program in {"gunzip", "zcat", "gzip", "xz", "unxz", "bunzip2"}:
        return Stream(HOLE, stdin.origin | _ENCODED)
    if program == "rev" and text is not None:
        return Stream(((("\n".join(line[::-1] for line in text.split("\n"))),),), stdin.origin)
    if program == "tr" and text is not None:
        return Stream(((_translate(text, [known(one) for one in operands], options),),), stdin.origin)
    return None


def _echo(arguments: Sequence[Words]) -> Words:
    rest = list(arguments)
    newline, escapes = "\n", False
    while rest and (text := known(rest[0])) is not None and re.match(r"^-[neE]+$", text):
        newline = "" if "n" in text else newline
        escapes = escapes or "e" in text
        rest.pop(0)
    parts: list[Words] = []
    for index, argument in enumerate(rest):
        if index:
            parts.append(((" ",),))
        parts.append(_unescaped(argument) if escapes else argument)
    parts.append(((newline,),))
    return joined(parts)


def _unescaped(word: Words) -> Words:
    from spanproof.sandbox.scanners.shell.words import ansi

    return tuple(tuple(piece if piece is None else ansi(piece) for piece in pieces) for pieces in word)


def _printf(operands: Sequence[Words]) -> Words:
    from spanproof.sandbox.scanners.shell.words import ansi

    template = known(operands[0]) if operands else None
    if template is None:
        return HOLE
    values = list(operands[1:])
    parts: list[Words] = []
    at = 0
    for found in _FORMAT.finditer(template):
        parts.append(((ansi(template[at : found.start()]),),))
        at = found.end()
        if found[1] == "%":
            parts.append((("%",),))
        else:
            value = values.pop(0) if values else (("",),)
            parts.append(_unescaped(value) if found[1] == "b" else value)
    parts.append(((ansi(template[at:]),),))
    return joined(parts)


def _directory(word: Words) -> Words:
    text = known(word)
    if text is None:
        return HOLE
    return ((text.rpartition("/")[0] or ".",),)


def _coded(program: str, text: str | None, options: set[str | None], stdin: Stream) -> Stream:
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
    old = _characters(operands[0] or "")
    if "-d" in options:
        return "".join(one for one in text if one not in old)
    if len(operands) < 2 or "-s" in options or "-c" in options:
        return None
    new = _characters(operands[1] or "")
    if not new:
        return text
    table = {one: new[min(index, len(new) - 1)] for index, one in enumerate(old)}
    return "".join(table.get(one, one) for one in text)


_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f", "[:punct:]": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}  # fmt: skip


def _characters(text: str) -> str:
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    return re.sub(
        r"(.)-(.)",
        lambda found: "".join(chr(code) for code in range(ord(found[1]), min(ord(found[2]), 0x17F) + 1)),
        text,
    )
