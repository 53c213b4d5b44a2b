"""Data and files that are trusted too far (CWE-22, 377, 502, 611, 732).

In: a call. Out: rule and message.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.weak_python.names import WORDS, Names, argument, is_false, is_true, keyword

_LOADERS: Final = words_of(WORDS, "loaders")
_SAFE_YAML: Final = words_of(WORDS, "safe-yaml")
_READERS: Final = words_of(WORDS, "readers")
_MODE_POSITION: Final = {"os.chmod": 1, "os.mkdir": 1, "os.makedirs": 1, "os.fchmod": 1, "os.open": 2}


def judge_data(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Loading, unpacking, opening and permissions."""
    name = names.dotted(call.func)
    if name in _LOADERS or _unsafe_load(names, name, call):
        yield "weakness.deserialisation", f"{name} can run code of what it loads"
    if name.endswith(".extractall") and keyword(call, "filter") is None and _is_tar(names, call):
        yield "weakness.archive-extraction", "an archive may write outside the directory"
    if name in _READERS and call.args and not names.contained:
        path = names.behind(call.args[0])
        if not isinstance(path, ast.Constant) and names.from_input(path):
            yield "weakness.path-from-input", f"{name} takes a path from input, not kept inside a directory"
    if name == "tempfile.mktemp":
        yield "weakness.temporary-file", "the name may be taken before the file is made"
    yield from _judge_xml(names, name, call)
    yield from _judge_mode(name, call)


def _unsafe_load(names: Names, name: str, call: ast.Call) -> bool:
    if name in {"yaml.load", "yaml.load_all"}:
        loader = argument(call, 1, "Loader")
        return loader is None or names.dotted(loader) not in _SAFE_YAML
    if name == "torch.load":
        return is_false(keyword(call, "weights_only"))
    return name == "numpy.load" and is_true(keyword(call, "allow_pickle"))


def _is_tar(names: Names, call: ast.Call) -> bool:
    """Zip files lose `..` when they are unpacked; tar files keep it."""
    owner = names.behind(call.func.value) if isinstance(call.func, ast.Attribute) else call.func
    made = names.dotted(owner.func) if isinstance(owner, ast.Call) else ""
    return made.startswith("tarfile.") or (not made and "tarfile" in names.imported.values())


def _judge_xml(names: Names, name: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    if name.endswith("XMLParser") and (
        is_true(keyword(call, "resolve_entities"))
        or is_true(keyword(call, "load_dtd"))
        or is_false(keyword(call, "no_network"))
    ):
        yield "weakness.entities", f"{name} resolves entities from outside"
    if name.endswith(".setFeature") and len(call.args) == 2:
        feature = names.dotted(call.args[0])
        on = isinstance(call.args[1], ast.Constant) and bool(call.args[1].value)
        if on and feature.endswith(("feature_external_ges", "feature_external_pes")):
            yield "weakness.entities", "the parser resolves entities from outside"


def _judge_mode(name: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    position = 0 if name.endswith(".chmod") and name != "os.chmod" else _MODE_POSITION.get(name)
    mode = argument(call, position, "mode") if position is not None else None
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
