"""The distribution as users get it: wheel, plain and editable installs, each in an environment of its own."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "experiments", "api", "failures", "benchmarks", "client",
    "semconv", "instrumentors", "sandbox", "trace", "evaluators", "gate", "suites", "collector", "store",
    "agent_process", "alerts", "cli", "config", "reading", "testing",
}  # fmt: skip
USE = (
    "from spanproof.instrumentors import register; from spanproof.trace import Span; import sys;"
    "heavy = {'chdb', 'pydantic', 'grpc', 'starlette', 'smolagents', 'langchain_core'} & set(sys.modules);"
    "assert not heavy, heavy"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return next(out.glob("spanproof-*.whl"))


@pytest.mark.install
def test_the_wheel_is_a_namespace_package_with_typed_parts(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "spanproof/__init__.py" not in names
    assert {name.split("/")[1] for name in names if name.startswith("spanproof/")} == PACKAGES
    assert {f"spanproof/{package}/py.typed" for package in PACKAGES} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


@pytest.mark.install
def test_the_wheel_says_where_its_project_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    home = "https://github.com/spanproof/spanproof"
    for label, url in {
        "Repository": home, "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md", "Issues": f"{home}/issues",
    }.items():  # fmt: skip
        assert f"Project-URL: {label}, {url}\n" in metadata, f"add {label} to project.urls"


def test_all_installs_what_the_demo_needs() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (everything,) = [each for each in extras["all"] if each.startswith("spanproof[")]
    assert "demo" in re.split(r"[\[\],]", everything)


def test_messages_of_the_command_line_name_no_file_that_a_wheel_does_not_hold() -> None:
    named = []
    for path in (ROOT / "collector/spanproof/cli").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
        docstrings = {id(statement.value) for statement in statements}
        named += [
            f"{path.name}: {node.value[:60]}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
            if re.search(r"(?<!/)\b(docs|deploy|tests)/\w", node.value)
        ]
    assert not named, f"give an address instead: {named}"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment, without packages."""
    folder = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


def pip(python: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *arguments], check=True)


@pytest.mark.install
@pytest.mark.parametrize("how", ["wheel", "plain", "editable"])
def test_an_install_answers_and_an_agent_process_stays_light(
    how: str, wheel: Path, environment: Path
) -> None:
    source = {"wheel": [str(wheel)], "plain": [str(ROOT)], "editable": ["-e", str(ROOT)]}[how]
    pip(environment, "install", "-c", str(ROOT / "constraints.txt"), *source)
    try:
        command = [str(environment.parent / "spanproof"), "--version"]
        reported = subprocess.run(command, check=True, capture_output=True, text=True)
        assert reported.stdout.strip() == f"spanproof {version('spanproof')}"
        subprocess.run([str(environment), "-c", USE], check=True)
    finally:
        pip(environment, "uninstall", "--yes", "spanproof")
