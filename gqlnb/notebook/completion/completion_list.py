"""Completion and documentation at a cursor in a GraphQL text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from graphql import (
    get_nullable_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_required_argument,
    is_union_type,
)

from gqlnb.errors import clean_text
from gqlnb.notebook.completion.cursor_parser import (
    CursorParser,
    SourceToken,
    find_definitions,
    find_similar_names,
    format_input_value,
    tokenize,
)
from gqlnb.result.renderer import wrap_html

if TYPE_CHECKING:
    from graphql import GraphQLDirective, GraphQLField, GraphQLInputType, GraphQLSchema

    from gqlnb.notebook.completion.cursor_parser import CursorPlace, Proposal


LABEL_LENGTH = 40  # characters of an entry; beside longer ones, types and texts are out of sight
LISTED = 12  # members of a type in its documentation
_TICKS = re.compile("`+")
# Start of HTML or of a remote image: descriptions come from the endpoint and are not trusted.
# An even number of backslashes before it leaves it active: they escape each other.
_ACTIVE = re.compile(r"(?<!\\)(?:\\\\)*+(?:<(?=[A-Za-z/!?])|!(?=\[))")


def render_markdown(proposal: Proposal) -> str:
    """Render signature, description and deprecation as Markdown without HTML and images."""
    code = write_signature(proposal)
    # Longer than any fence in the code, such as in default values.
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    parts = [f"{fence}graphql\n{code}\n{fence}"]
    reason = getattr(proposal.thing, "deprecation_reason", None)
    if reason is not None:
        parts.append(f"**Deprecated.** {_escape_markup(reason)}".rstrip())
    description = getattr(proposal.thing, "description", None)
    if description:
        parts.append(_escape_markup(description))
    described = [
        f"- `{name}`: {_escape_markup(member.description)}"
        for name, member in getattr(proposal.thing, "args", {}).items()
        if member.description
    ]
    if described:
        parts.append("\n".join(described))
    return "\n\n".join(parts)


def build_documentation(proposal: Proposal) -> dict[str, str]:
    """Return the documentation of a name by MIME type."""
    description = getattr(proposal.thing, "description", None) or ""
    text = clean_text(f"{write_signature(proposal)}\n\n{description}".rstrip())
    # Within the element, MathJax leaves dollar signs alone. Without an end of the block before it,
    # the Markdown would be taken for HTML.
    markdown = wrap_html(f"\n\n{clean_text(render_markdown(proposal))}\n\n")
    return {"text/plain": text, "text/markdown": markdown}


def _escape_markup(text: str) -> str:
    return _ACTIVE.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", text)


def write_signature(entry: Proposal) -> str:
    """Write the definition of a name as SDL."""
    match entry.kind:
        case "argument":
            text = f"{entry.owner}({format_input_value(entry.name, entry.thing)})"
        case "directive":
            places = " | ".join(location.name for location in entry.thing.locations)
            text = f"directive @{entry.name}{write_arguments(entry.thing)} on {places}"
        case "enum value":
            text = f"{entry.owner}.{entry.name}"
        case "field":
            text = f"{entry.owner}.{entry.name}{write_arguments(entry.thing)}: {entry.detail}"
        case "input field":
            text = f"{entry.owner}.{format_input_value(entry.name, entry.thing)}"
        case "type":
            text = f"{entry.detail} {entry.name}{_write_type_members(entry.thing)}"
        case "variable":
            text = f"${entry.name.removeprefix('$')}: {entry.detail}"
        case "option" | "keyword" | "name" if entry.detail:  # their detail is a whole sentence
            text = f"{entry.kind} {entry.name}: {entry.detail}"
        case _:
            text = f"{entry.kind} {entry.name} {entry.detail}".rstrip()
    return text


def write_arguments(definition: GraphQLField | GraphQLDirective) -> str:
    """Write the arguments of a field or directive, several on separate lines."""
    written = [format_input_value(name, member) for name, member in definition.args.items()]
    if len(written) < 2:
        return f"({written[0]})" if written else ""
    return "(\n  " + "\n  ".join(written) + "\n)"


def _write_type_members(kind: object) -> str:
    """Write the first member names of a type."""
    if is_union_type(kind):
        return " = " + _join_first([member.name for member in kind.types], " | ")
    names = [*(getattr(kind, "fields", None) or getattr(kind, "values", None) or ())]
    return f" {{ {_join_first(names, ' ')} }}" if names else ""


def _join_first(names: list[str], between: str) -> str:
    more = len(names) - LISTED
    return between.join(names[:LISTED]) + (f"{between}... ({more} more)" if more > 0 else "")


def write_label(proposal: Proposal) -> str:
    """Write a name with the names of its first arguments, as a list of completions shows it."""
    names = list(getattr(proposal.thing, "args", None) or ())
    if not names or proposal.kind not in ("field", "directive"):
        return proposal.name
    label = f"{proposal.name}({', '.join(names)})"
    while len(label) > LABEL_LENGTH and names:
        names.pop()
        label = f"{proposal.name}({', '.join([*names, '…'])})"
    return label


def write_insertion(proposal: Proposal, following: str) -> str:
    """Write a name with placeholders for its required arguments.

    Parameters
    ----------
    proposal
        The name.
    following
        The text behind the cursor; arguments that are already there are not written again.

    Returns
    -------
    str
        ``repository(owner: "", name: "")`` for a field with required arguments, else the name.
    """
    arguments = getattr(proposal.thing, "args", None) or {}
    required = [
        f"{name}: {write_placeholder(it.type)}"
        for name, it in arguments.items()
        if is_required_argument(it)
    ]
    is_callable = proposal.kind in ("field", "directive")
    if not required or not is_callable or following.lstrip()[:1] == "(":
        return proposal.name
    return f"{proposal.name}({', '.join(required)})"


def write_placeholder(expected: GraphQLInputType) -> str:
    """Write a literal to replace, of the form that the type of an argument takes."""
    inner = get_nullable_type(expected)
    if is_list_type(inner):
        return "[]"
    if is_input_object_type(inner):
        return "{}"
    if is_enum_type(inner):
        return str(next(iter(inner.values)))
    return {"Int": "0", "Float": "0", "Boolean": "false"}.get(str(inner), '""')


def describe_entry(proposal: Proposal, following: str) -> dict[str, object]:
    """Return an entry of the list for JupyterLab's extension, before the text behind the cursor."""
    return {
        "name": proposal.name,
        "label": write_label(proposal),
        "text": write_insertion(proposal, following),
        "kind": proposal.kind,
        "type": proposal.type_label,
        "deprecated": proposal.deprecated,
    }


class Completion(NamedTuple):
    """The completions at a cursor.

    Attributes
    ----------
    typed
        The number of characters before the cursor that belong to the name.
    proposals
        The names that begin with these characters, deprecated ones last; without any, the names
        most similar to them.
    """

    typed: int
    proposals: list[Proposal]


def complete_at_cursor(
    schema: GraphQLSchema | None, text: str, offset: int, saved: Mapping[str, str] | None = None
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
    proposals = list(parse_until(schema, tokens, start, saved).proposals)
    names = [
        proposal
        for proposal in proposals
        # A variable is found with and without its dollar sign.
        if proposal.name.lower().startswith(word)
        or (proposal.name[:1] == "$" and proposal.name[1:].lower().startswith(word))
    ]
    if not names:
        return Completion(offset - start, find_similar_names(proposals, word))
    names.sort(key=lambda proposal: (proposal.deprecated, proposal.name.startswith("__")))
    return Completion(offset - start, names)


def find_at_cursor(
    schema: GraphQLSchema | None, text: str, offset: int, saved: Mapping[str, str] | None = None
) -> Proposal | None:
    """Find the definition of the name at a cursor, None if it is unknown.

    The parameters are those of :func:`complete_at_cursor`. For an alias it is the aliased field.
    """
    tokens = tokenize(text)
    at = [n for n, t in enumerate(tokens) if t.kind == "name" and t.start <= offset <= t.end][-1:]
    if at and [token.text for token in tokens[at[0] + 1 : at[0] + 2]] == [":"]:
        at.append(at[0] + 2)
    for token in (tokens[n] for n in at if n < len(tokens)):
        for proposal in parse_until(schema, tokens, token.start, saved).proposals:
            if proposal.name == token.text:
                return proposal
    return None


def parse_until(
    schema: GraphQLSchema | None,
    tokens: list[SourceToken],
    start: int,
    saved: Mapping[str, str] | None,
) -> CursorPlace:
    """Return the place of the cursor at `start`, with the definitions of the whole text."""
    # Fragments and variables may be defined behind the cursor.
    fragments, variables = find_definitions(tokens)
    known = {**(saved or {}), **fragments}
    return CursorParser(schema, known, variables, tokens, start).find_place()
