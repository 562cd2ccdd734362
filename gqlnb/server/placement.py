"""Where an operation is executed: at once on the loop where it has proven fast, else in a thread.

A hop to a thread and back costs more than a short operation; an operation that blocks the loop
costs everybody. No resolver says which of the two it is, but it shows. A request that was executed
fast `PROOF` times, without waiting for anything, is proven: asked again word for word, variables
included, it is executed on the loop. After slow executions on the loop it must prove itself anew,
and for longer each time. What waits, however short, may wait for this very loop, and is left to
threads.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.model.variables import bind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from gqlnb.model.document import Document
    from gqlnb.model.result import Result
    from gqlnb.wire.request import Request

__all__ = ["Done", "Known", "Placement", "Proof"]

FAST = 0.001  # seconds; a hop takes a tenth of it, in an idle interpreter
# Seconds: for so long another thread may keep the interpreter, which is not the operation's fault.
SLOW = 0.005
TOO_SLOW = 0.05  # seconds; once is enough to begin anew
SUSPECTED = 100  # fast executions after which a slow one is forgotten
PROOF = 2  # fast executions in threads, at first
# Seconds without work that are not counted as waiting; the shortest exchange with another thread
# takes several times as long.
WAIT = 0.00001
MOST = 1024  # fast executions in threads, however often one was slow on the loop
REQUESTS = 512  # remembered; the oldest are forgotten
FLAT = frozenset({str, int, float, bool})
BODY = 4096  # bytes of a request that is remembered, so that strangers fill two megabytes at most


class Done(NamedTuple):
    """What became of the plain resolvers of a request.

    Attributes
    ----------
    outcome
        A Result, or an awaitable of one where a resolver was ``async``.
    document
        What was executed.
    seconds
        How long that took, without parsing and validation.
    waited
        For how many of them the thread did nothing.
    """

    outcome: Result | Awaitable[Result]
    document: Document
    seconds: float
    waited: float


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
    document
        What to execute.
    proof
        What it has shown.
    begun
        Executions on the loop that turned out to wait for something: for who asks next.
    """

    __slots__ = ("_flat", "_variables", "begun", "document", "proof")

    def __init__(self, document: Document, variables: Mapping[str, Any]) -> None:
        self.document = document
        self.proof = Proof(PROOF)
        self.begun: list[Any] = []
        self._variables = variables
        self._flat = all(value is None or type(value) in FLAT for value in variables.values())

    @property
    def variables(self) -> Mapping[str, Any]:
        """What to execute it with; nothing that a resolver could change for the next one."""
        return self._variables if self._flat else deepcopy(self._variables)


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

    def known(self, body: bytes) -> Known | None:
        """Return what is known of a request: nothing, where a resolver was replaced since."""
        age = self._now()
        if age != self._age:
            self._age = age
            self._known.clear()
        return self._known.get(body)

    def learn(self, request: Request, done: Done) -> None:
        """Note that a request was executed in a thread, with nothing to await."""
        body = request.raw
        if done.document.kind != "query" or not 0 < len(body) <= BODY:
            return
        known = self.known(body)
        if known is None:
            # Bound anew: a resolver has had the others in its hands.
            variables = bind(done.document, request.variables)
            known = self._known[body] = Known(done.document, variables)
            if len(self._known) > REQUESTS:
                del self._known[next(iter(self._known))]
        if done.seconds > SLOW:
            known.proof.fast = 0
        elif done.seconds <= FAST and done.waited <= WAIT:
            known.proof.fast += 1

    def _now(self) -> int:
        return getattr(self.schema, "age", 0)
