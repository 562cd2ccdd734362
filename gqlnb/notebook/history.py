"""What the cells of this session asked."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from gqlnb.errors import OptionError
from gqlnb.notebook.shown import Listing, Text

__all__ = ["Asked", "History"]

KEPT = 1000  # cells; their texts are small
SHOWN = 20  # cells of a listing


@dataclass(frozen=True, slots=True)
class Asked:
    """One operation that was run.

    Attributes
    ----------
    connection
        Whom it was asked of.
    operation
        Its kind and name.
    outcome
        What came, in a word or two: data, a number of errors or events, the name of an exception.
    text
        Its text; its variables are not kept.
    """

    connection: str
    operation: str
    outcome: str
    text: str


class History:
    """The operations that ran, numbered from 1, the latest thousand of them."""

    def __init__(self) -> None:
        self._asked: deque[Asked] = deque(maxlen=KEPT)
        self._count = 0

    def add(self, asked: Asked) -> None:
        """Note an operation."""
        self._asked.append(asked)
        self._count += 1

    @property
    def _first(self) -> int:
        """The number of the oldest operation that is still held."""
        return self._count - len(self._asked) + 1

    def listing(self) -> Listing:
        """Return the latest operations, the last one at the end."""
        rows = [
            (number, it.connection, it.operation, it.outcome)
            for number, it in enumerate(self._asked, self._first)
        ][-SHOWN:]
        note = "%graphql history NUMBER shows the text." if rows else "No cell has run yet."
        return Listing(["number", "connection", "operation", "outcome"], rows, note)

    def texts(self, connection: str) -> list[str]:
        """Return the texts that were asked of a connection, oldest first."""
        return [it.text for it in self._asked if it.connection == connection]

    def text(self, number: int) -> Text:
        """Return the text of an operation.

        Raises
        ------
        OptionError
            If there is none of that number.
        """
        first = self._first
        if first <= number <= self._count:
            return Text(self._asked[number - first].text)
        told = f"{first} to {self._count}" if self._asked else "none yet"
        message = f"The history has no number {number}; there are: {told}."
        raise OptionError(message)
