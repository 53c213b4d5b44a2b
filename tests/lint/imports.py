"""Read the product's imports from its syntax trees: circles of files, and the map in docs/architecture.md.

`python tests/lint/imports.py` writes the map; `make map` calls it. Imports within functions and under
TYPE_CHECKING count as well: a circle that is closed there is one for the reader.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("instrumentors", "sandbox", "evaluators", "collector")
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- map: written by `make map` -->", "<!-- end of map -->"

Graph = dict[str, set[str]]


def find_modules(root: Path = ROOT) -> dict[str, Path]:
    """Return the product's files by the dotted names of their modules."""
    found = {}
    for folder in FOLDERS:
        for path in (root / folder / "spanproof").rglob("*.py"):
            name = ".".join(path.relative_to(root / folder).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def read_imports(modules: Mapping[str, Path]) -> Graph:
    """Return which of the modules each of them imports, wherever in the file."""
    return {
        name: _imports_of(ast.parse(path.read_text(encoding="utf-8")), name, path, modules.keys())
        for name, path in modules.items()
    }


def _imports_of(tree: ast.Module, name: str, path: Path, known: Iterable[str]) -> set[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{source}.{alias.name}"
                named.add(full if full in known else source)
    return {one for one in named if one in known and one != name}


def find_circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules in which each imports each other, directly or through others."""
    # Tarjan's strongly connected components, with a stack of our own in place of recursion.
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_ones: list[str] = []
    circles = []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = lowest[start] = len(index)
        open_ones.append(start)
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is not None:
                if following not in index:
                    index[following] = lowest[following] = len(index)
                    open_ones.append(following)
                    work.append((following, iter(sorted(graph[following]))))
                elif following in open_ones:
                    lowest[name] = min(lowest[name], index[following])
                continue
            work.pop()
            if work:
                lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
            if lowest[name] == index[name]:
                position = open_ones.index(name)
                circle, open_ones = open_ones[position:], open_ones[:position]
                if len(circle) > 1:
                    circles.append(sorted(circle))
    return sorted(circles)


def describe_circle(circle: list[str], graph: Mapping[str, set[str]]) -> str:
    """Return one line per file of a circle: what it imports of the others."""
    return "\n".join(f"  {name} imports {', '.join(sorted(graph[name] & set(circle)))}" for name in circle)


def render_map(modules: Mapping[str, Path], graph: Mapping[str, set[str]]) -> str:
    """Return the table of packages: what each is for, and which packages it imports."""
    packages = {name for name, path in modules.items() if path.name == "__init__.py"}
    packages |= {name.rpartition(".")[0] for name in modules}
    shown = {name for name in packages if 2 <= len(name.split(".")) <= 3}

    def room(module: str) -> str:
        parts = module.split(".")
        below = ".".join(parts[:3])
        return below if below in shown else ".".join(parts[:2])

    edges: Graph = {name: set() for name in sorted(shown)}
    for module, imported in graph.items():
        for other in imported:
            if room(module) != room(other):
                edges[room(module)].add(room(other))
    rows = ["| package | what it is for | imports |", "|---|---|---|"]
    for name, others in edges.items():
        listed = ", ".join(f"`{_short(other)}`" for other in sorted(others)) or "–"
        rows.append(f"| `{_short(name)}` | {_purpose(modules.get(name))} | {listed} |")
    return "\n".join(rows)


def _short(name: str) -> str:
    return name.removeprefix("spanproof.")


def _purpose(init: Path | None) -> str:
    """Return the first line of a package's docstring."""
    text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) if init else None
    return (text or "").split("\n")[0].rstrip(".").replace("|", "\\|")


def insert_map(page: str, table: str) -> str:
    """Return the page with the table between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks the marks {BEGIN!r} and {END!r}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def main() -> None:
    """Write the map into docs/architecture.md."""
    modules = find_modules()
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(insert_map(page, render_map(modules, read_imports(modules))), encoding="utf-8")
    sys.stdout.write(f"wrote the map of packages into {PAGE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
