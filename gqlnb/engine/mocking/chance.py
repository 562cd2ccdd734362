"""Numbers that follow from what they are for: no state, the same in every process."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

__all__ = ["STEP", "argued", "below", "mixed", "number"]

WORD = 2**64 - 1
STEP = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: multiples of it lie far apart


def number(*parts: object) -> int:
    """Return a number of 64 bits for some names or texts, the same everywhere."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


def mixed(value: int) -> int:
    """Return a number of 64 bits in which every bit depends on every bit of `value`.

    Notes
    -----
    Source: the last steps of splitmix64, S. Vigna, "Further scramblings of Marsaglia's xorshift
    generators". Several times faster than a hash function, and good enough for names of people.
    """
    value &= WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB & WORD
    return value ^ value >> 31


def below(value: int, low: int, high: int) -> int:
    """Return a number from `low` to `high`, both included, that `value` decides."""
    return low + value % (high - low + 1)


def argued(arguments: dict[str, Any]) -> int:
    """Return a number for the arguments of a field; null and left out are the same."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return number(json.dumps(given, sort_keys=True, default=str)) if given else 0
