"""Finding: a search expression over the columns of a population."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gqlnb.github.columns import Columns, Rows
from gqlnb.github.data import Repository, iso
from gqlnb.github.languages import spoken
from gqlnb.github.qualifiers import Known, Named, Range, Test
from gqlnb.github.search import REACH, Clause, Expression, parse
from gqlnb.github.words import Word

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Found", "Population", "find", "grouped", "order_by", "scattered", "select", "sorting"]

_LEAST, _MOST = -(2**31), 2**31 - 1  # of the numbers that a column can hold
_KEYS = {"stars": "stars", "forks": "forks", "updated": "pushed"}

Alternatives = tuple[tuple[Word, ...], ...]
Mask = Any  # a boolean array, or one boolean for all rows
Selector = Any  # a slice of the rows, or the numbers of some
Ties = Callable[[Any], Any]  # of rows, what decides between equal ones


class Population(Columns):
    """Repositories to search and to serve: ``github.service(population=...)``.

    Made by :func:`gqlnb.github.population`; immutable. ``population[0]`` is the most starred one,
    ``len(population)`` how many there are.

    Examples
    --------
    >>> import gqlnb
    >>> made_up = gqlnb.github.population(10_000, seed=1)
    >>> len(made_up), made_up.count("stars:>1000") == len(made_up.frame("stars:>1000"))
    (10000, True)
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
        coded = self.language[rows]
        made["language"] = pd.array([languages[code] for code in coded], dtype="string")
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
    ties: Ties | None = None,
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
        Returns what decides between equal ones, for some rows; by default owner and name.

    Returns
    -------
    (array, int)
        The rows, and how many match.
    """
    selected, rest = _narrowed(population, expression.clauses)
    standing = (expression.sort, expression.descending) == ("stars", True)  # as the rows do
    rows: Any  # numbers that rise
    if standing and not rest and not expression.words and isinstance(selected, slice):
        rows = range(selected.start, selected.stop)  # all of them are never written down
    else:
        rows = _matching(population, selected, rest, expression.words)
    total = len(rows)
    reach = total if reach is None else min(total, reach)
    if standing and ties is None:
        return np.asarray(rows[:reach], dtype=np.intp), total
    if standing and reach:
        end = population.above(int(population.stars[rows[reach - 1]]), None)[1]
        rows = rows[: bisect_left(rows, end)]
    rows = np.asarray(rows, dtype=np.intp)
    keys = getattr(population, _KEYS[expression.sort])[rows]
    keys = -keys if expression.descending else keys
    return _first(rows, keys, ties or population.rank.__getitem__, reach), total


def order_by(
    population: Columns, rows: NDArray[Any], column: str, *, descending: bool = False
) -> NDArray[Any]:
    """Return rows sorted by what :func:`sorting` says of each.

    Parameters
    ----------
    population
        Where the rows are.
    rows
        Their numbers.
    column
        The name of the column; ``"name"`` sorts by name in any case, ``"id"`` by nothing else.
    descending
        Whether the largest comes first.
    """
    ids = _ids(population, rows)
    keys = ids
    if column == "name":
        names = np.array([population.names[population.name[row]].lower() for row in rows])
        keys = np.unique(names, return_inverse=True)[1] if len(rows) else rows
    elif column != "id":
        keys = getattr(population, column)[rows]
    ordered: NDArray[Any] = rows[np.lexsort((ids, keys))]
    return ordered[::-1] if descending else ordered


def sorting(population: Columns, row: int, column: str) -> tuple[Any, ...]:
    """Return what a row is sorted by: a value of a column, and its id.

    An id is a number of its own for each repository, and rises with the time when it was made, as
    GitHub's do; it stays the same where stars change. Of ``"id"`` there is the id alone.
    """
    number = int(_ids(population, np.array([row]))[0])
    if column == "id":
        return (number,)
    if column == "name":
        return (population.names[population.name[row]].lower(), number)
    value = int(getattr(population, column)[row])
    return (iso(value) if column in {"created", "pushed"} else value, number)


def _ids(population: Columns, rows: NDArray[Any]) -> NDArray[np.int64]:
    ids: NDArray[np.int64] = population.created[rows].astype(np.int64) * 2**32
    ids += population.rank[rows]
    return ids


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
    """Return the rows that can match, as far as their order tells, and what is left to check."""
    least, most = 0, _MOST
    owned: NDArray[Any] | None = None
    rest = []
    for clause in clauses:
        test = clause.tests[0]
        if clause.negated:
            rest.append(clause)
        elif isinstance(test, Range) and test.column == "stars":
            least = max(least, test.low or 0)
            most = min(most, _MOST if test.high is None else test.high)
        elif isinstance(test, Named) and test.column in {"owner", "repository"}:
            owned = _owned(population, clause.tests)
        else:
            rest.append(clause)
    begin, end = population.above(least, most)
    if owned is None:
        return slice(begin, end), rest
    return owned[(owned >= begin) & (owned < end)], rest


def _owned(population: Columns, tests: Iterable[Test]) -> NDArray[Any]:
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


def _matching(
    population: Columns, selected: Selector, clauses: list[Clause], words: Alternatives
) -> NDArray[Any]:
    """Return the numbers of those selected rows of which all clauses hold."""
    mask: Mask = True
    for about, some in grouped(clauses).items():
        mask = mask & _HOLDERS.get(about, _within)(population, selected, some)
    if words:
        mask = mask & _called(population, selected, words)
    if isinstance(selected, slice):
        size = selected.stop - selected.start
        if mask is True:
            return np.arange(selected.start, selected.stop)
        matching: NDArray[Any] = np.flatnonzero(np.broadcast_to(mask, size))
        matching += selected.start
        return matching
    found: NDArray[Any] = selected[np.broadcast_to(mask, len(selected))]
    return found


def grouped(clauses: list[Clause]) -> dict[str, list[Clause]]:
    """Return clauses by the column that they are about: each column is looked at once."""
    found: dict[str, list[Clause]] = {}
    for clause in clauses:
        column = clause.tests[0].column
        found.setdefault("owner" if column == "repository" else column, []).append(clause)
    return found


def _within(population: Columns, selected: Selector, clauses: list[Clause]) -> Mask:
    """Tell which numbers of a column lie where all clauses want them."""
    column = getattr(population, clauses[0].tests[0].column)[selected]
    spans = _spans(clauses)
    if len(spans) != 1:
        edges = np.array([(low, high + 1) for low, high in spans], dtype=np.int64).ravel()
        return len(edges) > 0 and np.searchsorted(edges, column, side="right") % 2 == 1
    mask: Mask = True
    low, high = spans[0]
    if low > _LEAST:
        mask = column >= low
    if high < _MOST:
        mask = mask & (column <= high)
    return mask


def _spans(clauses: list[Clause]) -> list[tuple[int, int]]:
    """Return the spans that ranges leave of all numbers, rising and apart, both ends included."""
    low, high, holes = _LEAST, _MOST, []
    for clause in clauses:
        test = clause.tests[0]
        if isinstance(test, Range):
            least = _LEAST if test.low is None else test.low
            most = _MOST if test.high is None else test.high
            if not clause.negated:
                low, high = max(low, least), min(high, most)
            elif least <= most:
                holes.append((least, most))
    spans = []
    for least, most in sorted(holes):
        if low < least:
            spans.append((low, min(high, least - 1)))
        low = max(low, most + 1)
    return [span for span in (*spans, (low, high)) if span[0] <= span[1]]


def _in_language(population: Columns, selected: Selector, clauses: list[Clause]) -> Mask:
    """Tell which rows are in the languages that all clauses want."""
    names = [language and spoken(language.name) for language in population.languages]
    wanted = np.ones(len(names), dtype=bool)
    for clause in clauses:
        texts = {test.text for test in clause.tests if isinstance(test, Named)}
        wanted &= np.array([name in texts for name in names]) != clause.negated
    return wanted[population.language[selected]]


def _not_owned(population: Columns, selected: Selector, clauses: list[Clause]) -> Mask:
    """Tell which rows are not of the owners, and not the repositories, of negated clauses."""
    rows = _owned(population, (test for clause in clauses for test in clause.tests))
    if not isinstance(selected, slice):
        return ~np.isin(selected, rows, assume_unique=True)
    mask = np.ones(selected.stop - selected.start, dtype=bool)
    mask[rows[(rows >= selected.start) & (rows < selected.stop)] - selected.start] = False
    return mask


def _archived(population: Columns, selected: Selector, clauses: list[Clause]) -> Mask:
    """Tell which rows are archived, or are not, as all clauses want it."""
    wanted = {
        test.wanted != c.negated for c in clauses for test in c.tests if isinstance(test, Known)
    }
    return len(wanted) == 1 and population.archived[selected] == wanted.pop()


def _always(_population: Columns, _selected: Selector, clauses: list[Clause]) -> Mask:
    """Tell whether all clauses hold that are about all rows alike."""
    known = ((test, c.negated) for c in clauses for test in c.tests if isinstance(test, Known))
    return all(test.wanted != negated for test, negated in known)


_HOLDERS: dict[str, Callable[[Columns, Selector, list[Clause]], Mask]] = {
    "all": _always,
    "archived": _archived,
    "language": _in_language,
    "owner": _not_owned,
}


def _called(population: Columns, selected: Selector, words: Alternatives) -> Mask:
    """Tell which names are like one of the alternatives; each name is looked at once."""
    codes, known = population.name[selected], population.names
    if len(codes) < len(known):
        few, codes = np.unique(codes, return_inverse=True)
        known = tuple(known[code] for code in few.tolist())
    names = [name.lower() for name in known]
    alike = np.zeros(len(names), dtype=bool)
    for alternative in words:
        left: Sequence[int] = range(len(names))
        for word in alternative:
            text, negated = word.text, word.negated
            left = [place for place in left if (text in names[place]) != negated]
        alike[np.array(left, dtype=np.intp)] = True
    return alike[codes]


def _first(rows: NDArray[Any], keys: NDArray[Any], ties: Ties, reach: int) -> NDArray[Any]:
    """Return the first `reach` rows in the order of their keys, equal ones in that of `ties`."""
    if 0 < reach < len(rows):
        near = keys <= np.partition(keys, reach - 1)[reach - 1]
        rows, keys = rows[near], keys[near]
    found: NDArray[Any] = rows[np.lexsort((ties(rows), keys))[:reach]]
    return found
