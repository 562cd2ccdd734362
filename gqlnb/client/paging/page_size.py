"""How many items a page has: more on long lists, fewer where an endpoint was overloaded."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from gqlnb.document.paging_plan import DEFAULT_PAGE_SIZE
from gqlnb.http.error_responses import is_transient_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gqlnb.client.paging.cursors import ListCursor
    from gqlnb.client.paging.options import PagingLimits
    from gqlnb.document.paged_fields import PagedField
    from gqlnb.document.paging_plan import PagingPlan

__all__ = [
    "OVERLOAD_STATUSES",
    "PageSizes",
    "find_size_limit",
    "is_about_size",
    "is_size_error",
    "is_transient_error",
]

ANSWERS_BEFORE_REGROWTH = 4  # good answers after which halved pages grow again
MAX_HALVINGS = 7  # of pages of 100, that is one item
# A refused page costs a request, so a list must be long before larger pages are tried.
PAGES_BEFORE_GROWTH = 5
LISTS_BEFORE_GROWTH = 10  # inner ones, each with as many further pages, or more with fewer
GROWTH = 4  # 100,000 rows from pages of 100 take 18 requests
LARGEST_PAGE = 10_000  # items of a page, and rows of a request
LARGEST_BATCH = 40  # pages of a request
LARGEST_ANSWER = 8 * 2**20  # bytes that a page should have; a client takes 64 MiB
SLOW_SECONDS = 5.0  # seconds for one page after which pages do not grow; clients wait 60 s
# Limits that services are known to set; tried in this order below a size that was refused.
USUAL_LIMITS = (5000, 2000, 1000, 500, 250, 200, 100, 50)
ASSUMED_LIST_LENGTH = (
    10  # items that a list below an item is taken to have, if nobody says how many
)


class PageSizes:
    """The page sizes of the fields that are followed.

    Parameters
    ----------
    plan
        The paged fields of a query.
    limits
        How far to go.
    grows
        Whether pages may be larger than the text says.
    most
        Most items that the endpoint is known to give in a page; None if that is not known.

    Attributes
    ----------
    scale
        How often the sizes are halved at present.
    """

    def __init__(
        self, plan: PagingPlan, limits: PagingLimits, *, grows: bool, most: int | None = None
    ) -> None:
        self.scale = self._calm_answers = self._full_requests = 0
        self._refused_batch = False
        self._grows = grows and limits.page_size is None
        self._text_sizes = {field: plan.read_size(field) for field in plan.fields}
        self._endpoint_maximum = most
        self._limits: dict[PagedField, int] = {}  # found by asking for more
        self._tried: dict[PagedField, set[int]] = {}
        self._accepted: dict[PagedField, int] = {}
        self._row_bytes: dict[PagedField, int] = {}
        self._further_pages: Counter[PagedField] = Counter()  # pages after the first of their list
        self._base_sizes: dict[PagedField, int | None] = {}
        for field in plan.fields:
            size = self._choose_size(field, limits)
            if field.followed and (size is None or size > 0):
                self._base_sizes[field] = size

    def _choose_size(self, field: PagedField, limits: PagingLimits) -> int | None:
        """Return the page size of a field; None to leave it to the endpoint."""
        said = self._text_sizes[field]
        if said is not None and said < 0 and field.kind == "offset":
            return None  # Directus gives all items for -1; whether it did is asked for
        if said is not None and said <= 0:
            return said  # asks for no items, or is refused: not ours to change
        if field.kind == "none" or not field.arguments.size:
            return None
        if limits.page_size is None and said is None and field.kind != "cursor" and field.outer:
            return None  # most servers give such a list whole, and that is checked
        size = limits.page_size or said or DEFAULT_PAGE_SIZE
        if field.outer is None and limits.max_results is not None:
            size = min(size, limits.max_results)
        return size

    def __contains__(self, field: object) -> bool:
        return field in self._base_sizes

    def __bool__(self) -> bool:
        return bool(self._base_sizes)

    @property
    def fields(self) -> list[PagedField]:
        """The fields that are followed."""
        return list(self._base_sizes)

    def clear(self) -> None:
        """Follow nothing: the text is sent as it is."""
        self._base_sizes.clear()

    def get_size(self, field: PagedField) -> int | None:
        """Return the size of a field's first page; None where the endpoint decides."""
        base = self._base_sizes.get(field)
        return None if base is None else max(1, base >> self.scale)

    def list_edits(self) -> dict[PagedField, int]:
        """Return the page sizes that are not what the text says."""
        sizes = {field: self.get_size(field) for field in self._base_sizes}
        return {f: s for f, s in sizes.items() if s is not None and s != self._text_sizes[f]}

    def list_unrequested(self) -> list[tuple[PagedField, int]]:
        """Return the fields to follow of which the text asks for no items, and what it says."""
        said = ((field, size) for field, size in self._text_sizes.items() if size is not None)
        return [(f, s) for f, s in said if f.followed and s <= 0 and f not in self._base_sizes]

    def has_inner(self, field: PagedField) -> bool:
        """Return whether a field is followed that stands in the items of this one."""
        return any(each.outer is field for each in self._base_sizes)

    # -- growing

    def next_size(self, cursor: ListCursor, together: int = 1) -> int | None:
        """Return the size of a list's next page.

        Parameters
        ----------
        cursor
            The list.
        together
            How many pages the request asks for.
        """
        field = cursor.field
        base = self.get_size(field)
        if base is None or not self._grows or self.scale or field.kind == "page":
            return base  # page numbers mean other items if the size changes
        steps = cursor.pages - PAGES_BEFORE_GROWTH + 1
        if field.outer is not None:  # one of many lists: others may have shown that they are long
            steps = max(
                steps, self._further_pages[field] // (LISTS_BEFORE_GROWTH * PAGES_BEFORE_GROWTH)
            )
        if steps <= 0:
            return base
        size = base * int(GROWTH ** min(steps, 10))
        rows = LARGEST_PAGE // (self._count_rows_per_item(field) * together)
        size = min(
            size,
            rows,
            self._limits.get(field, LARGEST_PAGE),
            self._endpoint_maximum or LARGEST_PAGE,
        )
        if field in self._row_bytes:
            size = min(size, LARGEST_ANSWER // max(1, self._row_bytes[field]))
        return max(base, size)

    def _count_rows_per_item(self, field: PagedField) -> int:
        """Return the rows that come with one item: itself and those in it."""
        inner = (each for each in self._base_sizes if each.outer is field)
        return 1 + sum(
            (self._base_sizes[each] or ASSUMED_LIST_LENGTH) * self._count_rows_per_item(each)
            for each in inner
        )

    def note_answer(
        self, field: PagedField, size: int, count: int, cost: Any, *, goes_on: bool
    ) -> None:
        """Take in how a page was answered.

        Parameters
        ----------
        field
            Its field.
        size
            Items asked for.
        count
            Items that came.
        cost
            Bytes and seconds of the answer.
        goes_on
            Whether there are more items behind the page.
        """
        answer_bytes, seconds = cost
        self._further_pages[field] += 1
        self._accepted[field] = max(size, self._accepted.get(field, 0))
        if goes_on and self.is_grown(field, size) and count < (self.get_size(field) or 0):
            self._limits[field] = (
                self.get_size(field) or size
            )  # some give less if asked for too much
        if count and answer_bytes:
            rows = max(self._row_bytes.get(field, 0), answer_bytes // count)
            self._row_bytes[field] = rows
        if seconds > SLOW_SECONDS:
            self._limits[field] = min(size, self._limits.get(field, size))

    def is_grown(self, field: PagedField, size: int | None) -> bool:
        """Return whether a page was asked for in a larger size than the text's."""
        base = self.get_size(field)
        return size is not None and base is not None and size > base

    def refuse_size(self, field: PagedField, size: int, messages: Iterable[str]) -> None:
        """Take in that an endpoint gives no page of this size: try the next smaller limit."""
        base = self.get_size(field) or 1
        accepted = max(base, self._accepted.get(field, base))
        tried = self._tried.setdefault(field, set())
        tried.add(size)
        named = find_size_limit(messages, size, accepted)
        usual = next((s for s in USUAL_LIMITS if accepted < s < size and s not in tried), None)
        # A service that names its limit is asked for that; of the usual limits two are tried.
        if named is not None and named not in tried:
            self._limits[field] = named
        elif usual is not None and len(tried) <= 2:
            self._limits[field] = usual
        else:
            self._limits[field] = accepted

    def grow_batch(self, batch: int) -> int:
        """Return how many pages a request may ask for, where `batch` is the usual number.

        More where many small lists wait: by then several full requests have been answered.
        """
        if not self._grows or self._endpoint_maximum is not None or self._refused_batch:
            return batch
        doublings = min(10, self._full_requests // PAGES_BEFORE_GROWTH)
        return max(batch, min(batch << doublings, LARGEST_BATCH))

    def requests_before_growth(self, batch: int) -> int | None:
        """Return after how many requests at once to look whether more may be asked for."""
        grows = self._grows and self._endpoint_maximum is None and not self._refused_batch
        return PAGES_BEFORE_GROWTH if grows and batch < LARGEST_BATCH else None

    def note_batch(self, pages: int, batch: int) -> None:
        """Take in that a request for so many pages was answered."""
        self._full_requests += pages >= batch

    def refuse_batch(self) -> None:
        """Take in that a request for more pages than usual was refused."""
        self._refused_batch = True

    # -- shrinking

    def limit_all(self, size: int) -> bool:
        """Ask for at most so many items of each field; return whether that changes anything."""
        larger = [f for f, base in self._base_sizes.items() if base is not None and base > size]
        for field in larger:
            self._base_sizes[field] = size
        return bool(larger)

    @property
    def largest(self) -> int:
        """The largest page size at present."""
        sizes = (self.get_size(field) for field in self._base_sizes)
        return max((size for size in sizes if size is not None), default=0)

    @property
    def can_halve(self) -> bool:
        """Whether pages can still be halved."""
        return self.scale < MAX_HALVINGS and self.largest > 1

    def halve(self, scale: int) -> None:
        """Halve the pages, those that were asked for at `scale`: others may be smaller already."""
        self.scale, self._calm_answers = max(self.scale, scale + 1), 0

    def grow_back(self) -> None:
        """Take in a good answer: after some of them halved pages are larger again."""
        self._calm_answers += 1
        if self.scale and self._calm_answers >= ANSWERS_BEFORE_REGROWTH:
            self.scale, self._calm_answers = self.scale - 1, 0


OVERLOAD_STATUSES = frozenset({502, 504})  # gateways answer so where the service takes too long
TOO_MUCH_CODES = frozenset(
    {"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "EXCESSIVE_PAGINATION"}
)
# GitHub: "exceeds the `first` limit of 100 records"; Saleor: "Requesting 101 records ... exceeds";
# Shopify: "query cost ... exceeds the single query max cost limit"; graphql-armor, Hot Chocolate.
SIZE_PATTERN = re.compile(
    r"\b(?:first|last|limit|take|page ?size|per ?page|pagination|records|rows|items)\b"
    r"|exceed|complex|cost|maxim|too (?:many|much|large|big|high|long)|at most|less than|greater",
    re.IGNORECASE,
)
NUMBER_PATTERN = re.compile(r"(?<![\w.])(\d{1,3}(?:[,_']\d{3})+|\d{1,7})(?![\w.]*\d)")


def is_size_error(error: Mapping[str, Any]) -> bool:
    """Return whether an error of an answer says that less should be asked for at a time."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return not TOO_MUCH_CODES.isdisjoint({str(error.get("type")).upper(), str(code).upper()})


def is_transient_error(error: Mapping[str, Any]) -> bool:
    """Return whether an error of an answer may not come again."""
    return error.get("type") == "INTERNAL" or is_transient_message(error.get("message"))


def is_about_size(message: str) -> bool:
    """Return whether the message of an error may be about the size of a page."""
    return SIZE_PATTERN.search(message) is not None


def find_size_limit(messages: Iterable[str], below: int, above: int = 0) -> int | None:
    """Return the largest number between two sizes, both excluded, that the messages name.

    Examples
    --------
    >>> find_size_limit(["first: 500 exceeds the limit of 250 records"], 500, 100)
    250
    """
    found = [int(re.sub(r"\D", "", n)) for text in messages for n in NUMBER_PATTERN.findall(text)]
    return max((number for number in found if above < number < below), default=None)
