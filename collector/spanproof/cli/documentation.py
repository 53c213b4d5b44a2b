"""Addresses of the documentation, which an installed wheel does not contain."""

from __future__ import annotations

_REPOSITORY = "https://github.com/spanproof/spanproof"

ISSUES_URL = f"{_REPOSITORY}/issues"


def page_url(name: str) -> str:
    """Return the address of one page of the documentation, such as `policy`."""
    return f"{_REPOSITORY}/blob/main/docs/{name}.md"
