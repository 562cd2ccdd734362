"""The schema of an answer that came before it was known, asked for when a frame first needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.model.decode import keep_exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.model.document import Document
    from gqlnb.model.reading import Answer
    from gqlnb.model.result import Result

    Learn = Callable[[Result], Document | None]

__all__ = ["learning", "settled", "taught"]

KEPT = "_learn"  # beside the members of a result; it is neither copied nor pickled


def learning(result: Result, learn: Learn | None) -> Result:
    """Return a new result whose schema can be learnt.

    Parameters
    ----------
    result
        The result, of a document that was not checked.
    learn
        Returns its document with the schema, or None where that can't be had; it is called once.
    """
    if learn is not None:
        result.__dict__[KEPT] = learn
    return result


def settled(result: Result) -> Result:
    """Return a result that asks for no schema from now on."""
    result.__dict__.pop(KEPT, None)
    return result


def taught(result: Result) -> Answer:
    """Return what the frames of a result are read from; its schema is learnt now if it can be."""
    learn = result.__dict__.get(KEPT)
    if learn is not None:
        document = learn(result)
        settled(result)  # not before: an interrupt leaves it to the next time
        if document is not None:
            result.__dict__["document"] = document
            keep_exact(result)
    return result._answer  # noqa: SLF001 - of the same room
