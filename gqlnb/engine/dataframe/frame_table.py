"""Tables of frames: filters, orders, pages, and links between tables."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from graphql import FieldNode, GraphQLError

from gqlnb.document.document import iterate_fields
from gqlnb.engine.dataframe.arrow_column import ArrowArray, Value
from gqlnb.engine.dataframe.frame_reader import read_frame
from gqlnb.errors import sanitize_text


class TableLink:
    """A field of a row that leads to another table.

    Parameters
    ----------
    table
        The other table.
    places
        For each row of the table that refers to the other the position of the row it refers to, an
        Arrow array; null without one.
    """

    def __init__(self, table: FrameTable, places: ArrowArray) -> None:
        self.table, self.places = table, places


class ToOneLink(TableLink):
    """A field with the row of another table that its column refers to."""

    def read_cells(
        self, rows: Rows, nodes: Sequence[FieldNode], fragments: Fragments
    ) -> list[dict[str, Value] | None]:
        """Return the linked row of each row; a row with several links is built once."""
        found = self.places.take(pa.array(rows))
        distinct = pc.unique(found.drop_null())
        items = self.table.build_nodes(distinct.to_numpy(), nodes, fragments)
        by_place = dict(zip(distinct.to_pylist(), items, strict=True))
        return [by_place.get(place) for place in found.to_pylist()]


class ToManyLink(TableLink):
    """A field with a connection of the rows of another table that refer to its row."""

    def read_cells(
        self, rows: Rows, _nodes: Sequence[FieldNode], _fragments: Fragments
    ) -> list[int]:
        """Return the rows' own positions, from which the resolver finds the linked rows."""
        return rows.tolist()  # type: ignore[no-any-return]

    def find_rows(self, place: int) -> Rows:
        """Return the rows of the other table that refer to the row at `place`, ascending."""
        start, stop = np.searchsorted(self._sorted[0], (place, place + 1))
        return self._sorted[1][start:stop]

    @cached_property
    def _sorted(self) -> tuple[Rows, Rows]:
        """The positions that are referred to, ascending, and the referring rows."""
        # Sorted once: the rows that refer to a row are then found by bisection.
        places = pc.fill_null(self.places, -1).to_numpy(zero_copy_only=False)
        order = np.argsort(places, kind="stable")
        return places[order], order


if TYPE_CHECKING:
    from graphql import FragmentDefinitionNode, GraphQLObjectType

    RequestedFields = Mapping[str, Sequence[FieldNode]]  # fields of a selection, by name
    Fragments = Mapping[str, FragmentDefinitionNode]
    Rows = Any  # positions of rows in a frame, NumPy integers
    Order = tuple[tuple[str, bool, bool], ...]  # field, whether descending, whether nulls first

MAX_ORDERS = 8  # per table, each of eight bytes a row; a user pages through few at a time
JOINS = {"and": pc.and_, "or": pc.or_}


# The table is held as Arrow: one representation of every dtype, with nulls. A query computes
# masks and an order on whole columns; only the rows of the page and the selected columns become
# dicts, which the engine executes fastest.
class FrameTable:
    """The rows of a frame.

    It does not change after its schema is built, and any thread may use it.

    Parameters
    ----------
    name
        The root field of its connection.
    frame
        A DataFrame, or another table that Arrow can read.
    kind
        The type of its rows.
    page_sizes
        The number of rows of a page without `first` and `last`, and the largest number.

    Attributes
    ----------
    type
        The type of its rows.
    fields
        Its columns by field name.
    links
        Its fields that lead to other tables.
    """

    def __init__(self, name: str, frame: object, kind: str, page_sizes: tuple[int, int]) -> None:
        self.name, self.type = name, kind
        self.fields, self.length, self._source = read_frame(frame, name)
        self.links: dict[str, ToOneLink | ToManyLink] = {}
        self.page_size, self.max_page_size = page_sizes
        self._cached_order = lru_cache(MAX_ORDERS)(self._sort_rows)
        self._row_type: Any = None
        self._resolvers: dict[str, Value] = {}

    @property
    def lookup(self) -> str:
        """The root field that looks up one row."""
        return self.type[:1].lower() + self.type[1:]

    def set_row_type(self, kind: GraphQLObjectType) -> None:
        """Store the type of its rows and the initial resolvers of its fields."""
        self._row_type = kind
        self._resolvers = {name: field.resolve for name, field in kind.fields.items()}

    # -- filters

    def filter_rows(self, where: Mapping[str, Value] | None, rows: Rows | None = None) -> Rows:
        """Return the positions of the rows that match a filter, in the order of the frame.

        Parameters
        ----------
        where
            A value of the filter's input type; None for every row.
        rows
            The rows to choose among, ascending; None for all.

        Raises
        ------
        GraphQLError
            If a part of the filter is null that must not be.
        """
        every = np.arange(self.length) if rows is None else rows
        if not where:
            return every
        return every[self._build_mask(where, rows).to_numpy(zero_copy_only=False)]

    def _build_mask(self, where: Mapping[str, Value], rows: Rows | None) -> ArrowArray:
        """Return a mask of the rows that fulfil every condition of a filter."""
        for name, condition in where.items():
            if condition is None:
                msg = f"'{name}' can't be null in a filter. Leave it out, or give its conditions."
                raise GraphQLError(msg)
        masks = (self._match_member(name, condition, rows) for name, condition in where.items())
        return self._join_masks(pc.and_, masks, rows)

    def _match_member(self, name: str, condition: Value, rows: Rows | None) -> ArrowArray:
        """Return a mask of the rows that fulfil one member of a filter."""
        if name == "not":
            return pc.invert(self._build_mask(condition, rows))
        if name in JOINS:
            parts = (self._build_mask(part, rows) for part in condition)
            return self._join_masks(JOINS[name], parts, rows)
        column = self.fields[name].column
        values = column.values if rows is None else column.values.take(pa.array(rows))
        masks = (
            column.match_values(values, operator, wanted) for operator, wanted in condition.items()
        )
        return self._join_masks(pc.and_, masks, rows)

    def _join_masks(
        self,
        join: Callable[[ArrowArray, ArrowArray], ArrowArray],
        masks: Iterator[ArrowArray],
        rows: Rows | None,
    ) -> ArrowArray:
        """Return masks joined into one; without masks ``and`` selects all rows, ``or`` none."""
        first = next(masks, None)
        if first is None:
            count = self.length if rows is None else len(rows)
            return pa.repeat(pa.scalar(join is pc.and_), count)
        return reduce(join, masks, first)

    # -- orders

    def _sort_rows(self, order: Order) -> RowOrder:
        """Return the rows of the frame in an order; equal rows stay in the frame's order."""
        keys: dict[str, Value] = {}
        directions = []
        for name, descending, nulls_first in order:
            values = self.fields[name].column.values
            if values.null_count:  # a separate key: Arrow places the nulls of all columns alike
                keys[str(len(keys))] = values.is_null()
                directions.append("descending" if nulls_first else "ascending")
            keys[str(len(keys))] = values
            directions.append("descending" if descending else "ascending")
        by = list(zip(keys, directions, strict=True))
        # 32 bits halve the memory of an order.
        rows = pc.sort_indices(pa.table(keys), sort_keys=by).to_numpy().astype(np.int32)
        places = np.empty_like(rows)
        places[rows] = np.arange(self.length, dtype=np.int32)
        return RowOrder(rows, places)

    # -- connections and rows

    def build_connection(
        self,
        args: Mapping[str, Value],
        asked: RequestedFields,
        fragments: Fragments,
        rows: Rows | None = None,
    ) -> dict[str, Value]:
        """Return the requested parts of a connection.

        Parameters
        ----------
        args
            ``first``, ``after``, ``last``, ``before``, ``where``, ``orderBy``.
        asked, fragments
            The fields selected from it.
        rows
            The rows it consists of, ascending; None for all.

        Raises
        ------
        GraphQLError
            If an argument is out of range or is not a cursor of this table.
        """
        first, last = self._read_page_size(args, "first"), self._read_page_size(args, "last")
        if first is not None and last is not None:
            msg = f"Give '{self.name}' first or last, not both."
            raise GraphQLError(msg)
        after, before = (self._decode_cursor(args.get(name)) for name in ("after", "before"))
        chosen = self.filter_rows(args.get("where"), rows)
        connection: dict[str, Value] = {"totalCount": len(chosen)}
        if not asked.keys() & {"edges", "nodes", "pageInfo"}:
            return connection
        order = self._cached_order(by) if (by := _parse_order(args.get("orderBy"))) else None
        keys = chosen if order is None else order.get_keys(chosen)
        after, before = (
            row if row is None or order is None else order.places[row] for row in (after, before)
        )
        # A cursor is compared by place, so that it also works if its row does not match the filter.
        low = 0 if after is None else int(np.count_nonzero(keys <= after))
        high = len(keys) if before is None else int(np.count_nonzero(keys < before))
        if last is None:
            start, stop = low, min(low + (self.page_size if first is None else first), high)
        else:
            start, stop = max(low, high - last), high
        page = select_between(
            keys, start, stop, is_sorted=order is None or len(keys) == self.length
        )
        page = page if order is None else order.rows[page]
        return connection | self._build_page(
            page, asked, fragments, (start > 0, max(start, stop) < len(keys))
        )

    def _build_page(
        self, page: Rows, asked: RequestedFields, fragments: Fragments, around: tuple[bool, bool]
    ) -> dict[str, Value]:
        """Return the parts of a connection for a page.

        `around` is whether there are rows before it and behind it.
        """
        edges = collect_fields_below(asked.get("edges", ()), fragments)
        nodes = self.build_nodes(page, [*asked.get("nodes", ()), *edges.get("node", ())], fragments)
        texts = (f"{self.name}:{row}:{self.length}" for row in page.tolist())
        cursors = [b64encode(text.encode()).decode() for text in texts]
        return {
            "nodes": nodes,
            "edges": [
                {"cursor": cursor, "node": node}
                for cursor, node in zip(cursors, nodes, strict=True)
            ],
            "pageInfo": {
                "hasPreviousPage": around[0],
                "hasNextPage": around[1],
                "startCursor": cursors[0] if cursors else None,
                "endCursor": cursors[-1] if cursors else None,
            },
        }

    def build_nodes(
        self, rows: Rows, nodes: Sequence[FieldNode], fragments: Fragments
    ) -> list[dict[str, Value]]:
        """Return some rows as dicts of the selected fields."""
        taken = pa.array(rows)
        cells: dict[str, Sequence[object]] = {}
        asked = collect_fields_below(nodes, fragments)
        if self._has_own_resolver(asked):  # which may read any column
            for name, field in self.fields.items():
                cells[name] = field.column.show(field.column.values.take(taken))
        for name, inner in asked.items():
            if name in self.links:
                cells[name] = self.links[name].read_cells(rows, inner, fragments)
            elif name in self.fields:
                column = self.fields[name].column
                cells[name] = column.show(column.values.take(taken))
        if not cells:
            return [{} for _ in rows]
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]

    def _has_own_resolver(self, asked: RequestedFields) -> bool:
        """Return whether one of the requested fields has a user's resolver."""
        fields = self._row_type.fields if self._row_type is not None else {}
        return any(
            name in fields and fields[name].resolve is not self._resolvers.get(name)
            for name in asked
        )

    def _decode_cursor(self, cursor: str | None) -> int | None:
        """Return the position of the row that a cursor names."""
        if cursor is None:
            return None
        try:
            name, row, length = b64decode(cursor, validate=True).decode("ascii").split(":")
            if name == self.name and int(length) == self.length > int(row) >= 0:
                return int(row)
        except ValueError:  # binascii.Error too
            pass
        given = sanitize_text(cursor, 80)
        msg = f"{given!r} is not a cursor of '{self.name}'. Take one from its last result."
        raise GraphQLError(msg)

    def _read_page_size(self, args: Mapping[str, Value], word: str) -> int | None:
        """Return ``first`` or ``last``, None if it is not given."""
        size: int | None = args.get(word)
        if size is None or 0 <= size <= self.max_page_size:
            return size
        msg = f"'{word}' of '{self.name}' is 0 to {self.max_page_size:,}; got {size:,}."
        raise GraphQLError(msg)


class RowOrder(NamedTuple):
    """The rows of a frame in an order.

    Attributes
    ----------
    rows
        The positions of the rows, in this order.
    places
        The place of each row in this order.
    """

    rows: Rows
    places: Rows

    def get_keys(self, chosen: Rows) -> Rows:
        """Return the places of some rows; ascending if these are all rows."""
        return np.arange(len(chosen)) if len(chosen) == len(self.rows) else self.places[chosen]


def _parse_order(given: Sequence[Mapping[str, Value]] | None) -> Order:
    return tuple(
        (it["field"], it["direction"] == "DESC", it["nulls"] == "FIRST") for it in given or ()
    )


def select_between(keys: Rows, start: int, stop: int, *, is_sorted: bool) -> Rows:
    """Return the sorted keys from `start` to `stop`."""
    if is_sorted or start >= stop:
        return keys[start:stop]
    # Partitioning places only the two ends; sorting all keys would take log(n) times as long.
    return np.sort(np.partition(keys, (start, stop - 1))[start:stop])


def collect_fields_below(
    nodes: Iterable[FieldNode], fragments: Fragments
) -> dict[str, list[FieldNode]]:
    """Return the fields selected below some fields, by name, including those of fragments."""
    # All types below a frame are object types, so that the types of fragments do not matter.
    # Skipped fields are included; they cost a look-up whose value is not used.
    fields: dict[str, list[FieldNode]] = {}
    sets = [node.selection_set for node in nodes if node.selection_set]
    for field in iterate_fields(sets, fragments):
        fields.setdefault(field.name.value, []).append(field)
    return fields
