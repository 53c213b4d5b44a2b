"""The attributes' documentation is made of their definitions, and every definition says something."""

import ast
import json
import re
import runpy
from pathlib import Path

import pytest

from spanproof import semconv
from spanproof.semconv import attributes

_ROOT = Path(__file__).parents[2]
_PAGE = runpy.run_path(str(_ROOT / "deploy" / "docs-site" / "references" / "conventions.py"))["render"]()
_NAMES = {each.name for each in attributes()}


def test_the_documentation_is_what_the_definitions_print():
    page = (_ROOT / "docs" / "semconv.md").read_text()
    assert page == _PAGE, "run: make reference"


def test_the_page_names_every_attribute_once():
    for each in attributes():
        assert _PAGE.count(f"\n| `{each.name}` |") == 1, each.name


@pytest.mark.parametrize("attribute", attributes(), ids=lambda each: each.name)
def test_an_example_has_the_type_that_is_named(attribute):
    assert attribute.brief
    parsed = {"int": int, "double": float, "boolean": bool}.get(attribute.type)
    if parsed is not None:
        assert type(json.loads(attribute.example)) is parsed
    if attribute.brief.startswith("JSON"):
        json.loads(attribute.example)


def test_a_name_is_written_nowhere_but_in_its_definition():
    names = {each.name for each in attributes() if each.name != "error.type"}
    for path in (_ROOT / "instrumentors" / "spanproof" / "instrumentors").rglob("*.py"):
        literals = {
            node.value for node in ast.walk(ast.parse(path.read_text())) if type(node) is ast.Constant
        }
        assert not {each for each in literals if isinstance(each, str)} & names, path


def test_every_attribute_is_written_or_read_somewhere():
    sources = [
        path.read_text()
        for folder in ("instrumentors", "sandbox", "evaluators", "collector")
        for path in (_ROOT / folder).rglob("*.py")
        if "semconv" not in path.parts
    ]
    used = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", "\n".join(sources)))
    for module in (semconv.genai, semconv.openinference, semconv.spanproof):
        for constant, name in vars(module).items():
            if constant.isupper() and name in _NAMES:
                assert constant in used, f"{name} is documented, and nothing writes or reads it"


def test_every_constant_is_documented_and_every_attribute_has_one():
    written = {
        name
        for module in (semconv.genai, semconv.openinference, semconv.spanproof)
        for constant, name in vars(module).items()
        if constant.isupper() and "." in name and not constant.endswith(("_EVENT", "_PREFIX"))
    }
    assert written == _NAMES, f"mend semconv/attributes.txt: {written ^ _NAMES}"


def test_the_constants_are_the_names():
    assert semconv.spanproof.CODE_SOURCE == "spanproof.code.source"
    assert semconv.genai.OPERATION_NAME == "gen_ai.operation.name"
