"""Asking for pages of searches: several in one request, where the endpoint is quick enough."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import msgspec

from gqlnb.client.paging.size_errors import HEAVY, says_too_much
from gqlnb.errors import AnswerError, GqlnbError, QueryError, RateLimited, TransportError, plain
from gqlnb.github.data import seconds
from gqlnb.github.entry import enter
from gqlnb.github.harvesting.values import Page, Row
from gqlnb.wire.retry import UNSAID

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gqlnb.client.client import Client
    from gqlnb.client.errands import Recipe
    from gqlnb.github.harvesting.values import Ask
    from gqlnb.model.result import Result
    from gqlnb.wire.budget import Budget

__all__ = ["AT_ONCE", "Asker", "Load", "Outcome", "errand", "text_of"]

AT_ONCE = 10  # pages of a request: all that one search gives
# Of GitHub's ten seconds for a request. A page of a hundred takes it about one.
QUICK = 2.0
SHORT = 5.0  # seconds that whoever asks waits by itself; who sends it has better ways to wait

FRAGMENT = """
fragment Found on SearchResultItemConnection {
  repositoryCount
  pageInfo { hasNextPage endCursor }
  nodes { ... on Repository { id nameWithOwner stargazerCount createdAt } }
}"""


class Outcome(NamedTuple):
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

    pages: list[Page] | None
    error: TransportError | None
    wait: float
    width: int
    budget: Budget
    seconds: float


class Asker:
    """A client that can be sent to other processes: there it is made anew, without its secrets.

    Parameters
    ----------
    client
        The client.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    def __reduce__(self) -> tuple[Callable[[Recipe], Asker], tuple[Recipe]]:
        return _made, (self.client.recipe(),)

    def __dask_tokenize__(self) -> str:
        """Return another name each time: of tasks that are named alike Dask runs the first alone.

        What is asked again, after a pause say, would get the answer from before the pause.
        """
        return uuid4().hex

    def __repr__(self) -> str:
        return f"Asker({self.client.source!r})"


def _made(recipe: Recipe) -> Asker:
    from gqlnb.client.factory import connect

    enter()
    return Asker(recipe.open(connect))


def errand(asker: Asker, asks: Sequence[Ask]) -> Outcome:
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
        pages = _asked(client, asks)
    except GqlnbError as failed:
        failed.result = None  # half a page is of no use, and may not travel between processes
        if not isinstance(failed, TransportError):
            raise
        if not isinstance(failed, RateLimited) and failed.status not in HEAVY:
            raise
        error = failed
        wait = UNSAID if failed.wait is None else failed.wait
    return Outcome(pages, error, wait, client.width, client.budget, monotonic() - begun)


def _asked(client: Client, asks: Sequence[Ask]) -> list[Page]:
    text, variables = text_of(len(asks)), _variables(asks)
    several = len(asks) > 1
    try:
        result = client.in_turn(
            text, variables, wait=SHORT, over=lambda error: several and error.status in HEAVY
        )
    except QueryError as error:
        told = [problem.message for problem in error.problems] or [str(error)]
        said = plain(min(told, key=lambda message: "'search'" not in message), 200)
    else:
        return _pages(result, len(asks))
    msg = f"The schema of {client.source} is not GitHub-shaped: {said}"
    raise QueryError(msg)


def _variables(asks: Sequence[Ask]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, ask in enumerate(asks):
        found |= {f"q{place}": ask.text, f"n{place}": ask.first, f"a{place}": ask.after}
    return found


class _Node(msgspec.Struct, gc=False, rename="camel"):
    id: str
    stargazer_count: int
    name_with_owner: str
    created_at: datetime | None = None


class _Info(msgspec.Struct, rename="camel"):
    has_next_page: bool = False
    end_cursor: str | None = None


class _Search(msgspec.Struct, rename="camel"):
    repository_count: int
    page_info: _Info
    nodes: list[_Node | None]


class _Answer(msgspec.Struct):
    data: dict[str, _Search]


_ANSWER = msgspec.json.Decoder(_Answer)


def _pages(result: Result, count: int) -> list[Page]:
    """Return the pages of an answer.

    Raises
    ------
    GqlnbError
        If one is missing.
    """
    body = None if result.errors else getattr(result.response, "body", None)
    if body:
        with suppress(msgspec.DecodeError, KeyError, OverflowError, ValueError):
            came = _ANSWER.decode(body).data
            return [_page_of(came[f"p{place}"]) for place in range(count)]
    return _pages_of(result, count)


def _page_of(search: _Search) -> Page:
    """Return a page as a sweep takes it, of what came as it was asked for."""
    rows = tuple([None if node is None else _row_of(node) for node in search.nodes])
    info = search.page_info
    return Page(search.repository_count, rows, info.has_next_page, info.end_cursor)


def _row_of(node: _Node) -> Row:
    owner, _, name = node.name_with_owner.partition("/")
    made = node.created_at
    created = None if made is None else int(made.timestamp())
    return Row(node.id, node.stargazer_count, created, name, owner)


def _pages_of(result: Result, count: int) -> list[Page]:
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
        if search is None and not any(map(says_too_much, errors)):
            result.raise_for_errors()
            msg = f"The answer holds no {name!r}, so the endpoint is not GitHub-shaped."
            raise AnswerError(msg)
        found.append(_page(search or {}, heavy=any(map(says_too_much, errors))))
    return found


def _page(search: Mapping[str, Any], *, heavy: bool) -> Page:
    """Return a page as a sweep takes it."""
    info = search.get("pageInfo") or {}
    return Page(
        search.get("repositoryCount") or 0,
        tuple(map(_row, search.get("nodes") or ())),
        bool(info.get("hasNextPage")),
        info.get("endCursor"),
        heavy,
    )


def _row(node: Mapping[str, Any] | None) -> Row | None:
    """Return a repository; None for what is none."""
    if not node or (full_name := node.get("nameWithOwner")) is None:
        return None
    owner, _, name = full_name.partition("/")
    made = node.get("createdAt")
    return Row(
        node["id"], node["stargazerCount"], None if made is None else seconds(made), name, owner
    )


@lru_cache
def text_of(count: int) -> str:
    """Return the query for so many pages in one request."""
    declared = ", ".join(f"$q{n}: String!, $n{n}: Int!, $a{n}: String" for n in range(count))
    searches = "\n".join(
        f"  p{n}: search(query: $q{n}, type: REPOSITORY, first: $n{n}, after: $a{n}) {{ ...Found }}"
        for n in range(count)
    )
    return f"query Harvest({declared}) {{\n{searches}\n}}{FRAGMENT}"


class Load:
    """How many pages to ask for in one request: more while answers are quick, else half as many.

    Attributes
    ----------
    pages
        So many.
    """

    def __init__(self) -> None:
        self.pages = 1

    def fine(self, seconds: float) -> None:
        """Note that an answer came, and how long it took."""
        if seconds < QUICK:
            self.pages = min(AT_ONCE, self.pages * 2)
        elif seconds > 2 * QUICK:
            self.much()

    def much(self) -> bool:
        """Note that it was too much; return False if it was one page only."""
        several = self.pages > 1
        self.pages = max(1, self.pages // 2)
        return several
