"""A hook of MkDocs: links from a page to files outside docs/ lead to the repository."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

_LINK = re.compile(r"\]\((\.\./[^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Return the page's text with links that leave docs/ made absolute."""
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def absolute(match: re.Match[str]) -> str:
        parts: list[str] = []
        for part in (folder / match[1]).parts:
            if part == ".." and parts:
                parts.pop()
            else:
                parts.append(part)
        if parts[0] == "docs":
            return match[0]
        return f"]({config.repo_url}/blob/main/{'/'.join(parts)})"

    return _LINK.sub(absolute, markdown)
