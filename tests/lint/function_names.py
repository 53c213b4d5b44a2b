"""Find functions whose names, or whose docstrings' first lines, do not say what they do.

`python tests/lint/function_names.py [PATH...]` prints each as `file:line: name` and exits with 1 where there
is any. A name begins with a verb of `verbs.txt` ("parse_rows"), reads as a sentence where the function
returns a bool ("is_open", "covers_all"), or begins with a word of the language's own idioms ("to_json",
"on_start"). A docstring begins with such a verb too, with "Whether", or with "See" where another place says
it.

Not read: names of methods without an underscore and of what a package exports, which are interfaces;
properties, validators, fixtures, context managers and nested functions; methods that a library calls;
commands, routes and the tools of the demo's agents, whose names and texts others read.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERBS = Path(__file__).with_name("verbs.txt")
PACKAGES = ("collector", "evaluators", "instrumentors", "sandbox")
_IDIOMS = {"as", "from", "on", "to", "with", "without"}
_STATES = {"are", "can", "did", "does", "had", "has", "is", "may", "must", "needs", "should", "was", "were"}
_DECORATORS = {
    "asynccontextmanager",
    "cached_property",
    "contextmanager",
    "field_validator",
    "fixture",
    "model_validator",
    "overload",
    "override",
    "property",
    "setter",
}
# Methods that `importlib`, `pickle` and OpenTelemetry call by these names.
_METHODS_OF_LIBRARIES = {"create_module", "exec_module", "export", "find_class", "find_spec"}
_TOOLS_OF_AGENTS = "collector/spanproof/cli/demo/agents/"
_FIRST_WORD = re.compile("[A-Za-z]+")
_ROUTES = {
    "api_route",
    "command",
    "delete",
    "exception_handler",
    "get",
    "group",
    "patch",
    "post",
    "put",
    "websocket",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Words:
    """What `verbs.txt` says; its head documents the sections."""

    verbs: frozenset[str]
    with_object: frozenset[str]


def read_words(path: Path = VERBS) -> Words:
    """Return the words of a file, by its sections."""
    sections: dict[str, set[str]] = {}
    found: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            found = sections.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            found.update(line.split())
    return Words(*(frozenset(sections[name]) for name in ("verbs", "verbs with an object")))


def find_unclear(source: str, words: Words, exported: frozenset[str] = frozenset()) -> Iterator[Function]:
    """Yield the functions of a module, and the private methods of its classes, that are named by no verb."""
    for function, in_class in iter_functions(ast.parse(source)):
        is_interface = not function.name.startswith("_") and (in_class or function.name in exported)
        if not is_interface and not is_named_by_others(function) and not _says_what_it_does(function, words):
            yield function


def find_unclear_docstrings(source: str, words: Words) -> Iterator[Function]:
    """Yield the functions of a module, and the methods of its classes, that say first what they are."""
    known = words.verbs | words.with_object | {"see", "whether"}
    for function, _in_class in iter_functions(ast.parse(source)):
        first = _FIRST_WORD.match(ast.get_docstring(function) or "See")
        if (first is None or first[0].lower() not in known) and not is_named_by_others(function):
            yield function


def exported_names(paths: Iterable[str]) -> frozenset[str]:
    """Return what these files export."""
    found: set[str] = set()
    for path in paths:
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                found.update(ast.literal_eval(node.value))
    return frozenset(found)


def iter_functions(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[Function, bool]]:
    """Yield the functions of a module and the methods of its classes; whether each is a method."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node, isinstance(tree, ast.ClassDef)
        elif isinstance(node, ast.ClassDef):
            yield from iter_functions(node)


def is_named_by_others(function: Function) -> bool:
    """Whether a language, a library or a framework gives the function its name, or it is no verb at all."""
    name = function.name
    if name in ("main", "_repr_html_") or name.startswith("pytest_"):
        return True
    if name in _METHODS_OF_LIBRARIES or (name.startswith("__") and name.endswith("__")):
        return True
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if last in _DECORATORS or (isinstance(called, ast.Attribute) and last in _ROUTES):
            return True
    return False


def _says_what_it_does(function: Function, words: Words) -> bool:
    first, *rest = function.name.strip("_").split("_")
    if first in words.verbs or first in _IDIOMS or (first in words.with_object and rest):
        return True
    return _returns_bool(function) and (
        first in _STATES or _base_of(first) & (words.verbs | words.with_object) != set()
    )


def _base_of(word: str) -> set[str]:
    """Return what a third person may be of: "matches" of "match", "carries" of "carry"."""
    found = {word[:-1]} if word.endswith("s") else set()
    if word.endswith("es"):
        found.add(word[:-2])
    if word.endswith("ies"):
        found.add(f"{word[:-3]}y")
    return found


def _returns_bool(function: Function) -> bool:
    returns = ast.unparse(function.returns) if function.returns is not None else ""
    return "bool" in returns or returns.startswith(("TypeGuard", "TypeIs"))


def product_files(paths: Iterable[str] = ()) -> list[str]:
    """Return the Python files of the product below these paths, or all of them, relative to the root."""
    below = [*paths] or PACKAGES
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *below],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = [name for name in listed.split("\0") if name.endswith(".py") and (ROOT / name).is_file()]
    return sorted(name for name in found if not name.startswith(_TOOLS_OF_AGENTS))


def main() -> int:
    """Print what is found."""
    words, exported = read_words(), exported_names(product_files())
    unclear = []
    for name in product_files(sys.argv[1:]):
        source = (ROOT / name).read_text(encoding="utf-8")
        unclear += [f"{name}:{each.lineno}: {each.name}" for each in find_unclear(source, words, exported)]
        unclear += [
            f"{name}:{each.lineno}: docstring of {each.name}"
            for each in find_unclear_docstrings(source, words)
        ]
    if unclear:
        print(*unclear, "tests/lint/verbs.txt lists the verbs that begin a name or a docstring", sep="\n")
    return 1 if unclear else 0


if __name__ == "__main__":
    sys.exit(main())
