"""The requests of a harvest: several searches in one GraphQL query, and the loop that sends all."""

from __future__ import annotations

import os
import pickle
import re
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache, partial
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from uuid import uuid4

import msgspec

from gqlnb.background import defer_interrupt, open_thread_pool
from gqlnb.client.paging.page_size import (
    OVERLOAD_STATUSES,
    has_size_error,
    is_overload,
    is_size_error,
)
from gqlnb.document.error_details import read_error_path
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    QueryError,
    RateLimited,
    TargetError,
    TransportError,
    describe_exception,
    sanitize_text,
)
from gqlnb.github.harvester.own_fields import ALIAS_PREFIX, ERRORS_KEY, drop_fields
from gqlnb.github.harvester.scope import ORDERS
from gqlnb.github.harvester.storage import NODE_IS_GONE, RepositoryRow, encode_node
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.http.error_responses import is_transient_error
from gqlnb.http.rate_limit_rules import read_retry_after
from gqlnb.http.response_parser import find_refusal, is_limit_error
from gqlnb.lists.window_harvest import Page, PageRequest, TaskRequest
from gqlnb.result.answer_notes import read_notes
from gqlnb.result.result import PartialError, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor, Future

    from gqlnb.client.client import Client
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.github.harvester.scope import Scope
    from gqlnb.github.harvester.storage import RepositoryStore
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.lists.accounts import Account, AccountPool
    from gqlnb.lists.window_harvest import WindowHarvest

PAGES_PER_REQUEST = 10
COUNTS_PER_PAGE = 20  # counts in a request, which take about as long as a page: they find no rows
QUICK_SECONDS = 2.0  # GitHub ends a request after ten; a page of 100 takes about one
FIRST_NODE_BATCH = 25  # nodes by id; GitHub takes up to 100
CALM_REQUESTS = 10  # full ones in a row before more nodes are tried again after a refusal
# Longer waits are left to the caller, which can use the time for other requests and show a message.
MAX_OWN_WAIT = 5.0  # seconds
MAX_CLIENTS = 8  # that a process makes; a harvest has one, or one for each token

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
NO_NOTES: Mapping[str, str] = {}


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
    """A client that is pickled once, and of which another process makes one for all requests.

    Parameters
    ----------
    client
        The client.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    @cached_property
    def pickled(self) -> bytes:
        """The pickle of the client, without its secrets.

        Raises
        ------
        TargetError
            If the client works in this process alone.
        """
        # That of a `with` block is not pickled, and several processes would write one file.
        if self.client._endpoint.get_recording() is not None:  # noqa: SLF001
            msg = "A recording is of this process: a pool of other processes would send requests."
            raise TargetError(msg)
        try:
            return pickle.dumps(self.client)
        except TypeError as error:
            msg = f"executor= with other processes: {sanitize_text(error, 300)}"
            raise TargetError(msg) from None

    def __reduce__(self) -> tuple[Callable[[bytes], PortableClient], tuple[bytes]]:
        return _load_portable, (self.pickled,)

    def __dask_tokenize__(self) -> str:
        """Return a new token each time.

        Dask runs tasks with equal tokens only once, so a request repeated after a pause would get
        the answer from before the pause.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"PortableClient({self.client.source!r})"


def _load_portable(pickled: bytes) -> PortableClient:
    return _load_cached(pickled, os.getpid())


# The process is part of the key: a forked child must not use the connections of its parent.
@lru_cache(MAX_CLIENTS)
def _load_cached(pickled: bytes, _process: int) -> PortableClient:
    return PortableClient(pickle.loads(pickled))  # noqa: S301 - a part of another pickle


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
        may_refuse = isinstance(failure, QueryError | PartialError | AnswerError)
        refusal = find_refusal(failure.result) if may_refuse else ""
        failure.result = None  # incomplete pages are of no use, and may not be picklable
        if refusal:
            msg = f"{client.source}: {refusal}"
            raise AuthError(msg) from None
        raise
    seconds = monotonic() - started
    return FetchOutcome(answers, client._concurrency, client.budget, seconds, notes)


def count_searches(client: Client, texts: Sequence[str]) -> list[int]:
    """Return the number of results of each search, in one request.

    It may exceed the 1,000 results that a search shows.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    pages = fetch_pages(PortableClient(client), [SearchRequest(text) for text in texts]).answers
    if any(page.heavy for page in pages):
        msg = f"{client.source}: {len(texts)} searches are too many for one request."
        raise AnswerError(msg)
    return [page.total for page in pages]


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
            message = sanitize_text(about_page[0].get("message"), 300)
            msg = f"{result.source}: an error concerns a whole page of the search: {message}"
            raise AnswerError(msg, result=replace(result, errors=tuple(about_page)))
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
    refusal = next(filter(is_size_error, result.errors), None)
    if (large or nodes is None) and len(ids) == 1 and refusal is not None:
        message = sanitize_text(refusal.get("message"), 160)
        msg = f"The endpoint refuses fields= even for a single repository: {message}"
        raise TransportError(msg, status=min(OVERLOAD_STATUSES))
    if nodes is None and refusal is not None:
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
            self.halve()

    def halve(self) -> None:
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
            self.halve()
        elif self._calm >= self._calm_needed:
            self.size, self._calm = min(MAX_PAGE_SIZE, self.size * 2), 0

    def halve(self) -> None:
        """Adapt to a request that was too large."""
        self.size, self._calm = max(1, self.size // 2), 0
        self._calm_needed = CALM_REQUESTS


# -- the loop

MAX_LOST = 3  # requests in a row that may be lost with their worker, or damaged on their way
OVERLOAD_PAUSE = 0.5  # seconds before a smaller request follows one that was too large
MIN_PAGE_SIZE = 10  # results; a page of this size does not fail for its size
SMALL_PAGE = 50  # results; own fields that are too large for such a page are fetched by id


def _lacks_fields(page: Page) -> bool:
    """Return whether a row of a page came without its own fields."""
    rows = cast("tuple[RepositoryRow | None, ...]", page.rows)
    return any(row is not None and row.data is None for row in rows)


class SentRequest(NamedTuple):
    """A request on its way.

    Attributes
    ----------
    tasks
        The pages and counts.
    rows
        Instead: rows whose own fields are requested by id.
    """

    tasks: Sequence[TaskRequest[PageRequest]] = ()
    rows: Sequence[RepositoryRow] = ()


class HarvestRunner:
    """One run of a harvest.

    Parameters
    ----------
    scope
        The search.
    harvest
        What to request.
    storage
        The storage of the rows.
    pool
        The accounts; each has one request in flight, or more if the endpoint accepts them.
    executor
        Executor of the requests; None for own threads.
    width
        Most requests at once, if the endpoint accepts as many.
    watch
        Called with rows so far, rows expected, requests and the remaining budget; the harvest
        stops if it returns False.

    Attributes
    ----------
    stopped
        Whether `watch` stopped the run before its end.
    """

    def __init__(
        self,
        scope: Scope,
        harvest: WindowHarvest,
        storage: RepositoryStore,
        pool: AccountPool[PortableClient],
        executor: Executor | None,
        width: int,
        watch: ProgressCallback,
    ) -> None:
        self.stopped = False
        self._scope, self._harvest = scope, harvest
        self._storage, self._pool = storage, pool
        self._executor, self._watch = executor, watch
        self._width = max(width, len(pool.accounts))
        self._batch_size = BatchSize()
        self._lost_count = 0
        self._fields = storage.header.fields or ""
        self._incomplete = deque(storage.state.incomplete.values())
        # Own fields come with the pages, until pages with them turn out to be too large.
        self._by_id = bool(self._incomplete)
        self._node_batch = NodeBatch()
        self._refused_alone = 0  # requests in a row, each for one node

    def run(self) -> None:
        """Send requests until all windows are read, and all own fields came.

        Raises
        ------
        GqlnbError
            If a request failed for good. All rows so far are stored.
        """
        given = self._executor
        with open_thread_pool(self._width) if given is None else nullcontext(given) as executor:
            self._pool.run(
                self._take_request,
                partial(self._submit, executor),
                self._take_result,
                has_work=lambda: self._has_work and not self.stopped,
                end_round=self._end_round,
                width=self._width,
            )
            self.stopped = self.stopped and self._has_work

    @property
    def _has_work(self) -> bool:
        """Whether there is a request to send."""
        return bool(self._harvest.has_requests or self._incomplete)

    def _take_request(self, senders: int) -> SentRequest | None:
        """Return the next request, for a number of accounts that are free; None without one."""
        if self.stopped or not self._has_work:
            return None
        if self._harvest.has_requests and len(self._incomplete) < MAX_SEARCH_RESULTS:
            return SentRequest(self._take_tasks(senders))
        count = min(self._node_batch.size, len(self._incomplete))
        return SentRequest(rows=[self._incomplete.popleft() for _ in range(count)])

    def _take_tasks(self, senders: int) -> list[TaskRequest[PageRequest]]:
        """Return the pages and counts of one request, the pages first."""
        harvest, tasks = self._harvest, list[TaskRequest[PageRequest]]()
        room, pages = self._batch_size.pages * COUNTS_PER_PAGE, 0
        # What is pending is shared, so that no identity waits for the requests of another.
        most = max(1, -(-harvest.pending // senders))
        while harvest.has_requests and len(tasks) - pages < COUNTS_PER_PAGE:
            is_page = bool(harvest.peek().request.first)
            room -= COUNTS_PER_PAGE if is_page else 1
            if tasks and (room < 0 or len(tasks) >= most):
                break
            pages += is_page
            tasks.append(harvest.take())
        return sorted(tasks, key=lambda task: not task.request.first)

    def _submit(
        self, executor: Executor, sent: SentRequest, client: PortableClient
    ) -> Future[FetchOutcome]:
        pages = [self._build_request(task) for task in sent.tasks]
        ids = [row.id for row in sent.rows]
        fields = self._fields if ids or not self._by_id else ""
        try:
            return executor.submit(fetch_pages, client, pages, fields, ids)
        except RuntimeError as error:  # such as BrokenProcessPool: it accepts no further calls
            msg = f"The executor accepts no more requests: {describe_exception(error)}"
            raise TransportError(msg) from error

    def _build_request(self, task: TaskRequest[PageRequest]) -> SearchRequest:
        window, order, first, after = task.request
        return SearchRequest(self._scope.format_window(window, ORDERS[order]), first, after)

    def _requeue(self, sent: SentRequest) -> None:
        """Send a request again."""
        self._harvest.put_back(sent.tasks)
        self._incomplete.extendleft(reversed(sent.rows))

    def _take_result(
        self,
        sent: SentRequest,
        sender: Account[PortableClient],
        client: PortableClient,
        future: Future[FetchOutcome],
    ) -> None:
        """Process an answer; raise the error of one that failed for good."""
        try:
            outcome = future.result()
        except GqlnbError as error:
            if isinstance(error, TransportError) and is_overload(error):
                sender.pause(OVERLOAD_PAUSE)
                self._retry_smaller(sent, error)
            elif (failure := self._pool.explain_failure(sender, client, error)) is None:
                self._requeue(sent)
            else:
                # Proxies replace answers, which says nothing about the next. Those that they cut
                # were repeated by the client.
                helps = isinstance(error, AnswerError) and not error.broken
                self._retry(sent, failure, helps=helps)
            return
        except (CancelledError, Exception) as error:  # executors raise errors of any class
            reason = describe_exception(error)
            msg = f"The executor lost {self._lost_count + 1} requests in a row: {reason}"
            self._retry(sent, TransportError(msg), error)
            return
        sender.requests, sender.limits = sender.requests + 1, 0
        sender.width = self._width if outcome.width > 1 else 1
        sender.budget = outcome.budget
        with defer_interrupt():
            self._storage.state.add_notes(outcome.notes)
            add = self._add_fields if sent.rows else self._add_answer
            add(sent, outcome.answers, outcome.seconds)

    def _store_answer(self, rows: Sequence[RepositoryRow] = ()) -> None:
        """Store the state after an answer, and the rows that it brought, with further rows."""
        added = [*rows, *cast("list[RepositoryRow]", self._harvest.take_rows())]
        self._storage.add_answer(added, self._harvest.take_answers())
        if self._fields:
            self._incomplete.extend(row for row in added if row.data is None)

    def _end_round(self) -> None:
        """Report the progress."""
        budget = self._pool.budget
        if budget is not None:
            rows, requests = self._storage.rows, self._storage.state.requests
            answer = self._watch(rows, self._harvest.state.expected, requests, budget)
            self.stopped = self.stopped or answer is False

    def _add_answer(self, sent: SentRequest, pages: list[Page], seconds: float) -> None:
        """Take the pages of an answer; those that were too large together are sent again alone."""
        self._lost_count = 0
        several = len(pages) > 1
        pairs = list(zip(sent.tasks, pages, strict=True))
        large = [task for task, page in pairs if page.heavy and several]
        if large:
            self._batch_size.halve()
            self._harvest.put_back(large)
            pairs = [(task, page) for task, page in pairs if not page.heavy]
        else:
            self._batch_size.note_success(seconds)
        if not several and pages[0].heavy and self._drop_fields(sent.tasks[0]):
            return
        if self._fields and any(map(_lacks_fields, pages)):
            self._by_id = True  # its fields could not come with the page
        self._feed_pages(pairs)

    def _feed_pages(self, pairs: Sequence[tuple[TaskRequest[PageRequest], Page]]) -> None:
        """Let the harvest take pages, and store the rows of the windows that they close."""
        for task, page in pairs:
            self._harvest.feed(task, page)
        self._store_answer()

    def _drop_fields(self, task: TaskRequest[PageRequest]) -> bool:
        """Request a page again without own fields, if it is too large in spite of being small."""
        first = task.request.first
        if not self._fields or self._by_id or not 0 < first <= SMALL_PAGE:
            return False
        self._by_id = True
        self._harvest.put_back([task])
        self._harvest.page_size = MAX_PAGE_SIZE
        self._pool.notes.append(
            f"Pages of {first} are too large with these fields=, so they are fetched by id."
        )
        return True

    def _add_fields(self, sent: SentRequest, nodes: list[str | None], seconds: float) -> None:
        """Add rows that came with their own fields; request the too large ones again."""
        self._lost_count = self._refused_alone = 0
        pairs = list(zip(sent.rows, nodes, strict=True))
        whole = [row._replace(data=node) for row, node in pairs if node is not None]
        again = [row for row, node in pairs if node is None]
        if again:
            self._node_batch.halve()
        else:
            self._node_batch.note_success(len(pairs), seconds)
        self._incomplete.extendleft(reversed(again))
        self._store_answer(whole)

    def _retry_row(self, sent: SentRequest, error: TransportError) -> None:
        """Send a request for a single node again; give up its fields if it is refused often."""
        self._refused_alone += 1
        if self._refused_alone > MAX_LOST * MAX_LOST:  # the endpoint fails, not a repository
            raise error
        if self._refused_alone % MAX_LOST:
            self._requeue(sent)
            return
        data = encode_node({}, [f"The fields were refused: {error}"]).decode()
        self._store_answer([sent.rows[0]._replace(data=data)])

    def _retry_smaller(self, sent: SentRequest, error: TransportError) -> None:
        """Send a request that was too large again in parts; raise if that does not help."""
        (self._node_batch if sent.rows else self._batch_size).halve()
        if len(sent.tasks) + len(sent.rows) > 1:
            self._requeue(sent)
        elif sent.rows:
            self._retry_row(sent, error)
        elif not self._drop_fields(task := sent.tasks[0]):
            if task.request.first <= MIN_PAGE_SIZE:
                # A count cannot be smaller, and a small page does not fail for its size.
                self._retry(sent, error, helps=not task.request.first)
            else:
                self._feed_pages([(task, Page(0, heavy=True))])

    def _retry(
        self,
        sent: SentRequest,
        failure: GqlnbError,
        cause: BaseException | None = None,
        *,
        helps: bool = True,
    ) -> None:
        """Send a request again; raise the failure after a few in a row, or if it does not help."""
        self._lost_count += 1
        if not helps or self._lost_count > MAX_LOST:
            raise failure from cause
        self._requeue(sent)
