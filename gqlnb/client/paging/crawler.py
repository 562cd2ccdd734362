"""The pages of one query: which request comes next, and how its answer joins those before it.

It sends nothing: it gives requests and takes answers, for the two drivers in
:mod:`gqlnb.client.paging.pager`. Each list of each object has a cursor of its own. The first page
comes with the answer its object came in; every further request carries up to `PAGES_PER_BATCH` pages, and
fewer only where fewer lists are open. A list of n items thus takes ceil(n / page size) pages, at
least one, and no request asks for less than it could.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gqlnb.client.paging.completeness import (
    MAY_CONTINUE,
    advance_cursor,
    describe_doubt,
    find_null,
    find_unknown_lists,
    list_response_paths,
)
from gqlnb.client.paging.cursors import (
    ListCursor,
    PageRequest,
    count_items,
    find_lists,
    foresee_pages,
    format_response_path,
    move_error,
)
from gqlnb.client.paging.page_size import (
    OVERLOAD_STATUSES,
    PageSizes,
    find_size_limit,
    is_about_size,
    is_size_error,
    is_transient_error,
)
from gqlnb.document.paged_fields import PLAIN_LIST_STEP
from gqlnb.document.paging_conventions import get_at_path
from gqlnb.document.paging_plan import PlannedPage, get_key_variable
from gqlnb.document.selections import ADDED_PREFIX
from gqlnb.errors import GqlnbError, QueryError, ReplayError, TransportError, sanitize_text
from gqlnb.result.paging_report import COMPLETE, MORE_PAGES_FOLLOW, Report
from gqlnb.result.result import Result, attach_forms, get_shape, hide_decimals, restore_decimals
from gqlnb.result.scalar_forms import observe_forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gqlnb.client.paging.cursors import ResponsePath
    from gqlnb.client.paging.options import PagingLimits
    from gqlnb.document.paged_fields import PagedField
    from gqlnb.document.paging_plan import PagingPlan
    from gqlnb.result.scalar_forms import ScalarForms

__all__ = ["Crawler", "PageRequest"]

PAGES_PER_BATCH = 10  # pages in a request; ten lookups cost GitHub one point
MAX_REPORTED_CURSORS = 100  # that a report names
MAX_FIRST_ATTEMPTS = 5  # sizes that are tried for the first pages
LOST_PREFIX = "not answered: "
NO_COUNTS: Mapping[Any, int] = MappingProxyType({})


class Crawler:
    """The pages of one query, as they come.

    Parameters
    ----------
    plan
        Its paged fields.
    variables
        Its JSON-like variables.
    limits
        How far to go.
    source
        Where the answers are from.
    keep
        Whether all pages are put together; otherwise each page replaces the one before, and has
        the size that the text says.
    most
        Most items that the endpoint is known to give in a page; None if that is not known.
    remarks
        Sentences for the report.
    """

    def __init__(
        self,
        plan: PagingPlan,
        variables: Mapping[str, Any],
        limits: PagingLimits,
        source: str,
        *,
        keep: bool = True,
        most: int | None = None,
        remarks: Iterable[str] = (),
    ) -> None:
        self.plan, self.variables, self.limits = plan, dict(variables), limits
        self.source, self.keep = source, keep
        self.data: Any = None
        self.begun = self.handed_out = False
        self.requests = self.duplicates = 0
        self._errors: list[Mapping[str, Any]] = []
        self._extensions: Mapping[str, Any] = {}
        self._open: list[ListCursor] = []
        self._unanswered: dict[PageRequest, None] = {}  # and not answered yet
        self._held: list[ListCursor] = []  # outermost ones, until their page is handed out
        self._outermost: list[ListCursor] = []
        self._stopped: dict[ListCursor, None] = {}
        self._lost: dict[ListCursor, str] = {}  # their next page came as null
        self._undecided: list[ListCursor] = []  # they may go on, and nobody can be asked
        self._end_reasons: Counter[tuple[str, str]] = Counter()
        self._doubts: Counter[tuple[str, str]] = Counter()
        self._remarks: dict[str, None] = dict.fromkeys(remarks)
        self._unknown_lists: tuple[str, ...] = ()
        # Items of its largest page, by the number of items that were asked for.
        self._largest: Counter[tuple[PagedField, int | None]] = Counter()
        self._round = self._first_attempts = 0
        self._forms: ScalarForms | None = None  # of values, as the pages handed out have shown them
        self._has_decimals = False  # in the data, where other results have floats
        self._is_plain = False  # whether the text is sent as it was written
        self._requests_counts = True  # whether counts are asked for
        self._batch = PAGES_PER_BATCH
        self._skeleton: Any = None
        self._field_order = {each: number for number, each in enumerate(plan.fields)}
        self._sizes = PageSizes(plan, limits, grows=keep, most=most)

    # -- requests

    def build_first_request(self) -> PageRequest:
        """Return the first request."""
        if self._is_plain:
            document = self.plan.document
            return PageRequest(document.text, self.variables, operation=document.name)
        text, used = self.plan.write_first_request(
            self._sizes.list_edits(), counts=self._requests_counts
        )
        return PageRequest(text, self._select_variables(used), scale=self._sizes.scale)

    def build_next_requests(self, width: int = 1) -> list[PageRequest]:
        """Return the requests that come next, all of which may be sent at once; none at the end.

        They are full where as many lists are open: the others wait for the next ones. Up to `width`
        ask for pages of the same lists, where their positions are known beforehand.
        """
        left = self._count_requests_left()
        if self._is_spent:
            return []
        self._close_proved()
        most = max(1, self._sizes.grow_batch(self._batch) >> self._sizes.scale)
        self._open.sort(key=self._rank_cursor)
        self._round += 1
        count = max(1, len(self._open) // most) if self._open else 0
        count = count if left is None else min(count, left)
        before_growth = self._sizes.requests_before_growth(most)
        count = count if before_growth is None else min(count, max(width, before_growth))
        taken, self._open = self._open[: count * most], self._open[count * most :]
        requests = [self._build_request(taken[at : at + most]) for at in range(0, len(taken), most)]
        room = (width if left is None else min(width, left)) - 1
        if self.keep and len(requests) == 1 and not self._open and self._can_foresee(taken):
            sizes = [(self._choose_size(c, len(taken)) or 1, self._get_max_items(c)) for c in taken]
            ahead = islice(foresee_pages(taken, sizes), room)
            requests += [self._build_request(*each) for each in ahead]
        self._unanswered.update(dict.fromkeys(requests))
        return requests

    def _close_proved(self) -> None:
        """End the inner lists whose last page is shorter than another one of the same size.

        An endpoint that cuts pages cuts them all at the same number of items, so a shorter one is
        the end of its list. Outermost lists are asked for until an empty page comes: it is one
        request, and pages from which an endpoint leaves items out are short in the middle, too.
        """
        still = []
        for cursor in self._open:
            shorter = cursor.last_length < self._largest[cursor.field, cursor.requested_size]
            if cursor.is_probing and shorter and cursor.field.outer is not None:
                self._end_list(cursor, COMPLETE)
            else:
                still.append(cursor)
        self._open = still

    def _rank_cursor(self, cursor: ListCursor) -> tuple[Any, ...]:
        """Return the order of lists: those that may be over last, outer ones and long ones first.

        Not the order in which answers came, or the number of requests would depend on threads.
        """
        field = cursor.field
        left = 0 if cursor.total is None else cursor.got - cursor.total
        return (
            cursor.is_probing,
            field.depth,
            left,
            cursor.round,
            self._field_order[field],
            cursor.path,
        )

    def _build_request(
        self, cursors: list[ListCursor], positions: list[Any] | None = None, step: int = 0
    ) -> PageRequest:
        positions = positions or [each.position for each in cursors]
        sizes = [self._choose_size(each, len(cursors), step) for each in cursors]
        values = [
            cursor.build_argument(position, size)
            for cursor, position, size in zip(cursors, positions, sizes, strict=True)
        ]
        turns = [
            PlannedPage(cursor.field, size, cursor.type_name, value)
            for cursor, size, value in zip(cursors, sizes, values, strict=True)
        ]
        text, used = self.plan.write_next_request(turns, self._sizes.list_edits())
        variables = self._select_variables(used)
        for number, (cursor, value) in enumerate(zip(cursors, values, strict=True)):
            if len(cursor.field.arguments.position) == 1:
                variables[f"{ADDED_PREFIX}c{number}"] = value
            cursor.in_flight.add(positions[number])
            cursor.round = self._round
            if cursor.type_name is not None:
                for index, key in enumerate(cursor.keys):
                    variables[get_key_variable(number, index)] = key
        return PageRequest(text, variables, cursors, positions, sizes, self._sizes.scale)

    def _can_foresee(self, cursors: list[ListCursor]) -> bool:
        """Return whether more pages may be asked for: they are whole, and have no inner lists."""
        sizes = self._sizes
        return not sizes.scale and not any(sizes.has_inner(each.field) for each in cursors)

    def _get_max_items(self, cursor: ListCursor) -> int | None:
        """Return the most items that are wanted of a list; None for all."""
        return self.limits.max_results if cursor.field.outer is None else None

    def _choose_size(self, cursor: ListCursor, together: int, step: int = 0) -> int | None:
        size, most = self._sizes.next_size(cursor, together), self._get_max_items(cursor)
        if size is None:
            return None
        if cursor.field.kind == "page":
            while size > 1 and cursor.covered % size:
                size //= 2  # a page number must mean the items that come next
            return size
        return size if most is None else min(size, most - cursor.got - step * size)

    def _select_variables(self, names: set[str]) -> dict[str, Any]:
        return {name: value for name, value in self.variables.items() if name in names}

    def _count_requests_left(self) -> int | None:
        most = self.limits.max_requests
        return None if most is None else most - self.requests

    @property
    def _is_spent(self) -> bool:
        left = self._count_requests_left()
        return left is not None and left <= 0

    # -- answers

    def add_answer(self, request: PageRequest, result: Result) -> None:
        """Take in the answer to a request."""
        self._unanswered.pop(request, None)
        self.requests += request.sent
        if result.errors and self._has_null_page(request, result) and self._refuse_batch(request):
            return
        if any(map(is_size_error, result.errors)):
            if self._refuse_growth(request, result.errors) or self._shrink_pages(request):
                return
        elif not self.begun and self._repeat_first(result):
            return
        else:
            self._sizes.grow_back()
        if self._has_null_grown_page(request, result) and self._refuse_growth(
            request, result.errors
        ):
            return
        self._extensions = result.extensions or self._extensions
        self._has_decimals |= restore_decimals(result)
        if not self.begun:
            self._begin_data(result)
            return
        self._sizes.note_batch(len(request.cursors), self._batch)
        self._errors += [each for each in result.errors if not each.get("path")]
        entries = zip(request.cursors, request.positions, request.sizes, strict=True)
        for number, (cursor, position, size) in enumerate(entries):
            if position in cursor.in_flight:  # or it ended meanwhile
                cursor.in_flight.remove(position)
                cursor.early_pages[position] = number, result, size
            while cursor.position in cursor.early_pages:
                self._add_page_of(cursor, request, *cursor.early_pages.pop(cursor.position))

    def _has_null_page(self, request: PageRequest, result: Result) -> bool:
        """Return whether a page came as null."""
        pages = (build_page_steps(cursor, number) for number, cursor in enumerate(request.cursors))
        return any(get_at_path(result.data, steps) is None for steps in pages)

    def _refuse_batch(self, request: PageRequest) -> bool:
        """Ask again for fewer pages at once; return whether they were more than usual."""
        if len(request.cursors) <= self._batch:
            return False
        self._sizes.refuse_batch()
        self._release_cursors(request)
        return True

    def _has_null_grown_page(self, request: PageRequest, result: Result) -> bool:
        """Return whether a page that was asked for in a larger size came as null, with errors."""
        entries = enumerate(zip(request.cursors, request.sizes, strict=True))
        return bool(result.errors) and any(
            self._sizes.is_grown(cursor.field, size)
            and get_at_path(result.data, build_page_steps(cursor, number)) is None
            for number, (cursor, size) in entries
        )

    def _repeat_first(self, result: Result) -> bool:
        """Return whether to ask for the first pages again, in another way."""
        paths = [each.get("path") or () for each in result.errors]
        if self._requests_counts and any(
            str(path[-1:]).count(ADDED_PREFIX) for path in paths if path
        ):
            self._requests_counts = False  # the endpoint does not give the count to everybody
            return True
        null = not isinstance(result.data, dict) or None in result.data.values()
        return null and self._limit_first([str(e.get("message", "")) for e in result.errors])

    def _limit_first(self, messages: list[str]) -> bool:
        """Ask for smaller first pages, where that is what an endpoint complains about."""
        about = [text for text in messages if is_about_size(text)]
        self._first_attempts += 1
        if not about or self._first_attempts >= MAX_FIRST_ATTEMPTS or self._is_plain:
            return False
        named = find_size_limit(about, self._sizes.largest)
        if named is None:
            named = max(1, self._sizes.largest // 2)
        return self._sizes.limit_all(named)

    def _begin_data(self, result: Result) -> None:
        self.begun = True
        self.data = result.data
        self._errors = list(result.errors)
        if not isinstance(self.data, dict):
            return
        if self.plan.schema is None:
            self._unknown_lists = tuple(find_unknown_lists(self.data, self.plan.fields))
        for field, size in self._sizes.list_unrequested():
            name = ".".join(field.arguments.size)
            self._doubts[field.name, f"the query asks for `{name}: {size}`."] += 1
        for field in filter(self.plan.has_both_sizes, self._sizes.fields):
            self._doubts[field.name, "`first:` and `last:` together leave items out."] += 1
        for name, argument in self.plan.unfollowed.items():
            self._doubts[name, f"it takes `{argument}:`, and nothing tells how it goes on."] += 1
        self._add_lists(None, self.data)
        self._note_unanswered(self.data, self._errors)
        if self.plan.hidden is not None and not self._is_plain:
            self.plan.hidden.remove_from(self.data)

    def _note_unanswered(
        self, data: Any, errors: Iterable[Mapping[str, Any]], above: ResponsePath = ()
    ) -> None:
        """Doubt the lists in which an error left null: the list, an item, or what is around it.

        The paths of the errors begin at `data`, which stands at `above` in the whole.
        """
        names = [step for step in above if isinstance(step, str)]
        for error in errors:
            found = find_null(data, error.get("path") or ())
            if found is None:
                continue
            null = (*names, *found)
            fields = (
                f
                for f in self._sizes.fields
                if any(at[: len(null)] == null for at in list_response_paths(f))
            )
            lost = next((field.name for field in fields), None)
            if lost is None and self.plan.has_inner(null):
                lost = ".".join(null)  # perhaps a list that does not come in pages
            if lost is not None:
                self._doubts[lost, LOST_PREFIX + sanitize_text(error.get("message", ""), 200)] += 1

    def _add_lists(
        self,
        outer: PagedField | None,
        holder: dict[str, Any],
        where: ResponsePath = (),
        before: Mapping[Any, int] = NO_COUNTS,
    ) -> None:
        """Begin the lists in the data, or in a page of one of them.

        `before` is how many items a page's lists had before it.
        """
        for field in self.plan.fields:
            if field.outer is not outer or field not in self._sizes:
                continue
            depth = field.anchor.depth if field.anchor else -1
            for found in find_lists(holder, field.steps, depth, plain_list=field.is_plain):
                path = found.path
                if before and PLAIN_LIST_STEP in before:
                    path = (int(path[0]) + before[PLAIN_LIST_STEP], *path[1:])
                elif before:
                    path = (path[0], int(path[1]) + before[path[0]], *path[2:])
                cursor = ListCursor(field, found.value, (*where, *path))
                cursor.attach(found)
                cursor.begin(self.plan.read_start(field))
                cursor.is_bounded = self.plan.has_early_end(field)
                cursor.requested_size = self._sizes.get_size(field) or self.plan.read_size(field)
                cursor.round = self._round
                if outer is None:
                    self._outermost.append(cursor)
                self._add_page(cursor, found.value)

    def _add_page_of(
        self,
        cursor: ListCursor,
        request: PageRequest,
        number: int,
        result: Result,
        size: int | None,
    ) -> None:
        """Take in the page of one list, of a request for several."""
        field, steps = cursor.field, build_page_steps(cursor, number)
        page = get_at_path(result.data, steps)
        lookup = field.anchor.lookup if cursor.type_name is not None and field.anchor else None
        moved = (move_error(e, steps, cursor.path, cursor.count_lengths()) for e in result.errors)
        errors = [each for each in moved if each is not None]
        if field.is_plain and isinstance(page, list):
            page = {PLAIN_LIST_STEP: page}
        if not isinstance(page, dict):
            self._lose_page(cursor, [*errors, *result.errors])
            self._errors += [] if cursor in self._open else errors
            return
        self._errors += errors
        within = [e for e in result.errors if move_error(e, steps, (), {}) is not None]
        trimmed = [{**e, "path": list(e.get("path") or ())[len(steps) :]} for e in within]
        self._note_unanswered(page.get(PLAIN_LIST_STEP, page), trimmed, cursor.path)
        if lookup is not None and lookup.is_verified and not has_keys(result.data, number, cursor):
            self._end_list(cursor, "another object came than the one asked for")
            return
        if field.kind == "page" and cursor.check_numbering(page):
            self._open.append(cursor)  # page 1 was the first one again
            return
        cursor.requested_size = size
        goes_on = self._add_page(cursor, page)
        if size is not None:
            count = cursor.last_length
            self._sizes.note_answer(field, size, count, request.cost, goes_on=goes_on)

    def _lose_page(self, cursor: ListCursor, errors: list[Mapping[str, Any]]) -> None:
        """Ask again for a page that came as null, where that may help; else end its list."""
        said = [sanitize_text(each.get("message", ""), 200) for each in errors]
        cursor.attempts += 1
        if cursor.attempts == 1 and any(map(is_transient_error, errors)):
            self._open.append(cursor)
            return
        reason = LOST_PREFIX + (said[0] if said else "its page came as null")
        self._end_list(cursor, reason)
        self._lost[cursor] = reason

    def _add_page(self, cursor: ListCursor, page: dict[str, Any]) -> bool:
        """Take in a page of a list; return whether more of it is known to follow.

        The first page is the list's own target.
        """
        field, before = cursor.field, cursor.got
        count = count_items(page, field)
        largest = (field, cursor.requested_size)
        self._largest[largest] = max(self._largest[largest], count)
        cursor.add_length(count)
        duplicates = cursor.remove_duplicates(page)
        self.duplicates += duplicates
        cut = self._cut_page(cursor, page)
        cursor.got += count_items(page, field)
        self._note_total(cursor, page)
        joins = page is not cursor.target
        self._add_lists(field, page, cursor.path, cursor.count_lengths() if joins else NO_COUNTS)
        late = self._has_late_start(field)
        reason = advance_cursor(cursor, page, new=cursor.got > before, cut=cut, counted=not late)
        if joins:
            if field.hidden is not None:
                field.hidden.remove_from(
                    page.get(PLAIN_LIST_STEP, page) if field.is_plain else page
                )
            cursor.merge(page)
        if reason is None:
            if not cursor.is_waiting:
                (self._open if self.keep or cursor.field.outer is not None else self._held).append(
                    cursor
                )
        elif reason == MAY_CONTINUE:
            self._undecided.append(cursor)
        else:
            self._end_list(cursor, reason)
        return reason is None and (cursor.field.outer is None or not cursor.is_probing)

    def _cut_page(self, cursor: ListCursor, page: dict[str, Any]) -> bool:
        """Cut a page of an outermost list to the items asked for; return whether that is enough."""
        most = self._get_max_items(cursor)
        if most is None:
            return False
        for each in cursor.field.items:
            items = page.get(each.key)
            if isinstance(items, list):
                left = max(0, most - cursor.got)
                excess = items[: len(items) - left] if cursor.field.backward else items[left:]
                if excess and cursor.field.backward:
                    del items[: len(excess)]
                elif excess:
                    del items[left:]
        return cursor.got + count_items(page, cursor.field) >= most

    def _note_total(self, cursor: ListCursor, page: Mapping[str, Any]) -> None:
        field = cursor.field
        total = get_at_path(page, field.total) if field.total else None
        if not isinstance(total, int) or isinstance(total, bool) or self._has_late_start(field):
            return
        if cursor.total is not None and total != cursor.total:
            self._doubts[field.name, "the count changed while paging."] += 1
        cursor.total = total

    def _has_late_start(self, field: PagedField) -> bool:
        """Return whether the query itself says where to begin, so that counts say nothing."""
        return self.plan.has_late_start(field)

    def _end_list(self, cursor: ListCursor, reason: str) -> None:
        if reason == COMPLETE:
            doubt = describe_doubt(cursor)
            if doubt is not None:
                self._doubts[cursor.field.name, doubt] += 1
        else:
            self._end_reasons[cursor.field.name, reason] += 1
            if len(self._stopped) < MAX_REPORTED_CURSORS and cursor.position is not None:
                self._stopped[cursor] = None
        cursor.release()

    # -- failures

    def add_failure(self, request: PageRequest, error: GqlnbError) -> bool:
        """Take in that a request failed; return whether to go on, in another way."""
        self._unanswered.pop(request, None)
        self.requests += request.sent
        errors = error.result.errors if error.result is not None else ()
        said = list_messages(error)
        if not self.begun and not self._is_plain:
            return self._restart_first(request, error, said)
        if self._can_refuse_growth(error) and (
            self._refuse_batch(request) or self._refuse_growth(request, errors, said)
        ):
            return True
        heavy = isinstance(error, TransportError) and error.status in OVERLOAD_STATUSES
        heavy = heavy or (isinstance(error, QueryError) and any(map(is_about_size, said)))
        if (heavy or any(map(is_size_error, errors))) and self._shrink_pages(request):
            return True
        if isinstance(error, QueryError) and len(request.cursors) > 1:
            self._batch = max(1, len(request.cursors) // 2)
            self._release_cursors(request)
            return True
        guessed = self.plan.schema is None and any(c.type_name is not None for c in request.cursors)
        if isinstance(error, QueryError) and guessed:
            self._end_lookups(request, sanitize_text(error, 200))
            return True
        self._release_cursors(request)
        return False

    def _restart_first(self, request: PageRequest, error: GqlnbError, said: list[str]) -> bool:
        """Return whether to send the first request again, in another way."""
        heavy = isinstance(error, TransportError) and error.status in OVERLOAD_STATUSES
        too_much = any(is_size_error(e) for e in (error.result.errors if error.result else ()))
        if (heavy or too_much) and self._shrink_pages(request):
            return True
        if isinstance(error, ReplayError) and self._requests_counts and self.plan.has_added_counts:
            self._requests_counts = False  # recordings made before counts were asked for
            return True
        if isinstance(error, QueryError) and self._limit_first(said):
            return True
        if isinstance(error, QueryError):
            self._is_plain = True  # errors then name lines of the text as it was written
            self._sizes.clear()
            self._doubts[
                "", f"The query was not accepted with pages: {sanitize_text(error, 200)}"
            ] += 1
            return True
        self._release_cursors(request)
        return False

    @staticmethod
    def _can_refuse_growth(error: GqlnbError) -> bool:
        """Return whether an error may come from asking for larger pages than the text's."""
        if isinstance(error, TransportError):
            return error.status not in {401, 403, 429}
        return True

    def _refuse_growth(
        self,
        request: PageRequest,
        errors: Iterable[Mapping[str, Any]],
        said: list[str] | None = None,
    ) -> bool:
        """Ask again in the size that was accepted before; return whether pages had grown."""
        grown = [
            (cursor.field, size)
            for cursor, size in zip(request.cursors, request.sizes, strict=True)
            if size is not None and self._sizes.is_grown(cursor.field, size)
        ]
        if not grown:
            return False
        messages = said or [str(each.get("message", "")) for each in errors]
        for field, size in dict(grown).items():
            self._sizes.refuse_size(field, size, messages)
        self._release_cursors(request)
        return True

    def _end_lookups(self, request: PageRequest, message: str) -> None:
        """End all lists of objects that were taken to be nodes, which the endpoint denies."""
        lists = [*request.cursors, *(each for each in self._open if each.type_name is not None)]
        self._open = [each for each in self._open if each.type_name is None]
        for cursor in dict.fromkeys(lists):
            self._end_list(cursor, f"its objects cannot be asked for again: {message}")

    def recall_requests(self) -> None:
        """Reopen the lists of the requests that were not answered."""
        while self._unanswered:
            self._release_cursors(self._unanswered.popitem()[0])

    def _release_cursors(self, request: PageRequest) -> None:
        for cursor, position in zip(request.cursors, request.positions, strict=True):
            cursor.in_flight.discard(position)
            if position == cursor.position and cursor not in self._open:
                self._open.append(cursor)  # the others' turn has not come

    def is_heavy(self, error: BaseException) -> bool:
        """Return whether smaller pages may help more than asking for the same again."""
        heavy = isinstance(error, TransportError) and error.status in OVERLOAD_STATUSES
        return heavy and self._sizes.can_halve

    def _shrink_pages(self, request: PageRequest) -> bool:
        """Halve the pages; return whether that could be done."""
        sizes = self._sizes
        if not sizes or (not sizes.can_halve and len(request.cursors) <= 1):
            return False
        self._release_cursors(request)
        sizes.halve(request.scale)
        return True

    # -- page by page

    def start_next_page(self) -> bool:
        """Make room for the next page of the outermost lists; return whether to ask for it."""
        self._open, self._held = [*self._open, *self._held], []
        self._close_proved()
        self.handed_out = False
        if not self._open:
            return False
        self._errors = []
        self.data = self._empty_data()
        for cursor in self._outermost:
            target = self.data
            for step in cursor.path:
                target = target[step]
            cursor.target = {PLAIN_LIST_STEP: target} if cursor.field.is_plain else target
        return not self._is_spent

    def collect_remaining(self) -> None:
        """Put the pages that are still to come together, without one that was handed out."""
        self.keep = True
        if self.handed_out:
            self.start_next_page()
        for cursor, reason in self._lost.items():
            self._end_reasons[cursor.field.name, reason] -= 1
            self._stopped.pop(cursor, None)
            cursor.attempts = 0
            self._open.append(cursor)
        self._end_reasons = +self._end_reasons
        self._lost = {}
        self._open, self._held = [*self._open, *self._held], []

    def _empty_data(self) -> Any:
        """Return the data without the items of the outermost lists."""
        if self._skeleton is None:
            kept = []
            for cursor in self._outermost:
                for each in cursor.field.items:
                    items = cursor.target.get(each.key)
                    if isinstance(items, list):
                        kept.append((items, list(items)))
                        items.clear()
            self._skeleton = deepcopy(self.data)
            for items, values in kept:
                items.extend(values)
        return deepcopy(self._skeleton)

    @property
    def is_empty_page(self) -> bool:
        """Whether the page at hand only shows that there are no more items."""
        first = not any(cursor.pages > 1 for cursor in self._outermost)
        return (
            not first
            and not self._errors
            and not any(count_items(cursor.target, cursor.field) for cursor in self._outermost)
        )

    # -- the result

    @property
    def is_open(self) -> bool:
        """Whether a list could go on."""
        return bool(self._open or self._held or self._lost) or not self.begun

    @property
    def got(self) -> int:
        """Items of the outermost lists so far."""
        return sum(cursor.got for cursor in self._outermost)

    @property
    def expected(self) -> int | None:
        """Items of the outermost lists there are, as far as is known."""
        totals = [cursor.total for cursor in self._outermost if cursor.field in self._sizes]
        known = [total for total in totals if total is not None]
        return sum(known) if totals and len(known) == len(totals) else None

    @property
    def wanted(self) -> int | None:
        """Items of the outermost lists that will come, as far as is known."""
        most = self.limits.max_results
        totals = [cursor.total for cursor in self._outermost]
        if not totals or None in totals:
            return None
        return sum(t if most is None else min(t, most) for t in totals if t is not None)

    def build_result(self, ended: str | None = None) -> Result:
        """Return what came so far as one result."""
        result = Result(
            data=self.data,
            errors=tuple(self._errors),
            extensions=self._extensions,
            document=self.plan.document,
            source=self.source,
            variables=self.variables,
            report=self.build_report(ended),
        )
        return hide_decimals(result) if self._has_decimals else result

    def build_page(self) -> Result:
        """Return the page at hand as a result, to be handed out once."""
        result = self.build_result()
        self._forms = observe_forms(get_shape(result), self.data, self._forms)
        return attach_forms(result, self._forms)

    def build_report(self, ended: str | None = None) -> Report:
        """Return the report; `ended` says why, where paging was ended from outside."""
        if ended is None and (self._open or self._held):
            ended = "max_requests" if self._is_spent else MORE_PAGES_FOLLOW
        ends = sorted(self._end_reasons, key=lambda end: end[0].count("."))
        ended = ended or next((why for _, why in ends), COMPLETE)
        open_ = [*self._stopped, *self._open, *self._held][:MAX_REPORTED_CURSORS]
        doubts = tuple(self._list_doubts(ended == COMPLETE))
        return Report(
            self.got,
            self.expected,
            self.duplicates,
            self.requests,
            ended,
            (*doubts, *self._list_notes()),
            {format_response_path(each.path): str(each.position) for each in open_},
            doubts,
        )

    def _list_doubts(self, over: bool) -> Iterator[str]:
        """Yield the reasons why completeness is not proved."""
        undecided = Counter(
            cursor.field.name
            for cursor in self._undecided
            if cursor.last_length >= self._largest[cursor.field, cursor.requested_size]
        )
        may_go_on = {(name, MAY_CONTINUE): count for name, count in undecided.items()}
        for (name, reason), count in {**self._end_reasons, **self._doubts, **may_go_on}.items():
            times = "" if count == 1 else f" ({count:,} times)"
            yield f"{name}: {reason}{times}" if name else reason
        expected = self.expected if over else None
        if expected is not None and self.got != expected:
            yield f"{self.got:,} items came, and the endpoint counts {expected:,}."
        if self._unknown_lists:
            names = ", ".join(self._unknown_lists[:3])
            yield f"{names}: may go on; no schema is known that would say so."

    def _list_notes(self) -> Iterator[str]:
        """Yield what is worth knowing beside them."""
        if self.begun and not self._sizes and not self._is_plain:
            yield "The query has no list that comes in pages."
        yield from self._remarks
        if self._sizes and self.plan.schema is None:
            yield "Lists were found by their names: no schema is known."


def list_messages(error: GqlnbError) -> list[str]:
    """Return the messages of an error, without the query that it quotes."""
    problems = getattr(error, "problems", ())
    errors = error.result.errors if error.result is not None else ()
    own = [each.message for each in problems] or [str(error)]
    return [*own, *(str(each.get("message", "")) for each in errors)]


def build_page_steps(cursor: ListCursor, number: int) -> tuple[str, ...]:
    """Return the response names of a list's page in the answer to a further request."""
    field = cursor.field
    if cursor.type_name is None or field.anchor is None:
        return field.steps
    return (f"{ADDED_PREFIX}{number}", *field.steps[field.anchor.depth :])


def has_keys(data: Any, number: int, cursor: ListCursor) -> bool:
    """Return whether the object that a lookup returned has the key that was asked for."""
    found = data.get(f"{ADDED_PREFIX}{number}") if isinstance(data, dict) else None
    came = [found.get(f"{ADDED_PREFIX}k{n}") for n in range(len(cursor.keys))] if found else []
    return [str(value) for value in came] == [str(value) for value in cursor.keys]
