"""Conditions of a script that are known before it runs: `[ "$DRY_RUN" = 1 ]` where `DRY_RUN=1`.

In: a command. Out: whether it succeeds, and whether the script goes on behind it. Nothing is followed but
`[ "$NAME" = literal ]` and its like, in a script whose every command has a plain name and sets no variable.
The name has one assignment, of a literal, which is a statement of the script in front of all functions.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.shell.walk import Shell
from spanproof.sandbox.words import split_words

# Commands that set variables, define commands, run texts, or run what was set up for later.
_REBINDS: Final = split_words(
    "read printf let declare typeset local export readonly unset getopts mapfile readarray trap shift shopt"
    " enable alias unalias eval . source exec coproc wait builtin command bind complete compgen fc history"
    " time test"
)
_ENDS: Final = frozenset({"exit", "return"})
_OWN: Final = frozenset({*_REBINDS, *_ENDS, "set", "cd", "[", "true", "false", ":"})
_KINDS_NOT_FOLLOWED: Final = frozenset(
    {"declaration_command", "unset_command", "arithmetic_expansion", "subscript", "array", "ERROR"}
    | {"c_style_for_statement", "process_substitution"}
)
_SUBSTITUTION: Final = frozenset({"process_substitution"})
_PLAIN: Final = re.compile(r"[\w./:-]+")
_LITERAL: Final = re.compile(r"""[\w./:-]+|'[\w./: -]*'|"[\w./: -]*\"""")
_OPTIONS: Final = re.compile(r"set(?:\s+(?:-[eux]+|-[eux]*o\s+pipefail))+")
_TEST: Final = re.compile(
    r"""\[\[?\s+(?:(?P<one>-[nz])\s+)?"\$(?:(?P<name>\w+)|\{(?P<braced>\w+)\})"(?:\s+(?P<two>==?|!=)\s+(?P<right>\S+))?\s+\]\]?"""
)
# In a test, what computes, and so may assign, and operators that are not seen as such.
_ODD_TEST: Final = re.compile(r"-(?:eq|ne|gt|ge|lt|le|v|R)\b|\\|(?<!\")\$|[\"']-")
# `{name}> file` sets a variable.
_SETS_DESCRIPTOR: Final = re.compile(r"\{\w+\}[<>]")
_EXPANSION: Final = re.compile(r"\$\{\w+\}")
# Variables that the shell itself sets.
_OWN_VARIABLES: Final = re.compile(
    r"BASH\w*|COMP\w*|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HIST\w*|HOSTNAME|LINENO|LINES|COLUMNS|MAPFILE|OLDPWD"
    r"|OPT(?:ARG|IND|ERR)|PIPESTATUS|PPID|PWD|S?RANDOM|READLINE\w*|REPLY|SECONDS|SHELLOPTS|SHLVL|UID|_"
)
# Characters of a script that is looked through once more for each condition.
_LONGEST: Final = 8_000


def find_outcome(shell: Shell, node: Node) -> bool | None:
    """Return whether a command succeeds; None where that is not known, or may change."""
    if not _is_followed(shell) or _is_in_background(node):
        return None
    if node.type == "negated_command":
        inner = find_outcome(shell, node.named_children[0])
        return None if inner is None else not inner
    test = _TEST.fullmatch(shell.words.text(node)) if node.type == "test_command" else None
    if test is not None:
        value = _find_value(shell, test["name"] or test["braced"], node)
    else:
        value = None
    if test is None or value is None or bool(test["one"]) is bool(test["two"]):
        return None
    if test["one"]:
        return bool(value) is (test["one"] == "-n")
    wanted = _LITERAL.fullmatch(test["right"])
    if wanted is not None:
        return (value == wanted[0].strip("'\"")) is (test["two"] != "!=")
    return None


def ends_script(shell: Shell, node: Node) -> bool:
    """Whether nothing behind a command runs: it is `exit` or `return`, or surely reaches one."""
    # The whole script is looked through only where there is an end: most commands are none.
    return _reaches_end(shell, node) and _is_followed(shell)


def _reaches_end(shell: Shell, node: Node) -> bool:
    if _is_in_background(node):
        return False
    match node.type:
        case "command":
            return _is_end(shell, node)
        case "list" if node.named_child_count == 2:
            first, second = node.named_children
            is_reached = find_outcome(shell, first) is (node.children[1].type == "&&")
            return _reaches_end(shell, first) or (is_reached and _reaches_end(shell, second))
        case "if_statement":
            chosen = list_chosen(shell, node)
            return chosen is not None and any(_reaches_end(shell, one) for one in chosen)
        case "compound_statement" | "else_clause":
            return any(_reaches_end(shell, child) for child in node.named_children)
    return False


def ends_where_it_fails(shell: Shell, node: Node) -> bool:
    """Whether a command ends the script where it fails: it is a statement behind `set -e`."""
    root = shell.script.root
    if node.parent != root or _is_in_background(node) or not _is_followed(shell, _SUBSTITUTION):
        return False
    before = [one for one in root.named_children if one.end_byte < node.start_byte]
    return any(_is_set_on_error(shell, one) for one in before)


def _is_set_on_error(shell: Shell, node: Node) -> bool:
    text = shell.words.text(node)
    is_setting = node.type == "command" and _OPTIONS.fullmatch(text) is not None
    return is_setting and not _is_in_background(node) and re.search(r"-[ux]*e", text) is not None


def _is_end(shell: Shell, node: Node) -> bool:
    words = shell.words.text(node).split()
    has_status = len(words) == 1 or (len(words) == 2 and words[1].isdigit())
    return has_status and (words[0] == "exit" or (words[0] == "return" and _is_in_function(node)))


def list_chosen(shell: Shell, node: Node) -> list[Node] | None:
    """Return the parts of an `if` that run; None where that is not known."""
    conditions = [one for one in node.children_by_field_name("condition") if one.is_named]
    outcome = find_outcome(shell, conditions[0]) if len(conditions) == 1 else None
    others = [child for child in node.named_children if child.type in {"elif_clause", "else_clause"}]
    if outcome is None or (not outcome and len(others) > 1):
        return None
    if outcome:
        return [child for child in node.named_children if child not in others]
    return others


def _is_in_background(node: Node) -> bool:
    following = node.next_sibling
    return following is not None and following.type == "&"


def _is_in_function(node: Node) -> bool:
    """Whether a `return` is one: elsewhere it is an error, and the script goes on."""
    above = node.parent
    while above is not None and above.type != "function_definition":
        above = above.parent
    return above is not None


def _list_nodes(shell: Shell) -> list[Node]:
    nodes = [shell.script.root]
    for one in nodes:
        nodes += one.named_children
    return nodes


def _is_followed(shell: Shell, harmless: frozenset[str] = frozenset()) -> bool:
    """Whether a script, which no other program runs, does only what its tree shows.

    Args:
        shell: its reader.
        harmless: kinds of nodes that change nothing of what is sought.
    """
    script = shell.program_text
    if shell.context.depth or len(script) > _LONGEST or _SETS_DESCRIPTOR.search(script):
        return False
    return all(node.type in harmless or _is_plain(shell, node) for node in _list_nodes(shell))


def _is_plain(shell: Shell, node: Node) -> bool:
    text = shell.words.text(node)
    match node.type:
        case "command":
            name = node.child_by_field_name("name")
            return name is None or shell.words.text(name) != "set" or _OPTIONS.fullmatch(text) is not None
        case "command_name":
            return _PLAIN.fullmatch(text) is not None and text not in _REBINDS
        case "function_definition":
            name = node.child_by_field_name("name")
            called = shell.words.text(name) if name is not None else ""
            return _PLAIN.fullmatch(called) is not None and called not in _OWN
        case "test_command":
            return _ODD_TEST.search(text) is None
        case "compound_statement":
            return not text.startswith("((")
        case "expansion":
            return _EXPANSION.fullmatch(text) is not None
        case kind:
            return kind not in _KINDS_NOT_FOLLOWED and not node.is_missing


def _find_value(shell: Shell, name: str, node: Node) -> str | None:
    """Return the literal that a variable holds wherever it is read; None where that is not known."""
    nodes = _list_nodes(shell)
    assignment = _find_only_setter(shell, nodes, name)
    if assignment is None or assignment.type != "variable_assignment" or _OWN_VARIABLES.fullmatch(name):
        return None
    is_statement = assignment.parent == shell.script.root and not _is_in_background(assignment)
    first = min(
        (one.start_byte for one in nodes if one.type == "function_definition"), default=node.start_byte
    )
    _, sign, text = shell.words.text(assignment).partition("=")
    is_literal = sign == "=" and (not text or _LITERAL.fullmatch(text) is not None)
    is_before = assignment.start_byte < min(first, node.start_byte)
    is_sure = is_statement and is_before and is_literal
    return text.strip("'\"") if is_sure else None


def _find_only_setter(shell: Shell, nodes: list[Node], name: str) -> Node | None:
    """Return what names a variable without reading it; None where several do."""
    named = [one for one in nodes if one.type == "variable_name" and shell.words.text(one) == name]
    holders = [one.parent for one in named if one.parent is not None]
    set_by = [one for one in holders if one.type not in {"simple_expansion", "expansion"}]
    return set_by[0] if len(set_by) == 1 else None
