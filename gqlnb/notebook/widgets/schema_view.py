"""A widget to browse and search a schema.

The index stays in the kernel, where it is built once for all views and cells; the browser holds
only the page it shows. A search takes a few milliseconds there and as many on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import GraphQLSchema

from gqlnb import background
from gqlnb.client.client import connect
from gqlnb.client.schema_sources import read_schema
from gqlnb.errors import sanitize_text
from gqlnb.github.builtin_connections import register_connections
from gqlnb.notebook.display import Listing
from gqlnb.notebook.schema_docs import IN_HTML, LINKS, SchemaDocs
from gqlnb.notebook.schema_search import get_index, is_indexed, list_own_types, search_schema
from gqlnb.notebook.widgets.base import Widget
from gqlnb.option_checks import explain_keywords

if TYPE_CHECKING:
    from gqlnb.notebook.schema_docs import SchemaPage
    from gqlnb.notebook.widgets.base import Message

HITS = 50  # hits that are sent at a time
MAX_SEARCH_LENGTH = 200  # characters of a search text
MAX_SAVED_BYTES = 20_000  # of the page that is saved with a notebook
# Entries per section, tried until the page is small enough.
SECTION_SIZES = (60, 30, 15, 8, 4, 2, 0)


@explain_keywords
class SchemaView(Widget):
    """Browse a schema: its types, fields and arguments, and the links between its types.

    The search covers names, descriptions and owners, and updates while you type. Everything works
    by keyboard: ``/`` goes to the search box, arrows and Enter select, Alt with the left and right
    arrow goes back and forward. :meth:`page`, :meth:`search` and :meth:`links` do the same in
    Python.

    Parameters
    ----------
    schema
        Anything that :class:`gqlnb.Client` accepts: a schema of any library, the name of a
        connection, an address, a client. Also SDL text, or the result of introspection. None: the
        target of a bare ``%%graphql``.
    place
        The first page: ``"Type"``, ``"Type.field"``, ``"@directive"``. None: the whole schema.

    Attributes
    ----------
    schema : GraphQLSchema
        The schema.

    Raises
    ------
    TargetError
        If the schema has no such place, or no client can be created for `schema`.
    GqlnbError
        If an endpoint does not provide its schema.

    Examples
    --------
    >>> view = SchemaView("demo", "Starrable")
    >>> view
    SchemaView(185 types, 'Starrable')
    >>> view.search("search userCount")
    place                                 type  description
    SearchResultItemConnection.userCount  Int!  The number of accounts that match.
    """

    _view = "schema_view.js"

    def __init__(self, schema: object = None, place: str | None = None) -> None:
        self.schema = resolve_schema(schema)
        self._place = place or ""
        self._docs = SchemaDocs(self.schema)
        self._first_page = self._docs.build_page(self._place)
        super().__init__(_twin=f"{self!r}\n{self._first_page.title}")
        # In advance, so that the first key stroke does not wait for it.
        background.start_thread(partial(get_index, self.schema), "gqlnb-index")

    def page(self, place: str | None = None) -> SchemaPage:
        """Return the documentation of a place, which displays as text and as HTML.

        Parameters
        ----------
        place
            ``"Type"``, ``"Type.field"`` or ``"@directive"``; None for the whole schema.

        Returns
        -------
        SchemaPage
            Its ``sdl`` is the same in the schema definition language.

        Raises
        ------
        TargetError
            If the schema has no such place.
        """
        return self._docs.build_page(place or "")

    def search(self, words: str, *, limit: int = 20) -> Listing:
        """Search names and descriptions, best match first.

        Parameters
        ----------
        words
            The text that would be typed into the search box.
        limit
            The number of hits to return.

        Returns
        -------
        Listing
            Rows of place, type and description; ``frame()`` makes a DataFrame of them.
        """
        return search_schema(self.schema, [words], limit, "limit=")

    def links(self, name: str, *, limit: int = LINKS) -> Listing:
        """List the types that use a type, and those that it uses.

        Parameters
        ----------
        name
            The type.
        limit
            The number of types to return.

        Returns
        -------
        Listing
            Rows of direction, type and the fields that make the link.

        Raises
        ------
        TargetError
            If the schema has no such type.
        """
        rows = self._docs.list_neighbours(name)
        more = len(rows) - limit
        note = f"and {more:,} more: limit={len(rows)}" if more > 0 else ""
        return Listing(["", "type", "by"], rows[:limit], note if rows else "Nothing.")

    def _handle_view_message(self, message: Message, /) -> Message | None:
        """Answer a view; in another thread while the index is being built."""
        # The first page of a whole schema needs no index, so it is sent at once.
        work = partial(self._answer_view, dict(message))
        if is_indexed(self.schema) or (message.get("kind") == "hello" and not self._place):
            return work()
        self._run_in_thread(work, message)
        return None

    def _answer_view(self, message: Mapping[str, Any]) -> Message | None:
        match message:
            case {"kind": "hello"}:
                return {"kind": "state", "sheet": self._docs.build_message(self._place)}
            case {"kind": "open", "place": str() as place}:
                return {"kind": "sheet", "sheet": self._docs.build_message(place)}
            case {"kind": "rows", "place": str() as place, "section": str() as name, "at": int(at)}:
                return {"kind": "rows", "rows": self._docs.build_rows(place, name, max(at, 0))}
            case {"kind": "links", "place": str() as place, "side": "from" | "to", "at": int(at)}:
                rows = self._docs.build_links(place, message["side"], max(at, 0))
                return {"kind": "rows", "rows": rows}
            case {"kind": "search", "text": str() as text, "at": int(at)}:
                return self._search(text[:MAX_SEARCH_LENGTH], max(at, 0))
        return None

    def _search(self, text: str, start: int) -> Message:
        hits, total, near = get_index(self.schema).search_text(text, HITS, start)
        rows = [{"place": it.place, "type": it.type, "about": it.description} for it in hits]
        return {"kind": "found", "text": text, "total": total, "rows": rows, "near": near}

    def _build_html(self) -> str:
        """Render the first page, shortened until it is small enough to be saved."""
        # The fields of the query type, or of the type itself, are left out last.
        sizes = [*((most, IN_HTML) for most in SECTION_SIZES), *((it, it) for it in SECTION_SIZES)]
        for most, first in sizes:
            html = self._first_page.to_html(most, first)
            if len(html.encode()) <= MAX_SAVED_BYTES:
                return html
        return f"<p>{sanitize_text(self._first_page.title)}</p>"

    def __repr__(self) -> str:
        types = len(list_own_types(self.schema))
        place = f", {self._place!r}" if self._place else ""
        return f"{type(self).__name__}({types:,} types{place})"


def resolve_schema(target: object) -> GraphQLSchema:
    """Return the schema of anything that a client accepts, of SDL or of introspection."""
    if isinstance(target, GraphQLSchema):
        return target
    if isinstance(target, Mapping) or (isinstance(target, str) and "{" in target):
        return read_schema(target).graphql

    register_connections()
    return connect(target).schema
