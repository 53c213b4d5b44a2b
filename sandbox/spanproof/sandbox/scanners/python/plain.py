"""A quick look at a program: whether it only computes, whatever its values are.

In: the nodes of a tree and the boundary. Out: True where reading the program would report nothing, so that it
need not be read; False decides nothing. Values are not followed. What decides are the words of the program,
in any order: it uses no module, built-in function or attribute that reaches anything (`[plain]` in
`data/libraries.txt` names the modules and functions), its texts hold nothing that a place, a statement or a
walk through attributes is made of, and the only files it opens are constants inside the boundary.
"""

# ruff: noqa: ARG001 - checks share one signature

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.boundary import Action, Boundary
from spanproof.sandbox.scanners.pieces import HOST_ENDS
from spanproof.sandbox.scanners.python import names as known
from spanproof.sandbox.scanners.python.effects import (
    INERT_MODULES,
    MOVING,
    REMOTE_FUNCTIONS,
    REMOTE_OPTIONS,
    WRITING_MODE,
)
from spanproof.sandbox.scanners.python.growth import ENDLESS, MOST_ITEMS, REPEATING, grows_by_doubling
from spanproof.sandbox.scanners.reader.effects import Effect

_PLAIN: Final = known.LIBRARIES["plain"]
_MODULES: Final = split_entry(_PLAIN, "modules")
_BUILTINS: Final = split_entry(_PLAIN, "builtins")
_KEPT: Final = split_entry(_PLAIN, "kept")

# Longer programs may use up what the machine reads of loops and calls.
_MOST_NODES: Final = 1_000

# Names that an earlier step of the session may have bound to a module.
_FREE_MODULES: Final = {name: name for name in known.KNOWN_MODULES} | known.COMMON_ALIASES
# What a path, a URL, any character, a walk through attributes or a statement is made of; a setting that
# starts a program.
_PLACE: Final = (
    r"[/\\]|%c|:c\}|__|\._|(?i:\b(?:select|with|insert|replace|merge|delete|update|grant|revoke|drop|create|alter"
    r"|truncate|copy|attach)\s)|usetex"
)
_OF_PLACE: Final = re.compile(_PLACE)
_OF_PLACE_OR_HOST: Final = re.compile(rf"{_PLACE}|\.(?:{HOST_ENDS})(?!\w)|\w:\d\d|@|\d\.\d+\.\d")

# What a call does with the file that its first argument names, by the kind of its effect.
_FILE_KINDS: Final = {"load": Action.READ, "read": Action.READ, "save": Action.WRITE, "write": Action.WRITE}
# What only makes values, which are bounded by the numbers of the program.
_SIZE_KINDS: Final = frozenset({"size", "sizes"})
# Methods that make any character of numbers.
_DECODERS: Final = ("hex", "to_bytes", "tobytes", "translate")
# Arguments of `open` that say nothing of where.
_OPEN_OPTIONS: Final = frozenset({"encoding", "errors", "newline"})
# Factors of a product beyond which its size is out of bounds for any number but 1.
_MOST_FACTORS: Final = 32
# Exponents by which a small number stays one.
_SMALL_EXPONENTS: Final = frozenset({2, 3, 0.5, -1})

# Kinds of nodes that are looked at here, or do nothing by themselves.
_KINDS: Final[frozenset[type[ast.AST]]] = frozenset(getattr(ast, name) for name in _PLAIN["nodes"].split())


def _get_last_word(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("()")


def _index_acting_words() -> dict[str, frozenset[str]]:
    """Return the words by which a plain module acts, with the modules; by "" any object does."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    modelled = [name for entry in known.KNOWLEDGE["models"].values() for name in entry.split()]
    modelled += known.KNOWLEDGE["folded"]["functions"].split()
    modelled = [name for name in modelled if _get_last_word(name) not in _KEPT]
    for name in (*known.SINKS, *modelled, *known.KNOWLEDGE["names"], *ENDLESS, REPEATING):
        top = name.partition(".")[0]
        kinds = {effect.kind for effect in known.SINKS.get(name, ())}
        if top in _MODULES and not (kinds and kinds <= _SIZE_KINDS | {"none"}):
            owners[_get_last_word(name)].add(top)
    modules = {*split_entry(known.LIBRARIES["inert"], "active"), *known.LEAKED_MODULES, *known.SENSITIVE}
    held = {_get_last_word(name) for name in modules}
    paths = {word for entry in known.KNOWLEDGE["pathlib"].values() for word in entry.split()}
    methods = {name.partition(".")[0] for name in known.METHOD_SINKS}
    everywhere = {*methods, *known.HELD, *_DECODERS, *((held | paths) - _KEPT)}
    owners.update({word: {""} for word in everywhere})
    return {word: frozenset(tops) for word, tops in owners.items()}


def _index_file_words() -> dict[str, Action]:
    """Return the words by which calls do no more than open the file that their first argument names."""
    effects: defaultdict[str, set[Effect]] = defaultdict(set)
    for name, listed in (*known.SINKS.items(), *known.METHOD_SINKS.items()):
        if "." not in name or name.partition(".")[0] in _MODULES:
            effects[_get_last_word(name)].update(listed)
    files = {"open": Action.READ}
    for word, found in effects.items():
        actions = {_FILE_KINDS.get(effect.kind) if effect.position == 0 else None for effect in found}
        action = actions.pop()
        if action is not None and not actions:
            files[word] = action
    return files


_ACTING: Final = _index_acting_words()
_FILES: Final = _index_file_words()
_SIZED: Final = {
    _get_last_word(name) for name, found in known.SINKS.items() if _SIZE_KINDS & {one.kind for one in found}
}
# Calls that show what they are given, and hold none of it for others.
_SHOWN: Final = split_entry(_PLAIN, "shown")


class _Program:
    """The nodes of a program by kind, and the words that it uses."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.nodes: defaultdict[type[ast.AST], list[Any]] = defaultdict(list)
        for node in nodes:
            self.nodes[node.__class__].append(node)
        imports = self.nodes[ast.ImportFrom]
        self.names = {node.id for node in self.nodes[ast.Name]} | {node.arg for node in self.nodes[ast.arg]}
        self.modules = {one.name for node in self.nodes[ast.Import] for one in node.names}
        self.modules.update("." * node.level + (node.module or "") for node in imports)
        self.modules.update(_FREE_MODULES[name] for name in self.names if name in _FREE_MODULES)
        self.tops = {name.partition(".")[0] for name in self.modules}
        self.imported = {one.name for node in imports for one in node.names}
        self.attributes = {part for name in self.modules for part in name.split(".")[1:]}
        self.attributes.update(node.attr for node in self.nodes[ast.Attribute])


def is_plain(nodes: Sequence[ast.AST], boundary: Boundary) -> bool:
    """Whether a program only computes; see the head of this file.

    Args:
        nodes: all nodes of its tree.
        boundary: what it may open.
    """
    if len(nodes) > _MOST_NODES or _imports_others(nodes):
        return False
    program = _Program(nodes)
    return all(check(program, boundary) for check in _CHECKS)


def _imports_others(nodes: Sequence[ast.AST]) -> bool:
    """Whether a module is imported that is not plain: which most programs do that reach anything."""
    imported = [node for node in nodes if node.__class__ in _IMPORTS]
    names = [one.name for node in imported if isinstance(node, ast.Import) for one in node.names]
    names += [node.module or "" for node in imported if isinstance(node, ast.ImportFrom)]
    return any(name.partition(".")[0] not in _MODULES for name in names)


_IMPORTS: Final = frozenset({ast.Import, ast.ImportFrom})


def _has_plain_nodes(program: _Program, boundary: Boundary) -> bool:
    keywords, attributes = program.nodes[ast.keyword], program.nodes[ast.Attribute]
    downloads = any(node.arg in REMOTE_OPTIONS for node in keywords)
    sets_target = any(
        node.attr in known.TARGETS and not isinstance(node.ctx, ast.Load) for node in attributes
    )
    return program.nodes.keys() <= _KINDS and not downloads and not sets_target


def _has_plain_modules(program: _Program, boundary: Boundary) -> bool:
    policy = boundary.policy
    judges_calls = bool(policy.denied_calls or policy.allowed_modules)
    return program.tops <= _MODULES - policy.denied_modules and not judges_calls


def _opens_only_inside(program: _Program, boundary: Boundary) -> bool:
    """Whether the words that reach anything open files inside the boundary, each by a call of its own."""
    if any(_is_acting(word, program.tops) for word in program.imported):
        return False
    words = {word for word in program.attributes if _is_acting(word, program.tops)}
    words |= (program.names & known.BUILTINS) - _BUILTINS
    if not words or not words <= _FILES.keys():
        return not words
    uses = sum(node.id in words for node in program.nodes[ast.Name])
    uses += sum(node.attr in words for node in program.nodes[ast.Attribute])
    calls = [call for call in program.nodes[ast.Call] if _get_called_word(call) in words]
    return uses == len(calls) and all(_opens_inside(call, boundary) for call in calls)


def _get_called_word(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return getattr(function, "id", "")


def _is_acting(word: str, tops: Iterable[str]) -> bool:
    """Whether something is reached by an attribute, or a name that is imported, in one of these modules."""
    owners = _ACTING.get(word)
    if owners is None:
        return _reaches_internals(word)
    return "" in owners or not owners.isdisjoint(tops)


@lru_cache(maxsize=8192)
def _reaches_internals(word: str) -> bool:
    """Whether an attribute is one of the interpreter's, a module under a private name, or downloads."""
    is_module = word[:1] == "_" and word.strip("_") in known.KNOWN_MODULES
    return is_module or word.startswith(("__", *REMOTE_FUNCTIONS))


def _opens_inside(call: ast.Call, boundary: Boundary) -> bool:
    """Whether a call opens a file of a constant name inside the boundary, or none."""
    word = _get_called_word(call)
    options = {one.arg for one in call.keywords}
    if not call.args:
        # `to_csv()` gives the text; any keyword may name the file.
        return word != "open" and not options
    path, *others = call.args
    action = _FILES[word]
    if word == "open":
        mode = _read_text(others[0]) if others else "r"
        if len(others) > 1 or not options <= _OPEN_OPTIONS or not mode:
            return False
        if WRITING_MODE.search(mode):
            action = Action.WRITE
    text = _read_text(path)
    if action is Action.WRITE and text.endswith(".py"):
        return False  # it may be imported
    return text != "" and boundary.path(action, (text,)) is None


def _read_text(node: ast.expr) -> str:
    """Return a constant text; empty where it is none."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""


def _names_nothing(program: _Program, boundary: Boundary) -> bool:
    """Whether no text is, or becomes, what a call is judged by."""
    # What moves data in modules that are inert otherwise is judged by the hosts that it names, too.
    moves = any(word.startswith(MOVING) for word in program.attributes | program.imported)
    judged = _OF_PLACE_OR_HOST if moves or not program.tops <= INERT_MODULES else _OF_PLACE
    passed = {id(node.value) for node in program.nodes[ast.Expr]}
    for call in program.nodes[ast.Call]:
        if _get_called_word(call) in _SHOWN:
            passed.update(id(part) for one in call.args for part in getattr(one, "values", (one,)))
    for node in program.nodes[ast.Constant]:
        value = node.value
        is_text = value.__class__ is str and id(node) not in passed
        if value.__class__ is bytes or (is_text and judged.search(value)):
            return False
    return not any(_formats_character(node) for node in program.nodes[ast.FormattedValue])


def _formats_character(node: ast.FormattedValue) -> bool:
    """Whether a number becomes the character that it is the code of: `f"{47:c}"`."""
    if isinstance(node.format_spec, ast.JoinedStr):
        specification = node.format_spec.values
    else:
        specification = []
    return any(_read_text(part)[-1:] in {"", "c"} for part in specification)


def _is_bounded(program: _Program, boundary: Boundary) -> bool:
    """Whether loops end, and no product of numbers of the program is a size that no machine holds."""
    nodes = program.nodes
    if any(isinstance(loop.test, ast.Constant) or grows_by_doubling(loop) for loop in nodes[ast.While]):
        return False
    kinds = [node.op.__class__ for node in (*nodes[ast.BinOp], *nodes[ast.AugAssign])]
    powers = [node for node in nodes[ast.BinOp] if isinstance(node.op, ast.Pow)]
    is_large = any(getattr(node.right, "value", None) not in _SMALL_EXPONENTS for node in powers)
    if is_large or ast.LShift in kinds or kinds.count(ast.Pow) > len(powers):
        return False
    makes = sum(_get_called_word(call) in _SIZED for call in nodes[ast.Call])
    products = kinds.count(ast.Mult) + makes
    numbers = (abs(node.value) for node in nodes[ast.Constant] if node.value.__class__ is int)
    largest: int = max(numbers, default=1) if products else 1
    is_small: bool = largest ** (min(products, _MOST_FACTORS) + 1) <= MOST_ITEMS
    return is_small


_CHECKS: Final = (_has_plain_nodes, _has_plain_modules, _opens_only_inside, _names_nothing, _is_bounded)
