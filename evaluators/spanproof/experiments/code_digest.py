"""A digest of an agent's own code: its module or program, and what that imports and reads of the project.

The code is read, and never imported. Installed packages are no part of it: they are pinned by their versions.
A file counts as read where the code names it in a string, relative to the code's folder or to the working
directory: `Path(__file__).parent / "prompt.txt"`.
"""

from __future__ import annotations

import ast
import shlex
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

_PACKAGE_FOLDERS: Final = frozenset(("site-packages", "dist-packages"))
_INTERPRETER_FOLDERS: Final = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "scripts")),
    "/usr",
)

# It runs the agent, and is pinned by its version, also where it is installed from a checkout.
_OWN_PACKAGE: Final = "spanproof"

# Larger files are data; a digest of them would take longer than a trial.
_MAX_FILE_BYTES: Final = 16 * 1024 * 1024
_MAX_NAME_CHARACTERS: Final = 200


def list_module_code(target: str, project: Path) -> set[Path]:
    """Return the files of the code of an agent `package.module:name`; none of an installed one.

    Args:
        target: the agent.
        project: the working directory, from which the module is imported.
    """
    module = target.partition(":")[0]
    return _list_files(_list_module_files(module, _list_roots(project)), project)


def list_program_code(command: str, project: Path) -> set[Path]:
    """Return the files that a command line names, and what Python ones of them import."""
    words = shlex.split(command)
    files = [path for word in words if (path := project / word).is_file() and not _is_installed(path)]
    if "-m" in words[:-1]:
        files += _list_module_files(words[words.index("-m") + 1], _list_roots(project))
    return _list_files(files, project)


def compute_code_digest(files: Iterable[Path]) -> str:
    """Return the digest of these files' names and contents."""
    state = blake2b(digest_size=16)
    for path in sorted(files):
        content = path.read_bytes()
        state.update(f"{path} {len(content)}\n".encode())
        state.update(content)
    return state.hexdigest()


def remove_stale_bytecode(files: Iterable[Path]) -> None:
    """Remove compiled modules that are older than their source, so that an agent runs what was digested.

    Python compares the source's size and whole seconds alone: of a module that was changed within a second of
    its last run, by as many characters, it runs the old bytecode.
    """
    for path in files:
        if path.suffix != ".py":
            continue
        bytecode = Path(cache_from_source(path))
        with suppress(OSError):
            if bytecode.stat().st_mtime_ns < path.stat().st_mtime_ns:
                bytecode.unlink()


def _list_roots(project: Path) -> list[str]:
    return [str(project), *(folder for folder in sys.path if folder)]


def list_module_folders() -> list[str]:
    """Return where an agent's process looks for modules: the working directory, and what is added here.

    A notebook that adds a folder to `sys.path` finds its agent there. The folder of the `spanproof` command,
    which Python puts first, is not the agent's.
    """
    scripts = sysconfig.get_path("scripts")
    return [str(Path.cwd()), *(folder for folder in sys.path if folder and folder != scripts)]


def _list_files(start: Iterable[Path], project: Path) -> set[Path]:
    """Return these files with all that they import and read of the project."""
    # Modules may have been written since the digest before.
    _find_spec.cache_clear()
    found: set[Path] = set()
    left = [path.resolve() for path in start]
    while left:
        path = left.pop()
        if path in found or path.stat().st_size > _MAX_FILE_BYTES:
            continue
        found.add(path)
        if path.suffix != ".py":
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        roots = [*_list_roots(project), str(path.parent)]
        for module in _iter_imports(tree):
            left += (file.resolve() for file in _list_module_files(module, roots))
        for package, names in _iter_relative_imports(tree, path):
            left += (file.resolve() for file in _iter_relative_files(package, names))
        left += (file.resolve() for file in _iter_named_files(tree, (path.parent, project)))
    return found


def _iter_imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _iter_relative_imports(tree: ast.AST, path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folder that each relative import begins in, with the dotted names that it needs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[min(node.level, len(path.parents)) - 1]
            prefix = f"{node.module}." if node.module else ""
            yield folder, [f"{prefix}{alias.name}" for alias in node.names]


def _iter_relative_files(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    if (folder / "__init__.py").is_file():
        yield folder / "__init__.py"
    for name in names:
        yield from _iter_package_files(folder, name.split("."))


def _list_module_files(module: str, roots: list[str]) -> list[Path]:
    """Return the files that importing a module runs, packages first; none of what is installed."""
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names or top == _OWN_PACKAGE:
        return []
    spec = _find_spec(top, tuple(roots))
    if spec is None:
        return []
    origin = Path(spec.origin) if spec.origin else None
    folders = [Path(location) for location in spec.submodule_search_locations or ()]
    if any(_is_installed(folder) for folder in (origin, *folders) if folder is not None):
        return []
    found = [origin] if origin is not None and origin.suffix == ".py" else []
    for folder in folders:
        found += _iter_package_files(folder, rest)
    return found


@lru_cache(maxsize=4096)
def _find_spec(package: str, roots: tuple[str, ...]) -> ModuleSpec | None:
    """Return where a package is; None where there is none."""
    try:
        return PathFinder.find_spec(package, roots)
    except (ImportError, ValueError):
        return None


def _iter_package_files(folder: Path, names: list[str]) -> Iterator[Path]:
    """Yield the files of nested modules; a last name that is no module is an attribute."""
    for name in names:
        if (folder / f"{name}.py").is_file():
            yield folder / f"{name}.py"
        folder /= name
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"


def _is_file_name(text: str) -> bool:
    """Whether a text may name a file: short, on one line, with a dot or a slash."""
    has_name_length = 0 < len(text) <= _MAX_NAME_CHARACTERS
    return has_name_length and not {".", "/"}.isdisjoint(text) and {"\n", "\0"}.isdisjoint(text)


def _iter_named_files(tree: ast.AST, folders: Iterable[Path]) -> Iterator[Path]:
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    names = {text for text in texts if isinstance(text, str) and _is_file_name(text)}
    for folder in folders:
        for name in names:
            path = folder / name
            if path.is_file() and not _is_installed(path):
                yield path


def _is_installed(path: Path) -> bool:
    """Whether a file is of the interpreter or of an installed package."""
    # By name: an environment may see the packages of another one.
    if _PACKAGE_FOLDERS.intersection(path.parts):
        return True
    return any(path.is_relative_to(folder) for folder in _INTERPRETER_FOLDERS)
