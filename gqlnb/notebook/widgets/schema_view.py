"""A schema to be browsed and searched, in a notebook.

The index is in the kernel: there it is made once for all views and cells, and the browser holds no
more than the page it shows. A search takes some milliseconds there and as many on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from graphql import GraphQLSchema

from gqlnb.errors import sanitize_text
from gqlnb.notebook.display import Listing
from gqlnb.notebook.schema_docs import build_page, list_own_types
from gqlnb.notebook.schema_search import get_index, is_indexed, search_schema, split_search_words
from gqlnb.notebook.schema_sheets import LINKS, SchemaSheets
from gqlnb.notebook.widgets.base import Widget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.notebook.schema_docs import DocPage
    from gqlnb.notebook.widgets.base import Message

__all__ = ["SchemaView"]

FOUND = 50  # hits that are sent at a time
TYPED = 200  # characters of what is searched for
SAVED = 20_000  # bytes of the page that is saved with a notebook
SIZES = (60, 30, 15, 8, 4, 2)  # entries of each of its sections
ABOUT = 200  # characters of the description of a hit


class SchemaView(Widget):
    """Browse a schema: its types, fields, arguments, and what leads to what.

    It is searched as one types: names, descriptions, and what they belong to. All of it can be
    done by the keyboard: ``/`` goes to the search box, arrows and Enter choose, Alt with the left
    and right arrow goes back and forth. :meth:`build_page`, :meth:`search_schema` and :meth:`links` do the same
    in Python.

    Parameters
    ----------
    schema
        What a :class:`gqlnb.Client` is made for: a schema of any library, a connection's name, an
        address, a client. Also SDL text, or the answer to introspection. None: what a bare
        ``%%graphql`` asks.
    place
        Where to begin: ``"Type"``, ``"Type.field"``, ``"@directive"``. None: all of it.

    Attributes
    ----------
    schema : GraphQLSchema
        The schema.

    Raises
    ------
    TargetError
        If there is no such place, or `schema` is nothing that can be asked.
    GqlnbError
        If an endpoint does not tell its schema.

    Examples
    --------
    >>> view = SchemaView("demo", "Starrable")
    >>> view
    SchemaView(27 types, 'Starrable')
    >>> view.search("stargazer count", limit=1)
    place                     type  description
    Starrable.stargazerCount  Int!  How many people have starred it.
    and 2 more: limit=3
    """

    _view = "schema_view.js"

    def __init__(self, schema: Any = None, place: str | None = None) -> None:
        self.schema = resolve_schema(schema)
        self._place = place or ""
        self._first_page = (
            build_page(self.schema, place) if not self._place.startswith("@") else None
        )
        self._sheets = SchemaSheets(self.schema)
        super().__init__(_twin=f"{self!r}\n{self._title}")
        # So that the first key stroke does not wait for it.
        Thread(target=get_index, args=[self.schema], name="gqlnb-index", daemon=True).start()

    def page(self, place: str | None = None) -> DocPage:
        """Return the documentation of a place, as text and as HTML.

        Parameters
        ----------
        place
            ``"Type"`` or ``"Type.field"``; None for all of the schema.

        Raises
        ------
        TargetError
            If there is no such place.
        """
        return build_page(self.schema, place)

    def search(self, words: str, *, limit: int = 20) -> Listing:
        """Return what there is about some words, the likeliest first.

        Parameters
        ----------
        words
            What would be typed into the box.
        limit
            How many hits to return.
        """
        return search_schema(self.schema, [words], limit, "limit=")

    def links(self, name: str, *, limit: int = LINKS) -> Listing:
        """Return the types that lead to a type, and those that it leads to.

        Parameters
        ----------
        name
            The type.
        limit
            How many to return.

        Raises
        ------
        TargetError
            If there is no such type.
        """
        rows = self._sheets.list_neighbours(name)
        more = len(rows) - limit
        note = f"and {more:,} more: limit={len(rows)}" if more > 0 else ""
        return Listing(["", "type", "by"], rows[:limit], note if rows else "Nothing.")

    @property
    def _title(self) -> str:
        return "" if self._first_page is None else self._first_page.title

    def _handle_view_message(
        self, message: Message, _buffers: Sequence[memoryview], /
    ) -> Message | None:
        """Answer a view, in a thread of its own where the index is being made still."""
        work = partial(self._answer_view, dict(message))
        if is_indexed(self.schema) or (message.get("kind") == "hello" and not self._place):
            return work()
        self._run_in_thread(work, message)
        return None

    def _answer_view(self, message: Mapping[str, Any]) -> Message | None:
        sheets = self._sheets
        match message:
            case {"kind": "hello"}:
                return {"kind": "state", "sheet": sheets.build_sheet(self._place)}
            case {"kind": "open", "place": str() as place}:
                return {"kind": "sheet", "sheet": sheets.build_sheet(place)}
            case {"kind": "rows", "place": str() as place, "section": str() as name, "at": int(at)}:
                return {"kind": "rows", "rows": sheets.build_rows(place, name, max(at, 0))}
            case {"kind": "links", "place": str() as place, "side": "from" | "to", "at": int(at)}:
                side = message["side"]
                return {"kind": "rows", "rows": sheets.build_links(place, side, max(at, 0))}
            case {"kind": "search", "text": str() as text, "at": int(at)}:
                return self._search(sheets, text[:TYPED], max(at, 0))
        return None

    def _search(self, sheets: SchemaSheets, text: str, start: int) -> Message:
        """Return hits for what was typed."""
        words = split_search_words(text)
        found, total = sheets.index.search(words, FOUND, start)
        rows = [
            {"place": it.place, "type": it.type, "about": sanitize_text(it.about, ABOUT)}
            for it in found
        ]
        near = [] if rows or not words else sheets.index.suggest_names(words[-1])
        return {"kind": "found", "text": text, "total": total, "rows": rows, "near": near}

    def _build_html(self) -> str:
        """Return the page it begins with, as long as may be saved."""
        first = self._first_page or build_page(self.schema, None)
        made = ""
        for most in SIZES:
            made = first.to_html(most)
            if len(made.encode()) <= SAVED:
                break
        return made if len(made.encode()) <= SAVED else f"<p>{sanitize_text(first.title)}</p>"

    def __repr__(self) -> str:
        types = len(list_own_types(self.schema))
        place = f", {self._place!r}" if self._place else ""
        return f"{type(self).__name__}({types:,} types{place})"


def resolve_schema(target: Any) -> GraphQLSchema:
    """Return the schema of what a client is made for, or that SDL or introspection describes."""
    if isinstance(target, GraphQLSchema):
        return target
    if isinstance(target, Mapping) or (isinstance(target, str) and "{" in target):
        from gqlnb.client.schema_sources import read_schema as described

        return described(target).graphql
    from gqlnb.client.client import connect
    from gqlnb.github.builtin_connections import register_connections

    register_connections()  # the connections that everybody has
    return connect(target).schema
