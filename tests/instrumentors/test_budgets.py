"""Budgets held by the guard."""

from __future__ import annotations

import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from spanproof.instrumentors.budgets import Budget, BudgetProcessor, Budgets, use_key
from spanproof.instrumentors.guard import CodeRefused, Guard


def _rule(refused: pytest.ExceptionInfo[CodeRefused]) -> str:
    return refused.value.scan.findings[0].rule


def test_steps_are_held_by_agent_and_key() -> None:
    guard = Guard(budgets=Budgets(Budget("sql-*", steps=2)))
    for _ in range(2):
        guard.check("x = 1", agent="sql-a")
    with pytest.raises(CodeRefused, match="used up: 2 of 2 steps") as refused:
        guard.check("x = 1", agent="sql-a")
    assert _rule(refused) == "budget.steps"
    guard.check("x = 1", agent="sql-b")
    guard.check("x = 1", agent="other")
    with use_key("tenant-7"):
        guard.check("x = 1", agent="sql-a")


def test_denied_code_takes_no_step_and_a_budget_can_begin_anew() -> None:
    budgets = Budgets(Budget(steps=1))
    guard = Guard(budgets=budgets)
    with pytest.raises(CodeRefused):
        guard.check("import os; os.system('rm -rf /etc')")
    guard.check("x = 1")
    with pytest.raises(CodeRefused):
        guard.check("x = 1")
    budgets.reset("")
    guard.check("x = 1")


@pytest.mark.parametrize(
    ("tool", "allowed"), [("search", True), ("run_sql", True), ("run_drop", False), ("mail", False)]
)
def test_tools_are_allowed_and_denied_by_pattern(tool: str, allowed: bool) -> None:
    guard = Guard(budgets=Budgets(Budget(allowed_tools=("search", "run_*"), denied_tools=("*_drop",))))
    if allowed:
        guard.check("x = 1", tool=tool)
        return
    with pytest.raises(CodeRefused) as refused:
        guard.check("x = 1", tool=tool)
    assert _rule(refused) == "budget.tool"


def test_tokens_and_cost_come_from_the_spans_of_model_calls() -> None:
    budgets = Budgets(Budget("a", tokens=100, cost_usd=1.0))
    provider = TracerProvider()
    provider.add_span_processor(BudgetProcessor(budgets, agent="a"))
    tracer = provider.get_tracer("t")
    usage = {"gen_ai.usage.input_tokens": 60, "gen_ai.usage.output_tokens": 50}
    with tracer.start_as_current_span("run", attributes={**usage, "gen_ai.operation.name": "invoke_agent"}):
        tracer.start_span("chat", attributes={**usage, "gen_ai.usage.cost": 0.25}).end()
    assert (budgets.usage("a").tokens, budgets.usage("a").cost_usd) == (110, 0.25)
    with pytest.raises(CodeRefused) as refused:
        Guard(budgets=budgets, agent="a").check("x = 1")
    assert _rule(refused) == "budget.tokens"
    budgets.reset("a")
    budgets.spend("a", cost_usd=1.5)
    with pytest.raises(CodeRefused, match=r"\$1.5 of \$1"):
        Guard(budgets=budgets, agent="a").check("x = 1")


def test_the_event_of_a_refusal_has_the_limit_and_the_tool() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    guard = Guard(budgets=Budgets(Budget(steps=0)))
    for tool in ("", "shell"):
        with provider.get_tracer("t").start_as_current_span("step"), pytest.raises(CodeRefused):
            guard.check("x = 1", tool=tool)
    whole, called = (dict(each.events[0].attributes or {}) for each in exporter.get_finished_spans())
    assert whole["spanproof.guard.budget.limit"] == 0.0
    assert "gen_ai.tool.name" not in whole
    assert called["gen_ai.tool.name"] == "shell"


def test_what_only_observes_refuses_nothing() -> None:
    scan = Guard(budgets=Budgets(Budget(steps=0)), observe=True).check("x = 1")
    assert scan.findings[0].rule == "budget.steps"


def test_steps_are_counted_exactly_by_many_threads() -> None:
    budgets = Budgets(Budget(steps=500))
    threads = [
        threading.Thread(target=lambda: [budgets.take_step("a") for _ in range(100)]) for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert budgets.usage("a").steps == 500
