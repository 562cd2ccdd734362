"""The ways in which real services page, served in this process, rightly and wrongly.

`STYLES` names them. A `World` is a schema in one of these ways with its rows, and how the service
behaves; `Service` answers from it, and knows the rows that there are.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from graphql import GraphQLError, build_schema, is_abstract_type, is_object_type

from gqlnb import QueryError, Schema
from gqlnb.client.transports import InProcessTransport
from gqlnb.http.messages import JSON_MEDIA_TYPE, Response

__all__ = ["STYLES", "Counting", "Service", "Style", "World", "make_schema"]

Row = dict[str, Any]
BROKEN, MUTE = "The database is on fire.", "Invalid input."
LIMIT = "The page size must not exceed {most} records."


@dataclass(frozen=True)
class Slice:
    """A page of rows, as a service cuts it.

    Attributes
    ----------
    rows
        The rows; None for nulls.
    start, end
        The places of its first row, and behind its last one.
    total
        How many the service counts.
    more
        Whether the service says that there are more behind.
    size
        The rows of a full page.
    """

    rows: list[Any]
    start: int
    end: int
    total: int
    more: bool
    size: int


@dataclass(frozen=True)
class Style:
    """A way to page.

    Attributes
    ----------
    arguments
        The arguments of a list, as SDL.
    page
        The fields of the object that holds a page, as SDL with ``ROW`` for the type of the rows;
        empty where the list comes alone.
    ask
        Return the arguments in the text, for a size and the place to begin at, each None for none.
    serve
        Return a page for arguments.
    steps
        The response names from the field to the rows.
    inside
        The names that lead from a row in the list to the row itself.
    types
        Further types, as SDL.
    base
        The number of the first page.
    fixed
        Whether pages have a size of their own, which no argument changes.
    followed
        Whether there is a way to ask for more.
    numbered
        Whether the text begins at the number of a page.
    """

    arguments: str
    ask: Callable[[int | None, int | None], str]
    serve: Callable[[Service, Mapping[str, Any], list[Row]], Any]
    page: str = ""
    steps: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    types: str = ""
    base: int = 0
    fixed: bool = False
    followed: bool = True
    numbered: bool = False

    def declares(self, pattern: str) -> bool:
        """Return whether the SDL has a pattern."""
        return re.search(pattern, f"{self.arguments} {self.page} {self.types}") is not None

    @property
    def relay(self) -> bool:
        """Whether the list is a connection."""
        return "ROWEdge" in self.page

    @property
    def counts(self) -> bool:
        """Whether a page says how many rows there are."""
        return self.declares("total")

    @property
    def flags(self) -> bool:
        """Whether a page says whether there are more, apart from a count."""
        return self.relay or self.declares("hasNext|hasMore|next:|nextToken|before")

    @property
    def starts(self) -> bool:
        """Whether the text can say where to begin, by a number."""
        return self.declares(r"\b(offset|skip|start|page|currentPage): Int")


# -- what a service can do


@dataclass(frozen=True)
class World:
    """A service.

    Attributes
    ----------
    style
        The name of a style, of the list of the root.
    total
        Its rows.
    keyed
        What identifies rows: ``"id"``, ``"nodeId"``, ``"none"``, ``"equal"`` (nothing, and some
        are equal), ``"union"``, ``"interface"``, ``"apart"`` (a union whose members have nothing in
        common), ``"twice"`` (the same id for different rows).
    size, start
        The page size and the place to begin at in the text; None for none.
    most
        The largest page; None for any.
    excess
        What a larger one leads to: ``"clamp"``, ``"default"``, ``"400"``, ``"errors"``, ``"null"``
        or ``"mute"`` (null, and an error that does not say why).
    default
        The rows of a page if the text does not say.
    fault
        What the service does wrong; empty for nothing.
    inner
        The style of a list in each row; empty for none.
    kids
        The most rows of that list.
    inner_size
        Its page size in the text; None for none.
    lookup
        How rows are asked for again: ``"node"``, ``"nodeId"``, ``"id"``, ``"pk"``, ``"pair"`` or
        nothing.
    secretive
        Whether the service does not tell its schema.
    toys
        The most items of a list in each item of the list in a row; 0 where there is none.
    required
        Whether the numbers in the text are of arguments that are required.
    """

    style: str
    total: int = 0
    keyed: str = "id"
    size: int | None = None
    start: int | None = None
    most: int | None = None
    excess: str = "clamp"
    default: int = 10
    fault: str = ""
    inner: str = ""
    kids: int = 0
    inner_size: int | None = None
    lookup: str = ""
    secretive: bool = False
    toys: int = 0
    required: bool = False


class RefusedError(GraphQLError):
    """A page that the service does not give; `status` is that of the answer, 0 for null."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Service:
    """The rows of a world, and how they are cut."""

    world: World
    rows: list[Row] = field(default_factory=list)
    cuts: int = 0
    gone: list[Row] = field(default_factory=list)
    came: list[Row] = field(default_factory=list)
    asked: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = [self.row(number) for number in range(self.world.total)]
        self.asked = self.rows[first_row(self.world) :]

    def row(self, number: int, name: str | None = None) -> Row:
        """Return a row."""
        keyed = self.world.keyed
        identifier = {"union": number // 2, "interface": number // 2, "twice": number // 3}
        made = {
            "__typename": "AB"[number % 2] if keyed in {"union", "interface", "apart"} else "Row",
            "uid": number,
            "id": f"{identifier.get(keyed, number)}",
            "nodeId": f"N{number}",
            "part": number % 5,
            "name": name or (f"n{number.bit_count() % 3}" if keyed == "equal" else f"n{number}"),
        }
        count = (number * 7 + 3) % (self.world.kids + 1) if self.world.kids else 0
        made["kids"] = [self.kid(number, n) for n in range(count)]
        return made

    def kid(self, number: int, place: int) -> Row:
        """Return an item of a list in a row."""
        count = (number + 5 * place) % (self.world.toys + 1)
        toys = [
            {"id": f"{number}/{place}/{n}", "name": f"t{number}.{place}.{n}"} for n in range(count)
        ]
        name = f"k{number}.{place}"
        return {"__typename": "Kid", "id": f"{number}/{place}", "name": name, "toys": toys}

    def change(self) -> None:
        """Count the times that rows were asked for; change them on the second."""
        self.cuts += 1
        if self.cuts != 2:
            return
        if self.world.fault == "deletes" and self.rows:
            self.gone.append(self.rows.pop(0))
        if self.world.fault == "inserts":
            self.came.append(self.row(1000))
            self.rows.insert(0, self.came[0])
        if self.world.fault == "appends":
            self.came.append(self.row(1000))
            self.rows.append(self.came[0])

    # -- cutting

    def cut(self, rows: list[Row], start: int, size: int | None) -> Slice:
        """Return a page of the rows."""
        if rows is not self.rows:
            return self.cut_rightly(rows, start, size)
        world, fault = self.world, self.world.fault
        effective = self.limit(size)
        if fault == "fails" and self.cuts == 2:
            raise RefusedError(BROKEN)
        if fault == "ignores":
            start = 0
        if fault == "overlaps" and start > first_row(world):
            start -= 1
        end = min(len(rows), start + effective)
        page: list[Any] = rows[start:end]
        page = self.spoil(page)
        total = len(rows)
        wrong = {"counts less": max(0, total - 1), "counts more": total + 1}
        total = len(page) if fault == "counts page" else wrong.get(fault, total)
        more = fault == "goes on" or end < len(rows)
        more = more and not (fault == "stops" and self.cuts == 2)
        return Slice(page, start, end, total, more, effective)

    def spoil(self, rows: list[Any]) -> list[Any]:
        """Return rows without those that are left out, and nulls for those that are null."""
        if self.world.fault == "hides":
            return [each for each in rows if each["uid"] % 7 != 3]
        if self.world.fault == "gap":
            return [each for each in rows if not self.in_gap(each)]
        if self.world.fault == "nulls":
            return [None if each["uid"] % 6 == 4 else each for each in rows]
        return rows

    def in_gap(self, row: Row) -> bool:
        """Return whether a row is one of those in the middle that are left out."""
        return 4 <= row["uid"] < 4 + page_size(self.world)

    def limit(self, size: int | None) -> int:
        """Return the rows of a page that a size leads to."""
        world = self.world
        if size is None:
            return min(world.default, world.most or world.default)
        if world.most is None or size <= world.most:
            return max(0, size)
        if world.excess == "clamp":
            return world.most
        if world.excess == "default":
            return min(world.default, world.most)
        message = LIMIT.format(most=world.most)
        if world.excess == "mute":
            raise RefusedError(MUTE)
        raise RefusedError(message, {"400": 400, "errors": 200}.get(world.excess, 0))

    @staticmethod
    def cut_rightly(rows: list[Row], start: int, size: int | None) -> Slice:
        """Return a page of a list in a row."""
        effective = 10 if size is None else max(0, size)
        end = min(len(rows), start + effective)
        return Slice(rows[start:end], start, end, len(rows), end < len(rows), effective)

    # -- what is there

    def expected(self) -> list[Any]:
        """Return the rows there are, as a service that behaves would give them, from the start."""
        return self.spoil(self.rows[first_row(self.world) :])


# -- the styles


def offset_list(
    start: str, size: str, holder: str = ""
) -> tuple[Callable[..., str], Callable[..., Any]]:
    """Return how a list is asked for by an offset, and served."""

    def ask(count: int | None, begin: int | None) -> str:
        parts = [] if count is None else [f"{size}: {count}"]
        parts += [] if begin is None else [f"{start}: {begin}"]
        if holder and parts:
            return f"({holder}: {{{', '.join(parts)}}})"
        return f"({', '.join(parts)})" if parts else ""

    def serve(service: Service, args: Mapping[str, Any], rows: list[Row]) -> Slice:
        given = (args.get(holder) or {}) if holder else args
        return service.cut(rows, given.get(start) or 0, given.get(size))

    return ask, serve


def number_list(
    page: str, size: str, base: int, holder: str = ""
) -> tuple[Callable[..., str], Callable[..., Any]]:
    """Return how a list is asked for by the number of the page, and served."""

    def ask(count: int | None, begin: int | None) -> str:
        parts = [] if count is None or not size else [f"{size}: {count}"]
        parts += [] if begin is None else [f"{page}: {begin}"]
        if holder and parts:
            return f"({holder}: {{{', '.join(parts)}}})"
        return f"({', '.join(parts)})" if parts else ""

    def serve(service: Service, args: Mapping[str, Any], rows: list[Row]) -> Slice:
        given = (args.get(holder) or {}) if holder else args
        count = given.get(size) if size else None
        width = service.limit(count) if rows is service.rows else (10 if count is None else count)
        number = given.get(page)
        number = base if number is None else number
        return service.cut(rows, max(0, number - base) * width, count)

    return ask, serve


def wrap(serve: Callable[..., Slice], make: Callable[[Slice], Any]) -> Callable[..., Any]:
    """Return a function that puts a page into its object."""
    return lambda service, args, rows: make(serve(service, args, rows))


def paged(serve: Callable[..., Slice], base: int = 0) -> Callable[..., Any]:
    """Return a function that gives the object of a page, with fields of any name."""
    return wrap(serve, lambda part: describe(part, base))


def describe(part: Slice, base: int) -> Row:
    """Return the fields of the object of a page, by all names that styles have for them."""
    number, pages = base + (part.start // part.size if part.size else 0), 0
    if part.size:
        pages = ceil(part.total / part.size)
    following, token = (number + 1, f"t{part.end}") if part.more else (None, None)
    values: Row = dict.fromkeys(TOTALS, part.total) | dict.fromkeys(SIZES, part.size)
    values |= dict.fromkeys(PAGE_COUNTS, pages) | dict.fromkeys(NUMBERS, number)
    values |= dict.fromkeys(("hasNextPage", "hasMorePages", "hasMore"), part.more)
    values |= {"hasPreviousPage": part.start > 0, "prev": number - 1 if part.start else None}
    values |= {"next": following, "nextPage": following, "nextToken": token, "after": token}
    values |= {"cursor": f"t{part.end}", "skip": part.start, "before": None}
    return values | dict.fromkeys(LISTS, part.rows) | dict.fromkeys(HOLDERS, values)


def count_page(part: Slice) -> Row:
    """Return the object of a page whose `count` is that of its rows."""
    page = describe(part, 1)
    return page | {"paginatorInfo": page["paginatorInfo"] | {"count": len(part.rows)}}


TOTALS = ("total", "totalCount", "totalItems", "totalDocs", "total_count", "count")
SIZES = ("perPage", "pageSize", "page_size", "limit")
PAGE_COUNTS = ("pages", "lastPage", "totalPages", "total_pages", "pageCount")
NUMBERS = ("page", "currentPage", "current_page")
LISTS = ("items", "media", "results", "data", "docs", "launches")
HOLDERS = ("pageInfo", "info", "page_info", "paginatorInfo")


def listed(serve: Callable[..., Slice]) -> Callable[..., Any]:
    """Return a function that gives the rows of a page alone."""
    return wrap(serve, lambda part: part.rows)


def relay(kind: str, *, backward: bool = False, node: bool = False) -> Callable[..., Any]:
    """Return how a connection is served; `kind` is that of its cursors."""

    def encode(rows: list[Row], place: int) -> str:
        if kind == "opaque":
            return f"row-{rows[place]['id']}-{rows[place]['name']}"
        if kind == "array":
            return b64encode(f"arrayconnection:{place}".encode()).decode()
        return str(place + 1)

    def decode(rows: list[Row], cursor: str | None) -> int | None:
        if not cursor:
            return None
        return next((i for i in range(len(rows)) if encode(rows, i) == cursor), len(rows))

    def serve(service: Service, args: Mapping[str, Any], rows: list[Row]) -> Any:
        after, before = decode(rows, args.get("after")), decode(rows, args.get("before"))
        low = 0 if after is None else after + 1
        low += args.get("offset") or 0
        high = len(rows) if before is None else before
        if backward:
            count = args.get("last")
            width = service.limit(count) if rows is service.rows else (count or 10)
            begin = max(low, high - width)
            part = service.cut(rows, begin, high - begin)
            more = begin > low
            return connection(part, rows, {"hasPreviousPage": more, "hasNextPage": False})
        count = args.get("first")
        if before is not None:
            count = min(count if count is not None else 10, max(0, high - low))
        part = service.cut(rows, low, count)
        more = part.more or (before is not None and high < len(rows))
        return connection(part, rows, {"hasNextPage": more, "hasPreviousPage": low > 0})

    def connection(part: Slice, rows: list[Row], info: Row) -> Row:
        cursors = [encode(rows, min(part.start + i, len(rows) - 1)) for i in range(len(part.rows))]
        end = (
            encode(rows, part.end - 1)
            if 0 < part.end <= len(rows) and part.end > part.start
            else None
        )
        first = encode(rows, part.start) if part.end > part.start else None
        return {
            "edges": [{"cursor": c, "node": r} for c, r in zip(cursors, part.rows, strict=True)],
            "nodes": part.rows,
            "totalCount": part.total,
            "pageInfo": info | {"startCursor": first, "endCursor": end},
        }

    return serve


def ask_relay(size: int | None, _start: int | None) -> str:
    """Return the arguments of a connection."""
    return "" if size is None else f"(first: {size})"


def ask_back(size: int | None, _start: int | None) -> str:
    """Return the arguments of a connection that is read from its end."""
    return f"(last: {10 if size is None else size})"


def ask_offset(size: int | None, start: int | None) -> str:
    """Return the arguments of a connection that begins at an offset."""
    parts = [] if size is None else [f"first: {size}"]
    parts += [] if start is None else [f"offset: {start}"]
    return f"({', '.join(parts)})" if parts else ""


def serve_token(service: Service, args: Mapping[str, Any], rows: list[Row]) -> Slice:
    """Return a page behind a token."""
    token = args.get("nextToken") or args.get("after") or args.get("_cursor") or args.get("cursor")
    size = next((args[n] for n in ("limit", "pageSize", "_size") if args.get(n) is not None), None)
    return service.cut(rows, int(token[1:]) if token else 0, size)


def ask_size(name: str) -> Callable[..., str]:
    """Return how a list is asked for by its length alone."""
    return lambda size, _: "" if size is None else f"({name}: {size})"


INFO = "pageInfo: PageInfo!"
TOTAL = "totalCount: Int!"
RELAY = "(first: Int, after: {0}, last: Int, before: {0})"
EDGES = "edges: [ROWEdge] nodes: [ROW]"
OFFSET, PLAIN_OFFSET = offset_list("offset", "limit")
FIRST, SIMPLE = offset_list("offset", "first")
TAKE, SKIP = offset_list("skip", "take")
SKIP_LIMIT, CONTENTFUL = offset_list("skip", "limit")
FIRST_SKIP, GRAPH = offset_list("skip", "first")
DJANGO, PAGINATED = offset_list("offset", "limit", "pagination")
STRAPI, STARTED = offset_list("start", "limit", "pagination")
VENDURE, OPTIONS = offset_list("skip", "take", "options")
ZERO, FROM_ZERO = number_list("page", "perPage", 0)
ONE, FROM_ONE = number_list("page", "perPage", 1)
FIXED, FIXED_PAGES = number_list("page", "", 1)
PAGED, NUMBERED = number_list("page", "pageSize", 1, "pagination")
INPUT, INPUT_PAGES = number_list("page", "size", 1, "input")
LARAVEL, LIGHTHOUSE = number_list("page", "first", 1)
MAGENTO, CURRENT = number_list("currentPage", "pageSize", 1)
PAYLOAD, DOCS = number_list("page", "limit", 1)


def serve_strapi(service: Service, args: Mapping[str, Any], rows: list[Row]) -> Any:
    """Return a page of Strapi: it refuses a number of a page beside an offset."""
    given = {k: v for k, v in (args.get("pagination") or {}).items() if v is not None}
    if given.keys() & {"page", "pageSize"} and given.keys() & {"start", "limit"}:
        msg = "Invalid pagination parameters: page beside start."
        raise RefusedError(msg)
    if given.keys() & {"page", "pageSize"}:
        part = NUMBERED(service, args, rows)
    else:
        part = STARTED(service, args, rows)
    data = [None if r is None else {"id": r["uid"], "attributes": r} for r in part.rows]
    return {"data": data, "meta": {"pagination": describe(part, 1)}}


def serve_directus(service: Service, args: Mapping[str, Any], rows: list[Row]) -> Any:
    """Return a list of Directus: everything for the limit -1, else by offset or page."""
    limit = args.get("limit")
    if limit == -1:
        return service.cut(rows, args.get("offset") or 0, service.world.most or len(rows)).rows
    if args.get("page") is not None:
        width = service.limit(limit) if rows is service.rows else (limit or 10)
        return service.cut(rows, (args["page"] - 1) * width, limit).rows
    return service.cut(rows, args.get("offset") or 0, limit).rows


CURSOR = "scalar Cursor"
STRAPI_TYPES = (
    "input PaginationArg { page: Int pageSize: Int start: Int limit: Int } "
    "type ResponseMeta { pagination: Pagination! } "
    "type Pagination { total: Int! page: Int! pageSize: Int! pageCount: Int! }"
)
STRAPI_ARGUMENTS = "(pagination: PaginationArg, sort: [String])"
STRAPI_PAGE = "data: [ROWEntity!]! meta: ResponseMeta!"
PER_PAGE = "(page: Int, perPage: Int)"
ALL = f"{EDGES} {TOTAL} {INFO}"
NODES, NODE, DATA = ("nodes",), ("node",), ("data",)
LIST = ("items",)
STYLES: dict[str, Style] = {
    "relay": Style(RELAY.format("String"), ask_relay, relay("offset"), ALL, NODES),
    "relay, edges, no count": Style(RELAY.format("String"), ask_relay, relay("array"),
        f"edges: [ROWEdge] {INFO}", ("edges",), NODE),
    "relay, custom cursor": Style(RELAY.format("Cursor"), ask_relay, relay("opaque"), ALL,
        ("edges",), NODE, CURSOR),
    "relay, no count, nodes": Style(RELAY.format("ID"), ask_relay, relay("opaque"),
        f"{EDGES} {INFO}", NODES),
    "relay, backward": Style(RELAY.format("String"), ask_back, relay("array", backward=True), ALL,
        NODES),
    "relay, offset": Style("(first: Int, offset: Int, after: Cursor, last: Int, before: Cursor)",
        ask_offset, relay("opaque"), ALL, NODES, types=CURSOR),
    "hasura": Style("(limit: Int, offset: Int, where: Filter, order_by: [Order!])", OFFSET,
        listed(PLAIN_OFFSET), types="input Filter { name: String } enum Order { asc desc }"),
    "postgraphile": Style("(first: Int, offset: Int)", FIRST, listed(SIMPLE)),
    "prisma": Style("(where: Where, take: Int, skip: Int, cursor: Where)", TAKE, listed(SKIP),
        types="input Where { id: ID }"),
    "pages from 1": Style(PER_PAGE, ONE, listed(FROM_ONE), base=1, numbered=True),
    "pages from 0": Style(PER_PAGE, ZERO, listed(FROM_ZERO), numbered=True),
    "pages from 1, said": Style("(page: Int = 1, perPage: Int = 10)", ONE, listed(FROM_ONE), base=1,
        numbered=True),
    "pages from 0, said": Style("(page: Int! = 0, perPage: Int! = 10)", ZERO, listed(FROM_ZERO),
        numbered=True),
    "anilist": Style(PER_PAGE, ONE, paged(FROM_ONE, 1), "pageInfo: SizedPage media: [ROW]",
        ("media",), types="type SizedPage "
        "{ total: Int perPage: Int currentPage: Int lastPage: Int hasNextPage: Boolean }", base=1,
        numbered=True),
    "rick and morty": Style("(page: Int, filter: Wanted)", FIXED, paged(FIXED_PAGES, 1),
        "info: Info results: [ROW]", ("results",),
        types="type Info { count: Int pages: Int next: Int prev: Int } "
        "input Wanted { name: String }", base=1, fixed=True, numbered=True),
    "hotchocolate": Style("(skip: Int, take: Int)", TAKE, paged(SKIP),
        f"items: [ROW!] pageInfo: SegmentInfo! {TOTAL}", LIST,
        types="type SegmentInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! }"),
    "strapi, pages": Style(STRAPI_ARGUMENTS, PAGED, serve_strapi, STRAPI_PAGE, DATA,
        ("attributes",), STRAPI_TYPES, base=1, numbered=True),
    "strapi, start": Style(STRAPI_ARGUMENTS, STRAPI, serve_strapi, STRAPI_PAGE, DATA,
        ("attributes",), STRAPI_TYPES),
    "strawberry django": Style("(pagination: OffsetPaginationInput)", DJANGO, listed(PAGINATED),
        types="input OffsetPaginationInput { offset: Int! = 0 limit: Int = null }"),
    "directus": Style("(limit: Int, offset: Int, page: Int, sort: [String])", OFFSET,
        serve_directus),
    "appsync": Style("(limit: Int, nextToken: String)", ask_size("limit"), paged(serve_token),
        "items: [ROW]! nextToken: String", LIST),
    "launches": Style("(pageSize: Int, after: String)", ask_size("pageSize"), paged(serve_token),
        "cursor: String! hasMore: Boolean! launches: [ROW]!", ("launches",)),
    "fauna": Style("(_size: Int, _cursor: String)", ask_size("_size"), paged(serve_token),
        "data: [ROW]! after: String before: String", DATA),
    "contentful": Style("(skip: Int = 0, limit: Int = 100, preview: Boolean)", SKIP_LIMIT,
        paged(CONTENTFUL), "total: Int! skip: Int! limit: Int! items: [ROW]!", LIST),
    "the graph": Style("(skip: Int = 0, first: Int = 100, orderBy: String)", FIRST_SKIP,
        listed(GRAPH)),
    "vendure": Style("(options: ListOptions)", VENDURE, paged(OPTIONS),
        "items: [ROW!]! totalItems: Int!", LIST, types="input ListOptions { skip: Int take: Int }"),
    "input object": Style("(input: ListInput)", INPUT, paged(INPUT_PAGES, 1),
        "items: [ROW!]! total: Int!", LIST, types="input ListInput { page: Int size: Int }", base=1,
        numbered=True),
    "lighthouse": Style("(first: Int, page: Int)", LARAVEL, wrap(LIGHTHOUSE, count_page),
        "data: [ROW!]! paginatorInfo: PaginatorInfo!", DATA,
        types="type PaginatorInfo { count: Int! currentPage: Int! hasMorePages: Boolean! "
        "lastPage: Int! perPage: Int! total: Int! }", base=1, numbered=True),
    "magento": Style("(search: String, pageSize: Int = 20, currentPage: Int = 1)", MAGENTO,
        paged(CURRENT, 1), "items: [ROW] page_info: SearchPageInfo total_count: Int", LIST,
        types="type SearchPageInfo { current_page: Int page_size: Int total_pages: Int }", base=1,
        numbered=True),
    "payload": Style("(limit: Int, page: Int)", PAYLOAD, paged(DOCS, 1),
        "docs: [ROW!]! totalDocs: Int! limit: Int! totalPages: Int! page: Int! "
        "hasNextPage: Boolean! nextPage: Int", ("docs",), base=1, numbered=True),
    "deep": Style(PER_PAGE, ONE, wrap(FROM_ONE,
        lambda p: {"result": {"entries": p.rows}, "total": p.total}),
        "result: ROWResult total: Int", ("result", "entries"), base=1, numbered=True),
    "bare": Style("", lambda *_: "", lambda _, __, rows: rows, followed=False),
    "limit": Style("(limit: Int)", ask_size("limit"), lambda s, a,
        r: s.cut(r, 0, a.get("limit")).rows, followed=False),
    "first, said": Style("(first: Int = 10)", ask_size("first"), lambda s, a,
        r: s.cut(r, 0, a.get("first")).rows, followed=False),
}  # fmt: skip


# -- the schema of a world

PAIRED = "rowByNameAndPart(name: String!, part: Int!): Row"
LOOKUPS = {
    "node": "node(id: ID!): Node",
    "nodeId": "node(nodeId: ID!): Node",
    "id": "row(id: ID!): Row",
    "pk": "row_by_pk(id: ID!): Row",
    "pair": PAIRED,
    "": "",
}


def make_sdl(world: World) -> str:
    """Return the SDL of a world."""
    style, inner = STYLES[world.style], STYLES.get(world.inner)
    types = dict.fromkeys([style.types, inner.types if inner else ""])
    parts = [
        "type PageInfo { hasNextPage: Boolean hasPreviousPage: Boolean startCursor: String "
        "endCursor: String }",
        *types,
    ]
    own = {"nodeId": "nodeId: ID!", "none": "", "equal": "", "pair": ""}.get(world.keyed, "id: ID!")
    kids = f"kids{inner.arguments}: {page_type(inner, 'Kid')}" if inner else ""
    body = f"{own} part: Int! name: String! {kids}"
    key = "nodeId" if world.lookup == "nodeId" else "id"
    nodes = world.lookup in {"node", "nodeId"} or world.keyed == "union"
    if nodes:
        parts.append(f"interface Node {{ {key}: ID! }}")
    on = " implements Node" if nodes else ""
    if world.keyed in {"union", "apart"}:
        on = on if world.keyed == "union" else ""
        parts += [f"type {t}{on} {{ {body} }}" for t in "AB"] + ["union Row = A | B"]
    elif world.keyed == "interface":
        parts += [f"interface Row {{ {body} }}"]
        parts += [f"type {t} implements Row {{ {body} }}" for t in "AB"]
    else:
        parts.append(f"type Row{on} {{ {body} }}")
    if inner:
        toys = f"toys{inner.arguments}: {page_type(inner, 'Toy')}" if world.toys else ""
        on = " implements Node" if world.lookup == "node" else ""
        parts.append(f"type Kid{on} {{ id: ID! name: String! {toys} }}")
        parts += ["type Toy { id: ID! name: String! }"] if world.toys else []
    parts += [
        page_sdl(each, row)
        for each, row in ((style, "Row"), (inner, "Kid"), (inner if world.toys else None, "Toy"))
        if each is not None
    ]
    lookup = LOOKUPS[world.lookup]
    if world.toys and lookup and world.lookup != "node":
        lookup += " kid(id: ID!): Kid"
    parts.append(f"type Query {{ rows{style.arguments}: {page_type(style, 'Row')} {lookup} }}")
    sdl = "\n".join(part for part in parts if part)
    if world.required:
        given = "|".join(re.findall(r"(\w+): \d", style.ask(world.size, begin_at(world))))
        sdl = re.sub(rf"\b({given}): Int\b!?( = \w+)?", r"\1: Int!", sdl) if given else sdl
    return sdl


def page_type(style: Style, row: str) -> str:
    """Return the type of a list's field."""
    return f"{row}Page" if style.page else f"[{row}]"


def page_sdl(style: Style, row: str) -> str:
    """Return the type of a list's page."""
    if not style.page:
        return ""
    made = f"type {row}Page {{ {style.page.replace('ROW', row)} }}"
    if "ROWEdge" in style.page:
        made += f" type {row}Edge {{ cursor: String! node: {row} }}"
    if "ROWEntity" in style.page:
        made += f" type {row}Entity {{ id: ID attributes: {row} }}"
    if "ROWResult" in style.page:
        made += f" type {row}Result {{ entries: [{row}] }}"
    return made


def make_schema(service: Service) -> Schema:
    """Return the schema of a world, with resolvers that answer from its rows."""
    world = service.world
    style = STYLES[world.style]
    inner = STYLES.get(world.inner)

    def rows(_root: Any, args: Mapping[str, Any], _context: Any) -> Any:
        service.change()
        return style.serve(service, args, service.rows)

    def kids(root: Row, args: Mapping[str, Any], _context: Any) -> Any:
        assert inner is not None
        return inner.serve(service, args, root["kids"])

    def find(_root: Any, args: Mapping[str, Any], _context: Any) -> Any:
        return next(
            (r for r in service.rows if all(r[name] == value for name, value in args.items())),
            find_kid(_root, args, _context) if "id" in args else None,
        )

    def find_kid(_root: Any, args: Mapping[str, Any], _context: Any) -> Any:
        return next((k for r in service.rows for k in r["kids"] if k["id"] == args["id"]), None)

    def toys(root: Row, args: Mapping[str, Any], _context: Any) -> Any:
        assert inner is not None
        return inner.serve(service, args, root["toys"])

    lookup = LOOKUPS[world.lookup].partition("(")[0]
    query = {"rows": rows, "kid": find_kid, lookup: find}
    of_rows, of_kids = {"kids": kids}, {"toys": toys}
    typed = {"__resolveType": lambda value, _: value["__typename"]}
    resolvers: dict[str, dict[str, Any]] = {
        "Query": query,
        "A": of_rows,
        "B": of_rows,
        "Row": of_rows | typed,
        "Kid": of_kids,
        "Node": typed,
    }
    sdl = make_sdl(world)
    types = build_schema(sdl).type_map
    return Schema(
        sdl,
        {
            name: {field: each for field, each in fields.items() if has_field(types[name], field)}
            for name, fields in resolvers.items()
            if name in types
        },
    )


def has_field(kind: Any, name: str) -> bool:
    """Return whether a resolver of this name belongs to a type."""
    if name == "__resolveType":
        return bool(is_abstract_type(kind))
    return bool(is_object_type(kind)) and name in kind.fields


def make_text(world: World, where: str = "") -> str:
    """Return the query of a world."""
    style, inner = STYLES[world.style], STYLES.get(world.inner)
    below = ""
    if inner is not None:
        toys = f"toys{inner.ask(world.inner_size, None)} {select(inner, '{ name }')}"
        kid = f"{{ name {toys if world.toys else ''} }}"
        below = f"kids{inner.ask(world.inner_size, None)} {select(inner, kid)}"
    row = f"{{ name {below} }}"
    if world.keyed in {"union", "apart"}:
        row = f"{{ ... on A {row} ... on B {row} }}"
    return f"{{ rows{style.ask(world.size, begin_at(world))} {select(style, row)} }}"


def begin_at(world: World) -> int | None:
    """Return the number in the text that says where to begin."""
    style = STYLES[world.style]
    if world.start is None or not style.starts:
        return None
    if not style.numbered:
        return world.start
    return style.base + world.start // page_size(world)


def page_size(world: World) -> int:
    """Return the rows of a page of the text."""
    size = None if STYLES[world.style].fixed else world.size
    if size is None or (world.excess == "default" and size > (world.most or size)):
        size = world.default
    return min(size, world.most or size)


def first_row(world: World) -> int:
    """Return the place of the first row that the text asks for."""
    if world.start is None or not STYLES[world.style].numbered:
        return world.start or 0
    return world.start // page_size(world) * page_size(world)


def select(style: Style, row: str) -> str:
    """Return the selections of a list's page."""
    for name in reversed(style.inside):
        row = f"{{ {name} {row} }}"
    for name in reversed(style.steps):
        row = f"{{ {name} {row} }}"
    return row


def read_rows(style: Style, page: Any) -> list[Any]:
    """Return the rows of a page, or of all."""
    for name in style.steps:
        page = (page or {}).get(name)
    rows = page or []
    for name in style.inside:
        rows = [None if row is None else row.get(name) for row in rows]
    return rows


class Counting:
    """Executes in this process, counts the requests, and answers refusals as HTTP does.

    Parameters
    ----------
    service
        What answers.
    most
        The requests that are too many.
    """

    source = "a service"

    def __init__(self, service: Service, most: int = 10**6) -> None:
        self.served = make_schema(service)
        self.below = InProcessTransport(self.served)
        self.sent = 0
        self.most = most
        self.secretive = service.world.secretive
        self.texts: list[Any] = []

    def send(self, request: Any) -> Response:
        """Execute a request."""
        if self.secretive and "__schema" in request.query:
            return Response(200, members={"errors": [{"message": "No introspection."}]})
        try:
            return self.count(request, self.below.send(request))
        except QueryError:
            self.sent += 1  # it was refused
            raise

    async def asend(self, request: Any) -> Response:
        """Execute a request beside the running loop."""
        try:
            return self.count(request, await self.below.asend(request))
        except QueryError:
            self.sent += 1
            raise

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def count(self, request: Any, response: Response) -> Response:
        """Count a request; return its answer, without data where a page was refused so."""
        self.sent += 1
        self.texts.append((request.query, request.variables))
        assert self.sent <= self.most, f"more than {self.most} requests"
        status = max((getattr(cause, "status", 0) for cause in response.causes), default=0)
        if not status:
            return response
        errors = [{"message": str(cause)} for cause in response.causes]
        body = json.dumps({"errors": errors}).encode()
        return Response(status, {"content-type": JSON_MEDIA_TYPE}, body)
