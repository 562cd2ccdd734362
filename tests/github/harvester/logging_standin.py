"""A stand-in that logs its requests, and the rows of a frame."""

from __future__ import annotations

from threading import Condition
from typing import TYPE_CHECKING, Any

from gqlnb.engine.schema import get_adapter
from gqlnb.github.repositories import Owner
from gqlnb.github.standin.github_schema import StandIn
from gqlnb.github.standin.simulation import Simulation

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["owner", "name", "stargazers"]


class Listening(StandIn):
    """A stand-in that counts its requests, and may fail from a given request on.

    Attributes
    ----------
    asked
        The variables of each request.
    fails
        From which request on it fails, counted from 1; None for never.
    """

    def __init__(self, population: Any, simulation: Simulation | None = None) -> None:
        super().__init__(population, Owner("demo", "User"), simulation or Simulation())
        self.asked: list[dict[str, Any]] = []
        self.fails: int | None = None
        self._news = Condition()
        adapter = get_adapter(self)
        self._execute_document = adapter.execute_document
        adapter.execute_document = self._log_and_execute

    def _log_and_execute(self, document: Any, variables: Any, *more: Any, **options: Any) -> Any:
        """Count the request, then answer or fail."""
        with self._news:
            self.asked.append(dict(variables))
            self._news.notify_all()
        if self.fails is not None and len(self.asked) >= self.fails:
            msg = "The disk of the endpoint is full."
            raise OSError(msg)
        return self._execute_document(document, variables, *more, **options)

    def wait_for(self, requests: int, seconds: float = 60) -> bool:
        """Wait until the given number of requests came."""
        with self._news:
            return self._news.wait_for(lambda: len(self.asked) >= requests, seconds)

    def searches(self) -> list[tuple[str, int, str | None]]:
        """Return the text, the page size and the cursor of each search; 0 only counts."""
        return [
            (asked[f"q{n}"], asked.get(f"n{n}", 0), asked.get(f"a{n}"))
            for asked in self.asked
            for n in range(len(asked))
            if f"q{n}" in asked
        ]


def rows(frame: pd.DataFrame) -> set[tuple[str, str, int]]:
    """Return the rows of a frame, after checking that none comes twice."""
    found = list(frame[KEYS].itertuples(index=False, name=None))
    assert len(set(found)) == len(found)
    return set(found)
