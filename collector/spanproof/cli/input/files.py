"""Files that a command names: their content, and the language that a name's suffix means."""

from __future__ import annotations

import sys
from pathlib import Path

from spanproof.cli.problems import UsageProblem

LANGUAGES = {
    ".py": "python", ".pyw": "python", ".sh": "bash", ".bash": "bash", ".zsh": "bash", ".sql": "sql",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".tsx": "typescript", ".json": "json", ".yaml": "yaml",
    ".yml": "yaml", ".txt": "text", ".md": "markdown",
}  # fmt: skip


def read_file(path: Path) -> bytes:
    """Return the content of a file; of stdin for `-`."""
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read()
        return path.read_bytes()
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise UsageProblem(f"{path} cannot be read: {reason}", "name a readable file") from failure


def read_source(path: Path, language: str | None) -> tuple[str, str]:
    """Return the language and the text of a source file.

    Raises:
        UsageProblem: it cannot be read, or its name has no suffix of a language and none is given.
    """
    # Read first: that a file is missing matters more than that its name has no language.
    source = read_file(path).decode("utf-8", "surrogateescape")
    found = language or LANGUAGES.get(path.suffix.lower())
    if found is None:
        raise UsageProblem(f"the name of {path} does not say its language", "give it: --language python")
    return found, source
