"""Finding: a search expression over the columns of a population."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gqlnb.github.columns import Columns, Rows
from gqlnb.github.data import Repository
from gqlnb.github.search import REACH, Clause, Expression, Named, Range, Test, parse

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Found", "Population", "find", "order_by", "scattered", "select"]

_LEAST, _MOST = -(2**31), 2**31 - 1  # of the numbers that a column can hold
_KEYS = {"stars": "stars", "forks": "forks", "updated": "pushed"}

Mask = Any  # a boolean array, or one boolean for all rows
Selector = Any  # a slice of the rows, or the numbers of some


class Population(Columns):
    """Repositories to search and to serve: ``github.service(population=...)``.

    Made by :func:`gqlnb.github.population`; immutable. ``population[0]`` is the most starred one,
    ``len(population)`` how many there are.
    """

    def count(self, expression: str = "") -> int:
        """Return how many repositories a search expression finds, without the cap of a search.

        Raises
        ------
        QueryError
            If the expression cannot be read.
        """
        return select(self, parse(expression), reach=1)[1]

    def frame(self, expression: str = "") -> pd.DataFrame:
        """Return all repositories that a search expression finds, to compare a harvest with.

        Parameters
        ----------
        expression
            As for :func:`gqlnb.github.search.parse`; by default, all.

        Returns
        -------
        DataFrame
            Columns ``name``, ``owner`` (string), ``stargazers``, ``forks`` (Int64), ``language``
            (string), ``created_at``, ``pushed_at`` (in UTC) and ``archived`` (boolean), in the
            order of the expression.

        Raises
        ------
        QueryError
            If the expression cannot be read.
        """
        import pandas as pd

        rows, _ = select(self, parse(expression), reach=None)
        named = {
            "name": [self.names[code] for code in self.name[rows]],
            "owner": [self.owners[code].login for code in self.owner[rows].tolist()],
        }
        languages = [each and each.name for each in self.languages]
        made = pd.DataFrame({k: pd.array(v, dtype="string") for k, v in named.items()})
        made["stargazers"] = pd.array(self.stars[rows], dtype="Int64")
        made["forks"] = pd.array(self.forks[rows], dtype="Int64")
        spoken = [languages[code] for code in self.language[rows]]
        made["language"] = pd.array(spoken, dtype="string")
        made["created_at"] = pd.to_datetime(self.created[rows], unit="s", utc=True)
        made["pushed_at"] = pd.to_datetime(self.pushed[rows], unit="s", utc=True)
        made["archived"] = pd.array(self.archived[rows], dtype="boolean")
        return made


class Found(NamedTuple):
    """What a search found.

    Attributes
    ----------
    items
        Those that can be reached, in order.
    total
        How many match.
    """

    items: Sequence[Repository]
    total: int


def find(population: Columns, expression: Expression) -> Found:
    """Return the repositories of which `expression` holds, in its order, 1,000 at most."""
    rows, total = select(population, expression)
    return Found(Rows(population, rows), total)


def select(
    population: Columns,
    expression: Expression,
    *,
    reach: int | None = REACH,
    ties: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], int]:
    """Return the numbers of the rows of which `expression` holds, in its order.

    Parameters
    ----------
    population
        Where to look.
    expression
        What to look for.
    reach
        How many to return; None for all.
    ties
        What decides between equal ones, by row; by default owner and name.

    Returns
    -------
    (array, int)
        The rows, and how many match.
    """
    selected, rest = _narrowed(population, expression.clauses)
    standing = (expression.sort, expression.descending) == ("stars", True) and ties is None
    if standing and not rest and isinstance(selected, slice):
        total = selected.stop - selected.start
        size = total if reach is None else min(total, reach)
        return np.arange(selected.start, selected.start + size), total
    rows = _matching(population, selected, rest)
    total = len(rows)
    if standing:
        return rows[:reach], total
    keys = getattr(population, _KEYS[expression.sort])[rows]
    first = _first(
        rows,
        -keys if expression.descending else keys,
        population.rank if ties is None else ties,
        total if reach is None else reach,
    )
    return first, total


def order_by(
    population: Columns, rows: NDArray[Any], column: str, *, descending: bool
) -> NDArray[Any]:
    """Return rows sorted by a column, equal ones by owner and name.

    Parameters
    ----------
    population
        Where the rows are.
    rows
        Their numbers.
    column
        The name of the column; ``"name"`` sorts by name in any case.
    descending
        Whether the largest comes first; equal ones keep their order.
    """
    if column == "name":
        names = np.array([population.names[population.name[row]].lower() for row in rows])
        keys = np.unique(names, return_inverse=True)[1] if len(rows) else rows
    else:
        keys = getattr(population, column)[rows]
    return _first(rows, -keys if descending else keys, population.rank, len(rows))


def scattered(numbers: NDArray[Any], salt: int) -> NDArray[np.uint32]:
    """Return a number for each number that looks random, and is the same for the same salt.

    Parameters
    ----------
    numbers
        Whole numbers from 0 to 2**32 - 1.
    salt
        Any whole number from 0 to 2**32 - 1; another one gives another order.

    Notes
    -----
    The finalizer of MurmurHash3, which is a bijection: different numbers stay different.
    """
    mixed = numbers.astype(np.uint32) ^ np.uint32(salt)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed ^= mixed >> np.uint32(shift)
        mixed *= np.uint32(factor)
    return mixed


def _narrowed(population: Columns, clauses: tuple[Clause, ...]) -> tuple[Selector, list[Clause]]:
    """Return the rows that can match at all, by what the order of the rows tells, and the rest."""
    begin, end = 0, len(population)
    owned: NDArray[Any] | None = None
    rest = []
    for clause in clauses:
        test = clause.tests[0]
        if clause.negated:
            rest.append(clause)
        elif isinstance(test, Range) and test.column == "stars":
            first, last = population.above(test.low, test.high)
            begin, end = max(begin, first), min(end, last)
        elif isinstance(test, Named) and test.column in {"owner", "repository"}:
            owned = _owned(population, clause.tests)
        else:
            rest.append(clause)
    if owned is None:
        return slice(begin, max(begin, end)), rest
    return owned[(owned >= begin) & (owned < end)], rest


def _owned(population: Columns, tests: tuple[Test, ...]) -> NDArray[Any]:
    """Return the rows that owners and full names stand for, in their order."""
    parts = [np.empty(0, dtype=np.int32)]
    for test in tests:
        if isinstance(test, Named) and test.column == "owner":
            owner = population.owners.find(test.text)
            parts.extend([] if owner is None else [population.owned(owner)])
        elif isinstance(test, Named):
            row = population.named(test.text)
            parts.extend([] if row is None else [np.array([row], dtype=np.int32)])
    return np.unique(np.concatenate(parts))


def _matching(population: Columns, selected: Selector, clauses: list[Clause]) -> NDArray[Any]:
    """Return the numbers of those selected rows of which all clauses hold."""
    mask: Mask = True
    for clause in clauses:
        mask = mask & _holds(population, selected, clause)
    if isinstance(selected, slice):
        size = selected.stop - selected.start
        if mask is True:
            return np.arange(selected.start, selected.stop)
        matching: NDArray[Any] = np.flatnonzero(np.broadcast_to(mask, size))
        matching += selected.start
        return matching
    found: NDArray[Any] = selected[np.broadcast_to(mask, len(selected))]
    return found


def _holds(population: Columns, selected: Selector, clause: Clause) -> Mask:
    masks = [_mask(population, selected, test) for test in clause.tests]
    any_of = reduce(np.logical_or, masks)
    return np.logical_not(any_of) if clause.negated else any_of


def _mask(population: Columns, selected: Selector, test: Test) -> Mask:
    """Return of which selected rows a test holds."""
    if isinstance(test, Named):
        return _MATCHERS[test.column](population, selected, test.text)
    if isinstance(test, Range):
        return _within(getattr(population, test.column)[selected], test)
    if test.column == "all":
        return test.wanted
    return getattr(population, test.column)[selected] == test.wanted


def _spoken(population: Columns, selected: Selector, text: str) -> Mask:
    known = [language and language.name.lower() == text for language in population.languages]
    return np.array(known, dtype=bool)[population.language[selected]]


def _has_owner(population: Columns, selected: Selector, text: str) -> Mask:
    owner = population.owners.find(text)
    return owner is not None and population.owner[selected] == owner


def _is_called(population: Columns, selected: Selector, text: str) -> Mask:
    return _is_row(selected, population.named(text))


def _holding(population: Columns, selected: Selector, text: str) -> Mask:
    known = [text in name.lower() for name in population.names]
    return np.array(known, dtype=bool)[population.name[selected]]


_MATCHERS: dict[str, Callable[[Columns, Selector, str], Mask]] = {
    "language": _spoken,
    "owner": _has_owner,
    "repository": _is_called,
    "name": _holding,
}


def _is_row(selected: Selector, row: int | None) -> Mask:
    if isinstance(selected, slice):
        selected = np.arange(selected.start, selected.stop)
    return row is not None and selected == row


def _within(column: NDArray[Any], test: Range) -> Mask:
    """Return which numbers lie within bounds; a bound that no number can pass is none."""
    mask: Mask = True
    if test.low is not None and test.low > _LEAST:
        mask = test.low <= _MOST and column >= test.low
    if test.high is not None and test.high < _MOST:
        mask = mask & (test.high >= _LEAST and column <= test.high)
    return mask


def _first(rows: NDArray[Any], keys: NDArray[Any], ties: NDArray[Any], reach: int) -> NDArray[Any]:
    """Return the first `reach` rows in the order of their keys, equal ones in that of `ties`."""
    if 0 < reach < len(rows):
        near = keys <= np.partition(keys, reach - 1)[reach - 1]
        rows, keys = rows[near], keys[near]
    found: NDArray[Any] = rows[np.lexsort((ties[rows], keys))[:reach]]
    return found
