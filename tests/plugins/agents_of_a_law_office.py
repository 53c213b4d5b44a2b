"""Tools of a law office that bills its clients: a ledger, matters, time sheets, invoices and a mail room.

Nothing is sent and no command is run: what the tools return is recorded here.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

_TABLES = """
CREATE TABLE invoices (number TEXT, client TEXT, matter TEXT, issued TEXT, net REAL, vat REAL, status TEXT);
INSERT INTO invoices VALUES
  ('2026-0118', 'Halvorsen Shipping', 'M-4410', '2026-01-30', 18420.00, 3499.80, 'paid'),
  ('2026-0131', 'Ostrowski Bakery', 'M-4427', '2026-02-06', 2960.50, 562.50, 'overdue'),
  ('2026-0144', 'Halvorsen Shipping', 'M-4410', '2026-02-27', 9875.25, 1876.30, 'open'),
  ('2026-0152', 'Villanueva Trust', 'M-4435', '2026-03-03', 41200.00, 7828.00, 'open'),
  ('2026-0153', 'Ostrowski Bakery', 'M-4431', '2026-03-04', 1185.75, 225.29, 'cancelled');
CREATE TABLE trust_accounts (client TEXT, balance REAL, last_movement TEXT);
INSERT INTO trust_accounts VALUES ('Halvorsen Shipping', 25000.00, '2026-02-02'),
  ('Villanueva Trust', 132750.40, '2026-03-01');
"""

_TIME = """date,lawyer,matter,task,hours,billable
2026-02-02,Adeyemi,M-4410,review charter party,3.4,yes
2026-02-02,Roth,M-4427,client call,0.5,yes
2026-02-03,Adeyemi,M-4410,draft statement of claim,6.1,yes
2026-02-04,Roth,M-4435,research tax treaty,4.8,yes
2026-02-04,Kimura,M-4410,file administration,1.2,no
2026-02-05,Kimura,M-4435,memo on trust deed,5.7,yes
2026-02-06,Roth,M-4427,settlement letter,2.3,yes
"""

_SHELL = {
    "ls -1 /srv/matters/M-4410/filings | wc -l": (0, "23\n", ""),
    "pdftotext /srv/matters/M-4427/scan.pdf -": (
        1,
        "",
        "Syntax Error: Couldn't find trailer dictionary\nSyntax Error: Couldn't read xref table\n",
    ),
    "du -sh /srv/matters": (0, "412G\t/srv/matters\n", ""),
    "rsync -a /srv/matters/ backup:/matters/": (
        23,
        "sending incremental file list\n",
        (
            "rsync: [sender] send_files failed to open M-4435/deed.pdf: Permission denied (13)\n"
            "rsync error: some files/attrs were not transferred (code 23)\n"
        ),
    ),
}


def _box(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    cells = [["NULL" if each is None else str(each) for each in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]

    def line(parts: list[str]) -> str:
        return "│" + "│".join(f" {part:<{width}} " for part, width in zip(parts, widths, strict=True)) + "│"

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    body = [line(row) for row in cells]
    return "\n".join([rule("┌", "┬", "┐"), line(names), rule("├", "┼", "┤"), *body, rule("└", "┴", "┘")])


def ledger(sql: str) -> str:
    """Run SQL on the ledger and return the rows as DuckDB shows them.

    Args:
        sql: one statement.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        try:
            cursor = database.execute(sql)
        except sqlite3.Error as error:
            kind = "Catalog Error: Table" if "table" in str(error) else "Binder Error: Referenced column"
            return f'{kind} "{str(error).rpartition(" ")[2]}" not found!\n\nLINE 1: {sql}'
        return _box([column[0] for column in cursor.description], cursor.fetchall())


def matter(number: str) -> str:
    """Return a matter as JSON.

    Args:
        number: such as M-4410.
    """
    if number == "M-4410":
        return json.dumps(
            {
                "number": "M-4410",
                "title": "Halvorsen Shipping v. Baltic Grain",
                "opened": "2025-11-17",
                "responsible": {"name": "Temi Adeyemi", "role": "partner", "rate": 420},
                "team": [
                    {"name": "Temi Adeyemi", "role": "partner", "rate": 420},
                    {"name": "Sho Kimura", "role": "paralegal", "rate": 145},
                ],
                "budget": {"cap": 60000, "billed": 28295.25, "unbilled": 6340.0},
                "court": {
                    "name": "Landgericht Hamburg",
                    "docket": "413 HKO 27/26",
                    "next_hearing": "2026-04-21",
                },
            },
            indent=2,
        )
    if number == "M-4427":
        return json.dumps(
            {
                "number": "M-4427",
                "title": "Ostrowski Bakery, lease",
                "opened": "2026-01-12",
                "responsible": {"name": "Miriam Roth", "role": "associate", "rate": 290},
                "team": [{"name": "Miriam Roth", "role": "associate", "rate": 290}],
                "budget": {"cap": 5000, "billed": 2960.5, "unbilled": 812.0},
                "court": None,
            },
            indent=2,
        )
    return json.dumps({"ok": False, "detail": f"matter {number} is sealed or does not exist"})


def time_sheet(month: str) -> str:
    """Return the hours of a month as CSV.

    Args:
        month: as YYYY-MM.
    """
    if month != "2026-02":
        raise LookupError(f"time sheet of {month} is not closed yet")
    return _TIME


def invoice_xml(number: str) -> str:
    """Return an invoice as XML.

    Args:
        number: such as 2026-0144.
    """
    if number != "2026-0144":
        return f"<Fault><Code>NotFound</Code><Reason>Invoice {number} has no XML.</Reason></Fault>"
    return (
        "<Invoice><ID>2026-0144</ID><IssueDate>2026-02-27</IssueDate><DueDate>2026-03-29</DueDate>"
        "<Customer><Name>Halvorsen Shipping</Name><VATID>NO914882075</VATID></Customer>"
        '<Line id="1"><Description>Statement of claim</Description><Hours>19.5</Hours><Rate>420.00</Rate>'
        "<Amount>8190.00</Amount></Line>"
        '<Line id="2"><Description>Paralegal support</Description><Hours>9.0</Hours><Rate>145.00</Rate>'
        "<Amount>1305.00</Amount></Line>"
        '<Line id="3"><Description>Court fees</Description><Amount>380.25</Amount></Line>'
        '<Total currency="EUR"><Net>9875.25</Net><VAT rate="19">1876.30</VAT><Gross>11751.55</Gross></Total>'
        "</Invoice>"
    )


def send_invoice(number: str, to: str) -> dict:
    """Send an invoice by mail.

    Args:
        number: such as 2026-0144.
        to: the address.
    """
    if to.endswith("halvorsen.example"):
        return {"invoice": number, "to": to, "status": "rejected", "smtp": "550 5.1.1 unknown recipient"}
    return {"invoice": number, "to": to, "status": "sent", "message_id": "20260305.88121"}


def run_command(command: str) -> dict:
    """Run a command on the file server; gives exit_code, stdout and stderr.

    Args:
        command: a line for sh.
    """
    code, out, err = _SHELL.get(command, (127, "", f"sh: 1: {command.split()[0]}: not found\n"))
    return {"exit_code": code, "stdout": out, "stderr": err}


def conflict_check(name: str) -> dict:
    """Look a name up among clients and opponents.

    Args:
        name: a person or a company.
    """
    hits = {
        "Baltic Grain": [{"matter": "M-4410", "side": "opponent", "since": "2025-11-17"}],
        "Villanueva": [
            {"matter": "M-4435", "side": "client", "since": "2026-01-28"},
            {"matter": "M-3902", "side": "opponent", "since": "2021-06-09"},
        ],
    }
    return {"query": name, "hits": hits.get(name, []), "checked": 1874}


def exchange(currency: str, day: str) -> float:
    """Return how many units of a currency a euro costs on a day.

    Args:
        currency: such as NOK.
        day: as YYYY-MM-DD.
    """
    if currency != "NOK":
        raise ConnectionError("upstream closed the connection")
    return 11.684


LAW_OFFICE_TOOLS = (
    *(ledger, matter, time_sheet, invoice_xml, send_invoice),
    *(run_command, conflict_check, exchange),
)
