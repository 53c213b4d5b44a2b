"""Budgets of agents: tokens, cost, steps and tools, held by the guard.

    budgets = Budgets(Budget(agent="sql-*", tokens=200_000, steps=40, denied_tools=("drop_*",)))
    guard = Guard(budgets=budgets)
    with use_key("tenant-7"):       # a budget of its own for each key
        agent.run(task)

Steps and tools are counted by the guard, before the code runs. Tokens and cost come from the spans of model
calls (`BudgetProcessor`), or from `spend`. What was used and refused are OpenTelemetry metrics.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from opentelemetry import metrics
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from spanproof.semconv import genai, openinference

_KEY: ContextVar[str] = ContextVar("spanproof-budget-key", default="")
_INPUT_TOKENS: Final = (genai.USAGE_INPUT_TOKENS, openinference.LLM_TOKEN_COUNT_PROMPT)
_OUTPUT_TOKENS: Final = (genai.USAGE_OUTPUT_TOKENS, openinference.LLM_TOKEN_COUNT_COMPLETION)
_COST: Final = ("gen_ai.usage.cost", "llm.cost.total")
_AGENT: Final = (genai.AGENT_NAME, openinference.AGENT_NAME)

_METER = metrics.get_meter("spanproof.guard")
_USED = _METER.create_counter(
    "spanproof.guard.budget.used", description="What agents used of their budgets, by kind."
)
_REFUSED = _METER.create_counter(
    "spanproof.guard.budget.refused", description="What budgets refused, by kind."
)


@dataclass(frozen=True, slots=True)
class Budget:
    """What the agents of a name may use; None is no limit.

    Attributes:
        agent: their name; `*` and `?` are wild. The first budget that fits an agent is its budget.
        tokens, cost_usd, steps: of one agent with one key, until `reset`.
        allowed_tools: patterns; a tool that fits none is refused. None allows all.
        denied_tools: patterns of tools that are refused.
    """

    agent: str = "*"
    tokens: int | None = None
    cost_usd: float | None = None
    steps: int | None = None
    allowed_tools: tuple[str, ...] | None = None
    denied_tools: tuple[str, ...] = ()


@dataclass(slots=True)
class Usage:
    """What an agent used with a key."""

    tokens: int = 0
    cost_usd: float = 0.0
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A budget that does not allow a step.

    Attributes:
        kind: `tokens`, `cost_usd`, `steps` or `tool`.
        message: which limit, and what was used, as a sentence.
        limit: that is used up; None where a tool is not allowed.
    """

    kind: str
    message: str
    limit: float | None = None


@contextmanager
def use_key(key: str) -> Iterator[None]:
    """Count what runs within the block for this key: a tenant, a user, an API key's name."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


class Budgets:
    """Budgets with what was used of them. Thread-safe; of this process."""

    def __init__(self, *budgets: Budget) -> None:
        self._budgets = budgets
        self._used: dict[tuple[str, str], Usage] = {}
        self._guard = threading.RLock()

    def usage(self, agent: str, key: str | None = None) -> Usage:
        """Return what an agent used so far, with the key at hand where none is given."""
        with self._guard:
            used = self._used.get((agent, _KEY.get() if key is None else key), Usage())
            return Usage(used.tokens, used.cost_usd, used.steps)

    def spend(self, agent: str, *, tokens: int = 0, cost_usd: float = 0.0, steps: int = 0) -> None:
        """Count what an agent used, for the key at hand."""
        with self._guard:
            used = self._used.setdefault((agent, _KEY.get()), Usage())
            used.tokens += tokens
            used.cost_usd += cost_usd
            used.steps += steps
        for kind, amount in (("tokens", tokens), ("cost_usd", cost_usd), ("steps", steps)):
            if amount:
                _USED.add(amount, {"kind": kind, "agent": agent})

    def reset(self, agent: str, key: str | None = None) -> None:
        """Begin an agent's budget anew: a new run, or a new day."""
        with self._guard:
            self._used.pop((agent, _KEY.get() if key is None else key), None)

    def take_step(self, agent: str, tool: str = "") -> Exceeded | None:
        """Count a step that is about to run; returns why a budget does not allow it, and counts none then."""
        budget = next((item for item in self._budgets if fnmatchcase(agent, item.agent)), None)
        # Looked up and counted in one: two threads may not share the last step.
        with self._guard:
            if budget is not None:
                exceeded = self._find_exceeded(budget, agent, tool)
            else:
                exceeded = None
            if exceeded is None:
                self.spend(agent, steps=1)
        if exceeded is not None:
            _REFUSED.add(1, {"kind": exceeded.kind, "agent": agent})
        return exceeded

    def _find_exceeded(self, budget: Budget, agent: str, tool: str) -> Exceeded | None:
        if tool and any(fnmatchcase(tool, denied_tool) for denied_tool in budget.denied_tools):
            return Exceeded("tool", f"the budget of {agent or 'this agent'} denies the tool {tool}")
        allowed = budget.allowed_tools
        if tool and allowed is not None and not any(fnmatchcase(tool, item) for item in allowed):
            return Exceeded("tool", f"the budget of {agent or 'this agent'} does not allow the tool {tool}")
        used = self.usage(agent)
        for kind, limit, spent in (
            ("steps", budget.steps, used.steps),
            ("tokens", budget.tokens, used.tokens),
            ("cost_usd", budget.cost_usd, used.cost_usd),
        ):
            if limit is not None and spent >= limit:
                if kind == "cost_usd":
                    amount = f"${spent:g} of ${limit:g}"
                else:
                    amount = f"{spent:g} of {limit:g} {kind}"
                return Exceeded(kind, f"the budget of {agent or 'this agent'} is used up: {amount}", limit)
        return None


class BudgetProcessor(SpanProcessor):
    """Counts tokens and cost of model calls as their spans end: `provider.add_span_processor(…)`."""

    def __init__(self, budgets: Budgets, agent: str = "") -> None:
        """Count into budgets.

        Args:
            budgets: of the guard.
            agent: whose calls they are where a span does not say it.
        """
        self._budgets = budgets
        self._agent = agent

    def on_end(self, span: ReadableSpan) -> None:
        """Count what the span says of its use."""
        tokens = int(_read_amount(span, _INPUT_TOKENS) + _read_amount(span, _OUTPUT_TOKENS))
        cost = _read_amount(span, _COST)
        # A total on the agent's span would count its model calls twice.
        if (tokens or cost) and not _is_agent(span):
            named = next((str(value) for name in _AGENT if (value := (span.attributes or {}).get(name))), "")
            self._budgets.spend(named or self._agent, tokens=tokens, cost_usd=cost)


def _read_amount(span: ReadableSpan, names: tuple[str, ...]) -> float:
    for name in names:
        value = (span.attributes or {}).get(name)
        if isinstance(value, int | float):
            return float(value)
    return 0.0


def _is_agent(span: ReadableSpan) -> bool:
    attributes = span.attributes or {}
    operation = attributes.get(genai.OPERATION_NAME)
    return operation in ("invoke_agent", "create_agent") or attributes.get(openinference.SPAN_KIND) == "AGENT"
