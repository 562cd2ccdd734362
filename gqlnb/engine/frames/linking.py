"""Links between tables: the one row a value refers to, and the rows that refer to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import FieldNode

    from gqlnb.engine.frames.table import Fragments, Rows, Table

__all__ = ["Many", "One"]


class One:
    """A field that holds the row of another table that its column refers to.

    Parameters
    ----------
    table
        The other table.
    places
        For each row the position of the row referred to, an Arrow array; null where there is none.
    """

    def __init__(self, table: Table, places: Any) -> None:
        self.table, self.places = table, places

    def cells(
        self, rows: Rows, nodes: Sequence[FieldNode], fragments: Fragments
    ) -> list[dict[str, Any] | None]:
        """Return the rows referred to; one that several refer to is made once."""
        found = self.places.take(pa.array(rows))
        different = pc.unique(found.drop_null())
        made = self.table.nodes(different.to_numpy(), nodes, fragments)
        by_place = dict(zip(different.to_pylist(), made, strict=True))
        return [by_place.get(place) for place in found.to_pylist()]


class Many:
    """A field that holds a connection of the rows of another table that refer to its row.

    Parameters
    ----------
    table
        The other table.
    places
        For each of its rows the position of the row it refers to, an Arrow array.
    """

    def __init__(self, table: Table, places: Any) -> None:
        self.table, self.places = table, places

    def cells(self, rows: Rows, _nodes: Sequence[FieldNode], _fragments: Fragments) -> list[int]:
        """Return the rows' own positions: what refers to them depends on the arguments."""
        found: list[int] = rows.tolist()
        return found

    def rows(self, place: int) -> Rows:
        """Return the rows of the other table that refer to the row at a position, ascending."""
        start, stop = np.searchsorted(self._sorted[0], (place, place + 1))
        return self._sorted[1][start:stop]

    @cached_property
    def _sorted(self) -> tuple[Any, Any]:
        """The positions referred to, ascending, and the rows that refer to each."""
        places = pc.fill_null(self.places, -1).to_numpy(zero_copy_only=False)
        order = np.argsort(places, kind="stable")
        return places[order], order
