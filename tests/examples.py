"""How many examples tests have: all of them in CI, fewer elsewhere."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

IS_THOROUGH = "CI" in os.environ


def count_examples(most: int) -> int:
    """Return the number of examples of a test that has at most so many."""
    return most if IS_THOROUGH else most // 4


def make_blocks(name: str, most: int, size: int) -> list[range]:
    """Return the numbers of generated cases, in blocks of a size.

    `MODELS_SEED=123` in the environment asks for one case of the name ``MODELS``, and
    `MODELS_CASES=20000` for more of them.
    """
    if seed := os.environ.get(f"{name}_SEED"):
        return [range(int(seed), int(seed) + 1)]
    count = int(os.environ.get(f"{name}_CASES", most))
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def select_combinations(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of parameters: all of them in CI.

    Elsewhere they are those in which each value of the longest axis is combined with one of the
    second, in turn, so that each value of each axis is in some of them.
    """
    numbered = [[*enumerate(axis)] for axis in axes]
    period = sorted(map(len, numbered))[-2]
    return [
        tuple(value for _, value in combination)
        for combination in product(*numbered)
        if IS_THOROUGH or sum(number for number, _ in combination) % period == 0
    ]
