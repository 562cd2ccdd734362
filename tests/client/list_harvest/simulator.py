"""An endpoint that caps its lists, takes a range filter, and changes while it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zlib import crc32

import gqlnb

SDL = """
scalar DateTime
scalar Date
type Query {{
  items(first: Int! = 20, after: String, filter: Filter, low: {type}, high: {type}): Items!
}}
input Filter {{ at: Between }}
input Between {{ gte: {type}, lt: {type} }}
type Items {{ {count} nodes: [Item]! pageInfo: PageInfo! }}
type PageInfo {{ hasNextPage: Boolean! endCursor: String }}
type Item {{ id: ID! at: {column} label: String tags: [String!]! }}
"""
QUERY = """query ($low: {type}, $high: {type}) {{
  items(low: $low, high: $high) {{ nodes {{ id at label tags }} }}
}}"""


def mix(key: str) -> tuple[int, str]:
    """Return a sort key in no order that the values have; the same in each process."""
    return crc32(f"{key} a salt".encode()), key


@dataclass
class Endpoint:
    """The rows of a table, and how the endpoint returns them.

    Attributes
    ----------
    rows
        Values of the column `at` as the endpoint writes and compares them, by id.
    cap
        The rows that one list returns at most.
    order
        ``"rising"``, ``"falling"`` or ``"none"``.
    closed
        The ends that belong to a range.
    is_required
        Whether the column is non-null in the schema.
    cursors
        ``"offset"``, ``"opaque"`` for positions in another text, or ``"keyset"`` for cursors that
        continue after a row, wherever it stands.
    drift
        Called before each request.
    damage
        Changes the rows of a page in place, before it is returned.
    is_ignoring
        Whether the filter has no effect.
    watch
        Called with the arguments of each request.
    lows
        The low ends of the ranges of which rows were requested.
    """

    rows: dict[str, Any]
    type: str = "Int"
    cap: int = 50
    order: str = "rising"
    closed: str = "both"
    has_count: bool = True
    is_ignoring: bool = False
    is_required: bool = False
    cursors: str = "offset"
    drift: Callable[[], None] | None = None
    damage: Callable[[list[Any]], object] | None = None
    labels: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    watch: Callable[[dict[str, Any]], None] | None = None
    lows: list[Any] = field(default_factory=list)

    def build_schema(self) -> gqlnb.Schema:
        """Return the schema with its resolver."""
        count = "totalCount: Int!" if self.has_count else ""
        column = f"{self.type}!" if self.is_required else self.type
        text = SDL.format(type=self.type, column=column, count=count)
        return gqlnb.Schema(text, {"Query": {"items": self.resolve_items}})

    @property
    def query(self) -> str:
        """The query of a harvest."""
        return QUERY.format(type=self.type)

    def resolve_items(self, _root: object, args: dict[str, Any], _context: object) -> object:
        """Return a page."""
        self.requests += 1
        if args["first"] > 1:
            self.lows.append(args.get("low"))
        if self.drift is not None:
            self.drift()
        if self.watch is not None:
            self.watch(args)
        between = (args.get("filter") or {}).get("at") or {}
        low = self._read(args.get("low", between.get("gte")))
        high = self._read(args.get("high", between.get("lt")))
        closed = "left" if between else self.closed
        values = {key: self._read(value) for key, value in self.rows.items()}
        found = [key for key, value in values.items() if self._matches(value, low, high, closed)]
        if self.order == "none":
            found.sort(key=mix)
        else:
            found.sort(key=lambda key: ((v := values[key]) is None, v or 0, key))
            if self.order == "falling":
                found.reverse()
        start = self._find_start(found, args.get("after"))
        cap = len(found) if self.cursors == "keyset" else self.cap
        stop = min(start + args["first"], cap)
        nodes = [
            {
                "id": key,
                "at": self.rows[key],
                "label": self.labels.get(key, f"row {key}"),
                "tags": [key[-1]],
            }
            for key in found[start:stop]
        ]
        if self.damage is not None:
            self.damage(nodes)
        more = stop < min(len(found), cap)
        return {
            "totalCount": len(found),
            "nodes": nodes,
            "pageInfo": {"hasNextPage": more, "endCursor": self._format_cursor(found, stop)},
        }

    def _format_cursor(self, found: list[str], stop: int) -> str | None:
        if self.cursors == "keyset":
            key = found[stop - 1] if found else ""
            return f"{self.rows.get(key)}|{key}"
        return {"offset": str(stop), "opaque": f"page-token-{stop}-of-list"}[self.cursors]

    def _find_start(self, found: list[str], after: str | None) -> int:
        """Return the number of rows before those after a cursor."""
        if not after:
            return 0
        if self.cursors != "keyset":
            return int(re.sub(r"\D", "", after))
        value, _, last = after.partition("|")
        if self.order == "none":
            return sum(mix(key) <= mix(last) for key in found)
        ends = [(self.rows[key], key) for key in found]
        if self.order == "falling":
            return sum(end >= (int(value), last) for end in ends)
        return sum(end <= (int(value), last) for end in ends)

    def _read(self, value: Any) -> Any:
        is_time = self.type == "DateTime" and value is not None
        if self.type == "ID" and value is not None:  # an id that the database has as a number
            return int(value)
        return datetime.fromisoformat(value) if is_time else value

    def _matches(self, value: Any, low: Any, high: Any, closed: str) -> bool:
        if self.is_ignoring or (low is None and high is None):
            return True
        if value is None:
            return False
        above = low is None or value > low or (value == low and closed in {"both", "left"})
        below = high is None or value < high or (value == high and closed in {"both", "right"})
        return above and below
