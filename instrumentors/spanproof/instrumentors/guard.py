"""The inline guard: code is scanned before it runs, and refused when the policy denies it.

    from spanproof.instrumentors.guard import Guard

    Guard().smolagents(agent)                       # and the agents it manages
    tools = [Guard().langchain(python_repl)]        # a tool that takes code
    tools = [Guard().openai_agents(run_sql, "query", "sql")]
    tools = [Guard().langchain(search, None)]       # a tool that takes none: its results are read
    Guard().check_input(page, origin="document")    # before a model is given it
    Guard().check_output(answer)                    # before others are given it

In comes code, out comes a verdict within a millisecond or so; nothing is executed here. Where an endpoint is
given a collector scans, by its policy, and the guard needs no parsers of its own. A refusal reaches the
agent as its framework's own error, so that it can do otherwise: a failed step, a tool message with the status
error, a rejected tool call. Each finding behind one is an event of the span at hand, with its rule and place;
what was found is in the message to the agent, without secrets.
"""

# ruff: noqa: SLF001 - `_run` and `_arun` are what a tool of LangChain defines

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar

from opentelemetry import trace
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.budgets import Budgets, Exceeded
from spanproof.instrumentors.content.code_tools import build_bound, find_argument_names, read_parameters
from spanproof.instrumentors.frameworks.delegate import Delegate
from spanproof.instrumentors.spans.cohort import get_cohort_attributes
from spanproof.instrumentors.verdict_client import VerdictClient, VerdictUnavailable, build_unscanned
from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

if TYPE_CHECKING:
    from spanproof.sandbox.policy import Policy
    from spanproof.sandbox.scanners.pipeline import Pipeline

_R = TypeVar("_R")

_MAX_EVENTS: Final = 16
_ENDPOINT: Final = "SPANPROOF_GUARD_ENDPOINT"
_TOKEN: Final = "SPANPROOF_GUARD_TOKEN"  # noqa: S105 - a variable's name


Origin = Literal["user", "tool", "document"]
"""Where a text that a model is given comes from; what tools and documents say is no order."""


class Refused(PermissionError):  # noqa: N818 - the agent reads the names of its kinds
    """What the policy does not allow; the message says which rules it breaks, and where."""

    subject: ClassVar = "the step was stopped"

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        reasons = "; ".join(f"line {one.line}: {one.message} ({one.rule})" for one in select_strictest(scan))
        super().__init__(f"{self.subject}, the policy refuses it: {reasons}")


class CodeRefused(Refused):
    """The code was not run."""

    subject = "the code was not run"


class TextRefused(Refused):
    """The text was not handed on: to a model, or to whom the agent answers."""

    subject = "the text was not handed on"


def select_strictest(scan: Scan) -> tuple[Finding, ...]:
    """Return the findings that the verdict rests on."""
    return tuple(one for one in scan.findings if one.verdict == scan.verdict) or scan.findings


class Guard:
    """Scans code against a policy before it runs. Thread-safe."""

    def __init__(
        self,
        policy: Policy | str | None = None,
        *,
        agent: str = "",
        refuse_review: bool = False,
        observe: bool = False,
        endpoint: str | None = None,
        token: str | None = None,
        deadline_s: float = 3.0,
        on_failure: Literal["deny", "allow"] = "deny",
        budgets: Budgets | None = None,
        read_results: bool = True,
    ) -> None:
        """Make a guard.

        Args:
            policy: the boundary to judge by, or the name of a preset or of a file; the default policy when
                None. A collector has its own.
            agent: the agent's name, for overrides of the policy, where the framework does not give it.
            refuse_review: refuse also what a scan alone cannot settle.
            observe: refuse nothing; verdicts and findings are recorded all the same.
            endpoint: base URL of a collector that scans, as `http://127.0.0.1:4318`; when None the variable
                `SPANPROOF_GUARD_ENDPOINT`. Without either, or with a policy, this process scans.
            token: one of that collector's tokens; when None the variable `SPANPROOF_GUARD_TOKEN`.
            deadline_s: longest wait for its verdict.
            on_failure: without a verdict in time, `deny` refuses the code and `allow` lets it run.
            budgets: what agents may use; a step that a budget does not allow is refused like denied code.
            read_results: check what guarded tools give, as `check_input(origin="tool")` does.

        Raises:
            ImportError: the scanners' parsers are not installed.
            PolicyError: the policy cannot be read, or a scanner of it cannot be loaded.
            ValueError: a policy and an endpoint are given, or the endpoint or `on_failure` is none.
        """
        if on_failure not in ("deny", "allow"):
            raise ValueError(f"on_failure={on_failure!r} is not known; choose 'deny' or 'allow'")
        if policy is not None and endpoint is not None:
            raise ValueError("policy and endpoint are given: a collector scans by its own policy")
        self._refused = {"deny", "review"} if refuse_review else {"deny"}
        self._observe = observe
        self._agent = agent
        self._budgets = budgets
        self._reads_results = read_results
        self._allow_on_failure = on_failure == "allow"
        self._pipeline: Pipeline | None = None
        self._client: VerdictClient | None = None
        url = endpoint if endpoint is not None or policy is not None else os.environ.get(_ENDPOINT)
        if url:
            chosen_token = os.environ.get(_TOKEN, "") if token is None else token
            self._client = VerdictClient(url, token=chosen_token, deadline_s=deadline_s)
            return
        try:
            from spanproof.sandbox.policy import Policy
            from spanproof.sandbox.scanners.pipeline import Pipeline
        except ModuleNotFoundError as missing:
            raise ImportError(
                f"the guard needs the package {missing.name!r}: pip install 'spanproof[server]'"
            ) from missing
        if isinstance(policy, str):
            from spanproof.sandbox.policy_file import load_policy

            policy = load_policy(policy)
        self._pipeline = Pipeline(Policy() if policy is None else policy)

    def check(self, code: str, language: str = "python", *, agent: str = "", tool: str = "") -> Scan:
        """Scan code that is about to run.

        Args:
            code: what would run.
            language: it is written in.
            agent: the agent's name, by which overrides of the policy go.
            tool: the name of the tool that runs it, likewise.

        Raises:
            CodeRefused: the policy does not allow it.
        """
        subject = _build_subject(agent or self._agent, tool, language)
        scan = self._scan(code, language, subject)
        exceeded = None
        if scan.verdict.value not in self._refused and self._budgets is not None:
            exceeded = self._budgets.take_step(agent or self._agent, tool)
            scan = scan if exceeded is None else _build_over_budget(exceeded)
        refused = scan.verdict.value in self._refused
        self._record(scan, tool, refused=refused, limit=exceeded.limit if exceeded is not None else None)
        if refused and not self._observe:
            raise CodeRefused(scan)
        return scan

    def check_input(self, text: str, *, origin: Origin = "user", agent: str = "", tool: str = "") -> Scan:
        """Scan text that a model is about to be given.

        Args:
            text: the words of a user, the result of a tool, a document.
            origin: where it comes from. Instructions of a tool or a document are refused where they are sure.
            agent: the agent's name, by which overrides of the policy go.
            tool: the name of the tool that gave it, likewise.

        Raises:
            TextRefused: the policy does not allow it.
        """
        return self._check_text(text, "text" if origin == "user" else "document", agent, tool)

    def check_output(self, text: str, *, agent: str = "") -> Scan:
        """Scan text that an agent is about to hand to others: secrets in it are refused.

        Raises:
            TextRefused: the policy does not allow it.
        """
        return self._check_text(text, "text", agent, "")

    def _check_text(self, text: str, language: str, agent: str, tool: str) -> Scan:
        scan = self._scan(text, language, _build_subject(agent or self._agent, tool, language))
        refused = scan.verdict.value in self._refused
        self._record(scan, tool, refused=refused, limit=None, has_run=True)
        if refused and not self._observe:
            raise TextRefused(scan)
        return scan

    def _check_result(self, result: object, *, agent: str = "", tool: str = "") -> None:
        """Check the texts in what a tool gave."""
        if self._reads_results:
            for text in _iter_texts(result):
                self.check_input(text, origin="tool", agent=agent, tool=tool)

    def _scan(self, code: str, language: str, subject: Mapping[str, str]) -> Scan:
        if self._pipeline is not None:
            return self._pipeline.with_subject(subject).scan(language, code)
        assert self._client is not None
        try:
            return self._client.scan(code, language, subject)
        except VerdictUnavailable as unavailable:
            trace.get_current_span().set_attribute(ours.GUARD_UNAVAILABLE, str(unavailable))
            if self._allow_on_failure:
                return Scan(Verdict.ALLOW, ())
            return build_unscanned(str(unavailable))

    def smolagents(self, agent: Any) -> Any:
        """Return a smolagents agent, guarded in place with every agent that it manages.

        What is raised in an executor is a failed step to smolagents (`AgentExecutionError`), which the model
        reads before its next one.
        """
        pending, seen = [agent], set[int]()
        while pending:
            one = pending.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            executor = getattr(one, "python_executor", None)
            if executor is not None and type(executor) is not _GuardedExecutor:
                one.python_executor = self.executor(executor, agent=getattr(one, "name", None) or "")
            pending.extend((getattr(one, "managed_agents", None) or {}).values())
        return agent

    def langchain(self, tool: Any, argument: str | None = "code", language: str = "python") -> Any:
        """Return a copy of a LangChain tool that runs only code that passes, and whose result is read.

        A refusal is a `ToolException`, which the tool answers as a message; one that does not define how it
        handles errors gets `handle_tool_error=True`, without which LangChain would end the run.

        Args:
            tool: a `BaseTool`, also for LangGraph's `ToolNode`.
            argument: of the tool that holds the code; None for a tool that takes none.
            language: of that code.

        Raises:
            ValueError: the tool has no such argument.
        """
        from langchain_core.tools import ToolException

        _check_argument(tool.args, tool.name, argument)
        kind, names = type(tool), tuple(tool.args)

        def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if argument is None:
                return
            try:
                self._check_texts(
                    build_bound(names, args, kwargs).named.get(argument), language, tool=tool.name
                )
            except CodeRefused as refused:
                raise ToolException(str(refused)) from refused

        def hand_on(result: Any) -> Any:
            try:
                self._check_result(result, tool=tool.name)
            except TextRefused as refused:
                raise ToolException(str(refused)) from refused
            return result

        @wraps(kind._run)
        def _run(own: Any, *args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return hand_on(kind._run(own, *args, **kwargs))

        @wraps(kind._arun)
        async def _arun(own: Any, *args: Any, **kwargs: Any) -> Any:
            check(args, kwargs)
            return hand_on(await kind._arun(own, *args, **kwargs))

        copy = tool.model_copy(update={"handle_tool_error": tool.handle_tool_error or True})
        copy.__class__ = type(
            kind.__name__, (kind,), {"_run": _run, "_arun": _arun, "__module__": kind.__module__}
        )
        return copy

    def openai_agents(self, tool: Any, argument: str | None = "code", language: str = "python") -> Any:
        """Return a copy of an OpenAI Agents SDK function tool that runs only code that passes.

        A refusal rejects the call or its result, and the run goes on: the SDK's guardrails of a tool run
        within the tool's span, before and after the tool does.

        Args:
            tool: a `FunctionTool`.
            argument: of the tool that holds the code; None for a tool that takes none.
            language: of that code.

        Raises:
            ValueError: the tool has no such argument.
        """
        from agents import ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail

        _check_argument(tool.params_json_schema.get("properties", {}), tool.name, argument)

        def check(data: Any) -> ToolGuardrailFunctionOutput:
            try:
                arguments = json.loads(data.context.tool_arguments)
            except ValueError:  # the SDK refuses such a call
                arguments = None
            value = arguments.get(argument) if isinstance(arguments, dict) else None
            try:
                self._check_texts(value, language, agent=data.agent.name, tool=tool.name)
            except CodeRefused as refused:
                return ToolGuardrailFunctionOutput.reject_content(str(refused))
            return ToolGuardrailFunctionOutput.allow()

        def check_result(data: Any) -> ToolGuardrailFunctionOutput:
            try:
                self._check_result(data.output, agent=data.agent.name, tool=tool.name)
            except TextRefused as refused:
                return ToolGuardrailFunctionOutput.reject_content(str(refused))
            return ToolGuardrailFunctionOutput.allow()

        before: list[ToolInputGuardrail[Any]] = list(tool.tool_input_guardrails or [])
        if argument is not None:
            before.append(ToolInputGuardrail(check, name="spanproof.guard"))
        result_guardrail: ToolOutputGuardrail[Any] = ToolOutputGuardrail(
            check_result, name="spanproof.guard.result"
        )
        after = [*(tool.tool_output_guardrails or []), result_guardrail]
        return replace(tool, tool_input_guardrails=before, tool_output_guardrails=after)

    def executor(self, executor: Any, language: str = "python", *, agent: str = "") -> Any:
        """Return a smolagents executor like this one that runs only code that passes; its output is read."""

        def check(code: str) -> Scan:
            return self.check(code, language, agent=agent)

        def check_result(result: Any) -> None:
            self._check_result([getattr(result, "logs", None), getattr(result, "output", None)], agent=agent)

        return _GuardedExecutor(executor, _spanproof_check=check, _spanproof_check_result=check_result)

    def tool(
        self, argument: str | None = "code", language: str = "python"
    ) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
        """Decorate any function or method that runs the code in one of its arguments; its result is read.

        Args:
            argument: that holds the code; None for a function that takes none.
            language: of that code.

        Raises:
            ValueError: the function has no such argument.
        """

        def decorate(function: Callable[..., _R]) -> Callable[..., _R]:
            names, parameters = find_argument_names(function), read_parameters(function)
            if names is not None:
                _check_argument(names, function.__name__, argument)

            @wraps(function)
            def guarded(*args: Any, **kwargs: Any) -> _R:
                if argument is not None:
                    code = parameters.build_bound(args, kwargs).named.get(argument)
                    self._check_texts(code, language, tool=function.__name__)
                result = function(*args, **kwargs)
                self._check_result(result, tool=function.__name__)
                return result

            return guarded

        return decorate

    def _check_texts(self, value: object, language: str, *, agent: str = "", tool: str) -> None:
        """Check an argument of a tool: a text, or those in a list or dictionary."""
        for code in _iter_texts(value):
            self.check(code, language, agent=agent, tool=tool)

    def _record(
        self, scan: Scan, tool: str, *, refused: bool, limit: float | None, has_run: bool = False
    ) -> None:
        """Put the verdict on the span at hand, and what it was refused for into events of it.

        An event without a tool means that the span's own code was refused, and not a call which it made. One
        of a text has not blocked the span: what gave the text has run.
        """
        span = trace.get_current_span()
        if not span.is_recording() or (has_run and scan.verdict is Verdict.ALLOW):
            return  # what was said of the code that gave a text stays
        span.set_attribute(ours.GUARD_VERDICT, scan.verdict.value)
        span.set_attribute(ours.GUARD_RULES, [finding.rule for finding in scan.findings])
        optional: dict[str, AttributeValue] = {
            **({genai.TOOL_NAME: tool} if tool else {}),
            **({ours.GUARD_BUDGET_LIMIT: float(limit)} if limit is not None else {}),
        }
        for item in select_strictest(scan)[:_MAX_EVENTS] if refused else ():
            span.add_event(
                ours.GUARD_EVENT,
                {
                    **optional,
                    ours.GUARD_BLOCKED: not self._observe and not has_run,
                    ours.GUARD_RULE: item.rule,
                    ours.GUARD_SEVERITY: item.severity.value,
                    ours.GUARD_LINE: item.line,
                    ours.GUARD_COLUMN: item.column,
                },
            )


def _build_over_budget(exceeded: Exceeded) -> Scan:
    """Return the refusal of a step that a budget does not allow."""
    rule = f"{ours.GUARD_BUDGET_RULE_PREFIX}{exceeded.kind}"
    finding = Finding(rule, Severity.HIGH, Verdict.DENY, 1, 1, 1, 1, exceeded.message)
    return Scan(Verdict.DENY, (finding,))


def _iter_texts(value: object) -> Iterator[str]:
    """Yield a text, or those in a list, a dictionary or the parts of a message."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str | bytes):
            yield one if isinstance(one, str) else one.decode("utf-8", "replace")
        elif isinstance(one, Mapping):
            pending.extend(one.values())
        elif isinstance(one, list | tuple | set | frozenset):
            pending.extend(one)
        elif isinstance(
            text := getattr(one, "page_content", None) or getattr(one, "content", None), str | list
        ):
            pending.append(text)


def _check_argument(names: Collection[str], tool: str, argument: str | None) -> None:
    """Make sure that a tool takes what is to be guarded.

    Raises:
        ValueError: it does not; a guard that looks at nothing would pass everything.
    """
    if argument is not None and argument not in names:
        raise ValueError(
            f"the tool {tool!r} has no argument {argument!r}; name the one that holds the code:"
            f" {', '.join(names) or 'it takes none'}"
        )


class _GuardedExecutor(Delegate):
    """An executor whose call scans the code first, and then what it gave."""

    _spanproof_check: Callable[[str], object]
    _spanproof_check_result: Callable[[Any], None]

    def __call__(self, code_action: str, *args: Any, **kwargs: Any) -> Any:
        self._spanproof_check(code_action)
        result = self.__wrapped__(code_action, *args, **kwargs)
        self._spanproof_check_result(result)
        return result


def _build_subject(agent: str, tool: str, language: str) -> dict[str, str]:
    cohort = {
        key.removeprefix(ours.COHORT_PREFIX): str(value)
        for key, value in get_cohort_attributes().items()
        if key.startswith(ours.COHORT_PREFIX)
    }
    return {**cohort, "agent": agent, "tool": tool, "language": language}
