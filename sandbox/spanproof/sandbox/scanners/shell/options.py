"""Options and operands of a command line, separated as programs commonly do.

In: the expanded fields after the program's name. Out: what is left as operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.sandbox.scanners.shell.state import Words, known


def split_options(arguments: Sequence[Words], valued: str) -> tuple[list[Words], list[str]]:
    """Operands and options of a command; `valued` are the short options that take a value."""
    operands: list[Words] = []
    options: list[str] = []
    only_operands = False
    skip = False
    for argument in arguments:
        text = known(argument)
        if skip:
            skip = False
            continue
        if only_operands or text is None or not text.startswith("-") or text == "-":
            if text != "-":
                operands.append(argument)
        elif text == "--":
            only_operands = True
        else:
            options.append(text)
            skip = (
                not text.startswith("--") and text[-1] in valued and (len(text) == 2 or text[1:-1].isalpha())
            )
    return operands, options


def after_options(arguments: list[Words], valued: str) -> list[Words]:
    """What follows the options of a wrapper: the command it runs."""
    index = 0
    while index < len(arguments):
        text = known(arguments[index])
        if text is None or not text.startswith("-") or text == "-":
            break
        index += 2 if len(text) == 2 and text[1] in valued else 1
        if text == "--":
            break
    return arguments[index:]
