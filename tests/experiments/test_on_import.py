"""What is done to a package as it is imported is done once, before the importing code goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from spanproof.agent_process.on_import import on_import

PACKAGE = "a_package_of_the_tests"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that may be imported."""
    folder = tmp_path / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").write_text("value = 1\n")
    (folder / "part.py").write_text("value = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_it_is_done_to_the_whole_package_once(package: Path) -> None:
    seen: list[int] = []
    on_import(
        PACKAGE, lambda: seen.append(sys.modules[PACKAGE].value + import_module(f"{PACKAGE}.part").value)
    )
    assert PACKAGE not in sys.modules
    (package.parent / "user_of_it.py").write_text(f"from {PACKAGE} import part\nimport {PACKAGE}\n")
    import_module("user_of_it")
    import_module(PACKAGE)
    assert seen == [3]


def test_it_is_done_at_once_where_the_package_is_imported_already(package: Path) -> None:
    import_module(PACKAGE)
    seen: list[int] = []
    on_import(PACKAGE, lambda: seen.append(1))
    assert seen == [1]


def test_two_functions_each_are_called(package: Path) -> None:
    seen: list[str] = []
    on_import(PACKAGE, lambda: seen.append("first"))
    on_import(PACKAGE, lambda: seen.append("second"))
    import_module(PACKAGE)
    assert sorted(seen) == ["first", "second"]


def test_a_package_that_is_not_there_is_still_reported(package: Path) -> None:
    on_import("no_package_at_all", lambda: pytest.fail("it is not there"))
    with pytest.raises(ModuleNotFoundError, match="no_package_at_all"):
        import_module("no_package_at_all")


def test_what_raises_reaches_the_importing_code(package: Path) -> None:
    on_import(PACKAGE, lambda: {}["missing"])
    with pytest.raises(KeyError):
        import_module(PACKAGE)
