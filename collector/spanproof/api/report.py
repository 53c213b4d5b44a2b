"""One trace as a file that needs nothing else: the console's own bundle with the answers it would ask for.

The policy of the page allows its one script and its one style sheet, by digest, and nothing else: no request,
no other script, no frame.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape

import orjson
from pydantic import BaseModel

from spanproof.api.app import STATIC


def format_report(title: str, route: str, answers: Mapping[str, BaseModel]) -> str:
    """Return a page that shows one view of the console.

    Args:
        title: of the page.
        route: address of the view within the console, as `/traces/<id>`.
        answers: path of the API to what it answers.
    """
    script = (STATIC / "console.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    style = (STATIC / "console.css").read_text(encoding="utf-8").replace("</style", "<\\/style")
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}';"
        " base-uri 'none'; form-action 'none'"
    )
    plain = {path: answer.model_dump(mode="json") for path, answer in answers.items()}
    # Within a script element only `<` could end it.
    data = orjson.dumps({"route": route, "answers": plain}).decode().replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<div id="app"></div>\n<script type="application/json" id="report">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
