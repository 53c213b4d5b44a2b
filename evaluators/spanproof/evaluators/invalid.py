"""What is wrong with a value in a YAML file, in the words of such a file.

Takes an error of pydantic, whose words are those of Python; gives what is expected there and what is found.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from pydantic_core import ErrorDetails

_WANTED: Mapping[str, str] = {
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a section of keys",
    "path_type": "a path",
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "invalid-json-value": "what JSON can say",
}

# What YAML can make.
_KINDS: Mapping[type, str] = {
    dict: "a mapping",
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
    set: "a set",
    bytes: "bytes",
    datetime.date: "a date",
    datetime.datetime: "a time",
}


def describe_error(error: ErrorDetails) -> str:
    """Return `expected a whole number, got 'many'`; a value that may be a secret is not shown."""
    if error["type"] == "union_tag_invalid":
        kinds = error["ctx"]["expected_tags"].replace("'", "")
        return f"there is no kind {error['ctx']['tag']!r}; known are {kinds}"
    wanted = _WANTED.get(error["type"])
    if wanted:
        message = f"expected {wanted}"
    else:
        message = error["msg"].removeprefix("Value error, ")
    value = error["input"]
    # Where text is wanted the value may be a secret; where anything else is, it is not.
    if error["type"] not in {"missing", "string_type"} and isinstance(value, str | int | float | bool):
        return f"{message}, got {value!r}"
    if wanted:
        return f"{message}, got {_KINDS.get(type(value), type(value).__name__)}"
    return message
