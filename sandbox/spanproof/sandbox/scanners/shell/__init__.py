"""The shell scanner: reads what a script would do, by its meaning, without running it.

In: a source and the context of the scan. Out: findings in the context's report. `walk` follows the tree,
`commands` each kind of node. `words` expands what is known of words, `programs` judges what each program does
with its arguments. Needs the tree-sitter-bash wheel; without it the pipeline denies, it never falls back to
matching words.
"""

from __future__ import annotations

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import START, Source


def scan(context: Context, source: Source) -> None:
    """Report what a shell script would do beyond its boundary."""
    from spanproof.sandbox.scanners.shell.commands import HANDLERS
    from spanproof.sandbox.scanners.shell.conditions import ends_script
    from spanproof.sandbox.scanners.shell.walk import Shell, TooSlow

    try:
        Shell(context, source.text, HANDLERS, ends_script).check_script()
    except RecursionError:
        context.add("shell.too-deep", START, "nests deeper than can be judged")
    except TooSlow:
        context.add("shell.too-complex", START, "takes longer to parse than its time")
