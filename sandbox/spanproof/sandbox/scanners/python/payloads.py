"""Code and data inside values: executed text, commands, statements and pickles are scanned in their turn.

In: a value that reached something that runs it. Out: the findings of the nested source, at the place of the
call, or a review where the source is not known. Nothing is executed or unpickled; pickles are read opcode by
opcode.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import io
import pickletools
import re
from dataclasses import replace
from typing import Final

from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.boundary import Action, Pieces
from spanproof.sandbox.scanners.context import MAX_NESTING
from spanproof.sandbox.scanners.python import attributes
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.own_files import find_content, list_own_objects
from spanproof.sandbox.scanners.reader.effects import Call, Check, build_command_line, to_whole_text
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CLEAN,
    UNKNOWN,
    Const,
    Instance,
    Items,
    Mapping,
    Ref,
    Scope,
    Unknown,
    Value,
    build_union_of,
    compute_taint,
    find_constant_text,
    list_options,
    to_pieces,
)
from spanproof.sandbox.scanners.rules import describe_call

_SAFE_PICKLED = re.compile(
    r"^(?:(?:builtins|__builtin__)\.(?:set|frozenset|bytearray|complex|range|slice|object|list|dict|tuple|int"
    r"|float|str|bytes|bool)|collections\.\w+|datetime\.\w+|decimal\.\w+|fractions\.\w+|uuid\.\w+"
    r"|numpy\.(?:ndarray|dtype|core\.multiarray\.\w+|_core\.multiarray\.\w+|core\.numeric\.\w+|_core\.numeric\.\w+)"
    r"|pandas\.core\.[\w.]+|pandas\._libs\.[\w.]+|copy_reg\._reconstructor|copyreg\._reconstructor"
    r"|sklearn\.[\w.]+|scipy\.sparse\.[\w.]+|__main__\.\w+)$"
)
# A line of an example in a docstring.
_EXAMPLE = re.compile(r"^[ \t]*(?:>>>|\.\.\.) ?(.*)$", re.MULTILINE)

_MAX_OPCODES = 200_000
_YAML_CODE = re.compile(r"!!python/|tag:yaml\.org,2002:python/|!<tag:yaml")


# Methods of texts, which `timeit` calls as they are; no attribute that holds a text has such a name.
_TEXT_METHODS: Final = (".split", ".splitlines", ".strip", ".lower", ".upper")


def _handle_code(call: Call[Machine], value: Value) -> Value | None:
    """Judge `exec`, `eval` and their like: what folds to source is read in its turn."""
    if isinstance(value, Ref) and call.name.startswith("timeit.") and value.name.endswith(_TEXT_METHODS):
        return None
    namespaces = [call.arguments.find(index, name) for index, name in ((1, "globals"), (2, "locals"))]
    if call.name in {"exec", "eval"}:
        mappings = [one for one in namespaces if isinstance(one, Mapping)]
    else:
        mappings = []
    if not mappings:
        return _run_source(call.m, call.name, value, call.node)
    outer = call.m.scope
    call.m.scope = Scope(outer)
    for namespace in mappings:
        call.m.scope.names.update({str(key): entry for key, entry in namespace.entries.items()})
    try:
        return _run_source(call.m, call.name, value, call.node)
    finally:
        mappings[-1].entries.update(call.m.scope.names)
        call.m.scope = outer


def _handle_expression(call: Call[Machine], value: Value) -> Value | None:
    """Judge a formula over columns: Python, where it calls or goes through attributes."""
    call.m.check_statement(value, call.name, call.node)
    text = find_constant_text(value)
    if text is not None and ("@" in text or "__" in text or "(" in text):
        source = re.sub(r"`[^`]*`", "column", text.replace("@", "")).strip()
        if call.m.parse(source) is not None:
            _read_source(call.m, call.name, source, call.node)
        elif "__" in source:
            call.add("exec.dynamic", f"{call.name.removeprefix('?.')} runs a formula that cannot be read")
    return None


def _handle_examples(call: Call[Machine], value: Value) -> Value | None:
    """Read the examples in the program's documentation, as the interpreter would run them."""
    lines = [found[1] for found in _EXAMPLE.finditer(call.m.text)]
    if lines:
        _read_source(call.m, "exec", "\n".join(lines), call.node)
    return None


def _handle_run_file(call: Call[Machine], value: Value) -> Value | None:
    """Read a program that is run from a file, where this one wrote it."""
    call.check_path(Action.READ, value)
    content = find_content(call.m, value)
    if isinstance(content, Const):
        return _run_source(call.m, "exec", Const(content.value), call.node)
    call.add("exec.dynamic", describe_call(call.who, "exec.dynamic"))
    return None


def _handle_annotations(call: Call[Machine], value: Value) -> Value | None:
    """Read the annotations in the program that are text, as what resolves them evaluates them."""
    module = call.m.parse(call.m.text)
    for one in ast.walk(module) if module is not None else ():
        for annotation in (getattr(one, "annotation", None), getattr(one, "returns", None)):
            if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
                _read_source(call.m, "eval", annotation.value, call.node)
    return None


def _handle_pickle_file(call: Call[Machine], value: Value) -> Value | None:
    """Judge unpickling from a file object; one over known bytes is read like them."""
    own = list_own_objects(call.m, value)
    if own:
        return build_union_of(evaluate_own_pickle(call.m, one, call.node) for one in own)
    inner = value.owner if isinstance(value, Ref) and value.name == "io.BytesIO()" else None
    _handle_unpickling(call, inner if inner is not None else value)
    return None


def _handle_yaml(call: Call[Machine], value: Value) -> Value | None:
    """Judge `yaml.load`, harmless with a safe loader."""
    loader = call.arguments.find(1, "Loader") or UNKNOWN
    if all(isinstance(one, Ref) and "Safe" in one.name for one in list_options(loader)):
        return None
    return _handle_unsafe_yaml(call, value)


def _handle_unsafe_yaml(call: Call[Machine], value: Value) -> Value | None:
    """Judge a YAML loader that builds any object."""
    if isinstance(value, Const) and isinstance(value.value, str):
        if _YAML_CODE.search(value.value):
            call.add("deserialize.code", f"{call.name} builds objects a YAML text names")
    elif "network" in compute_taint(value):
        call.add("deserialize.code", f"{call.name} builds any object from what came over the network")
    else:
        call.add("deserialize.untrusted", f"{call.name} can build any object")
    return None


def _run_source(m: Machine, who: str, value: Value, node: ast.expr) -> Value:
    content = value.value if isinstance(value, Const) else None
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    if isinstance(content, str):
        return _read_source(m, who, content, node)
    if "network" in value.taint:
        m.add("exec.download", node, f"{who} runs what came over the network")
    elif isinstance(value, Ref) and value.name.startswith(("marshal.", "types.CodeType")):
        m.add("exec.payload", node, f"{who} runs compiled code")
    elif who != "pandas.eval":
        m.add("exec.dynamic", node, f"{who} runs code that is not known")
    return Unknown(value.taint)


# Words of code that starts programs.
_STARTING_WORDS: Final = ("__import__", "popen", "subprocess", "system(")


def _find_formula_tree(m: Machine, text: str, node: ast.expr) -> ast.Module | None:
    """Return the tree of a formula of pandas, `total = @rate * amount`; one that calls is for review."""
    if "(" in text or "__" in text:
        m.add("exec.dynamic", node, "calls a variable in a formula")
    return m.parse(text.replace("@", "").strip())


def _read_source(m: Machine, who: str, text: str, node: ast.expr) -> Value:
    outer = m.context
    if any(word in text and word not in m.text for word in _STARTING_WORDS):
        m.add("exec.dynamic", node, f"{who} runs code whose names are put together")
    if outer.depth >= MAX_NESTING:
        m.add("exec.payload", node, f"{who} runs code hidden {MAX_NESTING} layers deep")
        return UNKNOWN
    m.context = outer.build_nested(m.get_place(node), f"{who} runs code: ")
    try:
        module = m.parse(text.strip() if who == "eval" else text)
        if module is None and "@" in text:
            module = _find_formula_tree(m, text, node)
        if module is None or (m.exhausted and outer.depth):
            m.add("exec.dynamic", node, "cannot be read")
            return UNKNOWN
        # Reading it counts as unrolling: payloads must not buy time.
        body = module.body
        if body and isinstance(body[-1], ast.Expr):
            m.read_block(body[:-1])
            result = m.evaluate(body[-1].value)
            return result if who != "exec" else Const(None)
        m.read_block(body)
        return Const(None)
    finally:
        m.context = outer


def _handle_unpickling(call: Call[Machine], value: Value) -> Value | None:
    """Judge unpickling by what the pickle would call."""
    if isinstance(value, Ref) and value.name == "pickle.dumps()" and value.owner is not None:
        return evaluate_own_pickle(call.m, value.owner, call.node)
    if isinstance(value, Const) and isinstance(value.value, bytes | str):
        if isinstance(value.value, str):
            data = value.value.encode("latin-1", "replace")
        else:
            data = value.value
        names, whole = _list_pickled_names(data)
        if not whole:
            call.add("deserialize.untrusted", f"{call.name} loads a pickle that cannot be read to its end")
        for name in names:
            if not _SAFE_PICKLED.match(name):
                call.add("deserialize.code", f"{call.name} loads a pickle that calls {name[:80]}")
        return UNKNOWN
    if "network" in value.taint:
        call.add("deserialize.code", f"{call.name} loads what came over the network")
    else:
        call.add("deserialize.untrusted", f"{call.name} loads a pickle, which can call any function")
    return Unknown(value.taint)


def evaluate_own_pickle(m: Machine, value: Value, node: ast.expr) -> Value:
    """Judge loading what the program itself dumped: an object's `__reduce__` gives the function called."""
    if not isinstance(value, Instance):
        return value
    for name in ("__reduce__", "__reduce_ex__"):
        method = attributes.find_special_method(value, name)
        if method is None:
            continue
        for reduced in list_options(m.evaluate_call(method, Arguments([]), node)):
            if isinstance(reduced, Items) and len(reduced.items) >= 2 and isinstance(reduced.items[1], Items):
                called = reduced.items[0]
                name = called.name if isinstance(called, Ref) else "a function"
                m.add("deserialize.code", node, f"unpickling calls {name}")
                m.evaluate_call(called, Arguments(list(reduced.items[1].items), {}), node)
    return value


def _list_pickled_names(data: bytes) -> tuple[list[str], bool]:
    """Return every global a pickle names, and whether it was read to its end."""
    names: list[str] = []
    texts: list[str] = []
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(io.BytesIO(data))):
            if count > _MAX_OPCODES:
                return names, False
            if opcode.name in {"GLOBAL", "INST"} and isinstance(argument, str):
                names.append(argument.replace(" ", "."))
            elif opcode.name == "STACK_GLOBAL":
                names.append(".".join(texts[-2:]))
            elif (isinstance(argument, str) and "UNICODE" in opcode.name) or opcode.name in {
                "STRING",
                "SHORT_BINSTRING",
            }:
                texts.append(str(argument))
    except Exception:  # noqa: BLE001 - not a pickle, or cut: what was read so far counts
        return names, False
    return names, True


def _handle_argv(call: Call[Machine], value: Value) -> Value | None:
    """Judge a program with its arguments, as a list or as a line."""
    m, outer = call.m, call.m.context
    given_by_place = (one for one in call.arguments.positional[2:] if isinstance(one, Mapping))
    environment = call.arguments.named.get("env") or next(given_by_place, None)
    if isinstance(environment, Mapping):
        m.check_variables(environment.entries.items(), call.name, call.node)
        names = {name for name in environment.entries if isinstance(name, str)}
        m.context = replace(
            outer,
            variables=outer.variables | names,
            values={**outer.values, **environment.entries},
            owns_environment=not environment.rest,
        )
    try:
        _check_program(call, value)
    finally:
        m.context = outer
    return None


def _check_program(call: Call[Machine], value: Value) -> None:
    shell = call.arguments.named.get("shell")
    if isinstance(value, Items) and isinstance(shell, Const) and shell.value and value.items:
        _run_line(call, to_pieces(value.items[0]), value)
    elif isinstance(value, Items):
        _run_words(call, value)
    else:
        _run_line(call, to_pieces(value), value)


def _handle_spawn_arguments(call: Call[Machine], value: Value) -> Value | None:
    # os.execl(path, arg0, arg1, …): the program's own name is given twice.
    rest = call.arguments.positional[call.effect.position + 2 :]
    rest = [one for one in rest if not isinstance(one, Mapping)]
    _run_words(call, Items([value, *rest], more=call.arguments.more))
    return None


def _handle_tool(call: Call[Machine], value: Value) -> Value | None:
    """Judge a function that does what a tool of the command line does: `pytest.main`."""
    call.m.run_command((call.effect.keyword,), CLEAN, call.name, call.node)
    return None


def _handle_template(call: Call[Machine], value: Value) -> Value | None:
    """Judge a template that the program renders itself, where its text is known."""
    text = to_whole_text(value)
    if "{{" not in text and "{%" not in text:
        return None
    try:
        nested.scan(
            "jinja", call.m.context.build_nested(call.m.get_place(call.node), f"{call.who} renders: "), text
        )
    except ImportError:
        # Jinja comes with the server, not with the guard alone.
        if "__" in text:
            call.add(
                "escape.internals", f"{call.who} renders a template that names the interpreter's internals"
            )
    return None


def _handle_spawn(call: Call[Machine], value: Value) -> Value | None:
    rest = call.arguments.positional[call.effect.position + 1 :]
    _run_words(call, Items([value, *rest], more=call.arguments.more))
    return None


def _run_words(call: Call[Machine], words: Items) -> None:
    _run_line(call, build_command_line(words.items, more=words.more), words)


def _run_line(call: Call[Machine], line: Pieces, value: Value) -> None:
    call.m.run_command(line, compute_taint(value), call.name, call.node)


CHECKS: Final[dict[str, Check]] = {
    "argv": _handle_argv, "spawnv": _handle_spawn_arguments, "spawn": _handle_spawn, "code": _handle_code,
    "pickle": _handle_unpickling, "picklefile": _handle_pickle_file, "yaml": _handle_yaml,
    "unsafeyaml": _handle_unsafe_yaml, "expression": _handle_expression, "doctest": _handle_examples,
    "runfile": _handle_run_file, "annotations": _handle_annotations, "tool": _handle_tool,
    "template": _handle_template,
}  # fmt: skip
"""What judges each way to run what a value holds."""
