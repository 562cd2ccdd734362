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
