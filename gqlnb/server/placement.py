"""Where an operation is executed: at once on the loop where it has proven fast, else in a thread.

A hop to a thread and back costs more than a short operation; an operation that blocks the loop
costs everybody. No resolver says which of the two it is, but it shows. A request that was executed
fast `PROOF` times is proven: asked again word for word, variables included, it is executed on the
loop. A text is proven when `TEXTS` requests of it are, which differ in their variables. After slow
executions on the loop it must prove itself anew, and for longer each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from gqlnb.model.document import Document
    from gqlnb.model.result import Result
    from gqlnb.wire.request import Request

__all__ = ["Done", "Known", "Placement", "Proof"]

K = TypeVar("K")
V = TypeVar("V")

FAST = 0.001  # seconds; a hop takes a tenth of it, in an idle interpreter
SLOW = 0.005  # seconds: as long as another thread may keep the interpreter, which is no fault of it
TOO_SLOW = 0.05  # seconds
SUSPECTED = 100  # fast executions
PROOF = 2  # fast executions
TEXTS = 16  # proven requests
MOST = 1024  # fast executions or proven requests that are asked for at most
REQUESTS = 512  # remembered; the oldest are forgotten
BODY = 4096  # bytes of a request that is remembered, so that strangers fill two megabytes at most


class Done(NamedTuple):
    """What became of the plain resolvers of a request.

    Attributes
    ----------
    outcome
        A Result, or an awaitable of one where a resolver was ``async``.
    document, variables
        What was executed.
    seconds
        How long that took, without parsing and validation.
    """

    outcome: Result | Awaitable[Result]
    document: Document
    variables: Mapping[str, Any]
    seconds: float


class Proof:
    """How often something was fast, and how often that is asked of it."""

    __slots__ = ("fast", "needed", "suspected")

    def __init__(self, needed: int) -> None:
        self.fast = 0
        self.needed = needed
        self.suspected = 0  # fast executions until a slow one is forgotten

    def __bool__(self) -> bool:
        return self.fast >= self.needed

    def kept(self, seconds: float) -> None:
        """Note how long an execution kept the loop.

        A machine that does something else makes anything slow once in a while. What is slow twice,
        or very slow once, begins anew, and more is asked of it.
        """
        if seconds <= SLOW:
            if self.suspected:
                self.suspected -= 1
            return
        if seconds > TOO_SLOW or self.suspected:
            self.fast = 0
            self.needed = min(4 * self.needed, MOST)
        self.suspected = SUSPECTED


class Known:
    """A query that was executed before, ready to be executed again.

    Attributes
    ----------
    document, variables
        What to execute.
    proof, text
        What it has shown, and what all requests of its text have.
    begun
        Executions on the loop that turned out to wait for something: for who asks next.
    """

    __slots__ = ("begun", "document", "proof", "text", "variables")

    def __init__(self, done: Done, text: Proof) -> None:
        self.document = done.document
        self.variables = done.variables
        self.text = text
        self.proof = Proof(PROOF)
        self.begun: list[Any] = []

    def took(self, seconds: float) -> None:
        """Note how long an execution took in a thread."""
        if seconds > SLOW:
            self.proof.fast = self.text.fast = 0
        elif seconds <= FAST:
            self.proof.fast += 1
            self.text.fast += self.proof.fast == self.proof.needed

    def kept(self, seconds: float) -> None:
        """Note how long an execution kept the loop."""
        self.proof.kept(seconds)
        self.text.kept(seconds)


class Placement:
    """What the requests to one schema have shown; used on one loop.

    Parameters
    ----------
    schema
        The schema; its `age`, if it has one, counts how often a resolver was replaced.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._age = self._now()
        self._known: dict[bytes, Known] = {}
        self._texts: dict[tuple[str, str | None], Proof] = {}

    def known(self, body: bytes) -> Known | None:
        """Return what is known of a request: nothing, where a resolver was replaced since."""
        age = self._now()
        if age != self._age:
            self._age = age
            self._known.clear()
            self._texts.clear()
        return self._known.get(body)

    def text(self, request: Request) -> Proof | None:
        """Return what the requests of a text have shown."""
        return self._texts.get((request.query, request.operation_name))

    def learn(self, request: Request, done: Done) -> None:
        """Note that a request was executed in a thread, with nothing to wait for."""
        body = request.raw
        if done.document.kind != "query" or not 0 < len(body) <= BODY:
            return
        known = self.known(body)
        if known is None:
            text = self.text(request)
            if text is None:
                name = request.query, request.operation_name
                text = added(self._texts, name, Proof(TEXTS))
            known = added(self._known, body, Known(done, text))
        known.took(done.seconds)

    def _now(self) -> int:
        return getattr(self.schema, "age", 0)


def added(table: dict[K, V], key: K, value: V) -> V:
    """Add to a table, from which the oldest entry goes if it is full."""
    if len(table) >= REQUESTS:
        del table[next(iter(table))]
    table[key] = value
    return value
