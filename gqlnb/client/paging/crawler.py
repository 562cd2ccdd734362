"""The pages of one query: the next requests, and joining their answers, without I/O.

A :class:`Crawler` returns requests and takes answers; :mod:`gqlnb.client.paging.pager` sends them.
Each list of each object has its own cursor. The first page of a list comes together with the object
that contains it. Every further request has up to `PAGES_PER_BATCH` pages, fewer only if fewer lists
are open. A list of n items thus takes ceil(n / page size) pages, at least one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from itertools import count, islice
from math import gcd
from sys import maxsize
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gqlnb.client.paging.completeness import (
    LOST_ROW,
    MAY_CONTINUE,
    MOVED,
    SHARED_LIMIT,
    CompletenessDoubts,
    SharedLimit,
    advance_cursor,
    check_bound,
    describe_doubt,
    explain_cap,
    find_null,
    find_unknown_lists,
    has_value,
    is_empty_promise,
    is_likely_truncated,
    lacks_counted,
    list_response_paths,
)
from gqlnb.client.paging.cursors import (
    SAME_CURSOR,
    ListCursor,
    PageRequest,
    find_lists,
    move_errors,
)
from gqlnb.client.paging.experiments import LEFT_OUT, Experiments
from gqlnb.client.paging.page_size import (
    PageSizes,
    find_size_limit,
    has_size_error,
    is_about_size,
    is_overload,
    list_messages,
    list_messages_of,
)
from gqlnb.document.error_details import read_error_fields, read_error_path
from gqlnb.document.paged_fields import PLAIN_LIST_STEP, ListRole
from gqlnb.document.paging_conventions import (
    PLAIN_COUNT,
    find_page_arguments,
    format_argument,
    get_at_path,
    is_null,
    read_integer,
)
from gqlnb.document.paging_plan import PlannedPage, get_key_variable
from gqlnb.document.selections import ADDED_PREFIX, remove_fields
from gqlnb.document.suspect_lists import is_default_limit
from gqlnb.errors import (
    GqlnbError,
    QueryError,
    ReplayError,
    TransportError,
    format_path,
    sanitize_text,
)
from gqlnb.http.error_responses import is_transient_error
from gqlnb.result.answer_notes import merge_extensions
from gqlnb.result.paging_report import COMPLETE, MORE_PAGES_FOLLOW, NO_LIST, STOPPED, Report
from gqlnb.result.result import (
    Result,
    attach_forms,
    get_shape,
    hide_decimals,
    keep_crawler,
    restore_decimals,
)
from gqlnb.result.shape import build_response_shape, observe_forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gqlnb.client.endpoint import PagingOptions
    from gqlnb.client.paging.cursors import Position, ResponsePath
    from gqlnb.document.paged_fields import PagedField
    from gqlnb.document.paging_plan import PagingPlan
    from gqlnb.result.shape import ScalarForms

PAGES_PER_BATCH = 10  # pages in a request; ten lookups cost GitHub one point
MAX_REPORTED_CURSORS = 100  # in a report
MAX_NAMED = 3  # lists beside a bar
MAX_FIRST_ATTEMPTS = 15  # page sizes tried for the first request, from 10,000 down to 1
ADDED_COUNT = (f"{ADDED_PREFIX}{PLAIN_COUNT}",)
LOST_PREFIX = "not answered: "
KEPT_AS_WRITTEN = "{} was kept as written; follow={!r} requests all items."
DIFFERENT_BESIDE = "`{}` differs between pages; the value from the first page was used."
AT_MOST = "{:,} items were returned for `{}`, which may be the endpoint's maximum."
CANNOT_REPEAT = "its objects cannot be requested again"
NULL_LIST = "the endpoint returned null for it, or for an object around it, and no error."
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


# The crawler does no I/O: it yields page requests and takes results, so that threads and event
# loops share every rule, and the number of requests does not depend on the order of answers.
class Crawler:
    """The state of paging one query.

    Parameters
    ----------
    plan
        Its paged fields.
    limits
        The limits of paging.
    source
        Address of the endpoint.
    keep
        Whether to join all pages; otherwise each page replaces the one before, and has the size in
        the query.
    most
        The endpoint's largest page size; None if it is unknown.
    remarks
        Sentences for the report.
    roles
        How lists are paged that no convention tells, as experiments on this endpoint found; they
        are added here. None to take such lists as they come.

    Attributes
    ----------
    data
        The data so far, or of the present page.
    fault
        The error for which the texts of the pages are not validated; else empty.
    begun
        Whether the first answer came.
    handed_out
        Whether the present page was returned by an iterator.
    requests
        Number of requests sent.
    is_stopped
        Whether to send no more requests, as `progress` returned False.
    advises
        Whether warnings of the endpoint are shown when they come, and errors advise to resume.
    detects_changes
        Whether pages overlap by an item, where positions are known, and come with added counts.
    longest_answer
        Number of items that the endpoint returned of the outermost list in one answer to another
        request of the same size.
    """

    def __init__(
        self,
        plan: PagingPlan,
        limits: PagingOptions,
        source: str,
        *,
        keep: bool = True,
        most: int | None = None,
        remarks: Iterable[str] = (),
        roles: dict[tuple[str, str], ListRole] | None = None,
    ) -> None:
        self.limits, self.fault = limits, plan.document.fault
        self._source, self._keep, self._endpoint_maximum = source, keep, most
        self.handed_out = False
        self.advises = True
        self.detects_changes = False
        self.is_stopped = False
        self.requests = self._duplicates = self.longest_answer = 0
        self._cached_at: list[float] = []  # the times of remembered answers
        self._extensions: Mapping[str, Any] = {}
        self._unanswered: dict[PageRequest, None] = {}
        self._remarks: dict[str, None] = dict.fromkeys(remarks)
        self._larger: dict[PagedField, int] = {}  # sizes of lists in rows that cannot go on
        self._kept: dict[str, None] = {}  # the names of lists that kept the size that is written
        self._forms: ScalarForms | None = None  # of the values in the pages handed out
        self._has_decimals = False  # whether the data have Decimal where other results have float
        self._is_plain = False  # whether the query is sent unchanged
        self._skeleton: Any = None
        self._first_attempts = 0
        self._has_roles = roles is not None
        self._experiments = Experiments(limits, roles, self._note_kept)
        self._start(plan)

    def _start(self, plan: PagingPlan) -> None:
        """Begin to follow the lists of a plan."""
        self._plan = plan
        self.data: Any = None
        self.begun = False
        self._errors: list[Mapping[str, Any]] = []
        self._open: list[ListCursor] = []
        self._held: list[ListCursor] = []  # outermost lists, until their page is handed out
        self._outermost: list[ListCursor] = []
        self._shared_limits: defaultdict[PagedField, SharedLimit] = defaultdict(SharedLimit)
        self._stopped: dict[ListCursor, None] = {}
        self._lost: dict[ListCursor, str] = {}  # their next page came as null
        self._uncounted: set[PagedField] = set()  # no count came beside a page
        self._rounding: set[PagedField] = set()  # their offsets count whole pages
        self._undecided: list[ListCursor] = []  # they ended with MAY_CONTINUE
        self._doubts = CompletenessDoubts(plan.path)
        self._experiments.begin(plan, self._doubts)
        self._unknown_lists: tuple[str, ...] = ()
        # Items of the largest page, by field and requested size.
        self._largest: Counter[tuple[PagedField, int | None]] = Counter()
        self._round = 0
        self._unpaged_rows = 0  # of the outermost lists that are not followed
        self._batch = PAGES_PER_BATCH
        # Whether a page that failed beside others did so alone, too; None if none was tried.
        self._fails_alone: bool | None = None
        self._field_order = {each: number for number, each in enumerate(plan.fields)}
        self._sizes = PageSizes(plan, self.limits, grows=self._keep, most=self._endpoint_maximum)

    # -- requests

    def build_first_request(self) -> PageRequest:
        """Return the first request."""
        if self._is_plain:
            document = self._plan.document
            return PageRequest(document.text, self._plan.variables, operation=document.name)
        text, variables = self._plan.write_first_request(self._sizes.list_edits())
        return PageRequest(text, variables, scale=self._sizes.scale)

    def build_next_requests(self, width: int = 1) -> list[PageRequest]:
        """Return the next requests, up to `width` for the same lists; none at the end."""
        # All may be sent at once. Lists that do not fill a request wait for the next round, as
        # inner lists that are found meanwhile may fill it.
        if not self.begun:
            return [self.build_first_request()]
        if self._left <= 0:
            self._skip_verification()
            return []
        if self._experiments.new_plan is None and (larger := self._choose_larger_sizes()):
            sizes = {**self._sizes.list_edits(), **larger}
            return [
                PageRequest(*self._plan.write_first_request(sizes), is_trial=True, larger=larger)
            ]
        if self._experiments.trial is not None:
            written = self._plan.write_trial(*self._experiments.trial, self._sizes.list_edits())
            return [PageRequest(*written, is_trial=True)]
        if self._experiments.new_plan is not None:
            self._start(self._experiments.new_plan)
            return [self.build_first_request()]
        self._close_proved()
        batch = max(1, self._sizes.grow_batch(self._batch) >> self._sizes.scale)
        self._open.sort(key=lambda it: it.build_sort_key(self._field_order[it.field]))
        self._round += 1
        is_trial = bool(self._open and self._open[0].attempts) and self._fails_alone is None
        batch = 1 if is_trial else batch
        count = 1 if is_trial else max(1, len(self._open) // batch)
        before_growth = self._sizes.requests_before_growth(batch)
        count = min(count, self._left, max(width, before_growth))
        taken, self._open = self._open[: count * batch], self._open[count * batch :]
        starts = range(0, len(taken), batch)
        requests = [self._build_request(taken[start : start + batch]) for start in starts]
        if self._keep and len(requests) == 1 and not self._open and not self._sizes.scale:
            room = min(width, self._left) - 1
            ahead = islice(self._foresee_pages(taken), room)
            requests += [self._build_request(*pages) for pages in ahead]
        self._unanswered.update(dict.fromkeys(requests))
        return requests

    def _foresee_pages(
        self, cursors: list[ListCursor]
    ) -> Iterator[tuple[list[ListCursor], list[str], int]]:
        """Yield the pages after the next ones: lists, their positions, and number of pages ahead.

        Yields nothing unless the positions of all lists can be computed.
        """
        # Not if they have inner lists: these must be complete before the next page begins.
        fields = {cursor.field for cursor in cursors}
        has_inner = any(field.outer in fields for field in self._sizes.base_sizes)
        offsets = [(each, offset) for each in cursors if (offset := each.offset) is not None]
        sizes = [self._choose_size(each, len(cursors)) or 1 for each in cursors]
        for step in count(1) if len(offsets) == len(cursors) and not has_inner else ():
            ahead = []
            for (cursor, offset), size in zip(offsets, sizes, strict=True):
                place, most = cursor.place, self._get_max_items(cursor)
                ends = cursor.evidence.total, offset.max_items, most
                items = place.next_item + step * (size - place.overlap)
                if items + place.overlap < min(end for end in ends if end is not None):
                    ahead.append((cursor, offset.format_cursor(items)))
            if not ahead:
                return
            missing = [(cursor, at) for cursor, at in ahead if at not in cursor.early_pages]
            if missing:
                yield [cursor for cursor, _ in missing], [at for _, at in missing], step

    def _close_proved(self) -> None:
        """End the inner lists with a last page shorter than another page of the same size."""
        # An endpoint that cuts pages cuts all of them to the same length, so a shorter page is the
        # last one. Outermost lists are continued until an empty page comes: that takes only one
        # request, and an endpoint that leaves items out has short pages in the middle, too.
        still_open = []
        for cursor in self._open:
            field = cursor.field
            shorter = (
                cursor.evidence.last_length < self._largest[field, cursor.place.requested_size]
            )
            can_close = not (field.is_outermost or field.has_separate_lists)
            if cursor.evidence.is_probing and shorter and can_close:
                self._end_list(cursor, COMPLETE)
            else:
                still_open.append(cursor)
        self._open = still_open

    def _is_verification(
        self, request: PageRequest, errors: Iterable[Mapping[str, Any]] | None
    ) -> bool:
        """Return whether a failed request only verified ends of lists; then they count.

        If its pages had grown, they are requested again as before, unless `errors` is None, or
        twice the size is what verifies the end.
        """
        if not request.cursors or not all(
            cursor.evidence.is_verifying for cursor in request.cursors
        ):
            return False
        is_final = errors is None or any(cursor.is_grown for cursor in request.cursors)
        if is_final or not self._refuse_growth(request, errors or ()):
            self._release_cursors(request)
            self._skip_verification()
        return True

    def _skip_verification(self) -> None:
        """End the lists that are continued only to verify the end that the endpoint reported."""
        waiting = [*self._open, *self._held]
        self._open = [cursor for cursor in self._open if not cursor.evidence.is_verifying]
        self._held = [cursor for cursor in self._held if not cursor.evidence.is_verifying]
        for cursor in waiting:
            if cursor.evidence.is_verifying:
                self._end_list(cursor, COMPLETE)

    def _build_request(
        self, cursors: list[ListCursor], positions: Sequence[Position] | None = None, step: int = 0
    ) -> PageRequest:
        positions = list(positions or [cursor.place.position for cursor in cursors])
        sizes = [self._choose_size(cursor, len(cursors), step) for cursor in cursors]
        pages = []
        for cursor, at, size in zip(cursors, positions, sizes, strict=True):
            on, place = cursor.key and cursor.key.type_name, cursor.place.build_argument(at, size)
            counts = cursor.place.pages == 1
            pages.append(PlannedPage(cursor.field, size, on, place, counts=counts))
        text, variables = self._plan.write_next_request(
            pages, self._sizes.list_edits(), counts=self.detects_changes
        )
        for number, cursor in enumerate(cursors):
            cursor.in_flight.add(positions[number])
            cursor.round = self._round
            for index, key in enumerate(cursor.key.values if cursor.key else ()):
                variables[get_key_variable(number, index)] = key
        return PageRequest(text, variables, cursors, positions, sizes, self._sizes.scale)

    def _get_max_items(self, cursor: ListCursor) -> int | None:
        return self.limits.max_results if cursor.field.is_outermost else None

    def _choose_size(self, cursor: ListCursor, together: int, step: int = 0) -> int | None:
        size, most = self._sizes.next_size(cursor, together), self._get_max_items(cursor)
        if size is None or cursor.is_grown:
            return None if size is None else 2 * cursor.place.received
        if cursor.field.kind == "page":
            return gcd(cursor.place.covered, size)  # so that its number refers to the next items
        if cursor.field in self._rounding and isinstance(cursor.place.position, int):
            return gcd(cursor.place.position, size)
        if most is None:
            return size
        kept = min((each.kept for each in cursor.filters if not each.was_shorter), default=0)
        return min(size, most - kept - step * (size - cursor.place.overlap) + cursor.place.overlap)

    @property
    def _left(self) -> int:
        """Number of requests that may still be sent."""
        return 0 if self.is_stopped else (self.limits.max_requests or maxsize) - self.requests

    # -- answers

    def add_answer(self, request: PageRequest, result: Result) -> None:
        """Process the answer to a request."""
        self._unanswered.pop(request, None)
        self.requests += request.sent
        if request.is_trial and not self._add_trial(request, result):
            return
        if (cached_at := getattr(result.response, "cached_at", None)) is not None:
            self._cached_at.append(cached_at)
        entries = enumerate(zip(request.cursors, request.sizes, strict=True))
        # A page that is null beside errors may have been too large: first a smaller request is
        # tried, then the errors count.
        nulls = [
            (cursor, size)
            for number, (cursor, size) in (entries if result.errors else ())
            if get_at_path(result.data, cursor.build_page_steps(number)) is None
        ]
        if nulls and (self._is_verification(request, result.errors) or self._refuse_batch(request)):
            return
        if has_size_error(result.errors):
            if self._refuse_growth(request, result.errors) or self._shrink_pages(request):
                return
        elif not self.begun and (
            self._repeat_first(result) or self._sizes.lower_first(result.data)
        ):
            return
        else:
            self._sizes.grow_back()
        # Errors that smaller pages did not have may be those of a limit of time or cost, which
        # left values in the rows null: Datasette leaves lists in the rows out so.
        is_new = bool(result.errors) and (bool(nulls) or not self._errors)
        if is_new and self._refuse_growth(request, result.errors):
            return
        self._extensions = merge_extensions(self._extensions, result.extensions)
        self._has_decimals |= restore_decimals(result)
        if self.begun:
            self._add_pages(request, result)
        else:
            self._begin_data(result)

    def _add_trial(self, request: PageRequest, result: Result) -> bool:
        """Process the answer to an experiment; return whether to begin again with it."""
        # Errors of values in the rows that the first answer has, too, refuse nothing.
        known = {*map(read_error_fields, self._errors)} - {()}
        is_refused = not known.issuperset(map(read_error_fields, result.errors))
        data, messages = None if is_refused else result.data, list_messages_of(result.errors)
        if request.larger:
            return self._take_larger(request.larger, data, messages)
        self._experiments.advance(data, messages)
        return False

    def _add_pages(self, request: PageRequest, result: Result) -> None:
        """Process the pages of an answer in their order; keep those that came early."""
        self._sizes.full_requests += len(request.cursors) >= self._batch
        self._errors += self._note_errors_without_path(result.errors)
        entries = zip(request.cursors, request.positions, request.sizes, strict=True)
        for number, (cursor, position, size) in enumerate(entries):
            if position in cursor.in_flight:  # otherwise the list ended meanwhile
                cursor.in_flight.remove(position)
                cursor.early_pages[position] = number, result, size
            while cursor.place.position in cursor.early_pages:
                self._add_page_of(cursor, request, *cursor.early_pages.pop(cursor.place.position))
        # A page that failed again is noted by now; this one came.
        was_tried = [cursor.attempts > 0 for cursor in request.cursors] == [True]
        if was_tried and self._batch == 1 and self._fails_alone is None:
            self._fails_alone = False

    def _refuse_batch(self, request: PageRequest) -> bool:
        """Reopen lists for smaller requests; return whether the request was larger than usual."""
        if len(request.cursors) <= self._batch:
            return False
        self._sizes.refused_batch = True
        self._release_cursors(request)
        return True

    def _repeat_first(self, result: Result) -> bool:
        """Return whether to send the first request again, with changes."""
        paths = [read_error_path(error) for error in result.errors]
        if not self._is_plain and self._plan.omit_refused(paths):
            return True
        lost = any(self._find_lost_field(path) is not None for path in paths)
        if lost and not self._first_attempts and any(map(is_transient_error, result.errors)):
            self._first_attempts = 1
            return True
        lost = lost or not isinstance(result.data, dict) or None in result.data.values()
        if lost and self._limit_first(list_messages_of(result.errors)):
            return True
        names = {tuple(step for step in path if isinstance(step, str)) for path in paths}
        failed = [path for path in names if lost or not has_value(result.data, path)]
        if not self._is_plain and self._plan.omit_refused(failed, below=True):
            return True
        # A server that hides its messages refuses a size that was added as it refuses anything.
        return lost and self._sizes.leave_out_added(failed)

    def _limit_first(self, messages: list[str]) -> bool:
        """Reduce the first pages if the messages are about their size; return whether it did."""
        about = [text for text in messages if is_about_size(text)]
        self._first_attempts += 1
        if not about or self._first_attempts >= MAX_FIRST_ATTEMPTS or self._is_plain:
            return False
        largest = self._sizes.largest
        if self._sizes.limit_all(find_size_limit(about, largest) or max(1, largest // 2)):
            return True
        return self._plan.lower_sizes(partial(find_size_limit, about))

    def _begin_data(self, result: Result) -> None:
        self.begun = True
        self.data = result.data
        self._errors = list(result.errors)
        if not isinstance(self.data, dict):
            for error in self._errors:
                self._doubts.add("", explain_loss(error))
            return
        if self._plan.schema is None:
            shape = build_response_shape(self._plan.document, None)
            self._unknown_lists = tuple(find_unknown_lists(self.data, shape, self._plan.fields))
        for field, size in self._sizes.list_unrequested():
            name = format_argument(field.arguments.size)
            self._doubts.add(field.name, f"the query has `{name}: {size}`.")
        for field in filter(self._plan.has_both_sizes, self._sizes.base_sizes):
            self._doubts.add(field.name, "`first:` and `last:` together leave items out.")
        if not self._is_plain:
            lists = (suspect for suspect in self._plan.suspects if not suspect.is_nested)
            self._unpaged_rows += sum(sum(suspect.read_lengths(self.data)) for suspect in lists)
            self._experiments.examine_lists(self.data)
        self._add_lists(None, self.data)
        self._note_unanswered(self.data, self._errors)
        self._note_errors_without_path(self._errors)
        paged = ((field.name, field.steps) for field in self._sizes.base_sizes if not field.outer)
        others = ((s.name, (*s.steps, s.keys[0])) for s in self._plan.suspects if s.leaves)
        for name, steps in () if self._errors else (*paged, *others):
            if is_null(self.data, steps):
                self._doubts.add(name, NULL_LIST)
        if not self._is_plain:
            remove_fields(self.data, self._plan.hidden)

    def _note_errors_without_path(
        self, errors: Iterable[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """Return the errors without a path, noting a doubt for each: they may concern any list."""
        found = [error for error in errors if not read_error_path(error)]
        for error in found:
            message = sanitize_text(error.get("message", ""), 200)
            self._doubts.add("", f"an error does not say which field it concerns: {message}")
        return found

    def _note_unanswered(
        self, data: object, errors: Iterable[Mapping[str, Any]], above: ResponsePath = ()
    ) -> None:
        """Note a doubt for each list that an error left incomplete: of it, an item, or its parent.

        The paths of the errors start at `data`, whose own path is `above`. An error of a whole list
        is a doubt also if the list is not null, but empty, as GitHub sends some.
        """
        names = [step for step in above if isinstance(step, str)]
        for error in errors:
            path = read_error_path(error)
            null = find_null(data, path)
            place = (*names, *(null or [step for step in path if isinstance(step, str)]))
            lost = self._find_lost_field(place) if place else None
            if lost is None and null and self._plan.has_inner(place):
                lost = ".".join(place)  # may be a list without pages
            if lost is not None:
                self._doubts.add(lost, explain_loss(error))

    def _add_lists(
        self,
        outer: PagedField | None,
        holder: dict[str, Any],
        where: ResponsePath = (),
        before: Mapping[str, int] = NO_COUNTS,
    ) -> None:
        """Start the lists in the data, or in a page of another list.

        `before` is the number of items that the lists of the page had before it.
        """
        for field in self._plan.fields:
            if field.outer is outer and field.is_kept:
                self._keep_lists(field, holder)
            elif field.outer is outer and not field.followed and not self._is_plain:
                self._check_left_out(field, holder)
            if field.outer is not outer or field not in self._sizes.base_sizes:
                continue
            begun = []
            for (*path,), page in find_lists(holder, field):
                cursor = ListCursor(field, page, keeps_rows=self._keep)
                cursor.attach(holder, path)
                if before:
                    path[1] = int(path[1]) + before[str(path[0])]
                cursor.path = (*where, *(step for step in path if step != PLAIN_LIST_STEP))
                cursor.place.begin(self._plan.read_start(field))
                cursor.round, cursor.evidence.longest_answer = self._round, self.longest_answer
                if field.is_outermost:
                    self._outermost.append(cursor)
                if field.last_row:
                    cursor.last_page = get_at_path(self.data, field.last_row)
                if not field.total:  # nothing counts the rows that cursors may lose
                    cursor.note_shared_cursors(page)
                size = self._sizes.get_size(field) or self._plan.read_size(field)
                self._add_page(cursor, page, size)
                begun.append(cursor)
            self._shared_limits[field].add_lists(begun)

    def _find_lost_field(self, path: ResponsePath) -> str | None:
        """Return the name of the first list that stands at or below a path, or None."""
        names = tuple(step for step in path if isinstance(step, str))
        for field in self._sizes.base_sizes:
            if any(each[: len(names)] == names for each in list_response_paths(field)):
                return field.name
        return None

    def _keep_lists(self, field: PagedField, holder: dict[str, Any]) -> None:
        """Take lists with the size that is written for them; follow the lists in their rows."""
        size = self._plan.read_size(field) or 0
        written = f"`{format_argument(field.arguments.size)}: {size}`"
        cursors = []
        for _, page in find_lists(holder, field):
            cursor = ListCursor(field, page)
            cursors.append(cursor)
            cursor.add_lengths(page, size)
            if cursor.evidence.last_length >= size > 0:
                self._note_kept(field.name, written)
            self._unpaged_rows += cursor.evidence.last_length if field.outer is None else 0
            self._add_lists(field, page)
        self._shared_limits[field].add_lists(cursors)

    def _check_left_out(self, field: PagedField, holder: dict[str, Any]) -> None:
        """Note a doubt for each list that `path` leaves out, unless its first page is the whole."""
        for _, page in find_lists(holder, field):
            cursor = ListCursor(field, page, reachable=True)
            cursor.place.begin(self._plan.read_start(field))
            cursor.add_lengths(page, self._plan.read_size(field))
            self._note_total(cursor, page)
            reason = advance_cursor(cursor, page, new=True, cut=False, counted=False)
            # A list that would be continued to be sure is judged like one that cannot be.
            counted = (
                cursor.evidence.total == cursor.evidence.last_length != cursor.place.requested_size
            )
            proved = cursor.evidence.is_verifying or (
                cursor.evidence.is_probing and (counted or check_bound(cursor) == COMPLETE)
            )
            if reason != COMPLETE and not proved:
                self._doubts.add(field.name, f"{LEFT_OUT}.")
            self._add_lists(field, page)

    def _add_page_of(
        self,
        cursor: ListCursor,
        request: PageRequest,
        number: int,
        result: Result,
        size: int | None,
    ) -> None:
        """Process the page of one list, from an answer with several."""
        field, steps = cursor.field, cursor.build_page_steps(number)
        page = get_at_path(result.data, steps)
        lookup = field.anchor.lookup if cursor.key is not None and field.anchor else None
        errors = move_errors(result.errors, steps, cursor.path, cursor.count_lengths())
        page = {PLAIN_LIST_STEP: page} if field.is_plain and isinstance(page, list) else page
        if not isinstance(page, dict) and (
            cursor.evidence.is_verifying or (not result.errors and self._is_behind_last(cursor))
        ):
            self._end_list(cursor, COMPLETE)
            return
        within = move_errors(result.errors, steps, (), {})
        if self._leave_out_refused(cursor, [read_error_path(error) for error in within]):
            return
        is_failed = any(is_transient_error(error) and not error["path"] for error in within)
        if not isinstance(page, dict) or (is_failed and not cursor.attempts):
            # A page that perhaps does not exist leaves a doubt, but does not make the data partial.
            shown = [] if cursor.evidence.is_probing else errors
            self._lose_page(cursor, request, [*errors, *result.errors])
            self._errors += [] if cursor in self._open else shown
            return
        self._errors += errors
        self._note_unanswered(page.get(PLAIN_LIST_STEP, page), within, cursor.path)
        if lookup is not None and lookup.is_verified and not cursor.has_keys(result.data, number):
            self._end_list(
                cursor, "the endpoint returned a different object than the one requested"
            )
            return
        if self._is_refused(cursor, page, size):
            self._open.append(cursor)
            return
        if cursor.is_grown and size is not None:
            size -= cursor.place.received
            page = cursor.leave_out_received(page)
        overlap = cursor.place.overlap
        if overlap and not cursor.remove_overlap(page):
            self._doubts.add(field.name, MOVED if self.detects_changes else LOST_ROW)
        if field.info.is_of_row:
            overlap = cursor.drop_repeated_rows(page)
        goes_on = self._add_page(cursor, page, None if size is None else size - overlap)
        if size is not None:
            count = cursor.evidence.last_length + overlap
            self._sizes.note_answer(field, size, count, request.cost, goes_on=goes_on)

    def _leave_out_refused(self, cursor: ListCursor, paths: Sequence[ResponsePath]) -> bool:
        """Reopen a list whose page has errors of added fields; return whether it was reopened."""
        refused = [path for path in paths if any(ADDED_PREFIX in str(step) for step in path)]
        if not refused:
            return False
        steps = cursor.field.steps
        if not self._plan.omit_refused([(*steps, *path) for path in refused]) and cursor.attempts:
            return False
        cursor.attempts += 1
        self._open.append(cursor)
        return True

    def _is_refused(self, cursor: ListCursor, page: Mapping[str, Any], size: int | None) -> bool:
        """Return whether a page is not the next one, or too short; it is requested otherwise."""
        is_verified = cursor.evidence.is_verifying  # by a larger page, which tells
        if size is not None and not is_verified and self._sizes.may_cut(cursor, page, size):
            self._sizes.refuse_size(cursor.field, size, ())
            return True
        if cursor.field.kind == "page":
            return cursor.check_numbering(page)  # they are counted from 1: page 1 was the first one
        is_rounded = cursor.is_rounded_down(page, size)
        self._rounding |= {cursor.field} if is_rounded else set()
        return is_rounded

    def _is_behind_last(self, cursor: ListCursor) -> bool:
        """Return whether nothing says that a page exists, and the one before looks like the last.

        Medplum returns null for it instead of an empty list.
        """
        length, size = cursor.evidence.last_length, cursor.place.requested_size
        longest = max(n for (field, _), n in self._largest.items() if field is cursor.field)
        is_whole = length < longest or not is_likely_truncated(length, size)
        return cursor.evidence.is_probing and is_whole

    def _lose_page(
        self, cursor: ListCursor, request: PageRequest, errors: list[Mapping[str, Any]]
    ) -> None:
        """Request a page again that came as null if it may then be answered, else end its list."""
        if cursor.go_to_end_cursor():
            self._open.append(cursor)
            return
        cursor.attempts += 1
        is_alone = len(request.cursors) == 1
        # The fields of a request may share what serves only one of them at a time, such as a
        # session of SQLAlchemy. Pages are then requested one by one, unless that fails as well.
        may_be_shared = bool(errors) and not (is_alone or self._fails_alone)
        self._batch = 1 if may_be_shared else self._batch
        if may_be_shared or (cursor.attempts == 1 and any(map(is_transient_error, errors))):
            self._open.append(cursor)
            return
        if is_alone and cursor.attempts > 1 and self._fails_alone is None:
            self._fails_alone, self._batch = True, PAGES_PER_BATCH
        reason = explain_loss(errors[0]) if errors else f"{LOST_PREFIX}its page is null"
        self._end_list(cursor, reason)
        self._lost[cursor] = reason

    def _add_page(self, cursor: ListCursor, page: dict[str, Any], size: int | None) -> bool:
        """Add a page to its list; return whether another page is known to follow."""
        # The first page is the target of the list itself, so that only later ones are joined.
        field, before = cursor.field, cursor.got
        cursor.add_lengths(page, size)
        if self.detects_changes:
            cursor.begin_overlap(page)
        largest = (field, cursor.place.requested_size)
        self._largest[largest] = max(self._largest[largest], cursor.evidence.last_length)
        duplicates = cursor.remove_duplicates(page)
        self._duplicates += duplicates
        cut = cursor.keep_items(page, self._get_max_items(cursor))
        self._note_total(cursor, page)
        joins = page is not cursor.target
        self._add_lists(field, page, cursor.path, cursor.count_lengths() if joins else NO_COUNTS)
        late = self._plan.has_late_start(field)  # then the total includes items before the start
        reason = advance_cursor(cursor, page, new=cursor.got > before, cut=cut, counted=not late)
        if joins:
            if field.hidden:
                remove_fields(page.get(PLAIN_LIST_STEP, page), field.hidden)
            for key in field.beside:
                if page.get(key) != cursor.target.get(key):
                    self._doubts.add(field.name, DIFFERENT_BESIDE.format(key))
            cursor.merge(page)
        if reason is None:
            waiting = self._held if field.is_outermost and not self._keep else self._open
            if not cursor.is_waiting:
                waiting.append(cursor)
        elif reason == MAY_CONTINUE:
            self._undecided.append(cursor)
        else:
            self._end_list(cursor, reason)
        return reason is None and (field.is_outermost or not cursor.evidence.is_probing)

    def _note_total(self, cursor: ListCursor, page: Mapping[str, Any]) -> None:
        field = cursor.field
        total = read_integer(get_at_path(page, field.total)) if field.total else None
        if total is None:
            self._uncounted.add(field)
            return
        evidence = cursor.evidence
        received = cursor.place.received - evidence.last_length
        is_of_page = field.total == ADDED_COUNT and total <= cursor.got
        if self._plan.has_late_start(field) or is_of_page:
            return
        if evidence.note_total(total, received, cursor.got):
            self._doubts.add(field.name, "the count changed while paging.")

    def _end_list(self, cursor: ListCursor, reason: str) -> None:
        is_lost = is_empty_promise(cursor) or lacks_counted(cursor)
        if reason == SAME_CURSOR or (reason == COMPLETE and is_lost):
            self._begin_by_offset(cursor.field)
        if reason == COMPLETE:
            doubt = describe_doubt(cursor)
            if doubt is not None:
                self._doubts.add(cursor.field.name, doubt)
        else:
            self._doubts.ends[cursor.field.name, reason] += 1
            if len(self._stopped) < MAX_REPORTED_CURSORS and cursor.place.position is not None:
                self._stopped[cursor] = None
        cursor.release()

    def _begin_by_offset(self, field: PagedField) -> None:
        """Begin again by an offset, if a connection takes one, as its cursors lost rows."""
        # PostGraphile 4, and SubQuery with it, compares with the value in a cursor: nothing comes
        # after a null, and of large numbers JSON has only the first digits. Medplum gives no cursor
        # of the next page for most orders.
        first, schema = field.carriers[0], self._plan.schema
        root = None if schema is None else schema.query_type
        is_placed = bool({"after", "before", "last"} & first.arguments.keys())
        if not (self._keep and self.limits.experiments) or is_placed or len(field.steps) > 1:
            return
        if first.declared is None or root is None or not self._has_roles or field.outer is not None:
            return
        ways = find_page_arguments(first.declared, {})
        way = next((way for way in ways if way.kind == "offset"), None)
        if way is not None:
            self._experiments.add_role((root.name, first.name), ListRole(way))
            again = f"its cursors lost rows, so it was read by `{format_argument(way.position)}`"
            self._remarks[f"{field.name}: {again}."] = None

    # -- failures

    def add_failure(self, request: PageRequest, error: GqlnbError) -> bool:
        """Process the failure of a request; return whether to continue, with changed requests."""
        self._unanswered.pop(request, None)
        self.requests += request.sent
        errors = error.result.errors if error.result is not None else ()
        messages, is_query_error = list_messages(error), isinstance(error, QueryError)
        is_first = not (self.begun or self._is_plain)
        # Neither a missing permission nor a rate limit depends on the size of a request.
        may_be_growth = not (isinstance(error, TransportError) and error.status in {401, 403, 429})
        if (
            self._refuse_trial(request, error)
            or self._is_verification(request, errors if may_be_growth else None)
            or (may_be_growth and self._refuse_batch(request))
            or (may_be_growth and self._refuse_growth(request, errors, messages))
        ):
            return True
        # A limit of cost or aliases is of the whole request: fewer pages keep their size.
        if is_query_error and len(request.cursors) > 1:
            self._batch = max(1, len(request.cursors) // 2)
            self._release_cursors(request)
            return True
        names_size = is_query_error and not is_first and any(map(is_about_size, messages))
        too_large = names_size or is_overload(error) or has_size_error(errors)
        if too_large and self._shrink_pages(request):
            return True
        if is_query_error and request.cursors and self._plan.schema is None:  # it was guessed
            self._end_guessed(request, sanitize_text(error, 200))
            return True
        self._release_cursors(request)
        return is_first and self._change_first(error, messages)

    def _change_first(self, error: GqlnbError, messages: list[str]) -> bool:
        """Return whether to send the first request with less added to it, or unchanged."""
        plan = self._plan
        for added in (plan.added_infos, plan.added_counts):
            # Older recordings were made without these fields.
            if isinstance(error, ReplayError) and not added <= plan.omitted:
                plan.omitted |= added
                return True
        if not isinstance(error, QueryError):
            return False
        if self._limit_first(messages):
            return True
        if not plan.added_counts <= plan.omitted:
            plan.omitted |= plan.added_counts
        elif not self._sizes.leave_out_added({field.steps for field in plan.fields}):
            # Sent unchanged, the errors name lines of the user's own text.
            self._is_plain = True
            self._sizes.base_sizes.clear()
            reason = f"The query was not accepted with pages: {sanitize_text(error, 200)}"
            self._doubts.add("", reason)
        return True

    def _refuse_growth(
        self,
        request: PageRequest,
        errors: Iterable[Mapping[str, Any]],
        messages: list[str] | None = None,
    ) -> bool:
        """Reopen the lists with the last accepted page size; return whether pages had grown."""
        grown = {
            cursor.field: size
            for cursor, size in zip(request.cursors, request.sizes, strict=True)
            if size is not None and self._sizes.is_grown(cursor.field, size)
        }
        if not grown:
            return False
        messages = messages or list_messages_of(errors)
        for field, size in grown.items():
            self._sizes.refuse_size(field, size, messages)
        self._release_cursors(request)
        return True

    def _end_guessed(self, request: PageRequest, message: str) -> None:
        """End the lists of a request that was refused, as how they go on was guessed.

        If it looks an object up, the others cannot be looked up, either.
        """
        ended = dict.fromkeys(request.cursors)
        if any(cursor.key is not None for cursor in ended):
            ended |= {cursor: None for cursor in self._open if cursor.key is not None}
        self._open = [cursor for cursor in self._open if cursor not in ended]
        for cursor in ended:
            what = "its next page was refused" if cursor.key is None else CANNOT_REPEAT
            self._end_list(cursor, f"{what}: {message}")

    def recall_requests(self) -> None:
        """Reopen the lists of all requests without an answer."""
        while self._unanswered:
            self._release_cursors(self._unanswered.popitem()[0])

    def _release_cursors(self, request: PageRequest) -> None:
        for cursor, position in zip(request.cursors, request.positions, strict=True):
            cursor.in_flight.discard(position)
            if position == cursor.place.position and cursor not in self._open:
                self._open.append(cursor)

    def is_heavy(self, error: BaseException) -> bool:
        """Return whether to request smaller pages instead of retrying."""
        return is_overload(error) and self._sizes.can_halve

    def _shrink_pages(self, request: PageRequest) -> bool:
        """Reopen the lists with halved pages; return whether that is possible."""
        sizes = self._sizes
        if not sizes.base_sizes or (not sizes.can_halve and len(request.cursors) <= 1):
            return False
        self._release_cursors(request)
        sizes.halve(request.scale)
        return True

    # -- larger lists in rows

    def _choose_larger_sizes(self) -> dict[PagedField, int]:
        """Return larger sizes for lists in rows that go on and cannot be requested again.

        The first pages of the outermost lists are then requested again. Lists that may have been
        cut together are left as they are: a larger size does not tell whether they were.
        """
        is_first = self._round == 0 and self._keep and not self._is_plain
        if not (is_first and self._has_roles and self.limits.experiments):
            return {}
        fields = {
            cursor.field for cursor in (*self._stopped, *self._undecided) if cursor.unreachable
        }
        fields = {field for field in fields if not self._shared_limits[field].is_likely}
        return self._sizes.enlarge({field: len(find_pages(self.data, field)) for field in fields})

    def _take_larger(
        self, larger: Mapping[PagedField, int], data: object, messages: Iterable[str]
    ) -> bool:
        """Begin again with the answer to larger sizes, unless they were refused or cost rows."""
        fields = [*larger, *filter(None, (field.outer for field in larger))]
        added = [count_first_rows(data, f) - count_first_rows(self.data, f) for f in fields]
        is_taken = isinstance(data, dict) and min(added) >= 0
        if is_taken:
            sizes = self._sizes
            self._start(self._plan)
            self._sizes = sizes
            sizes.base_sizes.update(larger)
            self._larger |= larger
        for field, size in larger.items():
            if not is_taken or max(added) == 0:
                self._sizes.refuse_size(field, size, messages)
        return is_taken

    # -- experiments

    def _note_kept(self, name: str, written: str) -> None:
        self._remarks[f"{name}: {KEPT_AS_WRITTEN.format(written, name)}"] = None
        self._kept[name] = None

    def _refuse_trial(self, request: PageRequest, error: GqlnbError) -> bool:
        """Process the failure of an experiment; stop all where the endpoint needs a rest."""
        if not request.is_trial:
            return False
        if request.larger:
            self._take_larger(request.larger, None, list_messages(error))
        elif isinstance(error, QueryError | ReplayError) or is_overload(error):
            self._experiments.advance(None, list_messages(error))
        else:
            self._experiments.end(f"the experiments ended: {sanitize_text(error, 200)}")
        return True

    # -- page by page

    def start_next_page(self) -> bool:
        """Empty the outermost lists for their next page; return whether there may be one."""
        self._open, self._held = [*self._open, *self._held], []
        self._close_proved()
        self.handed_out = False
        if not self._open:
            return False
        self._errors = []
        self.data = self._empty_data()
        for cursor in self._outermost:
            target = get_at_path(self.data, cursor.path)
            cursor.target = {PLAIN_LIST_STEP: target} if cursor.field.is_plain else target
        return self._left > 0

    def collect_remaining(self) -> None:
        """Join all pages from now on, without a page that was handed out."""
        self._keep = True
        if self.handed_out:
            self.start_next_page()
        for cursor, reason in self._lost.items():
            self._doubts.ends[cursor.field.name, reason] -= 1
            self._stopped.pop(cursor, None)
            cursor.attempts = 0
            self._open.append(cursor)
        self._doubts.ends = +self._doubts.ends
        self._lost = {}
        self._open, self._held = [*self._open, *self._held], []

    def _empty_data(self) -> dict[str, Any]:
        """Return the data without the items of the outermost lists."""
        if self._skeleton is None:
            cursors = (
                (each.target, items.key) for each in self._outermost for items in each.field.items
            )
            lists = (target.get(key) for target, key in cursors)
            # As if they were copied already: to copy the items would take long.
            emptied: dict[int, Any] = {id(items): [] for items in lists if isinstance(items, list)}
            self._skeleton = deepcopy(self.data, emptied)
        return deepcopy(self._skeleton)

    @property
    def is_empty_page(self) -> bool:
        """Whether the present page only shows that there are no more items."""
        is_first = not any(cursor.place.pages > 1 for cursor in self._outermost)
        has_items = any(cursor.has_items for cursor in self._outermost)
        return not (is_first or has_items or self._errors)

    # -- the result

    @property
    def list_names(self) -> list[str]:
        """The dotted names of the outermost lists to follow."""
        fields = [field for field in self._plan.fields if field.outer is None and field.followed]
        return list(dict.fromkeys(field.name for field in fields))

    @property
    def has_positions(self) -> bool:
        """Whether an outermost list is continued by positions, which shift."""
        return any(cursor.has_positions for cursor in self._outermost)

    @property
    def is_open(self) -> bool:
        """Whether a list can be continued."""
        waits = self._open or self._held or self._lost or self._experiments.is_open
        return bool(waits) or not self.begun

    @property
    def got(self) -> int:
        """Number of items of the outermost lists so far."""
        return sum(cursor.got for cursor in self._outermost) + self._unpaged_rows

    @property
    def expected(self) -> int | None:
        """Number of items in the outermost lists; None if a total is unknown."""
        return self.count_expected(None)

    def count_expected(self, most: int | None) -> int | None:
        """Return the number of items in the outermost lists, of each at most `most`."""
        totals = [cursor.evidence.total for cursor in self._outermost]
        known = [total for total in totals if total is not None]
        if not known or len(known) < len(totals):
            return None
        return self._unpaged_rows + sum(min(total, most or total) for total in known)

    def name_unproved(self) -> str:
        """Return the names of the lists whose end is not proved yet, for people."""
        lists = (cursor.field.name for cursor in (*self._open, *self._held))
        names = [*dict.fromkeys([*self._experiments.list_names(), *lists])]
        shown = ", ".join(names[:MAX_NAMED])
        return f"{shown}, ..." if names[MAX_NAMED:] else shown

    def build_result(self, ended: str | None = None) -> Result:
        """Return the data so far as one result, which :meth:`gqlnb.Client.resume` can continue.

        `ended` is the reason if paging was interrupted.
        """
        result = Result(
            data=self.data,
            errors=tuple(self._errors),
            extensions=self._extensions,
            document=self._plan.document,
            source=self._source,
            variables=self._plan.variables,
            report=self.build_report(ended),
        )
        result = hide_decimals(result) if self._has_decimals else result
        return keep_crawler(result, self) if self.is_open else result

    def build_page(self) -> Result:
        """Return the present page as a result."""
        result = self.build_result()
        self._forms = observe_forms(get_shape(result), self.data, self._forms)
        return attach_forms(result, self._forms)

    def build_report(self, ended: str | None = None) -> Report:
        """Return the report; `ended` is the reason if paging was interrupted."""
        self._experiments.judge_later_pages(self.data)
        if ended is None and (self._open or self._held or self._experiments.is_open):
            spent = STOPPED if self.is_stopped else "max_requests"
            ended = spent if self._left <= 0 else MORE_PAGES_FOLLOW
        ended = ended or self._doubts.get_first_end()
        open_ = [*self._stopped, *self._open, *self._held][:MAX_REPORTED_CURSORS]
        undecided = Counter(
            cursor.field.name
            for cursor in self._undecided
            if cursor.evidence.last_length
            >= self._largest[cursor.field, cursor.place.requested_size]
        )
        doubts, left_out = self._doubts.format_lines(undecided)
        doubts += [
            f"{field.name}: {SHARED_LIMIT}"
            for field, limit in self._shared_limits.items()
            if limit.is_likely
        ]
        expected = self.expected if ended == COMPLETE else None
        if expected is not None and self.got != expected:
            doubts.append(
                f"{self.got:,} items were received, and the endpoint counts {expected:,}."
            )
            doubts += list(filter(None, map(explain_cap, self._outermost)))[:1]
        for field, size in self._larger.items():
            length = self._largest[field, size]
            # There are endpoints that return 100 rows at most, say, and compare them with the size
            # that was requested to say whether others follow.
            if field in self._uncounted and length < size and is_default_limit(length):
                name = format_argument(field.arguments.size)
                doubts.append(f"{field.name}: {AT_MOST.format(length, f'{name}: {size}')}")
        if self._unknown_lists:
            names = ", ".join(self._unknown_lists[:3])
            doubts.append(f"{names}: may have more items, which is unknown without a schema.")
        notes = [*doubts]
        is_kept = any(field.is_kept for field in self._plan.fields)
        has_lists = self._sizes.base_sizes or self._plan.suspects or is_kept
        if self.begun and not (has_lists or self._is_plain):
            notes.append(NO_LIST)
        notes += self._experiments.sentences
        notes += self._remarks
        if self._sizes.base_sizes and self._plan.schema is None:
            notes.append("Lists were found by their names, as no schema is available.")
        return Report(
            self.got,
            self.expected,
            self._duplicates,
            self.requests,
            ended,
            tuple(notes),
            {format_path(each.path, 120): str(each.place.position) for each in open_},
            tuple(doubts),
            left_out,
            len(self._cached_at),
            min(self._cached_at, default=None),
            tuple(self._kept),
        )


def find_pages(data: object, field: PagedField) -> list[dict[str, Any]]:
    """Return the pages of a field in the first answer."""
    holders = [data] if field.outer is None else find_pages(data, field.outer)
    return [page for holder in holders for _, page in find_lists(holder, field)]


def count_first_rows(data: object, field: PagedField) -> int:
    """Return the number of rows in the pages of a field in the first answer."""
    pages = find_pages(data, field)
    return sum(len(page.get(items.key) or ()) for page in pages for items in field.items)


def explain_loss(error: Mapping[str, Any]) -> str:
    """Return why a list did not come, with the message of an error, which may be empty."""
    message = sanitize_text(error.get("message", ""), 200)
    return LOST_PREFIX + (message or "an error without a message")
