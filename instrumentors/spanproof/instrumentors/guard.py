"""The inline guard: code is scanned before it runs, and refused when the policy denies it.

    from spanproof.instrumentors.guard import Guard

    agent.python_executor = Guard().executor(agent.python_executor)

In comes code, out comes a verdict within a millisecond or so; nothing is executed here. A refusal reaches the
agent as an exception, so that it can do otherwise, and its step is recorded as failed with `CodeRefused`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import wrapt
from opentelemetry import trace

from spanproof.instrumentors.arguments import bind, parameter_names
from spanproof.semconv import spanproof as ours

if TYPE_CHECKING:
    from spanproof.sandbox.policy import Policy
    from spanproof.sandbox.scanners.model import Scan

    _Proxy = wrapt.ObjectProxy[Any]
else:
    _Proxy = wrapt.ObjectProxy  # takes no type arguments at run time before wrapt 2

_R = TypeVar("_R")


class CodeRefused(PermissionError):  # noqa: N818 - the agent reads this name
    """The code was not run; the message says which rules it breaks, and where."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        strictest = [each for each in scan.findings if each.verdict == scan.verdict] or list(scan.findings)
        said = "; ".join(f"line {each.line}: {each.message} ({each.rule})" for each in strictest)
        super().__init__(f"the code was not run, the policy refuses it: {said}")


class Guard:
    """Scans code against a policy before it runs."""

    def __init__(self, policy: Policy | None = None, *, refuse_review: bool = False) -> None:
        """Make a guard.

        Args:
            policy: the boundary to judge by; the default policy when None.
            refuse_review: refuse also what a scan alone cannot settle.

        Raises:
            ImportError: the scanners' parsers are not installed.
        """
        try:
            from spanproof.sandbox.policy import Policy
            from spanproof.sandbox.scanners.pipeline import Pipeline
        except ModuleNotFoundError as missing:
            raise ImportError(
                f"the guard needs the package {missing.name!r}: pip install 'spanproof[server]'"
            ) from missing
        self._pipeline = Pipeline(Policy() if policy is None else policy)
        self._refused = {"deny", "review"} if refuse_review else {"deny"}

    def check(self, code: str, language: str = "python") -> Scan:
        """Scan code that is about to run.

        Raises:
            CodeRefused: the policy does not allow it.
        """
        scan = self._pipeline.scan(language, code)
        span = trace.get_current_span()
        if span.is_recording():
            span.set_attribute(ours.GUARD_VERDICT, scan.verdict.value)
            span.set_attribute(ours.GUARD_RULES, [each.rule for each in scan.findings])
        if scan.verdict.value in self._refused:
            raise CodeRefused(scan)
        return scan

    def executor(self, executor: Any, language: str = "python") -> Any:
        """A smolagents executor that runs only what passes; everything else about it is the same."""
        return _GuardedExecutor(executor, self, language)

    def tool(
        self, argument: str = "code", language: str = "python"
    ) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
        """Decorate a function that runs the code in one of its arguments."""

        def decorate(function: Callable[..., _R]) -> Callable[..., _R]:
            names = parameter_names(function)

            @wraps(function)
            def guarded(*args: Any, **kwargs: Any) -> _R:
                code = bind(names, args, kwargs).named.get(argument)
                if isinstance(code, str):
                    self.check(code, language)
                return function(*args, **kwargs)

            return guarded

        return decorate


class _GuardedExecutor(_Proxy):
    """The executor itself in everything but its call."""

    def __init__(self, executor: Any, guard: Guard, language: str) -> None:
        super().__init__(executor)
        self._self_guard = guard
        self._self_language = language

    def __call__(self, code_action: str, *args: Any, **kwargs: Any) -> Any:
        self._self_guard.check(code_action, self._self_language)
        return self.__wrapped__(code_action, *args, **kwargs)
