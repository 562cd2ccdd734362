"""The owners of the stand-in's repositories: their logins in one text, and the rows of each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from gqlnb.github.repositories import Owner

__all__ = ["Owners", "index_by_owner", "make_login_key"]


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
