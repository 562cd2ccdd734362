"""Narrowing a search to the rows that stand first, where only so many are wanted."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import msgspec

from gqlnb.github.harvesting.asking import Asker, errand
from gqlnb.github.harvesting.values import Ask

if TYPE_CHECKING:
    from gqlnb.client.client import Client
    from gqlnb.github.harvesting.scope import Scope

__all__ = ["counted", "narrowed"]

CLOSE = 1.05  # times as many as are wanted are near enough: a page more costs less than asking
_STARS = 2**31 - 1  # more than any repository can have


def counted(client: Client, scope: Scope) -> int:
    """Return how many repositories match, in one request.

    Raises
    ------
    GqlnbError
        If there is no answer.
    """
    outcome = errand(Asker(client), [Ask(0, 0, 1, scope.expression())])
    if outcome.pages is None:
        raise outcome.error or AssertionError  # one of the two is always there
    return outcome.pages[0].total


def narrowed(client: Client, scope: Scope, most: int, *, rising: bool = False) -> tuple[Scope, int]:
    """Return the part of a search that holds at least its first `most` results.

    Counts are asked for, each in one request, until the part holds few more than wanted, or all of
    the last number of stars.

    Parameters
    ----------
    client
        What to ask.
    scope
        What is searched.
    most
        How many results are wanted.
    rising
        Whether the fewest stars stand first; by default the most.

    Returns
    -------
    (Scope, int)
        The part, and how many match the whole search.

    Raises
    ------
    GqlnbError
        If there is no answer.
    """
    found = total = counted(client, scope)
    least, top = scope.low, _STARS if scope.high is None else scope.high
    enough, less = (top, least - 1) if rising else (least, top + 1)
    while found > most * CLOSE and abs(enough - less) > 1:
        middle = _between(enough, less)
        part = _part(scope, middle, rising=rising)
        count = counted(client, part)
        if count >= most:
            enough, found = middle, count
        else:
            less = middle
    return (_part(scope, enough, rising=rising) if found < total else scope), total


def _between(one: int, other: int) -> int:
    """Return a number between two, in the middle of their logarithms: stars are spread so."""
    low, high = sorted((one, other))
    return min(max(isqrt((low + 1) * (high + 1)), low + 1), high - 1)


def _part(scope: Scope, edge: int, *, rising: bool) -> Scope:
    if rising:
        return msgspec.structs.replace(scope, high=edge)
    return msgspec.structs.replace(scope, low=edge)
