"""From the framework's exception to the one that was really raised.

smolagents wraps: a tool's or snippet's exception becomes an InterpreterError, that an AgentExecutionError,
each linked to the one before through `__context__`. The real one is the first that is no such wrapper; what
follows it are its own causes.
"""

from __future__ import annotations

_MAX_LINKS = 20

_WRAPPERS = {
    "AgentError",
    "AgentExecutionError",
    "AgentGenerationError",
    "AgentToolExecutionError",
    "InterpreterError",
}
"""The framework's classes that say where something failed, not what; its others (a parsing error, the
executor's timeout) are the reason themselves."""


def chain_of(error: BaseException, outside: BaseException | None) -> tuple[BaseException, ...]:
    """Return the exception and its causes, up to what the host was handling before.

    Args:
        error: the outermost exception.
        outside: the exception the host was handling; Python links it to whatever is raised meanwhile.
    """
    chain: list[BaseException] = []
    at: BaseException | None = error
    # By identity: an exception may say that it equals another, or that it is false.
    while at is not None and at is not outside and not _holds(chain, at) and len(chain) < _MAX_LINKS:
        chain.append(at)
        cause = at.__cause__
        at = cause if cause is not None or at.__suppress_context__ else at.__context__
    return tuple(chain)


def real_cause(chain: tuple[BaseException, ...]) -> BaseException:
    """Return the first exception that is no wrapper; the innermost when all are."""
    return next((each for each in chain if not _is_wrapper(each)), chain[-1])


def is_execution_error(error: BaseException) -> bool:
    """Return whether a step failed while its code ran."""
    return any(kind.__name__ == "AgentExecutionError" for kind in type(error).__mro__)


def _holds(chain: list[BaseException], error: BaseException) -> bool:
    return any(each is error for each in chain)


def _is_wrapper(error: BaseException) -> bool:
    kind = type(error)
    return kind.__name__ in _WRAPPERS and (kind.__module__ or "").split(".", 1)[0] == "smolagents"
