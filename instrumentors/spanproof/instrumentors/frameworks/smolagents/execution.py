"""The executor: the code it is given, its result, its interpreter, and the context in its thread."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.capture import Content, ContentPolicy
from spanproof.instrumentors.content.reading import attribute, member
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.frameworks.smolagents.causes import chain_of
from spanproof.instrumentors.frameworks.smolagents.state import RunState, StepState, place_of
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.semconv import spanproof as ours

_PRINTS = "_print_outputs"


def trace_executor(original: Method, executor: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Hook of an executor's `__call__`: note the code, its result and its duration on the step."""
    step = place_of(current()).step
    code = args[0] if args else kwargs.get("code_action")
    if step is None or step.code is not None or not isinstance(code, str):
        return original(executor, *args, **kwargs)
    step.code, step.executor = code, executor
    before = _print_buffer(executor) if step.opened.visible else None
    began = perf_counter()
    try:
        returned = step.returned = original(executor, *args, **kwargs)
    except BaseException as error:
        _note_failure(step, error)
        raise
    finally:
        step.duration_s = perf_counter() - began
        # The buffer is renewed once the code parses: the same one as before means that it never ran.
        step.printed = before is None or _print_buffer(executor) is not before
    return returned


def _print_buffer(executor: Any) -> Any:
    """Return the object that holds what the code of a local executor has printed."""
    return member(attribute(executor, "state"), _PRINTS)


def carry_context(original: Method, _: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Hook of `local_python_executor.timeout`, whose thread starts without a context.

    Only the OpenTelemetry context is carried over: the host's own context variables stay as they would be.
    """
    decorate = original(*args, **kwargs)

    def carrying(function: Callable[..., Any]) -> Any:
        context = current()

        def inside(*args: Any, **kwargs: Any) -> Any:
            token = attach(context)
            try:
                return function(*args, **kwargs)
            except Exception as error:
                step = place_of(context).step
                if step is not None and step.code is not None:
                    _note_failure(step, error)
                raise
            finally:
                detach(token)

        return decorate(inside)

    return carrying


def describe_executor(run: RunState, executor: Any) -> None:
    """Keep the attributes that all steps of this executor have: its type, version and image."""
    run.executor_facts = {ours.CODE_LANGUAGE: "python", **(_facts_of(executor) or {})}
    run.executor = executor


@shielded("smolagents.executor.describe")
def _facts_of(executor: Any) -> Mapping[str, AttributeValue]:
    described = Content(ContentPolicy())
    _describe(described, executor)
    return described.attributes


def _describe(content: Content, executor: Any) -> None:
    kind = _kind(executor)
    content.fact(ours.EXECUTOR_TYPE, kind)
    if kind == "local":
        content.fact(ours.EXECUTOR_VERSION, f"python {platform.python_version()}")
        imports = getattr(executor, "additional_authorized_imports", None)
        if isinstance(imports, list) and imports and all(isinstance(each, str) for each in imports):
            content.fact(ours.EXECUTOR_IMPORTS, tuple(sorted(imports)))
    image = getattr(executor, "image_name", None) or getattr(executor, "image", None)
    content.fact(ours.EXECUTOR_IMAGE_NAME, image if isinstance(image, str) else None)
    digest = getattr(getattr(getattr(executor, "container", None), "image", None), "id", None)
    content.fact(ours.EXECUTOR_IMAGE_DIGEST, digest if isinstance(digest, str) else None)


def _kind(executor: Any) -> str:
    """Return `local`, `docker` and so on for the framework's executors, else the class's name."""
    # `__class__`, which a guard's delegate answers with the executor's own.
    kind: type
    for kind in executor.__class__.__mro__:
        if kind.__module__.split(".", 1)[0] == "smolagents" and kind.__name__.endswith("Executor"):
            name = kind.__name__.removesuffix("Executor").removesuffix("Python").lower()
            if name not in ("", "remote"):
                return name
    return type(executor).__name__


@shielded("smolagents.executor.failure")
def _note_failure(step: StepState, error: BaseException) -> None:
    """Keep the longest view of what was raised: the executing thread sees more than the one that waits."""
    run = place_of(current()).run
    chain = chain_of(error, run.handled if run else None)
    if len(chain) > len(step.chain):
        step.chain = chain
