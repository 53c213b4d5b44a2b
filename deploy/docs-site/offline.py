"""A hook of MkDocs: a site that is opened as files loads nothing from elsewhere.

Without a server, search needs a stand-in for Web Workers: Material's plug-in `offline` loads it from a CDN, here
it is a file of the site (`iframe-worker`, 1.0.4, MIT).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from mkdocs.utils import get_relative_url

_FROM_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_SHIM = Path(__file__).parent / "iframe-worker" / "shim.js"
_URL = "assets/javascripts/iframe-worker.js"


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Return the page with the stand-in taken from the site."""
    return output.replace(_FROM_ELSEWHERE, get_relative_url(_URL, page.url))


def on_post_template(output: str, *, template_name: str, **_: Any) -> str:
    """Return a page without Markdown, such as the one for missing pages, with the same."""
    return output.replace(_FROM_ELSEWHERE, _URL) if template_name.endswith(".html") else output


def on_post_build(*, config: Any) -> None:
    """Copy the stand-in."""
    shutil.copyfile(_SHIM, Path(config.site_dir) / _URL)
