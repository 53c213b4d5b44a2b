"""Code and results of tools as people edit them, and the sandbox in which what they edited is run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated

import orjson
from fastapi import HTTPException
from pydantic import Field, JsonValue

from spanproof.api import pages
from spanproof.api.models import Answer
from spanproof.api.settings import ConsoleSettings
from spanproof.sandbox import Sandbox
from spanproof.suites.what_if import list_calls
from spanproof.trace import Run

# One replay at a time: people wait for one, and the sandbox is the collector's too.
_REPLAYING = threading.Lock()


class EditableCode(Answer):
    """A snippet of the frozen run that can be altered."""

    id: str
    step: int
    language: str
    source: str | None = Field(description="Null where it is too long, or holds a secret that is not shown.")


class EditableCall(Answer):
    """A recorded tool call whose result can be altered."""

    number: int
    step: int
    tool: str
    arguments: str
    result: str | None = Field(description="As JSON; null where it is too long, or holds a secret.")


class AlteredCase(Answer):
    """What is to be other than on record."""

    sources: Annotated[
        dict[str, Annotated[str, Field(max_length=200_000)]],
        Field(default_factory=dict, max_length=200, description="Code, by the id of its snippet."),
    ]
    results: Annotated[
        dict[Annotated[int, Field(ge=0)], JsonValue],
        Field(default_factory=dict, max_length=500, description="Results of tool calls, by their number."),
    ]


@contextmanager
def open_replay_sandbox(settings: ConsoleSettings) -> Iterator[Sandbox]:
    """Yield the sandbox, to one request at a time.

    Raises:
        HTTPException: 409: this console has none, or another replay is running.
    """
    if settings.open_sandbox is None:
        raise HTTPException(
            HTTPStatus.CONFLICT, "this console has no sandbox: start it with `spanproof serve`"
        )
    if not _REPLAYING.acquire(blocking=False):
        raise HTTPException(HTTPStatus.CONFLICT, "another replay is running; try again when it is done")
    try:
        with settings.open_sandbox() as sandbox:
            yield sandbox
    finally:
        _REPLAYING.release()


def list_editable(run: Run) -> tuple[list[EditableCode], list[EditableCall]]:
    """Return the code that ran and the tool calls of a run, with what can be edited in them."""
    numbers = {snippet.id: step.number for step in run.steps for snippet in step.snippets}
    code = [
        EditableCode(
            id=snippet.id,
            step=numbers[snippet.id],
            language=snippet.language.value,
            source=_find_editable(snippet.source),
        )
        for snippet in run.snippets
        if snippet.executed
    ]
    steps = [step.number for step in run.steps for _ in step.calls]
    calls = [
        EditableCall(
            number=number,
            step=steps[number],
            tool=pages.format_text(call.tool),
            arguments=pages.format_arguments(call),
            result=_find_editable(
                orjson.dumps(call.result.value if call.result else None, default=str).decode()
            ),
        )
        for number, call in enumerate(list_calls(run))
    ]
    return code, calls


def _find_editable(source: str) -> str | None:
    """Return text that is shown as it is; None of one that is shown cut or masked."""
    return source if pages.format_text(source) == source else None
