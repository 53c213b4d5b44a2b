"""The JavaScript and TypeScript scanner: what a script reaches outside, by resolved names.

In: a source. Out: findings for child processes, the file system, sockets and HTTP, the environment and code
made from text. Constants and aliases are propagated in one pass: strings folded, `require` and `import`
followed through names and destructuring. Needs the tree-sitter wheels; without them the pipeline denies.
"""

from __future__ import annotations

from dataclasses import replace

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.own_files import OwnFiles
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import START, Source


def scan(context: Context, source: Source) -> None:
    """Report what a script would do beyond its boundary."""
    from spanproof.sandbox.scanners.javascript.nodes import HANDLERS
    from spanproof.sandbox.scanners.javascript.script import WORKER_DATA, Script

    try:
        if "workerData" in source.text:
            # What a worker gets may be known only from a line below those that read it.
            apart = replace(context, report=Report(), variables=set(), values={}, own_files=OwnFiles())
            Script(apart, HANDLERS).check_script(source.text, source.language)
            context.values.update({key: one for key, one in apart.values.items() if key == WORKER_DATA})
        Script(context, HANDLERS).check_script(source.text, source.language)
    except RecursionError:
        context.add("javascript.too-deep", START, "nests deeper than can be judged")
