"""Programs in the files that people keep code in: source files, notebooks, fenced blocks of Markdown.

In: a file and, where its suffix does not say it, a language. Out: the programs in it, each with where its
lines stand in the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from spanproof.cli.input.files import read_file, read_source
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.detect.text import list_text_snippets
from spanproof.sandbox.scanners.model import Finding

_MARKDOWN: Final = (".md", ".markdown")
# First words of a cell whose text is a program in another language.
_CELL_LANGUAGES: Final = {
    "%%bash": "bash", "%%sh": "bash", "%%script": "bash", "%%javascript": "javascript", "%%js": "javascript",
    "%%sql": "sql",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A program in a file.

    Attributes:
        name: of the file.
        language: as scanners name it.
        source: the program.
        lines: of each of its lines, the cell of the notebook (None elsewhere) and the line in it or in the
            file, from 1; empty where they are those of the file.
    """

    name: str
    language: str
    source: str
    lines: tuple[tuple[int | None, int], ...] = ()

    def build_located(self, finding: Finding) -> Finding:
        """Return the finding with the lines of the file, and with the cell of a notebook in its message."""
        if not self.lines:
            return finding
        cell, line = self._get_line(finding.line)
        _, end_line = self._get_line(finding.end_line)
        if cell is None:
            message = finding.message
        else:
            message = f"cell {cell}: {finding.message}"
        return replace(finding, line=line, end_line=max(line, end_line), message=message)

    def _get_line(self, line: int) -> tuple[int | None, int]:
        return self.lines[min(line, len(self.lines)) - 1]


def read_code(path: Path, language: str | None) -> list[CodeFile]:
    """Return the programs of a file; none where Markdown or a notebook holds no code.

    Raises:
        UsageProblem: it cannot be read, is no notebook, or neither its name nor `language` says its language.
    """
    if language is None and path.suffix.lower() == ".ipynb":
        return _read_notebook(path)
    if language is None and path.suffix.lower() in _MARKDOWN:
        return _read_markdown(path)
    return [CodeFile(str(path), *read_source(path, language))]


def _read_markdown(path: Path) -> list[CodeFile]:
    text = read_file(path).decode("utf-8", "surrogateescape")
    found = []
    for snippet in list_text_snippets(text):
        first = text.count("\n", 0, snippet.start) + 1
        lines = tuple((None, first + number) for number in range(snippet.source.count("\n") + 1))
        found.append(CodeFile(str(path), snippet.language.value, snippet.source, lines))
    return found


def _read_notebook(path: Path) -> list[CodeFile]:
    """Return the cells of the kernel's language as one program, and each cell of another language alone."""
    remedy = "name a Jupyter notebook of format 4, or give the language of a source file: --language python"
    try:
        notebook = json.loads(read_file(path))
        cells = [(number, cell) for number, cell in enumerate(notebook["cells"], start=1)]
        code = [
            (number, "".join(cell["source"])) for number, cell in cells if cell.get("cell_type") == "code"
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise UsageProblem(f"{path} is no notebook: {type(failure).__name__}: {failure}", remedy) from failure
    kernel = _get_kernel_language(notebook)
    shared: list[str] = []
    shared_lines: list[tuple[int | None, int]] = []
    found = []
    for number, source in code:
        magic = source.split(maxsplit=1)[0] if source.strip() else ""
        own_language = _CELL_LANGUAGES.get(magic)
        rows = source.splitlines() or [""]
        lines = [(number, line) for line in range(1, len(rows) + 1)]
        if own_language is None:
            shared += rows
            shared_lines += lines
        else:
            found.append(CodeFile(str(path), own_language, "\n".join(["", *rows[1:]]), tuple(lines)))
    if shared:
        found.insert(0, CodeFile(str(path), kernel, "\n".join(shared) + "\n", tuple(shared_lines)))
    return found


def _get_kernel_language(notebook: dict[str, object]) -> str:
    """Return the language that the notebook's metadata name, else Python."""
    metadata = notebook.get("metadata")
    about = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = about.get("name") if isinstance(about, dict) else None
    return name if isinstance(name, str) else "python"
