"""The documents of a schema, remembered by their text; so is what was wrong with a text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.errors import Problem, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.model.document import Document
    from gqlnb.model.limits import Limits

    # Of a text, the name of its operation, the limits, and whether introspection is allowed.
    Parse = Callable[[str, str | None, Limits | None, bool], Document]

__all__ = ["TEXT_KEPT", "remembering"]

KEPT = 512  # texts per schema; a notebook or a server repeats few
# Characters; what is longer is parsed anew, so that strangers can't fill memory.
TEXT_KEPT = 16_000
NAME_KEPT = 200
REFUSAL_KEPT = 16_000  # messages repeat the names of the text


class Refusal(NamedTuple):
    """What a wrong text is answered: its problems, or a message where there are none."""

    message: str
    problems: tuple[Problem, ...]


def remembering(parse: Parse) -> Parse:
    """Return a function that does as `parse` and remembers, also what it refuses."""

    @lru_cache(KEPT)
    def kept(
        text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document | Refusal:
        try:
            return parse(text, operation, limits, introspection)
        except QueryError as error:
            refusal = Refusal("" if error.problems else str(error), error.problems)
            said = sum(len(each.message) + len(each.hint or "") for each in refusal.problems)
            if said + len(refusal.message) > REFUSAL_KEPT:
                raise
            return refusal

    def document(
        text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        if type(text) is not str or len(text) > TEXT_KEPT:
            return parse(text, operation, limits, introspection)
        if operation is not None and (type(operation) is not str or len(operation) > NAME_KEPT):
            return parse(text, operation, limits, introspection)
        found = kept(text, operation, limits, introspection)
        if type(found) is Refusal:  # raised anew: whoever catches an error may change it
            raise QueryError(found.message, text=text, problems=found.problems)
        return found  # type: ignore[return-value]

    return document
