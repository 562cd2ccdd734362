"""Strawberry on uvicorn: its own Relay support, scalars, subscriptions and uploads.

``/graphql`` has subscriptions by both subprotocols, ``/legacy`` by the older `graphql-ws` alone.
Connections have no count, and refuse more than 100 items a page, as they do by default.
"""

from __future__ import annotations

import base64
import datetime as dt
from asyncio import Event
from collections.abc import AsyncGenerator, Iterable
from decimal import Decimal
from enum import Enum
from typing import Any, NewType
from uuid import UUID

import strawberry
from graphql import GraphQLError
from strawberry import relay
from strawberry.asgi import GraphQL
from strawberry.file_uploads import Upload
from strawberry.scalars import JSON, Base64
from strawberry.schema.config import StrawberryConfig
from strawberry.subscriptions import GRAPHQL_WS_PROTOCOL
from strawberry.types import Info

from tests.servers.asgi import OPTIONS, is_trusted, load_data, run_apps

DATA = load_data()
SCALARS = DATA["scalars"]["strawberry"]
Genre = strawberry.enum(Enum("Genre", sorted({row["genre"] for row in DATA["books"]})))
BigInt = NewType("BigInt", int)
CAP = 50


def refuse(message: str, code: str = "BAD_USER_INPUT") -> None:
    """Raise an error with a code."""
    raise GraphQLError(message, extensions={"code": code})


class Row:
    """A row of the data, found by its number."""

    table: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> Any:
        """Return the object of a row."""
        made = cls(number=row["number"])
        made._row = row
        return made

    @classmethod
    def resolve_nodes(cls, *, info: Any, node_ids: Iterable[str], required: bool = False) -> Any:
        """Return the nodes with these ids."""
        return [cls.of(DATA[cls.table][int(number) - 1]) for number in node_ids]


def column(key: str, kind: Any, name: str | None = None) -> Any:
    """Return a field that is a column of a row."""

    def read(root: Any) -> Any:
        return root._row[key]

    read.__annotations__["return"] = kind
    return strawberry.field(resolver=read, name=name)


@strawberry.type
class Author(Row, relay.Node):
    """Who wrote books."""

    table = "authors"
    number: relay.NodeID[int]

    shown_number = column("number", int, name="number")
    name = column("name", str)
    born = column("born", str)

    @relay.connection(relay.ListConnection["Book"])
    def books(self) -> list[Book]:
        """Return the books of this author."""
        return [Book.of(row) for row in DATA["books"] if row["author"] == self.number]


@strawberry.type
class Book(Row, relay.Node):
    """A book."""

    table = "books"
    number: relay.NodeID[int]

    shown_number = column("number", int, name="number")
    title = column("title", str)

    @strawberry.field
    def genre(self) -> Genre:
        """Return its genre."""
        return Genre[self._row["genre"]]

    pages = column(
        "pages", int | None, name="pageCount" if OPTIONS.get("version") == 2 else "pages"
    )
    rating = column("rating", float | None)
    in_print = column("inPrint", bool)

    @strawberry.field
    def author(self) -> Author:
        """Return its author."""
        return Author.of(DATA["authors"][self._row["author"] - 1])

    @relay.connection(relay.ListConnection["Review"])
    def reviews(self) -> list[Review]:
        """Return the reviews of this book."""
        return [Review.of(row) for row in REVIEWS.get(self.number, ())]


@strawberry.type
class Review(Row, relay.Node):
    """What a reader said of a book."""

    table = "reviews"
    number: relay.NodeID[int]

    shown_number = column("number", int, name="number")
    stars = column("stars", int)
    text = column("text", str | None)


REVIEWS: dict[int, list[dict[str, Any]]] = {}
for _row in DATA["reviews"]:
    REVIEWS.setdefault(_row["book"], []).append(_row)


# -- scalars: resolvers hold Python values, which Strawberry writes

KINDS: dict[str, tuple[Any, Any]] = {
    "Int": (int, None),
    "Float": (float, None),
    "Boolean": (bool, None),
    "String": (str, None),
    "ID": (strawberry.ID, None),
    "DateTime": (dt.datetime, dt.datetime.fromisoformat),
    "Date": (dt.date, dt.date.fromisoformat),
    "Time": (dt.time, dt.time.fromisoformat),
    "Decimal": (Decimal, Decimal),
    "UUID": (UUID, UUID),
    "JSON": (JSON, None),
    "Base64": (Base64, str.encode),
    "BigInt": (BigInt, int),
    "Void": (None, None),
}


def make_scalars_type() -> Any:
    """Return the type ``Scalars``, with a field for each scalar."""
    namespace: dict[str, Any] = {"__annotations__": {"number": int}}
    for name, kind in SCALARS["fields"].items():
        held = KINDS[kind][0]
        namespace["__annotations__"][name] = None if held is None else held | None
    return strawberry.type(type("Scalars", (), namespace))


def read_held(kind: str, value: Any) -> Any:
    """Return a value as a resolver holds it."""
    parse = KINDS[kind][1]
    if kind == "Base64" and value is not None:
        return base64.b64decode(value)
    return value if parse is None or value is None else parse(value)


Scalars = make_scalars_type()


# -- the root types


@strawberry.type
class Person:
    """Somebody one of whose fields fails."""

    depth: strawberry.Private[int]

    @strawberry.field
    def name(self) -> str:
        """Return its name."""
        return f"Person {self.depth}"

    @strawberry.field
    def fails(self) -> str | None:
        """Fail."""
        refuse("This person fails.", "PERSON_FAILED")

    @strawberry.field
    def nested(self) -> Person | None:
        """Return another person."""
        return Person(depth=self.depth - 1) if self.depth else None


@strawberry.type
class BookPage:
    """A page that is not a Relay connection."""

    items: list[Book]
    total: int
    has_more: bool


def pick(offset: int, limit: int) -> list[Book]:
    """Return books from a position on."""
    return [Book.of(row) for row in DATA["books"][offset : offset + limit]]


@strawberry.type
class Query:
    """What can be asked."""

    node: relay.Node = relay.node()

    @strawberry.field
    def hello(self) -> str:
        """Return a greeting."""
        return "Hello world!"

    @strawberry.field
    def echo(self, text: str, times: int = 1) -> str:
        """Repeat a text."""
        return text * times

    @relay.connection(relay.ListConnection[Book])
    def books(self) -> list[Book]:
        """Return all books by page."""
        return pick(0, len(DATA["books"]))

    @relay.connection(relay.ListConnection[Author])
    def authors(self) -> list[Author]:
        """Return all authors by page."""
        return [Author.of(row) for row in DATA["authors"]]

    @strawberry.field
    def all_books(self) -> list[Book]:
        """Return all books at once."""
        return pick(0, len(DATA["books"]))

    @strawberry.field
    def books_by_offset(self, offset: int = 0, limit: int = 20) -> list[Book]:
        """Return books from a position on."""
        return pick(offset, limit)

    @strawberry.field
    def books_by_first(self, offset: int = 0, first: int = 20) -> list[Book]:
        """Return books from a position on."""
        return pick(offset, first)

    @strawberry.field
    def books_by_skip(self, skip: int = 0, take: int = 20) -> list[Book]:
        """Return books from a position on."""
        return pick(skip, take)

    @strawberry.field
    def books_by_page(self, page: int = 1, per_page: int = 20) -> list[Book]:
        """Return a page of books."""
        return pick((page - 1) * per_page, per_page)

    @strawberry.field
    def capped_by_offset(self, offset: int = 0, limit: int = 20) -> list[Book]:
        """Return at most 50 books, whatever was asked."""
        return pick(offset, min(limit, CAP))

    @strawberry.field
    def top_books(self, limit: int = 10) -> list[Book]:
        """Return the first books."""
        return pick(0, limit)

    @strawberry.field
    def book_page(self, offset: int = 0, limit: int = 20) -> BookPage:
        """Return books from a position on, and their count."""
        total = len(DATA["books"])
        more = offset + limit < total
        return BookPage(items=pick(offset, limit), total=total, has_more=more)

    @strawberry.field
    def fail(self, code: str = "BOOM", message: str = "It failed.") -> str | None:
        """Fail."""
        refuse(message, code)

    @strawberry.field
    def person(self) -> Person | None:
        """Return a person."""
        return Person(depth=1)

    @strawberry.field
    def people(self) -> list[Person | None]:
        """Return some people."""
        return [Person(depth=1), None, Person(depth=0)]

    @strawberry.field
    def secret(self, info: Info) -> str | None:
        """Tell who has the token."""
        if not is_trusted(info.context["request"].headers):
            refuse("Who are you?", "UNAUTHENTICATED")
        return "42"

    @strawberry.field
    def scalars(self) -> list[Scalars]:
        """Return a value of each scalar."""
        kinds = {"number": "Int", **SCALARS["fields"]}
        rows = SCALARS["rows"]
        return [Scalars(**{n: read_held(kinds[n], v) for n, v in row.items()}) for row in rows]

    @strawberry.field
    def null_scalars(self) -> list[Scalars]:
        """Return rows without values."""
        nothing = dict.fromkeys(SCALARS["fields"])
        return [Scalars(number=1, **nothing), Scalars(number=2, **nothing)]


@strawberry.type
class FileInfo:
    """What came of a file."""

    name: str
    type: str
    size: int
    text: str


async def read_upload(file: Any) -> FileInfo:
    """Return what is known of an uploaded file."""
    content = await file.read()
    return FileInfo(
        name=file.filename, type=file.content_type, size=len(content), text=content.decode()
    )


@strawberry.type
class Mutation:
    """What can be changed."""

    @strawberry.mutation
    def add_book(self, title: str, pages: int | None = None) -> Book:
        """Return the book as it would be."""
        base = {"number": 0, "genre": "NOVEL", "inPrint": True, "author": 1, "rating": None}
        return Book.of({**base, "title": title, "pages": pages})

    @strawberry.mutation
    async def read_file(self, file: Upload) -> FileInfo:
        """Read one file."""
        return await read_upload(file)

    @strawberry.mutation
    async def read_files(self, files: list[Upload]) -> list[FileInfo]:
        """Read several files."""
        return [await read_upload(file) for file in files]


@strawberry.type
class Subscription:
    """What can be followed."""

    @strawberry.subscription
    async def count(self, to: int) -> AsyncGenerator[int, None]:
        """Count."""
        for number in range(to):
            yield number

    @strawberry.subscription
    async def added_books(self, first: int) -> AsyncGenerator[Book, None]:
        """Yield books."""
        for book in pick(0, first):
            yield book

    @strawberry.subscription
    async def breaks(self) -> AsyncGenerator[int, None]:
        """Yield once and fail."""
        yield 0
        refuse("The subscription broke.")

    @strawberry.subscription
    async def quiet(self) -> AsyncGenerator[int, None]:
        """Yield once and wait for ever."""
        yield 0
        await Event().wait()


SCHEMA = strawberry.Schema(
    Query,
    Mutation,
    Subscription,
    config=StrawberryConfig(
        scalar_map={
            BigInt: strawberry.scalar(name="BigInt", serialize=lambda value: value, parse_value=int)
        }
    ),
)

if __name__ == "__main__":
    current = GraphQL(SCHEMA, multipart_uploads_enabled=True)
    legacy = GraphQL(SCHEMA, subscription_protocols=[GRAPHQL_WS_PROTOCOL])
    run_apps({"/graphql": current, "/legacy": legacy})
