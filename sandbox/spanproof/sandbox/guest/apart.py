"""Whether tests can run in an interpreter that the program never had; decided from their text alone.

In: the text of tests, before the program runs. Out: what in it needs the program's own interpreter, as a
clause, or None. Tests that hand an object of their own to the program show that only as they run: see
`spanproof.sandbox.guest.remote`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

BUILTINS = frozenset(dir(builtins))

# Modules that act on the interpreter they run in: patched, captured or inspected must be the program's.
_MODULES = frozenset(
    (
        "builtins",
        "ctypes",
        "gc",
        "importlib",
        "inspect",
        "logging",
        "mock",
        "multiprocessing",
        "signal",
        "subprocess",
        "threading",
        "tracemalloc",
        "unittest.mock",
        "warnings",
        "weakref",
    )
)
# Names of modules that hold state of the interpreter, by module.
_STATE = {
    "contextlib": frozenset(("chdir", "redirect_stderr", "redirect_stdout")),
    "numpy.random": frozenset(("seed",)),
    "os": frozenset(("chdir", "environ", "environb", "fork", "popen", "putenv", "system", "unsetenv")),
    "pytest": frozenset(("MonkeyPatch", "deprecated_call", "warns")),
    "random": frozenset(("seed", "setstate")),
    "sys": frozenset(
        ("argv", "modules", "setprofile", "setrecursionlimit", "settrace", "stderr", "stdin", "stdout")
    ),
    "unittest": frozenset(("mock",)),
}
_STATEFUL_METHODS = frozenset(("assertLogs", "assertNoLogs", "assertWarns", "assertWarnsRegex"))
# Fixtures of pytest that patch or capture the interpreter they run in.
_FIXTURES = frozenset(
    ("capfd", "capfdbinary", "caplog", "capsys", "capsysbinary", "mocker", "monkeypatch", "recwarn")
)
_BUILTINS = frozenset(
    ("__import__", "compile", "dir", "eval", "exec", "globals", "id", "input", "locals", "vars")
)
# Of an object, beside those that every test may read.
_READABLE = frozenset(("__doc__", "__name__", "__class__", "__version__", "__test__", "__init__", "__len__"))


def find_reason_to_share(nodes: Sequence[ast.AST]) -> str | None:
    """Return what in tests needs the program's interpreter, as a clause; None where they can run apart.

    Args:
        nodes: of their text, as `ast.walk` gives them.
    """
    modules = _read_module_names(nodes)
    return next((reason for node in nodes if (reason := _find_reason(node, modules))), None)


def list_imports(nodes: Sequence[ast.AST]) -> list[str]:
    """Return the modules that tests import, wherever they do, the package before its module."""
    found: dict[str, None] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module] = None
            found.update(dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names))
    return list(found)


def select_program_builtins(nodes: Sequence[ast.AST], entry_point: str | None) -> frozenset[str]:
    """Return builtin names that mean the program's: its entry point, or all if tests use no others."""
    if entry_point is not None:
        return frozenset((entry_point,))
    called = {
        node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return frozenset() if called - own - BUILTINS else frozenset(called & BUILTINS)


def _read_module_names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return the module of each imported name."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return found


def _find_reason(node: ast.AST, modules: dict[str, str]) -> str | None:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _find_import_reason(node)
    if isinstance(node, ast.Attribute):
        return _find_attribute_reason(node, modules)
    if isinstance(node, ast.Name) and node.id in _BUILTINS and isinstance(node.ctx, ast.Load):
        return f"they use {node.id}"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
        captured = sorted(names & _FIXTURES)
        return f"they use the fixture {captured[0]}" if captured else None
    return None


def _find_import_reason(node: ast.Import | ast.ImportFrom) -> str | None:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.level:
        return "they import by a relative name"
    else:
        module = node.module or ""
        names = [module]
        stateful = [alias.name for alias in node.names if alias.name in _STATE.get(module, ())]
        if stateful:
            return f"they use {module}.{stateful[0]}"
    shared = [name for name in names if name in _MODULES or name.partition(".")[0] in _MODULES]
    return f"they import {shared[0]}" if shared else None


def _find_attribute_reason(node: ast.Attribute, modules: dict[str, str]) -> str | None:
    if node.attr in _STATEFUL_METHODS:
        return f"they use {node.attr}"
    if node.attr.startswith("__") and node.attr.endswith("__") and node.attr not in _READABLE:
        return f"they use {node.attr}"
    owner = _read_dotted_name(node.value, modules)
    return f"they use {owner}.{node.attr}" if node.attr in _STATE.get(owner, ()) else None


def _read_dotted_name(node: ast.expr, modules: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return modules.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = _read_dotted_name(node.value, modules)
        return f"{before}.{node.attr}" if before else ""
    return ""
