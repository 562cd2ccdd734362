"""Completion and documentation at a cursor in a GraphQL text."""

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

LISTED = 12  # members of a type in its documentation
_TICKS = re.compile("`+")
# Start of HTML or of a remote image: descriptions come from the endpoint and are not trusted.
# An even number of backslashes before it leaves it active: they escape each other.
_ACTIVE = re.compile(r"(?<!\\)(?:\\\\)*+(?:<(?=[A-Za-z/!?])|!(?=\[))")


def render_markdown(proposal: Proposal) -> str:
    """Render signature, description and deprecation as Markdown without HTML and images."""
    return "\n\n".join([_fence_code(write_signature(proposal)), *_describe(proposal)])


def _fence_code(code: str) -> str:
    """Fence code; the fence is longer than any in the code, such as in default values."""
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
    """Write the definition of a name as SDL."""
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
    """Write the arguments of a field or directive, several on separate lines."""
    written = [format_input_value(name, member) for name, member in definition.args.items()]
    if len(written) < 2:
        return f"({written[0]})" if written else ""
    return "(\n  " + "\n  ".join(written) + "\n)"


def _write_type_members(kind: Any) -> str:
    """Write the first member names of a type."""
    if is_union_type(kind):
        return " = " + _join_first([member.name for member in kind.types], " | ")
    names = [*(getattr(kind, "fields", None) or getattr(kind, "values", None) or ())]
    return f" {{ {_join_first(names, ' ')} }}" if names else ""


def _join_first(names: list[str], between: str) -> str:
    more = len(names) - LISTED
    return between.join(names[:LISTED]) + (f"{between}... ({more} more)" if more > 0 else "")


class Completion(NamedTuple):
    """The completions at a cursor.

    Attributes
    ----------
    typed
        The number of characters before the cursor that belong to the name.
    proposals
        The names that begin with these characters, deprecated ones last.
    """

    typed: int
    proposals: list[Proposal]


def complete_at_cursor(
    schema: GraphQLSchema | None,
    text: str,
    offset: int,
    saved: Mapping[str, str] | None = None,
) -> Completion:
    """Complete the name at a cursor; the text may have errors.

    Parameters
    ----------
    schema
        The schema; if it is None, only fragments, variables and keywords are proposed.
    text
        The document.
    offset
        The position of the cursor, in characters.
    saved
        The type conditions of further fragments, by name.

    Returns
    -------
    Completion
        Empty inside comments, strings and numbers, and behind the first dots of a spread.
    """
    tokens = tokenize(text)
    start = offset
    for token in tokens:
        touches = token.start < offset <= token.end
        if token.has_cursor_inside(offset) or (touches and token.kind in ("number", "other")):
            return Completion(0, [])
        if touches and token.kind == "name":
            start = token.start
    word = text[start:offset].lower()
    names = [
        proposal
        for proposal in parse_until(schema, tokens, start, saved).propose()
        # A variable is found with and without its dollar sign.
        if proposal.name.lower().startswith(word)
        or (proposal.name[:1] == "$" and proposal.name[1:].lower().startswith(word))
    ]
    names.sort(key=lambda proposal: (proposal.deprecated, proposal.name.startswith("__")))
    return Completion(offset - start, names)


def find_at_cursor(
    schema: GraphQLSchema | None,
    text: str,
    offset: int,
    saved: Mapping[str, str] | None = None,
) -> Proposal | None:
    """Find the definition of the name at a cursor, None if it is unknown.

    The parameters are those of :func:`complete_at_cursor`. For an alias it is the aliased field.
    """
    tokens = tokenize(text)
    at = [n for n, t in enumerate(tokens) if t.kind == "name" and t.start <= offset <= t.end][-1:]
    if at and [token.text for token in tokens[at[0] + 1 : at[0] + 2]] == [":"]:
        at.append(at[0] + 2)
    for token in (tokens[n] for n in at if n < len(tokens)):
        for proposal in parse_until(schema, tokens, token.start, saved).propose():
            if proposal.name == token.text:
                return proposal
    return None


def parse_until(
    schema: GraphQLSchema | None,
    found: list[SourceToken],
    start: int,
    saved: Mapping[str, str] | None,
) -> CursorParser:
    """Parse the tokens before `start`, with the definitions of the whole text."""
    # Fragments and variables may be defined behind the cursor.
    document = find_definitions(found)
    if saved:
        document = document._replace(fragments={**saved, **document.fragments})
    ahead = [token for token in found if token.start > start]
    parser = CursorParser(schema, document, ahead)
    parser.enter(DocumentState(parser))
    parser.read_tokens(token for token in found if token.end <= start)
    return parser
