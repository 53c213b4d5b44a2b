"""Conditions of a script that are known before it runs: `[ "$DRY_RUN" = 1 ]` where `DRY_RUN=1`.

In: a command, or a list of them. Out: whether it succeeds, and whether the script goes on behind it. Only
variables that one assignment sets count, and none where the script runs text (`eval`, `source`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.shell.state import read_known_text
from spanproof.sandbox.scanners.shell.walk import Shell

# What makes a name mean something that the tree does not show: text that is run, names that are computed,
# arithmetic, which evaluates and assigns what its variables hold, and options of the shell.
_REBINDS: Final = re.compile(
    r"\b(?:eval|source|alias|unalias|enable|shopt|BASH_ENV|IFS|let|coproc)\b|(?:^|[\s;&|(])\.\s"
    r"|\b(?:exit|return|true|false|test)\s*+\(|\[\s*+\(\)"
    r"|\bfunction\s++(?:exit|return|true|false|test|\[)(?!\w)"
    r"|\b(?:declare|typeset|local)\s++-|\bprintf\s++-v"
    r"|\b(?:read|unset|wait|getopts|mapfile|readarray)\b[^\n;|&]*[$`\"'\\]"
    r"|\(\(|\$\[|\$\{\w++:(?![-=?+])|\w\[[^\]\n]*+\]\+?=|\[\[[^\]\n]*\s-(?:eq|ne|gt|ge|lt|le)\b"
)
# Variables that the shell itself sets.
_OWN_VARIABLES: Final = re.compile(
    r"BASH\w*|COMP\w*|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HIST\w*|HOSTNAME|LINENO|LINES|COLUMNS|MAPFILE|OLDPWD"
    r"|OPT(?:ARG|IND|ERR)|PIPESTATUS|PPID|PWD|S?RANDOM|READLINE\w*|REPLY|SECONDS|SHELLOPTS|SHLVL|UID|_"
)
_COMPARISONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "=": lambda left, right: left == right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "-eq": lambda left, right: int(left) == int(right),
    "-ne": lambda left, right: int(left) != int(right),
    "-gt": lambda left, right: int(left) > int(right),
    "-ge": lambda left, right: int(left) >= int(right),
    "-lt": lambda left, right: int(left) < int(right),
    "-le": lambda left, right: int(left) <= int(right),
}
_FIXED: Final = re.compile(r"!?\s*+(?:true|false|:)(?!\S)")
_COMPUTED: Final = re.compile(r"[$`(]")
# What a script is given is known only in the functions that it calls itself.
_POSITIONAL: Final = re.compile(r"\$\{?[\d@*#]")
_PATTERN: Final = re.compile(r"[*?\[\](|\\]")
_Finder = Callable[[Shell, Node], bool | None]
# Characters of a script that is read once more for each condition.
_LONGEST: Final = 8_000
_BLOCKS: Final = frozenset({"compound_statement", "else_clause", "do_group"})


def find_outcome(shell: Shell, node: Node) -> bool | None:
    """Return whether a command succeeds; None where that is not known, or may change.

    A test of constants alone decides nothing: no program has a use for it but to hide what it does.
    """
    outcome = _find_outcome(shell, node)
    return outcome if outcome is not None and _is_settled(shell, node) else None


def ends_script(shell: Shell, node: Node) -> bool:
    """Whether nothing behind a command runs: it is `exit` or `return`, or surely reaches one."""
    following = node.next_sibling
    if len(shell.program_text) > _LONGEST or (following is not None and following.type == "&"):
        return False
    match node.type:
        case "command":
            name = shell.words.text(node).split(maxsplit=1)[:1]
            is_end = name == ["exit"] or (name == ["return"] and _is_in_function(node))
            return is_end and not _REBINDS.search(shell.program_text)
        case "list":
            return _ends_list(shell, node)
        case "if_statement":
            chosen = list_chosen(shell, node)
            return chosen is not None and any(ends_script(shell, one) for one in chosen)
        case kind if kind in _BLOCKS:
            return any(ends_script(shell, child) for child in node.named_children)
    return False


def _is_in_function(node: Node) -> bool:
    """Whether a `return` is one: elsewhere it is an error, and the script goes on."""
    above = node.parent
    while above is not None and above.type != "function_definition":
        above = above.parent
    return above is not None


def _ends_list(shell: Shell, node: Node) -> bool:
    """Whether `a && b` or `a || b` surely reaches an `exit`."""
    parts = node.named_children
    operators = [child.type for child in node.children if not child.is_named]
    if len(parts) != 2 or len(operators) != 1:
        return False
    reaches_second = find_outcome(shell, parts[0]) is (operators[0] == "&&")
    return ends_script(shell, parts[0]) or (reaches_second and ends_script(shell, parts[1]))


def list_chosen(shell: Shell, node: Node) -> list[Node] | None:
    """Return the parts of an `if` or a `case` that run; None where that is not known."""
    return _list_chosen_items(shell, node) if node.type == "case_statement" else _list_branch(shell, node)


def _list_branch(shell: Shell, node: Node) -> list[Node] | None:
    conditions = [one for one in node.children_by_field_name("condition") if one.is_named]
    outcome = find_outcome(shell, conditions[0]) if len(conditions) == 1 else None
    if outcome is None:
        return None
    others = [child for child in node.named_children if child.type in {"elif_clause", "else_clause"}]
    if outcome:
        return [child for child in node.named_children if child not in others]
    return [conditions[0], *others] if len(others) < 2 else None


def _list_chosen_items(shell: Shell, node: Node) -> list[Node] | None:
    value = node.child_by_field_name("value")
    text = read_known_text(shell.words.word(value)) if value is not None else None
    if value is None or text is None or not _is_settled(shell, value):
        return None
    items = [child for child in node.named_children if child.type == "case_item"]
    for item in items:
        patterns = [shell.words.text(one).strip("'\"") for one in item.children_by_field_name("value")]
        is_known = not any(_COMPUTED.search(one) for one in patterns)
        if not is_known or _is_followed_by_next(shell, item):
            return None
        if any(fnmatchcase(text, one) for one in patterns):
            return [item]
    return []


def _is_followed_by_next(shell: Shell, item: Node) -> bool:
    return shell.words.text(item).rstrip().endswith(";&")


def _find_outcome(shell: Shell, node: Node) -> bool | None:
    match node.type:
        case "command":
            return _find_outcome_of_command(shell, node)
        case "negated_command" | "parenthesized_expression" if node.named_children:
            inner = _find_outcome(shell, node.named_children[-1])
            negates = node.type == "negated_command"
            return inner if inner is None else inner is not negates
        case "test_command" if len(node.named_children) == 1:
            return _find_truth(shell, node.named_children[0])
        case "list":
            return _join_outcomes(shell, node, _find_outcome)
    return None


def _find_outcome_of_command(shell: Shell, node: Node) -> bool | None:
    words = [read_known_text(shell.words.word(child)) for child in node.named_children]
    match words:
        case ["true" | ":", *_]:
            return True
        case ["false", *_]:
            return False
        case ["test", str(left), str(operator), str(right)] if operator in _COMPARISONS:
            return _compare(left, operator, right)
        case ["test", "-n" | "-z" as operator, str(text)]:
            return bool(text) is (operator == "-n")
    return None


def _find_truth(shell: Shell, node: Node) -> bool | None:
    """Return whether an expression between `[` and `]` holds."""
    if node.type == "unary_expression":
        return _find_truth_of_one(shell, node)
    if node.type == "parenthesized_expression" and node.named_children:
        return _find_truth(shell, node.named_children[0])
    if node.type != "binary_expression":
        text = read_known_text(shell.words.word(node))
        return bool(text) if text is not None else None
    operator_node = node.child_by_field_name("operator")
    operator = shell.words.text(operator_node) if operator_node is not None else ""
    if operator in {"&&", "||", "-a", "-o"}:
        return _join_outcomes(shell, node, _find_truth)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or operator not in _COMPARISONS:
        return None
    given, wanted = read_known_text(shell.words.word(left)), _read_operand(shell, right)
    return _compare(given, operator, wanted) if given is not None and wanted is not None else None


def _read_operand(shell: Shell, node: Node) -> str | None:
    """Return the right side of a comparison; None where it is a pattern."""
    text = (
        shell.words.text(node) if node.type == "extglob_pattern" else read_known_text(shell.words.word(node))
    )
    return text if text is not None and not _PATTERN.search(text) else None


def _find_truth_of_one(shell: Shell, node: Node) -> bool | None:
    operator = shell.words.text(node.children[0])
    operand = node.named_children[-1]
    if operator == "!":
        inner = _find_truth(shell, operand)
        return None if inner is None else not inner
    text = read_known_text(shell.words.word(operand)) if operator in {"-n", "-z"} else None
    return bool(text) is (operator == "-n") if text is not None else None


def _join_outcomes(shell: Shell, node: Node, find: _Finder) -> bool | None:
    """Return the outcome of two parts that are joined by `&&` or `||`."""
    parts = [child for child in node.named_children if child.type != "test_operator"]
    operators = [child.type for child in node.children if child.type in {"&&", "||"}]
    operators += [shell.words.text(one) for one in node.named_children if one.type == "test_operator"]
    if len(parts) != 2 or len(operators) != 1:
        return None
    stops_at = operators[0] in {"||", "-o"}
    first, second = find(shell, parts[0]), find(shell, parts[1])
    if stops_at in (first, second):
        return stops_at
    return None if first is None or second is None else not stops_at


def _compare(left: str, operator: str, right: str) -> bool | None:
    try:
        return bool(_COMPARISONS[operator](left, right))
    except ValueError:
        return None


def _is_settled(shell: Shell, node: Node) -> bool:
    """Whether the variables that a condition reads are set once, and the script runs no text."""
    script = shell.program_text
    if len(script) > _LONGEST:
        return False
    condition = shell.words.text(node)
    names = set(re.findall(r"\$\{?([A-Za-z_]\w*)", condition))
    if "$" not in condition and not _FIXED.match(condition):
        return False
    if _REBINDS.search(script) or (_POSITIONAL.search(condition) and not shell.state.calls):
        return False
    assigned = _list_assigned(shell, node) if names else []
    return assigned is not None and all(_is_set_once(name, assigned, script) for name in names)


def _list_assigned(shell: Shell, node: Node) -> list[str] | None:
    """Return the names that a script assigns to, each as often; None where a name is computed.

    What only a part of a script does, or another process, counts twice: it may not have been done.
    """
    while node.parent is not None:
        node = node.parent
    found: list[str] = []
    nodes = [node]
    while nodes:
        one = nodes.pop()
        nodes += one.named_children
        if one.type == "declaration_command" and any(
            child.type not in ("variable_assignment", "variable_name") for child in one.named_children
        ):
            return None
        name = one.child_by_field_name("name") if one.type == "variable_assignment" else None
        if name is not None:
            found += [shell.words.text(name)] * (2 if _is_apart(one) else 1)
    return found


def _is_apart(assignment: Node) -> bool:
    """Whether an assignment is not a statement of the script itself: of a branch, a pipe, another process."""
    above = assignment.parent
    statement = above if above is not None and above.type == "declaration_command" else assignment
    following = statement.next_sibling
    is_of_script = statement.parent is not None and statement.parent.type == "program"
    return not is_of_script or (following is not None and following.type == "&")


def _is_set_once(name: str, assigned: Sequence[str], script: str) -> bool:
    """Whether a variable has one assignment, and is nowhere but there and where it is read as `$NAME`."""
    read = len(re.findall(rf"\$(?:{name}\b|\{{{name}\}})", script))
    mentioned = len(re.findall(rf"(?<!\w){name}(?!\w)", script))
    return assigned.count(name) == 1 and mentioned == read + 1 and not _OWN_VARIABLES.fullmatch(name)
