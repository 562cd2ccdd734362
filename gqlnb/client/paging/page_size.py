"""Page sizes, which grow on long lists and shrink for overloaded endpoints; size errors."""

from __future__ import annotations

import re
from collections import Counter
from sys import maxsize
from typing import TYPE_CHECKING, Any

from gqlnb.client.paging.completeness import may_be_bounded
from gqlnb.document.paging_conventions import get_at_path
from gqlnb.document.paging_plan import DEFAULT_PAGE_SIZE
from gqlnb.document.suspect_lists import is_default_limit, is_long_limit
from gqlnb.errors import TransportError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gqlnb.client.endpoint import PagingOptions
    from gqlnb.client.paging.cursors import ListCursor
    from gqlnb.document.paged_fields import PagedField
    from gqlnb.document.paging_plan import PagingPlan
    from gqlnb.errors import GqlnbError

ANSWERS_BEFORE_REGROWTH = 4  # successful answers before halved pages grow again
MAX_HALVINGS = 7  # from a page of 100 to one item
# A refused page costs a request, so larger pages are tried only for long lists.
PAGES_BEFORE_GROWTH = 5
LISTS_BEFORE_GROWTH = 10  # inner lists with PAGES_BEFORE_GROWTH further pages, on average
GROWTH = 4  # 100,000 rows from pages of 100 then take 18 requests
LARGEST_PAGE = 10_000  # items of a page, and rows of a request
LARGEST_BATCH = 40  # pages of a request
LARGEST_ANSWER = 8 * 2**20  # bytes per page; a client accepts 64 MiB
SLOW_SECONDS = 5.0  # for one page; slower pages do not grow, as clients wait 60 s at most
ASSUMED_LIST_LENGTH = 10  # items of an inner list of unknown size
OVERLOAD_STATUSES = frozenset({502, 504})  # from gateways, if the service takes too long
TOO_MUCH_CODES = frozenset(
    {"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "EXCESSIVE_PAGINATION"}
)
# GitHub: "exceeds the `first` limit of 100 records"; Saleor: "Requesting 101 records ... exceeds";
# Shopify: "query cost ... exceeds the single query max cost limit"; graphql-armor, Hot Chocolate.
SIZE_PATTERN = re.compile(
    r"\b(?:first|last|limit|take|page ?size|per ?page|pagination|records|rows|items)\b"
    r"|exceed|complex|cost|\bmax|too (?:many|much|large|big|high|long)|at most|less than|greater",
    re.IGNORECASE,
)
MAX_TEXTS = 100  # texts of errors that are searched for a limit
TRACES = frozenset({"stacktrace", "stackTrace", "stack", "trace", "exception", "debugMessage"})
NUMBER_PATTERN = re.compile(r"(?<![\w.])(\d{1,3}(?:[,_']\d{3})+|\d{1,7})(?![\w.]*\d)")


class PageSizes:
    """The page sizes of the followed fields.

    Parameters
    ----------
    plan
        The paged fields of a query.
    limits
        The limits of paging.
    grows
        Whether pages may be larger than in the query.
    most
        The endpoint's largest page size; None if it is unknown.

    Attributes
    ----------
    base_sizes
        Sizes of the first pages before halving, of all followed fields; None for a size that the
        endpoint chooses.
    scale
        Present number of halvings.
    full_requests
        Number of answered requests with as many pages as are usual.
    refused_batch
        Whether a request for more pages than that was refused.
    """

    def __init__(
        self, plan: PagingPlan, limits: PagingOptions, *, grows: bool, most: int | None = None
    ) -> None:
        self.scale = self._calm_answers = self.full_requests = 0
        self.refused_batch = False
        self._is_chosen = limits.page_size is not None
        self._grows = grows and not self._is_chosen
        self._text_sizes = {field: plan.read_size(field) for field in plan.fields}
        # Pages of another size would begin at other rows than the page that the text asks for.
        self._fixed = {*filter(plan.may_start_later, plan.fields)}
        self._endpoint_maximum = most
        self._limits: dict[PagedField, int] = {}  # found by asking for more
        self._accepted: dict[PagedField, int] = {}
        self._filled: dict[PagedField, int] = {}  # by as many items
        self._row_bytes: dict[PagedField, int] = {}
        self._further_pages: Counter[PagedField] = Counter()  # pages after the first of their list
        self.base_sizes: dict[PagedField, int | None] = {}
        for field in plan.fields:
            size = self._choose_size(field, limits)
            if field.followed and (size is None or size > 0):
                self.base_sizes[field] = size

    def _choose_size(self, field: PagedField, limits: PagingOptions) -> int | None:
        """Return the page size of a field; None to leave it to the endpoint."""
        text_size = self._text_sizes[field]
        if text_size is not None and text_size < 0 and field.kind == "offset":
            return None  # Directus returns all items for -1; the next page shows whether it did
        if text_size is not None and text_size <= 0:
            return text_size  # requests no items, or is refused; either way the user's choice
        if field in self._fixed:
            return text_size
        found = field.arguments.found_size
        if field.kind == "none" or not field.arguments.size:
            return found if field.kind == "none" else None
        is_inner = not field.is_outermost and field.kind != "cursor"
        if is_inner and limits.page_size is None and text_size is None and found is None:
            return None  # most servers return such inner lists whole, which is checked later
        # The size in the text is where pages begin; a size that the user fixed is kept.
        if self._grows and found is not None:
            text_size = found
        size = limits.page_size or text_size or found or DEFAULT_PAGE_SIZE
        if field.is_outermost and limits.max_results is not None:
            size = min(size, limits.max_results)
        return size

    def get_size(self, field: PagedField) -> int | None:
        """Return the size of a field's first page; None if the endpoint chooses it."""
        base = self.base_sizes.get(field)
        if base is None or field in self._fixed:
            return base
        return max(1, base >> self.scale)

    def list_edits(self) -> dict[PagedField, int]:
        """Return the page sizes that differ from those in the query."""
        sizes = {field: self.get_size(field) for field in self.base_sizes}
        return {f: s for f, s in sizes.items() if s is not None and s != self._text_sizes[f]}

    def leave_out_added(self, failed: Collection[tuple[str, ...]]) -> bool:
        """Leave sizes that nobody chose to the endpoint, of fields that failed.

        Return whether there were any; `failed` are the response names that lead to the fields.
        """
        added = [
            field
            for field, size in self.base_sizes.items()
            if size is not None and self._text_sizes[field] is None and field.steps in failed
            if not self._is_chosen
        ]
        self.base_sizes.update(dict.fromkeys(added))
        return bool(added)

    def list_unrequested(self) -> list[tuple[PagedField, int]]:
        """Return the fields of which the query requests no items, with their sizes in it."""
        return [
            (field, size)
            for field, size in self._text_sizes.items()
            if field.followed and size is not None and size <= 0 and field not in self.base_sizes
        ]

    # -- growing

    def enlarge(self, lists: Mapping[PagedField, int]) -> dict[PagedField, int]:
        """Return larger sizes for the first pages of fields, by the number of their lists."""
        larger = {}
        for field, together in lists.items():
            can_grow = self._grows and field in self.base_sizes and field not in self._fixed
            if not can_grow or not field.arguments.size or (self._text_sizes[field] or 1) < 0:
                continue
            base = self.base_sizes[field] or 1
            size = min(
                DEFAULT_PAGE_SIZE if base < DEFAULT_PAGE_SIZE else base * GROWTH,
                LARGEST_PAGE // max(1, together),
                self._limits.get(field, LARGEST_PAGE),
                self._endpoint_maximum or LARGEST_PAGE,
            )
            if size > base:
                larger[field] = size
        return larger

    def next_size(self, cursor: ListCursor, together: int = 1) -> int | None:
        """Return the size of a list's next page.

        Parameters
        ----------
        cursor
            The list.
        together
            Number of pages in the request.
        """
        field = cursor.field
        base = self.get_size(field)
        if base is None or not self._grows or self.scale or field.kind == "page":
            return base  # with another page size, page numbers refer to other items
        steps = cursor.place.pages - PAGES_BEFORE_GROWTH + 1
        if field.outer is not None:  # one of many lists, which are likely to be of similar length
            grown = self._further_pages[field] // (LISTS_BEFORE_GROWTH * PAGES_BEFORE_GROWTH)
            steps = max(steps, grown)
        if steps <= 0:
            return base
        size = min(
            base * int(GROWTH ** min(steps, 10)),
            LARGEST_PAGE // (self._count_rows_per_item(field) * together),
            self._limits.get(field, LARGEST_PAGE),
            self._endpoint_maximum or LARGEST_PAGE,
        )
        if field in self._row_bytes:
            size = min(size, LARGEST_ANSWER // max(1, self._row_bytes[field]))
        return max(base, size)

    def _count_rows_per_item(self, field: PagedField) -> int:
        """Return the number of rows that come with one item: itself and its inner lists."""
        inner = (each for each in self.base_sizes if each.outer is field)
        return 1 + sum(
            (self.base_sizes[each] or ASSUMED_LIST_LENGTH) * self._count_rows_per_item(each)
            for each in inner
        )

    def note_answer(
        self, field: PagedField, size: int, count: int, cost: tuple[int, float], *, goes_on: bool
    ) -> None:
        """Adapt to the answer to a request for a page.

        Parameters
        ----------
        field
            The field of the page.
        size
            Items requested.
        count
            Items that came.
        cost
            Bytes and seconds of the answer.
        goes_on
            Whether further items follow.
        """
        answer_bytes, seconds = cost
        self._further_pages[field] += 1
        self._accepted[field] = max(size, self._accepted.get(field, 0))
        if count >= size:
            self._filled[field] = max(size, self._filled.get(field, 0))
        if goes_on and self.is_grown(field, size) and count < (self.get_size(field) or 0):
            # Some services return a small page if too many items are requested.
            self._limits[field] = self.get_size(field) or size
        if count and answer_bytes:
            rows = max(self._row_bytes.get(field, 0), answer_bytes // count)
            self._row_bytes[field] = rows
        if seconds > SLOW_SECONDS:
            self._limits[field] = min(size, self._limits.get(field, size))

    def is_grown(self, field: PagedField, size: int | None) -> bool:
        """Return whether a size is larger than the base size of its field."""
        base = self.get_size(field)
        return size is not None and base is not None and size > base

    def may_cut(self, cursor: ListCursor, page: object, size: int) -> bool:
        """Return whether a larger page than those before it may have ended its list too early."""
        field, total = cursor.field, cursor.evidence.total
        filled = max(self.get_size(field) or 1, self._filled.get(field, 0))
        left = None if total is None else total - cursor.place.next_item
        return self.is_grown(field, size) and may_be_bounded(
            field, page, size, filled=filled, left=left
        )

    def lower_first(self, data: object) -> bool:
        """Lower sizes to the length of first pages that may be cut; return whether any was."""
        is_lowered = False
        for field, size in self.base_sizes.items():
            page = get_at_path(data, field.steps)
            total = get_at_path(page, field.total) if field.total else None
            is_free = field.is_outermost and field not in self._fixed
            if not is_free or not may_be_bounded(field, page, size, left=total):
                continue
            length = max(len(page.get(each.key) or ()) for each in field.items)
            # By chance few lists are as long as services cut them, and as their size is larger.
            is_added = self._text_sizes[field] is None and not self._is_chosen
            if is_default_limit(length) if is_added else is_long_limit(length):
                self.base_sizes[field] = length
                is_lowered = True
        return is_lowered

    def refuse_size(self, field: PagedField, size: int, messages: Iterable[str]) -> None:
        """Take the limit that the refusal of a page size names, or else a size that worked."""
        base = self.get_size(field) or 1
        accepted = max(base, self._accepted.get(field, base))
        if size <= accepted:
            # It was answered before, so the refusal is of something else, such as the position:
            # The Graph refuses `skip` above 5000. What a smaller page brings decides.
            self._accepted[field] = accepted = base
        self._limits[field] = find_size_limit(messages, size, accepted) or accepted

    @property
    def _can_grow_batch(self) -> bool:
        return self._grows and self._endpoint_maximum is None and not self.refused_batch

    def grow_batch(self, batch: int) -> int:
        """Return the number of pages per request; `batch` is the usual number."""
        # It doubles with every few full requests, as there are many open lists then.
        if not self._can_grow_batch:
            return batch
        doublings = min(10, self.full_requests // PAGES_BEFORE_GROWTH)
        return max(batch, min(batch << doublings, LARGEST_BATCH))

    def requests_before_growth(self, batch: int) -> int:
        """Return the number of requests to send at once before the batch may grow."""
        can_grow = self._can_grow_batch and batch < LARGEST_BATCH
        return PAGES_BEFORE_GROWTH if can_grow else maxsize

    # -- shrinking

    def limit_all(self, size: int) -> bool:
        """Limit all page sizes; return whether that changes any."""
        sizes = {f: base for f, base in self.base_sizes.items() if f not in self._fixed}
        larger = [f for f, base in sizes.items() if base is not None and base > size]
        for field in larger:
            self.base_sizes[field] = size
        return bool(larger)

    @property
    def largest(self) -> int:
        """The largest page size at present."""
        sizes = (self.get_size(field) for field in self.base_sizes)
        return max((size for size in sizes if size is not None), default=0)

    @property
    def can_halve(self) -> bool:
        """Whether pages can still be halved."""
        return self.scale < MAX_HALVINGS and self.largest > 1

    def halve(self, scale: int) -> None:
        """Halve the pages, unless they were halved since the request that had `scale` halvings."""
        self.scale, self._calm_answers = max(self.scale, scale + 1), 0

    def grow_back(self) -> None:
        """Count a successful answer; after some of them halved pages grow again."""
        self._calm_answers += 1
        if self.scale and self._calm_answers >= ANSWERS_BEFORE_REGROWTH:
            self.scale, self._calm_answers = self.scale - 1, 0


def is_size_error(error: Mapping[str, Any]) -> bool:
    """Return whether an error in an answer says that the request was too large."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return not TOO_MUCH_CODES.isdisjoint({str(error.get("type")).upper(), str(code).upper()})


def has_size_error(errors: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether one of the errors says that the request was too large."""
    return any(map(is_size_error, errors))


def is_overload(error: BaseException) -> bool:
    """Return whether a gateway gave up on the endpoint, so that a smaller request may succeed."""
    return isinstance(error, TransportError) and error.status in OVERLOAD_STATUSES


def is_about_size(message: str) -> bool:
    """Return whether an error message may be about the page size."""
    return SIZE_PATTERN.search(message) is not None


def find_size_limit(messages: Iterable[str], below: int, above: int = 0) -> int | None:
    """Return the largest number in the messages between two sizes, both excluded.

    Examples
    --------
    >>> find_size_limit(["first: 500 exceeds the limit of 250 records"], 500, 100)
    250
    """
    numbers = (n for text in messages for n in NUMBER_PATTERN.findall(text))
    sizes = (int(re.sub(r"\D", "", number)) for number in numbers)
    return max((size for size in sizes if above < size < below), default=None)


def list_messages(error: GqlnbError) -> list[str]:
    """Return the messages of an error, without the query that its text quotes."""
    errors = error.result.errors if error.result is not None else ()
    own = [problem.message for problem in getattr(error, "problems", ())] or [str(error)]
    return [*own, *list_messages_of(errors)]


def list_messages_of(errors: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the messages of errors in an answer, and texts and numbers in their extensions."""
    # NestJS has the message "Bad Request Exception", and the reason below `originalError`.
    found: list[str] = []
    waiting: list[Any] = [[e.get("message", ""), e.get("extensions")] for e in errors][::-1]
    while waiting and len(found) < MAX_TEXTS:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            kept = [(name, value[name]) for name in reversed(value) if name not in TRACES]
            # A number counts with its name: `maxAllowedItems: 50`.
            waiting.extend(f"{n}: {v}" if isinstance(v, int) else v for n, v in kept)
    return found
