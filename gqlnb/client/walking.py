"""The way through the pages of one query: which request comes next, and what its answer adds.

It sends nothing: it gives requests and takes answers, for the two drivers in
:mod:`gqlnb.client.pages`. Each connection of each object is a chain of pages. The first page rides
on the answer its object came in; every further request carries up to `BATCH` chains, and fewer only
where fewer are open. A connection of n items thus takes ceil(n / page size) pages, at least one,
and no request asks for less than it could.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gqlnb.client.chains import Ask, Chain, beyond, count_of, dotted, found, moved
from gqlnb.client.overload import HEAVY, too_much
from gqlnb.client.sizes import Sizes
from gqlnb.errors import GqlnbError, QueryError, TransportError, plain
from gqlnb.model.paging import Turn
from gqlnb.model.picking import PREFIX
from gqlnb.model.report import COMPLETE, Report
from gqlnb.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gqlnb.client.chains import Path
    from gqlnb.client.extent import Options
    from gqlnb.model.connections import Connection
    from gqlnb.model.paging import Paging

__all__ = ["Ask", "Walk"]

BATCH = 10  # chains in a request; ten lookups cost GitHub one point
CURSORS = 100  # that a report names
NOTHING: Mapping[Any, int] = MappingProxyType({})


class Walk:
    """The pages of one query, on the way.

    Parameters
    ----------
    paging
        Its connections.
    variables
        Its JSON-like variables.
    options
        How far to go.
    source
        Where the answers are from.
    keep
        Whether all pages are put together; otherwise each makes way for the next.
    """

    def __init__(
        self,
        paging: Paging,
        variables: Mapping[str, Any],
        options: Options,
        source: str,
        *,
        keep: bool = True,
    ) -> None:
        self.paging, self.variables, self.options = paging, dict(variables), options
        self.source, self.keep = source, keep
        self.data: Any = None
        self.begun = self.handed = False
        self.requests = self.duplicates = 0
        self._errors: list[Mapping[str, Any]] = []
        self._extensions: Mapping[str, Any] = {}
        self._open: list[Chain] = []
        self._asked: dict[Ask, None] = {}  # and not answered yet
        self._held: list[Chain] = []  # outermost ones, until their page is handed out
        self._outermost: list[Chain] = []
        self._stopped: dict[Chain, None] = {}
        self._ends: Counter[tuple[str, str]] = Counter()
        self._said: dict[str, None] = {}
        self._round = 0
        self._plain = False  # whether the text is sent as it was written
        self._most = BATCH
        self._skeleton: Any = None
        self._order = {each: number for number, each in enumerate(paging.connections)}
        self._sizes = Sizes(paging, self.variables, options)

    # -- what to send

    def first(self) -> Ask:
        """Return the first request."""
        if self._plain:
            document = self.paging.document
            return Ask(document.text, self.variables, operation=document.name)
        text, used = self.paging.first(self._sizes.edits())
        return Ask(text, self._used(used), scale=self._sizes.scale)

    def asks(self, width: int = 1) -> list[Ask]:
        """Return the requests that come next, all of which may be sent at once; none at the end.

        They are full where as many chains are open: what is left over waits for the next ones. Up
        to `width` ask for pages of the same chains, where their cursors can be told beforehand.
        """
        left = self._left()
        if self._spent:
            return []
        most = max(1, self._most >> self._sizes.scale)
        self._open.sort(key=self._rank)
        self._round += 1
        count = max(1, len(self._open) // most) if self._open else 0
        count = count if left is None else min(count, left)
        taken, self._open = self._open[: count * most], self._open[count * most :]
        asks = [self._ask(taken[at : at + most]) for at in range(0, len(taken), most)]
        room = (width if left is None else min(width, left)) - 1
        if self.keep and len(asks) == 1 and not self._open and self._foreseen(taken):
            sizes = [(self._sizes.of(each.connection), self._most_of(each)) for each in taken]
            asks += [self._ask(*each) for each in islice(beyond(taken, sizes), room)]
        self._asked.update(dict.fromkeys(asks))
        return asks

    def _rank(self, chain: Chain) -> tuple[Any, ...]:
        """Return what orders chains: outer ones first, those with most to come, those that waited.

        Not the order in which answers came, or the number of requests would depend on threads.
        """
        connection = chain.connection
        left = 0 if chain.total is None else chain.got - chain.total
        return connection.depth, left, chain.round, self._order[connection], chain.where

    def _ask(self, chains: list[Chain], cursors: list[Any] | None = None, step: int = 0) -> Ask:
        turns = [Turn(each.connection, self._size(each, step), each.on) for each in chains]
        text, used = self.paging.next(turns, self._sizes.edits())
        variables = self._used(used)
        cursors = cursors or [each.cursor for each in chains]
        for number, (chain, cursor) in enumerate(zip(chains, cursors, strict=True)):
            variables[f"{PREFIX}c{number}"] = cursor
            chain.flying.add(cursor)
            chain.round = self._round
            if chain.on is not None:
                variables[f"{PREFIX}i{number}"] = chain.id
        return Ask(text, variables, chains, cursors, self._sizes.scale)

    def _foreseen(self, chains: list[Chain]) -> bool:
        """Tell whether more pages may be asked for: they are whole, and no inner chain joins."""
        sizes = self._sizes
        return not sizes.scale and not any(sizes.inside(each.connection) for each in chains)

    def _most_of(self, chain: Chain) -> int | None:
        """Return the most items that are wanted of it; None for all."""
        return self.options.max_results if chain.outermost else None

    def _size(self, chain: Chain, step: int = 0) -> int:
        size, most = self._sizes.of(chain.connection), self._most_of(chain)
        return size if most is None else min(size, most - chain.got - step * size)

    def _used(self, names: set[str]) -> dict[str, Any]:
        return {name: value for name, value in self.variables.items() if name in names}

    def _left(self) -> int | None:
        most = self.options.max_requests
        return None if most is None else most - self.requests

    @property
    def _spent(self) -> bool:
        left = self._left()
        return left is not None and left <= 0

    # -- what came

    def took(self, ask: Ask, result: Result) -> None:
        """Take in the answer to a request."""
        self._asked.pop(ask, None)
        self.requests += ask.sent
        if any(map(too_much, result.errors)):
            if self._shrink(ask):
                return
        else:
            self._sizes.grow()
        self._extensions = result.extensions or self._extensions
        if not self.begun:
            self._begin(result)
            return
        self._errors += [each for each in result.errors if not each.get("path")]
        for number, (chain, cursor) in enumerate(zip(ask.chains, ask.cursors, strict=True)):
            if cursor in chain.flying:  # or it ended meanwhile
                chain.flying.remove(cursor)
                chain.early[cursor] = number, result
            while chain.cursor in chain.early:
                self._page_of(chain, *chain.early.pop(chain.cursor))

    def _begin(self, result: Result) -> None:
        self.begun = True
        self.data = result.data
        self._errors = list(result.errors)
        if isinstance(self.data, dict):
            self._harvest(None, self.data)
            if self.paging.hidden is not None and not self._plain:
                self.paging.hidden.strip(self.data)

    def _harvest(
        self,
        outer: Connection | None,
        holder: dict[str, Any],
        where: Path = (),
        before: Mapping[Any, int] = NOTHING,
    ) -> None:
        """Begin the chains of the connections in the data, or in a page of one of them.

        `before` is how many items a page's lists had before it.
        """
        for each in self.paging.connections:
            if each.outer is not outer or each not in self._sizes:
                continue
            for place in found(holder, each.steps, each.anchor.depth if each.anchor else -1):
                path = place.path
                if before:
                    path = (path[0], int(path[1]) + before[path[0]], *path[2:])
                chain = Chain(each, place.value, (*where, *path))
                chain.root(place)
                chain.round = self._round
                if outer is None:
                    self._outermost.append(chain)
                self._take(chain, place.value)

    def _page_of(self, chain: Chain, number: int, result: Result) -> None:
        """Take in the page of one chain of a request of several."""
        steps, page = chain.connection.steps, result.data
        if chain.on is not None and chain.connection.anchor is not None:
            steps = (f"{PREFIX}{number}", *steps[chain.connection.anchor.depth :])
        for step in steps:
            page = page.get(step) if isinstance(page, dict) else None
        told = (moved(each, steps, chain.where, chain.before()) for each in result.errors)
        errors = [each for each in told if each is not None]
        self._errors += errors
        if not isinstance(page, dict):
            said = [plain(e.get("message", ""), 200) for e in (*errors, *result.errors)]
            why = said[0] if said else "its page came as null"
            self._end(chain, f"not answered: {why}")
            return
        self._take(chain, page)

    def _take(self, chain: Chain, page: dict[str, Any]) -> None:
        """Take in a page of a chain, the first one where it is the chain's own target."""
        connection = chain.connection
        before = chain.got
        chain.came += count_of(page, connection)
        self.duplicates += chain.dedupe(page)
        cut = self._cut(chain, page)
        chain.got += count_of(page, connection)
        info = page.get(connection.info)  # before it is hidden
        joins = page is not chain.target
        self._harvest(connection, page, chain.where, chain.before() if joins else NOTHING)
        self._count(chain, page)
        if joins:
            if connection.hidden is not None:
                connection.hidden.strip(page)
            chain.merge(page)
        reason = self._go_on(chain, info, new=chain.got > before, cut=cut)
        if reason is not None:
            self._end(chain, reason)

    def _cut(self, chain: Chain, page: dict[str, Any]) -> bool:
        """Cut a page of an outermost connection to what was asked for; tell if that is enough."""
        most = self._most_of(chain)
        if most is None:
            return False
        for each in chain.connection.items:
            items = page.get(each.key)
            if isinstance(items, list):
                left = most - chain.got
                page[each.key] = items[-left:] if chain.connection.backward else items[:left]
        return chain.got + count_of(page, chain.connection) >= most

    def _count(self, chain: Chain, page: Mapping[str, Any]) -> None:
        name = chain.connection.total
        total = page.get(name) if name and not self._begun_late(chain.connection) else None
        if not isinstance(total, int) or isinstance(total, bool):
            return
        if chain.total is not None and total != chain.total:
            self._note(f"{chain.connection.name}: the count changed while paging.")
        chain.total = total

    def _begun_late(self, connection: Connection) -> bool:
        """Tell whether the query itself gives a cursor, so that the count says nothing."""
        return connection.outer is None and self.paging.begins(connection, self.variables)

    def _go_on(self, chain: Chain, info: Any, *, new: bool, cut: bool) -> str | None:
        """Open a chain for its next page; return why there is none."""
        has, end = chain.connection.words
        if not isinstance(info, dict):
            return "no pageInfo came"
        if not info.get(has):
            return COMPLETE
        chain.barren = 0 if new else chain.barren + 1
        reason = "max_results" if cut else chain.stuck(info.get(end))
        if reason is None and not chain.waits:
            (self._open if self.keep or not chain.outermost else self._held).append(chain)
        return reason

    def _end(self, chain: Chain, reason: str) -> None:
        chain.forget()
        if reason != COMPLETE:
            self._ends[chain.connection.name, reason] += 1
            if len(self._stopped) < CURSORS and chain.cursor is not None:
                self._stopped[chain] = None

    def _note(self, sentence: str) -> None:
        self._said[sentence] = None

    # -- what failed

    def failed(self, ask: Ask, error: GqlnbError) -> bool:
        """Take in that a request failed; tell whether to go on, with smaller requests."""
        self._asked.pop(ask, None)
        self.requests += ask.sent
        said = error.result.errors if error.result is not None else ()
        heavy = isinstance(error, TransportError) and error.status in HEAVY
        if (heavy or any(map(too_much, said))) and self._shrink(ask):
            return True
        if isinstance(error, QueryError) and len(ask.chains) > 1:
            self._most = max(1, len(ask.chains) // 2)
            self._release(ask)
            return True
        if isinstance(error, QueryError) and not self.begun and not self._plain:
            self._plain = True  # what is wrong is told of the text as it is
            self._sizes.clear()
            self._note(f"The query was not accepted with pages: {plain(error, 200)}")
            return True
        guessed = self.paging.schema is None and any(each.on is not None for each in ask.chains)
        if isinstance(error, QueryError) and guessed:
            for chain in ask.chains:
                reason = plain(error, 200)
                self._end(chain, f"its objects cannot be asked for again: {reason}")
            return True
        self._release(ask)
        return False

    def recall(self) -> None:
        """Give back the chains of the requests that were not answered."""
        while self._asked:
            self._release(self._asked.popitem()[0])

    def _release(self, ask: Ask) -> None:
        for chain, cursor in zip(ask.chains, ask.cursors, strict=True):
            chain.flying.discard(cursor)
            if cursor == chain.cursor:  # the others' turn has not come
                self._open.append(chain)

    def heavy(self, error: BaseException) -> bool:
        """Tell whether smaller pages may help more than asking for the same again."""
        small = self._sizes.halved_out or self._sizes.single
        return isinstance(error, TransportError) and error.status in HEAVY and not small

    def _shrink(self, ask: Ask) -> bool:
        """Halve the pages; tell whether that could be done."""
        sizes = self._sizes
        if sizes.halved_out or not sizes or (sizes.single and len(ask.chains) <= 1):
            return False
        self._release(ask)
        sizes.halve(ask.scale)
        return True

    # -- page by page

    def turn_over(self) -> bool:
        """Make way for the next page of the outermost connections; tell whether to ask for it."""
        self._open, self._held = [*self._open, *self._held], []
        self.handed = False
        if not self._open:
            return False
        self._errors = []
        self.data = self._empty()
        for chain in self._outermost:
            target = self.data
            for step in chain.where:
                target = target[step]
            chain.target = target
        return not self._spent

    def gather(self) -> None:
        """Put together what is still to come, without a page that was handed out."""
        self.keep = True
        if self.handed:
            self.turn_over()
        self._open, self._held = [*self._open, *self._held], []

    def _empty(self) -> Any:
        """Return the data without the items of the outermost connections."""
        if self._skeleton is None:
            kept = []
            for chain in self._outermost:
                for each in chain.connection.items:
                    if isinstance(chain.target.get(each.key), list):
                        kept.append((chain.target, each.key, chain.target[each.key]))
                        chain.target[each.key] = []
            self._skeleton = deepcopy(self.data)
            for target, key, items in kept:
                target[key] = items
        return deepcopy(self._skeleton)

    # -- what there is

    @property
    def open(self) -> bool:
        """Whether a chain could go on."""
        return bool(self._open or self._held) or not self.begun

    @property
    def got(self) -> int:
        """Items of the outermost connections so far."""
        return sum(chain.got for chain in self._outermost)

    @property
    def wanted(self) -> int | None:
        """Items of them there will be, as far as is known."""
        totals = [chain.total for chain in self._outermost]
        if not totals or None in totals:
            return None
        most = self.options.max_results
        return sum(t if most is None else min(t, most) for t in totals if t is not None)

    def result(self, ended: str | None = None) -> Result:
        """Return what came so far as one result."""
        return Result(
            data=self.data,
            errors=tuple(self._errors),
            extensions=self._extensions,
            document=self.paging.document,
            source=self.source,
            variables=self.variables,
            report=self.report(ended),
        )

    def report(self, ended: str | None = None) -> Report:
        """Return what was done; `ended` says why, where the walk was ended from outside."""
        if ended is None and (self._open or self._held) and self._spent:
            ended = "max_requests"
        reasons = sorted(self._ends, key=lambda end: end[0].count("."))
        ended = ended or next((why for _, why in reasons), COMPLETE)
        totals = [chain.total for chain in self._outermost if chain.connection in self._sizes]
        expected = None if not totals or None in totals else sum(t for t in totals if t is not None)
        open_ = [*self._stopped, *self._open, *self._held][:CURSORS]
        return Report(
            self.got,
            expected,
            self.duplicates,
            self.requests,
            ended,
            tuple(self._notes(expected if ended == COMPLETE else None)),
            {dotted(each.where): str(each.cursor) for each in open_},
        )

    @property
    def _unknown(self) -> str:
        """What to say where no schema is known."""
        advice = ": no schema is known. Look at client.schema once to have all of them followed"
        return advice if self.paging.schema is None else ""

    def _notes(self, expected: int | None) -> Iterator[str]:
        if self.begun and not self._sizes and not self._plain:
            yield f"The query has no connection to follow{self._unknown}."
        for (name, reason), count in self._ends.items():
            times = "" if count == 1 else f" ({count:,} times)"
            yield f"{name}: {reason}{times}"
        yield from self._said
        if self._sizes and self.paging.schema is None:
            yield f"Connections were found by their names{self._unknown}."
        if expected is not None and self.got != expected:
            yield f"{self.got:,} items came, and the endpoint counts {expected:,}."
