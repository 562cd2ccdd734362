"""Finding what a harvest holds twice, in bounded memory.

While a harvest runs stars move, and may carry a repository from a range that is done into one that
is not. A sweep knows those that have just come, which is nearly all of them; the rest is found here
at the end, by the hashes of all ids, so many of them at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["AT_ONCE", "repeated"]

AT_ONCE = 250_000  # hashes in memory, 2 MB, and as much for their places and their order
_PART = 2**32  # more than the rows of any part


def repeated(
    parts: Callable[[], Iterable[Sequence[str]]], rows: int, at_once: int = AT_ONCE
) -> dict[int, list[int]]:
    """Return which ids have come before.

    Parameters
    ----------
    parts
        Returns the ids of each part; it is called several times.
    rows
        How many ids there are, roughly.
    at_once
        How many to look at together.

    Returns
    -------
    dict
        By the number of the part, counted from 0, the places of those ids in it, in their order.
    """
    turns = max(1, -(-rows // at_once))
    suspects = np.concatenate([_alike(parts, turn, turns) for turn in range(turns)])
    if not len(suspects):
        return {}
    suspects.sort()
    seen: set[str] = set()
    found: dict[int, list[int]] = {}
    for number, ids in enumerate(parts()):
        begin, end = np.searchsorted(suspects, [number * _PART, (number + 1) * _PART])
        for place in (suspects[begin:end] - number * _PART).tolist():
            if ids[place] in seen:
                found.setdefault(number, []).append(place)
            seen.add(ids[place])
    return found


def _alike(
    parts: Callable[[], Iterable[Sequence[str]]], turn: int, turns: int
) -> NDArray[np.int64]:
    """Return the places of ids with equal hashes, of one share of all hashes."""
    shares = [*_shares(parts(), turn, turns)]
    hashes = np.concatenate([np.empty(0, np.int64), *(each for each, _ in shares)])
    places = np.concatenate([np.empty(0, np.int64), *(each for _, each in shares)])
    order = np.argsort(hashes)
    hashes = hashes[order]
    equal = np.flatnonzero(hashes[1:] == hashes[:-1])
    return np.unique(places[order[np.concatenate([equal, equal + 1])]])


def _shares(
    parts: Iterable[Sequence[str]], turn: int, turns: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the hashes of one share, and where their ids stand."""
    for number, ids in enumerate(parts):
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        mine = np.flatnonzero(hashes % turns == turn)
        yield hashes[mine], mine + number * _PART
