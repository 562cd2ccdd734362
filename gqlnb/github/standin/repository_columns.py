"""Repositories in columns, and searches in them: tens of bytes for each of millions.

The rows are in the order of a search: most starred first, those of equal stars by owner and name,
so that a range of stars is found by two binary searches. Logins are in alphabetical order, so that
an owner is found without an index.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from gqlnb.github.repositories import (
    Language,
    Owner,
    Repository,
    format_timestamp,
    parse_node_id,
    parse_timestamp,
)
from gqlnb.github.search_syntax import (
    MAX_SEARCH_RESULTS,
    Clause,
    FlagTest,
    NameTest,
    QualifierTest,
    RangeTest,
    SearchExpression,
    Word,
    normalize_language,
    parse_expression,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Owners",
    "Population",
    "RepositoryMatches",
    "RepositoryRows",
    "group_clauses",
    "index_by_owner",
    "make_sort_key",
    "scatter_numbers",
    "select_rows",
    "sort_rows",
]

CodeArray = NDArray[np.integer[Any]]  # of the smallest type that holds the codes
Rows = NDArray[np.integer[Any]]  # numbers of rows, int32 or intp
RowSelector = slice | Rows
Mask = NDArray[np.bool_] | bool  # one boolean for each selected row, or one for all
TieBreaker = Callable[[Rows], NDArray[Any]]  # the sort keys of rows that are equal otherwise
WordAlternatives = tuple[tuple[Word, ...], ...]

_OWNER_INDEXES = frozenset({"places", "starts"})  # all other columns have a number for each row
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1  # the numbers that a column can hold
_SORT_COLUMNS = {"stars": "stars", "forks": "forks", "updated": "pushed"}


def make_login_key(login: str) -> str:
    """Return the sort key of a login, the same order as of ``owner/name``."""
    return f"{login.lower()}/"


@dataclass(frozen=True, eq=False, repr=False)
class Owners(Sequence[Owner]):
    """The owners in the order of their logins, in 5 bytes beside the login of each.

    Attributes
    ----------
    text
        All logins, concatenated; ASCII.
    ends
        The end of each login in `text`.
    organizations
        Whether each owner is an organization.
    """

    text: str
    ends: NDArray[np.uint32]
    organizations: NDArray[np.bool_]

    @classmethod
    def from_owners(cls, owners: Iterable[Owner]) -> Owners:
        """Return sorted owners in columns."""
        rows = list(owners)
        ends = np.cumsum([len(owner.login) for owner in rows], dtype=np.uint32)
        kinds = np.array([owner.kind == "Organization" for owner in rows], dtype=bool)
        return cls("".join(owner.login for owner in rows), ends, kinds)

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> Owner: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Owner]: ...
    def __getitem__(self, place: int | slice) -> Owner | Sequence[Owner]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        if not 0 <= place < len(self):
            raise IndexError(place)
        kind = "Organization" if self.organizations[place] else "User"
        return Owner(self.text[int(self.ends[place - 1]) if place else 0 : self.ends[place]], kind)

    def get_many(self, places: NDArray[np.int32]) -> list[Owner]:
        """Return the owners at some places, in a tenth of the time of single look-ups."""
        begins = np.where(places > 0, self.ends[places - 1], 0).tolist()
        kinds = self.organizations[places].tolist()
        return [
            Owner(self.text[begin:end], "Organization" if kind else "User")
            for begin, end, kind in zip(begins, self.ends[places].tolist(), kinds, strict=True)
        ]

    def find_place(self, login: str) -> int | None:
        """Return the place of a login, in any case, or None."""
        key = make_login_key(login)
        place = bisect_left(self, key, key=lambda owner: make_login_key(owner.login))
        return place if place < len(self) and make_login_key(self[place].login) == key else None


@dataclass(frozen=True, eq=False, repr=False)
class Population:
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

    source: str
    synthetic: Mapping[str, str]
    stars: NDArray[np.int32]
    forks: NDArray[np.int32]
    created: NDArray[np.int32]
    pushed: NDArray[np.int32]
    archived: NDArray[np.bool_]
    language: CodeArray
    owner: NDArray[np.int32]
    name: CodeArray
    rank: NDArray[np.int32]
    places: NDArray[np.int32]
    starts: NDArray[np.int32]
    languages: tuple[Language | None, ...]
    owners: Owners
    names: tuple[str, ...]
    _frozen: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        for _, column in self._iter_arrays():
            column.flags.writeable = not self._frozen

    @classmethod
    def from_repositories(
        cls,
        rows: Iterable[Repository],
        *,
        source: str = "rows",
        synthetic: Mapping[str, str] = MappingProxyType({}),
    ) -> Self:
        """Return repositories in columns, given in any order."""
        known = sorted(rows, key=lambda row: (-row.stars, row.full_name.lower()))
        owners = sorted({row.owner for row in known}, key=lambda owner: make_login_key(owner.login))
        languages = (None, *sorted({row.language for row in known if row.language}))
        names = sorted({row.name for row in known})
        coded = [{text: code for code, text in enumerate(c)} for c in (languages, owners, names)]
        owner = np.array([coded[1][row.owner] for row in known], dtype=np.int32)
        alphabet = sorted(range(len(known)), key=lambda place: known[place].full_name.lower())
        places, starts = index_by_owner(owner, len(owners))
        return cls(
            source,
            synthetic,
            np.array([row.stars for row in known], dtype=np.int32),
            np.array([row.forks for row in known], dtype=np.int32),
            np.array([parse_timestamp(row.created_at) for row in known], dtype=np.int32),
            np.array([parse_timestamp(row.pushed_at) for row in known], dtype=np.int32),
            np.array([row.archived for row in known], dtype=bool),
            np.array([coded[0][row.language] for row in known], dtype=np.uint16),
            owner,
            np.array([coded[2][row.name] for row in known], dtype=np.uint32),
            np.argsort(np.array(alphabet, dtype=np.int64)).astype(np.int32),
            places,
            starts,
            languages,
            Owners.from_owners(owners),
            tuple(names),
        )

    def __len__(self) -> int:
        return len(self.stars)

    def __getitem__(self, place: int) -> Repository:
        """Return the repository in one row."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        return Repository(
            self.names[self.name[place]],
            self.owners[int(self.owner[place])],
            int(self.stars[place]),
            int(self.forks[place]),
            self.languages[self.language[place]],
            format_timestamp(int(self.pushed[place])),
            format_timestamp(int(self.created[place])),
            bool(self.archived[place]),
        )

    def iter_rows(self, places: Rows) -> Iterator[Repository]:
        """Yield the repositories in some rows; column by column is three times as fast."""
        return map(
            Repository._make,
            zip(
                [self.names[code] for code in self.name[places].tolist()],
                self.owners.get_many(self.owner[places]),
                self.stars[places].tolist(),
                self.forks[places].tolist(),
                [self.languages[code] for code in self.language[places].tolist()],
                _format_timestamps(self.pushed[places]),
                _format_timestamps(self.created[places]),
                self.archived[places].tolist(),
                strict=True,
            ),
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} repositories, {self.source}>"

    @property
    def nbytes(self) -> int:
        """The size of columns, names and indexes in bytes."""
        arrays = (*(array for _, array in self._iter_arrays()), self.owners.ends)
        # A str has 49 bytes beside its ASCII text, and its place in the tuple 8.
        text = len(self.owners.text) + sum(len(name) + 57 for name in self.names)
        kinds = self.owners.organizations.nbytes
        return text + kinds + sum(int(array.nbytes) for array in arrays)

    def find_star_range(self, low: int | None, high: int | None) -> tuple[int, int]:
        """Return the first row, and the one past the last, with stars within bounds."""

        def negate(stars: np.int32) -> int:  # bisect needs rising keys
            return -int(stars)

        begin = 0 if high is None else bisect_left(self.stars, -high, key=negate)
        end = len(self) if low is None else bisect_right(self.stars, -low, key=negate)
        return begin, max(begin, end)

    def find_owned_rows(self, owner: int) -> NDArray[np.int32]:
        """Return the rows of the owner at a place, most starred first."""
        return self.places[self.starts[owner] : self.starts[owner + 1]]

    def find_owner(self, login: str) -> Owner | None:
        """Return the owner of a login, in any case, or None."""
        place = self.owners.find_place(login)
        return None if place is None else self.owners[place]

    def find_row(self, full_name: str) -> int | None:
        """Return the row of ``"owner/name"``, in any case, or None."""
        login, _, name = full_name.lower().partition("/")
        owner = self.owners.find_place(login)
        if owner is None:
            return None
        for row in self.find_owned_rows(owner):
            if self.names[self.name[row]].lower() == name:
                return int(row)
        return None

    def find_node(self, node_id: str) -> Repository | Owner | Language | None:
        """Return the repository, owner or language of a node id, or None."""
        letter, text = parse_node_id(node_id) or ("", "")
        found: Repository | Owner | Language | None = None
        if letter == "R":
            row = self.find_row(text)
            found = None if row is None else self[row]
        elif letter == "L":
            found = next((each for each in self.languages if each and each.name == text), None)
        elif letter in {"U", "O"}:
            found = self.find_owner(text)
        return found if found is not None and found.node_id == node_id else None

    def count(self, expression: str = "") -> int:
        """Return the number of repositories that match a search expression.

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

    def swap_rows(self, one: int, other: int) -> None:
        """Exchange two rows of a writable copy."""
        # The rows of each owner stay sorted; an exchange within one owner changes no index.
        moves = ((int(self.owner[one]), one, other), (int(self.owner[other]), other, one))
        if moves[0][0] != moves[1][0]:
            for owner, old, new in moves:
                rows = self.find_owned_rows(owner)
                rows[np.searchsorted(rows, old)] = new
                rows.sort()
        for name, column in self._iter_arrays():
            if name not in _OWNER_INDEXES:
                column[[one, other]] = column[[other, one]]

    def copy_writable(self) -> Self:
        """Return a copy with writable columns."""
        columns: dict[str, Any] = {name: column.copy() for name, column in self._iter_arrays()}
        return replace(self, **columns, _frozen=False)

    def copy_rows(self, rows: Rows) -> RepositoryRows:
        """Return a copy of some rows, which later changes do not affect."""
        columns: dict[str, Any] = {
            name: column[rows] for name, column in self._iter_arrays() if name not in _OWNER_INDEXES
        }
        return RepositoryRows(replace(self, **columns, _frozen=self._frozen), np.arange(len(rows)))

    def _iter_arrays(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                yield each.name, value


@dataclass(frozen=True, eq=False, slots=True)
class RepositoryRows(Sequence[Repository]):
    """Some rows, as a sequence of repositories that are created when they are read.

    Attributes
    ----------
    columns
        The population.
    places
        The numbers of the rows.
    """

    columns: Population
    places: Rows

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Repository: ...
    @overload
    def __getitem__(self, place: slice) -> RepositoryRows: ...
    def __getitem__(self, place: int | slice) -> Repository | RepositoryRows:
        if isinstance(place, slice):
            return RepositoryRows(self.columns, self.places[place])
        return self.columns[int(self.places[place])]

    def __iter__(self) -> Iterator[Repository]:
        return self.columns.iter_rows(self.places)


def _format_timestamps(seconds: NDArray[np.int32]) -> list[str]:
    # The format of `format_timestamp`, in a fifth of its time.
    texts: list[str] = np.datetime_as_string(
        seconds.astype("datetime64[s]"), timezone="UTC"
    ).tolist()
    return texts


def index_by_owner(
    owner: NDArray[np.int32], owners: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows grouped by owner, in their order, and the start of each owner's group."""
    # Owner and row in one number, so that sorting keeps the order of rows within each owner.
    both = owner.astype(np.int64) * 2**32 + np.arange(len(owner))
    places = np.argsort(both).astype(np.int32)
    starts = np.zeros(owners + 1, dtype=np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=starts[1:])
    return places, starts


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
    population: Population,
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
    """
    selected, rest = _narrow_rows(population, expression.clauses)
    is_row_order = (expression.sort, expression.descending) == ("stars", True)
    rows: Any  # rising numbers
    if is_row_order and not rest and not expression.words and isinstance(selected, slice):
        rows = range(selected.start, selected.stop)  # millions of rows need no array
    else:
        rows = _match_rows(population, selected, rest, expression.words)
    total = len(rows)
    reach = total if reach is None else min(total, reach)
    if is_row_order and ties is None:
        return np.asarray(rows[:reach], dtype=np.intp), total
    if is_row_order and reach:
        # Ties reorder only rows of equal stars, so rows below the last reachable stars are dropped.
        end = population.find_star_range(int(population.stars[rows[reach - 1]]), None)[1]
        rows = rows[: bisect_left(rows, end)]
    rows = np.asarray(rows, dtype=np.intp)
    keys = getattr(population, _SORT_COLUMNS[expression.sort])[rows]
    keys = -keys if expression.descending else keys
    return _take_first(rows, keys, ties or population.rank.__getitem__, reach), total


def sort_rows(population: Population, rows: Rows, column: str, *, descending: bool = False) -> Rows:
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


def make_sort_key(population: Population, row: int, column: str) -> tuple[Any, ...]:
    """Return the sort key of a row: the value of a column and its id; for ``"id"`` the id alone.

    An id is unique, rises with the time of creation, as GitHub's do, and does not depend on stars.
    """
    number = int(_compute_ids(population, np.array([row]))[0])
    if column == "id":
        return (number,)
    if column == "name":
        return (population.names[population.name[row]].lower(), number)
    value = int(getattr(population, column)[row])
    return (format_timestamp(value) if column in {"created", "pushed"} else value, number)


def _compute_ids(population: Population, rows: Rows) -> NDArray[np.int64]:
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


def _narrow_rows(
    population: Population, clauses: tuple[Clause, ...]
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


def _collect_owned_rows(population: Population, tests: Iterable[QualifierTest]) -> Rows:
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


def _match_rows(
    population: Population,
    selected: RowSelector,
    clauses: list[Clause],
    words: WordAlternatives,
) -> Rows:
    """Return the selected rows that match all clauses and the words."""
    mask: Mask = True
    for about, some in group_clauses(clauses).items():
        mask = mask & _CLAUSE_MATCHERS.get(about, _match_ranges)(population, selected, some)
    if words:
        mask = mask & _match_names(population, selected, words)
    if isinstance(selected, slice):
        size = selected.stop - selected.start
        if mask is True:
            return np.arange(selected.start, selected.stop)
        matching: NDArray[Any] = np.flatnonzero(np.broadcast_to(mask, size))
        matching += selected.start
        return matching
    found: NDArray[Any] = selected[np.broadcast_to(mask, len(selected))]
    return found


def group_clauses(clauses: list[Clause]) -> dict[str, list[Clause]]:
    """Return clauses by their column, so that each column is read once."""
    groups: dict[str, list[Clause]] = {}
    for clause in clauses:
        column = clause.tests[0].column
        groups.setdefault("owner" if column == "repository" else column, []).append(clause)
    return groups


def _match_ranges(population: Population, selected: RowSelector, clauses: list[Clause]) -> Mask:
    """Return the rows with a number within the ranges of all clauses."""
    column = getattr(population, clauses[0].tests[0].column)[selected]
    spans = _compute_ranges(clauses)
    if len(spans) != 1:  # holes of negated clauses: in a span where an odd number of edges precede
        edges = np.array([(low, high + 1) for low, high in spans], dtype=np.int64).ravel()
        return len(edges) > 0 and np.searchsorted(edges, column, side="right") % 2 == 1
    mask: Mask = True
    low, high = spans[0]
    if low > _INT32_MIN:
        mask = column >= low
    if high < _INT32_MAX:
        mask = mask & (column <= high)
    return mask


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


def _match_languages(population: Population, selected: RowSelector, clauses: list[Clause]) -> Mask:
    """Return the rows in a language that matches all clauses."""
    names = [language and normalize_language(language.name) for language in population.languages]
    wanted = np.ones(len(names), dtype=bool)
    for clause in clauses:
        texts = {test.text for test in clause.tests if isinstance(test, NameTest)}
        wanted &= np.array([name in texts for name in names]) != clause.negated
    return wanted[population.language[selected]]


def _match_other_owners(
    population: Population, selected: RowSelector, clauses: list[Clause]
) -> Mask:
    """Return the rows that are not excluded by owner or full name."""
    rows = _collect_owned_rows(population, (test for clause in clauses for test in clause.tests))
    if not isinstance(selected, slice):
        return ~np.isin(selected, rows, assume_unique=True)
    mask = np.ones(selected.stop - selected.start, dtype=bool)
    mask[rows[(rows >= selected.start) & (rows < selected.stop)] - selected.start] = False
    return mask


def _match_archived(population: Population, selected: RowSelector, clauses: list[Clause]) -> Mask:
    """Return the rows that match all clauses about archived repositories."""
    wanted = {
        test.wanted != c.negated for c in clauses for test in c.tests if isinstance(test, FlagTest)
    }
    return len(wanted) == 1 and population.archived[selected] == wanted.pop()


def _match_all_rows(_population: Population, _selected: RowSelector, clauses: list[Clause]) -> Mask:
    """Return whether the clauses hold that are the same for all rows, such as ``is:public``."""
    known = ((test, c.negated) for c in clauses for test in c.tests if isinstance(test, FlagTest))
    return all(test.wanted != negated for test, negated in known)


_CLAUSE_MATCHERS: dict[str, Callable[[Population, RowSelector, list[Clause]], Mask]] = {
    "all": _match_all_rows,
    "archived": _match_archived,
    "language": _match_languages,
    "owner": _match_other_owners,
}


def _match_names(population: Population, selected: RowSelector, words: WordAlternatives) -> Mask:
    """Return the rows with a name that contains the words of an alternative."""
    codes, known = population.name[selected], population.names
    # Millions of synthetic rows share at most 65,536 names, so each name is searched once.
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


def _take_first(rows: Rows, keys: NDArray[Any], ties: TieBreaker, reach: int) -> Rows:
    """Return the first `reach` rows by their keys, equal ones by `ties`."""
    # Partitioning is linear: only the rows that can be among the first are sorted.
    if 0 < reach < len(rows):
        near = keys <= np.partition(keys, reach - 1)[reach - 1]
        rows, keys = rows[near], keys[near]
    found: NDArray[Any] = rows[np.lexsort((ties(rows), keys))[:reach]]
    return found
