"""What may stand where the cursor is, and what stands there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.notebook.completion.operations import Top
from gqlnb.notebook.completion.tokens import Token, tokens
from gqlnb.notebook.completion.walk import Walk, defined

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.notebook.completion.proposal import Proposal

__all__ = ["Completion", "at", "complete"]


class Completion(NamedTuple):
    """What may stand at the cursor.

    Attributes
    ----------
    typed
        How many characters before the cursor belong to the name that it is in or behind.
    proposals
        The names that may stand there and begin as it does, deprecated ones last.
    """

    typed: int
    proposals: list[Proposal]


def complete(
    schema: GraphQLSchema | None,
    text: str,
    offset: int,
    saved: Mapping[str, str] | None = None,
) -> Completion:
    """Return what may stand at the cursor; the text may be broken in any way.

    Parameters
    ----------
    schema
        The schema; None where it is not known: then fragments, variables and keywords remain.
    text
        The document.
    offset
        Where the cursor is, in characters.
    saved
        The type conditions of further fragments, by name.

    Returns
    -------
    Completion
        Nothing inside comments and strings, and where a name would be glued to something else:
        in and behind a number, or the first dots of a spread.
    """
    found = tokens(text)
    if any(token.holds(offset) or _glued(token, offset) for token in found):
        return Completion(0, [])
    start = next((t.start for t in found if t.kind == "name" and t.start < offset <= t.end), offset)
    word = text[start:offset].lower()
    walk = walked(schema, found, start, saved)
    names = [found for found in walk.proposals() if _begins(found.name, word)]
    return Completion(offset - start, sorted(names, key=_order))


def at(
    schema: GraphQLSchema | None,
    text: str,
    offset: int,
    saved: Mapping[str, str] | None = None,
) -> Proposal | None:
    """Return what the name at the cursor is; None where it is nothing that is known.

    Parameters are those of :func:`complete`. On an alias it is the field behind it.
    """
    found = tokens(text)
    touched = [n for n, t in enumerate(found) if t.kind == "name" and t.start <= offset <= t.end]
    if not touched:
        return None
    here = touched[-1]
    proposal = _known(schema, found, here, saved)
    behind = [token.text for token in found[here + 1 : here + 3]]
    if proposal is None and behind[:1] == [":"]:
        return _known(schema, found, here + 2, saved)
    return proposal


def _known(
    schema: GraphQLSchema | None, found: list[Token], place: int, saved: Mapping[str, str] | None
) -> Proposal | None:
    if place >= len(found):
        return None
    token = found[place]
    walk = walked(schema, found, token.start, saved)
    return next((seen for seen in walk.proposals() if seen.name == token.text), None)


def walked(
    schema: GraphQLSchema | None,
    found: list[Token],
    start: int,
    saved: Mapping[str, str] | None,
) -> Walk:
    """Return the walk to `start`, knowing the fragments of the whole text."""
    document = defined(found)
    if saved:
        document = document._replace(fragments={**saved, **document.fragments})
    ahead = [token for token in found if token.start > start]
    walk = Walk(schema, document, ahead)
    walk.enter(Top(walk))
    walk.read(token for token in found if token.end <= start)
    return walk


def _glued(token: Token, offset: int) -> bool:
    return token.kind in ("number", "other") and token.start < offset <= token.end


def _begins(name: str, word: str) -> bool:
    return name.lower().startswith(word) or (name[:1] == "$" and name[1:].lower().startswith(word))


def _order(proposal: Proposal) -> tuple[bool, bool]:
    return proposal.deprecated, proposal.name.startswith("__")
