"""What an agent left in its work directory, as tests of its case see it.

In: the tests of a case, the files that the agent was given, and those that it left. Out: the same tests over
the files as they are now. Files of the tests alone stay as the tests have them, whatever the agent wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from spanproof.evaluators.casetests.model import CaseTests
from spanproof.evaluators.casetests.patch import compute_patched_files

SOURCE_FOLDERS = (".", "src")
"""Folders of a repository that its modules are imported from, in their order on the path."""

FIND_MODULES = f"import sys\nsys.path[:0] = {[*SOURCE_FOLDERS]!r}\ndel sys\n"
"""The first lines of a program whose modules tests import."""


def build_work_tests(
    tests: CaseTests, files_before: Mapping[str, str], left: Mapping[str, bytes]
) -> CaseTests:
    """Return tests over the files that an agent left.

    Args:
        tests: of its case.
        files_before: the files that it began with.
        left: all that its work directory holds; what is no text is left out.
    """
    hidden = tests.files.keys() - files_before.keys()
    files = {path: text for path, text in tests.files.items() if path in hidden or path in left}
    for path, content in left.items():
        if path not in hidden:
            try:
                files[path] = content.decode("utf-8")
            except UnicodeDecodeError:
                continue
    return tests.with_files(files)


def build_patched_files(
    answer: object, files_before: Mapping[str, str], left: Mapping[str, bytes]
) -> Mapping[str, bytes]:
    """Return the files that an agent left, after the patch in its answer where that has one that applies.

    Args:
        answer: of the agent.
        files_before: the files that it began with; those that are not known to be left count as unchanged.
        left: what its work directory holds, empty where that is not known.
    """
    if not isinstance(answer, str):
        return left
    texts = dict(files_before) if not left else {}
    for path, content in left.items():
        try:
            texts[path] = content.decode("utf-8")
        except UnicodeDecodeError:
            continue
    patched = compute_patched_files(answer, texts)
    if patched is None:
        return left
    binary = {path: content for path, content in left.items() if path not in texts}
    return binary | {path: text.encode("utf-8") for path, text in patched.items()}


def tests_modules(unit: str, files: Iterable[str]) -> bool:
    """Whether tests import a module that lies among files."""
    return not _list_imported(unit).isdisjoint(_list_modules(files))


def _list_imported(unit: str) -> set[str]:
    """Return the top-level names that tests import; none of what does not parse."""
    try:
        nodes = list(ast.walk(ast.parse(unit)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in names}


def _list_modules(files: Iterable[str]) -> set[str]:
    found = set()
    for path in files:
        first, _, rest = path.removeprefix("src/").partition("/")
        if path.endswith(".py"):
            found.add(first if rest else first.removesuffix(".py"))
    return found
