"""Star searches: the repositories above a number of stars, as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex

from gqlnb.client.client import Client
from gqlnb.client.paging.page_size import has_size_error, is_overload
from gqlnb.client.progress import Progress
from gqlnb.errors import AuthError, GqlnbError, QueryError, format_count, sanitize_text
from gqlnb.github.builtin_connections import DEMO, open_client
from gqlnb.github.harvester.harvests import narrow_scope, run_harvest
from gqlnb.github.harvester.requests import (
    MIN_PAGE_SIZE,
    check_page_errors,
    explain_query_error,
    make_null_error,
    raise_partial_error,
)
from gqlnb.github.harvester.scope import Scope
from gqlnb.github.harvester.storage import RepositoryStore
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS, list_search_notes
from gqlnb.github.star_query import StarQuery, parse_star_query
from gqlnb.http.error_responses import is_transient_error
from gqlnb.http.response_parser import find_refusal
from gqlnb.interactive import warn_caller
from gqlnb.option_checks import explain_keywords, read_whole_number
from gqlnb.redact import strip_traceback
from gqlnb.result.answer_notes import describe_missing, read_missing_fields
from gqlnb.result.list_verdicts import Verdict
from gqlnb.result.renderer import mark_rows, register_frame_display
from gqlnb.result.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from gqlnb.http.rate_limit_rules import Budget

#: The query of star searches; its variable `query` is ``stars:>N`` and further terms.
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

#: The query for endpoints that refuse ``stargazers``, as GitHub does since mid-2026.
FALLBACK_STARS_QUERY = STARS_QUERY.replace("stargazers { totalCount }", "stargazerCount")

UNLIMITED_ROWS = 10**15
MAX_REPEATS = 2  # of a page that is cut short, or has rows that are null for a temporary failure
MIN_REST = 20  # rows of a page, once rows were missing: else each takes a request of its own
# In these orders a harvest can go past the cap of one search.
STAR_ORDERS = ("", "stars", "stars-asc")
STARGAZERS_REFUSED = (
    "The endpoint refuses 'stargazers' for repositories one does not administer, so "
    "'stargazerCount' was requested instead; it is the same number."
)
COUNTED = "`repositoryCount` counts as many rows"
ALL_HINT = "limit=None fetches all"
OnPage = Callable[[int, int, int], object]


@explain_keywords
def stars(
    query: SupportsIndex | str, *, limit: SupportsIndex | None = 100, client: object = DEMO
) -> pd.DataFrame:
    """Return the repositories above a number of stars as a DataFrame.

    Parameters
    ----------
    query
        The star threshold: 1000 or ``">1000"``, ``">=1000"``, ``"<1000"``, ``"<=1000"``,
        ``"1000..2000"``, ``"1000..*"``, ``"*..1000"``, ``"1000"``; in a text also other terms of
        GitHub's search, ``">1000 language:python created:>2024"``. Without ``sort:`` the order is
        ``sort:stars-desc``.
    limit
        Most rows to return, fetched in pages of at most 100; None for all. One search returns at
        most 1,000; beyond that, several searches are sent, see :func:`gqlnb.github.harvest`.
    client
        The name of a connection (``"demo"``, the stand-in in this process with its embedded
        snapshot, or ``"github"``), a client, or any target of a client.

    Returns
    -------
    DataFrame
        Columns ``name`` and ``owner`` (string) and ``stargazers`` (Int64), also when empty; one
        row per repository, in the order of the answer; of several searches, most stars first.
        ``attrs`` holds ``total_count`` (the number of matches), ``source`` (of the data),
        ``query``, ``order`` (the value of ``sort:``), ``notes`` (the warnings), ``partial`` and
        ``completeness`` (whether matches are missing, and the evidence); of several searches also
        ``coverage``, with the expected and actual numbers, and the ranges that could not be
        completed.

    Raises
    ------
    QueryError
        If the search or the limit is not valid.
    GqlnbError
        If a page fails; the rows of the pages before it are in its ``.result``.

    Warns
    -----
    UserWarning
        If one search in an order other than stars cannot return all rows, if fewer repositories
        were received than expected, or some are null, if a number without a sign found nothing, or
        if the endpoint refused ``stargazers``, so that ``stargazerCount`` was requested instead.

    Examples
    --------
    >>> stars(">400000").head(2)
                   name            owner  stargazers
    0  build-your-own-x  codecrafters-io      541915
    1           awesome     sindresorhus      498692
    """
    register_frame_display()
    frame = collect_stars(query, limit=limit, client=client)
    for note in frame.attrs["notes"]:
        warn_caller(note)
    return frame


def collect_stars(
    query: SupportsIndex | str,
    *,
    limit: SupportsIndex | None = 100,
    client: object = DEMO,
    on_page: OnPage | None = None,
) -> pd.DataFrame:
    """Search as :func:`stars` does, with a callback for each page and without warnings.

    Parameters
    ----------
    query, limit, client
        As for :func:`stars`.
    on_page
        Called after each page as ``on_page(rows, expected, total)``: the rows so far, the rows
        expected, the repositories that match. If it returns False, the search stops and the rows
        are kept.

    Returns
    -------
    DataFrame
        As of :func:`stars`, whose warnings are in ``attrs["notes"]``.

    Raises
    ------
    QueryError
        If the search or the limit is not valid.
    GqlnbError
        If a page fails; the rows of the pages before it are in its ``.result``.
    """
    star_query, count = parse_star_query(query), _parse_limit(limit)
    if (count is None or count > MAX_SEARCH_RESULTS) and star_query.order in STAR_ORDERS:
        return _harvest_stars(star_query, count, client, on_page)
    with open_client(client) as opened:
        search = StarPages(opened, star_query, count or UNLIMITED_ROWS)
        try:
            with Progress("auto" if on_page is None else False, "Stars") as bar:

                def report(rows: int, expected: int, total: int) -> object:
                    search.pages += 1
                    bar(rows, expected, search.pages, opened.budget)
                    return on_page(rows, expected, total) if on_page else None

                search.fetch_pages(report)
        except GqlnbError as error:
            if search.rows:
                error.result = Result({"repositories": search.to_dicts()}, source=search.source)
            raise
    return search.to_frame()


def _harvest_stars(
    query: StarQuery, count: int | None, client: object, on_page: OnPage | None
) -> pd.DataFrame:
    """Return more repositories than one search returns."""
    rising, total = query.order == "stars-asc", None
    scope = Scope.parse(replace(query, order="").expression)
    with open_client(client) as opened:
        if count is not None:
            scope, total = narrow_scope(opened, scope, count, rising=rising)

        def watch(got: int, expected: int | None, requests: int, budget: Budget | None) -> object:
            matching = max(got, expected or 0) if total is None else total
            wanted = matching if count is None else min(count, matching)
            bar(min(got, wanted), wanted, requests, budget)
            return on_page(min(got, wanted), wanted, matching) if on_page else None

        with Progress("auto" if on_page is None else False, "Harvest") as bar:
            found = run_harvest(scope, [opened], RepositoryStore(), None, 1, watch).frame()
    frame = found[["name", "owner", "stargazers"]].iloc[:: -1 if rising else 1]
    frame = frame.iloc[:count].reset_index(drop=True)
    frame.attrs = {**found.attrs, "query": query.expression, "order": find_order(query)}
    frame.attrs |= {} if total is None else {"total_count": total}
    if len(frame) == count:
        frame.attrs |= judge_rows(len(frame), frame.attrs["total_count"], count)
    return frame


def judge_rows(rows: int, total: int, limit: int) -> dict[Any, object]:
    """Return the ``attrs`` of a frame of `rows` repositories, of the `total` that match."""
    if rows >= total:
        return {"partial": False, **mark_rows(rows, Verdict("complete", COUNTED))}
    hint = ALL_HINT if rows == limit else ""
    return mark_rows(rows, Verdict("more", f"`repositoryCount` counts {total:,}", total, hint))


def find_order(query: StarQuery) -> str:
    """Return the value of ``sort:`` that is sent, by default ``stars-desc``."""
    order = query.order or "stars"
    return order if order.endswith("-asc") else f"{order}-desc"


def find_sent_query(frame: pd.DataFrame) -> str:
    """Return the text sent for a result: ``STARS_QUERY`` or ``FALLBACK_STARS_QUERY``."""
    return FALLBACK_STARS_QUERY if STARGAZERS_REFUSED in frame.attrs["notes"] else STARS_QUERY


# A loop of its own instead of `gqlnb.Client.pages`, which finds the lists of any document
# and follows all of them: for one page that takes three times the calls and the time.
class StarPages:
    """One search, fetched page by page.

    Parameters
    ----------
    client
        The client of the endpoint.
    query
        The search.
    limit
        Most rows to return.

    Attributes
    ----------
    rows
        Name, owner and stars (None if unknown) by lower-case owner and name, in order.
    total
        The number of repositories that match.
    pages
        The number of pages that were reported.
    source
        The source of the answers.
    """

    def __init__(self, client: Client, query: StarQuery, limit: int) -> None:
        self.rows: dict[str, tuple[str, str, int | None]] = {}
        self.total = 0
        self.pages = 0
        self.source: str | None = None
        self._client = client
        self._query = query
        # GitHub's own order is "best match", which can change between pages.
        self._expression = replace(query, order=find_order(query)).expression
        self._limit = limit
        self._text = STARS_QUERY
        self._page_size = MAX_PAGE_SIZE
        self._nulls = 0
        self._duplicates = 0
        self._messages: list[str] = []
        self._missing: dict[str, str] = {}  # fields without data, by place
        self._is_stopped = False
        self._repeats = 0
        self._short_pages = 0

    def fetch_pages(self, on_page: OnPage | None = None) -> None:
        """Fetch pages until there are enough rows, no more pages, or `on_page` returns False."""
        cursor: str | None = None
        seen: set[str] = set()
        entries = 0  # with duplicates and nulls: they end an endpoint whose pages never end
        while entries < max(self._limit, MAX_SEARCH_RESULTS):
            search = self._fetch_page(cursor)
            # A failing index counts 0: the other pages have shown that there are more.
            self.total = max(self.total, search.get("repositoryCount") or 0)
            edges = search.get("edges") or []
            entries += len(edges)
            self._add_edges(edges)
            if on_page is not None:
                expected = max(len(self.rows), min(self._limit, MAX_SEARCH_RESULTS, self.total))
                self._is_stopped = on_page(len(self.rows), expected, self.total) is False
            # A page without entries ends the search even if it names a next one.
            if self._is_stopped or len(self.rows) >= self._limit or not edges:
                return
            info = search.get("pageInfo") or {}
            cursor = info.get("endCursor")
            if not info.get("hasNextPage") or cursor is None or cursor in seen:
                return
            seen.add(cursor)

    def _fetch_page(self, after: str | None) -> Mapping[str, Any]:
        """Return the field ``search`` of one page, which is halved as long as it is too large."""
        while True:
            rest = self._limit - len(self.rows)
            first = min(self._page_size, max(rest, MIN_REST) if self._nulls else rest)
            variables = {"query": self._expression, "first": first, "after": after}
            try:
                search = self._read_search(self._client.execute(self._text, variables), first)
            except GqlnbError as error:
                failure = error
                if isinstance(error, QueryError):
                    failure = explain_query_error(error, self._client.source)
                strip_traceback(failure)
            else:
                if search is not None:
                    return search
                continue  # without `stargazers`, or after a temporary failure
            errors = failure.result.errors if failure.result else ()
            smallest = MIN_PAGE_SIZE if is_overload(failure) else 1
            if first <= smallest or not (is_overload(failure) or has_size_error(errors)):
                raise failure
            self._page_size = first // 2

    def _read_search(self, result: Result, first: int) -> Mapping[str, Any] | None:
        """Return the field ``search`` of a page of `first` rows; None to request it again."""
        if self._text is STARS_QUERY and any(map(_is_stargazers_refusal, result.errors)):
            self._text = FALLBACK_STARS_QUERY
            return None
        self.source = result.source
        self._missing |= read_missing_fields(result.extensions)
        search = result.data.get("search") if isinstance(result.data, Mapping) else None
        has_failed = any(map(is_transient_error, result.errors))
        is_short = not result.errors and _is_cut_short(search, first)
        if (is_short or has_failed) and self._repeats < MAX_REPEATS:
            self._repeats += 1
            return None
        if has_size_error(result.errors) or not isinstance(search, Mapping):
            _raise_refusal(result)
            raise make_null_error(result, "search")
        about_page = check_page_errors(result.errors, result, rows=["search", "edges"])
        if about_page and not search.get("edges"):  # an empty page beside an error proves nothing
            _raise_refusal(result)
        self._short_pages += is_short
        if not (is_short or has_failed):  # else further pages are not repeated, either
            self._repeats = 0
        messages = (error.get("message", "") for error in result.errors)
        self._messages.extend(sanitize_text(text, 200) for text in messages)
        return search

    def _add_edges(self, edges: list[Any]) -> None:
        for edge in edges:
            node = (edge or {}).get("node") or {}
            name, owner = node.get("name"), (node.get("owner") or {}).get("login")
            if name is None or owner is None:
                self._nulls += 1
                continue
            stars = (node.get("stargazers") or {}).get("totalCount", node.get("stargazerCount"))
            # Results move between pages while they are fetched, so a repository can come twice.
            key = f"{owner}/{name}".lower()
            self._duplicates += key in self.rows
            if len(self.rows) < self._limit:
                self.rows.setdefault(key, (name, owner, stars))

    def build_notes(self) -> list[str]:
        """Return the warnings about the rows, a sentence each."""
        notes = [STARGAZERS_REFUSED] if self._text is FALLBACK_STARS_QUERY else []
        reason = f": {self._messages[0]}" if self._messages else "."
        if self._nulls:
            notes.append(f"{self._nulls:,} of the repositories were null and are left out{reason}")
        elif self._messages:
            notes.append(f"The endpoint reported an error{reason}")
        if self._short_pages and len(self.rows) < self.total:
            notes.append(
                f"{format_count(self._short_pages, 'page')} had fewer rows than requested although "
                "more followed, so repositories may be missing between those that came."
            )
        got, expected = len(self.rows), min(self._limit, MAX_SEARCH_RESULTS, self.total)
        if not self._is_stopped and got + self._nulls < expected:
            twice = f" ({self._duplicates:,} were returned twice)" if self._duplicates else ""
            notes.append(
                f"Expected {expected:,} repositories, got {got:,}{twice}: pages of a wide search "
                "can leave some out. Ask again, or search narrower ranges and put them together."
            )
        is_empty = not self.total and not self.rows
        notes.extend(list_search_notes(self._expression, is_empty=is_empty))
        if min(self.total, self._limit) > MAX_SEARCH_RESULTS and not self._is_stopped:
            more = "all" if self._limit == UNLIMITED_ROWS else "more"
            notes.append(
                f"{self.total:,} repositories match and one search gives {MAX_SEARCH_RESULTS:,} at "
                f"most: {self.total - got:,} more are left out. Without that order, {more} come."
            )
        if self._missing:
            notes.append(describe_missing(self._missing))
        return notes

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows so far as dicts."""
        return [
            {"name": name, "owner": owner, "stargazers": count}
            for name, owner, count in self.rows.values()
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows so far as a DataFrame."""
        import pandas as pd

        names, owners, counts = zip(*self.rows.values(), strict=True) if self.rows else ((),) * 3
        frame = pd.DataFrame(
            {
                "name": pd.array(names, dtype="string"),
                "owner": pd.array(owners, dtype="string"),
                "stargazers": pd.array(counts, dtype="Int64"),
            }
        )
        frame.attrs.update(
            judge_rows(len(frame), self.total, self._limit),
            total_count=self.total,
            source=self.source,
            query=self._query.expression,
            order=find_order(self._query),
            notes=self.build_notes(),
        )
        return frame


def _is_cut_short(search: object, first: int) -> bool:
    """Return whether a page lacks rows: it has fewer than `first`, and says that more follow."""
    if not isinstance(search, Mapping) or search.get("edges") is None:
        return True
    info = search.get("pageInfo") or {}
    return bool(info.get("hasNextPage")) and len(search["edges"]) < first


def _raise_refusal(result: Result) -> None:
    """Raise AuthError if an answer refuses the token, or PartialError for its other errors."""
    refusal = "" if has_size_error(result.errors) else find_refusal(result)
    if refusal:
        msg = f"{result.source}: {refusal}"
        raise AuthError(msg, result=result)
    raise_partial_error(result)


def _is_stargazers_refusal(error: Mapping[str, Any]) -> bool:
    kind = error.get("type") or (error.get("extensions") or {}).get("type")
    return kind == "FORBIDDEN" and "stargazers" in (error.get("path") or ())


def _parse_limit(limit: SupportsIndex | None) -> int | None:
    if limit is None:
        return None
    count = read_whole_number(limit)
    if count is None or count < 1:
        msg = (
            f"Limit {sanitize_text(repr(limit), 80)} is not a number of rows. "
            "Give a whole number above 0, or None for all."
        )
        raise QueryError(msg)
    return count
