"""Caches of names and cells keep no outputs: what an evaluator holds does not grow with what it has read."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from spanproof.reading.numbers import list_cached_mentions
from spanproof.reading.words import list_base_forms, split_name


@pytest.mark.parametrize("read", [split_name, list_base_forms, list_cached_mentions])
def test_texts_are_not_kept(read) -> None:
    texts = 40

    def read_texts(first: int) -> None:
        for number in range(first, first + texts):
            assert read(f"output{number} " + " ".join(f"value{line}" for line in range(500)))

    read_texts(0)
    gc.collect()
    tracemalloc.start()
    try:
        read_texts(texts)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000, "of 40 texts of 4 KB"


def test_short_texts_are_read_once() -> None:
    assert split_name("scheduledArrival_time") is split_name("scheduledArrival_time")
