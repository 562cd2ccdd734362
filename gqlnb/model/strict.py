"""The error for values that do not fit where reading is strict."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from gqlnb.errors import FrameError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["StrictError", "way_out"]

WAY_OUT = "Pass strict=False to keep what does not fit as it came."


class StrictError(FrameError):
    """A value that does not fit, which is an error only because reading is strict.

    Parameters
    ----------
    fact
        What it is and where, in sentences.
    """

    def __init__(self, fact: str) -> None:
        super().__init__(f"{fact} {WAY_OUT}")
        self._fact = fact

    def suggest(self, way_out: str) -> None:
        """Replace the advice by one that fits where the frame was asked for."""
        self.args = (f"{self._fact} {way_out}",)


@contextmanager
def way_out(advice: str) -> Iterator[None]:
    """Let a `StrictError` that is raised within say how to go on from here."""
    try:
        yield
    except StrictError as error:
        error.suggest(advice)
        raise
