"""The evidence that a page shows all rows of its window."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.lists.windows import Page, Window

__all__ = ["CUT_ROWS", "PROBES", "is_confirmed", "is_whole", "measure_noise"]

PROBES = 20  # counts of one window
# Of 19 pairs of successive counts of a window, rows that come and go change one or two.
QUIET_CHANGES = 6
# While a window is read, mostly fewer rows come or go. An answer that an endpoint cut lacks more:
# without this limit 3 of 20 harvests of 3,000 rows were wrong where a tenth of the texts are cut.
CUT_ROWS = 4
MOST_NOISE = 4  # rows; of larger differences two orders that agree say little


def is_whole(window: Window, page: Page, noise: int = 0) -> bool:
    """Return whether a page shows as many rows of a window as it counts, and names no next page.

    Its rows and its count are of one moment, so that no row can have moved meanwhile. It proves
    completeness together with another count of the window, in another order: endpoints that give
    up a search show fewer rows and count only those.

    Parameters
    ----------
    window, page
        The window and its only page. A row that does not belong to it, or has no value of the
        column, proves nothing: then the endpoint may show it in another window as well.
    noise
        By how many rows counts may be wrong.
    """
    rows = {row.id for row in page.rows if row is not None and window.contains(row)}
    is_clean = len(rows) == len(page.rows) and not (page.more or page.heavy)
    return is_clean and abs(page.total - len(rows)) <= noise


def is_confirmed(total: int, others: Sequence[int]) -> bool:
    """Return whether other counts of a window confirm the one of a whole page.

    Parameters
    ----------
    total
        The count of the page.
    others
        Further counts, of other texts or times. Three equal ones are right even if one is larger.
    """
    same = others.count(total)
    return same >= 3 or (same > 0 and max(others) - total <= CUT_ROWS)


def measure_noise(totals: Sequence[int]) -> int:
    """Return by how many rows counts of the same window vary from answer to answer; mostly 0."""
    changes = sum(first != second for first, second in pairwise(totals))
    return min(MOST_NOISE, max(totals) - min(totals)) if changes > QUIET_CHANGES else 0
