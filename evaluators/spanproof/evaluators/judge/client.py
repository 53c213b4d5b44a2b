"""The judge itself: any model behind an OpenAI-compatible endpoint.

The settings name the endpoint, else `OPENAI_BASE_URL` does; `OPENAI_API_KEY` is the key. A reply counts only
where it holds (see `Prompt.parse_reply`); trouble is tried once more and is an error then, never a score.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from spanproof.evaluators.judge.budget import Budget, Limits, Pace, Payer
from spanproof.evaluators.judge.errors import JudgeFailed, JudgeUnavailable
from spanproof.evaluators.judge.prompt import Prompt
from spanproof.evaluators.judge.recorded import Recordings
from spanproof.evaluators.prices import OwnPrices, Price, find_price

if TYPE_CHECKING:
    from openai import OpenAI

log = logging.getLogger(__name__)

_SNAPSHOT = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{8}|@[0-9a-f]{7,}|:[0-9a-f]{12,}")
# Fewer than any text has on average: what is reserved is never too little.
_CHARACTERS_PER_TOKEN: Final = 2
# A server without JSON schemas refuses the request with one of these.
_BAD_REQUEST: Final = frozenset({400, 422})
# Of a server that needs no key; the client refuses to be made without one.
_NO_KEY: Final = "none"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How the judge is called.

    Attributes:
        endpoint: address of the server; empty is that of `OPENAI_BASE_URL`, or OpenAI's own.
        timeout_s: longest wait for one reply.
        at_once, per_minute: prompts at once, and a minute; None is no limit.
        dollars_per_hour, dollars_per_hour_and_cohort, dollars_per_day, dollars_per_trace: the budget; None is
            no limit.
        prices: by model; they come before the shipped list.
        recordings: where replies are kept by the content of their prompt; None keeps none.
        shared: directory of the processes that share these limits; None is this process alone.
    """

    model: str
    endpoint: str = ""
    timeout_s: float = 30.0
    at_once: int = 4
    per_minute: int | None = None
    dollars_per_hour: float | None = None
    dollars_per_hour_and_cohort: float | None = None
    dollars_per_day: float | None = None
    dollars_per_trace: float | None = None
    prices: OwnPrices = field(default_factory=dict)
    recordings: Path | None = None
    shared: Path | None = None


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """A checked reply.

    Attributes:
        dollars: what it cost, with a first try that failed; 0 where the reply was kept.
    """

    reply: T
    dollars: float


class Judge:
    """Answers prompts. Thread-safe.

    Raises:
        JudgeUnavailable: there is a budget, and the price of the model is not known.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self.model = settings.model
        self._settings = settings
        limits = Limits(
            hour=settings.dollars_per_hour,
            cohort=settings.dollars_per_hour_and_cohort,
            day=settings.dollars_per_day,
            trace=settings.dollars_per_trace,
        )
        self._budget = Budget(limits, directory=settings.shared)
        self._pace = Pace(settings.at_once, settings.per_minute, settings.shared)
        self._recordings = Recordings(settings.recordings) if settings.recordings else None
        price = find_price(settings.model, settings.prices)
        if price is None and self._budget.limited:
            raise JudgeUnavailable(
                f"the price of {settings.model!r} is not known, so no budget can hold; add it to judge.prices"
            )
        self._price = price
        self._client: OpenAI | None = None
        self._takes_schemas = True

    @property
    def price(self) -> Price | None:
        """What the model costs; None where that is not known."""
        return self._price

    @property
    def warning(self) -> str | None:
        """What is wrong with the model's name: without a date it names another model tomorrow."""
        if _SNAPSHOT.search(self.model):
            return None
        return f"judge.model {self.model!r} names no dated snapshot: its scores will change without notice"

    def fetch_reply(self, prompt: Prompt[T], payer: Payer | None = None) -> T:
        """Return the reply to a prompt; see `query`."""
        return self.fetch_answer(prompt, payer or Payer()).reply

    def fetch_answer(self, prompt: Prompt[T], payer: Payer) -> Answered[T]:
        """Send a prompt, or take the reply that was kept.

        Args:
            prompt: what is sent.
            payer: on whose budget.

        Raises:
            OverBudget: it would cost more than allowed.
            JudgeFailed: no usable reply after a second try.
            JudgeUnavailable: the client is not installed, or has no key.
        """
        key = prompt.compute_key(self.model)
        kept = self._recordings.find_reply(key) if self._recordings else None
        if kept is not None:
            try:
                return Answered(prompt.parse_reply(kept), 0.0)
            except JudgeFailed:
                log.warning("the reply kept as %s is not usable, the judge is called again", key)
        try:
            reply, dollars = self._fetch_once(prompt, payer, key)
            return Answered(reply, dollars)
        except JudgeFailed as failure:
            if failure.wait_s > self._settings.timeout_s:
                raise
            log.info("the judge is called again: %s", failure)
            first_dollars = failure.dollars
            time.sleep(failure.wait_s)
        try:
            reply, dollars = self._fetch_once(prompt, payer, key)
        except JudgeFailed as failure:
            failure.dollars += first_dollars
            raise
        return Answered(reply, first_dollars + dollars)

    def _fetch_once(self, prompt: Prompt[T], payer: Payer, key: str) -> tuple[T, float]:
        text, dollars = self._fetch_within_budget(prompt, payer)
        try:
            reply = prompt.parse_reply(text)
        except JudgeFailed as failure:
            failure.dollars = dollars
            raise
        if self._recordings:
            self._recordings.write_reply(key, self.model, text)
        return reply, dollars

    def _fetch_within_budget(self, prompt: Prompt[Any], payer: Payer) -> tuple[str, float]:
        price = self._price or Price(0.0, 0.0)
        characters = sum(len(message["content"]) for message in prompt.messages)
        reserved = price.compute_dollars(characters // _CHARACTERS_PER_TOKEN, prompt.max_reply_tokens)
        self._budget.add_reservation(payer, reserved)
        cost = reserved
        try:
            with self._pace.turn():
                text, tokens_in, tokens_out = self._fetch_text(prompt)
            cost = price.compute_dollars(tokens_in, tokens_out)
            return text, cost
        finally:
            self._budget.update_cost(payer, reserved, cost)

    def _fetch_text(self, prompt: Prompt[Any]) -> tuple[str, int, int]:
        """Send the messages; return the reply's text, and the tokens in and out."""
        client: Any = self._get_client()
        import openai

        try:
            try:
                completion = self._fetch_completion(client, prompt, with_schema=self._takes_schemas)
            except openai.APIStatusError as refused:
                if not self._takes_schemas or refused.status_code not in _BAD_REQUEST:
                    raise
                completion = self._fetch_completion(client, prompt, with_schema=False)
                self._takes_schemas = False
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

    def _fetch_completion(self, client: Any, prompt: Prompt[Any], *, with_schema: bool) -> Any:
        form: dict[str, Any] = {"name": "verdict", "strict": True, "schema": prompt.schema}
        options = {"response_format": {"type": "json_schema", "json_schema": form}} if with_schema else {}
        return client.chat.completions.create(
            model=self.model,
            messages=prompt.messages,
            temperature=0,
            max_tokens=prompt.max_reply_tokens,
            **options,
        )

    def _get_client(self) -> OpenAI:
        if self._client is None:
            try:
                from openai import OpenAI
            except ModuleNotFoundError as missing:
                raise JudgeUnavailable(
                    "the judge needs the openai client: pip install spanproof[judge]"
                ) from missing
            endpoint, key = self._settings.endpoint, os.environ.get("OPENAI_API_KEY", "")
            if not key and not endpoint:
                raise JudgeUnavailable(
                    "the judge has no key: set OPENAI_API_KEY, or judge.endpoint for a server of your own"
                )
            self._client = OpenAI(
                base_url=endpoint or None,
                api_key=key or _NO_KEY,
                timeout=self._settings.timeout_s,
                max_retries=0,
            )
        return self._client


def _format_endpoint(client: Any) -> str:
    """Return the endpoint, without the credentials that its address may hold."""
    return str(client.base_url.copy_with(username=None, password=None))


def _read_retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait that an endpoint requests; 0 where it gives none in seconds."""
    delay = headers.get("retry-after", "")
    return float(delay) if delay.isdecimal() else 0.0
