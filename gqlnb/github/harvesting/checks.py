"""The proof that nothing was missed: what has left a search is what was seen in it.

Behind a window that counted C repositories the sweep goes on below its lowest star with others,
which together count D. So C - D repositories have left, and exactly as many of those that the
window showed must show in none of the others. Ids are compared, not stars: it does not matter how
many stars a repository has meanwhile, or how old the index of the search is.
"""

from __future__ import annotations

from math import inf

import msgspec

from gqlnb.github.harvesting.planning import divided
from gqlnb.github.harvesting.scope import Scope
from gqlnb.github.harvesting.windows import Known

__all__ = ["MOST", "ORDERS", "Check"]

MOST = 6
"""How often is asked again to make counts and results agree."""
LOCAL = 3  # how often for pages that came short, before that
SMALL = 3  # from the third time on in halves: the smaller a search, the likelier it is whole
# Another order is another search to the endpoint: what one leaves out the other may show. By stars
# first, as that tells where results are missing.
ORDERS = ("stars-asc", "stars-desc", "forks-desc", "updated-desc", "forks-asc", "updated-asc")


class Check(msgspec.Struct):
    """What a window counted and showed, and what those that go on from it count and show.

    Attributes
    ----------
    number
        Its own.
    scope
        The range that the window should have completed.
    parent
        The number of the check that waits for this window; 0 for none.
    total
        How many the window counted.
    ids
        What it showed, and what was found in its range when it was asked again.
    recent
        What was shown above its range.
    waiting
        How many windows go on from it whose pages are not all there.
    held
        Windows that go on from those, and begin when all of them have shown what they can.
    below, below_total
        What those showed, and how many they counted.
    lacking
        How many results are known to be missing from its pages.
    ranges
        Where some are missing, these or what should have come when it was asked again.
    proving
        Whether it is settled by counts; before that only the pages that came short are repaired.
    doubt
        Whether a window showed fewer than it counted, and nothing tells what became of the others:
        then counts may agree by chance, and the range is asked for again.
    tries
        How often something was asked again.
    rounds
        How often it was for this purpose.
    out
        How many windows that ask again are not finished.
    before
        How many ids there were when they began.
    """

    number: int
    scope: Scope
    parent: int
    total: int
    ids: Known
    recent: Known
    waiting: int = 0
    held: list[int] = []
    below: Known = {}
    below_total: int = 0
    lacking: int = 0
    ranges: list[Scope] = []
    proving: bool = False
    doubt: bool = False
    tries: int = 0
    rounds: int = 0
    out: int = 0
    before: int = 0

    @property
    def left(self) -> int:
        """How many have left, by counts."""
        return self.total - self.below_total

    @property
    def gone(self) -> int:
        """How many have left, by what was shown."""
        return len(self.ids.keys() - self.below.keys())

    @property
    def agrees(self) -> bool:
        """Whether counts and results agree, and not by chance."""
        return self.left == self.gone and not self.doubt

    def knows(self, row_id: str) -> bool:
        """Tell whether a repository was shown by its window or its neighbours."""
        return row_id in self.ids or row_id in self.below or row_id in self.recent

    def again(self, within: Scope) -> list[Scope]:
        """Begin to ask again, and return what for; nothing more than is wanted at all."""
        self.tries += 1
        self.rounds += 1
        self.before = len(self.ids)
        ranges = [_moved(each, within) for each in self.ranges] if self.proving else self.ranges
        scopes, self.ranges = merged(ranges) or [_moved(self.scope, within)], []
        if self.rounds < SMALL:
            return scopes
        created = [moment for moment in self.ids.values() if moment is not None]
        return [part for scope in scopes for part in divided(scope, created, 2)]

    @property
    def order(self) -> str:
        """The order to ask in, another one each time."""
        return ORDERS[(self.tries - 1) % len(ORDERS)]

    def repaired(self) -> bool:
        """Tell whether there is no more to be had from the pages that came short."""
        self.lacking -= len(self.ids) - self.before
        return self.lacking <= 0 or not self.ranges or self.rounds >= LOCAL

    def prove(self) -> None:
        """Begin to compare counts and results."""
        self.proving, self.ranges, self.rounds = True, [], 0


def _moved(scope: Scope, within: Scope) -> Scope:
    """Return a range with a star more on both sides: who moved meanwhile may stand there."""
    high = scope.high
    if high is not None and high != within.high:
        high += 1
    return msgspec.structs.replace(scope, low=max(scope.low - 1, within.low), high=high)


def merged(ranges: list[Scope]) -> list[Scope]:
    """Return ranges of stars, those of one slice of time that meet as one, most stars first."""
    found: list[Scope] = []
    for scope in sorted(ranges, key=_place, reverse=True):
        last = found[-1] if found else None
        if last is None or _slice(last) != _slice(scope) or _place(scope)[1] < last.low:
            found.append(scope)
        else:
            found[-1] = msgspec.structs.replace(last, low=min(last.low, scope.low))
    return found


def _slice(scope: Scope) -> tuple[int, int]:
    return scope.begin or 0, scope.end or 0


def _place(scope: Scope) -> tuple[tuple[int, int], float]:
    return _slice(scope), inf if scope.high is None else scope.high
