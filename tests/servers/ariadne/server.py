"""Ariadne on uvicorn: the shared schema with `node(id:)`, both subprotocols, events, uploads.

``/graphql`` has subscriptions by `graphql-transport-ws`, ``/legacy`` by the older `graphql-ws`,
``/events`` as server-sent events.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from asyncio import Event
from collections.abc import AsyncGenerator, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from ariadne import (
    InterfaceType,
    MutationType,
    ObjectType,
    QueryType,
    ScalarType,
    SubscriptionType,
    make_executable_schema,
    upload_scalar,
)
from ariadne.asgi import GraphQL
from ariadne.asgi.handlers import GraphQLTransportWSHandler, GraphQLWSHandler
from ariadne.contrib.sse import GraphQLHTTPSSEHandler
from graphql import GraphQLError

from tests.servers.asgi import OPTIONS, is_trusted, load_data, run_apps

DATA = load_data()
BOOKS, AUTHORS, USERS = DATA["books"], DATA["authors"], DATA["users"]
SCALARS = DATA["scalars"]["ariadne"]
KNOWN = {"Int", "Float", "Boolean", "String", "ID"}
NODES = {row["id"]: row for name in ("authors", "books", "users", "reviews") for row in DATA[name]}
MOST, CAP = 100, 50
EXTRA = """
scalar Upload
type FileInfo { name: String! type: String! size: Int! text: String! }
type Subscription { count(to: Int!): Int! addedBooks(first: Int!): Book! breaks: Int! quiet: Int! }
extend type Query { node(id: ID!): Node scalars: [Scalars!]! nullScalars: [Scalars!]! }
extend type Mutation {
  readFile(file: Upload!): FileInfo!
  readFiles(files: [Upload!]!): [FileInfo!]!
}
"""


def build_sdl() -> str:
    """Return the text of the schema, changed where version 2 is asked for."""
    text = Path(__file__).parents[1].joinpath("library.graphql").read_text(encoding="utf-8")
    if OPTIONS.get("version") == 2:
        text = text.replace("pages: Int\n", "pageCount: Int\n")
    fields = " ".join(f"{name}: {kind}" for name, kind in SCALARS["fields"].items())
    own = "\n".join(f"scalar {kind}" for kind in {*SCALARS["fields"].values()} - KNOWN)
    return f"{text}\n{own}\ntype Scalars {{ number: Int! {fields} }}\n{EXTRA}"


# -- Relay connections


def encode_cursor(position: int) -> str:
    """Return the cursor of an item."""
    return base64.b64encode(f"item:{position}".encode()).decode()


def decode_cursor(cursor: str) -> int:
    """Return the position of an item."""
    match = re.fullmatch(rb"item:(\d+)", base64.b64decode(cursor))
    if match is None:
        refuse(f"'{cursor}' is not a cursor.")
    return int(match[1])


def refuse(message: str, code: str = "BAD_USER_INPUT") -> None:
    """Raise an error with a code."""
    raise GraphQLError(message, extensions={"code": code})


def connect(
    items: list[Any],
    *,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    count: int | None = None,
) -> dict[str, Any]:
    """Return a Relay connection of some items; 20 where no number is given."""
    start = 0 if after is None else decode_cursor(after) + 1
    end = len(items) if before is None else min(decode_cursor(before), len(items))
    if first is None and last is None:
        first = 20
    if first is not None:
        end = min(end, start + first)
    if last is not None:
        start = max(start, end - last)
    page = items[start:end]
    return {
        "totalCount": len(items) if count is None else count,
        "nodes": page,
        "edges": [{"node": it, "cursor": encode_cursor(start + n)} for n, it in enumerate(page)],
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": encode_cursor(start) if page else None,
            "endCursor": encode_cursor(start + len(page) - 1) if page else None,
        },
    }


def overlap(items: list[Any], *, after: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Begin each page with the last item of the one before."""
    if after is not None:
        position = decode_cursor(after)
        after = encode_cursor(position - 1) if position else None
    return connect(items, after=after, **arguments)


def group(rows: Iterable[dict[str, Any]], key: str) -> dict[int, list[dict[str, Any]]]:
    """Return rows by one of their values."""
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


BY_AUTHOR, BY_BOOK = group(BOOKS, "author"), group(DATA["reviews"], "book")
BY_USER, BY_GENRE = group(DATA["reviews"], "user"), group(BOOKS, "genre")

# -- resolvers

query, mutation, subscription = QueryType(), MutationType(), SubscriptionType()
node, author, book = InterfaceType("Node"), ObjectType("Author"), ObjectType("Book")
review, user, summary = ObjectType("Review"), ObjectType("User"), ObjectType("GenreSummary")


@node.type_resolver
def resolve_node_type(value: Any, *_: Any) -> str:
    """Return the kind of a node."""
    return value["id"].split(":")[0]


def limited(*, first: int = 20, after: str | None = None) -> Any:
    """Refuse big pages."""
    if first > MOST:
        refuse("'first' must be at most 100.")
    return connect(BOOKS, first=first, after=after)


def breaking(*, after: str | None = None, **arguments: Any) -> Any:
    """Fail from the 300th item on."""
    if after is not None and decode_cursor(after) >= 299:
        refuse("The shelf broke down.", "INTERNAL_SERVER_ERROR")
    return connect(BOOKS, after=after, **arguments)


def pick(offset: int, limit: int, genre: str | None = None) -> Any:
    """Return books from a position on."""
    return [it for it in BOOKS if genre in (None, it["genre"])][offset : offset + limit]


def page(*, offset: int, limit: int) -> Any:
    """Return a page that is not a connection."""
    more = offset + limit < len(BOOKS)
    return {"items": pick(offset, limit), "total": len(BOOKS), "hasMore": more}


def make_person(depth: int) -> Any:
    """Return a person one of whose fields fails."""

    def fails(*_: Any) -> None:
        refuse("This person fails.", "PERSON_FAILED")

    nested = make_person(depth - 1) if depth else None
    return {"name": f"Person {depth}", "fails": fails, "nested": nested}


def resolve_secret(_root: Any, info: Any) -> str:
    """Tell who has the token."""
    if not is_trusted(info.context["request"].headers):
        refuse("Who are you?", "UNAUTHENTICATED")
    return "42"


FIELDS: dict[str, Any] = {
    "hello": lambda: "Hello world!",
    "echo": lambda *, text, times: text * times,
    "node": lambda **given: NODES.get(given["id"]),
    "books": lambda **given: connect(BOOKS, **given),
    "authors": lambda **given: connect(AUTHORS, **given),
    "measurements": lambda **given: connect(DATA["measurements"], **given),
    "limitedBooks": limited,
    "cappedBooks": lambda *, first=20, **given: connect(BOOKS, first=min(first, CAP), **given),
    "users": lambda: USERS,
    "genres": lambda: [{"genre": genre} for genre in BY_GENRE],
    "allBooks": lambda: BOOKS,
    "booksByOffset": pick,
    "booksByFirst": lambda *, offset, first: pick(offset, first),
    "booksBySkip": lambda *, skip, take: pick(skip, take),
    "booksByPage": lambda *, page, perPage: pick((page - 1) * perPage, perPage),  # noqa: N803
    "cappedByOffset": lambda *, offset, limit: pick(offset, min(limit, CAP)),
    "topBooks": lambda *, limit: pick(0, limit),
    "bookPage": page,
    "overcounted": lambda **given: connect(BOOKS, count=len(BOOKS) + 10, **given),
    "undercounted": lambda **given: connect(BOOKS, count=len(BOOKS) - 10, **given),
    "overlapping": lambda **given: overlap(BOOKS, **given),
    "overlappingMarks": lambda **given: overlap(DATA["marks"], **given),
    "looping": lambda *, first=20, **_: connect(BOOKS, first=first),
    "breaking": breaking,
    "fail": lambda *, code, message: refuse(message, code),
    "person": lambda: make_person(1),
    "people": lambda: [make_person(1), None, make_person(0)],
    "scalars": lambda: SCALARS["rows"],
    "nullScalars": lambda: [{"number": 1}, {"number": 2}],
}
for name, function in FIELDS.items():
    query.set_field(name, lambda _root, _info, _function=function, **given: _function(**given))
query.set_field("secret", resolve_secret)
author.set_field("books", lambda it, _, **given: connect(BY_AUTHOR.get(it["number"], []), **given))
book.set_field("author", lambda it, _: AUTHORS[it["author"] - 1])
book.set_field("reviews", lambda it, _, **given: connect(BY_BOOK.get(it["number"], []), **given))
if OPTIONS.get("version") == 2:
    book.set_field("pageCount", lambda it, _: it["pages"])
review.set_field("book", lambda it, _: BOOKS[it["book"] - 1])
review.set_field("user", lambda it, _: USERS[it["user"] - 1])
user.set_field("reviews", lambda it, _, **given: connect(BY_USER.get(it["number"], []), **given))
summary.set_field("books", lambda it, _, **given: connect(BY_GENRE[it["genre"]], **given))


@mutation.field("addBook")
def resolve_add_book(_root: Any, _info: Any, *, title: str, pages: int | None = None) -> Any:
    """Return the book as it would be."""
    base = {"id": "Book:0", "number": 0, "genre": "NOVEL", "inPrint": True, "author": 1}
    return {**base, "title": title, "pages": pages}


async def read_file(file: Any) -> dict[str, Any]:
    """Return what is known of an uploaded file."""
    content = await file.read()
    return {
        "name": file.filename,
        "type": file.content_type,
        "size": len(content),
        "text": content.decode(),
    }


@mutation.field("readFile")
async def resolve_read_file(_root: Any, _info: Any, *, file: Any) -> Any:
    """Read one file."""
    return await read_file(file)


@mutation.field("readFiles")
async def resolve_read_files(_root: Any, _info: Any, *, files: list[Any]) -> Any:
    """Read several files."""
    return [await read_file(file) for file in files]


@subscription.source("count")
async def count(_root: Any, _info: Any, *, to: int) -> AsyncGenerator[int, None]:
    """Count."""
    for number in range(to):
        yield number


@subscription.source("addedBooks")
async def added_books(_root: Any, _info: Any, *, first: int) -> AsyncGenerator[Any, None]:
    """Yield books."""
    for it in BOOKS[:first]:
        yield it


@subscription.source("breaks")
async def breaks(*_: Any) -> AsyncGenerator[int, None]:
    """Yield once and fail."""
    yield 0
    refuse("The subscription broke.")


@subscription.source("quiet")
async def quiet(*_: Any) -> AsyncGenerator[int, None]:
    """Yield once and wait for ever."""
    yield 0
    await Event().wait()


for name in ("count", "addedBooks", "breaks", "quiet"):
    subscription.set_field(name, lambda value, _info, **_: value)


# -- scalars: resolvers hold Python values, which each of these writes

PARSERS = {
    "DateTime": dt.datetime.fromisoformat,
    "LocalDateTime": dt.datetime.fromisoformat,
    "Date": dt.date.fromisoformat,
    "Decimal": Decimal,
    "UUID": UUID,
}
WRITERS = {"DateTime": dt.datetime.isoformat, "LocalDateTime": dt.datetime.isoformat}


def make_scalars() -> list[ScalarType]:
    """Return the scalars of the schema."""
    made = [
        ScalarType(kind, serializer=WRITERS.get(kind, str), value_parser=parse)
        for kind, parse in PARSERS.items()
    ]
    return [*made, ScalarType("BigInt"), ScalarType("JSON"), ScalarType("Cursor"), upload_scalar]


for name, kind in SCALARS["fields"].items():
    for row in SCALARS["rows"]:
        if kind in PARSERS and row[name] is not None:
            row[name] = PARSERS[kind](row[name])


SCHEMA = make_executable_schema(
    build_sdl(),
    [query, mutation, subscription, node, author, book, review, user, summary, *make_scalars()],
)

if __name__ == "__main__":
    given = {"introspection": OPTIONS.get("introspection", True)}
    current = GraphQL(SCHEMA, websocket_handler=GraphQLTransportWSHandler(), **given)
    legacy = GraphQL(SCHEMA, websocket_handler=GraphQLWSHandler(), **given)
    events = GraphQL(SCHEMA, http_handler=GraphQLHTTPSSEHandler(), **given)
    run_apps({"/graphql": current, "/legacy": legacy, "/events": events})
