"""The code that a run leaves: the files its tools wrote, as they are at the end, and the code of its session.

Takes a run; gives files. A session is what a code agent ran, as one file: steps that failed are left out, and
so is a definition that a later step replaces. An edit is applied to the content that the trace shows; a file
that was edited without its content being on the trace is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.detect.arguments import find_content, find_path
from spanproof.evaluators.outcomes.model import Account
from spanproof.trace import JsonValue, Language, Run, Snippet, Step

SESSION: Final = "<session>"
_SESSION_FILES: Final = {
    Language.PYTHON: f"{SESSION}.py",
    Language.JAVASCRIPT: f"{SESSION}.js",
    Language.TYPESCRIPT: f"{SESSION}.ts",
}
# What tools that edit files call the text to replace and its replacement.
_EDITS: Final = (("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text"))

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file of code as a run leaves it; `name` is its path as the run's tools gave it."""

    name: str
    source: str

    @property
    def is_session(self) -> bool:
        """Whether it is the code of a session, which is in no file."""
        return self.name.startswith(SESSION)

    @property
    def is_python(self) -> bool:
        """Whether it is Python."""
        return self.name.endswith(".py")


Files = Mapping[str, CodeFile]
"""Files by name."""


def build_task_key(run: Run) -> str:
    """Return what two runs of the same task share: the task's name, else its words."""
    return run.cohort.task or _SPACE.sub(" ", run.task or "").strip()


def read_code_left(run: Run, account: Account, before: Files) -> dict[str, CodeFile]:
    """Return the files of code that a run wrote or edited, and its session, by name.

    Args:
        run: whose tools wrote.
        account: how its snippets ended.
        before: files as the turns before left them, which edits start from.
    """
    files = dict(before)
    touched: set[str] = set()
    for name, text, replaced in _iter_writes(run.steps):
        if replaced is None:
            files[name] = CodeFile(name, text)
        elif name in files and files[name].source.count(replaced) == 1:
            files[name] = CodeFile(name, files[name].source.replace(replaced, text))
        else:
            files.pop(name, None)
        touched.add(name)
    written = {name: files[name] for name in sorted(touched) if name in files}
    return written | {file.name: file for file in _iter_sessions(run, account)}


def _iter_writes(steps: Sequence[Step]) -> Iterator[tuple[str, str, str | None]]:
    """Yield each write of a tool in order: the path, the text, and the text that it replaces in an edit."""
    for step in steps:
        happened = [(dict(call.kwargs), call.error is None and call.refusal is None) for call in step.calls]
        requested = [(call.arguments, True) for call in step.requested if isinstance(call.arguments, dict)]
        for arguments, succeeded in happened or requested:
            path = find_path(arguments)
            if path is not None and succeeded:
                yield from ((path, *write) for write in _iter_edits(arguments))


def _iter_edits(arguments: Mapping[str, JsonValue]) -> Iterator[tuple[str, str | None]]:
    for old, new in _EDITS:
        replaced, text = arguments.get(old), arguments.get(new)
        if isinstance(replaced, str) and isinstance(text, str) and replaced:
            yield text, replaced
            return
    text = find_content(arguments)
    if text is not None:
        yield text, None


def _iter_sessions(run: Run, account: Account) -> Iterator[CodeFile]:
    for language, name in _SESSION_FILES.items():
        kept = [
            snippet
            for snippet in run.snippets
            if snippet.executed
            and snippet.language is language
            and account.get_snippet_outcome(snippet).ok is not False
        ]
        whole = [snippet for snippet in kept if not snippet.truncated]
        if whole:
            yield CodeFile(name, "\n".join(_select_current_sources(whole)))


def _select_current_sources(snippets: Sequence[Snippet]) -> list[str]:
    """Return the sources without the definitions that a later one replaces."""
    defined_later: set[str] = set()
    sources: list[str] = []
    for snippet in reversed(snippets):
        lines = snippet.source.splitlines()
        if snippet.language is Language.PYTHON:
            definitions = _list_definitions(snippet.source)
        else:
            definitions = []
        for node in reversed(definitions):
            if node.name in defined_later:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                del lines[first - 1 : node.end_lineno]
            defined_later.add(node.name)
        sources.append("\n".join(lines))
    return sources[::-1]


def _list_definitions(source: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Return the definitions at the top of a source that stand on lines of their own."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node for node in tree.body if isinstance(node, _DEFINITION)]
