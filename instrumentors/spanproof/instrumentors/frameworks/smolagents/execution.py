"""The executor: the code it is given, its result, its interpreter, and the context in its thread."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.capture import Content, ContentPolicy
from spanproof.instrumentors.content.texts import (
    as_count,
    as_text,
    get_attribute,
    get_member,
    to_text,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents.state import Run, Step, get_position
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.semconv import spanproof as ours

_PRINTS = "_print_outputs"


def run_traced_executor(original: Method, executor: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of an executor's `__call__`: note the code, its result and its duration on the step."""
    step = get_position().step
    code = args[0] if args else kwargs.get("code_action")
    if step is None or step.source is not None or not isinstance(code, str):
        return original(executor, *args, **kwargs)
    step.source, step.executor = code, executor
    before = _get_print_buffer(executor) if step.visible else None
    began = perf_counter()
    try:
        returned = step.returned = original(executor, *args, **kwargs)
    except BaseException as error:
        _record_failure(step, error)
        raise
    finally:
        step.duration_s = perf_counter() - began
        # The buffer is renewed once the code parses: the same one as before means that it never ran.
        step.printed = before is None or _get_print_buffer(executor) is not before
    return returned


def _get_print_buffer(executor: Any) -> Any:
    """Return the object that holds what the code of a local executor has printed."""
    return get_member(get_attribute(executor, "state"), _PRINTS)


def run_with_context(original: Method, _: Any, args: Args, kwargs: Kwargs) -> Any:
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
                step = get_position(context).step
                if step is not None and step.source is not None:
                    _record_failure(step, error)
                raise
            finally:
                detach(token)

        return decorate(inside)

    return carrying


def _get_executor_facts(run: Run, executor: Any) -> Mapping[str, AttributeValue]:
    """Return the attributes that all steps of an executor have: its type, version and image."""
    if run.facts_of is not executor:
        described = Content(ContentPolicy())
        described.fact(ours.CODE_LANGUAGE, "python")
        with shielded("smolagents.executor.describe"):
            _record_code(described, executor)
        run.facts_of, run.executor_facts = executor, described.attributes
    return run.executor_facts


def _record_code(content: Content, executor: Any) -> None:
    kind = _classify_executor(executor)
    content.fact(ours.EXECUTOR_TYPE, kind)
    if kind == "local":
        content.fact(ours.EXECUTOR_VERSION, f"python {platform.python_version()}")
        imports = getattr(executor, "additional_authorized_imports", None)
        if isinstance(imports, list) and imports and all(isinstance(item, str) for item in imports):
            content.fact(ours.EXECUTOR_IMPORTS, tuple(sorted(imports)))
    image = getattr(executor, "image_name", None) or getattr(executor, "image", None)
    content.fact(ours.EXECUTOR_IMAGE_NAME, image if isinstance(image, str) else None)
    digest = getattr(getattr(getattr(executor, "container", None), "image", None), "id", None)
    content.fact(ours.EXECUTOR_IMAGE_DIGEST, digest if isinstance(digest, str) else None)


def _classify_executor(executor: Any) -> str:
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
def _record_failure(step: Step, error: BaseException) -> None:
    """Keep the longest view of what was raised: the executing thread sees more than the one that waits."""
    run = get_position().run
    chain = list_causes(error, run.handled if run else None)
    if len(chain) > len(step.chain):
        step.chain = chain


@shielded("smolagents.step.end")
def record_outcome(run: Run, step: Step, memory_step: Any) -> None:
    """Record a step from its memory step and from what was observed of the executor."""
    if type(memory_step).__name__ == "PlanningStep":
        step.output(memory_step.plan)
    else:
        _record_action(run, step, memory_step)
    usage = getattr(memory_step, "token_usage", None)
    # Own names: a backend would add up a step's tokens and those of its calls.
    step.fact(ours.STEP_INPUT_TOKENS, as_count(get_attribute(usage, "input_tokens")))
    step.fact(ours.STEP_OUTPUT_TOKENS, as_count(get_attribute(usage, "output_tokens")))
    error = getattr(memory_step, "error", None) or step.failure
    if error is not None:
        _record_error(run, step, error)


def _record_action(run: Run, step: Step, memory_step: Any) -> None:
    code, executor = step.source, step.executor
    if code is not None:
        step.attributes[ours.EXECUTION_DURATION] = step.duration_s
    else:
        code = as_text(get_attribute(memory_step, "code_action"))
        executor = get_attribute(run.agent, "python_executor")
    if code is not None:
        step.attributes.update(_get_executor_facts(run, executor))
        step.code(code, None)
        step.input(code)
    is_final = bool(memory_step.is_final_answer)
    if is_final:
        step.attributes[ours.EXECUTION_IS_FINAL] = True
    if step.visible:
        _record_output(step, memory_step, is_final=is_final)


def _record_output(step: Step, memory_step: Any, *, is_final: bool) -> None:
    if memory_step.observations is not None and step.printed:
        step.text(ours.EXECUTION_OBSERVATION, memory_step.observations)
    output = memory_step.action_output
    if output is None:
        output = get_attribute(step.answered, "output")
    if step.returned is not None:
        output = get_attribute(step.returned, "output", output)
        step.text(ours.EXECUTION_LOGS, get_attribute(step.returned, "logs", ""))
    elif step.source is not None and step.printed:
        # Of code that raised, the framework keeps what it printed in the observation alone, if anything.
        shown = to_text(memory_step.observations or "")
        step.text(ours.EXECUTION_LOGS, shown.removeprefix("Execution logs:\n"))
    if output is None and not is_final:
        return
    step.document(ours.EXECUTION_OUTPUT, ours.EXECUTION_OUTPUT_MIME_TYPE, output)
    step.output(output)


def _record_error(run: Run, step: Step, error: BaseException) -> None:
    chain = list_causes(error, run.handled)
    if step.chain and any(kind.__name__ == "AgentExecutionError" for kind in type(error).__mro__):
        # Raised again in this thread, the executor's exception has lost its cause; its own thread saw it.
        chain = (error, *step.chain)
    step.fail(
        error,
        error_type=type(get_real_cause(chain)).__name__,
        message=to_text(error),
        chain=[type(item).__name__ for item in chain],
        stack=step.source is None,
    )


_MAX_LINKS = 20

# The framework's classes that say where something failed, not what; its others (a parsing error, the
# executor's timeout) are the reason themselves.
_WRAPPERS = {
    "AgentError",
    "AgentExecutionError",
    "AgentGenerationError",
    "AgentToolExecutionError",
    "InterpreterError",
}


def list_causes(error: BaseException, outside: BaseException | None) -> tuple[BaseException, ...]:
    """Return the exception and its causes, up to what the host was handling before.

    Args:
        error: the outermost exception.
        outside: the exception the host was handling; Python links it to whatever is raised meanwhile.
    """
    chain: list[BaseException] = []
    at: BaseException | None = error
    # By identity: an exception may say that it equals another, or that it is false.
    while at is not None and at is not outside and len(chain) < _MAX_LINKS:
        if any(item is at for item in chain):
            break
        chain.append(at)
        cause = at.__cause__
        if cause is not None or at.__suppress_context__:
            at = cause
        else:
            at = at.__context__
    return tuple(chain)


def get_real_cause(chain: tuple[BaseException, ...]) -> BaseException:
    """Return the first exception that is no wrapper; the innermost when all are."""
    return next((item for item in chain if not _is_wrapper(item)), chain[-1])


def _is_wrapper(error: BaseException) -> bool:
    kind = type(error)
    return kind.__name__ in _WRAPPERS and (kind.__module__ or "").split(".", 1)[0] == "smolagents"
