"""A cache for functions of short texts, such as names and cells, that are also given long ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

# A longer text is an output, which no other trace has: a cache of thousands of them held 85 KB a trace.
_LONGEST_CHARS = 200


def cache_short_texts(
    maxsize: int,
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Return a decorator that keeps what a function returns for its last `maxsize` short texts."""

    def decorate(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        cached = lru_cache(maxsize)(function)

        @wraps(function)
        def call(text: str, *arguments: P.args, **options: P.kwargs) -> T:
            if len(text) > _LONGEST_CHARS:
                return function(text, *arguments, **options)
            return cached(text, *arguments, **options)  # type: ignore[arg-type]  # hashable, as with any cache

        return cast("Callable[Concatenate[str, P], T]", call)

    return decorate
