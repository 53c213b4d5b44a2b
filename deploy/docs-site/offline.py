"""A hook of MkDocs: the site loads nothing from elsewhere, and works when it is opened as files.

Without a server, search needs a stand-in for Web Workers. Material's plug-in `offline` loads it from a CDN;
here it is a file of the site (`iframe-worker`, 1.0.4, MIT). Nor does a page count the repository's stars.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from mkdocs.utils import get_relative_url

_FROM_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_STARS = ' data-md-component="source"'
_SHIM = Path(__file__).parent / "iframe-worker" / "shim.js"
_URL = "assets/javascripts/iframe-worker.js"


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Return the page with the stand-in taken from the site."""
    return _without_foreign(output, get_relative_url(_URL, page.url))


def on_post_template(output: str, *, template_name: str, **_: Any) -> str:
    """Return a page without Markdown, such as the one for missing pages, with the same."""
    return _without_foreign(output, _URL) if template_name.endswith(".html") else output


def _without_foreign(page: str, shim: str) -> str:
    return page.replace(_FROM_ELSEWHERE, shim).replace(_STARS, "")


def on_post_build(*, config: Any) -> None:
    """Copy the stand-in."""
    shutil.copyfile(_SHIM, Path(config.site_dir) / _URL)
