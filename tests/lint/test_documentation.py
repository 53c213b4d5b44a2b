"""Links of the documentation lead somewhere, files it names are there, and each page names its readers."""

from __future__ import annotations

import re

import pytest

from .imports import FOLDERS, ROOT
from .words import tracked_files

PAGES = [
    name
    for name in tracked_files(ROOT)
    if name.endswith(".md") and not name.startswith(("tests/", "training/"))
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMED = re.compile(rf"`((?:{'|'.join((*FOLDERS, 'docs', 'tests', 'deploy'))})/[\w./-]+)`")


def anchors(page: str) -> set[str]:
    """Return the anchors of a page: those of `<a id>`, and those of its headings."""
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    given = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        given.add(re.sub(r"[^\w\- ]", "", plain.replace("`", "")).strip().replace(" ", "-"))
    return given


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    broken = []
    for link in LINK.findall(FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = (ROOT / page).parent / target if target else ROOT / page
        known = (
            anchors(str(path.resolve().relative_to(ROOT)))
            if path.suffix == ".md" and path.exists()
            else set()
        )
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in known):
            broken.append(link)
    assert not broken, f"{page} links to what is not there: {broken}"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_are_there(page: str) -> None:
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    missing = [name for name in NAMED.findall(text) if not (ROOT / name).exists()]
    assert not missing, f"{page} names what is not there: {missing}"


def test_no_page_holds_both_sides_of_a_merge() -> None:
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    assert not [page for page, text in texts.items() if re.search("^(<{7}|>{7}) ", text, re.MULTILINE)]


def test_each_page_begins_with_its_readers() -> None:
    pages = [page for page in PAGES if page.startswith("docs/")]
    begins = {page: (ROOT / page).read_text(encoding="utf-8").split("\n\n", 2)[1] for page in pages}
    assert pages
    assert not [page for page, first in begins.items() if not first.startswith("For ")]
