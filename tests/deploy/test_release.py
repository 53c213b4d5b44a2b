"""The checklist of a release, on a clone of this repository."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parents[2]
VERSION = "0.1.0"


@pytest.fixture(scope="module")
def checks() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "deploy" / "release" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def make_ready(root: Path) -> None:
    """Commit what a release needs beside the code."""
    for name in (
        "pyproject.toml",
        "typescript/package.json",
        "deploy/helm/spanproof/Chart.yaml",
        "deploy/conda/recipe.yaml",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = changelog.replace("## [Unreleased]", f"## [{VERSION}] - 2026-12-01")
    (root / "CHANGELOG.md").write_text(released, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message=Release")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that is ready to be released, but for the code."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "README.md").write_text("as it was")
    make_ready(tmp_path)
    return tmp_path


@pytest.mark.install
def test_a_commit_that_is_ready_passes_every_check(checks: ModuleType, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(ROOT, "clone", "--quiet", "--depth=1", f"file://{ROOT}", str(clone))
    make_ready(clone)
    release = checks.Release(VERSION, clone)
    for _, check in checks.CHECKS:
        check(release)


def test_a_package_with_another_version_is_named(checks: ModuleType, repository: Path) -> None:
    with pytest.raises(checks.NotReady, match=r"set 0\.2\.0 everywhere: pyproject\.toml has 0\.1\.0"):
        checks.check_version(checks.Release("0.2.0", repository))


@pytest.mark.parametrize("heading", ["## [Unreleased]", "## [0.1.0]", "## [0.0.9] - 2026-12-01"])
def test_the_changelog_has_to_name_version_and_day(
    checks: ModuleType, repository: Path, heading: str
) -> None:
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    (repository / "CHANGELOG.md").write_text(changelog.replace(f"## [{VERSION}] - 2026-12-01", heading))
    with pytest.raises(checks.NotReady, match=r"0\.1\.0\] - YYYY-MM-DD"):
        checks.check_changelog(checks.Release(VERSION, repository))


def test_changes_that_are_not_committed_and_a_tag_elsewhere_are_refused(
    checks: ModuleType, repository: Path
) -> None:
    git(repository, "tag", f"v{VERSION}")
    checks.check_tree(checks.Release(VERSION, repository))
    (repository / "README.md").write_text("changed")
    with pytest.raises(checks.NotReady, match=r"commit or remove .*README\.md"):
        checks.check_tree(checks.Release(VERSION, repository))
    git(repository, "commit", "--quiet", "--all", "--message=Change")
    with pytest.raises(checks.NotReady, match="tag of another commit"):
        checks.check_tree(checks.Release(VERSION, repository))


def test_the_release_is_checked_before_anything_is_published() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    steps = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert any("deploy/release/check.py" in step for step in steps)
    assert {name for name, job in jobs.items() if job.get("needs") != "build"} == {"build"}


def test_ci_tests_every_version_of_python_that_is_declared() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [name.rpartition(" :: ")[2] for name in project["classifiers"] if ":: Python :: " in name]
    assert jobs["unit"]["strategy"]["matrix"]["python"] == declared
    assert not any("needs" in job for job in jobs.values()), "the jobs run in parallel"


def test_an_image_has_an_sbom_signed_provenance_and_a_base_by_digest() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    steps = {step.get("uses", "").partition("@")[0]: step for step in jobs["image"]["steps"]}
    build = steps["docker/build-push-action"]
    assert build["with"]["sbom"] is True
    assert build["with"]["provenance"] == "mode=max"
    assert build["with"]["build-args"] == "BASE=${{ steps.base.outputs.image }}"
    assert steps["actions/attest-build-provenance"]["with"]["subject-digest"].startswith("${{ steps.push.")
    (resolve,) = [step["run"] for step in jobs["image"]["steps"] if step.get("id") == "base"]
    assert "@$digest" in resolve
    assert (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").count("\nARG BASE=") == 1


def test_wheels_and_the_npm_package_are_published_without_a_stored_token() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text
    for name in ("pypi", "npm"):
        assert jobs[name]["permissions"]["id-token"] == "write"
    assert any("attest-build-provenance" in step.get("uses", "") for step in jobs["pypi"]["steps"])
    assert any("--provenance" in step.get("run", "") for step in jobs["npm"]["steps"])
