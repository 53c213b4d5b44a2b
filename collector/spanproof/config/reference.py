"""The reference of the configuration, made from the model: docs/configuration.md is this text.

Comes in: the model. Goes out: Markdown with every dotted key, its type, default and meaning.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

_INTRODUCTION = """\
# Configuration

For those who configure the server. The page lists every key with its type, default and meaning;
`spanproof config reference` prints it.

Set a key in a YAML file (`spanproof serve --config FILE`, or `SPANPROOF_CONFIG`), by an environment variable,
or by a flag. A flag overrides a variable, a variable overrides the file, and the file overrides the default:

```yaml
assembly:
  quiet_s: 2
forward:
  - endpoint: http://localhost:6006
```

```sh
SPANPROOF_ASSEMBLY__QUIET_S=2 SPANPROOF_FORWARD__0__ENDPOINT=http://localhost:6006 spanproof serve
spanproof serve --set assembly.quiet_s=2 --set forward.0.endpoint=http://localhost:6006
```

In the name of a variable, write `__` for each dot. Write lists and mappings as in YAML (`[a, b]`, `{a: 1}`);
a number addresses one item of a list; `null` removes a value. An unknown key is an error that names its
location and the nearest known key. Variables with the same prefix that resemble no key belong to the
instrumented process and are ignored. Relative paths start at the working directory.
`spanproof config check FILE` checks a file, `spanproof config show` prints the effective configuration.
"""


def build_reference(model: type[BaseModel]) -> str:
    """Return the whole page."""
    sections = [_format_table("", model, _select_fields(model))]
    sections += [
        _format_table(key, nested, _select_fields(nested)) for key, nested in _iter_sections(model, "")
    ]
    return _INTRODUCTION + "".join(sections)


def _format_table(key: str, model: type[BaseModel], rows: list[tuple[str, FieldInfo]]) -> str:
    if not rows:
        return ""
    title = f"`{key}`" if key else "Top level"
    if "kind" in model.model_fields and get_origin(model.model_fields["kind"].annotation) is Literal:
        title += f" with `kind: {get_args(model.model_fields['kind'].annotation)[0]}`"
    about = f"{(model.__doc__ or '').strip()}\n\n" if key else ""
    lines = [f"\n## {title}\n\n{about}| key | type | default | meaning |", "|---|---|---|---|"]
    for name, info in rows:
        full = f"{key}.{name}" if key else name
        cells = (f"`{full}`", _format_type(info), _format_default(info), info.description or "")
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _select_fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    return [(name, info) for name, info in model.model_fields.items() if not _is_section(info.annotation)]


def _iter_sections(model: type[BaseModel], under: str) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, info in model.model_fields.items():
        if _is_section(info.annotation):
            assert isinstance(info.annotation, type)
            yield f"{under}{name}", info.annotation
            yield from _iter_sections(info.annotation, f"{under}{name}.")
        elif get_origin(info.annotation) in {Union, types.UnionType}:
            for item in _iter_members(info.annotation):
                yield f"{under}{name}", item
                yield from _iter_sections(item, f"{under}{name}.")
        elif get_origin(info.annotation) is tuple:
            for item in _iter_members(get_args(info.annotation)[0]):
                yield f"{under}{name}.<n>", item
                yield from _iter_sections(item, f"{under}{name}.<n>.")


def _iter_members(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the sections that an item of a list may be."""
    if get_origin(annotation) is Annotated:
        yield from _iter_members(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, types.UnionType}:
        for member in get_args(annotation):
            yield from _iter_members(member)
    elif _is_section(annotation):
        yield annotation


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _format_type(info: FieldInfo) -> str:
    bounds = [_format_bound(constraint) for constraint in info.metadata]
    shown = ", ".join(filter(None, bounds))
    return _format_annotation(info.annotation) + (f" ({shown})" if shown else "")


def _format_bound(constraint: Any) -> str:
    for attribute, sign in (("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤")):
        if hasattr(constraint, attribute):
            return f"{sign} {getattr(constraint, attribute)}"
    return ""


_TYPE_NAMES: Final[Mapping[Any, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    Path: "path",
    type(None): "null",
    JsonValue: "any value",
}


def _format_annotation(annotation: Any) -> str:
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is None:
        return _format_plain_type(annotation)
    if origin is Annotated:
        if any(_iter_members(annotation)):
            return "section"
        return _format_annotation(arguments[0])
    if origin in {Union, types.UnionType}:
        return " or ".join(map(_format_annotation, arguments))
    if origin is Literal:
        return _format_choice(arguments)
    if origin is tuple:
        return f"list of {_format_annotation(arguments[0])}"
    return "mapping"


def _format_plain_type(annotation: Any) -> str:
    if annotation in _TYPE_NAMES:
        return _TYPE_NAMES[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _format_choice(member.value for member in annotation)
    return "section" if _is_section(annotation) else "secret text"


def _format_choice(values: Iterable[object]) -> str:
    return "one of " + ", ".join(f"`{value}`" for value in values)


def _format_default(info: FieldInfo) -> str:
    if info.default_factory is not None:
        return "empty"
    if info.default is PydanticUndefined:
        return "required"
    if info.default == ():
        return "empty"
    return f"`{json.dumps(to_jsonable_python(info.default))}`"
