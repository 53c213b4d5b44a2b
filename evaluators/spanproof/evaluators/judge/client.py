"""The judge itself: any model behind an OpenAI-compatible endpoint.

`OPENAI_BASE_URL` and `OPENAI_API_KEY` say where and as whom, as for every client of that kind. A reply counts
only where it holds (see `reply`); trouble is tried once more and is an error then, never a score.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproof.evaluators.judge.budget import MAX_REPLY_TOKENS, Budget, Pace
from spanproof.evaluators.judge.errors import JudgeFailed, JudgeUnavailable
from spanproof.evaluators.judge.question import Question
from spanproof.evaluators.judge.recorded import Recordings
from spanproof.evaluators.judge.reply import SCHEMA, Reply, parse_reply
from spanproof.evaluators.prices import Price, find_price

if TYPE_CHECKING:
    from openai import OpenAI

log = logging.getLogger(__name__)

_SNAPSHOT = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{8}|@[0-9a-f]{7,}|:[0-9a-f]{12,}")
# Fewer than any text has on average: what is reserved is never too little.
_CHARACTERS_PER_TOKEN = 2

_FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How the judge is called.

    Attributes:
        timeout_s: longest wait for one reply.
        at_once, per_minute: questions at once, and a minute; None is no limit.
        dollars_per_hour, dollars_per_hour_and_cohort: the budget; None is no limit.
        prices: dollars per million tokens in and out, by model, beside the shipped table.
        recordings: where replies are kept by the content of their question; None keeps none.
        shared: directory of the processes that share these limits; None is this process alone.
    """

    model: str
    timeout_s: float = 30.0
    at_once: int = 4
    per_minute: int | None = None
    dollars_per_hour: float | None = None
    dollars_per_hour_and_cohort: float | None = None
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    recordings: Path | None = None
    shared: Path | None = None


class Judge:
    """Answers questions. Thread-safe.

    Raises:
        JudgeUnavailable: there is a budget, and the price of the model is not known.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self.model = settings.model
        self._settings = settings
        self._budget = Budget(
            settings.dollars_per_hour, settings.dollars_per_hour_and_cohort, directory=settings.shared
        )
        self._pace = Pace(settings.at_once, settings.per_minute, settings.shared)
        self._recordings = Recordings(settings.recordings) if settings.recordings else None
        price = find_price(settings.model, settings.prices)
        if price is None and self._budget.limited:
            raise JudgeUnavailable(
                f"the price of {settings.model!r} is not known, so no budget can hold; add it to judge.prices"
            )
        self._price = price or Price(0.0, 0.0)
        self._client: OpenAI | None = None

    @property
    def warning(self) -> str | None:
        """What is wrong with the model's name: without a date it names another model tomorrow."""
        if _SNAPSHOT.search(self.model):
            return None
        return f"judge.model {self.model!r} names no dated snapshot: its scores will change without notice"

    def ask(self, question: Question, cohort: str = "") -> Reply:
        """Ask, or take the reply that was kept.

        Args:
            question: the rubric and its material.
            cohort: on whose budget.

        Raises:
            OverBudget: it would cost more than allowed.
            JudgeFailed: no usable reply after a second try.
            JudgeUnavailable: the client is not installed, or has no key.
        """
        key = question.key(self.model)
        kept = self._recordings.reply(key) if self._recordings else None
        if kept is not None:
            try:
                return parse_reply(kept, question)
            except JudgeFailed:
                log.warning("the reply kept as %s is not usable, the judge is called again", key)
        try:
            return self._call(question, cohort, key)
        except JudgeFailed as failure:
            if failure.wait_s > self._settings.timeout_s:
                raise
            log.info("the judge is called again: %s", failure)
            time.sleep(failure.wait_s)
            return self._call(question, cohort, key)

    def _call(self, question: Question, cohort: str, key: str) -> Reply:
        text = self._query_within_budget(question, cohort)
        reply = parse_reply(text, question)
        if self._recordings:
            self._recordings.keep(key, self.model, text)
        return reply

    def _query_within_budget(self, question: Question, cohort: str) -> str:
        messages = question.messages
        characters = sum(len(message["content"]) for message in messages)
        reserved = self._price.of(characters // _CHARACTERS_PER_TOKEN, MAX_REPLY_TOKENS)
        self._budget.reserve(cohort, reserved)
        cost = reserved
        try:
            with self._pace.turn():
                text, tokens_in, tokens_out = self._send_messages(messages)
            cost = self._price.of(tokens_in, tokens_out)
            return text
        finally:
            self._budget.settle(cohort, reserved, cost)

    def _send_messages(self, messages: list[dict[str, str]]) -> tuple[str, int, int]:
        """Send the messages; return the reply's text, and the tokens in and out."""
        client: Any = self._connect()
        import openai

        try:
            completion = client.chat.completions.create(
                model=self.model,
                messages=messages,
                temperature=0,
                max_tokens=MAX_REPLY_TOKENS,
                response_format=_FORMAT,
            )
            choice = completion.choices[0]
        except openai.APIStatusError as problem:
            message = f"the endpoint answered {problem.status_code}: {problem.message}"
            raise JudgeFailed(
                "refused", message[:500], _read_retry_after(problem.response.headers)
            ) from problem
        except openai.APITimeoutError as problem:
            message = f"{_format_endpoint(client)} gave no reply within {self._settings.timeout_s:g} s"
            raise JudgeFailed("unreachable", message) from problem
        except openai.OpenAIError as problem:
            why = problem.__cause__ or problem
            message = f"{_format_endpoint(client)} cannot be reached: {type(why).__name__}: {why}"
            raise JudgeFailed("unreachable", message[:500]) from problem
        except (AttributeError, TypeError, IndexError, ValueError) as problem:
            raise JudgeFailed("malformed", f"the endpoint's answer is no completion: {problem}") from problem
        usage = completion.usage
        tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
        return choice.message.content or "", *tokens

    def _connect(self) -> OpenAI:
        if self._client is None:
            try:
                from openai import OpenAI
            except ModuleNotFoundError as missing:
                raise JudgeUnavailable(
                    "the judge needs the openai client: pip install spanproof[judge]"
                ) from missing
            if not os.environ.get("OPENAI_API_KEY"):
                raise JudgeUnavailable(
                    "the judge has no key: set OPENAI_API_KEY, and OPENAI_BASE_URL for your own endpoint"
                )
            self._client = OpenAI(timeout=self._settings.timeout_s, max_retries=0)
        return self._client


def _format_endpoint(client: Any) -> str:
    """Return the endpoint, without the credentials that its address may hold."""
    return str(client.base_url.copy_with(username=None, password=None))


def _read_retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait that an endpoint requests; 0 where it gives none in seconds."""
    delay = headers.get("retry-after", "")
    return float(delay) if delay.isdecimal() else 0.0
