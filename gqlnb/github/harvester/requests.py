"""Requests for pages of searches: several in one GraphQL query, where answers come fast."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import msgspec

from gqlnb.client.paging.page_size import OVERLOAD_STATUSES, is_size_error
from gqlnb.errors import (
    AnswerError,
    GqlnbError,
    QueryError,
    RateLimited,
    TransportError,
    sanitize_text,
)
from gqlnb.github.builtin_connections import register_connections
from gqlnb.github.harvester.search_windows import RepositoryRow, SearchPage
from gqlnb.http.rate_limit_rules import DEFAULT_LIMIT_WAIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.client.client import Client
    from gqlnb.client.recipes import ClientRecipe
    from gqlnb.github.harvester.search_windows import SearchRequest
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.result.result import Result

__all__ = [
    "PAGES_PER_REQUEST",
    "BatchSize",
    "FetchOutcome",
    "PortableClient",
    "build_query",
    "fetch_pages",
]

PAGES_PER_REQUEST = 10  # all pages of one search
QUICK_SECONDS = 2.0  # GitHub ends a request after ten; a page of 100 takes about one
# Longer waits are left to the caller, which can use the time for other requests and show a message.
MAX_OWN_WAIT = 5.0  # seconds

PAGE_FRAGMENT = """
fragment Found on SearchResultItemConnection {
  repositoryCount
  pageInfo { hasNextPage endCursor }
  nodes { ... on Repository { id nameWithOwner stargazerCount createdAt } }
}"""


class FetchOutcome(NamedTuple):
    """The outcome of one request.

    Attributes
    ----------
    pages
        One per search request; None without an answer.
    error
        The reason for that, where waiting or a smaller request may help.
    wait
        Seconds to wait before the next request.
    width
        Number of requests that the endpoint accepts at once, as far as is known.
    budget
        The endpoint's remaining budget.
    seconds
        Duration.
    """

    pages: list[SearchPage] | None
    error: TransportError | None
    wait: float
    width: int
    budget: Budget
    seconds: float


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
        return _rebuild_client, (self.client.make_recipe(),)

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


def fetch_pages(portable: PortableClient, asks: Sequence[SearchRequest]) -> FetchOutcome:
    """Fetch pages in one request, in any thread or process.

    Raises
    ------
    GqlnbError
        If the request failed, and neither waiting nor a smaller request would help.
    """
    client, started = portable.client, monotonic()
    pages, wait = None, 0.0
    error: TransportError | None = None
    try:
        pages = _execute_searches(client, asks)
    except GqlnbError as failure:
        failure.result = None  # incomplete pages are of no use, and may not be picklable
        if not isinstance(failure, TransportError):
            raise
        if not isinstance(failure, RateLimited) and failure.status not in OVERLOAD_STATUSES:
            raise
        error = failure
        wait = DEFAULT_LIMIT_WAIT if failure.wait is None else failure.wait
    seconds = monotonic() - started
    return FetchOutcome(pages, error, wait, client.concurrency, client.budget, seconds)


def _execute_searches(client: Client, asks: Sequence[SearchRequest]) -> list[SearchPage]:
    variables: dict[str, str | int | None] = {}
    for number, ask in enumerate(asks):
        variables |= {f"q{number}": ask.text, f"n{number}": ask.first, f"a{number}": ask.after}
    several = len(asks) > 1
    try:
        result = client.execute_in_turn(
            build_query(len(asks)),
            variables,
            wait=MAX_OWN_WAIT,
            over=lambda error: several and error.status in OVERLOAD_STATUSES,
        )
    except QueryError as error:
        messages = [problem.message for problem in error.problems] or [str(error)]
        reason = sanitize_text(min(messages, key=lambda message: "'search'" not in message), 200)
    else:
        return _parse_pages(result, len(asks))
    msg = f"The schema of {client.source} is not GitHub-shaped: {reason}"
    raise QueryError(msg)


class _RepositoryNode(msgspec.Struct, gc=False, rename="camel"):
    id: str
    stargazer_count: int
    name_with_owner: str
    created_at: datetime | None = None


class _PageInfo(msgspec.Struct, rename="camel"):
    has_next_page: bool | None = False
    end_cursor: str | None = None


class _SearchConnection(msgspec.Struct, rename="camel"):
    repository_count: int | None = 0
    page_info: _PageInfo | None = None
    nodes: list[_RepositoryNode | None] | None = None


class _SearchAnswer(msgspec.Struct):
    data: dict[str, _SearchConnection]


_ANSWER_DECODER = msgspec.json.Decoder(_SearchAnswer)


def _parse_pages(result: Result, count: int) -> list[SearchPage]:
    """Return the pages of an answer; raise if one is missing for another reason than its size."""
    body = None if result.errors else getattr(result.response, "body", None)
    if body:
        # Decoding the bytes straight into structs takes a third of the time of reading dicts.
        with suppress(msgspec.DecodeError, KeyError, OverflowError, ValueError):
            data = _ANSWER_DECODER.decode(body).data
            return [_convert_connection(data[f"p{number}"]) for number in range(count)]
    pages = []
    for number in range(count):
        name = f"p{number}"
        errors = [error for error in result.errors if (error.get("path") or [name])[0] == name]
        heavy = any(map(is_size_error, errors))
        search = (result.data or {}).get(name)
        if search is None and not heavy:
            result.raise_for_errors()
            msg = f"The answer has no {name!r}, so the endpoint is not GitHub-shaped."
            raise AnswerError(msg)
        search = dict(search or {})
        # An error leaves null in fields of a node, which then counts as a missing result.
        search["nodes"] = [
            node if node and node.get("nameWithOwner") is not None else None
            for node in search.get("nodes") or ()
        ]
        try:
            connection = msgspec.convert(search, _SearchConnection)
        except msgspec.ValidationError as error:
            msg = f"{name!r} of the answer is not GitHub-shaped: {sanitize_text(error, 200)}"
            raise AnswerError(msg) from None
        pages.append(_convert_connection(connection, heavy=heavy))
    return pages


def _convert_connection(search: _SearchConnection, *, heavy: bool = False) -> SearchPage:
    rows: list[RepositoryRow | None] = []
    for node in search.nodes or ():
        if node is None:
            rows.append(None)
            continue
        owner, _, name = node.name_with_owner.partition("/")
        created = None if node.created_at is None else int(node.created_at.timestamp())
        rows.append(RepositoryRow(node.id, node.stargazer_count, created, name, owner))
    info = search.page_info or _PageInfo()
    more = bool(info.has_next_page)
    return SearchPage(search.repository_count or 0, tuple(rows), more, info.end_cursor, heavy)


@lru_cache
def build_query(count: int) -> str:
    """Return the query for `count` pages in one request."""
    declared = ", ".join(f"$q{n}: String!, $n{n}: Int!, $a{n}: String" for n in range(count))
    searches = "\n".join(
        f"  p{n}: search(query: $q{n}, type: REPOSITORY, first: $n{n}, after: $a{n}) {{ ...Found }}"
        for n in range(count)
    )
    return f"query Harvest({declared}) {{\n{searches}\n}}{PAGE_FRAGMENT}"


class BatchSize:
    """The number of pages per request: doubled while answers come fast, else halved.

    Attributes
    ----------
    pages
        The present number.
    """

    def __init__(self) -> None:
        self.pages = 1

    def note_success(self, seconds: float) -> None:
        """Adapt to an answer that took `seconds`."""
        if seconds < QUICK_SECONDS:
            self.pages = min(PAGES_PER_REQUEST, self.pages * 2)
        elif seconds > 2 * QUICK_SECONDS:
            self.halve_pages()

    def halve_pages(self) -> None:
        """Adapt to a request that was too large."""
        self.pages = max(1, self.pages // 2)
