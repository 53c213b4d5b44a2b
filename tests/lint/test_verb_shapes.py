"""The first verb of a name states what comes back, and a name that states something else is found."""

from __future__ import annotations

import pytest

from . import verb_shapes


@pytest.mark.parametrize(
    "source",
    [
        "def find_row(rows) -> Row | None: ...",
        "def parse_rows(text) -> list[Row]: ...",
        "def iter_rows(text) -> Iterator[Row]: ...",
        "async def fetch_rows(url) -> list[Row]: ...",
        "def list_rows(text) -> tuple[Row, ...]: ...",
        "def _is_open() -> bool: ...",
        "def covers_all(names) -> bool: ...",
        "def check_rows(rows) -> None: ...",
        "def to_json(value): ...",
        "def without_time(text) -> str: ...",
        "class Names(ast.NodeVisitor):\n    def visit_Name(self, node) -> None: ...",
        "class Judge(Evaluator):\n    def judge(self, evidence) -> list[Judgement]: ...",
        "class Parser:\n    def parse(self) -> Row: ...",
        "class Store:\n    @property\n    def rows(self) -> list[Row]: ...",
        "@app.get('/rows')\ndef rows() -> list[Row]: ...",
        "def build_rows() -> list[Row]:\n    def rows(): ...",
        "class Row:\n    def __len__(self) -> int: ...",
        "def format_row(row) -> Text: ...",
        "class Row:\n    @field_validator('name')\n    def _check_name(cls, name) -> str: ...",
        "class Exporter:\n    def export(self, spans) -> SpanExportResult: ...",
    ],
)
def test_a_name_that_states_what_comes_back_is_left_alone(source: str) -> None:
    assert list(verb_shapes.iter_offenders(source)) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def find_row(rows) -> Row: ...", "returns a value; 'find' returns something or None"),
        ("def get_row(rows) -> Row | None: ...", "'get' returns"),
        ("def list_rows(text) -> Iterator[Row]: ...", "returns an iterator; 'list' returns"),
        ("def check_rows(rows) -> bool: ...", "returns a bool; 'check' returns None"),
        ("def is_open() -> int: ...", "reads as a predicate and returns an int"),
        ("def covers_all(names): ...", "reads as a predicate and returns None"),
        ("def mine_rows(text) -> list[Row]: ...", "'mine' is no verb"),
        ("class Store:\n    def rows(self) -> list[Row]: ...", "reads as a predicate"),
        ("def parse(text) -> Row: ...", "names no object after its verb"),
        ("def emit(spans) -> Spans: ...", "'emit' is no verb"),
    ],
)
def test_a_name_that_states_something_else_is_found(source: str, problem: str) -> None:
    (offender,) = verb_shapes.iter_offenders(source)
    assert problem in offender.problem


def test_of_documented_methods_only_the_private_ones_are_read() -> None:
    methods = "class Store:\n    def rows(self) -> Row: ...\n    def _rows(self) -> Row: ..."
    source = f"{methods}\ndef rows() -> Row: ..."
    found = verb_shapes.iter_offenders(source, is_documented=True)
    assert [(each.line, each.name) for each in found] == [(3, "_rows"), (4, "rows")]


def test_the_verbs_are_few_and_each_package_of_the_list_is_there() -> None:
    assert len(verb_shapes.VERBS) <= 35
    listed = [*verb_shapes.PACKAGES, *verb_shapes.EXEMPT, *verb_shapes.DOCUMENTED]
    assert all(verb_shapes.function_names.product_files([name]) for name in listed)
