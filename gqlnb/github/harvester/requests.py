"""Requests for pages of searches: several in one GraphQL query, where answers come fast."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import msgspec

from gqlnb.client.paging.cursors import read_error_path
from gqlnb.client.paging.page_size import OVERLOAD_STATUSES, has_size_error, is_size_error
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    QueryError,
    RateLimited,
    TransportError,
    sanitize_text,
)
from gqlnb.github.builtin_connections import register_connections
from gqlnb.github.harvester.own_fields import ALIAS_PREFIX, ERRORS_KEY, drop_fields
from gqlnb.github.search_syntax import MAX_PAGE_SIZE
from gqlnb.http.error_responses import is_transient_error
from gqlnb.http.rate_limit_rules import read_retry_after
from gqlnb.http.response_parser import find_refusal, is_limit_error
from gqlnb.lists.windows import Page
from gqlnb.result.answer_notes import read_notes
from gqlnb.result.result import PartialError, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.client.client import Client
    from gqlnb.client.pickling import ClientRecipe
    from gqlnb.http.rate_limit_rules import Budget

PAGES_PER_REQUEST = 10
COUNTS_PER_PAGE = 20  # counts in a request, which take about as long as a page: they find no rows
QUICK_SECONDS = 2.0  # GitHub ends a request after ten; a page of 100 takes about one
FIRST_NODE_BATCH = 25  # nodes by id; GitHub takes up to 100
CALM_REQUESTS = 10  # full ones in a row before more nodes are tried again after a refusal
# Longer waits are left to the caller, which can use the time for other requests and show a message.
MAX_OWN_WAIT = 5.0  # seconds

# Messages of graphql-js, graphql-core and GitHub about a missing field, type or argument.
SCHEMA_MISMATCH = re.compile(
    r"Cannot query field|Unknown (?:type|argument)|doesn't (?:exist on|accept)|isn't a defined"
)

PAGE_FRAGMENT = """
fragment Found on SearchResultItemConnection {
  repositoryCount
  pageInfo { hasNextPage endCursor }
  nodes { ... on Repository { %s } }
}"""
NODES_QUERY = """query HarvestFields($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Repository { %s } }
}"""
# With aliases, since own fields may have their names.
NODE_FIELDS = " ".join(
    f"{ALIAS_PREFIX}{name}: {name}"
    for name in ("id", "nameWithOwner", "stargazerCount", "createdAt")
)
INVALID_CURSOR = "INVALID_CURSOR_ARGUMENTS"  # error type
# The page after a cursor that is not valid any more: its count differs from that of the page
# before, so that the window is read again.
NO_RESULTS = Page(0, ())
NODE_IS_GONE = "The repository is gone, or cannot be seen any more"
NO_NOTES: Mapping[str, str] = {}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


class RepositoryRow(NamedTuple):
    """One repository.

    Attributes
    ----------
    id
        Node id; it identifies a repository that comes more than once.
    stars
        Number of stars.
    created
        Creation time in seconds since 1970; None if the endpoint does not give it.
    name, owner
        Name of the repository, login of its owner.
    data
        The JSON of its own fields, if the harvest has any; None while they are to be fetched.
    """

    id: str
    stars: int
    created: int | None = None
    name: str = ""
    owner: str = ""
    data: str | None = None


class SearchRequest(NamedTuple):
    """A request for one page of a search.

    Attributes
    ----------
    text
        Search expression.
    first
        Page size; 0 only counts.
    after
        Cursor; None for the first page.
    """

    text: str
    first: int = 0
    after: str | None = None


class FetchOutcome(NamedTuple):
    """The answer to one request.

    Attributes
    ----------
    answers
        A :class:`Page` for each search request; or the JSON of each node with its own fields, None
        for one that was too large together with the others.
    width
        Number of requests that the endpoint accepts at once, as far as is known.
    budget
        The endpoint's remaining budget.
    seconds
        Duration.
    notes
        Notes of the endpoint, as of :func:`gqlnb.result.answer_notes.read_notes`.
    """

    answers: list[Any]
    width: int
    budget: Budget
    seconds: float
    notes: Mapping[str, str] = NO_NOTES


class PortableClient:
    """A client that can be pickled: another process creates it again, without its secrets.

    Parameters
    ----------
    client
        The client.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    def __reduce__(self) -> tuple[Callable[[ClientRecipe], PortableClient], tuple[ClientRecipe]]:
        return _rebuild_client, (self.client._make_recipe(),)

    def __dask_tokenize__(self) -> str:
        """Return a new token each time.

        Dask runs tasks with equal tokens only once, so a request repeated after a pause would get
        the answer from before the pause.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"PortableClient({self.client.source!r})"


def _rebuild_client(recipe: ClientRecipe) -> PortableClient:
    from gqlnb.client.client import connect

    register_connections()
    return PortableClient(recipe.open_client(connect))


def fetch_pages(
    portable: PortableClient,
    asks: Sequence[SearchRequest],
    fields: str = "",
    ids: Sequence[str] = (),
) -> FetchOutcome:
    """Fetch pages, or own fields of nodes, in one request, in any thread or process.

    Parameters
    ----------
    portable
        The client.
    asks
        The pages.
    fields
        Own fields; empty for none.
    ids
        Nodes whose own fields to fetch, instead of pages.

    Returns
    -------
    FetchOutcome
        The answer.

    Raises
    ------
    GqlnbError
        If the request failed.
    """
    client, started = portable.client, monotonic()
    answers, notes = list[Any](), dict[str, str]()
    try:
        if ids:
            answers += _execute_nodes(client, fields, ids, notes)
        else:
            answers += _execute_searches(client, asks, fields, notes)
    except GqlnbError as failure:
        refused = isinstance(failure, QueryError | PartialError)
        refusal = find_refusal(failure.result) if refused else ""
        failure.result = None  # incomplete pages are of no use, and may not be picklable
        if refusal:
            msg = f"{client.source}: {refusal}"
            raise AuthError(msg) from None
        raise
    seconds = monotonic() - started
    return FetchOutcome(answers, client._concurrency, client.budget, seconds, notes)


def _execute_searches(
    client: Client, asks: Sequence[SearchRequest], fields: str, notes: dict[str, str]
) -> list[Page]:
    """Return the pages; add the notes of the endpoint to `notes`."""
    variables: dict[str, str | int | None] = {}
    for number, ask in enumerate(asks):
        variables[f"q{number}"] = ask.text
        if ask.first:
            variables |= {f"n{number}": ask.first, f"a{number}": ask.after}
    several = len(asks) > 1
    try:
        result = client._execute_in_turn(
            build_query(tuple(bool(ask.first) for ask in asks), fields),
            variables,
            wait=MAX_OWN_WAIT,
            give_up=lambda error: several and error.status in OVERLOAD_STATUSES,
        )
    except QueryError as error:
        # GitHub refuses a request that is too large with or without data.
        if _can_shrink(asks) and error.result and has_size_error(error.result.errors):
            return [Page(0, (), heavy=True)] * len(asks)
        raise explain_query_error(error, client.source) from None
    notes.update(_read_own_notes(result.extensions, fields))
    try:
        return _parse_pages(result, asks, fields)
    except LostNodeError:
        # An error in a field that is never null made its whole node null: the rows come without
        # own fields, which are then requested by id.
        return _execute_searches(client, asks, "", notes)


def _read_own_notes(extensions: Mapping[str, Any], fields: str) -> dict[str, str]:
    """Return the notes, without one on `createdAt` that only the harvest itself selects.

    The stand-in notes that most dates of creation are generated. Every harvest selects them for its
    ranges, and the table of :func:`gqlnb.stars` has none.
    """
    notes = read_notes(extensions)
    if not re.search(r"\bcreatedAt\b", fields):
        notes.pop("standIn Repository.createdAt", None)
    return notes


def _can_shrink(asks: Sequence[SearchRequest]) -> bool:
    """Return whether a request can be sent again in parts."""
    return len(asks) > 1 or asks[0].first > 1


def explain_query_error(error: QueryError, source: str) -> QueryError:
    """Return the error to raise for a refused search.

    Parameters
    ----------
    error
        The error of the client.
    source
        The endpoint, as it is shown.

    Returns
    -------
    QueryError
        An error saying that the schema is another service's, if it lacks a field of the query;
        otherwise `error` itself.
    """
    messages = [p.message for p in error.problems if SCHEMA_MISMATCH.search(p.message)]
    if not messages:
        return error
    # A missing 'search' explains more than a missing field below it.
    message = next((text for text in messages if "'search'" in text), messages[0])
    return QueryError(f"The schema of {source} is not GitHub-shaped: {sanitize_text(message, 200)}")


def _name_alias(name: str) -> str:
    first, *rest = name.split("_")
    return ALIAS_PREFIX + first + "".join(map(str.capitalize, rest))


class _RepositoryNode(msgspec.Struct, gc=False, rename=_name_alias):
    id: str
    stargazer_count: int
    name_with_owner: str
    created_at: datetime | None = None


class _PageInfo(msgspec.Struct, rename="camel"):
    has_next_page: bool | None = False
    end_cursor: str | None = None


class _SearchConnection(msgspec.Struct, rename="camel"):
    """A page; own fields in its nodes become columns later, when they are on the disk."""

    repository_count: int | None = 0
    page_info: _PageInfo | None = None
    nodes: list[msgspec.Raw] | None = None


class _SearchAnswer(msgspec.Struct):
    data: dict[str, _SearchConnection]


_ANSWER_DECODER = msgspec.json.Decoder(_SearchAnswer)
_NODE_DECODER = msgspec.json.Decoder(_RepositoryNode | None)


class LostNodeError(Exception):
    """A node of a page is null because of an error in one of its own fields."""


def _parse_pages(result: Result, asks: Sequence[SearchRequest], fields: str) -> list[Page]:
    """Return the pages of an answer; raise if one is missing that a smaller request cannot get."""
    count = len(asks)
    body = None if result.errors else getattr(result.response, "body", None)
    if body:
        # Decoding the bytes straight into structs takes a third of the time of reading dicts.
        with suppress(msgspec.DecodeError, KeyError, OverflowError, ValueError):
            data = _ANSWER_DECODER.decode(body).data
            found = [data[f"p{number}"] for number in range(count)]
            return [_convert_connection(search, has_fields=bool(fields)) for search in found]
    pages = []
    names = [f"p{number}" for number in range(count)]
    # `search` is never null, so an error in one page makes all pages of the request null. An error
    # whose path names none of them may concern any.
    placed = names if result.data is not None else []
    for ask, name in zip(asks, names, strict=True):
        search = (result.data or {}).get(name)
        others = set(placed) - {name}
        errors = [e for e in result.errors if others.isdisjoint(read_error_path(e)[:1])]
        is_expired = search is None and any(e.get("type") == INVALID_CURSOR for e in errors)
        if is_expired and count == 1 and ask.after is not None:
            return [NO_RESULTS]
        heavy = is_expired or any(map(is_size_error, errors))
        if search is None and not (heavy and _can_shrink(asks)):
            raise_partial_error(result)
            raise make_null_error(result, name)
        about_page = check_page_errors(errors, result, rows=[name, "nodes"])
        if about_page and not heavy:
            raise _make_page_error(about_page, result)
        search = dict(search or {})
        nodes = search.get("nodes") or ()
        reasons, _ = _collect_node_errors(errors, [name, "nodes"]) if fields else ({}, set())
        if not heavy and any(nodes[place] is None for place in reasons):
            raise LostNodeError
        # An error leaves null in fields of a node, which then counts as a missing result.
        search["nodes"] = [
            msgspec.Raw(b"null")
            if node is None or not (fields or node.get(f"{ALIAS_PREFIX}nameWithOwner"))
            else msgspec.Raw(encode_node(node, reasons.get(place, ())))
            for place, node in enumerate(nodes)
        ]
        try:
            connection = msgspec.convert(search, _SearchConnection)
            pages.append(_convert_connection(connection, has_fields=bool(fields), heavy=heavy))
        except msgspec.ValidationError as error:
            msg = f"{name!r} of the answer is not GitHub-shaped: {sanitize_text(error, 200)}"
            raise AnswerError(msg) from None
    return pages


def check_page_errors(
    errors: Iterable[Mapping[str, Any]], result: Result, *, rows: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Return the errors that concern a page, and not just one of its rows.

    Neither the rows nor the count of such a page prove anything.

    Parameters
    ----------
    errors
        The errors of the page.
    result
        The answer that holds them.
    rows
        The path of its rows.

    Raises
    ------
    RateLimited, TransportError
        If one of them is a rate limit or a temporary failure.
    """
    headers = getattr(result.response, "headers", {})
    found = []
    for error in errors:
        path = read_error_path(error)
        if path[: len(rows)] == tuple(rows) and len(path) > len(rows):
            continue
        found.append(error)
        message = sanitize_text(error.get("message"), 300)
        reason = f"{result.source}: the endpoint failed: {message}"
        if is_limit_error(error):
            wait = read_retry_after(headers, time(), limited=False)
            raise RateLimited(reason, status=200, wait=wait)
        if is_transient_error(error):
            # 504 for a time-out, so that a smaller page is requested.
            raise TransportError(reason, status=max(OVERLOAD_STATUSES), transient=True)
    return found


def _make_page_error(errors: Sequence[Mapping[str, Any]], result: Result) -> GqlnbError:
    """Return the error for an answer with errors that concern a whole page."""
    if refusal := find_refusal(replace(result, errors=tuple(errors))):
        return AuthError(f"{result.source}: {refusal}")
    message = sanitize_text(errors[0].get("message"), 300)
    return AnswerError(f"{result.source}: an error concerns a whole page of the search: {message}")


def raise_partial_error(result: Result) -> None:
    """Raise PartialError, with the address of the endpoint, if an answer has errors."""
    try:
        result.raise_for_errors()
    except PartialError as error:
        error.args = (f"{result.source}: {error}",)
        raise


def make_null_error(result: Result, name: str) -> AnswerError:
    """Return the error for an answer without its search, and without a reason for that."""
    if isinstance(result.data, Mapping) and name in result.data:
        return AnswerError(f"{result.source}: {name!r} of the answer is null, without an error.")
    return AnswerError(f"The answer has no {name!r}, so the endpoint is not GitHub-shaped.")


def _convert_connection(
    search: _SearchConnection, *, has_fields: bool, heavy: bool = False
) -> Page:
    rows: list[RepositoryRow | None] = []
    for raw in search.nodes or ():
        node = _NODE_DECODER.decode(raw)
        if node is None:
            rows.append(None)
            continue
        owner, _, name = node.name_with_owner.partition("/")
        created = None if node.created_at is None else int(node.created_at.timestamp())
        data = bytes(raw).decode() if has_fields else None
        rows.append(RepositoryRow(node.id, node.stargazer_count, created, name, owner, data))
    info = search.page_info or _PageInfo()
    more = bool(info.has_next_page)
    return Page(search.repository_count or 0, tuple(rows), more, info.end_cursor, heavy)


@lru_cache
def build_query(pages: tuple[bool, ...], fields: str = "") -> str:
    """Return the query for several searches in one request.

    Parameters
    ----------
    pages
        Whether each search returns a page; else only its count.
    fields
        Own fields of the repositories; empty for none.
    """
    declared = ", ".join(
        f"$q{n}: String!" + (f", $n{n}: Int!, $a{n}: String" if is_page else "")
        for n, is_page in enumerate(pages)
    )
    page = "first: $n{0}, after: $a{0}) {{ ...Found }}"
    count = "first: 1) {{ repositoryCount }}"  # GitHub refuses less than 1
    searches = "\n".join(
        f"  p{n}: search(query: $q{n}, type: REPOSITORY, {(page if is_page else count).format(n)}"
        for n, is_page in enumerate(pages)
    )
    fragment = PAGE_FRAGMENT % f"{NODE_FIELDS} {fields}".rstrip() if any(pages) else ""
    return f"query Harvest({declared}) {{\n{searches}\n}}{fragment}"


# -- own fields by id


def _execute_nodes(
    client: Client, fields: str, ids: Sequence[str], notes: dict[str, str]
) -> list[str | None]:
    """Return the JSON of nodes with own fields; None for those that were too large together.

    The notes of the endpoint are added to `notes`.

    Raises
    ------
    TransportError
        If a node is too large alone; it has the status of an overloaded gateway.
    """
    try:
        result = client._execute_in_turn(
            NODES_QUERY % fields,
            {"ids": list(ids)},
            wait=MAX_OWN_WAIT,
            give_up=lambda error: error.status in OVERLOAD_STATUSES,
        )
    except QueryError as error:
        if not isinstance(error.result, Result) or not has_size_error(error.result.errors):
            raise
        result = error.result
    notes.update(read_notes(result.extensions))
    reasons, large = _collect_node_errors(result.errors, ["nodes"])
    nodes = (result.data or {}).get("nodes")
    if large or nodes is None:
        _check_single(ids, result.errors)
    if nodes is None and has_size_error(result.errors):
        return [None] * len(ids)
    if nodes is None or len(nodes) != len(ids):
        raise_partial_error(result)
        msg = "The answer has not the 'nodes' of the request, so the endpoint is not GitHub-shaped."
        raise AnswerError(msg)
    # An error in a field that is never null makes its node null: the other fields of these nodes
    # are requested without that field.
    steps = [step for error in result.errors for step in read_error_path(error)[2:3]]
    failed = {step for step in steps if isinstance(step, str)}
    again = [n for n, node in enumerate(nodes) if node is None and n in reasons and n not in large]
    if failed and again and (left := drop_fields(fields, failed)) != fields:
        others = _execute_nodes(client, left, [ids[number] for number in again], notes)
        for number, other in zip(again, others, strict=True):
            node = msgspec.json.decode(other or "{}")
            large |= {number} if other is None else set()
            reasons[number] += node.pop(ERRORS_KEY, [])
            nodes[number] = node
    return [
        None if place in large else encode_node(node, reasons.get(place, ())).decode()
        for place, node in enumerate(nodes)
    ]


def _check_single(ids: Sequence[str], errors: Iterable[Mapping[str, Any]]) -> None:
    """Raise TransportError if a single node was too large."""
    large = next(filter(is_size_error, errors), None)
    if len(ids) == 1 and large is not None:
        message = sanitize_text(large.get("message"), 160)
        msg = f"The endpoint refuses fields= even for a single repository: {message}"
        raise TransportError(msg, status=min(OVERLOAD_STATUSES))


def _collect_node_errors(
    errors: Sequence[Mapping[str, Any]], place: Sequence[str]
) -> tuple[dict[int, list[str]], set[int]]:
    """Return the reasons of errors in the nodes at a path by index, and the nodes too large."""
    reasons: dict[int, list[str]] = {}
    large: set[int] = set()
    for error in errors:
        path = read_error_path(error)
        if path[: len(place)] != tuple(place) or len(path) == len(place):
            continue
        number, *below = path[len(place) :]
        if isinstance(number, str):
            continue
        if is_size_error(error):
            large.add(number)
        field = ".".join(step for step in below if isinstance(step, str))
        message = str(error.get("message"))
        if not field and error.get("type") == "NOT_FOUND":
            message = NODE_IS_GONE
        reasons.setdefault(number, []).append(f"{field}: {message}" if field else message)
    return reasons, large


def encode_node(node: Mapping[str, Any] | None, reasons: Sequence[str]) -> bytes:
    """Return the JSON of a node with the reasons of the errors in its fields."""
    if node is None:
        node, reasons = {}, reasons or [NODE_IS_GONE]
    if reasons:
        # Without names and ids, so that equal reasons are counted together.
        texts = [_QUOTED.sub("'...'", sanitize_text(reason, 160)) for reason in reasons]
        node = {**node, ERRORS_KEY: texts}
    return msgspec.json.encode(node)


class BatchSize:
    """The number of pages per request: at least doubled while answers come fast, else halved.

    Attributes
    ----------
    pages
        The present number; 0 for a single page or count.
    """

    def __init__(self) -> None:
        self.pages = 1

    def note_success(self, seconds: float) -> None:
        """Adapt to an answer that took `seconds`."""
        if seconds < QUICK_SECONDS:
            # Four times as many take at most four times as long: not enough to halve them.
            growth = 4 if seconds < QUICK_SECONDS / 2 else 2
            self.pages = min(PAGES_PER_REQUEST, max(1, self.pages * growth))
        elif seconds > 2 * QUICK_SECONDS:
            self.halve_pages()

    def halve_pages(self) -> None:
        """Adapt to a request that was too large."""
        self.pages //= 2


class NodeBatch:
    """The number of nodes per request by id: it grows while none is refused, later with care.

    Attributes
    ----------
    size
        The present number.
    """

    def __init__(self) -> None:
        self.size = FIRST_NODE_BATCH
        self._calm = 0
        self._calm_needed = 1

    def note_success(self, count: int, seconds: float) -> None:
        """Adapt to the answer to a request for `count` nodes, which took `seconds`."""
        self._calm += count >= self.size and seconds < QUICK_SECONDS
        if seconds > 2 * QUICK_SECONDS:
            self.refuse()
        elif self._calm >= self._calm_needed:
            self.size, self._calm = min(MAX_PAGE_SIZE, self.size * 2), 0

    def refuse(self) -> None:
        """Adapt to a request that was too large."""
        self.size, self._calm = max(1, self.size // 2), 0
        self._calm_needed = CALM_REQUESTS
