"""What a text of SQL makes itself and may change: temporary tables, and databases in memory that it attaches.

In: the statements of the text, in their order. Out: whether all that one of them changes is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

# Schemas that databases keep temporary tables in.
_TEMPORARY: Final = frozenset({"", "temp", "pg_temp", "tempdb"})
_CHANGES: Final = frozenset({"insert", "update", "delete", "drop", "create", "alter"})


class Own(NamedTuple):
    """Temporary tables that a text makes, and schemas that it attached in memory, by their names."""

    tables: frozenset[str] = frozenset()
    schemas: frozenset[str] = frozenset()

    def with_statement(self, statement: exp.Expr, *, in_memory: bool) -> Own:
        """Return what is own after a statement.

        Args:
            statement: which may attach or detach a schema.
            in_memory: whether it attaches a database in memory.
        """
        if statement.key not in {"attach", "detach"}:
            return self
        name = (statement.this.alias or statement.this.name).lower()
        others = self.schemas - {name}
        return self._replace(schemas=others | {name} if in_memory and name != "main" else others)

    def holds(self, table: exp.Table) -> bool:
        """Whether a table is the text's own."""
        schema = table.db.lower()
        is_temporary = table.name.lower() in self.tables and schema in _TEMPORARY
        return not table.catalog and (is_temporary or schema in self.schemas)

    def holds_all(self, statement: exp.Expr) -> bool:
        """Whether a statement changes something, and all of it is the text's own."""
        from sqlglot import exp

        if statement.key == "detach":
            return statement.this.name.lower() in self.schemas
        if statement.key not in _CHANGES or sum(one.key in _CHANGES for one in statement.walk()) > 1:
            return False
        changed = statement.this if isinstance(statement.this, exp.Expression) else None
        if isinstance(changed, exp.Schema):
            changed = changed.this  # its foreign keys name tables that they only read
        listed = statement.args.get("tables") or []
        tables = [*listed, *(changed.find_all(exp.Table) if changed is not None else ())]
        if statement.key in {"create", "alter"}:
            is_kept = str(statement.args.get("kind", "")).upper() in {"TABLE", "VIEW"}
            return is_kept and len(tables) == 1 and tables[0].db.lower() in self.schemas
        return bool(tables) and all(isinstance(one, exp.Table) and self.holds(one) for one in tables)


NOTHING_OWN: Final = Own()
"""What a statement by itself may change."""
