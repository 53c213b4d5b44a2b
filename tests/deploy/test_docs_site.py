"""The documentation builds as a site: links lead somewhere, pages are listed, nothing foreign is loaded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.peers  # mkdocs, mike and Chromium
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    site = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return site


def test_it_builds_without_a_warning_and_loads_nothing_from_elsewhere(site: Path) -> None:
    foreign = re.compile(
        r"""<(?:script|img|iframe)[^>]*\ssrc=["']?(?:https?:)?//|<link[^>]*stylesheet[^>]*href=["']?(?:https?:)?//"""
    )
    for page in site.rglob("*.html"):
        assert not foreign.search(page.read_text(encoding="utf-8")), page


def test_search_works_in_a_file(site: Path) -> None:
    program = shutil.which("chromium") or pytest.fail("this test needs chromium (apt-get install chromium)")
    requested: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: requested.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.fill("input.md-search__input", "groundedness")
        page.wait_for_selector(".md-search-result__item")
        browser.close()
    assert requested
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []


def test_a_release_keeps_the_sites_of_earlier_ones(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", str(clone)], check=True)
    copy_what_is_not_committed(clone)
    printed = run(clone, sys.executable, "deploy/docs-site/version.py").strip()
    assert re.fullmatch(r"\d+\.\d+", printed)
    mike = str(Path(sys.executable).with_name("mike"))
    run(clone, mike, "deploy", "--update-aliases", "0.0", "latest")
    run(clone, mike, "deploy", "--update-aliases", printed, "latest")
    run(clone, mike, "set-default", "latest")
    listed = json.loads(run(clone, "git", "show", "gh-pages:versions.json"))
    assert {each["version"]: each["aliases"] for each in listed} == {printed: ["latest"], "0.0": []}
    files = run(clone, "git", "ls-tree", "-r", "--name-only", "gh-pages").split()
    assert {"index.html", "0.0/tutorial/index.html", f"{printed}/tutorial/index.html"} <= set(files)


def copy_what_is_not_committed(clone: Path) -> None:
    for name in ("mkdocs.yml", "deploy/docs-site", "docs"):
        source, target = ROOT / name, clone / name
        if source.is_dir():
            shutil.rmtree(target)
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)


def run(folder: Path, *command: str) -> str:
    """Run a command of the release in a clone; return what it prints."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300,
        env={
            **os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_OFFLINE": "false",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GIT_AUTHOR_NAME": "test", "GIT_AUTHOR_EMAIL": "test@example.com",
            "GIT_COMMITTER_NAME": "test", "GIT_COMMITTER_EMAIL": "test@example.com",
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
