"""The documentation of what stands in a GraphQL text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, is_union_type
from graphql.utilities.print_schema import print_input_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gqlnb.notebook.completion.proposal import Proposal

__all__ = ["markdown", "signature"]

LISTED = 12  # members of a type that its documentation names
_TICKS = re.compile("`+")
# What would be HTML, or a picture from somewhere: descriptions are an endpoint's words.
# An even number of backslashes before it leaves it active: they escape each other.
_ACTIVE = re.compile(r"(?<!\\)(?:\\\\)*+(?:<(?=[A-Za-z/!?])|!(?=\[))")


def markdown(proposal: Proposal) -> str:
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
    return "\n\n".join([_fenced(signature(proposal)), *_words(proposal)])


def _fenced(code: str) -> str:
    """Return code as Markdown that it cannot end itself: default values may hold a fence."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{fence}graphql\n{code}\n{fence}"


def _words(proposal: Proposal) -> Iterator[str]:
    reason = getattr(proposal.thing, "deprecation_reason", None)
    if reason is not None:
        yield f"**Deprecated.** {_inert(reason)}".rstrip()
    description = getattr(proposal.thing, "description", None)
    if description:
        yield _inert(description)
    described = [
        f"- `{name}`: {_inert(member.description)}"
        for name, member in getattr(proposal.thing, "args", {}).items()
        if member.description
    ]
    if described:
        yield "\n".join(described)


def _inert(text: str) -> str:
    return _ACTIVE.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", text)


def signature(proposal: Proposal) -> str:
    """Return what is documented as a schema would define it."""
    write = _WRITTEN.get(proposal.kind)
    if write is None:
        return f"{proposal.kind} {proposal.name} {proposal.detail}".rstrip()
    return write(proposal)


def _field(it: Proposal) -> str:
    return f"{it.owner}.{it.name}{arguments(it.thing)}: {it.detail}"


def _directive(it: Proposal) -> str:
    places = " | ".join(location.name for location in it.thing.locations)
    return f"directive @{it.name}{arguments(it.thing)} on {places}"


_WRITTEN: dict[str, Callable[[Proposal], str]] = {
    "argument": lambda it: f"{it.owner}({_member(it.name, it.thing)})",
    "directive": _directive,
    "enum value": lambda it: f"{it.owner}.{it.name}",
    "field": _field,
    "input field": lambda it: f"{it.owner}.{_member(it.name, it.thing)}",
    "type": lambda it: f"{it.detail} {it.name}{_content(it.thing)}",
    "variable": lambda it: f"${it.name.removeprefix('$')}: {it.detail}",
}


def arguments(definition: Any) -> str:
    """Return the arguments of a field or directive as they are defined, several on lines each."""
    written = [_member(name, member) for name, member in definition.args.items()]
    if len(written) < 2:
        return f"({written[0]})" if written else ""
    return "(\n  " + "\n  ".join(written) + "\n)"


def _member(name: str, definition: Any) -> str:
    """Return an argument or input field as it is defined."""
    try:
        return print_input_value(name, definition)
    except (GraphQLError, TypeError, ValueError):  # a scalar's default that has no literal
        return f"{name}: {definition.type} = ..."


def _content(kind: Any) -> str:
    """Return the names of what a type consists of, cut short."""
    if is_union_type(kind):
        return " = " + _short([member.name for member in kind.types], " | ")
    names = [*(getattr(kind, "fields", None) or getattr(kind, "values", None) or ())]
    return f" {{ {_short(names, ' ')} }}" if names else ""


def _short(names: list[str], between: str) -> str:
    more = len(names) - LISTED
    return between.join(names[:LISTED]) + (f"{between}... ({more} more)" if more > 0 else "")
