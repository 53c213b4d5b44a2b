"""No file of the product imports itself through others, and the map in docs/architecture.md is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import imports


@pytest.fixture(scope="module")
def graph() -> imports.Graph:
    """The product's imports: every file is parsed for them."""
    return imports.read_imports(imports.find_modules())


def test_no_circle_of_files(graph: imports.Graph) -> None:
    found = imports.find_circles(graph)
    assert not found, "files that import each other:\n\n" + "\n\n".join(
        imports.describe_circle(circle, graph) for circle in found
    )


def test_a_circle_is_found_through_functions_types_and_relative_imports(tmp_path: Path) -> None:
    room = tmp_path / "sandbox" / "spanproof" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "a.py").write_text("def f():\n    from spanproof.room import b\n")
    (room / "b.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .c import X\n")
    (room / "c.py").write_text("import spanproof.room.a\n")
    (room / "d.py").write_text("from .c import X\n")
    graph = imports.read_imports(imports.find_modules(tmp_path))
    (circle,) = imports.find_circles(graph)
    assert circle == ["spanproof.room.a", "spanproof.room.b", "spanproof.room.c"]
    assert "spanproof.room.b imports spanproof.room.c" in imports.describe_circle(circle, graph)


def test_the_map_of_packages_is_what_the_files_import(graph: imports.Graph) -> None:
    page = imports.PAGE.read_text(encoding="utf-8")
    written = imports.insert_map(page, imports.render_map(imports.find_modules(), graph))
    assert page == written, "the map in docs/architecture.md is out of date: run `make map`"
