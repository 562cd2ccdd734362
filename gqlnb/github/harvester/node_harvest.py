"""Harvests of issues, pull requests, discussions and users, in ranges of their times."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from gqlnb.client.paging.list_reader import ListQuery, estimate_list, harvest_list
from gqlnb.errors import OptionError, QueryError, sanitize_text
from gqlnb.github.builtin_connections import DEMO, open_client
from gqlnb.github.harvester.harvests import group_clients, open_clients
from gqlnb.github.harvester.own_fields import remove_braces
from gqlnb.github.harvester.requests import explain_query_error
from gqlnb.github.harvester.scope import split_ranges
from gqlnb.github.search_syntax import MAX_SEARCH_RESULTS
from gqlnb.interactive import warn_caller
from gqlnb.lists.accounts import AccountPool
from gqlnb.lists.columns import Slice, ValueRange, bind_range
from gqlnb.lists.store import ROWS_PER_PART
from gqlnb.option_checks import explain_keywords

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from gqlnb.client.client import Client
    from gqlnb.client.paging.pager import Pager
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.lists.list_harvest import RangeEstimate, RangeHarvest

NodeType = Literal["ISSUE", "PULL_REQUEST", "DISCUSSION", "USER", "ORGANIZATION"]
TimeColumn = Literal["created", "updated"]

FOUNDED = datetime(2007, 10, 1, tzinfo=UTC)  # nothing on GitHub is older
SECOND = timedelta(seconds=1)  # GitHub's times have no fractions


class NodeSearch(NamedTuple):
    """The search for nodes of one type.

    Attributes
    ----------
    search_type
        The value of ``search(type:)``.
    name
        The name of their GraphQL type.
    term
        The qualifier that selects them among the results of that type.
    sort
        The sort keys by qualifier; a type without ``updated:`` lacks that key.
    fields
        The default fields.
    """

    search_type: str
    name: str
    term: str
    sort: dict[str, str]
    fields: str


TIMES = {"created": "created", "updated": "updated"}
JOINED = {"created": "joined"}
ISSUE_FIELDS = "repository { nameWithOwner } number title state author { login }"
SEARCHES: dict[str, NodeSearch] = {
    "ISSUE": NodeSearch("ISSUE", "Issue", "is:issue", TIMES, f"{ISSUE_FIELDS} closedAt"),
    "PULL_REQUEST": NodeSearch(
        "ISSUE", "PullRequest", "is:pr", TIMES, f"{ISSUE_FIELDS} closedAt mergedAt"
    ),
    "DISCUSSION": NodeSearch(
        "DISCUSSION",
        "Discussion",
        "",
        TIMES,
        "repository { nameWithOwner } number title author { login } category { name }",
    ),
    "USER": NodeSearch("USER", "User", "type:user", JOINED, "login name location company"),
    "ORGANIZATION": NodeSearch("USER", "Organization", "type:org", JOINED, "login name location"),
}


class NodeQuery(NamedTuple):
    """The query of a harvest of nodes.

    Attributes
    ----------
    text
        The document.
    slice
        The time by which it is divided.
    search_type
        The value of ``search(type:)``.
    has_fields
        Whether the caller wrote the fields.
    """

    text: str
    slice: Slice
    search_type: str
    has_fields: bool


def build_node_search(query: object, kind: str, fields: str | None, column: str) -> NodeQuery:
    """Return the query of a harvest of nodes.

    Parameters
    ----------
    query
        The search expression, such as ``"repo:python/cpython label:bug"``.
    kind
        A :data:`NodeType`.
    fields
        The fields of each node; None for the default ones.
    column
        A :data:`TimeColumn`.

    Returns
    -------
    NodeQuery
        The query, and the slice that divides it.

    Raises
    ------
    QueryError
        If the query or the fields are not text, or the query has a sort order.
    OptionError
        If nodes of this type cannot be harvested, or not by that time.
    """
    if kind not in SEARCHES:
        types = ", ".join(map(repr, get_args(NodeType)))
        msg = (
            f"type= is one of {types}, not {sanitize_text(repr(kind), 40)}. Repositories: "
            "github.harvest()."
        )
        raise OptionError(msg)
    search = SEARCHES[kind]
    if column not in search.sort:
        times = " or ".join(map(repr, search.sort))
        msg = (
            f"slice= of a harvest of type {kind} is {times}, not "
            f"{sanitize_text(repr(column), 40)}: GitHub has no other qualifier for it."
        )
        raise OptionError(msg)
    if fields is not None and not isinstance(fields, str):
        shown = sanitize_text(repr(fields), 80)
        msg = f"fields= takes a selection on {search.name}, such as {search.fields!r}, not {shown}."
        raise QueryError(msg)
    if not isinstance(query, str):
        msg = f"The query of type {kind} is a search expression, not {type(query).__name__}."
        raise QueryError(msg)
    text, (bounds,) = split_ranges(query, column)
    low, high = (None if end is None else datetime.fromtimestamp(end, UTC) for end in bounds)
    others = {each.term: name for name, each in SEARCHES.items() if each.term != search.term}
    wrong = next((term for term in text.split() if term in others), None)
    if wrong is not None:
        msg = f"{wrong!r} contradicts type={kind!r}. Leave it out, or use type={others[wrong]!r}."
        raise QueryError(msg)
    if search.term not in text.split():  # another term with is:, such as is:open, selects less
        text = f"{text} {search.term}".strip()
    own = search.fields if fields is None else remove_braces(fields)
    selection = f"id createdAt updatedAt {own}\n"  # it may end in a comment
    document = (
        f"query ($query: String!) {{ search(query: $query, type: {search.search_type}) "
        f"{{ nodes {{ ... on {search.name} {{ {selection} }} }} }} }}"
    )
    escaped = text.replace("{", "{{").replace("}", "}}")
    slice_ = Slice(
        column=f"{column}At",
        low="query",
        template=f"{escaped} {column}:{{low}}..{{high}} sort:{search.sort[column]}-asc".strip(),
        cap=MAX_SEARCH_RESULTS,
        least=low or FOUNDED,
        most=high,
        step=SECOND,
        fixed=column == "created",
    )
    return NodeQuery(document, slice_, search.search_type, fields is not None)


@contextmanager
def _explain_errors(query: NodeQuery, client: Client) -> Iterator[None]:
    """Say that the endpoint is not GitHub-shaped, where the caller's fields are not the reason."""
    try:
        yield
    except QueryError as error:
        if query.has_fields:
            raise
        raise explain_query_error(error, client.source) from None


@explain_keywords
def harvest_nodes(
    query: str,
    *,
    type: NodeType,  # noqa: A002 - as the argument of `search` is called
    client: Any = DEMO,
    out: str | os.PathLike[str] | None = None,
    progress: bool | str | ProgressCallback = "auto",
    resume: bool = True,
    refresh: bool = False,
    fields: str | None = None,
    slice: TimeColumn = "created",  # noqa: A002 - as of Client.harvest
    page_size: int | None = None,
    part: int = ROWS_PER_PART,
    clients: Sequence[Any] | None = None,
    tokens: Sequence[Any] | None = None,
) -> RangeHarvest:
    """Fetch every issue, pull request, discussion or user of a search, past its 1,000 results.

    Parameters
    ----------
    query
        The search expression, such as ``"repo:python/cpython label:bug"``.
    type
        ``"ISSUE"``, ``"PULL_REQUEST"``, ``"DISCUSSION"``, ``"USER"`` or ``"ORGANIZATION"``.
    client, out, progress, resume, part, clients, tokens
        As for :func:`harvest`.
    refresh
        Whether to update a finished harvest in `out`: by ``created`` with new nodes, by
        ``updated`` also with changed ones. Deleted ones are found by the counts, and ranges that
        were not complete are read again.
    fields
        The fields of each node, as GraphQL, such as ``"title comments { totalCount }"``; ``id``,
        ``createdAt`` and ``updatedAt`` are added.
    slice
        ``"created"`` or ``"updated"``: the time by which the search is divided, as by
        :meth:`gqlnb.Client.harvest`.
    page_size
        Rows per page.

    Returns
    -------
    RangeHarvest
        With ``coverage``, ``frame()`` and ``complete``.

    Raises
    ------
    GqlnbError
        As for :func:`harvest`.

    Warns
    -----
    UserWarning
        As for :func:`harvest`.

    Examples
    --------
    >>> found = harvest_nodes("repo:owner/name", type="ISSUE")  # doctest: +SKIP
    >>> found.complete, len(found)  # doctest: +SKIP
    (True, 41234)
    """
    search = build_node_search(query, type, fields, slice)
    with ExitStack() as stack:
        opened = open_clients(stack, client, clients, tokens)

        def find_accounts() -> AccountPool[Pager]:
            whole = ValueRange(search.slice.least, search.slice.most)
            text = bind_range(search.slice, {}, whole)["query"]
            pool = group_clients(opened, text, search.search_type)
            return pool.convert(lambda portable: portable.client._pager)

        with _explain_errors(search, opened[0]):
            nodes = harvest_list(
                ListQuery(search.text, None, search.slice, page_size=page_size),
                opened[0]._pager,
                source=opened[0].source,
                out=out,
                progress=progress,
                resume=resume,
                refresh=refresh,
                part=part,
                find_accounts=find_accounts if len(opened) > 1 else None,
            )
    for warning in nodes._list_warnings():
        warn_caller(warning)
    return nodes


@explain_keywords
def estimate_nodes(
    query: str,
    *,
    type: NodeType,  # noqa: A002 - as the argument of `search` is called
    client: Any = DEMO,
    slice: TimeColumn = "created",  # noqa: A002 - as of Client.harvest
) -> RangeEstimate:
    """Count the rows of :func:`harvest_nodes`, and estimate its cost.

    Parameters
    ----------
    query, type, client, slice
        As for :func:`harvest_nodes`.

    Returns
    -------
    RangeEstimate
        The number of rows and of ranges.

    Raises
    ------
    GqlnbError
        As for :func:`harvest_nodes`.

    Examples
    --------
    >>> estimate_nodes("repo:owner/name", type="ISSUE", client="github")  # doctest: +SKIP
    41,234 rows from https://api.github.com/graphql, in 42 ranges or more
    """
    search = build_node_search(query, type, None, slice)
    with open_client(client) as opened, _explain_errors(search, opened):
        ranges = ListQuery(search.text, None, search.slice)
        counted = estimate_list(ranges, opened._pager, opened.source)
    for warning in counted._list_warnings():
        warn_caller(warning)
    return counted
