"""The rows of one running service: a copy of its own, which may be written to from any thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gqlnb.github.repositories import Repository

__all__ = ["RepositoryStore", "StoredRepository"]


class StoredRepository(NamedTuple):
    """One repository as this service keeps it.

    Attributes
    ----------
    id
        Its identifier, 1 or more; never given to another repository.
    name
        Its name without the owner.
    login, kind
        Its owner's name, and ``"User"`` or ``"Organization"``.
    stars, forks
        How many people have starred and forked it.
    language
        What most of it is written in; None if unknown.
    pushed_at
        When something was last pushed, ISO 8601 in UTC; None if nothing was.
    """

    id: int
    name: str
    login: str
    kind: str
    stars: int
    forks: int
    language: str | None
    pushed_at: str | None

    @property
    def key(self) -> str:
        """Owner and name in lower case: no two rows have the same."""
        return make_row_key(self.login, self.name)

    def to_brief_dict(self) -> dict[str, Any]:
        """Return the row as it stands in a list."""
        return {"id": self.id, "name": self.name}

    def to_full_dict(self) -> dict[str, Any]:
        """Return all of the row."""
        owner = {"login": self.login, "type": self.kind}
        row = self._asdict()
        return {
            "id": row.pop("id"),
            "name": row.pop("name"),
            "owner": owner,
            **{name: value for name, value in row.items() if name not in {"login", "kind"}},
        }


def make_row_key(login: str, name: str) -> str:
    """Return what tells repositories apart beside their ids."""
    return f"{login}/{name}".lower()


class RepositoryStore:
    """Rows that can be added, replaced, starred and deleted; safe to use from any thread.

    Every write is whole or not at all, and what was read before it stays as it was.

    Parameters
    ----------
    repositories
        What to begin with; they get the identifiers 1, 2, ... in their order.
    """

    def __init__(self, repositories: Iterable[Repository]) -> None:
        self._lock = threading.Lock()
        self._rows = {
            number: StoredRepository(
                number,
                row.name,
                row.owner.login,
                row.owner.kind,
                row.stars,
                row.forks,
                row.language.name if row.language else None,
                row.pushed_at or None,
            )
            for number, row in enumerate(repositories, start=1)
        }
        self._ids = {row.key: number for number, row in self._rows.items()}
        self._kinds = {row.login.lower(): row.kind for row in self._rows.values()}
        self._starred: set[tuple[str, int]] = set()
        self._last_id = len(self._rows)
        self._listing: tuple[StoredRepository, ...] | None = None

    def list_rows(self) -> tuple[StoredRepository, ...]:
        """Return all rows, most starred first, those of equal stars by their ids."""
        with self._lock:
            if self._listing is None:
                rows = self._rows.values()
                self._listing = tuple(sorted(rows, key=lambda row: (-row.stars, row.id)))
            return self._listing

    def get(self, number: int) -> StoredRepository | None:
        """Return the row of that id, or None."""
        return self._rows.get(number)

    def create(self, login: str, name: str, language: str | None) -> StoredRepository:
        """Add a repository without stars and forks.

        Raises
        ------
        ValueError
            If the owner has one of that name.
        """
        with self._lock:
            self._check_free(make_row_key(login, name), None)
            self._last_id += 1
            kind = self._kinds.get(login.lower(), "User")
            return self._save_row(
                StoredRepository(self._last_id, name, login, kind, 0, 0, language, None)
            )

    def replace(self, number: int, name: str, language: str | None) -> StoredRepository:
        """Give a repository another name and language.

        Raises
        ------
        KeyError
            If there is none of that id.
        ValueError
            If its owner has another one of that name.
        """
        with self._lock:
            old = self._rows[number]
            self._check_free(make_row_key(old.login, name), number)
            del self._ids[old.key]
            return self._save_row(old._replace(name=name, language=language))

    def delete(self, number: int) -> StoredRepository:
        """Delete a repository and return what it was.

        Raises
        ------
        KeyError
            If there is none of that id.
        """
        with self._lock:
            row = self._rows.pop(number)
            del self._ids[row.key]
            self._starred = {pair for pair in self._starred if pair[1] != number}
            self._listing = None
            return row

    def star(self, number: int, login: str, *, starred: bool) -> StoredRepository:
        """Star a repository for an account, or take its star back; twice is as good as once.

        Raises
        ------
        KeyError
            If there is none of that id.
        """
        with self._lock:
            row, pair = self._rows[number], (login.lower(), number)
            if (pair in self._starred) == starred:
                return row
            (self._starred.add if starred else self._starred.remove)(pair)
            return self._save_row(row._replace(stars=row.stars + (1 if starred else -1)))

    def _check_free(self, name: str, number: int | None) -> None:
        if self._ids.get(name, number) != number:
            raise ValueError(name)

    def _save_row(self, row: StoredRepository) -> StoredRepository:
        self._rows[row.id] = row
        self._ids[row.key] = row.id
        self._listing = None
        return row
