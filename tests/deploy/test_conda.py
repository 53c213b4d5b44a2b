"""The recipe of the conda package has what pyproject.toml says: versions, requirements, entry points."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# Extras whose packages an agent's process has: the recipe constrains what it does not install.
OPTIONAL = ("client", "smolagents", "langchain", "openai-agents")


def read_recipe() -> dict[str, Any]:
    """Return the recipe with the values of its context put in."""
    text = TEXT
    for name, value in yaml.safe_load(TEXT)["context"].items():
        text = text.replace("${{ " + name + " }}", value)
    assert "${{" not in text
    return yaml.safe_load(text)


def to_conda(requirement: str) -> str:
    parsed = Requirement(requirement)
    return f"{parsed.name} {parsed.specifier}"


def test_the_recipe_is_of_this_version_and_these_requirements() -> None:
    recipe, project = read_recipe(), PROJECT["project"]
    assert recipe["package"] == {"name": project["name"], "version": project["version"]}
    run, *others = recipe["requirements"]["run"]
    assert run == f"python {project['requires-python']}"
    assert others == [to_conda(each) for each in project["dependencies"]]
    extras = project["optional-dependencies"]
    optional = [to_conda(each) for name in OPTIONAL for each in extras[name]]
    assert recipe["requirements"]["run_constraints"] == optional
    assert set(recipe["requirements"]["host"]) >= {"pip", *map(to_conda, PROJECT["build-system"]["requires"])}


def test_the_recipe_has_the_entry_points_the_licence_and_the_addresses() -> None:
    recipe, project = read_recipe(), PROJECT["project"]
    points = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == points
    about, urls = recipe["about"], project["urls"]
    assert (about["license"], about["license_file"]) == (project["license"], *project["license-files"])
    assert about["summary"] == project["description"]
    assert (about["repository"], about["documentation"]) == (urls["Repository"], urls["Documentation"])
    assert (ROOT / "deploy" / "conda" / recipe["source"]["path"]).resolve() == ROOT


def test_the_modules_that_the_recipe_imports_are_there() -> None:
    names = [name for test in read_recipe()["tests"] for name in test["python"]["imports"]]
    folders = [ROOT / folder for folder in ("instrumentors", "sandbox", "evaluators", "collector")]
    assert [
        name for name in names if not any((folder / name.replace(".", "/")).is_dir() for folder in folders)
    ] == []
