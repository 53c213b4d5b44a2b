"""Where an agent goes on: the rules of `routes`, held against the stored scores.

Comes in: an agent, its model and perhaps a trace. Goes out: go on, use another model, or hand over to a
person. The first rule that applies counts. Rates are kept for a moment, so that many agents that call at
every step do not query the store each time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence

from spanproof.collector.verdicts.model import RouteAnswer, RouteRequest
from spanproof.config.verdicts import RouteRule
from spanproof.evaluators.scores import find_state
from spanproof.store import FailRate, Store
from spanproof.trace import State

_FRESH_S = 2.0
_REMEMBERED = 1024


class Router:
    """Applies the rules. Thread-safe.

    Args:
        rules: in order.
        open_store: returns the store; called for each request.
    """

    def __init__(self, rules: Sequence[RouteRule], open_store: Callable[[], Store]) -> None:
        self._rules = tuple(rules)
        self._open_store = open_store
        self._guard = threading.Lock()
        self._known: OrderedDict[Hashable, tuple[float, FailRate]] = OrderedDict()

    def find_route(self, request: RouteRequest) -> RouteAnswer:
        """Return where the agent goes on.

        Raises:
            StoreError: the store cannot be read.
        """
        for rule in self._rules:
            if not rule.concerns(request.agent, request.model):
                continue
            counted = self._compute_fail_rate(rule, request)
            enough = counted.judged >= (rule.min_count if rule.of == "agent" else 1)
            if enough and counted.failed >= rule.threshold * counted.judged:
                return _build_answer(rule, counted)
        return RouteAnswer()

    def _compute_fail_rate(self, rule: RouteRule, request: RouteRequest) -> FailRate:
        key = (rule.name, request.model_copy(update={"trace_id": None}) if rule.of == "agent" else request)
        now_s = time.monotonic()
        with self._guard:
            if key in self._known and now_s - self._known[key][0] < _FRESH_S:
                return self._known[key][1]
        if rule.of == "agent":
            counted = self._fetch_agent_rate(rule, request)
        else:
            counted = self._fetch_trace_rate(rule, request)
        with self._guard:
            self._known.pop(key, None)
            self._known[key] = now_s, counted
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return counted

    def _fetch_agent_rate(self, rule: RouteRule, request: RouteRequest) -> FailRate:
        cohort = {"agent": request.agent, "model": request.model, "project": request.project}
        end_ns = time.time_ns()
        return self._open_store().fail_rate(
            rule.layer,
            name=rule.score_name,
            cohort={name: value for name, value in cohort.items() if value},
            start_ns=max(0, end_ns - int(rule.window_s * 1e9)),
            end_ns=end_ns + 1,
            failing=0,
        )

    def _fetch_trace_rate(self, rule: RouteRule, request: RouteRequest) -> FailRate:
        if request.trace_id is None:
            return FailRate(0, 0, 0, 0, 0)
        scores = self._open_store().scores(
            layer=rule.layer,
            name=rule.score_name,
            cohort={"project": request.project} if request.project else {},
            trace_id=request.trace_id,
        )
        states = Counter(find_state(score.layer, score.name, score.outcome) for score in scores)
        return FailRate(
            passed=states[State.PASS],
            failed=states[State.FAIL],
            errored=states[State.ERRORED],
            skipped=states[State.SKIPPED],
            open=states[State.OPEN],
            advice=states[None],
        )


def _build_answer(rule: RouteRule, counted: FailRate) -> RouteAnswer:
    whose = "of the agent's runs" if rule.of == "agent" else "of the trace"
    score = f"{rule.layer.value}.{'score' if rule.score_name == rule.layer.value else rule.score_name}"
    return RouteAnswer(
        action="model" if rule.to_model is not None else "person",
        model=rule.to_model,
        person=rule.to_person,
        rule=rule.name,
        reason=f"{score} {whose}: {counted.words}; threshold {rule.threshold:g}",
        failed=counted.failed,
        judged=counted.judged,
    )
