"""The notebooks of examples/ run from their first cell to their last, as they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from .test_serve import serving

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables, which the kernel inherits, and put back what there was."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def run_notebook(name: str, folder: Path) -> str:
    """Run all cells in a copy of the examples; return what they print and show."""
    copy = folder / "examples"
    shutil.copytree(EXAMPLES, copy)
    notebook = nbformat.read(copy / name, as_version=4)
    # The kernel's own start-up files are those of the user who runs the tests.
    with environment(IPYTHONDIR=str(folder / "ipython"), JUPYTER_PREFER_ENV_PATH="1"):
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(copy)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [each.get("text") or each.get("data", {}).get("text/plain", "") for each in outputs]
    return "\n".join(texts)


def test_verdicts_are_read_in_a_notebook(tmp_path: Path) -> None:
    with serving(tmp_path, "console.port=0") as (_, where):
        addresses = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": where["http"],
            "SPANPROOF_CONSOLE_URL": where["console"],
        }
        with environment(**addresses):
            shown = run_notebook("read_verdicts.ipynb", tmp_path)
    assert "groundedness: The answer says $54.00; the code printed 45.0 (step 2)" in shown
    assert "contradicted '$54.00'" in shown
    assert "Rows(1)" in shown


def test_two_versions_are_compared_in_a_notebook(tmp_path: Path) -> None:
    shown = run_notebook("compare_prompts.ipynb", tmp_path)
    assert "pass@1 before 0.0, after 1.0" in shown
    assert "a-17 failed" in shown
    assert "no difference shown" in shown


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs_and_listed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), f"clear the outputs of {path.name}"
    assert f"]({path.name})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
