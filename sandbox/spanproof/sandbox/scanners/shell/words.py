"""Words of a script, expanded as far as they are known.

In: nodes of the tree. Out: alternatives of text in pieces. Quotes, escapes, `$'…'`, braces, defaults,
slices and command substitutions are followed; nothing is run, and globs stay as they are written.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.pieces import ENTRY, limit_texts
from spanproof.sandbox.scanners.shell.catalogue import PREDEFINED, SECRET_NAME
from spanproof.sandbox.scanners.shell.state import (
    EMPTY,
    HOLE,
    MAX_ALTERNATIVES,
    State,
    Words,
    join_alternatives,
    join_words,
    read_known_text,
)
from spanproof.sandbox.words import split_words

Substitute = Callable[[Node], Words]
Missing = Callable[[str, Node], None]

_PREDEFINED: Final[dict[str, Words]] = {name: ((text,),) for name, text in PREDEFINED.items()}

_PROTECT = {ord(" "): "\ue000", ord("\t"): "\ue001", ord("\n"): "\ue002"}
_UNPROTECT = {ord(mark): chr(blank) for blank, mark in _PROTECT.items()}

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ANSI = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_NAMED = dict(zip("ntrabeEfv", "\n\t\r\a\b\x1b\x1b\f\v", strict=True))
_BRACES = re.compile(r"\{([^{}\s]++)\}")
_MAX_FIELDS = 64
_RANGE = re.compile(r"^(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])$")
_NUMBER = re.compile(r"^-?\d{1,9}$")
_BLANKS: Final = re.compile(r"[ \t\n]+")

# Kinds of arguments whose braces are expanded, and those that may become several fields.
_WITH_BRACES: Final = split_words("word concatenation brace_expression")
_SPLIT_AT_BLANKS: Final = split_words("simple_expansion expansion concatenation command_substitution")


class Expander:
    """Expands words in one state; command substitutions are handed back to the walker."""

    __slots__ = ("_data", "expand_again", "missing", "missing_reference", "state", "substitute")

    def __init__(
        self,
        data: bytes,
        state: State,
        substitute: Substitute,
        missing: Missing,
        missing_reference: Callable[[Node], None],
        expand_again: Callable[[Words, Node], None],
    ) -> None:
        self._data = data
        self.state = state
        self.substitute = substitute
        self.missing = missing
        self.missing_reference = missing_reference
        self.expand_again = expand_again

    def word(self, node: Node) -> Words:
        """Return the alternatives of one word."""
        match node.type:
            case "word" | "extglob_pattern" | "regex" | "test_operator":
                return ((_ESCAPE.sub(r"\1", self.text(node)),),)
            case "string" | "translated_string" | "heredoc_body":
                return self._expand_quoted(node)
            case "simple_expansion" | "expansion":
                return self._expand_parameter(node)
            case "concatenation":
                return join_words([self.word(child) for child in node.named_children])
            case "command_name" if node.named_children:
                return self.word(node.named_children[0])
            case "raw_string":
                return ((self.text(node)[1:-1],),)
            case "ansi_c_string":
                return ((resolve_escapes(self.text(node)[2:-1]),),)
            case "command_substitution":
                return self.substitute(node)
            case "process_substitution":
                self.substitute(node)
                return (("/dev/fd/63",),)
            case "array":
                return HOLE
        for child in node.named_children:
            self._visit_substitutions(child)
        if node.type == "arithmetic_expansion":
            return (("1",),)
        return ((self.text(node),),)

    def fields(self, node: Node) -> list[Words]:
        """Return the fields one argument becomes: braces expanded, unquoted expansions split."""
        if node.type == "command_name" and node.named_children:
            node = node.named_children[0]
        kind = node.type
        if kind == "string" and self.text(node) in {'"$@"', '"${@}"'} and self.state.positional:
            return _limit_fields(list(self.state.positional))
        if kind == "concatenation":
            word = join_words([self._expand_part(child) for child in node.named_children])
        else:
            word = self.word(node)
        fields = _expand_braces(word) if kind in _WITH_BRACES else [word]
        if kind in _SPLIT_AT_BLANKS:
            fields = [_restore_blanks(field) for one in fields for field in _split(one)]
        return fields

    def _expand_part(self, node: Node) -> Words:
        """Expand a part of a concatenation; blanks that are quoted do not split it."""
        word = self.word(node)
        if node.type in {"simple_expansion", "expansion", "command_substitution"}:
            return word
        return tuple(tuple(piece and piece.translate(_PROTECT) for piece in pieces) for pieces in word)

    def text(self, node: Node) -> str:
        """Return the source text of a node."""
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _expand_quoted(self, node: Node) -> Words:
        parts: list[Words] = []
        at = node.start_byte
        end = node.end_byte
        if node.type != "heredoc_body":
            at += 2 if node.type == "translated_string" else 1
            end -= 1
        for child in node.named_children:
            if child.start_byte > at:
                parts.append(((_unquote_text(self._data[at : child.start_byte]),),))
            if child.type in {"string_content", "heredoc_content"}:
                parts.append(((_unquote_text(self._data[child.start_byte : child.end_byte]),),))
            else:
                parts.append(self.word(child))
            at = max(at, child.end_byte)
        if end > at:
            parts.append(((_unquote_text(self._data[at:end]),),))
        return join_words(parts)

    def _expand_parameter(self, node: Node) -> Words:
        children = node.named_children
        if not children:
            text = self.text(node).strip("${}")
            return self.variable(text, node)
        first = children[0]
        if first.type == "subscript":
            return self._expand_item(first, node)
        name = self.text(first)
        raw = self.text(node)
        if node.type == "simple_expansion" or (len(children) == 1 and raw == "${" + name + "}"):
            return self.variable(name, node)
        return self._expand_modified(node, name, raw, children[1:])

    def _expand_item(self, subscript: Node, node: Node) -> Words:
        names = subscript.named_children
        key = self.subscript(subscript)
        if not names:
            return HOLE
        name = self.text(names[0])
        if key == "*":
            items = [self.state.variables.get(f"{name}[{at}]") for at in range(_MAX_FIELDS)]
            known = [item for item in items if item is not None]
            return self._join_items(known) if known else self.variable(name, node)
        held = self.state.variables.get(f"{name}[{key}]") if key is not None else None
        return held or self.variable(name, node)

    def subscript(self, node: Node) -> str | None:
        """Return the key in a subscript, where it is known."""
        index = node.child_by_field_name("index")
        if index is not None:
            return read_known_text(self.word(index))
        return None

    def _expand_modified(self, node: Node, name: str, raw: str, rest: list[Node]) -> Words:
        operator = raw[2 + len(name) :].rstrip("}")
        if raw.startswith("${#"):
            return (("1",),)
        if raw.startswith("${!"):
            return self._expand_reference(self.variable(name, node), node)
        if operator.startswith((":-", "-", ":=", "=", ":+", "+", ":?", "?")):
            return self._expand_default(node, name, operator.lstrip(":")[0], rest)
        value = self.variable(name, node)
        if operator == "@P":
            self.expand_again(value, node)
            return HOLE
        if operator.startswith("@"):
            return value if operator in {"@Q", "@E"} else HOLE
        edit = _EDITS.get(operator[:1])
        if edit is None:
            return value
        if name in {"PWD", "OLDPWD"} and value == _PREDEFINED[name]:
            return _EDITED_DIRECTORY.get(operator, HOLE)
        edited = (pieces for one in value for pieces in edit((one,), operator))
        return limit_texts(edited, MAX_ALTERNATIVES)

    def _expand_default(self, node: Node, name: str, operator: str, rest: list[Node]) -> Words:
        """Return what an expansion gives that has a default, or (`?`) a message, for what is not set."""
        default = self.word(rest[0]) if rest else EMPTY
        if operator == "+":
            return join_alternatives(EMPTY, default)
        value = self.state.variables.get(name) or _PREDEFINED.get(name)
        if value is not None:
            # It may be set on some ways through the script only.
            if operator == "?":
                return value
            return join_alternatives(value, default)
        argument = self._expand_positional(name) if name.isdigit() else HOLE
        if read_known_text(argument):
            return argument
        # One with a default in the script is a setting, unless its name says that it holds a secret.
        if operator == "?" or SECRET_NAME.search(name):
            self.missing(name, node)
        return HOLE if operator == "?" else default

    def _expand_reference(self, names: Words, node: Node) -> Words:
        """Return what `${!name}` gives: the value of each variable that `name` may hold the name of."""
        values: list[Words] = []
        for pieces in names:
            name = pieces[0] if len(pieces) == 1 else None
            if name is None:
                self.missing_reference(node)
            values.append(HOLE if name is None else self.variable(name, node))
        return limit_texts((pieces for value in values for pieces in value), MAX_ALTERNATIVES) or HOLE

    def variable(self, name: str, node: Node) -> Words:
        """Return the value of a variable, positional ones included."""
        found = self.state.variables.get(name)
        if found is not None:
            return found
        if name in _PREDEFINED:
            return _PREDEFINED[name]
        if name.isdigit() or name in {"@", "*"}:
            return self._expand_positional(name)
        self.missing(name, node)
        return HOLE

    def _expand_positional(self, name: str) -> Words:
        given = self.state.positional
        if given is None:
            return HOLE
        if name in {"@", "*"}:
            return self._join_items(given)
        index = int(name) - 1
        return given[index] if index < len(given) else EMPTY

    def _join_items(self, items: Sequence[Words]) -> Words:
        """Return what `"$*"` gives: the items, with the first character of `IFS` between them."""
        separator = tuple(
            pieces if pieces[0] is None else (pieces[0][:1],)
            for pieces in self.state.variables.get("IFS", ((" ",),))
        )
        return join_words([part for one in items for part in (one, separator)][:-1]) if items else EMPTY

    def _visit_substitutions(self, node: Node) -> None:
        pending = [node]
        while pending:
            one = pending.pop()
            if one.type in {"command_substitution", "process_substitution"}:
                self.substitute(one)
            elif one.type in {"expansion", "simple_expansion"}:
                self._expand_parameter(one)
            else:
                pending.extend(one.named_children)


# What is left of the directory, whose text is not known: its parent, its name, and all of it.
_EDITED_DIRECTORY: Final[dict[str, Words]] = {
    "%/*": (("..",),), "##*/": ((ENTRY,),), "%/": ((".",),), "%%/": ((".",),),
}  # fmt: skip


def _unquote_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    return re.sub(r"\\([$`\"\\\n])", lambda found: found[1].strip("\n"), text)


def resolve_escapes(text: str) -> str:
    """Return a text with the escapes of `$'…'` and `echo -e` resolved."""

    def character(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU" and len(code) > 1:
            return chr(min(int(code[1:], 16), 0x10FFFF))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _ANSI_NAMED.get(code, code)

    return _ANSI.sub(character, text)


def _expand_braces(word: Words) -> list[Words]:
    """Expand `{a,b}` and `{1..3}`: one field for each; with many alternatives the word stays whole."""
    text = read_known_text(word)
    found = _BRACES.search(text) if text is not None else None
    if text is None or found is None:
        return [word]
    span = _RANGE.match(found[1])
    if span is not None and found.span() == (0, len(text)):
        numbers = _list_range(span[1], span[2])
        return [((str(number),),) for number in numbers] or [word]
    if span is not None and not text.startswith("{"):
        return [((text[: found.start()] + ENTRY + text[found.end() :],),)]
    if span is not None or "," not in found[1]:
        return [word]
    fields: list[Words] = [
        ((text[: found.start()] + one + text[found.end() :],),) for one in found[1].split(",")
    ]
    # The rest of the word may hold braces too.
    return _limit_fields([inner for one in _limit_fields(fields) for inner in _expand_braces(one)])


def _list_range(first: str, last: str) -> range:
    """Return the numbers of `{1..3}`; none where they are letters, or too many."""
    if not (first.lstrip("-").isdigit() and last.lstrip("-").isdigit()):
        return range(0)
    numbers = range(int(first), int(last) + 1)
    return numbers if len(numbers) <= _MAX_FIELDS else range(0)


def _split(word: Words) -> list[Words]:
    """Split an unquoted expansion into fields, where its text is known."""
    has_blanks = any(piece is not None and _BLANKS.search(piece) for pieces in word for piece in pieces)
    if not has_blanks:
        return [word]
    if len(word) > 1:
        return _limit_fields([field for one in word for field in _split((one,))])
    fields: list[list[str | None]] = [[]]
    for piece in word[0]:
        if piece is None:
            fields[-1].append(None)
            continue
        first, *others = _BLANKS.split(piece)
        fields[-1].append(first)
        fields.extend([part] for part in others)
    known = (tuple(part for part in field if part != "") for field in fields)
    return _limit_fields([(field,) for field in known if field]) or [EMPTY]


def _limit_fields(fields: list[Words]) -> list[Words]:
    """Return at most so many fields: the last one may be any of those that do not fit."""
    if len(fields) <= _MAX_FIELDS:
        return fields
    rest = (pieces for field in fields[_MAX_FIELDS - 1 :] for pieces in field)
    return [*fields[: _MAX_FIELDS - 1], limit_texts(rest, MAX_ALTERNATIVES)]


def _restore_blanks(word: Words) -> Words:
    return tuple(tuple(piece and piece.translate(_UNPROTECT) for piece in pieces) for pieces in word)


def _slice_word(value: Words, operator: str) -> Words:
    text = read_known_text(value)
    numbers = [part.strip() for part in operator[1:].split(":")]
    if text is None or not all(_NUMBER.match(number) for number in numbers):
        return HOLE
    start = int(numbers[0])
    if start < 0:
        start = max(len(text) + start, 0)
    if len(numbers) == 1:
        return ((text[start:],),)
    length = int(numbers[1])
    return ((text[start:length] if length < 0 else text[start : start + length],),)


def _replace_in_word(value: Words, operator: str) -> Words:
    text = read_known_text(value)
    parts = _REPLACING.fullmatch(operator)
    if text is None or parts is None or not parts[2]:
        return HOLE
    old, new = (re.sub(r"\\(.)", r"\1", one or "") for one in (parts[2], parts[3]))
    return ((text.replace(old, new, -1 if parts[1] == "//" else 1),),)


# `/old/new` and `//old/new`, where neither is a pattern, quoted or put together.
_REPLACING: Final = re.compile(r"(//?)((?:\\.|[^\\/*?\[$`\"'#%])*)(?:/([^*?\[$`\"']*))?")


def _trim_word(value: Words, operator: str) -> Words:
    text = read_known_text(value)
    if text is None:
        return HOLE
    if operator in _CASES:
        return ((_CASES[operator](text),),)
    pattern = operator.lstrip("#%")
    plain = pattern.replace("'", "").replace('"', "")
    quotes_pattern = plain != pattern and any(one in pattern for one in "*?[")
    is_expanded = any(one in plain for one in "$`\\")
    if operator[0] in "#%" and not quotes_pattern and not is_expanded:
        cut = _cut_match(text, plain, operator)
        if cut is not None:
            return ((cut,),)
    # Any part of a plain name is one.
    is_plain_name = "/" not in text and ".." not in text and text[:1] != "~"
    return (("./" + ENTRY,),) if is_plain_name else HOLE


_CASES: Final[dict[str, Callable[[str], str]]] = {
    "^": lambda text: text[:1].upper() + text[1:],
    "^^": str.upper,
    ",": lambda text: text[:1].lower() + text[1:],
    ",,": str.lower,
}

# Characters of a text that is cut by a pattern of more than one part.
_MAX_CUT: Final = 256


def _cut_match(text: str, pattern: str, operator: str) -> str | None:
    """Return what is left of a text without the beginning (`#`) or end (`%`) that a pattern matches."""
    is_start, is_longest = operator[0] == "#", operator[1:2] == operator[0]
    literal = pattern.removeprefix("*") if is_start else pattern.removesuffix("*")
    if literal and not any(one in literal for one in "*?["):
        if literal != pattern:
            return _get_rest_beyond(text, literal, is_start=is_start, is_longest=is_longest)
        if is_start:
            return text.removeprefix(pattern)
        return text.removesuffix(pattern)
    if len(text) > _MAX_CUT:
        return None
    matches = re.compile(fnmatch.translate(pattern)).match
    ends = range(len(text) + 1)
    for end in reversed(ends) if is_longest == is_start else ends:
        before, after = text[:end], text[end:]
        if is_start and matches(before):
            return after
        if not is_start and matches(after):
            return before
    return text


def _get_rest_beyond(text: str, literal: str, *, is_start: bool, is_longest: bool) -> str:
    """Return what is left of a text without all up to a literal (`*=`), or all from it on (`=*`)."""
    if literal not in text:
        return text
    is_last = is_longest == is_start
    before, _, after = text.rpartition(literal) if is_last else text.partition(literal)
    return after if is_start else before


# What changes each alternative of a value, by the first character of the operator.
_EDITS: Final[dict[str, Callable[[Words, str], Words]]] = {
    ":": _slice_word,
    "/": _replace_in_word,
    **dict.fromkeys("#%^,", _trim_word),
}
