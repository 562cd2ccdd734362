"""Searches in the repositories of the stand-in: the matching rows, and their order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gqlnb.errors import QueryError
from gqlnb.github.repositories import Repository, format_timestamp
from gqlnb.github.search_syntax import (
    MAX_SEARCH_RESULTS,
    Clause,
    FlagTest,
    NameTest,
    QualifierTest,
    RangeTest,
    SearchExpression,
    UnknownTest,
    Word,
    normalize_language,
    parse_expression,
)
from gqlnb.github.standin.repository_columns import RepositoryColumns, Rows
from gqlnb.option_checks import explain_keywords

if TYPE_CHECKING:
    import pandas as pd

RowSelector = slice | Rows
Mask = NDArray[np.bool_] | bool  # one boolean for each selected row, or one for all
TieBreaker = Callable[[Rows], NDArray[Any]]  # the sort keys of rows that are equal otherwise
WordAlternatives = tuple[tuple[Word, ...], ...]

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1  # the numbers that a column can hold
_SORT_COLUMNS = {"stars": "stars", "forks": "forks", "updated": "pushed"}


class RepositoryMatches(NamedTuple):
    """The repositories that match a search.

    Attributes
    ----------
    items
        The first 1,000, in order.
    total
        The number of all matches.
    """

    items: Sequence[Repository]
    total: int


def select_rows(
    population: RepositoryColumns,
    expression: SearchExpression,
    *,
    reach: int | None = MAX_SEARCH_RESULTS,
    ties: TieBreaker | None = None,
) -> tuple[NDArray[Any], int]:
    """Return the numbers of the rows that match an expression, in its order.

    Parameters
    ----------
    population
        The repositories.
    expression
        The parsed search expression.
    reach
        The number of rows to return; None for all.
    ties
        Returns the sort keys of rows that are equal otherwise; by default owner and name.

    Returns
    -------
    (array, int)
        The rows, and the number of all matches.

    Raises
    ------
    QueryError
        If the expression has a qualifier about which the population has no data.
    """
    tests = (test for clause in expression.clauses for test in clause.tests)
    unknown = dict.fromkeys(test.column for test in tests if isinstance(test, UnknownTest))
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        msg = (
            f"The stand-in for GitHub has no data for the qualifier {names}. Leave it out, or "
            "search on GitHub itself, with client='github'."
        )
        raise QueryError(msg)
    selected, rest = _narrow_rows(population, expression.clauses)
    sort, words = expression.sort, expression.words
    if sort == "match" and not words:
        sort = "stars"
    is_row_order = (sort, expression.descending) == ("stars", True)
    rows: Any  # rising numbers
    if is_row_order and not rest and not expression.words and isinstance(selected, slice):
        rows = range(selected.start, selected.stop)  # millions of rows need no array
    else:
        rows = _RowMatcher(population, selected).match_rows(rest, expression.words)
    total = len(rows)
    reach = total if reach is None else min(total, reach)
    if is_row_order and ties is None:
        return np.asarray(rows[:reach], dtype=np.intp), total
    if is_row_order and reach:
        # Ties reorder only rows of equal stars, so rows below the last reachable stars are dropped.
        end = population.find_star_range(int(population.stars[rows[reach - 1]]), None)[1]
        rows = rows[: bisect_left(rows, end)]
    rows = np.asarray(rows, dtype=np.intp)
    if sort == "match":
        keys = _rate_matches(population, rows, words)
    else:
        keys = getattr(population, _SORT_COLUMNS[sort])[rows]
    keys = -keys if expression.descending else keys
    return _take_first(rows, keys, ties or population.rank.__getitem__, reach), total


def sort_rows(
    population: RepositoryColumns, rows: Rows, column: str, *, descending: bool = False
) -> Rows:
    """Return rows sorted by the keys of :func:`make_sort_key`.

    Parameters
    ----------
    population
        The repositories.
    rows
        The numbers of the rows.
    column
        The name of a column, or ``"id"``; ``"name"`` ignores case.
    descending
        Whether the largest comes first.

    Returns
    -------
    array
        The sorted rows.
    """
    ids = _compute_ids(population, rows)
    keys: NDArray[Any] = ids
    if column == "name":
        names = np.array([population.names[population.name[row]].lower() for row in rows])
        keys = np.unique(names, return_inverse=True)[1] if len(rows) else rows
    elif column != "id":
        keys = getattr(population, column)[rows]
    ordered: Rows = rows[np.lexsort((ids, keys))]
    return ordered[::-1] if descending else ordered


def make_sort_key(population: RepositoryColumns, row: int, column: str) -> tuple[Any, ...]:
    """Return the sort key of a row: the value of a column and its id; for ``"id"`` the id alone.

    Parameters
    ----------
    population
        The repositories.
    row
        The number of the row.
    column
        ``"id"``, ``"name"``, or the name of a column of numbers.

    Returns
    -------
    tuple
        The value, a time as text and a name in lower case, and the id.
    """
    # An id is unique, rises with the time of creation, as GitHub's do, and does not depend on
    # stars.
    number = int(_compute_ids(population, np.array([row]))[0])
    if column == "id":
        return (number,)
    if column == "name":
        return (population.names[population.name[row]].lower(), number)
    value = int(getattr(population, column)[row])
    return (format_timestamp(value) if column in {"created", "pushed"} else value, number)


def _compute_ids(population: RepositoryColumns, rows: Rows) -> NDArray[np.int64]:
    ids: NDArray[np.int64] = population.created[rows].astype(np.int64) * 2**32
    ids += population.rank[rows]
    return ids


def scatter_numbers(numbers: NDArray[Any], salt: int) -> NDArray[np.uint32]:
    """Return a pseudo-random number for each number, the same for the same salt.

    Parameters
    ----------
    numbers
        Whole numbers from 0 to 2**32 - 1.
    salt
        Any whole number from 0 to 2**32 - 1.

    Returns
    -------
    array
        The numbers, uint32.

    Notes
    -----
    The finalizer of MurmurHash3, which is a bijection: different numbers stay different.
    """
    mixed = numbers.astype(np.uint32) ^ np.uint32(salt)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed ^= mixed >> np.uint32(shift)
        mixed *= np.uint32(factor)
    return mixed


def _rate_matches(
    population: RepositoryColumns, rows: Rows, words: WordAlternatives
) -> NDArray[np.int64]:
    """Return how well names match, best highest: equal to a word, beginning with one, containing.

    Returns
    -------
    array
        A number for each row, int64: the match times 2**32, plus the stars.
    """
    # GitHub's own order is not public. Repositories that match equally well are sorted by stars.
    wanted = {word.text for alternative in words for word in alternative if not word.negated}
    codes, places = np.unique(population.name[rows], return_inverse=True)
    names = [population.names[code].lower() for code in codes.tolist()]
    grades = [
        2 if name in wanted else any(name.startswith(word) for word in wanted) for name in names
    ]
    rated: NDArray[np.int64] = np.array(grades, dtype=np.int64)[places] * 2**32
    rated += population.stars[rows]
    return rated


def _narrow_rows(
    population: RepositoryColumns, clauses: tuple[Clause, ...]
) -> tuple[RowSelector, list[Clause]]:
    """Return the rows within the stars and owners of clauses, and the other clauses."""
    least, most = 0, _INT32_MAX
    owned: NDArray[Any] | None = None
    rest = []
    for clause in clauses:
        test = clause.tests[0]
        if clause.negated:
            rest.append(clause)
        elif isinstance(test, RangeTest) and test.column == "stars":
            least = max(least, test.low or 0)
            most = min(most, _INT32_MAX if test.high is None else test.high)
        elif isinstance(test, NameTest) and test.column in {"owner", "repository"}:
            owned = _collect_owned_rows(population, clause.tests)
        else:
            rest.append(clause)
    begin, end = population.find_star_range(least, most)
    if owned is None:
        return slice(begin, end), rest
    return owned[(owned >= begin) & (owned < end)], rest


def _collect_owned_rows(population: RepositoryColumns, tests: Iterable[QualifierTest]) -> Rows:
    """Return the rows of owners and of full names, in their order."""
    parts = [np.empty(0, dtype=np.int32)]
    for test in tests:
        if isinstance(test, NameTest) and test.column == "owner":
            owner = population.owners.find_place(test.text)
            parts.extend([] if owner is None else [population.find_owned_rows(owner)])
        elif isinstance(test, NameTest):
            row = population.find_row(test.text)
            parts.extend([] if row is None else [np.array([row], dtype=np.int32)])
    return np.unique(np.concatenate(parts))


def group_clauses(clauses: list[Clause]) -> dict[str, list[Clause]]:
    """Return clauses by their column, so that each column is read once."""
    groups: dict[str, list[Clause]] = {}
    for clause in clauses:
        column = clause.tests[0].column
        groups.setdefault("owner" if column == "repository" else column, []).append(clause)
    return groups


def _compute_ranges(clauses: list[Clause]) -> list[tuple[int, int]]:
    """Return the rising, disjoint ranges that match all clauses, both ends included."""
    low, high, holes = _INT32_MIN, _INT32_MAX, []
    for clause in clauses:
        test = clause.tests[0]
        if isinstance(test, RangeTest):
            least = _INT32_MIN if test.low is None else test.low
            most = _INT32_MAX if test.high is None else test.high
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


class _RowMatcher:
    """Tests of some rows of a population."""

    def __init__(self, population: RepositoryColumns, selected: RowSelector) -> None:
        self._population, self._selected = population, selected

    def match_rows(self, clauses: list[Clause], words: WordAlternatives) -> Rows:
        """Return the rows that match all clauses and the words."""
        mask, selected = self._match_words(words), self._selected
        for column, some in group_clauses(clauses).items():
            match = self._MATCHERS.get(column, _RowMatcher._match_ranges)
            mask = mask & match(self, some)
        if isinstance(selected, slice):
            if mask is True:
                return np.arange(selected.start, selected.stop)
            size = selected.stop - selected.start
            matching: NDArray[Any] = np.flatnonzero(np.broadcast_to(mask, size))
            matching += selected.start
            return matching
        rows: NDArray[Any] = selected[np.broadcast_to(mask, len(selected))]
        return rows

    def _match_ranges(self, clauses: list[Clause]) -> Mask:
        """Return the rows with a number within the ranges of all clauses."""
        column = getattr(self._population, clauses[0].tests[0].column)[self._selected]
        spans = _compute_ranges(clauses)
        if (
            len(spans) != 1
        ):  # holes of negated clauses: in a span where an odd number of edges precede
            edges = np.array([(low, high + 1) for low, high in spans], dtype=np.int64).ravel()
            return len(edges) > 0 and np.searchsorted(edges, column, side="right") % 2 == 1
        mask: Mask = True
        low, high = spans[0]
        if low > _INT32_MIN:
            mask = column >= low
        if high < _INT32_MAX:
            mask = mask & (column <= high)
        return mask

    def _match_languages(self, clauses: list[Clause]) -> Mask:
        """Return the rows in a language that matches all clauses."""
        languages = self._population.languages
        names = [language and normalize_language(language.name) for language in languages]
        wanted = np.ones(len(names), dtype=bool)
        for clause in clauses:
            texts = {test.text for test in clause.tests if isinstance(test, NameTest)}
            wanted &= np.array([name in texts for name in names]) != clause.negated
        return wanted[self._population.language[self._selected]]

    def _match_other_owners(self, clauses: list[Clause]) -> Mask:
        """Return the rows that are not excluded by owner or full name."""
        tests, selected = (test for clause in clauses for test in clause.tests), self._selected
        rows = _collect_owned_rows(self._population, tests)
        if not isinstance(selected, slice):
            return ~np.isin(selected, rows, assume_unique=True)
        mask = np.ones(selected.stop - selected.start, dtype=bool)
        mask[rows[(rows >= selected.start) & (rows < selected.stop)] - selected.start] = False
        return mask

    def _match_flag(self, clauses: list[Clause]) -> Mask:
        """Return the rows that match all clauses about one flag."""
        wanted = {
            test.wanted != clause.negated
            for clause in clauses
            for test in clause.tests
            if isinstance(test, FlagTest)
        }
        if clauses[0].tests[0].column == "all":  # such as ``is:public``
            return wanted == {True}
        return len(wanted) == 1 and self._population.archived[self._selected] == wanted.pop()

    def _match_words(self, words: WordAlternatives) -> Mask:
        """Return the rows with a name that contains the words of an alternative."""
        if not words:
            return True
        codes, known = self._population.name[self._selected], self._population.names
        # Millions of synthetic rows share at most 65,536 names, so each name is searched once.
        if len(codes) < len(known):
            few, codes = np.unique(codes, return_inverse=True)
            known = tuple(known[code] for code in few.tolist())
        names = [name.lower() for name in known]
        alike = np.zeros(len(names), dtype=bool)
        for alternative in words:
            left: Sequence[int] = range(len(names))
            for word in alternative:
                left = [at for at in left if (word.text in names[at]) != word.negated]
            alike[np.array(left, dtype=np.intp)] = True
        return alike[codes]

    _MATCHERS: ClassVar[dict[str, Callable[[_RowMatcher, list[Clause]], Mask]]] = {
        "all": _match_flag,
        "archived": _match_flag,
        "language": _match_languages,
        "owner": _match_other_owners,
    }


def _take_first(rows: Rows, keys: NDArray[Any], ties: TieBreaker, reach: int) -> Rows:
    """Return the first `reach` rows by their keys, equal ones by `ties`."""
    # Partitioning is linear: only the rows that can be among the first are sorted.
    if 0 < reach < len(rows):
        near = keys <= np.partition(keys, reach - 1)[reach - 1]
        rows, keys = rows[near], keys[near]
    first: NDArray[Any] = rows[np.lexsort((ties(rows), keys))[:reach]]
    return first


@explain_keywords
@dataclass(frozen=True, eq=False, repr=False)
class Population(RepositoryColumns):
    """Repositories to search and to serve: ``github.service(population=...)``.

    Made by :func:`gqlnb.github.population`; immutable. ``population[0]`` is the most starred one,
    ``len(population)`` the number of repositories.

    Attributes
    ----------
    source
        A description of the data.
    synthetic
        The rules by which data that are not from sources were generated, by field.
    stars, forks
        The numbers of stars and forks; int32.
    created, pushed
        The times of creation and of the last push, in seconds since 1970; int32.
    archived
        Whether each repository is read-only; bool.
    language, owner, name
        Indexes into `languages` (0 for none), `owners` and `names`.
    rank
        The position of each repository by owner and name; int32.
    places, starts
        The rows of each owner, most starred first: ``places[starts[i]:starts[i + 1]]``.
    languages, owners, names
        The values of the indexes.

    Examples
    --------
    >>> import gqlnb
    >>> synthetic = gqlnb.github.population(10_000, seed=1)
    >>> len(synthetic), synthetic.count("stars:>1000") == len(synthetic.frame("stars:>1000"))
    (10000, True)
    """

    def count(self, expression: str = "") -> int:
        """Return the number of repositories that match a search expression.

        Parameters
        ----------
        expression
            As for :meth:`frame`; by default, all.

        Returns
        -------
        int
            The number of all matches.

        Raises
        ------
        QueryError
            If the expression cannot be parsed.
        """
        return select_rows(self, parse_expression(expression), reach=1)[1]

    def frame(self, expression: str = "") -> pd.DataFrame:
        """Return all repositories that match a search expression, to compare with a harvest.

        Parameters
        ----------
        expression
            As for :func:`gqlnb.github.search_syntax.parse_expression`; by default, all.

        Returns
        -------
        DataFrame
            Columns ``name``, ``owner`` (string), ``stargazers``, ``forks`` (Int64), ``language``
            (string), ``created_at``, ``pushed_at`` (in UTC) and ``archived`` (boolean), in the
            order of the expression.

        Raises
        ------
        QueryError
            If the expression cannot be parsed.
        """
        import pandas as pd

        rows, _ = select_rows(self, parse_expression(expression), reach=None)
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
