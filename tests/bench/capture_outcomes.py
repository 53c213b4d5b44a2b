"""Capture the outputs of the outcome benchmark from real tools, and write `outcomes_data/recorded.jsonl.xz`.

Usage: python tests/bench/capture_outcomes.py [SOURCE ...]

Runs the sources of `outcome_sources` named, else all that can be imported here, and replaces their rows;
the rows of the others are kept. psql and psycopg need a server: PGHOST, PGPORT and PGUSER name it. Rows that
name this machine are made neutral or left out.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from outcome_sources import Output, databases, documents, frameworks, programs

FILE = Path(__file__).with_name("outcomes_data") / "recorded.jsonl.xz"
MAX_CHARS = 3_500
MAX_OF_SOURCE = 110
"""Rows of one source: no tool decides the figures."""

SPLITS = {
    "tuned": (
        "sqlite",
        "sqlite_shell",
        "bash",
        "python",
        "git",
        "json_data",
        "logs",
        "smolagents",
        "requests_client",
    ),
    "chosen": (
        "duckdb",
        "node",
        "pip",
        "langgraph",
        "metrics",
        "documentation",
        "compilers",
        "urllib_client",
        "psycopg",
    ),
    "held": (
        "postgres",
        "clickhouse",
        "sqlalchemy",
        "langchain_sql",
        "npm",
        "utilities",
        "openai_agents",
        "tool_wrappers",
        "tickets",
        "httpx_client",
        "pandas_frames",
    ),
}
"""Whole sources: the rules are tuned on the first, chosen on the second, and measured on the third."""

_FOREIGN = re.compile(r"/work/|/root/|/tmp/|/usr/local/lib/|site-packages")
_FOLDER = re.compile(r"(?:/[\w.+-]+)+/(?:site-packages|lib/python3\.\d+)/")


def sources() -> dict[str, Callable[[], Iterator[Output]]]:
    """Every source by its name."""
    modules = (databases, programs, frameworks, documents)
    return {
        name: getattr(m, name)
        for names in SPLITS.values()
        for name in names
        for m in modules
        if hasattr(m, name)
    }


def captured(name: str, source: Callable[[], Iterator[Output]]) -> list[dict[str, str | None]]:
    """The rows of one source: distinct, short enough, and without a trace of this machine."""
    split = next(split for split, names in SPLITS.items() if name in names)
    found: dict[str, dict[str, str | None]] = {}
    for output in source():
        text = _FOLDER.sub("/usr/lib/python3/", output.text.strip())
        if text and len(text) <= MAX_CHARS and not _FOREIGN.search(text):
            row = {"split": split, "source": name, "tool": output.tool, "language": output.language}
            found.setdefault(text, {**row, "label": output.label, "text": text, "command": output.command})
    rows = list(found.values())
    if len(rows) <= MAX_OF_SOURCE:
        return rows
    return [rows[at * len(rows) // MAX_OF_SOURCE] for at in range(MAX_OF_SOURCE)]


def main() -> None:
    """Capture, and write the file anew."""
    wanted = sys.argv[1:] or list(sources())
    kept: dict[str, list[dict[str, str | None]]] = {}
    if FILE.exists():
        with lzma.open(FILE, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                kept.setdefault(row["source"], []).append(row)
    for name in wanted:
        try:
            kept[name] = captured(name, sources()[name])
        except ImportError as error:
            print(f"{name}: left as it is ({error})")
            continue
        print(f"{name}: {len(kept[name])} rows")
    with lzma.open(FILE, "wt", encoding="utf-8", preset=9) as file:
        for name in sources():
            for row in kept.get(name, []):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{sum(map(len, kept.values()))} rows in {FILE.name}")


if __name__ == "__main__":
    main()
