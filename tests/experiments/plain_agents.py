"""Agents that are functions: no framework is imported for them, which takes seconds."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import time
import urllib.request
from pathlib import Path

from opentelemetry import trace as otel

from spanproof.instrumentors import trace
from spanproof.semconv import genai


def plain(task: str) -> str:
    return "The refund of order A-17 is $45.00."


def idle(task: str) -> str:
    return ""


def reads_file(task: str, path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def raising(task: str) -> str:
    raise LookupError("no such order")


def exiting(task: str) -> str:
    os._exit(9)


def sleeping(task: str) -> str:
    print("I sleep")
    sys.stdout.flush()
    time.sleep(600)
    return ""


def drawn(task: str) -> str:
    return str(random.random())


def unmade() -> None:
    raise KeyError("MODEL_NAME")


def looks_around(task: str) -> str:
    with sqlite3.connect("shop.db") as shop:
        (total,) = shop.execute("select sum(cents) from refunds").fetchone()
    with urllib.request.urlopen("https://api.example.com/rate") as answer:
        rate = answer.read().decode()
    try:
        urllib.request.urlopen("https://api.example.com/rate")
    except OSError:
        rate += " once"
    return f"{Path('notes.txt').read_text(encoding='utf-8')} {total} {rate}"


@trace.agent
def prompted(task: str) -> str:
    """Answer in dollars only where the prompt says so."""
    return _add(in_dollars="in dollars" in os.environ["AGENT_PROMPT"])


@trace.agent
def imitating(task: str) -> str:
    """Answer in dollars where the task says so, or an example of the prompt does."""
    return _add(in_dollars="in dollars" in task or "$45.00" in os.environ["AGENT_PROMPT"])


def _add(*, in_dollars: bool) -> str:
    """Return the refund, after a call of a model and a step of code on the trace."""
    usage = {genai.OPERATION_NAME: genai.OPERATION_CHAT, genai.USAGE_INPUT_TOKENS: 10}
    otel.get_tracer("plain_agents").start_span("chat", attributes=usage).end()
    shown = "'$' + format(cents / 100, '.2f')" if in_dollars else "str(cents) + ' cents'"
    with trace.step("step 1"):
        answer = eval(shown, {"cents": 4500})
        trace.record_execution(f"cents = 3000 + 1500\nprint({shown})", "python", observation=answer)
    return answer


_UNSEEDED = random.Random()
_SEEDED = random.Random(7)


def gambling(task: str) -> str:
    """Fail in 30 % of the trials."""
    return "45.00" if random.random() >= 0.3 else "54.00"


def gambling_with_an_own_generator(task: str) -> str:
    """Fail in 30 % of the trials, drawn by a generator that was made when the module was imported."""
    return "45.00" if _UNSEEDED.random() >= 0.3 else "54.00"


def drawing_from_all(task: str) -> str:
    """Return a draw of each generator, one of numpy among them where it is imported late."""
    import numpy

    return f"{random.random()} {_UNSEEDED.random()} {_SEEDED.random()} {numpy.random.random()}"


@trace.agent
def drawing_in_a_step(task: str) -> str:
    """Return a draw that a step of code made, which is on the trace with what it printed."""
    with trace.step("step 1"):
        drawn = str(random.random())
        trace.record_execution("import random\nprint(random.random())", "python", observation=drawn)
    return drawn
