"""Complexity limits of documents, checked before validation.

A short text can be complex: fragments that spread each other twice expand to millions of fields in
a kilobyte. The fragments are therefore not expanded. Each definition is measured once, and the
expanded size of each fragment is computed once, bottom-up and without recursion, so that the depth
of a document does not matter. Fragments that spread themselves are left to validation.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    VariableDefinitionNode,
)
from graphql.error import GraphQLSyntaxError

from gqlnb.document.syntax import find_position, parse_source
from gqlnb.errors import Problem, QueryError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode, SourceLocation

    from gqlnb.limits import Limits

MAX_REPORTED = 10**12  # a document can expand to a number of fields with a hundred digits
Definition = FragmentDefinitionNode | OperationDefinitionNode
DirectiveHolder = (
    Definition | FieldNode | FragmentSpreadNode | InlineFragmentNode | VariableDefinitionNode
)


def parse_within_limits(text: str, limits: Limits) -> DocumentNode:
    """Parse a text within the limits on characters and tokens.

    Raises
    ------
    QueryError
        If the text is over a limit; the error does not contain the text.
    GraphQLError
        If the text has a syntax error.
    """
    if limits.text is not None and len(text) > limits.text:
        clause = f"The document has {len(text):,} characters"
        raise QueryError(problems=[build_violation("text", clause, len(text), limits)])
    try:
        return parse_source(text, max_tokens=limits.tokens)
    except GraphQLSyntaxError as error:
        # graphql-core has no class of its own for this error.
        if limits.tokens is None or f"{limits.tokens} tokens. Parsing" not in error.message:
            raise
        position = error.locations[0] if error.locations else None
    clause = f"The document has more than {limits.tokens:,} tokens"
    raise QueryError(problems=[build_violation("tokens", clause, None, limits, position)])


@dataclasses.dataclass(slots=True)
class DefinitionSize:
    """The size of one definition, without the fragments it spreads.

    Attributes
    ----------
    node
        The definition.
    fields
        The number of its fields.
    depth
        The number of levels of its fields.
    deepest
        A field on the lowest level.
    spreads
        The fragment spreads, with the number of levels above each.
    longest_name
        The field with the longest response name.
    aliases
        The fields with an alias, in the order of the text.
    directives
        The nodes with directives.
    """

    node: Definition
    deepest: Node
    directives: list[DirectiveHolder]
    fields: int = 0
    depth: int = 0
    spreads: list[tuple[FragmentSpreadNode, int]] = dataclasses.field(default_factory=list)
    longest_name: FieldNode | None = None
    aliases: list[FieldNode] = dataclasses.field(default_factory=list)


class ExpandedSize(NamedTuple):
    """The size of a definition with its fragments expanded.

    Attributes
    ----------
    fields, depth
        As in `DefinitionSize`.
    deepest
        The field or fragment spread that leads to the lowest level.
    """

    fields: int
    depth: int
    deepest: Node


def check_limits(ast: DocumentNode, text: str, limits: Limits) -> None:
    """Check a document against the complexity limits.

    Raises
    ------
    QueryError
        For the first limit exceeded.
    """
    # Type definitions have no selections; validation refuses them.
    sizes = [measure_definition(node) for node in ast.definitions if isinstance(node, Definition)]
    violation = next(find_violations(sizes, limits), None)
    if violation is not None:
        raise QueryError(text=text, problems=[violation])


def measure_definition(definition: Definition) -> DefinitionSize:
    """Return the size of a definition without its fragments."""
    declared = definition.variable_definitions or ()
    size = DefinitionSize(definition, definition, [it for it in declared if it.directives])
    longest = 0
    waiting: list[tuple[Any, int]] = [(definition, 0)]  # graphql-core does not type selections
    while waiting:
        node, above = waiting.pop()
        if node.directives:
            size.directives.append(node)
        if isinstance(node, FieldNode):
            size.fields += 1
            above += 1
            if above > size.depth:
                size.depth, size.deepest = above, node
            if node.alias is not None:
                size.aliases.append(node)
            if (length := len((node.alias or node.name).value)) > longest:
                longest, size.longest_name = length, node
        elif isinstance(node, FragmentSpreadNode):
            size.spreads.append((node, above))
            continue
        if node.selection_set is not None:
            waiting += [(inner, above) for inner in reversed(node.selection_set.selections)]
    return size


def expand_fragments(sizes: Mapping[str, DefinitionSize]) -> dict[str, ExpandedSize]:
    """Return the expanded size of each fragment; recursion of a fragment is counted once."""
    done: dict[str, ExpandedSize] = {}
    begun: set[str] = set()
    for name in sizes:
        waiting = [name]
        while waiting:
            last = waiting[-1]
            below = {spread.name.value for spread, _ in sizes[last].spreads}
            # One that was begun and is not done spreads itself; validation will refuse it.
            missing = [n for n in below if n in sizes and n not in done and n not in begun]
            begun.add(last)
            if missing and last not in done:
                waiting += missing
                continue
            waiting.pop()
            if last not in done:
                done[last] = compute_expanded_size(sizes[last], done)
    return done


def compute_expanded_size(own: DefinitionSize, below: Mapping[str, ExpandedSize]) -> ExpandedSize:
    """Return the expanded size of a definition, given those of the fragments it spreads."""
    fields, depth, deepest = own.fields, own.depth, own.deepest
    for spread, above in own.spreads:
        found = below.get(spread.name.value)
        if found is not None:
            fields += found.fields
            if above + found.depth > depth:
                depth, deepest = above + found.depth, spread
    return ExpandedSize(fields, depth, deepest)


def find_violations(sizes: list[DefinitionSize], limits: Limits) -> Iterator[Problem]:
    """Yield the limits that a document exceeds, as problems."""
    most = limits.directives
    # Cheap checks first: they need no fragments expanded.
    for holder in [node for size in sizes for node in size.directives]:
        if most is not None and (count := len(holder.directives or ())) > most:
            clause = f"{count:,} directives stand at one place"
            yield build_violation("directives", clause, count, limits, find_position(holder))
    operations = [size.node for size in sizes if isinstance(size.node, OperationDefinitionNode)]
    if limits.operations is not None and (count := len(operations)) > limits.operations:
        clause = f"The document has {count:,} operations"
        position = find_position(operations[limits.operations])
        yield build_violation("operations", clause, count, limits, position)
    most, aliases = limits.aliases, [node for size in sizes for node in size.aliases]
    if most is not None and (count := len(aliases)) > most:
        clause = f"The document has {count:,} aliases"
        yield build_violation("aliases", clause, count, limits, find_position(aliases[most]))
    for field in [size.longest_name for size in sizes if size.longest_name is not None]:
        count = len((field.alias or field.name).value)
        if limits.name is not None and count > limits.name:
            clause = f"A name has {count:,} characters"
            yield build_violation("name", clause, count, limits, find_position(field))
    fragments = expand_fragments(
        {
            size.node.name.value: size
            for size in sizes
            if isinstance(size.node, FragmentDefinitionNode)
        }
    )
    for size in sizes:
        expanded = compute_expanded_size(size, fragments) if size.spreads else size
        if limits.depth is not None and expanded.depth > limits.depth:
            clause = f"Fields nest {expanded.depth:,} levels deep"
            position = find_position(expanded.deepest)
            yield build_violation("depth", clause, expanded.depth, limits, position)
        if limits.selections is not None and (count := expanded.fields) > limits.selections:
            shown = f"{count:,}" if count <= MAX_REPORTED else f"more than {MAX_REPORTED:,}"
            node = size.node
            word = "fragment" if isinstance(node, FragmentDefinitionNode) else node.operation.value
            name = f"{word} {sanitize_text(node.name.value, 40)}" if node.name else f"this {word}"
            clause = f"With its fragments unrolled, {name} asks for {shown} fields"
            least = min(count, MAX_REPORTED)
            yield build_violation("selections", clause, least, limits, find_position(node))


def build_violation(
    name: str,
    clause: str,
    count: int | None,
    limits: Limits,
    position: SourceLocation | None = None,
) -> Problem:
    """Return a problem for an exceeded limit.

    Parameters
    ----------
    name
        The attribute of `Limits`.
    clause
        The violation, as the first clause of the message.
    count
        The limit that the document needs; None if unknown.
    limits
        The limits.
    position
        The position in the text.
    """
    most = getattr(limits, name)
    message = (
        f"{clause}; the limit is {most:,}. Ask for less at once, or have whoever serves this raise "
        f"it: serve(schema, limits=Limits({name}={count or 2 * most}))."
    )
    line, column = position or (None, None)
    return Problem(message, line, column)
