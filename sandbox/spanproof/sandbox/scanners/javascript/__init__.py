"""The JavaScript and TypeScript scanner: what a script reaches outside, by resolved names.

In: a source. Out: findings for child processes, the file system, sockets and HTTP, the environment and code
made from text. Constants and aliases are propagated in one pass: strings folded, `require` and `import`
followed through names and destructuring. Needs the tree-sitter wheels; without them the pipeline denies.
"""

from __future__ import annotations

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import START, Source


def scan(context: Context, source: Source) -> None:
    """Report what a script would do beyond its boundary."""
    from spanproof.sandbox.scanners.javascript.nodes import HANDLERS
    from spanproof.sandbox.scanners.javascript.script import Script

    try:
        Script(context, HANDLERS).check_script(source.text, source.language)
    except RecursionError:
        context.add("javascript.too-deep", START, "nests deeper than can be judged")
