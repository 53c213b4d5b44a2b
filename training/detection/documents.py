"""JSON and YAML documents written for training: settings, manifests, answers of services, records of tables.

A document is drawn from a handful of shapes with names and values by chance; nothing is taken from anywhere.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import yaml

_WORDS = "users orders items total price name city country rate result rows value count email status day amount region product invoices sessions events path report balance title author tags notes owner team stage build test deploy cache queue worker client server timeout retries limit offset page".split()  # noqa: E501, SIM905
_TEXTS = [
    "Lisbon",
    "in stock",
    "2026-11-03",
    "2025-04-30T08:15:00Z",
    "ana@example.org",
    "https://api.example.org/v2/items",
    "1.4.2",
    "^3.1.0",
    "sha256:9f86d081",
    "/srv/data/in.csv",
    "A-1042",
    "refund sent to the customer",
    "eu-west-1",
    "GET",
    "python:3.12-slim",
    "",
]


def _word(draw: random.Random) -> str:
    word = draw.choice(_WORDS)
    return draw.choice([word, word, f"{word}_{draw.choice(_WORDS)}", word.title(), f"{word}Id"])


def _value(draw: random.Random) -> Any:
    return draw.choice(
        [
            draw.choice(_TEXTS),
            draw.choice(_WORDS),
            draw.randint(0, 5000),
            round(draw.uniform(0, 900), 2),
            draw.choice([True, False, None]),
        ]
    )


def _record(draw: random.Random) -> dict[str, Any]:
    return {_word(draw): _value(draw) for _ in range(draw.randint(1, 6))}


def _table(draw: random.Random) -> list[dict[str, Any]]:
    columns = [_word(draw) for _ in range(draw.randint(2, 4))]
    return [{column: _value(draw) for column in columns} for _ in range(draw.randint(1, 4))]


def _list(draw: random.Random) -> list[Any]:
    kind = draw.choice([_value, lambda draw: draw.randint(0, 99), lambda draw: [draw.randint(0, 9)] * 2])
    return [kind(draw) for _ in range(draw.randint(1, 7))]


def _answer(draw: random.Random) -> dict[str, Any]:
    return {
        "status": draw.choice(["ok", "error", 200, 404]),
        _word(draw): draw.choice([_table, _record, _list])(draw),
        "next": draw.choice([None, "/items?page=2"]),
    }


def _nested(draw: random.Random, depth: int = 3) -> Any:
    if depth == 0:
        return _value(draw)
    inside = {_word(draw): _nested(draw, depth - draw.randint(1, depth)) for _ in range(draw.randint(1, 4))}
    return inside if draw.random() < 0.8 else [inside]


def _package(draw: random.Random) -> dict[str, Any]:
    return {
        "name": draw.choice(_WORDS),
        "version": f"{draw.randint(0, 9)}.{draw.randint(0, 20)}.{draw.randint(0, 9)}",
        "scripts": {
            draw.choice(["test", "build", "start"]): draw.choice(["node index.js", "make", "tsc -p ."])
        },
        "dependencies": {draw.choice(_WORDS): f"^{draw.randint(1, 9)}.0.0" for _ in range(2)},
    }


def _service(draw: random.Random) -> dict[str, Any]:
    name = draw.choice(_WORDS)
    return {
        "services": {
            name: {
                "image": draw.choice(["redis:7", "postgres:16", f"{name}:latest"]),
                "ports": [f"{draw.randint(1000, 9999)}:80"],
                "environment": {"MODE": "test", "RETRIES": draw.randint(1, 5)},
            }
        }
    }


def _manifest(draw: random.Random) -> dict[str, Any]:
    name = draw.choice(_WORDS)
    return {
        "apiVersion": draw.choice(["v1", "apps/v1"]),
        "kind": draw.choice(["Service", "Deployment", "ConfigMap"]),
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"replicas": draw.randint(1, 5), "selector": {"app": name}},
    }


def _jobs(draw: random.Random) -> dict[str, Any]:
    return {
        "name": draw.choice(_WORDS),
        "on": draw.choice([["push"], {"push": {"branches": ["main"]}}]),
        "jobs": {
            "build": {
                "runs-on": "ubuntu-latest",
                "steps": [{"uses": "actions/checkout@v4"}, {"name": "Test", "run": "make test"}],
            }
        },
    }


def _schema(draw: random.Random) -> dict[str, Any]:
    fields = [_word(draw) for _ in range(2)]
    return {
        "type": "object",
        "properties": {each: {"type": draw.choice(["string", "integer", "array"])} for each in fields},
        "required": fields[:1],
    }


_SHAPES: list[Callable[[random.Random], Any]] = [
    _record, _record, _table, _list, _answer, _nested, _nested, _package, _service, _manifest, _jobs, _schema,
]  # fmt: skip

_HANDWRITTEN = [
    "# {a} of the {b}\n{a}: {n}\n{b}:\n  - {c}\n  - {d}\n",
    "base: &base\n  {a}: {n}\n{b}:\n  <<: *base\n  {c}: {d}\n",
    "{a}:\n  {b}: |\n    {c} {d}\n    {a}\n",
    "---\n{a}: {b}\n---\n{c}: {d}\n",
    "- name: {a} {b}\n  {c}: {n}\n- name: {d}\n  {c}: {n}\n",
    "- hosts: {a}\n  tasks:\n    - name: {b}\n      {c}: state={d}\n",
    "{a}: {{{b}: {n}, {c}: [{d}, {n}]}}\n",
    "{a}: >-\n  {b} {c}\n  {d}\n{b}: ~\n",
    "{a}:\n  - {b}: {n}\n    {c}: yes\n  - {b}: {n}\n    {c}: no\n",
]


def a_json(draw: random.Random) -> str:
    """A document as JSON: in one line, indented, or lines of records."""
    if draw.random() < 0.1:
        return "\n".join(json.dumps(row) for row in _table(draw))
    document = draw.choice(_SHAPES)(draw)
    separators = draw.choice([None, None, (",", ":")])
    return json.dumps(document, indent=draw.choice([None, None, 2, 4]), separators=separators)


def a_yaml(draw: random.Random) -> str:
    """A document as YAML, as a program dumps it or as a person writes it."""
    if draw.random() < 0.35:
        a, b, c, d = draw.sample(_WORDS, 4)
        return draw.choice(_HANDWRITTEN).format(a=a, b=b, c=c, d=d, n=draw.randint(1, 90)).rstrip("\n")
    document = draw.choice([shape for shape in _SHAPES if shape is not _list])(draw)
    text: str = yaml.safe_dump(document, sort_keys=False, default_flow_style=False)
    return text.rstrip("\n")
