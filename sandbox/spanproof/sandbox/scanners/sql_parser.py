"""Parsing SQL of any common dialect, within a budget of steps.

In: a text. Out: its statements as sqlglot's trees, or None where no dialect reads it. Needs sqlglot.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.catalogue import read_sections

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

_DIALECTS: Final = ("", "postgres", "mysql", "sqlite", "duckdb", "tsql", "snowflake", "bigquery")
_FREE_STEPS: Final = 2_000
_STEPS_PER_TOKEN: Final = 100
# Steps of all dialects together; one takes 4 to 6 microseconds.
_MAX_STEPS: Final = 250_000

_CHARACTERS_PER_TOKEN: Final = 4
# Parts of a name. The parser makes a tree of them that is as deep as there are parts.
_MAX_CHAIN: Final = 32


_STATEMENT_KEYS: Final = split_entry(read_sections("sql")["words"], "statements")

# What is between two semicolons outside of quotes.
_STATEMENT: Final = re.compile(r"(?>(?:'(?>(?:[^']|'')*)'|\"[^\"]*+\"|[^;'\"]|['\"])+)")

# Statements that are parsed one by one, where no dialect reads them together.
_MAX_PARTS: Final = 64


def parse_parts(text: str) -> list[tuple[str, list[exp.Expr] | None]]:
    """Parse the statements of a text, each by itself where no dialect reads all of them.

    Raises:
        TooSlow: there are too many.
    """
    whole = parse_statements(text)
    if whole is not None and not any(map(is_opaque, whole)):
        return [(text, whole)]
    parts = [part for part in _STATEMENT.findall(text) if part.strip()]
    if len(parts) > _MAX_PARTS:
        raise TooSlow
    return [(part, parse_statements(part)) for part in parts]


def list_tokens(text: str, dialect: str = "") -> list[Token] | None:
    """Return the tokens of a text in a dialect; None where it cannot be read."""
    from sqlglot.errors import SqlglotError

    try:
        return _make_parser(dialect)[0].tokenize(text)
    except (SqlglotError, ValueError, IndexError):
        return None


def list_nodes(root: exp.Expr) -> list[exp.Expr]:
    """Return a statement's nodes, breadth first: its own walk in a third of the time."""
    from sqlglot import exp

    found = [root]
    add, base = found.append, getattr(exp, "Expr", exp.Expression)  # versions differ
    for node in found:
        for value in node.args.values():
            if isinstance(value, base):
                add(value)
            elif value.__class__ is list:
                for one in value:
                    if isinstance(one, base):
                        add(one)
    return found


def parse_statements(text: str, tokens: list[Token] | None = None) -> list[exp.Expr] | None:
    """Return the statements of a text in the first dialect that reads all of them; None where none does.

    Args:
        text: one or several statements.
        tokens: those of the first dialect, where they are known.

    Raises:
        TooSlow: the parsers would need more than their steps.
    """
    from sqlglot.errors import SqlglotError

    spent = 0
    first, tokens = tokens, None
    for dialect in _DIALECTS:
        read, parser = _make_parser(dialect)
        if first is not None and dialect == _DIALECTS[0]:
            tokens = first
        else:
            tokens = list_tokens(text, dialect)
        if tokens is None:
            spent += len(text) // _CHARACTERS_PER_TOKEN
            continue
        if _measure_longest_chain(tokens) > _MAX_CHAIN:
            raise TooSlow
        bounded = parser(dialect=read)
        given = min(_FREE_STEPS + _STEPS_PER_TOKEN * len(tokens), _MAX_STEPS - spent)
        bounded.left = given
        try:
            parsed = bounded.parse(tokens, text)
        except (SqlglotError, ValueError, IndexError, AttributeError, TypeError):
            continue
        finally:
            spent += len(tokens) + given - bounded.left
        found = [statement for statement in parsed if statement is not None and statement.key != "semicolon"]
        if not all(_is_statement(statement) for statement in found):
            continue
        if not any(is_opaque(statement) for statement in found) or dialect == _DIALECTS[-1]:
            return found
    return None


def _measure_longest_chain(tokens: list[Token]) -> int:
    """Return how many parts the longest dotted name has."""
    from sqlglot.tokenizer_core import TokenType

    longest = parts = 0
    dotted = False
    for token in tokens:
        dot = token.token_type is TokenType.DOT
        if dot:
            parts += 1
        elif not dotted:
            parts = 0
        longest, dotted = max(longest, parts), dot
    return longest


class TooSlow(Exception):  # noqa: N818 - named after what happened
    """The parser goes over its tokens more often than is given."""


@lru_cache(maxsize=len(_DIALECTS))
def _make_parser(dialect: str) -> tuple[Dialect, Any]:
    """Return a dialect, and its parser with a bound on its steps.

    The parser tries ways and goes back, which takes exponential time for `a JOIN b JOIN c …`; each way goes
    through `_advance`.
    """
    from sqlglot.dialects.dialect import Dialect

    # The parser warns of each statement it keeps as text; the findings have that already.
    logger = logging.getLogger("sqlglot")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.ERROR)
    read = Dialect.get_or_raise(dialect or None)
    base: Any = type(read).parser_class

    class Bounded(base):  # type: ignore[misc]
        left = 0

        def _advance(self, times: int = 1) -> None:
            self.left -= 1
            if self.left < 0:
                raise TooSlow
            super()._advance(times)

    return read, Bounded


def _is_statement(statement: exp.Expr) -> bool:
    """Whether it is SQL to run; dialects read a lone expression too (`{"a": 1}` is a struct to DuckDB)."""
    from sqlglot import exp

    return (
        isinstance(statement, exp.Query | exp.DDL | exp.DML | exp.Command) or statement.key in _STATEMENT_KEYS
    )


def is_opaque(statement: exp.Expr) -> bool:
    """Whether the parser keeps a statement as text, and its verb says nothing of what it does."""
    return statement.key == "command" and str(statement.this).upper() not in {
        "EXPLAIN",
        "SHOW",
        "CALL",
        "VACUUM",
    }
