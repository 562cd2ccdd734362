"""The documentation of what stands in a GraphQL text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import is_union_type

from gqlnb.notebook.completion.cursor_parser import (
    CursorParser,
    DocumentState,
    SourceToken,
    find_definitions,
    tokenize,
)
from gqlnb.notebook.completion.proposals import format_input_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphql import GraphQLSchema

    from gqlnb.notebook.completion.proposals import Proposal


__all__ = [
    "Completion",
    "complete_at_cursor",
    "find_at_cursor",
    "render_markdown",
    "write_signature",
]

LISTED = 12  # members of a type that its documentation names
_TICKS = re.compile("`+")
# What would be HTML, or a picture from somewhere: descriptions are an endpoint's words.
# An even number of backslashes before it leaves it active: they escape each other.
_ACTIVE = re.compile(r"(?<!\\)(?:\\\\)*+(?:<(?=[A-Za-z/!?])|!(?=\[))")


def render_markdown(proposal: Proposal) -> str:
    """Return signature, description and deprecation as Markdown.

    Parameters
    ----------
    proposal
        What is documented.

    Returns
    -------
    str
        Without HTML and pictures, whatever the schema says.
    """
    return "\n\n".join([_fence_code(write_signature(proposal)), *_describe(proposal)])


def _fence_code(code: str) -> str:
    """Return code as Markdown that it cannot end itself: default values may hold a fence."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{fence}graphql\n{code}\n{fence}"


def _describe(proposal: Proposal) -> Iterator[str]:
    reason = getattr(proposal.thing, "deprecation_reason", None)
    if reason is not None:
        yield f"**Deprecated.** {_escape_markup(reason)}".rstrip()
    description = getattr(proposal.thing, "description", None)
    if description:
        yield _escape_markup(description)
    described = [
        f"- `{name}`: {_escape_markup(member.description)}"
        for name, member in getattr(proposal.thing, "args", {}).items()
        if member.description
    ]
    if described:
        yield "\n".join(described)


def _escape_markup(text: str) -> str:
    return _ACTIVE.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", text)


def write_signature(proposal: Proposal) -> str:
    """Return what is documented as a schema would define it."""
    write = _SIGNATURE_WRITERS.get(proposal.kind)
    if write is None:
        return f"{proposal.kind} {proposal.name} {proposal.detail}".rstrip()
    return write(proposal)


def _write_field(it: Proposal) -> str:
    return f"{it.owner}.{it.name}{write_arguments(it.thing)}: {it.detail}"


def _write_directive(it: Proposal) -> str:
    places = " | ".join(location.name for location in it.thing.locations)
    return f"directive @{it.name}{write_arguments(it.thing)} on {places}"


_SIGNATURE_WRITERS: dict[str, Callable[[Proposal], str]] = {
    "argument": lambda it: f"{it.owner}({format_input_value(it.name, it.thing)})",
    "directive": _write_directive,
    "enum value": lambda it: f"{it.owner}.{it.name}",
    "field": _write_field,
    "input field": lambda it: f"{it.owner}.{format_input_value(it.name, it.thing)}",
    "type": lambda it: f"{it.detail} {it.name}{_write_type_members(it.thing)}",
    "variable": lambda it: f"${it.name.removeprefix('$')}: {it.detail}",
}


def write_arguments(definition: Any) -> str:
    """Return the arguments of a field or directive as they are defined, several on lines each."""
    written = [format_input_value(name, member) for name, member in definition.args.items()]
    if len(written) < 2:
        return f"({written[0]})" if written else ""
    return "(\n  " + "\n  ".join(written) + "\n)"


def _write_type_members(kind: Any) -> str:
    """Return the names of what a type consists of, cut short."""
    if is_union_type(kind):
        return " = " + _join_first([member.name for member in kind.types], " | ")
    names = [*(getattr(kind, "fields", None) or getattr(kind, "values", None) or ())]
    return f" {{ {_join_first(names, ' ')} }}" if names else ""


def _join_first(names: list[str], between: str) -> str:
    more = len(names) - LISTED
    return between.join(names[:LISTED]) + (f"{between}... ({more} more)" if more > 0 else "")


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


def complete_at_cursor(
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
    found = tokenize(text)
    if any(token.has_cursor_inside(offset) or _is_inside_literal(token, offset) for token in found):
        return Completion(0, [])
    start = next((t.start for t in found if t.kind == "name" and t.start < offset <= t.end), offset)
    word = text[start:offset].lower()
    walk = parse_until(schema, found, start, saved)
    names = [found for found in walk.propose() if _has_prefix(found.name, word)]
    return Completion(offset - start, sorted(names, key=_get_sort_key))


def find_at_cursor(
    schema: GraphQLSchema | None,
    text: str,
    offset: int,
    saved: Mapping[str, str] | None = None,
) -> Proposal | None:
    """Return what the name at the cursor is; None where it is nothing that is known.

    Parameters are those of :func:`complete_at_cursor`. On an alias it is the field behind it.
    """
    found = tokenize(text)
    touched = [n for n, t in enumerate(found) if t.kind == "name" and t.start <= offset <= t.end]
    if not touched:
        return None
    here = touched[-1]
    proposal = _find_proposal(schema, found, here, saved)
    behind = [token.text for token in found[here + 1 : here + 3]]
    if proposal is None and behind[:1] == [":"]:
        return _find_proposal(schema, found, here + 2, saved)
    return proposal


def _find_proposal(
    schema: GraphQLSchema | None,
    found: list[SourceToken],
    place: int,
    saved: Mapping[str, str] | None,
) -> Proposal | None:
    if place >= len(found):
        return None
    token = found[place]
    walk = parse_until(schema, found, token.start, saved)
    return next((seen for seen in walk.propose() if seen.name == token.text), None)


def parse_until(
    schema: GraphQLSchema | None,
    found: list[SourceToken],
    start: int,
    saved: Mapping[str, str] | None,
) -> CursorParser:
    """Return the walk to `start`, knowing the fragments of the whole text."""
    document = find_definitions(found)
    if saved:
        document = document._replace(fragments={**saved, **document.fragments})
    ahead = [token for token in found if token.start > start]
    walk = CursorParser(schema, document, ahead)
    walk.enter(DocumentState(walk))
    walk.read_tokens(token for token in found if token.end <= start)
    return walk


def _is_inside_literal(token: SourceToken, offset: int) -> bool:
    return token.kind in ("number", "other") and token.start < offset <= token.end


def _has_prefix(name: str, word: str) -> bool:
    return name.lower().startswith(word) or (name[:1] == "$" and name[1:].lower().startswith(word))


def _get_sort_key(proposal: Proposal) -> tuple[bool, bool]:
    return proposal.deprecated, proposal.name.startswith("__")
