"""Star searches: the repositories above a number of stars, as a DataFrame."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex

from gqlnb.client.client import Client
from gqlnb.errors import AnswerError, GqlnbError, QueryError, sanitize_text
from gqlnb.github.builtin_connections import DEMO, open_client
from gqlnb.github.harvester.harvests import harvest_frame
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.github.star_query import StarQuery, parse_star_query
from gqlnb.result.result import Result

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FALLBACK_STARS_QUERY", "STARS_QUERY", "collect_stars", "find_sent_query", "stars"]

STARS_QUERY = """
query Stars($query: String!, $first: Int!, $after: String) {
  search(query: $query, type: REPOSITORY, first: $first, after: $after) {
    repositoryCount
    pageInfo { hasNextPage endCursor }
    edges {
      node {
        ... on Repository {
          name
          owner { login }
          stargazers { totalCount }
        }
      }
    }
  }
}
""".strip()
"""The query that is sent, with ``stars:>N`` as its variable `query`."""

FALLBACK_STARS_QUERY = STARS_QUERY.replace("stargazers { totalCount }", "stargazerCount")
"""The same for an endpoint that refuses ``stargazers``, as GitHub does since mid-2026."""

UNLIMITED_ROWS = 10**15  # rows that nobody limited
STAR_ORDERS = ("", "stars", "stars-asc")  # orders in which all can be had, past one search
STARGAZERS_REFUSED = (
    "The endpoint refuses 'stargazers' for repositories one does not administer, so "
    "'stargazerCount' was asked instead: it is the same number."
)
_EXACT_THRESHOLD = re.compile(r"stars:(?P<number>\d+)(?= |$)", re.ASCII)
# What graphql-js, graphql-core and GitHub say of a field, type or argument that a schema lacks.
_SCHEMA_MISMATCH = re.compile(
    r"Cannot query field|Unknown (?:type|argument)|doesn't (?:exist on|accept)|isn't a defined"
)

OnPage = Callable[[int, int, int], object]


def stars(
    query: SupportsIndex | str, *, limit: SupportsIndex | None = 100, client: Any = DEMO
) -> pd.DataFrame:
    """Return the repositories above a number of stars as a DataFrame.

    Parameters
    ----------
    query
        The star threshold: 1000 or ``">1000"``, ``">=1000"``, ``"1000..2000"``, ``"1000"``; in a
        text also other terms of GitHub's search, ``">1000 language:python created:>2024"``. See
        :func:`gqlnb.github.star_query.parse_star_query`.
    limit
        Most rows to return, fetched in pages of at most 100; None for all there are. One search
        gives 1,000 at most: more are fetched by as many searches as it takes, see
        :func:`gqlnb.github.harvest`.
    client
        What to ask: the name of a connection (``"demo"``, the stand-in in this process with its
        embedded snapshot, or ``"github"``), a client, or whatever a client can be made for.

    Returns
    -------
    DataFrame
        Columns ``name`` and ``owner`` (string) and ``stargazers`` (Int64), also when empty; one
        row per repository, in the order of the answer; of several searches, most stars first.
        ``attrs`` holds ``total_count`` (how many match), ``source`` (where the data are from),
        ``query`` and ``build_notes`` (what was warned of); of several searches ``coverage`` too, which
        tells how many there should be and are, and of each range that could not be completed.

    Raises
    ------
    QueryError
        If the search or the limit cannot be read; the message says which part, and what would do.
    GqlnbError
        If a page fails; the rows of the pages before it are in its ``.result``.

    Warns
    -----
    UserWarning
        If an order by something else than stars leaves out what one search does not give, if
        fewer repositories came than were to be expected, or some as null, if a number without a
        sign found nothing, or if the endpoint refused ``stargazers``, so that ``stargazerCount``
        was asked instead.

    Examples
    --------
    >>> stars(">400000").head(2)
                   name            owner  stargazers
    0  build-your-own-x  codecrafters-io      541915
    1           awesome     sindresorhus      498692
    """
    found = collect_stars(query, limit=limit, client=client)
    for note in found.attrs["notes"]:
        warnings.warn(note, stacklevel=2)
    return found


def collect_stars(
    query: SupportsIndex | str | StarQuery,
    *,
    limit: SupportsIndex | None = 100,
    client: Any = DEMO,
    on_page: OnPage | None = None,
) -> pd.DataFrame:
    """Do as :func:`stars`, telling of each page as it comes, and warning of nothing.

    Parameters
    ----------
    query, limit, client
        As for :func:`stars`.
    on_page
        Called after each page as ``on_page(got, wanted, total)``: rows so far, rows there will be,
        repositories that match. If it returns False the search stops and the rows are kept.

    Returns
    -------
    DataFrame
        As :func:`stars`; what that would warn of stands in ``attrs["build_notes"]``.
    """
    wanted, most = parse_star_query(query), _parse_limit(limit)
    if (most is None or most > MAX_SEARCH_RESULTS) and wanted.order in STAR_ORDERS:
        return _harvest_stars(wanted, most, client, on_page)
    with open_client(client) as asked:
        walk = StarSearchRun(asked, wanted.expression, UNLIMITED_ROWS if most is None else most)
        try:
            walk.fetch_pages(on_page)
        except GqlnbError as error:
            if walk.rows:
                error.result = Result(data={"repositories": walk.to_dicts()}, source=walk.source)
            raise
    return walk.to_frame()


def _harvest_stars(
    wanted: StarQuery, most: int | None, client: Any, on_page: OnPage | None
) -> pd.DataFrame:
    """Return more repositories than one search gives: all, or so many."""
    made = harvest_frame(
        replace(wanted, order="").expression,
        client=client,
        on_progress=on_page,
        most=most,
        rising=wanted.order == "stars-asc",
    )
    found = made[["name", "owner", "stargazers"]]
    exact = "" if len(found) else _explain_exact_threshold(wanted.expression)
    notes = [*made.attrs["notes"], *filter(None, (exact,))]
    found.attrs = {**made.attrs, "query": wanted.expression, "notes": notes}
    return found


def find_sent_query(frame: pd.DataFrame) -> str:
    """Return the text that was sent for a result: :data:`STARS_QUERY` or :data:`FALLBACK_STARS_QUERY`."""
    return FALLBACK_STARS_QUERY if STARGAZERS_REFUSED in frame.attrs["notes"] else STARS_QUERY


class StarSearchRun:
    """One search on its way from page to page.

    Parameters
    ----------
    client
        What to ask.
    expression
        The search expression.
    limit
        Most rows to get.

    Attributes
    ----------
    rows
        Name, owner and stars (None if unknown) by owner and name in lower case, in order.
    total
        How many repositories match.
    source
        Where the answers are from.
    """

    def __init__(self, client: Client, expression: str, limit: int) -> None:
        self.rows: dict[str, tuple[str, str, int | None]] = {}
        self.total = 0
        self.source: str | None = None
        self._client = client
        self._expression = expression
        self._limit = limit
        self._query_text = STARS_QUERY
        self._null_count = 0
        self._duplicate_count = 0
        self._error_messages: list[str] = []
        self._is_stopped = False

    def fetch_pages(self, on_page: OnPage | None = None) -> None:
        """Fetch pages until there are enough rows, no more pages, or `on_page` returns False."""
        for _ in self._iter_pages():
            if on_page is not None:
                wanted = max(len(self.rows), min(self._limit, MAX_SEARCH_RESULTS, self.total))
                self._is_stopped = on_page(len(self.rows), wanted, self.total) is False
            if self._is_stopped or len(self.rows) >= self._limit:
                return

    def _iter_pages(self) -> Iterator[None]:
        """Fetch page after page, as long as each is new and not empty."""
        cursor: str | None = None
        seen: set[str] = set()
        entries = 0  # rows, duplicates and nulls: their number ends an endpoint that never does
        while entries < max(self._limit, MAX_SEARCH_RESULTS):
            search = self._fetch_page(min(MAX_PAGE_SIZE, self._limit - len(self.rows)), cursor)
            edges = search.get("edges") or []
            entries += len(edges)
            self._add_edges(edges)
            yield
            info = search.get("pageInfo") or {}
            cursor = info.get("endCursor")
            if not edges or not info.get("hasNextPage") or cursor is None or cursor in seen:
                return
            seen.add(cursor)

    def _fetch_page(self, first: int, after: str | None) -> Mapping[str, Any]:
        """Return the connection ``search`` of one page.

        Raises
        ------
        GqlnbError
            If there is none.
        """
        variables = {"query": self._expression, "first": first, "after": after}
        result = self._execute_query(variables)
        if self._query_text is STARS_QUERY and any(map(_is_stargazers_refusal, result.errors)):
            self._query_text = FALLBACK_STARS_QUERY
            return self._fetch_page(first, after)
        self.source = result.source
        search = result.data.get("search") if isinstance(result.data, Mapping) else None
        if not isinstance(search, Mapping):
            result.raise_for_errors()
            msg = "The answer holds no 'search', so the endpoint is not GitHub-shaped."
            raise AnswerError(msg)
        self._error_messages.extend(
            sanitize_text(error.get("message", ""), 200) for error in result.errors
        )
        self.total = search.get("repositoryCount") or 0
        return search

    def _execute_query(self, variables: Mapping[str, Any]) -> Result:
        try:
            return self._client.execute(self._query_text, variables)
        except QueryError as error:
            said = [p.message for p in error.problems if _SCHEMA_MISMATCH.search(p.message)]
            if not said:
                raise
        said.sort(key=lambda message: "'search'" not in message)  # what tells most comes first
        msg = f"The schema of {self._client.source} is not GitHub-shaped: {sanitize_text(said[0], 200)}"
        raise QueryError(msg)

    def _add_edges(self, edges: list[Any]) -> None:
        for edge in edges:
            row = _parse_row((edge or {}).get("node") or {})
            if row is None:
                self._null_count += 1
                continue
            key = f"{row[1]}/{row[0]}".lower()
            self._duplicate_count += key in self.rows
            if len(self.rows) < self._limit:
                self.rows.setdefault(key, row)

    def build_notes(self) -> list[str]:
        """Return what a person should know about the rows, a sentence each."""
        notes = []
        if self._query_text is FALLBACK_STARS_QUERY:
            notes.append(STARGAZERS_REFUSED)
        if self._null_count or self._error_messages:
            said = f": {self._error_messages[0]}" if self._error_messages else "."
            notes.append(
                f"{self._null_count:,} of the repositories came as null and are left out{said}"
            )
        exact = "" if self.total or self.rows else _explain_exact_threshold(self._expression)
        notes.extend(filter(None, (self._describe_missing_rows(), exact)))
        if (
            self.total > MAX_SEARCH_RESULTS
            and self._limit > MAX_SEARCH_RESULTS
            and not self._is_stopped
        ):
            notes.append(
                f"{self.total:,} repositories match and one search gives {MAX_SEARCH_RESULTS:,} at most: "
                f"{self.total - len(self.rows):,} more are left out. Without that order, "
                f"{'all' if self._limit == UNLIMITED_ROWS else 'more'} come."
            )
        return notes

    def _describe_missing_rows(self) -> str | None:
        """Say that the pages ended before they held what the count had promised."""
        expected = min(self._limit, MAX_SEARCH_RESULTS, self.total)
        got = len(self.rows)
        if self._is_stopped or got + self._null_count >= expected:
            return None
        twice = f" ({self._duplicate_count:,} came twice)" if self._duplicate_count else ""
        return (
            f"Expected {expected:,} repositories, got {got:,}{twice}: pages of a wide search can "
            "leave some out. Ask again, or search narrower ranges and put them together."
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows so far as mappings."""
        return [
            {"name": name, "owner": owner, "stargazers": count}
            for name, owner, count in self.rows.values()
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows so far as a DataFrame."""
        import pandas as pd

        names, owners, counts = zip(*self.rows.values(), strict=True) if self.rows else ((),) * 3
        made = pd.DataFrame(
            {
                "name": pd.array(names, dtype="string"),
                "owner": pd.array(owners, dtype="string"),
                "stargazers": pd.array(counts, dtype="Int64"),
            }
        )
        made.attrs.update(
            total_count=self.total,
            source=self.source,
            query=self._expression,
            notes=self.build_notes(),
        )
        return made


def _explain_exact_threshold(expression: str) -> str:
    """Say what a number without a sign means, which found nothing; else nothing."""
    match = _EXACT_THRESHOLD.match(expression)
    if match is None:
        return ""
    count = match["number"]
    return f"'{count}' means exactly {int(count):,} stars; write '>{count}' for above."


def _parse_row(node: Mapping[str, Any]) -> tuple[str, str, int | None] | None:
    """Return name, owner and stars of a node, or None if it is no repository."""
    name, owner = node.get("name"), (node.get("owner") or {}).get("login")
    if name is None or owner is None:
        return None
    return name, owner, (node.get("stargazers") or {}).get("totalCount", node.get("stargazerCount"))


def _is_stargazers_refusal(error: Mapping[str, Any]) -> bool:
    """Tell GitHub's refusal of the stargazers of one repository from other errors."""
    kind = error.get("type") or (error.get("extensions") or {}).get("type")
    return kind == "FORBIDDEN" and "stargazers" in (error.get("path") or ())


def _parse_limit(limit: Any) -> int | None:
    """Return the limit as a number of rows, None for no limit.

    Raises
    ------
    QueryError
        If it is neither None nor a whole number above 0.
    """
    if limit is None:
        return None
    try:
        count = 0 if isinstance(limit, bool) else operator.index(limit)
    except TypeError:
        count = 0
    if count < 1:
        msg = (
            f"Limit {sanitize_text(repr(limit), 80)} is no number of rows. Give a whole number from 1 up, "
            "or None for all."
        )
        raise QueryError(msg)
    return count
