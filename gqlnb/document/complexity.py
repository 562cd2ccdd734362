"""How much a document asks for, found before it is checked against a schema.

A short text can ask for much: fragments that spread each other twice spell millions of fields in a
kilobyte. Nothing is unrolled here. Each definition is walked once, and what a fragment stands for
is computed once, bottom-up; nothing recurses, so no document is too deep for it. Fragments that
spread themselves are left to validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
)
from graphql.error import GraphQLSyntaxError

from gqlnb.document.syntax import parse_source
from gqlnb.errors import Problem, QueryError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode, Node

    from gqlnb.document.limits import Limits

__all__ = [
    "check_limits",
    "compute_expanded_size",
    "expand_fragments",
    "measure_definition",
    "parse_within_limits",
]

MAX_REPORTED = 10**12  # a document can spell numbers of a hundred digits
Definition = FragmentDefinitionNode | OperationDefinitionNode


def parse_within_limits(text: str, limits: Limits) -> DocumentNode:
    """Parse a text that is neither too long nor of too many tokens.

    Raises
    ------
    QueryError
        If it is; it does not hold the text.
    GraphQLError
        If it has a syntax error.
    """
    if limits.text is not None and len(text) > limits.text:
        said = f"The document has {len(text):,} characters"
        raise QueryError(problems=[build_violation("text", said, len(text), limits)])
    try:
        return parse_source(text, max_tokens=limits.tokens)
    except GraphQLSyntaxError as error:
        # Comments are tokens here, as they are to what reads them.
        if limits.tokens is None or f"{limits.tokens} tokens. Parsing" not in error.message:
            raise
        place = error.locations[0] if error.locations else None
    said = f"The document has more than {limits.tokens:,} tokens"
    raise QueryError(problems=[build_violation("tokens", said, None, limits, place)])


class DefinitionSize(NamedTuple):
    """What one definition asks for, apart from the fragments it spreads.

    Attributes
    ----------
    node
        The definition.
    fields
        Its fields.
    depth
        Levels of its fields.
    deepest
        A field on the lowest of them.
    spreads
        The fragments it spreads: the node, and how many levels are above its fields.
    longest_name
        The field whose name in the answer is longest.
    aliases
        Its fields that have an alias, in the order of the text.
    directives
        Its nodes that have directives.
    """

    node: Definition
    fields: int
    depth: int
    deepest: Node
    spreads: list[tuple[FragmentSpreadNode, int]]
    longest_name: FieldNode | None
    aliases: list[FieldNode]
    directives: list[Any]


class ExpandedSize(NamedTuple):
    """What a definition asks for with its fragments unrolled.

    Attributes
    ----------
    fields, depth
        As of a `DefinitionSize`.
    deepest
        The field, or the spread of the fragment, that leads to the lowest level.
    """

    fields: int
    depth: int
    deepest: Node


def check_limits(ast: DocumentNode, text: str, limits: Limits) -> None:
    """Refuse a document that asks for more than is let through.

    Raises
    ------
    QueryError
        With what it asks for, the limit, and the place.
    """
    found = [measure_definition(node) for node in ast.definitions if isinstance(node, Definition)]
    refused = next(find_violations(found, limits), None)
    if refused is not None:
        raise QueryError(text=text, problems=[refused])


def measure_definition(definition: Definition) -> DefinitionSize:
    """Walk one definition."""
    fields = depth = size = 0
    deepest: Node = definition
    longest: FieldNode | None = None
    spreads: list[tuple[FragmentSpreadNode, int]] = []
    aliases: list[FieldNode] = []
    directives: list[Any] = [v for v in definition.variable_definitions or () if v.directives]
    waiting: list[tuple[Any, int]] = [(definition, 0)]
    while waiting:
        node, above = waiting.pop()
        if node.directives:
            directives.append(node)
        if isinstance(node, FieldNode):
            fields += 1
            above += 1
            if above > depth:
                depth, deepest = above, node
            if node.alias is not None:
                aliases.append(node)
            if get_name_length(node) > size:
                size, longest = get_name_length(node), node
        elif isinstance(node, FragmentSpreadNode):
            spreads.append((node, above))
            continue
        if node.selection_set is not None:
            waiting += [(inner, above) for inner in reversed(node.selection_set.selections)]
    return DefinitionSize(definition, fields, depth, deepest, spreads, longest, aliases, directives)


def get_name_length(node: FieldNode) -> int:
    """Return how long the name is that a field has in the answer."""
    return len((node.alias or node.name).value)


def expand_fragments(measures: Mapping[str, DefinitionSize]) -> dict[str, ExpandedSize]:
    """Return what each fragment stands for; one that spreads itself does so once."""
    done: dict[str, ExpandedSize] = {}
    begun: set[str] = set()
    for name in measures:
        waiting = [name]
        while waiting:
            last = waiting[-1]
            below = {spread.name.value for spread, _ in measures[last].spreads}
            missing = [n for n in below if n in measures and n not in done and n not in begun]
            begun.add(last)
            if missing and last not in done:
                waiting += missing
                continue
            waiting.pop()
            if last not in done:
                done[last] = compute_expanded_size(measures[last], done)
    return done


def compute_expanded_size(own: DefinitionSize, below: Mapping[str, ExpandedSize]) -> ExpandedSize:
    """Return what a definition asks for, given what is known of the fragments it spreads."""
    fields, depth, deepest = own.fields, own.depth, own.deepest
    for spread, above in own.spreads:
        found = below.get(spread.name.value)
        if found is not None:
            fields += found.fields
            if above + found.depth > depth:
                depth, deepest = above + found.depth, spread
    return ExpandedSize(fields, depth, deepest)


def find_violations(found: list[DefinitionSize], limits: Limits) -> Iterator[Problem]:
    """Yield what a document asks for beyond the limits."""
    most = limits.directives
    for node in [node for one in found for node in one.directives]:
        if most is not None and (count := len(node.directives)) > most:
            said = f"{count:,} directives stand at one place"
            yield build_violation("directives", said, count, limits, get_start_token(node))
    most, aliases = limits.aliases, [node for one in found for node in one.aliases]
    if most is not None and (count := len(aliases)) > most:
        said = f"The document has {count:,} aliases"
        yield build_violation("aliases", said, count, limits, get_start_token(aliases[most]))
    for node in [one.longest_name for one in found if one.longest_name is not None]:
        if limits.name is not None and (count := get_name_length(node)) > limits.name:
            yield build_violation(
                "name", f"A name has {count:,} characters", count, limits, get_start_token(node)
            )
    known = expand_fragments(
        {one.node.name.value: one for one in found if isinstance(one.node, FragmentDefinitionNode)}
    )
    for one in found:
        yield from find_expanded_violations(one.node, compute_expanded_size(one, known), limits)


def find_expanded_violations(
    node: Definition, found: ExpandedSize, limits: Limits
) -> Iterator[Problem]:
    """Yield what is wrong with a definition whose fragments are unrolled: too deep, too many."""
    if limits.depth is not None and found.depth > limits.depth:
        said = f"Fields nest {found.depth:,} levels deep"
        yield build_violation("depth", said, found.depth, limits, get_start_token(found.deepest))
    if limits.selections is not None and found.fields > limits.selections:
        few = found.fields <= MAX_REPORTED
        count = f"{found.fields:,}" if few else f"more than {MAX_REPORTED:,}"
        said = f"With its fragments unrolled, {describe_definition(node)} asks for {count} fields"
        yield build_violation(
            "selections", said, min(found.fields, MAX_REPORTED), limits, get_start_token(node)
        )


def describe_definition(node: Definition) -> str:
    """Return what a definition is called in a sentence."""
    word = "fragment" if isinstance(node, FragmentDefinitionNode) else node.operation.value
    return f"{word} {sanitize_text(node.name.value, 40)}" if node.name else f"this {word}"


def get_start_token(node: Any) -> Any:
    """Return the token that a node begins with; None if the node was not read from a text."""
    return None if node.loc is None else node.loc.start_token


def build_violation(
    name: str, said: str, found: int | None, limits: Limits, place: Any = None
) -> Problem:
    """Return the refusal of a document.

    Parameters
    ----------
    name
        The limit, as `Limits` calls it.
    said
        What the document asks for, as a clause.
    found
        How much that is, to raise the limit to; None if nobody has counted.
    limits
        The limits.
    place
        Whatever has a line and a column.
    """
    most = getattr(limits, name)
    message = (
        f"{said}; the limit is {most:,}. Ask for less at once, or have whoever serves this raise "
        f"it: serve(schema, limits=Limits({name}={found or 2 * most}))."
    )
    line, column = (place.line, place.column) if place is not None else (None, None)
    return Problem(message, line, column)
