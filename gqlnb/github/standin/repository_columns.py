"""Repositories as columns: millions of them in tens of bytes each, found by their own order.

The rows stand most starred first, those of equal stars by owner and name, so that a threshold of
stars is two binary searches; logins stand in the order of the alphabet, so that an owner is found
without an index.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

import numpy as np

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
    from numpy.typing import NDArray

__all__ = [
    "Owners",
    "Population",
    "RepositoryColumns",
    "RepositoryMatches",
    "RepositoryRows",
    "find_matches",
    "group_clauses",
    "index_by_owner",
    "make_sort_key",
    "scatter_numbers",
    "select_rows",
    "sort_rows",
]

ColumnArray = Any  # one of the arrays below; their types differ
_OWNER_INDEXES = frozenset({"places", "starts"})  # the others have a number for each row


def make_login_key(login: str) -> str:
    """Return what logins are sorted by: as they stand before a slash and a name."""
    return f"{login.lower()}/"


def negate_stars(stars: np.int32) -> int:
    """Return a number that rises where the stars fall, as binary searches want it."""
    return -int(stars)


@dataclass(frozen=True, eq=False, repr=False)
class Owners(Sequence[Owner]):
    """The owners, in the order of their logins: one text, where each ends, and their kinds.

    Attributes
    ----------
    text
        All logins, one behind the other; ASCII.
    ends
        Where each of them ends.
    organizations
        Which of them are organizations.
    """

    text: str
    ends: NDArray[np.uint32]
    organizations: NDArray[np.bool_]

    @classmethod
    def from_owners(cls, owners: Iterable[Owner]) -> Owners:
        """Hold owners that are given in their order."""
        known = list(owners)
        ends = np.cumsum([len(owner.login) for owner in known], dtype=np.uint32)
        kinds = np.array([owner.kind == "Organization" for owner in known], dtype=bool)
        return cls("".join(owner.login for owner in known), ends, kinds)

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

    def get_many(self, places: NDArray[Any]) -> list[Owner]:
        """Return the owners at some places; a tenth of the time that each of them alone takes."""
        begins = np.where(places > 0, self.ends[places - 1], 0).tolist()
        kinds = self.organizations[places].tolist()
        return [
            Owner(self.text[begin:end], "Organization" if kind else "User")
            for begin, end, kind in zip(begins, self.ends[places].tolist(), kinds, strict=True)
        ]

    def find_place(self, login: str) -> int | None:
        """Return the place of a login, in any case; None if it is not there."""
        wanted = make_login_key(login)
        place = bisect_left(self, wanted, key=lambda owner: make_login_key(owner.login))
        return place if place < len(self) and make_login_key(self[place].login) == wanted else None


@dataclass(frozen=True, eq=False, repr=False)
class RepositoryColumns:
    """Repositories in columns; immutable.

    Attributes
    ----------
    source
        What it was made from, in words.
    synthetic
        What is not taken from sources but made, and by which rule, by field.
    stars, forks
        How many people have starred and forked each repository; int32.
    created, pushed
        When each was made and last pushed to, in seconds since 1970; int32.
    archived
        Whether each was closed for changes; bool.
    language, owner, name
        The places of what they are called in `languages` (0 for none), `owners` and `names`.
    rank
        The place of each by owner and name; int32.
    places, starts
        The rows of each owner, most starred first: from `starts` of the owner on, in `places`.
    languages, owners, names
        What the numbers above stand for.
    """

    source: str
    synthetic: Mapping[str, str]
    stars: NDArray[np.int32]
    forks: NDArray[np.int32]
    created: NDArray[np.int32]
    pushed: NDArray[np.int32]
    archived: NDArray[np.bool_]
    language: ColumnArray
    owner: NDArray[np.int32]
    name: ColumnArray
    rank: NDArray[np.int32]
    places: NDArray[np.int32]
    starts: NDArray[np.int32]
    languages: tuple[Language | None, ...]
    owners: Owners
    names: tuple[str, ...]
    _frozen: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        """Let nobody write into the columns."""
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
        """Hold repositories, in any order."""
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

    def iter_rows(self, places: NDArray[Any]) -> Iterator[Repository]:
        """Yield the repositories in some rows, column by column: that is three times as fast."""
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
        """The bytes that columns, names and indexes take."""
        arrays = (*(array for _, array in self._iter_arrays()), self.owners.ends)
        text = len(self.owners.text) + sum(len(name) + 57 for name in self.names)  # 49 and 8 each
        kinds = self.owners.organizations.nbytes
        return text + kinds + sum(int(array.nbytes) for array in arrays)

    def find_star_range(self, low: int | None, high: int | None) -> tuple[int, int]:
        """Return the first row, and the one past the last, whose stars lie within bounds."""
        begin = 0 if high is None else bisect_left(self.stars, -high, key=negate_stars)
        end = len(self) if low is None else bisect_right(self.stars, -low, key=negate_stars)
        return begin, max(begin, end)

    def find_owned_rows(self, owner: int) -> NDArray[np.int32]:
        """Return the rows of the owner at one place, most starred first."""
        return self.places[self.starts[owner] : self.starts[owner + 1]]

    def find_owner(self, login: str) -> Owner | None:
        """Return the owner of that login, in any case; None if there is none."""
        place = self.owners.find_place(login)
        return None if place is None else self.owners[place]

    def find_row(self, full_name: str) -> int | None:
        """Return the row of ``"owner/name"``, in any case; None if there is none."""
        login, _, name = full_name.lower().partition("/")
        owner = self.owners.find_place(login)
        if owner is None:
            return None
        for row in self.find_owned_rows(owner):
            if self.names[self.name[row]].lower() == name:
                return int(row)
        return None

    def find_node(self, node_id: str) -> Repository | Owner | Language | None:
        """Return the repository, owner or language of an id; None if there is none."""
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

    def swap_rows(self, one: int, other: int) -> None:
        """Exchange two rows of a copy that may be written."""
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
        """Return a copy whose columns may be written."""
        columns: dict[str, Any] = {name: column.copy() for name, column in self._iter_arrays()}
        return replace(self, **columns, _frozen=False)

    def copy_rows(self, rows: NDArray[Any]) -> RepositoryRows:
        """Return some rows as they are now, whatever is written later."""
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
    """Some rows, each made into a repository when it is looked at.

    Attributes
    ----------
    columns
        What they are rows of.
    places
        Which rows.
    """

    columns: RepositoryColumns
    places: NDArray[np.int64] | NDArray[np.int32]

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


def _format_timestamps(seconds: NDArray[Any]) -> list[str]:
    """Return seconds since 1970 as :func:`format_timestamp` does each of them; a fifth of its time."""
    found: list[str] = np.datetime_as_string(
        seconds.astype("datetime64[s]"), timezone="UTC"
    ).tolist()
    return found


def index_by_owner(
    owner: NDArray[np.int32], owners: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows sorted by owner, in their order within each, and where each owner begins."""
    both = owner.astype(np.int64) * 2**32 + np.arange(len(owner))
    places = np.argsort(both).astype(np.int32)
    starts = np.zeros(owners + 1, dtype=np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=starts[1:])
    return places, starts


_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1  # of the numbers that a column can hold
_SORT_COLUMNS = {"stars": "stars", "forks": "forks", "updated": "pushed"}

WordAlternatives = tuple[tuple[Word, ...], ...]
Mask = Any  # a boolean array, or one boolean for all rows
RowSelector = Any  # a slice of the rows, or the numbers of some
TieBreaker = Callable[[Any], Any]  # of rows, what decides between equal ones


class Population(RepositoryColumns):
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
        return select_rows(self, parse_expression(expression), reach=1)[1]

    def frame(self, expression: str = "") -> pd.DataFrame:
        """Return all repositories that a search expression finds, to compare a harvest with.

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
            If the expression cannot be read.
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


class RepositoryMatches(NamedTuple):
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


def find_matches(population: RepositoryColumns, expression: SearchExpression) -> RepositoryMatches:
    """Return the repositories of which `expression` holds, in its order, 1,000 at most."""
    rows, total = select_rows(population, expression)
    return RepositoryMatches(RepositoryRows(population, rows), total)


def select_rows(
    population: RepositoryColumns,
    expression: SearchExpression,
    *,
    reach: int | None = MAX_SEARCH_RESULTS,
    ties: TieBreaker | None = None,
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
    selected, rest = _narrow_rows(population, expression.clauses)
    standing = (expression.sort, expression.descending) == ("stars", True)  # as the rows do
    rows: Any  # numbers that rise
    if standing and not rest and not expression.words and isinstance(selected, slice):
        rows = range(selected.start, selected.stop)  # all of them are never written down
    else:
        rows = _match_rows(population, selected, rest, expression.words)
    total = len(rows)
    reach = total if reach is None else min(total, reach)
    if standing and ties is None:
        return np.asarray(rows[:reach], dtype=np.intp), total
    if standing and reach:
        end = population.find_star_range(int(population.stars[rows[reach - 1]]), None)[1]
        rows = rows[: bisect_left(rows, end)]
    rows = np.asarray(rows, dtype=np.intp)
    keys = getattr(population, _SORT_COLUMNS[expression.sort])[rows]
    keys = -keys if expression.descending else keys
    return _take_first(rows, keys, ties or population.rank.__getitem__, reach), total


def sort_rows(
    population: RepositoryColumns, rows: NDArray[Any], column: str, *, descending: bool = False
) -> NDArray[Any]:
    """Return rows sorted by what :func:`make_sort_key` says of each.

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
    ids = _compute_ids(population, rows)
    keys = ids
    if column == "name":
        names = np.array([population.names[population.name[row]].lower() for row in rows])
        keys = np.unique(names, return_inverse=True)[1] if len(rows) else rows
    elif column != "id":
        keys = getattr(population, column)[rows]
    ordered: NDArray[Any] = rows[np.lexsort((ids, keys))]
    return ordered[::-1] if descending else ordered


def make_sort_key(population: RepositoryColumns, row: int, column: str) -> tuple[Any, ...]:
    """Return what a row is sorted by: a value of a column, and its id.

    An id is a number of its own for each repository, and rises with the time when it was made, as
    GitHub's do; it stays the same where stars change. Of ``"id"`` there is the id alone.
    """
    number = int(_compute_ids(population, np.array([row]))[0])
    if column == "id":
        return (number,)
    if column == "name":
        return (population.names[population.name[row]].lower(), number)
    value = int(getattr(population, column)[row])
    return (format_timestamp(value) if column in {"created", "pushed"} else value, number)


def _compute_ids(population: RepositoryColumns, rows: NDArray[Any]) -> NDArray[np.int64]:
    ids: NDArray[np.int64] = population.created[rows].astype(np.int64) * 2**32
    ids += population.rank[rows]
    return ids


def scatter_numbers(numbers: NDArray[Any], salt: int) -> NDArray[np.uint32]:
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


def _narrow_rows(
    population: RepositoryColumns, clauses: tuple[Clause, ...]
) -> tuple[RowSelector, list[Clause]]:
    """Return the rows that can match, as far as their order tells, and what is left to check."""
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


def _collect_owned_rows(
    population: RepositoryColumns, tests: Iterable[QualifierTest]
) -> NDArray[Any]:
    """Return the rows that owners and full names stand for, in their order."""
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
    population: RepositoryColumns,
    selected: RowSelector,
    clauses: list[Clause],
    words: WordAlternatives,
) -> NDArray[Any]:
    """Return the numbers of those selected rows of which all clauses hold."""
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
    """Return clauses by the column that they are about: each column is looked at once."""
    found: dict[str, list[Clause]] = {}
    for clause in clauses:
        column = clause.tests[0].column
        found.setdefault("owner" if column == "repository" else column, []).append(clause)
    return found


def _match_ranges(
    population: RepositoryColumns, selected: RowSelector, clauses: list[Clause]
) -> Mask:
    """Tell which numbers of a column lie where all clauses want them."""
    column = getattr(population, clauses[0].tests[0].column)[selected]
    spans = _compute_ranges(clauses)
    if len(spans) != 1:
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
    """Return the spans that ranges leave of all numbers, rising and apart, both ends included."""
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


def _match_languages(
    population: RepositoryColumns, selected: RowSelector, clauses: list[Clause]
) -> Mask:
    """Tell which rows are in the languages that all clauses want."""
    names = [language and normalize_language(language.name) for language in population.languages]
    wanted = np.ones(len(names), dtype=bool)
    for clause in clauses:
        texts = {test.text for test in clause.tests if isinstance(test, NameTest)}
        wanted &= np.array([name in texts for name in names]) != clause.negated
    return wanted[population.language[selected]]


def _match_other_owners(
    population: RepositoryColumns, selected: RowSelector, clauses: list[Clause]
) -> Mask:
    """Tell which rows are not of the owners, and not the repositories, of negated clauses."""
    rows = _collect_owned_rows(population, (test for clause in clauses for test in clause.tests))
    if not isinstance(selected, slice):
        return ~np.isin(selected, rows, assume_unique=True)
    mask = np.ones(selected.stop - selected.start, dtype=bool)
    mask[rows[(rows >= selected.start) & (rows < selected.stop)] - selected.start] = False
    return mask


def _match_archived(
    population: RepositoryColumns, selected: RowSelector, clauses: list[Clause]
) -> Mask:
    """Tell which rows are archived, or are not, as all clauses want it."""
    wanted = {
        test.wanted != c.negated for c in clauses for test in c.tests if isinstance(test, FlagTest)
    }
    return len(wanted) == 1 and population.archived[selected] == wanted.pop()


def _match_all_rows(
    _population: RepositoryColumns, _selected: RowSelector, clauses: list[Clause]
) -> Mask:
    """Tell whether all clauses hold that are about all rows alike."""
    known = ((test, c.negated) for c in clauses for test in c.tests if isinstance(test, FlagTest))
    return all(test.wanted != negated for test, negated in known)


_CLAUSE_MATCHERS: dict[str, Callable[[RepositoryColumns, RowSelector, list[Clause]], Mask]] = {
    "all": _match_all_rows,
    "archived": _match_archived,
    "language": _match_languages,
    "owner": _match_other_owners,
}


def _match_names(
    population: RepositoryColumns, selected: RowSelector, words: WordAlternatives
) -> Mask:
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


def _take_first(
    rows: NDArray[Any], keys: NDArray[Any], ties: TieBreaker, reach: int
) -> NDArray[Any]:
    """Return the first `reach` rows in the order of their keys, equal ones in that of `ties`."""
    if 0 < reach < len(rows):
        near = keys <= np.partition(keys, reach - 1)[reach - 1]
        rows, keys = rows[near], keys[near]
    found: NDArray[Any] = rows[np.lexsort((ties(rows), keys))[:reach]]
    return found
