"""Lists what functions of packages do that reaches beyond the program, to fill the scanners' catalogue.

    python deploy/scanners/audit.py WHEEL...

Each wheel's source is parsed and nothing of it is run. A function has the effect of each known call in its
own body: with the position and keyword of the parameter where the call gets one of them unchanged, without
where the call acts whatever it gets. A module has the functions that it imports by name under a name of its
own. A line is an entry in the form of `libraries.txt`, for a person to judge. What the catalogue has already
is left out.
"""

from __future__ import annotations

import ast
import sys
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.python.names import SINKS, normalise_name
from spanproof.sandbox.scanners.reader.effects import Effect
from spanproof.sandbox.words import split_words

# Kinds of effects that a function passes on with its parameter, or has whatever it gets.
_PASSED: Final = split_words(
    "pickle yaml code shell argv url host load write delete save address dburl openfile model"
)
_FIXED: Final = frozenset({"deny", "review", "implicit", "pickle", "url", "host"})
# Parts of packages that no agent calls.
_PRIVATE: Final = frozenset(
    {"tests", "test", "testing", "conftest", "vendor", "vendored", "examples", "benchmarks"}
)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """What one public name does: an effect of the catalogue, and the call in the body that has it."""

    name: str
    effect: str
    because: str


def list_findings(wheel: str) -> Iterator[Finding]:
    """Yield what the public functions of a wheel do, each once under its shortest public name."""
    modules = dict(_read_modules(wheel))
    public = _find_public_names(modules)
    for module, tree in modules.items():
        scope = _read_imports(module, tree)
        for name, function in _list_functions(module, tree):
            for effect, because in _list_effects(
                function, scope, is_method=name.count(".") > module.count(".") + 1
            ):
                yield Finding(public.get(name, name), effect, because)
        for local, target in scope.items():
            if normalise_name(target) in SINKS and normalise_name(f"{module}.{local}") not in SINKS:
                yield Finding(f"{module}.{local}", f"= {target}", "imported by name")


def _read_modules(wheel: str) -> Iterator[tuple[str, ast.Module]]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            parts = path.with_suffix("").parts
            if path.suffix != ".py" or ".dist-info" in name or ".data" in parts[0] or _PRIVATE & set(parts):
                continue
            try:
                tree = ast.parse(archive.read(name))
            except (SyntaxError, ValueError):
                continue
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), tree


def _read_imports(module: str, tree: ast.Module) -> dict[str, str]:
    """Return what the names that a module imports mean, wherever it imports them."""
    scope: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                scope[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            parent = module.split(".")[: -node.level or None] if node.level else []
            source = ".".join([*parent, *([node.module] if node.module else [])])
            for alias in node.names:
                scope[alias.asname or alias.name] = f"{source}.{alias.name}"
    return scope


def _find_public_names(modules: dict[str, ast.Module]) -> dict[str, str]:
    """Return the shortest name under which a package gives a function that is defined deeper in it."""
    public: dict[str, str] = {}
    for module, tree in sorted(modules.items(), key=lambda one: one[0].count(".")):
        for node in tree.body:
            if not isinstance(node, ast.ImportFrom):
                continue
            # A package's own `.` is the package itself, which has no file of another name.
            for level_parent in (module, module.rpartition(".")[0]):
                source = (
                    ".".join(part for part in (level_parent, node.module) if part)
                    if node.level
                    else node.module
                )
                for alias in node.names:
                    public.setdefault(f"{source}.{alias.name}", f"{module}.{alias.asname or alias.name}")
    return public


def _list_functions(
    module: str, tree: ast.Module
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield f"{module}.{node.name}", node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and (
                    method.name == "__init__" or not method.name.startswith("_")
                ):
                    yield f"{module}.{node.name}.{method.name}", method


def _list_effects(
    function: _Function, scope: dict[str, str], *, is_method: bool
) -> Iterator[tuple[str, str]]:
    parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if is_method and parameters:
        parameters = parameters[1:]
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        name = normalise_name(_resolve(call.func, scope))
        for effect in SINKS.get(name, ()):
            parameter = _find_parameter(call, effect, parameters)
            if parameter is not None and effect.kind in _PASSED:
                yield f"{effect.kind} {parameters.index(parameter)} {parameter}", name
            elif effect.kind in _FIXED and effect.kind in {"deny", "review", "implicit"}:
                yield f"{effect.kind} {effect.keyword}", name
            elif effect.kind in _FIXED:
                yield f"? {effect.kind}", name


def _resolve(node: ast.expr, scope: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return "?"
    return ".".join([scope.get(node.id, node.id), *reversed(parts)])


def _find_parameter(call: ast.Call, effect: Effect, parameters: list[str]) -> str | None:
    given = call.args[effect.position] if 0 <= effect.position < len(call.args) else None
    for keyword in call.keywords:
        given = keyword.value if keyword.arg == effect.keyword else given
    if isinstance(given, ast.Call) and len(given.args) == 1:
        given = given.args[0]  # `str(path)`, `Path(path)`
    return given.id if isinstance(given, ast.Name) and given.id in parameters else None


def main(wheels: list[str]) -> None:
    """Print an entry a finding, sorted by name."""
    findings = {one for wheel in wheels for one in list_findings(wheel)}
    for finding in sorted(findings):
        if finding.name not in SINKS:
            print(f"{finding.name:50} {finding.effect:40} # {finding.because}")


if __name__ == "__main__":
    main(sys.argv[1:])
