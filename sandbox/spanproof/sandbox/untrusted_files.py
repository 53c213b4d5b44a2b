"""Reads files that came with somebody else's change: suites, fixtures, policies and what they name.

A pull request may hold a link to a secret of the machine, a device without an end, or a document that grows
as it is read. So a named file lies beneath the folder of the file that names it, is a regular file and is
read up to a bound; a YAML document is bounded in bytes, depth and expanded nodes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yaml import Node

MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_DEPTH = 50
MAX_NODES = 100_000
MAX_NUMBER_CHARACTERS = 400
"""Longer than any float is written; Python takes seconds to build what 1 MiB of digits and colons is."""


class UnsafeFileError(ValueError):
    """A file that is not read: it lies outside its folder, is not a regular file, or exceeds a bound."""


class MalformedYamlError(ValueError):
    """A document that is not YAML, or that exceeds the bounds of one.

    The message quotes nothing of the document: what was named may be a secret of the machine.

    Attributes:
        reason: what is wrong.
        line: where in the document, from 1; None where it is no one line.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"{reason}, at line {line}")
        self.reason = reason
        self.line = line


def get_path_beneath(folder: Path, name: str) -> Path:
    """Return the path of `name` with its links resolved.

    Raises:
        UnsafeFileError: the path leaves `folder`, has a NUL in it, or too many links.
    """
    if "\0" in name:
        raise UnsafeFileError(f"{name!r} is no path; name a file")
    root = _get_followed_path(folder)
    target = _get_followed_path(root / name)
    if not target.is_relative_to(root) or target == root:
        raise UnsafeFileError(f"{name!r} lies outside {folder}; put the file beneath that folder")
    return target


def is_beneath(folder: Path, file: Path) -> bool:
    """Whether a file lies in this folder when all links are followed; a relative one is the process's."""
    try:
        return _get_followed_path(file).is_relative_to(_get_followed_path(folder))
    except UnsafeFileError:
        return False


def read_beneath(folder: Path, name: str, max_bytes: int) -> bytes:
    """Return the content of a regular file beneath `folder`.

    Links may point to other files beneath the folder. After the links are resolved, each component is opened
    relative to its parent and without following links, so that a link made meanwhile is not followed.

    Raises:
        UnsafeFileError: it lies outside the folder, is not a regular file, or has more than `max_bytes`.
        OSError: it cannot be opened.
    """
    parts = get_path_beneath(folder, name).relative_to(os.path.realpath(folder)).parts
    directory = os.open(os.path.realpath(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            parent = directory
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            directory = os.open(part, flags, dir_fd=parent)
            os.close(parent)
        return _read_regular(parts[-1], directory, name, max_bytes)
    finally:
        os.close(directory)


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return the content of a file that the user named: of any kind, up to a bound.

    Raises:
        UnsafeFileError: it has more than `max_bytes`.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)
    return _get_checked(content, str(path), max_bytes)


def read_regular(path: Path, max_bytes: int) -> bytes:
    """Return the content of a regular file, links followed: a pipe is not waited for, a device not read.

    Raises:
        UnsafeFileError: it is not a regular file, or has more than `max_bytes`.
        OSError: it cannot be opened.
    """
    return _read_regular(str(_get_followed_path(path)), None, str(path), max_bytes)


def load_yaml(content: bytes) -> Any:
    """Return what a YAML document holds, built of plain Python values.

    Raises:
        MalformedYamlError: it is not UTF-8 or not YAML, or exceeds `MAX_DOCUMENT_BYTES`, `MAX_DEPTH` or
            `MAX_NODES`.
    """
    node = load_yaml_nodes(content)
    return None if node is None else build_yaml_value(node)


def load_yaml_nodes(content: bytes) -> Node | None:
    """Return the nodes of a YAML document, with their lines; None where it is empty.

    Raises:
        MalformedYamlError: as `load_yaml`.
    """
    if len(content) > MAX_DOCUMENT_BYTES:
        raise MalformedYamlError(f"{len(content)} bytes, a document may have {MAX_DOCUMENT_BYTES}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise MalformedYamlError(f"not UTF-8 at byte {problem.start}") from problem
    with _convert_yaml_errors():
        node: Node | None = _build_bounded_loader()(text).get_single_node()
        return node


def build_yaml_value(node: Node) -> Any:
    """Return the plain Python values of a document's nodes, which are changed by it.

    Raises:
        MalformedYamlError: a value cannot be read.
    """
    with _convert_yaml_errors():
        return _build_bounded_loader()("").construct_document(node)


@contextmanager
def _convert_yaml_errors() -> Iterator[None]:
    """Raise PyYAML's errors as ours, without the lines of the document that they quote."""
    import yaml

    try:
        yield
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        reason = problem.problem or problem.context or "it cannot be read"
        raise MalformedYamlError(reason, mark.line + 1 if mark else None) from problem
    except yaml.reader.ReaderError as problem:
        raise MalformedYamlError(f"{problem.reason} at position {problem.position}") from problem
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as problem:
        raise MalformedYamlError(" ".join(str(problem).split())[:200]) from problem


def _build_bounded_loader() -> Any:
    """Return a safe loader class that counts: PyYAML is imported where a document is read, not before."""
    import yaml
    from yaml.composer import ComposerError

    class BoundedLoader(yaml.SafeLoader):
        """Counts depth and expanded size while it composes; not libyaml, which refuses surrogate escapes."""

        def __init__(self, text: str) -> None:
            super().__init__(text)
            self._depth = 0
            self._nodes = 0
            self._sizes: dict[int, int] = {}

        def compose_node(self, parent: Node | None, index: int) -> Node | None:
            """Compose a node; an alias counts as often as what it repeats."""
            is_alias = self.check_event(yaml.AliasEvent)
            before = self._nodes
            self._nodes += 1
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise ComposerError(problem=f"nested deeper than {MAX_DEPTH}")
            node: Node | None = super().compose_node(parent, index)
            self._depth -= 1
            if _is_long_number(node):
                raise ComposerError(problem=f"a number of more than {MAX_NUMBER_CHARACTERS} characters")
            if is_alias:
                self._nodes += self._sizes.get(id(node), MAX_NODES)
            else:
                self._sizes[id(node)] = self._nodes - before
            if self._nodes > MAX_NODES:
                raise ComposerError(problem=f"more than {MAX_NODES} values, repeats counted")
            return node

    return BoundedLoader


def _is_long_number(node: Node | None) -> bool:
    if node is None or node.tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
        return False
    return len(node.value) > MAX_NUMBER_CHARACTERS


def _get_followed_path(path: Path) -> Path:
    """Return a path with its links resolved."""
    try:
        return Path(os.path.realpath(path))
    except RecursionError:
        raise UnsafeFileError(f"{str(path)!r} is a chain of too many links; name a file") from None


def _read_regular(name: str, directory: int | None, shown: str, max_bytes: int) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=directory), "rb") as file:  # noqa: PTH123 - a descriptor
        kind = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), shown)
        if not stat.S_ISREG(kind):
            raise UnsafeFileError(f"{shown!r} is not a regular file; name one")
        return _get_checked(file.read(max_bytes + 1), repr(shown), max_bytes)


def _get_checked(content: bytes, shown: str, max_bytes: int) -> bytes:
    if len(content) > max_bytes:
        raise UnsafeFileError(f"{shown} has more than {max_bytes} bytes; name a smaller file")
    return content
