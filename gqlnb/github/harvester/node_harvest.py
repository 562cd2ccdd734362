"""Harvests of issues, pull requests, discussions and users, in ranges of their times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, get_args

from gqlnb.client.range_harvest.slices import Slice, ValueRange, bind_range
from gqlnb.errors import OptionError, QueryError, sanitize_text
from gqlnb.github.harvester.identities import group_clients
from gqlnb.github.harvester.own_fields import remove_braces
from gqlnb.github.harvester.requests import explain_query_error
from gqlnb.github.search_syntax import MAX_SEARCH_RESULTS, RangeTest, parse_qualifier

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gqlnb.client.client import Client
    from gqlnb.client.paging.pager import Pager
    from gqlnb.client.range_harvest.harvest_result import RangeEstimate, RangeHarvest

__all__ = ["NodeOptions", "NodeType", "harvest_nodes"]

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


class NodeOptions(TypedDict, total=False):
    """Keyword arguments of :func:`harvest` for nodes that are not found by their stars.

    Attributes
    ----------
    fields
        The fields of each node, as GraphQL, such as ``"title comments { totalCount }"``; ``id``,
        ``createdAt`` and ``updatedAt`` are added.
    slice
        ``"created"`` or ``"updated"``: the time by which the search is divided.
    page_size, part
        Rows per page, and per Parquet part.
    clients, tokens
        Several clients instead of `client`, or tokens for it, as for repositories: each account
        reads one range at a time, and the others take over for one that is limited or refused.
    refresh
        Whether to update a finished harvest in `out`: by ``created`` with new nodes, by
        ``updated`` also with changed ones. Deleted ones are found by the counts.
    """

    fields: str | None
    slice: TimeColumn
    page_size: int | None
    part: int
    clients: Sequence[Any]
    tokens: Sequence[Any]
    refresh: bool


KNOWN = frozenset(NodeOptions.__annotations__)


def build_node_search(
    query: object, kind: str, fields: str | None, column: str
) -> tuple[str, Slice]:
    """Return the query document of a harvest of nodes, and its slice.

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

    Raises
    ------
    QueryError
        If the query or the fields are not text, or the query has a sort order.
    OptionError
        If nodes of this type cannot be harvested, or not by that time.
    """
    if kind not in SEARCHES:
        types = ", ".join(map(repr, ("REPOSITORY", *get_args(NodeType))))
        msg = f"type= is one of {types}, not {sanitize_text(repr(kind), 40)}."
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
    text, low, high = _split_ranges(query, column)
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
    return document, slice_


def _split_ranges(query: str, column: str) -> tuple[str, datetime | None, datetime | None]:
    """Return a query without its terms of one time, and the intersection of their ranges."""
    words: list[str] = []
    lows, highs = list[int](), list[int]()
    for term in query.split():
        name, colon, value = term.partition(":")
        if colon and name.lower() == "sort":
            msg = (
                f"A harvest returns all nodes, so {sanitize_text(term, 80)!r} has no place in its "
                "query. Leave it out, and sort the frame."
            )
            raise QueryError(msg)
        if not colon or name.lower() != column:
            words.append(term)
            continue
        test = parse_qualifier("created", value, term)  # all times are written alike
        if isinstance(test, RangeTest):
            lows += [test.low] if test.low is not None else []
            highs += [test.high] if test.high is not None else []
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low > high:
        msg = f"The times of {sanitize_text(query, 80)!r} have none in common."
        raise QueryError(msg)
    ends = [None if end is None else datetime.fromtimestamp(end, UTC) for end in (low, high)]
    return " ".join(words), ends[0], ends[1]


def harvest_nodes(
    query: object,
    clients: Sequence[Client],
    kind: str,
    out: str | os.PathLike[str] | None,
    options: Mapping[str, Any],
) -> RangeHarvest | RangeEstimate:
    """Return a harvest of nodes.

    Parameters
    ----------
    query, kind
        As for :func:`build_node_search`.
    clients
        The clients.
    out
        The folder; None for memory.
    options
        Further keyword arguments of :func:`gqlnb.github.harvest`.

    Raises
    ------
    OptionError
        If an option is only one of harvests of repositories.
    GqlnbError
        As for :func:`gqlnb.github.harvest`.
    """
    options = {name: value for name, value in options.items() if value is not None}
    fields, column = options.pop("fields", None), options.pop("slice", "created")
    unknown = [name for name in options if name not in {*KNOWN, "dry_run", "progress", "resume"}]
    if unknown:
        msg = (
            f"{unknown[0]}= is an option of harvests of repositories. One of type {kind} takes "
            f"{', '.join(f'{name}=' for name in NodeOptions.__annotations__)}."
        )
        raise OptionError(msg)
    text, slice_ = build_node_search(query, kind, fields, column)

    def find_accounts() -> tuple[dict[str, list[Pager]], list[str], str]:
        whole = bind_range(slice_, {}, ValueRange(slice_.least, slice_.most))
        found = group_clients(clients, whole["query"], SEARCHES[kind].search_type)
        pagers = {it.name: [each.client._pager for each in it.clients] for it in found.identities}
        return pagers, found.notes, found.doubt

    client = clients[0]
    if len(clients) > 1:
        options["find_accounts"] = find_accounts
    try:
        found = client._harvest(text, slice=slice_, out=out, **options)
    except QueryError as error:
        if fields is not None:  # an error in them does not mean that the endpoint is not GitHub
            raise
        raise explain_query_error(error, client.source) from None
    return found
