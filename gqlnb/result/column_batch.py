"""Rows of an answer as columns, before anybody asks for them as mappings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.result.decoder import Data, DataSource

if TYPE_CHECKING:
    from gqlnb.document.document import Document

# Shorter lists stay dicts: the plan that collects columns costs about as much as it saves on them.
MIN_BATCH_ROWS = 2_000


class ColumnBatch:
    """The objects of a list, member by member; none of them is null.

    Parameters
    ----------
    count
        The number of objects.
    members
        By response name: one JSON value for each object, or a batch of the objects there.
    """

    __slots__ = ("count", "members")

    def __init__(self, count: int, members: dict[str, list[Any] | ColumnBatch]) -> None:
        self.count = count
        self.members = members

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, rows: slice) -> ColumnBatch:
        parts = {name: values[rows] for name, values in self.members.items()}
        return ColumnBatch(len(range(self.count)[rows]), parts)

    def append(self, other: ColumnBatch) -> None:
        """Add the objects of another batch with the same members; it must not be used again."""
        self.count += other.count
        for name, values in self.members.items():
            added: Any = other.members[name]
            if isinstance(values, ColumnBatch):
                values.append(added)
            else:
                values.extend(added)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the objects as dicts."""
        if not self.members:
            return [{} for _ in range(self.count)]
        columns = [
            values.to_dicts() if isinstance(values, ColumnBatch) else values
            for values in self.members.values()
        ]
        return [dict(zip(self.members, row, strict=True)) for row in zip(*columns, strict=True)]


class ColumnData(DataSource):
    """The data of an answer with lists as batches of columns.

    Frames read the columns, and ``result.data`` has lists of dicts, which are built on first
    access.

    Parameters
    ----------
    outline
        The data.
    document
        The document, in which the first access is noted.
    """

    def __init__(self, outline: Data, document: Document) -> None:
        super().__init__()
        self.outline = outline
        self._document = document
        self._data: Data = None

    def decode_data(self) -> Data:
        """Return the data without batches; from now on frames read these data, too."""
        with self.lock:
            if self.outline is not msgspec.UNSET:
                self._document.note_reading(columns=False)
                self._data, self.outline = build_data(self.outline), msgspec.UNSET
            return self._data


class ColumnMembers(Mapping[str, Any]):
    """The members of a response of this process; their data are built when they are read.

    Parameters
    ----------
    columns
        The data.
    more
        The other members.
    """

    def __init__(self, columns: ColumnData, more: Mapping[str, Any]) -> None:
        self.columns = columns
        self.outline = {"data": columns.outline, **more}

    def __getitem__(self, name: str) -> Data:
        return self.columns.decode_data() if name == "data" else self.outline[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outline)

    def __len__(self) -> int:
        return len(self.outline)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        """Copy or pickle a dict of the members, with lists of dicts."""
        return dict, (dict(self),)


def build_data(value: Data) -> Data:
    """Return data with lists of dicts for batches, which are in no list."""
    if isinstance(value, ColumnBatch):
        return value.to_dicts()
    if isinstance(value, dict):
        return {name: build_data(member) for name, member in value.items()}
    return value


def has_batches(value: Data) -> bool:
    """Return whether data contain a batch."""
    if isinstance(value, dict):
        return any(map(has_batches, value.values()))
    return isinstance(value, ColumnBatch)
