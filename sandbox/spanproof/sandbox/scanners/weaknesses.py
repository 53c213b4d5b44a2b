"""Weaknesses of generated code by the numbers of the CWE list: advisory, they never change a verdict.

In: Python, JavaScript, TypeScript or bash. Out: findings with a CWE number and a remedy. Python is read from
its tree with imported names resolved; the others by a few bounded patterns, line by line. A constant is no
weakness where text becomes a command, code or a statement, and a credential itself is in no message. What
crosses the boundary is no business of this module.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.python.parse import compute_column, list_nodes
from spanproof.sandbox.scanners.source import Place, Source

KNOWLEDGE: Final = read_sections("weaknesses")
WORDS: Final = KNOWLEDGE["python"]

_INPUT_CALLS: Final = split_entry(WORDS, "input")
_INPUT_NAMES: Final = ("flask.request.", "request.", "sys.argv", "self.request.")
_SECRET: Final = re.compile(
    r"(?i)passw(?:or)?d|passphrase|\bpwd\b|_pwd|secret|token(?!s|_count|_id|iz|_len|_limit|_budget)|api_?key"
    r"|access_?key|private_?key|credential|\bsalt\b|nonce|\botp\b|session_?id|session_?key"
)
_MAX_DEPTH: Final = 8
_MAX_ATTRIBUTES: Final = 16


class Names:
    """What names of one module mean."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        """Read imports and plain assignments, wherever they are; the last one counts."""
        self.imported: dict[str, str] = {}
        self.assigned: dict[str, ast.expr] = {}
        self.contained = False
        self._calls: dict[int, list[ast.Call]] = {}
        self._dotted: dict[int, str] = {}
        self._from_input: dict[int, bool] = {}
        self._literal: dict[int, bool] = {}
        for node in nodes:
            if node.__class__ not in _NAMING:
                continue
            if isinstance(node, ast.Attribute):
                self.contained = self.contained or node.attr in _CONTAINS
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.imported.update(_iter_imported(node))
            elif isinstance(node, ast.Assign):
                target = node.targets[0]
                if len(node.targets) == 1 and isinstance(target, ast.Name):
                    self.assigned[target.id] = node.value

    def dotted(self, node: ast.expr) -> str:
        """Return the resolved dotted name of an expression; what is not a name shows as `?`."""
        known = self._dotted.get(id(node))
        if known is None:
            attributes: list[str] = []
            inner = node
            while isinstance(inner, ast.Attribute) and len(attributes) < _MAX_ATTRIBUTES:
                attributes.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name):
                base = self.imported.get(inner.id, inner.id)
            else:
                base = "?"
            known = self._dotted[id(node)] = ".".join([base, *reversed(attributes)])
        return known

    def behind(self, node: ast.expr) -> ast.expr:
        """Return the expression behind a name, as far as plain assignments show."""
        for _ in range(_MAX_DEPTH):
            if not isinstance(node, ast.Name) or node.id not in self.assigned:
                return node
            node = self.assigned[node.id]
        return node

    def calls_in(self, node: ast.expr) -> list[ast.Call]:
        """Return the calls an expression makes; computed once for each."""
        found = self._calls.get(id(node))
        if found is None:
            found = [one for one in list_nodes(node) if isinstance(one, ast.Call)]
            self._calls[id(node)] = found
        return found

    def is_literal(self, node: ast.expr) -> bool:
        """Whether an expression consists of constants alone; computed once for each."""
        known = self._literal.get(id(node))
        if known is None:
            parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
            if isinstance(node, ast.BinOp):
                parts = [node.left, node.right]
            is_whole = isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.BinOp)
            known = self._literal[id(node)] = is_whole and all(map(self.is_literal, parts))
        return known

    def from_input(self, node: ast.expr) -> bool:
        """Whether a value comes from a user or a request.

        Raises:
            RecursionError: it nests deeper than can be read.
        """
        known = self._from_input.get(id(node))
        if known is None:
            # Each node is looked into once, and one that is being looked into adds nothing to itself:
            # names that refer to one another many times over would take exponential time.
            self._from_input[id(node)] = False
            known = self._from_input[id(node)] = self._is_from_input(node)
        return known

    def _is_from_input(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            held = self.assigned.get(node.id)
            return held is not None and self.from_input(held)
        name = self.dotted(node.func if isinstance(node, ast.Call) else node)
        if name in _INPUT_CALLS or name.startswith(_INPUT_NAMES):
            return True
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Call):
            children += [one.value for one in node.keywords]
        return any(self.from_input(child) for child in children)


def _iter_imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, and what they mean."""
    for one in node.names:
        if isinstance(node, ast.ImportFrom):
            yield one.asname or one.name, f"{node.module or ''}.{one.name}"
        else:
            top = one.name.partition(".")[0]
            yield one.asname or top, one.name if one.asname else top


_NAMING: Final = frozenset({ast.Attribute, ast.Import, ast.ImportFrom, ast.Assign})
# What a program uses to keep a path inside a directory.
_CONTAINS: Final = split_entry(WORDS, "contains")


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether a name announces a secret."""
    return _SECRET.search(name) is not None


def find_keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a keyword argument."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def find_argument(call: ast.Call, position: int, name: str = "") -> ast.expr | None:
    """Return a positional argument, or its keyword."""
    if len(call.args) > position:
        return call.args[position]
    return find_keyword(call, name) if name else None


def is_false(node: ast.expr | None) -> bool:
    """Whether an expression is the constant False."""
    return isinstance(node, ast.Constant) and node.value is False


def is_true(node: ast.expr | None) -> bool:
    """Whether an expression is the constant True."""
    return isinstance(node, ast.Constant) and node.value is True


_SHELLS: Final = split_entry(WORDS, "shells")
_SUBPROCESS: Final = split_entry(WORDS, "subprocess")
_STATEMENTS: Final = split_entry(WORDS, "statements")
_VERB: Final = re.compile(
    r"(?i)^\s{0,20}(?:select|insert|update|delete|replace|drop|create|alter|with|merge|call)\b"
)


def judge_code(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Judge commands, code and statements that are put together."""
    name = names.dotted(call.func)
    first = find_argument(call, 0)
    if first is None:
        first = find_keyword(call, "args") or find_keyword(call, "sql") or find_keyword(call, "cmd")
    if first is None:
        return
    behind = names.behind(first)
    if _starts_shell(name, call) and not names.is_literal(behind):
        yield "weakness.shell-command", f"{name} hands a shell a command that is put together"
    if name in _RUNS_TEXT and not names.is_literal(behind):
        yield "weakness.code-from-text", f"{name} runs text that is put together"
    if name.rpartition(".")[2] in _STATEMENTS or name in {"sqlalchemy.text", "sqlalchemy.sql.text"}:
        if isinstance(behind, ast.Call) and names.dotted(behind.func).endswith("text") and behind.args:
            behind = names.behind(behind.args[0])
        if is_statement_of_text(names, behind):
            yield "weakness.sql-text", "a statement is put together from text and values"


_RUNS_TEXT: Final = frozenset({"eval", "exec", "compile", "builtins.eval", "builtins.exec"})


def _starts_shell(name: str, call: ast.Call) -> bool:
    if name in _SHELLS:
        return True
    module, _, function = name.partition(".")
    return module == "subprocess" and function in _SUBPROCESS and is_true(find_keyword(call, "shell"))


def is_statement_of_text(names: Names, node: ast.expr) -> bool:
    """Whether an expression puts SQL together with values that are not constants."""
    head: ast.expr | None = None
    if isinstance(node, ast.JoinedStr):
        if any(isinstance(part, ast.FormattedValue) for part in node.values):
            head = node.values[0]
    elif (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod) and not names.is_literal(node)
    ):
        head = node
        while isinstance(head, ast.BinOp):
            head = head.left
        if isinstance(head, ast.JoinedStr) and head.values:
            head = head.values[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        head = node.func.value
    return isinstance(head, ast.Constant) and isinstance(head.value, str) and bool(_VERB.match(head.value))


_PLACEHOLDER: Final = re.compile(
    r"(?i)^(?:|none|null|x+|\*+|\.+|<.{0,80}>|\{.{0,80}\}|%.{0,80}|.{0,80}(?:your|example|change_?me|placeholder|env|todo).{0,80})$"
)
_RANDOM: Final = split_entry(WORDS, "random")
_CLOCK: Final = split_entry(WORDS, "clock")
_CREDENTIAL: Final = re.compile(
    r"(?i)passw(?:or)?d|passphrase|pwd$|secret|api_?key|auth_?token|access_?key|^token$"
)


def judge_assignment(names: Names, node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, str]]:
    """Judge what is bound to a name that announces a secret."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        name = _read_name(target)
        if node.value is None or not name:
            continue
        if name == "check_hostname" and is_false(node.value):
            yield "weakness.certificate", "host names are not verified"
        if name == "verify_mode" and names.dotted(node.value).endswith("CERT_NONE"):
            yield "weakness.certificate", "certificates are not verified"
        if name == "verify" and isinstance(target, ast.Attribute) and is_false(node.value):
            yield "weakness.certificate", "certificates are not verified"
        if name == "_create_default_https_context":
            yield "weakness.certificate", "certificates are not verified anywhere"
        if _is_credential(name, node.value):
            yield "weakness.credential", f"{name} holds a credential"
        if names_secret(name):
            yield from _judge_guessable(names, name, node.value)


def judge_comparison(names: Names, node: ast.Compare) -> Iterator[tuple[str, str]]:
    """Judge `password == "…"`."""
    if len(node.comparators) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        name = _read_name(node.left)
        if _is_credential(name, node.comparators[0]):
            yield "weakness.credential", f"{name} is compared with a credential"


def judge_definition(names: Names, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    """Judge defaults of parameters, and functions that make secrets by what is not random enough."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(reversed(arguments), reversed(node.args.defaults), strict=False))
    pairs += [
        (one, value) for one, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
    ]
    for one, value in pairs:
        if _is_credential(one.arg, value):
            yield "weakness.credential", f"the parameter {one.arg} has a credential as its default"
    if names_secret(node.name):
        for inner in list_nodes(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                yield from _judge_guessable(names, node.name, names.behind(inner.value))


def judge_credentials(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Judge `connect(password="…")`."""
    for one in call.keywords:
        if one.arg is not None and _is_credential(one.arg, one.value):
            yield "weakness.credential", f"{one.arg} is handed over as a literal"


def _judge_guessable(names: Names, name: str, value: ast.expr) -> Iterator[tuple[str, str]]:
    for inner in names.calls_in(value):
        called = names.dotted(inner.func)
        if called.startswith("random.") and called[7:] in _RANDOM:
            yield "weakness.random", f"{name} is made by {called}, which can be predicted"
            return
        if called in _CLOCK:
            yield "weakness.predictable", f"{name} is made by {called}, which can be guessed"
            return


@lru_cache(maxsize=4096)
def _names_credential(name: str) -> bool:
    return _CREDENTIAL.search(name) is not None


def _is_credential(name: str, value: ast.expr) -> bool:
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str) or not _names_credential(name):
        return False
    text = value.value
    is_prefix = text.endswith(("/", "_", ":"))
    is_own_name = text.lower() == name.lower()
    return not (is_prefix or is_own_name or " " in text or _PLACEHOLDER.match(text))


def _read_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""


_WEAK_CIPHER: Final = re.compile(
    r"(?:^|\.)(?:DES3?|ARC[24]|RC4|Blowfish|CAST5?|IDEA|TripleDES)(?:\.new)?$|(?:^|\.)modes\.ECB$"
)


def judge_cryptography(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Judge what protects less than it seems."""
    name = names.dotted(call.func)
    if is_false(find_keyword(call, "verify")) and name.rpartition(".")[2] not in {"decode", "loads"}:
        yield "weakness.certificate", f"{name} does not verify certificates"
    if name in {"ssl._create_unverified_context", "paramiko.AutoAddPolicy", "paramiko.WarningPolicy"}:
        yield "weakness.certificate", f"{name} trusts any peer"
    if _WEAK_CIPHER.search(name) or any(_is_ecb_mode(names, one) for one in call.args):
        yield "weakness.cipher", f"{name} is a weak cipher or mode"
    version = find_argument(call, 0, "ssl_version") if "ssl" in name.lower() else None
    if version is not None and re.search(r"PROTOCOL_(?:SSLv\w+|TLSv1(?:_1)?)$", names.dotted(version)):
        yield "weakness.cipher", f"{name} speaks an outdated protocol"
    if is_weak_hash(names, call):
        yield "weakness.hash", f"{name} is a weak hash"


def is_weak_hash(names: Names, call: ast.Call) -> bool:
    """Whether a call makes an MD5 or SHA-1 hash that is not declared as a mere checksum."""
    if is_false(find_keyword(call, "usedforsecurity")):
        return False
    name = names.dotted(call.func)
    first = find_argument(call, 0, "name")
    named = isinstance(first, ast.Constant) and str(first.value).lower() in {"md5", "sha1", "md4"}
    return name in {"hashlib.md5", "hashlib.sha1"} or (name == "hashlib.new" and named)


def _is_ecb_mode(names: Names, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and names.dotted(node).endswith(".MODE_ECB")


_LOADERS: Final = split_entry(WORDS, "loaders")
_SAFE_YAML: Final = split_entry(WORDS, "safe-yaml")
_READERS: Final = split_entry(WORDS, "readers")
_MODE_POSITION: Final = {"os.chmod": 1, "os.mkdir": 1, "os.makedirs": 1, "os.fchmod": 1, "os.open": 2}


def judge_data(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Judge loading, unpacking, opening and permissions."""
    name = names.dotted(call.func)
    if name in _LOADERS or _is_unsafe_load(names, name, call):
        yield "weakness.deserialisation", f"{name} can run code of what it loads"
    if name.endswith(".extractall") and find_keyword(call, "filter") is None and _is_tar(names, call):
        yield "weakness.archive-extraction", "an archive may write outside the directory"
    if name in _READERS and call.args and not names.contained:
        path = names.behind(call.args[0])
        if not isinstance(path, ast.Constant) and names.from_input(path):
            yield "weakness.path-from-input", f"{name} takes a path from input, not kept inside a directory"
    if name == "tempfile.mktemp":
        yield "weakness.temporary-file", "the name may be taken before the file is made"
    yield from _judge_xml(names, name, call)
    yield from _judge_mode(name, call)


def _is_unsafe_load(names: Names, name: str, call: ast.Call) -> bool:
    if name in {"yaml.load", "yaml.load_all"}:
        loader = find_argument(call, 1, "Loader")
        return loader is None or names.dotted(loader) not in _SAFE_YAML
    if name == "torch.load":
        return is_false(find_keyword(call, "weights_only"))
    return name == "numpy.load" and is_true(find_keyword(call, "allow_pickle"))


def _is_tar(names: Names, call: ast.Call) -> bool:
    """Whether an archive is a tar file, which keeps `..` when it is unpacked; zip files lose it."""
    if isinstance(call.func, ast.Attribute):
        owner = names.behind(call.func.value)
    else:
        owner = call.func
    made = names.dotted(owner.func) if isinstance(owner, ast.Call) else ""
    return made.startswith("tarfile.") or (not made and "tarfile" in names.imported.values())


def _judge_xml(names: Names, name: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    if name.endswith("XMLParser") and (
        is_true(find_keyword(call, "resolve_entities"))
        or is_true(find_keyword(call, "load_dtd"))
        or is_false(find_keyword(call, "no_network"))
    ):
        yield "weakness.entities", f"{name} resolves entities from outside"
    if name.endswith(".setFeature") and len(call.args) == 2:
        feature = names.dotted(call.args[0])
        on = isinstance(call.args[1], ast.Constant) and bool(call.args[1].value)
        if on and feature.endswith(("feature_external_ges", "feature_external_pes")):
            yield "weakness.entities", "the parser resolves entities from outside"


def _judge_mode(name: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    position = _MODE_POSITION.get(name)
    if name.endswith(".chmod") and name != "os.chmod":
        position = 0
    mode = find_argument(call, position, "mode") if position is not None else None
    value = mode.value if isinstance(mode, ast.Constant) else None
    if isinstance(value, int) and value & 0o022:
        yield "weakness.permissions", f"{name} lets others write (mode {value:o})"
    if (
        name == "os.umask"
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and call.args[0].value == 0
    ):
        yield "weakness.permissions", "os.umask(0) lets others write what is made"


_MARKUP: Final = split_entry(WORDS, "markup")


def judge_web(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Judge what a page shows and where it leads."""
    name = names.dotted(call.func)
    if name in _MARKUP and call.args and not names.is_literal(names.behind(call.args[0])):
        yield "weakness.markup", f"{name} shows a value without escaping it"
    if name == "jinja2.Environment":
        escape = find_keyword(call, "autoescape")
        if escape is None or (isinstance(escape, ast.Constant) and not escape.value):
            yield "weakness.markup", "a template engine that does not escape values"
    if (
        name in {"flask.redirect", "django.shortcuts.redirect"}
        and call.args
        and names.from_input(call.args[0])
    ):
        yield "weakness.redirect", f"{name} redirects to an address from the request"
    if (
        name.endswith(".run")
        and is_true(find_keyword(call, "debug"))
        and "flask.Flask" in names.imported.values()
    ):
        yield "weakness.debug", "the debugger of a web application runs any code"


def _get_last_word(name: str) -> str:
    return name.rpartition(".")[2]


# The last word of each name that a rule for calls knows.
_JUDGED_WORDS: Final = frozenset(
    {
        *map(_get_last_word, (*_SHELLS, *_SUBPROCESS, *_STATEMENTS, *_LOADERS, *_READERS, *_MARKUP)),
        *map(_get_last_word, _MODE_POSITION),
        *WORDS["judged"].split(),
    }
)


@lru_cache(maxsize=4096)
def _may_be_judged(word: str) -> bool:
    """Whether a rule for calls knows a function by its last word."""
    return word in _JUDGED_WORDS or word.endswith("XMLParser") or bool(_WEAK_CIPHER.search(word))


@lru_cache(maxsize=4096)
def _is_judged_option(name: str | None) -> bool:
    """Whether a rule for calls knows a keyword argument whatever the function."""
    return name == "verify" or (name is not None and _names_credential(name))


def _is_judged_call(names: Names, call: ast.Call) -> bool:
    """Whether any rule for calls may find something in this one, by the names in it."""
    function = call.func
    if isinstance(function, ast.Attribute):
        word = function.attr
    else:
        word = _get_last_word(names.dotted(function))
    return _may_be_judged(word) or any(_is_judged_option(one.arg) for one in call.keywords)


_CALLS: Final = (judge_code, judge_cryptography, judge_data, judge_web, judge_credentials)
JUDGES: Final[dict[type[ast.AST], tuple[Callable[[Names, Any], Iterator[tuple[str, str]]], ...]]] = {
    ast.Call: _CALLS,
    ast.Assign: (judge_assignment,),
    ast.AnnAssign: (judge_assignment,),
    ast.Compare: (judge_comparison,),
    ast.FunctionDef: (judge_definition,),
    ast.AsyncFunctionDef: (judge_definition,),
}
"""What judges a node, by its kind: each of these kinds has a place."""


LANGUAGES: Final = frozenset({"python", "javascript", "typescript", "bash"})

_MESSAGES: Final = KNOWLEDGE["messages"]
_WORDS: Final = split_entry(WORDS, "words")


@lru_cache(maxsize=2)
def _compile_patterns(language: str) -> list[tuple[str, list[str], re.Pattern[str]]]:
    """Return the rules of a language: id, words one of which each match holds, and pattern."""
    needed = KNOWLEDGE["needed"]
    return [
        (rule, needed[rule].split(), re.compile(pattern)) for rule, pattern in KNOWLEDGE[language].items()
    ]


def scan(context: Context, source: Source) -> None:
    """Report weaknesses of one source."""
    if source.language == "python":
        lowered = source.lowered
        for word in _WORDS:
            if word in lowered:
                _scan_python(context, source)
                break
        return
    for rule, words, pattern in _compile_patterns("bash" if source.language == "bash" else "javascript"):
        if not any(word in source.lowered for word in words):
            continue
        context.check_time()
        for found in pattern.finditer(source.text):
            context.add(rule, source.place(*found.span()), _MESSAGES[rule])


# Arguments by which a call is judged whatever the function: modes of ciphers and versions of protocols.
_JUDGED_ARGUMENTS: Final = ("MODE_ECB", "PROTOCOL_")


def _scan_python(context: Context, source: Source) -> None:
    nodes = source.python_nodes
    names = Names(nodes)
    text = source.text
    lines = text.split("\n")
    # A name may be written in other letters that mean the same.
    judges_all = not text.isascii() or any(word in text for word in _JUDGED_ARGUMENTS)
    for count, node in enumerate([node for node in nodes if node.__class__ in JUDGES]):
        if count % 256 == 0:
            context.check_time()
        if node.__class__ is ast.Call and not judges_all and not _is_judged_call(names, node):
            continue
        for judge in JUDGES[node.__class__]:
            try:
                found = list(judge(names, node))
            except RecursionError:
                continue  # nests deeper than can be read; the Python scanner reports it
            for rule, message in found:
                context.add(f"python.{rule}", _locate_node(node, lines), message)  # type: ignore[arg-type]


def _locate_node(node: ast.expr | ast.stmt, lines: list[str]) -> Place:
    """Return a node's place. A definition's place is its first line."""
    end_line = node.end_lineno or node.lineno
    end_offset = node.end_col_offset or 0
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        end_line, end_offset = node.lineno, node.col_offset + 3
    return Place(
        node.lineno,
        compute_column(lines, node.lineno, node.col_offset),
        end_line,
        compute_column(lines, end_line, end_offset),
    )
