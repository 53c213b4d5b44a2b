"""Agents that are functions: no framework is imported for them, which takes seconds."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import time
import urllib.request
from pathlib import Path


def plain(task: str) -> str:
    return "The refund of order A-17 is $45.00."


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
