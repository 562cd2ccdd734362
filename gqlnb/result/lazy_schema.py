"""The schema of an answer that came before it was known, asked for when a frame first needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.result.decoder import keep_exact_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.document.document import Document
    from gqlnb.result.result import Result
    from gqlnb.result.table_reader import AnswerData

    SchemaLoader = Callable[[Result], Document | None]

__all__ = ["attach_schema_loader", "detach_schema_loader", "load_schema"]

LOADER_KEY = "_learn"  # beside the members of a result; it is neither copied nor pickled


def attach_schema_loader(result: Result, learn: SchemaLoader | None) -> Result:
    """Return a new result whose schema can be learnt.

    Parameters
    ----------
    result
        The result, of a document that was not checked.
    learn
        Returns its document with the schema, or None where that can't be had; it is called once.
    """
    if learn is not None:
        result.__dict__[LOADER_KEY] = learn
    return result


def detach_schema_loader(result: Result) -> Result:
    """Return a result that asks for no schema from now on."""
    result.__dict__.pop(LOADER_KEY, None)
    return result


def load_schema(result: Result) -> AnswerData:
    """Return what the frames of a result are read from; its schema is learnt now if it can be."""
    learn = result.__dict__.get(LOADER_KEY)
    if learn is not None:
        document = learn(result)
        detach_schema_loader(result)  # not before: an interrupt leaves it to the next time
        if document is not None:
            result.__dict__["document"] = document
            keep_exact_bytes(result)
    return result._answer  # noqa: SLF001 - of the same room
