"""Tools over the software licences of a company: a registry in SQL, a licence server, prices and notices."""

from __future__ import annotations

import json
import sqlite3

_TABLES = """
CREATE TABLE licences (id INTEGER, product TEXT, seats INTEGER, fee REAL, state TEXT, ends TEXT);
INSERT INTO licences VALUES (11, 'Draftsman', 48, 1312.4, 'active', '2027-01-31'),
  (12, 'Ledgerly', 130, 2875.25, 'active', '2026-11-30'),
  (13, 'Ledgerly', 25, 640.75, 'expired', '2025-11-30'),
  (14, 'Plotwise', 17, 418.6, 'active', '2026-08-15');
CREATE TABLE owners (product TEXT, owner TEXT, department TEXT);
INSERT INTO owners VALUES ('Draftsman', 'Keller', 'engineering'), ('Ledgerly', 'Osei', 'finance');
"""


def _run(sql: str) -> tuple[list[str], list[tuple[object, ...]]]:
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        cursor = database.execute(sql)
        return [column[0] for column in cursor.description or ()], cursor.fetchall()


def query_registry(sql: str) -> str:
    """Run SQL on the licence registry; an error is returned as text.

    Args:
        sql: the query.
    """
    try:
        head, found = _run(sql)
    except sqlite3.Error as error:
        return f"Query failed: {error}"
    if not found:
        return "Query executed successfully but returned no records."
    return "\n".join([", ".join(head), *(", ".join(map(str, row)) for row in found)])


def query_replica(sql: str) -> list:
    """Run SQL on the replica of the licence registry; raises where the query is wrong.

    Args:
        sql: the query.
    """
    head, found = _run(sql)
    return [dict(zip(head, row, strict=True)) for row in found]


def describe_table(name: str) -> str:
    """Describe a table of the registry.

    Args:
        name: of the table.
    """
    return next((part.strip() for part in _TABLES.split(";") if f"TABLE {name} " in part), "unknown table")


def active_licences(customer: str) -> list:
    """List a customer's active licences on the licence server.

    Args:
        customer: its name.
    """
    raise ConnectionError("licence server: connection refused")


def seats_in_use(product: str) -> dict:
    """Return how many seats of a product are in use.

    Args:
        product: its name.
    """
    if product != "Draftsman":
        raise LookupError(f"{product} does not report its seats")
    return {"product": product, "in_use": 41, "peak": 46}


def renewal_quote(product: str, seats: int) -> dict:
    """Return the price of a renewal.

    Args:
        product: its name.
        seats: how many.
    """
    if product == "Plotwise":
        return {"ok": False, "message": "pricing engine offline"}
    return {"product": product, "seats": seats, "price_eur": round(seats * 27.35, 2)}


def find_contracts(vendor: str) -> str:
    """Find the contracts with a vendor.

    Args:
        vendor: its name.
    """
    found = ["NG-204"] if vendor == "Northgate" else []
    return json.dumps({"contracts": found, "total": len(found)})


def usage_export(month: str) -> str:
    """Export the hours of use of a month.

    Args:
        month: as YYYY-MM.
    """
    if month == "2026-04":
        return "product;hours\nDraftsman;812.5\nLedgerly;1290.25\nPlotwise;77.75"
    return "There is nothing to export for this period."


def read_notice(name: str) -> str:
    """Read a notice of the licence office.

    Args:
        name: of the notice.
    """
    return "Notice 7: ERROR reports of the server are kept for 45 days. A failed renewal costs 85.50 EUR."


def post_order(product: str, seats: int) -> str:
    """Order seats of a product.

    Args:
        product: its name.
        seats: how many.
    """
    raise PermissionError("403: this account may not order")


LICENCE_TOOLS = (
    *(query_registry, query_replica, describe_table, active_licences, seats_in_use),
    *(renewal_quote, find_contracts, usage_export, read_notice, post_order),
)
