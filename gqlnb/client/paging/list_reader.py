"""Reading one range of a list: all its pages, its count, and whether the endpoint cut it."""

from __future__ import annotations

import dataclasses
import json
import re
from concurrent.futures import Future
from contextlib import nullcontext
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any

from graphql import VariableNode

from gqlnb.background import open_thread_pool
from gqlnb.client.endpoint import PagingOptions
from gqlnb.client.progress import Progress
from gqlnb.document.paging_conventions import IDENTIFIERS
from gqlnb.document.selections import parse_selections
from gqlnb.document.syntax import find_nodes
from gqlnb.errors import (
    AnswerError,
    GqlnbError,
    OptionError,
    QueryError,
    format_count,
    sanitize_text,
)
from gqlnb.http.response_parser import find_refusal
from gqlnb.lists.accounts import Account, AccountPool
from gqlnb.lists.columns import (
    ValueRange,
    bind_range,
    find_kind,
    is_far_outside,
    match_value,
)
from gqlnb.lists.list_harvest import (
    ListHarvest,
    ListRequest,
    ListStore,
    RangeEstimate,
    RangeHarvest,
    WindowAnswer,
    find_most_rows,
)
from gqlnb.lists.store import ROWS_PER_PART, LogHeader
from gqlnb.option_checks import check_whole_number
from gqlnb.result.answer_notes import explain_absence, read_notes
from gqlnb.result.paging_report import COMPLETE
from gqlnb.result.renderer import format_error
from gqlnb.result.result import Result, read_list

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from gqlnb.client.paging.crawler import Crawler
    from gqlnb.client.paging.pager import Pager
    from gqlnb.client.progress import ProgressCallback, ShowProgress
    from gqlnb.document.document import Document
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.lists.columns import Slice
    from gqlnb.lists.window_harvest import TaskRequest
    from gqlnb.result.frames import FrameColumn
    from gqlnb.result.paging_report import Report

ATTEMPTS_TO_COUNT = 3  # where a field failed instead of a count
MAX_DAMAGED = 3  # unreadable answers while a list is read


@dataclasses.dataclass(frozen=True, slots=True)
class ListQuery:
    """The list to harvest.

    Attributes
    ----------
    text, variables, operation
        The query, as for :meth:`gqlnb.Client.execute`.
    slice
        The column that divides the list.
    path, page_size
        As for :meth:`gqlnb.Client.pages`.
    """

    text: str | Document
    variables: Mapping[str, Any] | None
    slice: Slice
    operation: str | None = None
    path: str | None = None
    page_size: int | None = None

    def describe(self) -> str:
        """Return a text that differs for harvests of other rows."""
        # What selects other rows is another harvest. It comes first, as messages cut long queries.
        slice_ = self.slice
        selected = {"least": slice_.least, "most": slice_.most, "id": slice_.id}
        selected |= {"operation": self.operation, "path": self.path}
        terms = [f"{name}={value}" for name, value in selected.items() if value is not None]
        text = self.text if isinstance(self.text, str) else self.text.text
        query = " ".join([*terms, text, repr(slice_)])
        if self.variables:  # of which the values may be secret
            given = json.dumps({**self.variables}, default=repr, sort_keys=True)
            query += f" variables {blake2b(given.encode(), digest_size=8).hexdigest()}"
        return query


class ListReader:
    """Reads ranges of one list with one client.

    Parameters
    ----------
    pager
        The pager of the client.
    query
        The list.
    """

    def __init__(self, pager: Pager, query: ListQuery) -> None:
        self._pager, self._query, self._slice, self._path = pager, query, query.slice, query.path
        self._longest_answer = 0  # rows of one answer to a list that has no further pages

    @property
    def budget(self) -> Budget:
        """The remaining budget of its client."""
        return self._pager.budget

    def _start_crawler(
        self, range_: ValueRange, slice_: Slice, *, page_size: int | None
    ) -> Crawler:
        """Return a crawler that reads the first page of a range."""
        query = self._query
        bound = bind_range(slice_, query.variables or {}, range_)
        objects = {end.partition(".")[0] for end in (slice_.low, slice_.high) if "." in end}
        missing = objects - bound.keys()
        if missing:  # an open range sets no member; the object may be required nevertheless
            required = self._pager.list_required_variables(query.text, query.operation)
            bound |= {name: {} for name in required if name in missing}
        crawler = self._pager.start_crawler(
            query.text,
            bound,
            query.operation,
            PagingOptions(path=query.path, page_size=page_size, max_requests=1),
            takes_unpaged=True,
            examines=False,
        )
        crawler.advises = False  # warnings are in the notes
        crawler.detects_changes = True
        crawler.longest_answer = self._longest_answer
        return crawler

    def _run_crawler(self, crawler: Crawler) -> Result:
        for left in reversed(range(MAX_DAMAGED + 1)):
            try:
                return self._pager.run_crawler(crawler, progress=False)
            except AnswerError as error:
                # Proxies replace answers, which says nothing about the next. Those that they cut
                # were repeated by the client.
                if error.broken or not left:
                    raise
        raise AssertionError  # the last attempt returns or raises

    def answer(self, request: ListRequest) -> object:
        """Return the answer to a request of a harvest.

        Raises
        ------
        GqlnbError
            If a request fails, or the endpoint ignores the filter.
        """
        if request.kind == "count":
            return self.count_rows(request.range_)[0]
        if request.kind == "example":
            return self.read_example(request.range_)
        return self.read_window(request)

    def count_rows(self, range_: ValueRange) -> tuple[int | None, Mapping[str, str]]:
        """Return the number of rows in a range, None if the endpoint does not say, and notes.

        Raises
        ------
        GqlnbError
            If the request fails.
        """
        for _ in range(ATTEMPTS_TO_COUNT):
            crawler = self._start_crawler(range_, self._slice, page_size=1)
            result = self._run_crawler(crawler)
            count = self._read_count(result)
            if count is not None or not result.errors:
                return count, read_notes(result.extensions)
        result.raise_for_errors()
        return None, {}

    def read_example(self, range_: ValueRange) -> Any:  # noqa: ANN401 - of any kind
        """Return a value of the column of the slice, from some row between two ends.

        Parameters
        ----------
        range_
            The ends, which are sent as they are; they may have another type.

        Returns
        -------
        object
            The value; None if the first page has none.

        Raises
        ------
        GqlnbError
            If the request fails.
        """
        as_given = dataclasses.replace(self._slice, closed="both")
        crawler = self._start_crawler(range_, as_given, page_size=self._query.page_size)
        answer = self._build_answer(self._read_first_page(crawler), has_positions=False)
        return next(iter(answer.values), None)

    def _read_first_page(self, crawler: Crawler) -> Result:
        """Return the first page of the list; raise QueryError unless the query has one list."""
        names = crawler.list_names
        # Without a schema no list is known: then the endpoint says why, such as a wrong token.
        result = self._run_crawler(crawler) if len(names) < 2 else None
        if result is None or len(names) != 1:
            shown = ", ".join(names) or "none"
            msg = (
                "A harvest takes a query with one list that has pages or takes variables; it has: "
                f"{shown}."
            )
            raise QueryError(msg)
        (name,) = names
        if self._path is None and isinstance((result.data or {}).get(name), list):
            self._path = name  # beside it may be another list, of which the one row is the count
        return result

    def read_window(self, request: ListRequest) -> WindowAnswer:
        """Return the rows of a range, or a first part of them if they exceed the cap.

        Raises
        ------
        GqlnbError
            If a request fails, or the endpoint ignores the filter.
        """
        _, range_, total, whole = request
        cap = self._slice.cap
        crawler = self._start_crawler(range_, self._slice, page_size=self._query.page_size)
        is_refused, result = False, self._read_first_page(crawler)
        count = self._read_count(result)
        answer = self._build_answer(result, has_positions=False)
        page_rows = answer.table.num_rows
        self._longest_answer = max(self._longest_answer, page_rows)
        is_over = cap is not None and count is not None and count > cap
        # Texts have no values in between, so that a division takes as many of them as possible.
        goes_on = whole or not is_over or answer.kind == "text"
        first = count if total is None else total
        # A list without a cap would never end if it grew by more rows than a page per request.
        most = cap if cap is not None or first is None else find_most_rows(first, cap)
        # A page whose size the query has may be larger than the cap.
        if crawler.is_open and goes_on and (most is None or page_rows < most):
            crawler.limits = dataclasses.replace(
                crawler.limits, max_requests=None, max_results=most
            )
            try:
                result = self._run_crawler(crawler)
            except QueryError as error:  # such as an offset beyond the cap
                if not isinstance(error.result, Result):
                    raise
                result, is_refused = error.result, True
            answer = self._build_answer(
                result,
                is_refused=is_refused,
                has_positions=crawler.has_positions,
                page_rows=page_rows,
            )
        self._check_filter(range_, answer, total)
        return answer

    def _read_count(self, result: Result) -> int | None:
        """Return the number of rows according to the endpoint, also from a field beside the list.

        Such a field selects one whole number, as ``items_aggregated { count { id } }`` of Directus
        or ``items_aggregate { aggregate { count } }`` of Hasura, with the same variables.
        """
        count = _get_report(result).expected
        if count is not None or result.document is None or not isinstance(result.data, dict):
            return count
        ends = {end.partition(".")[0] for end in (self._slice.low, self._slice.high)}
        if self._slice.template is not None:
            ends = {self._slice.low}
        for selection in parse_selections(result.document):
            nodes = (find_nodes(node, VariableNode) for node in selection.arguments.values())
            if ends <= {node.name.value for node in chain.from_iterable(nodes)}:
                count = _find_single_count(selection.key, result.data.get(selection.key))
                if count is not None:
                    return count
        return None

    def _build_answer(
        self,
        result: Result,
        *,
        is_refused: bool = False,
        has_positions: bool,
        page_rows: int | None = None,
    ) -> WindowAnswer:
        from gqlnb.result.frames import build_parquet_table, build_table

        if not _get_report(result).got and find_refusal(result):
            result.raise_for_errors()
        report, cap, name = _get_report(result), self._slice.cap, self._slice.column
        count = self._read_count(result)
        columns, nullable = read_list(result, self._path)
        if name not in columns:
            msg = (
                f"The rows have no column {sanitize_text(name, 80)!r}. Select the field that the "
                f"filter compares, or name one of: {', '.join(columns)}."
            )
            raise OptionError(msg)
        table = build_parquet_table(build_table(columns), {"source": result.source})
        values, id_ = columns[name].to_arrow(), self._find_id(columns)
        present = [value for value in values.to_pylist() if value is not None]
        kind = find_kind(values.type, name) if table.num_rows else ""
        if kind == "text" and isinstance(self._slice.step, int):
            kind, present = "int", [_read_number(value, name) for value in present]
        is_over = cap is not None and max(count or 0, report.got) > cap
        # Some endpoints count no more rows than they return.
        received = report.got + report.duplicates
        may_be_cut = count in {None, cap} and cap is not None and received >= cap
        is_less = (count or 0) > report.got
        is_cut = is_refused or is_over or may_be_cut or (report.ended != COMPLETE and is_less)
        failure = _find_failure(result, table, id_)
        doubt, is_paged = failure, report.requests > 1
        if not (doubt or report.complete):
            doubt = report.doubts[0] if report.doubts else f"It ended: {report.ended}"
        has_failed = bool(result.errors) or report.got > table.num_rows
        if not doubt and count not in {None, report.got}:  # a count beside the list
            doubt = f"{report.got:,} rows were received, and the endpoint counts {count:,}."
        return WindowAnswer(
            table=table,
            values=present,
            kind=kind,
            has_nulls=nullable.get(name, True),
            id=id_,
            count=count,
            requests=report.requests,
            is_cut=is_cut,
            page_rows=table.num_rows if page_rows is None else page_rows,
            has_changed=is_paged and bool(doubt) and not (has_failed or is_cut),
            may_skip=count is None and is_paged and has_positions,
            failure=failure,
            doubt=doubt,
            notes=read_notes(result.extensions),
            absence="" if table.num_rows else explain_absence(result.extensions),
        )

    def _find_id(self, columns: Mapping[str, FrameColumn]) -> str | None:
        """Return the column that identifies a row."""
        wanted = self._slice.id
        if wanted is not None and wanted not in columns:
            msg = f"The rows have no column {sanitize_text(wanted, 80)!r}, which id= names."
            raise OptionError(msg)
        return wanted or next((name for name in IDENTIFIERS if name in columns), None)

    def _check_filter(self, range_: ValueRange, answer: WindowAnswer, total: int | None) -> None:
        """Raise QueryError if the endpoint ignores the filter."""
        if not answer.values:
            return
        like = answer.values[0]
        low, high = (match_value(end, like) for end in range_)
        # A cut is above a value that was seen, so the rows from there on are fewer.
        is_cut = low is not None and range_.low != self._slice.least
        is_same = total is not None and total == answer.count != self._slice.cap
        is_ignored = is_cut and is_same and answer.kind == "text"
        # Rows slightly outside are left to the counts, and so are a few whose value has changed
        # since the endpoint's index was written.
        outside = [value for value in answer.values if is_far_outside(value, ValueRange(low, high))]
        changed = 0 if self._slice.fixed else max(2, len(answer.values) // 10)
        if answer.kind == "text" and any(_compares_numbers(v, range_) for v in answer.values):
            name = sanitize_text(self._slice.column, 80)
            msg = (
                f"The values of {name!r} are texts of digits, which the endpoint compares as "
                f"numbers. Say so with step=1, as in gqlnb.Slice(column={name!r}, step=1)."
            )
            raise QueryError(msg)
        if is_ignored or len(outside) > changed:
            name, shown = self._slice.column, sanitize_text([*outside, answer.values[0]][0], 40)
            msg = (
                f"The endpoint returned {name} = {shown} for the range {range_}, so it ignores the "
                f"filter or compares another field. Check {self._slice!r}."
            )
            raise QueryError(msg)


def _compares_numbers(value: str, range_: ValueRange) -> bool:
    """Return whether a text of digits is outside a range as a text, and inside as a number."""
    low, high = (None if end is None else str(end).strip() for end in range_)
    if not all(text.isdecimal() for text in (value, low or "0", high or "0")):
        return False
    is_outside = (low is not None and value < low) or (high is not None and value > high)
    number = int(value)
    is_below = low is not None and number < int(low)
    is_above = high is not None and number > int(high)
    return is_outside and not is_below and not is_above


def _find_single_count(name: str, value: object) -> int | None:
    """Return the only value of a field, if it is a whole number and a name on its path says so."""
    names = [name]
    while isinstance(value, list | dict) and len(value) == 1:
        if isinstance(value, dict):
            names += value
        (value,) = value.values() if isinstance(value, dict) else value
    is_count = type(value) is int and any("count" in each.lower() for each in names)
    return value if is_count else None  # type: ignore[return-value]


def _read_number(value: str, name: str) -> int:
    """Return the whole number in a text."""
    if re.fullmatch("-?[0-9]+", value) is None:
        msg = (
            f"step= is a whole number, but the column {sanitize_text(name, 80)!r} has the text "
            f"{sanitize_text(repr(value), 40)}. Leave step= out: texts are compared as texts."
        )
        raise OptionError(msg)
    return int(value)


def _get_report(result: Result) -> Report:
    assert result.report is not None  # noqa: S101 - for mypy
    return result.report


def _find_failure(result: Result, table: pa.Table, id_: str | None) -> str:
    """Return why rows that came may lack values, or stand for others, as a sentence; or empty."""
    report = _get_report(result)
    if result.errors:
        return f"A field failed: {format_error(result.errors[0])}"
    if report.got > table.num_rows:
        missing = format_count(report.got - table.num_rows, "row")
        return f"The endpoint returned null instead of {missing}."
    ids = None if id_ is None else table[id_]
    if ids is not None and not ids.null_count and (repeats := len(ids) - len(ids.unique())):
        twice = format_count(repeats, "row")
        return f"The endpoint returned {twice} twice in one page, perhaps instead of others."
    return ""


def harvest_list(
    query: ListQuery,
    pager: Pager,
    *,
    source: str,
    out: str | os.PathLike[str] | None = None,
    progress: ShowProgress = "auto",
    resume: bool = True,
    refresh: bool = False,
    part: int = ROWS_PER_PART,
    find_accounts: Callable[[], AccountPool[Pager]] | None = None,
) -> RangeHarvest:
    """Return the rows of a list, read range by range, without a warning.

    Parameters
    ----------
    query
        The list.
    pager
        The pager of the client.
    source
        Address of the endpoint.
    out, progress, resume, refresh, part
        As for :meth:`gqlnb.Client.harvest`.
    find_accounts
        Returns the accounts that share the ranges; None for the client alone.

    Raises
    ------
    GqlnbError
        As for :meth:`gqlnb.Client.harvest`.
    """
    part = check_whole_number("part", part, least=1)
    if out is None and refresh:
        msg = "refresh=True updates the harvest in a folder: name it with out=."
        raise OptionError(msg)
    header = LogHeader(query=query.describe(), source=source)
    store = ListStore(out, header, resume=resume, rows_per_part=part)
    with store, Progress(progress, "Harvest") as bar:
        if refresh or store.state.coverage is None:
            pagers = find_accounts() if find_accounts else AccountPool([Account("", [pager])])
            pool = pagers.convert(lambda each: ListReader(each, query))
            store.state.doubt = store.state.doubt or pool.doubt  # in later runs too
            harvest = ListHarvest(query.slice, store, pool.notes)
            _run_harvest(harvest, pool, bar)
    return RangeHarvest(source, store)


def _run_harvest(
    harvest: ListHarvest, pool: AccountPool[ListReader], watch: ProgressCallback
) -> None:
    """Send the requests of a harvest; in threads if there are several accounts."""

    def add(
        request: TaskRequest[ListRequest],
        account: Account[ListReader],
        reader: ListReader,
        future: Future[object],
    ) -> None:
        try:
            answer = future.result()
        except GqlnbError as error:
            failure = pool.explain_failure(account, reader, error)
            if failure is not None:
                raise failure from None
            harvest.put_back([request])
            return
        account.limits, account.budget = 0, reader.budget
        harvest.feed(request, answer)
        if request.request.kind == "rows" and watch(*harvest.progress, pool.budget) is False:
            harvest.is_stopped = True

    width = len(pool.accounts)
    with open_thread_pool(width) if width > 1 else nullcontext() as executor:

        def submit(request: TaskRequest[ListRequest], reader: ListReader) -> Future[object]:
            if executor is not None:
                return executor.submit(reader.answer, request.request)
            future: Future[object] = Future()
            try:
                future.set_result(reader.answer(request.request))
            except GqlnbError as error:
                future.set_exception(error)
            return future

        for stage in harvest.list_stages():
            pool.run(
                lambda _, stage=stage: harvest.take_from(stage),  # type: ignore[misc]
                submit,
                add,
                has_work=lambda: bool(harvest.pending),
                width=width,
            )


def estimate_list(query: ListQuery, pager: Pager, source: str) -> RangeEstimate:
    """Return the number of rows of a list, and the cost of its harvest, from one request.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    whole = ValueRange(query.slice.least, query.slice.most)
    count, notes = ListReader(pager, query).count_rows(whole)
    return RangeEstimate(source, count, query.slice.cap, tuple(notes.values()))
