"""Asking for pages of searches: several in one request, where the endpoint is quick enough."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
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
from gqlnb.github.repositories import parse_timestamp
from gqlnb.http.rate_limit_rules import DEFAULT_LIMIT_WAIT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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

PAGES_PER_REQUEST = 10  # pages of a request: all that one search gives
# Of GitHub's ten seconds for a request. A page of a hundred takes it about one.
QUICK_SECONDS = 2.0
MAX_OWN_WAIT = (
    5.0  # seconds that whoever asks waits by itself; who sends it has better ways to wait
)

PAGE_FRAGMENT = """
fragment Found on SearchResultItemConnection {
  repositoryCount
  pageInfo { hasNextPage endCursor }
  nodes { ... on Repository { id nameWithOwner stargazerCount createdAt } }
}"""


class FetchOutcome(NamedTuple):
    """What came of a request.

    Attributes
    ----------
    pages
        One for each that was asked for; None if there was no answer.
    error
        Why there was none, where less at a time, or waiting, may help.
    wait
        Seconds to wait before anything is asked again.
    width
        How many requests the endpoint takes at once, as far as is known.
    budget
        What is left of its budget.
    seconds
        How long it took.
    """

    pages: list[SearchPage] | None
    error: TransportError | None
    wait: float
    width: int
    budget: Budget
    seconds: float


class PortableClient:
    """A client that can be sent to other processes: there it is made anew, without its secrets.

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
        """Return another name each time: of tasks that are named alike Dask runs the first alone.

        What is asked again, after a pause say, would get the answer from before the pause.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"Asker({self.client.source!r})"


def _rebuild_client(recipe: ClientRecipe) -> PortableClient:
    from gqlnb.client.client import connect

    register_connections()
    return PortableClient(recipe.open_client(connect))


def fetch_pages(asker: PortableClient, asks: Sequence[SearchRequest]) -> FetchOutcome:
    """Ask for pages in one request; it runs in any thread or process.

    Raises
    ------
    GqlnbError
        If there is no answer, and neither waiting nor asking for less would help.
    """
    client, begun = asker.client, monotonic()
    pages, wait = None, 0.0
    error: TransportError | None = None
    try:
        pages = _execute_searches(client, asks)
    except GqlnbError as failed:
        failed.result = None  # half a page is of no use, and may not travel between processes
        if not isinstance(failed, TransportError):
            raise
        if not isinstance(failed, RateLimited) and failed.status not in OVERLOAD_STATUSES:
            raise
        error = failed
        wait = DEFAULT_LIMIT_WAIT if failed.wait is None else failed.wait
    return FetchOutcome(pages, error, wait, client.concurrency, client.budget, monotonic() - begun)


def _execute_searches(client: Client, asks: Sequence[SearchRequest]) -> list[SearchPage]:
    text, variables = build_query(len(asks)), _build_variables(asks)
    several = len(asks) > 1
    try:
        result = client.execute_in_turn(
            text,
            variables,
            wait=MAX_OWN_WAIT,
            over=lambda error: several and error.status in OVERLOAD_STATUSES,
        )
    except QueryError as error:
        told = [problem.message for problem in error.problems] or [str(error)]
        said = sanitize_text(min(told, key=lambda message: "'search'" not in message), 200)
    else:
        return _parse_pages(result, len(asks))
    msg = f"The schema of {client.source} is not GitHub-shaped: {said}"
    raise QueryError(msg)


def _build_variables(asks: Sequence[SearchRequest]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, ask in enumerate(asks):
        found |= {f"q{place}": ask.text, f"n{place}": ask.first, f"a{place}": ask.after}
    return found


class _RepositoryNode(msgspec.Struct, gc=False, rename="camel"):
    id: str
    stargazer_count: int
    name_with_owner: str
    created_at: datetime | None = None


class _PageInfo(msgspec.Struct, rename="camel"):
    has_next_page: bool = False
    end_cursor: str | None = None


class _SearchConnection(msgspec.Struct, rename="camel"):
    repository_count: int
    page_info: _PageInfo
    nodes: list[_RepositoryNode | None]


class _SearchAnswer(msgspec.Struct):
    data: dict[str, _SearchConnection]


_ANSWER_DECODER = msgspec.json.Decoder(_SearchAnswer)


def _parse_pages(result: Result, count: int) -> list[SearchPage]:
    """Return the pages of an answer.

    Raises
    ------
    GqlnbError
        If one is missing.
    """
    body = None if result.errors else getattr(result.response, "body", None)
    if body:
        with suppress(msgspec.DecodeError, KeyError, OverflowError, ValueError):
            came = _ANSWER_DECODER.decode(body).data
            return [_convert_connection(came[f"p{place}"]) for place in range(count)]
    return _parse_partial_pages(result, count)


def _convert_connection(search: _SearchConnection) -> SearchPage:
    """Return a page as a sweep takes it, of what came as it was asked for."""
    rows = tuple([None if node is None else _convert_node(node) for node in search.nodes])
    info = search.page_info
    return SearchPage(search.repository_count, rows, info.has_next_page, info.end_cursor)


def _convert_node(node: _RepositoryNode) -> RepositoryRow:
    owner, _, name = node.name_with_owner.partition("/")
    made = node.created_at
    created = None if made is None else int(made.timestamp())
    return RepositoryRow(node.id, node.stargazer_count, created, name, owner)


def _parse_partial_pages(result: Result, count: int) -> list[SearchPage]:
    """Return the pages of any answer, whatever is missing in it.

    Raises
    ------
    GqlnbError
        If a page is.
    """
    found = []
    for place in range(count):
        name = f"p{place}"
        errors = [error for error in result.errors if (error.get("path") or [name])[0] == name]
        search: Mapping[str, Any] | None = (result.data or {}).get(name)
        if search is None and not any(map(is_size_error, errors)):
            result.raise_for_errors()
            msg = f"The answer holds no {name!r}, so the endpoint is not GitHub-shaped."
            raise AnswerError(msg)
        found.append(_parse_page(search or {}, heavy=any(map(is_size_error, errors))))
    return found


def _parse_page(search: Mapping[str, Any], *, heavy: bool) -> SearchPage:
    """Return a page as a sweep takes it."""
    info = search.get("pageInfo") or {}
    return SearchPage(
        search.get("repositoryCount") or 0,
        tuple(map(_parse_row, search.get("nodes") or ())),
        bool(info.get("hasNextPage")),
        info.get("endCursor"),
        heavy,
    )


def _parse_row(node: Mapping[str, Any] | None) -> RepositoryRow | None:
    """Return a repository; None for what is none."""
    if not node or (full_name := node.get("nameWithOwner")) is None:
        return None
    owner, _, name = full_name.partition("/")
    made = node.get("createdAt")
    return RepositoryRow(
        node["id"],
        node["stargazerCount"],
        None if made is None else parse_timestamp(made),
        name,
        owner,
    )


@lru_cache
def build_query(count: int) -> str:
    """Return the query for so many pages in one request."""
    declared = ", ".join(f"$q{n}: String!, $n{n}: Int!, $a{n}: String" for n in range(count))
    searches = "\n".join(
        f"  p{n}: search(query: $q{n}, type: REPOSITORY, first: $n{n}, after: $a{n}) {{ ...Found }}"
        for n in range(count)
    )
    return f"query Harvest({declared}) {{\n{searches}\n}}{PAGE_FRAGMENT}"


class BatchSize:
    """How many pages to ask for in one request: more while answers are quick, else half as many.

    Attributes
    ----------
    pages
        So many.
    """

    def __init__(self) -> None:
        self.pages = 1

    def note_success(self, seconds: float) -> None:
        """Note that an answer came, and how long it took."""
        if seconds < QUICK_SECONDS:
            self.pages = min(PAGES_PER_REQUEST, self.pages * 2)
        elif seconds > 2 * QUICK_SECONDS:
            self.halve_pages()

    def halve_pages(self) -> bool:
        """Note that it was too much; return False if it was one page only."""
        several = self.pages > 1
        self.pages = max(1, self.pages // 2)
        return several
