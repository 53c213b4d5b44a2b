"""Random generators of an agent's process: seeded at the start of each trial.

The agent's module is imported once, and each trial runs in a fork. A generator that the module made without a
seed would draw the same in each fork, so it gets a seed of its own there. One that was made with a seed is
left as it is: a fresh process would draw the same from it.
"""

from __future__ import annotations

import os
import random
import sys
from typing import Any
from weakref import WeakSet

from spanproof.agent_process.on_import import on_import


class RandomGenerators:
    """Seeds the generators of `random` and numpy.

    Call `start_watching` before the agent's module is imported.
    """

    def __init__(self) -> None:
        """Know of no generator yet."""
        self._python: WeakSet[random.Random] = WeakSet()
        # Generators of numpy cannot be referred to weakly.
        self._numpy: list[Any] = []

    def start_watching(self) -> None:
        """Note from now on each generator that is made without a seed."""
        seed_generator = random.Random.seed
        unseeded = self._python

        def seed(generator: random.Random, a: Any = None, version: int = 2) -> None:
            if a is None:
                unseeded.add(generator)
            else:
                unseeded.discard(generator)
            seed_generator(generator, a, version)

        random.Random.seed = seed  # type: ignore[method-assign, assignment]
        on_import("numpy", self._start_watching_numpy)

    def _start_watching_numpy(self) -> None:
        numpy_random = sys.modules["numpy"].random
        make_generator = numpy_random.default_rng

        def default_rng(seed: Any = None) -> Any:
            generator = make_generator(seed)
            if seed is None:
                self._numpy.append(generator)
            return generator

        numpy_random.default_rng = default_rng

    def update_seeds(self, seed: int) -> None:
        """Seed all generators for a trial, and the hashes of the programs that the agent starts."""
        random.seed(seed)
        os.environ["PYTHONHASHSEED"] = str(seed)
        # A stream of its own: the agent's own draws begin as `random.seed(seed)` has them.
        stream = random.Random(f"generators of trial {seed}")  # noqa: S311 - no secret
        for generator in list(self._python):
            random.Random.seed(generator, stream.getrandbits(64))
        for generator in self._numpy:
            fresh = type(generator.bit_generator)(stream.getrandbits(64))
            generator.bit_generator.state = fresh.state
        on_import("numpy", lambda: sys.modules["numpy"].random.seed(seed))
