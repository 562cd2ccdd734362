"""Repositories in columns: tens of bytes for each of millions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Self, overload

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
from gqlnb.option_checks import explain_keywords


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


CodeArray = NDArray[np.integer[Any]]  # of the smallest type that holds the codes
Rows = NDArray[np.integer[Any]]  # numbers of rows, int32 or intp

_OWNER_INDEXES = frozenset({"places", "starts"})  # all other columns have a number for each row


# The rows are in the order of a search: most starred first, those of equal stars by owner and name,
# so that a range of stars is found by two binary searches. Logins are in alphabetical order, so
# that an owner is found without an index.
@explain_keywords
@dataclass(frozen=True, eq=False, repr=False)
class RepositoryColumns:
    """Columns of repositories, which :class:`Population` describes; immutable."""

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
        """Build a population of single repositories.

        Parameters
        ----------
        rows
            The repositories, in any order.
        source
            A description of the data.
        synthetic
            The rules by which data that are not from sources were generated, by field.

        Returns
        -------
        Population
            The repositories, most starred first; those of equal stars by owner and name.
        """
        known = sorted(rows, key=lambda row: (-row.stars, row.full_name.lower()))
        owners = sorted({row.owner for row in known}, key=lambda owner: make_login_key(owner.login))
        languages = (None, *sorted({row.language for row in known if row.language}))
        names = sorted({row.name for row in known})
        coded = [{text: code for code, text in enumerate(c)} for c in (languages, owners, names)]
        owner = np.array([coded[1][row.owner] for row in known], dtype=np.int32)
        alphabet = sorted(range(len(known)), key=lambda place: known[place].full_name.lower())
        places, starts = index_by_owner(owner, len(owners))
        return cls(
            source=source,
            synthetic=synthetic,
            stars=np.array([row.stars for row in known], dtype=np.int32),
            forks=np.array([row.forks for row in known], dtype=np.int32),
            created=np.array([parse_timestamp(row.created_at) for row in known], dtype=np.int32),
            pushed=np.array([parse_timestamp(row.pushed_at) for row in known], dtype=np.int32),
            archived=np.array([row.archived for row in known], dtype=bool),
            language=np.array([coded[0][row.language] for row in known], dtype=np.uint16),
            owner=owner,
            name=np.array([coded[2][row.name] for row in known], dtype=np.uint32),
            rank=np.argsort(np.array(alphabet, dtype=np.int64)).astype(np.int32),
            places=places,
            starts=starts,
            languages=languages,
            owners=Owners.from_owners(owners),
            names=tuple(names),
        )

    def __len__(self) -> int:
        return len(self.stars)

    def __getitem__(self, place: int) -> Repository:
        """Return the repository in one row."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        return Repository(
            name=self.names[self.name[place]],
            owner=self.owners[int(self.owner[place])],
            stars=int(self.stars[place]),
            forks=int(self.forks[place]),
            language=self.languages[self.language[place]],
            pushed_at=format_timestamp(int(self.pushed[place])),
            created_at=format_timestamp(int(self.created[place])),
            archived=bool(self.archived[place]),
        )

    def iter_rows(self, places: Rows) -> Iterator[Repository]:
        """Iterate over the repositories in some rows.

        Reading column by column is three times as fast as row by row.

        Parameters
        ----------
        places
            The numbers of the rows.

        Returns
        -------
        iterator of Repository
            The repositories in the order of `places`.
        """
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
        """Find the rows with stars within bounds.

        Parameters
        ----------
        low, high
            Lowest and highest star count, both included; None for no bound.

        Returns
        -------
        (int, int)
            The first row, and the one past the last; equal if there is none.
        """

        def negate(stars: np.int32) -> int:  # bisect needs rising keys
            return -int(stars)

        begin = 0 if high is None else bisect_left(self.stars, -high, key=negate)
        end = len(self) if low is None else bisect_right(self.stars, -low, key=negate)
        return begin, max(begin, end)

    def find_owned_rows(self, owner: int) -> NDArray[np.int32]:
        """Find the rows of an owner.

        Parameters
        ----------
        owner
            The index into `owners`.

        Returns
        -------
        array
            The rows, int32, most starred first.
        """
        return self.places[self.starts[owner] : self.starts[owner + 1]]

    def find_owner(self, login: str) -> Owner | None:
        """Find the owner of a login.

        Parameters
        ----------
        login
            The login, in any case.

        Returns
        -------
        Owner or None
            The user or organization; None if it is not in the population.
        """
        place = self.owners.find_place(login)
        return None if place is None else self.owners[place]

    def find_row(self, full_name: str) -> int | None:
        """Find the row of a repository.

        Parameters
        ----------
        full_name
            ``"owner/name"``, in any case.

        Returns
        -------
        int or None
            The row; None if it is not in the population.
        """
        login, _, name = full_name.lower().partition("/")
        owner = self.owners.find_place(login)
        if owner is None:
            return None
        for row in self.find_owned_rows(owner):
            if self.names[self.name[row]].lower() == name:
                return int(row)
        return None

    def find_node(self, node_id: str) -> Repository | Owner | Language | None:
        """Find the object of a node id.

        Parameters
        ----------
        node_id
            The id, as ``id`` of an object in an answer of the stand-in.

        Returns
        -------
        Repository, Owner, Language or None
            The object; None if the id is not valid, or of no object in the population.
        """
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
        """Exchange two rows of a writable copy.

        Parameters
        ----------
        one, other
            The numbers of the rows. The caller keeps the order by stars.

        Raises
        ------
        ValueError
            If the columns are read-only.
        """
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
        """Copy the population, with writable columns.

        Returns
        -------
        Population
            The copy.
        """
        columns: dict[str, Any] = {name: column.copy() for name, column in self._iter_arrays()}
        return replace(self, **columns, _frozen=False)

    def copy_rows(self, rows: Rows) -> RepositoryRows:
        """Copy some rows, so that later changes do not affect them.

        Parameters
        ----------
        rows
            The numbers of the rows.

        Returns
        -------
        RepositoryRows
            A sequence of the repositories, in the order of `rows`.
        """
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

    columns: RepositoryColumns
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
