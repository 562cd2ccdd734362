"""Repositories as columns: millions of them in tens of bytes each, found by their own order.

The rows stand most starred first, those of equal stars by owner and name, so that a threshold of
stars is two binary searches; logins stand in the order of the alphabet, so that an owner is found
without an index.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from gqlnb.github.data import Language, Owner, Repository, iso, named_by, seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Columns", "Logins", "Rows", "by_owner"]

Column = Any  # one of the arrays below; their types differ
_BY_OWNER = frozenset({"places", "starts"})  # the others have a number for each row


def key(login: str) -> str:
    """Return what logins are sorted by: as they stand before a slash and a name."""
    return f"{login.lower()}/"


def falling(stars: np.int32) -> int:
    """Return a number that rises where the stars fall, as binary searches want it."""
    return -int(stars)


@dataclass(frozen=True, eq=False, repr=False)
class Logins(Sequence[Owner]):
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
    def of(cls, owners: Iterable[Owner]) -> Logins:
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

    def several(self, places: NDArray[Any]) -> list[Owner]:
        """Return the owners at some places; a tenth of the time that each of them alone takes."""
        begins = np.where(places > 0, self.ends[places - 1], 0).tolist()
        kinds = self.organizations[places].tolist()
        return [
            Owner(self.text[begin:end], "Organization" if kind else "User")
            for begin, end, kind in zip(begins, self.ends[places].tolist(), kinds, strict=True)
        ]

    def find(self, login: str) -> int | None:
        """Return the place of a login, in any case; None if it is not there."""
        wanted = key(login)
        place = bisect_left(self, wanted, key=lambda owner: key(owner.login))
        return place if place < len(self) and key(self[place].login) == wanted else None


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
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
    language: Column
    owner: NDArray[np.int32]
    name: Column
    rank: NDArray[np.int32]
    places: NDArray[np.int32]
    starts: NDArray[np.int32]
    languages: tuple[Language | None, ...]
    owners: Logins
    names: tuple[str, ...]
    _frozen: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        """Let nobody write into the columns."""
        for _, column in self._arrays():
            column.flags.writeable = not self._frozen

    @classmethod
    def of(
        cls,
        rows: Iterable[Repository],
        *,
        source: str = "rows",
        synthetic: Mapping[str, str] = MappingProxyType({}),
    ) -> Self:
        """Hold repositories, in any order."""
        known = sorted(rows, key=lambda row: (-row.stars, row.full_name.lower()))
        owners = sorted({row.owner for row in known}, key=lambda owner: key(owner.login))
        languages = (None, *sorted({row.language for row in known if row.language}))
        names = sorted({row.name for row in known})
        coded = [{text: code for code, text in enumerate(c)} for c in (languages, owners, names)]
        owner = np.array([coded[1][row.owner] for row in known], dtype=np.int32)
        alphabet = sorted(range(len(known)), key=lambda place: known[place].full_name.lower())
        places, starts = by_owner(owner, len(owners))
        return cls(
            source,
            synthetic,
            np.array([row.stars for row in known], dtype=np.int32),
            np.array([row.forks for row in known], dtype=np.int32),
            np.array([seconds(row.created_at) for row in known], dtype=np.int32),
            np.array([seconds(row.pushed_at) for row in known], dtype=np.int32),
            np.array([row.archived for row in known], dtype=bool),
            np.array([coded[0][row.language] for row in known], dtype=np.uint16),
            owner,
            np.array([coded[2][row.name] for row in known], dtype=np.uint32),
            np.argsort(np.array(alphabet, dtype=np.int64)).astype(np.int32),
            places,
            starts,
            languages,
            Logins.of(owners),
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
            iso(int(self.pushed[place])),
            iso(int(self.created[place])),
            bool(self.archived[place]),
        )

    def several(self, places: NDArray[Any]) -> Iterator[Repository]:
        """Yield the repositories in some rows, column by column: that is three times as fast."""
        return map(
            Repository._make,
            zip(
                [self.names[code] for code in self.name[places].tolist()],
                self.owners.several(self.owner[places]),
                self.stars[places].tolist(),
                self.forks[places].tolist(),
                [self.languages[code] for code in self.language[places].tolist()],
                _moments(self.pushed[places]),
                _moments(self.created[places]),
                self.archived[places].tolist(),
                strict=True,
            ),
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} repositories, {self.source}>"

    @property
    def nbytes(self) -> int:
        """The bytes that columns, names and indexes take."""
        arrays = (*(array for _, array in self._arrays()), self.owners.ends)
        text = len(self.owners.text) + sum(len(name) + 57 for name in self.names)  # 49 and 8 each
        kinds = self.owners.organizations.nbytes
        return text + kinds + sum(int(array.nbytes) for array in arrays)

    def above(self, low: int | None, high: int | None) -> tuple[int, int]:
        """Return the first row, and the one past the last, whose stars lie within bounds."""
        begin = 0 if high is None else bisect_left(self.stars, -high, key=falling)
        end = len(self) if low is None else bisect_right(self.stars, -low, key=falling)
        return begin, max(begin, end)

    def owned(self, owner: int) -> NDArray[np.int32]:
        """Return the rows of the owner at one place, most starred first."""
        return self.places[self.starts[owner] : self.starts[owner + 1]]

    def account(self, login: str) -> Owner | None:
        """Return the owner of that login, in any case; None if there is none."""
        place = self.owners.find(login)
        return None if place is None else self.owners[place]

    def named(self, full_name: str) -> int | None:
        """Return the row of ``"owner/name"``, in any case; None if there is none."""
        login, _, name = full_name.lower().partition("/")
        owner = self.owners.find(login)
        if owner is None:
            return None
        for row in self.owned(owner):
            if self.names[self.name[row]].lower() == name:
                return int(row)
        return None

    def node(self, node_id: str) -> Repository | Owner | Language | None:
        """Return the repository, owner or language of an id; None if there is none."""
        letter, text = named_by(node_id) or ("", "")
        found: Repository | Owner | Language | None = None
        if letter == "R":
            row = self.named(text)
            found = None if row is None else self[row]
        elif letter == "L":
            found = next((each for each in self.languages if each and each.name == text), None)
        elif letter in {"U", "O"}:
            found = self.account(text)
        return found if found is not None and found.node_id == node_id else None

    def swap(self, one: int, other: int) -> None:
        """Exchange two rows of a copy that may be written."""
        moves = ((int(self.owner[one]), one, other), (int(self.owner[other]), other, one))
        if moves[0][0] != moves[1][0]:
            for owner, old, new in moves:
                rows = self.owned(owner)
                rows[np.searchsorted(rows, old)] = new
                rows.sort()
        for name, column in self._arrays():
            if name not in _BY_OWNER:
                column[[one, other]] = column[[other, one]]

    def copy(self) -> Self:
        """Return a copy whose columns may be written."""
        columns: dict[str, Any] = {name: column.copy() for name, column in self._arrays()}
        return replace(self, **columns, _frozen=False)

    def now(self, rows: NDArray[Any]) -> Rows:
        """Return some rows as they are now, whatever is written later."""
        columns: dict[str, Any] = {
            name: column[rows] for name, column in self._arrays() if name not in _BY_OWNER
        }
        return Rows(replace(self, **columns, _frozen=self._frozen), np.arange(len(rows)))

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                yield each.name, value


@dataclass(frozen=True, eq=False, slots=True)
class Rows(Sequence[Repository]):
    """Some rows, each made into a repository when it is looked at.

    Attributes
    ----------
    columns
        What they are rows of.
    places
        Which rows.
    """

    columns: Columns
    places: NDArray[np.int64] | NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Repository: ...
    @overload
    def __getitem__(self, place: slice) -> Rows: ...
    def __getitem__(self, place: int | slice) -> Repository | Rows:
        if isinstance(place, slice):
            return Rows(self.columns, self.places[place])
        return self.columns[int(self.places[place])]

    def __iter__(self) -> Iterator[Repository]:
        return self.columns.several(self.places)


def _moments(seconds: NDArray[Any]) -> list[str]:
    """Return seconds since 1970 as :func:`iso` does each of them; a fifth of its time."""
    found: list[str] = np.datetime_as_string(
        seconds.astype("datetime64[s]"), timezone="UTC"
    ).tolist()
    return found


def by_owner(owner: NDArray[np.int32], owners: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows sorted by owner, in their order within each, and where each owner begins."""
    both = owner.astype(np.int64) * 2**32 + np.arange(len(owner))
    places = np.argsort(both).astype(np.int32)
    starts = np.zeros(owners + 1, dtype=np.int32)
    np.cumsum(np.bincount(owner, minlength=owners), out=starts[1:])
    return places, starts
