"""A schema as people read documentation: its types, a type with its fields, a field."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLUnionType,
    get_named_type,
    is_specified_scalar_type,
    print_schema,
    print_type,
)
from graphql.utilities.print_schema import print_input_value

from gqlnb.errors import TargetError, sanitize_text
from gqlnb.notebook.display import format_count
from gqlnb.result.renderer import HTML_CLASSES

if TYPE_CHECKING:
    from graphql import GraphQLNamedType, GraphQLSchema

__all__ = [
    "TYPE_KINDS",
    "DocPage",
    "build_page",
    "describe_element",
    "find_type",
    "list_own_types",
    "suggest_name",
]

SHOWN = 60  # entries of a section; GitHub's Repository has 120 fields
USERS = 12  # fields that are told to return a type
LONG = 100  # characters of a signature on one line
ABOUT = 400  # characters of a description beside others
TYPE_KINDS: tuple[tuple[type, str, str], ...] = (
    (GraphQLObjectType, "type", "Types"),
    (GraphQLInterfaceType, "interface", "Interfaces"),
    (GraphQLUnionType, "union", "Unions"),
    (GraphQLEnumType, "enum", "Enums"),
    (GraphQLInputObjectType, "input", "Inputs"),
    (GraphQLScalarType, "scalar", "Scalars"),
)


@dataclass(frozen=True, slots=True)
class DocEntry:
    """A line of a section: what there is, and what it is for."""

    code: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class DocSection:
    """A heading with its entries, or the first of them, of `count` in all."""

    heading: str
    entries: tuple[DocEntry, ...]
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class DocPage:
    """A page of documentation.

    Attributes
    ----------
    title
        What it is about, as GraphQL writes it.
    about
        Its description.
    sections
        What follows.
    print_sdl
        Writes the same in the schema definition language.
    """

    title: str
    about: str
    sections: tuple[DocSection, ...]
    print_sdl: Callable[[], str]

    @property
    def sdl(self) -> str:
        """The same in the schema definition language."""
        return self.print_sdl()

    def __repr__(self) -> str:
        lines = [self.title, *([f"  {self.about}"] if self.about else [])]
        for section in self.sections:
            lines += ["", section.heading]
            for entry, more in iterate_entries(section):
                lines += [f"  {entry.code}", *([f"      {entry.about}"] if entry.about else [])]
                lines += [more] if more else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f'<div class="{HTML_CLASSES}">{self.to_html()}</div>'

    def to_html(self, most: int = SHOWN) -> str:
        """Return it as escaped HTML, with that many entries of each section at most."""
        parts = [f"<p><b><code>{escape(self.title)}</code></b></p>"]
        parts += [f"<p>{escape(self.about)}</p>"] if self.about else []
        left = "text-align:left;vertical-align:top"
        for section in self.sections:
            parts.append(f'<p style="margin:8px 0 2px"><b>{escape(section.heading)}</b></p><table>')
            for entry, more in iterate_entries(section, most):
                cells = f"<code>{escape(entry.code)}</code>", escape(entry.about), escape(more)
                below = f"<br>{cells[2]}" if more else ""
                parts.append(
                    f'<tr><td style="{left}">{cells[0]}{below}</td>'
                    f'<td style="{left}">{cells[1]}</td></tr>'
                )
            parts.append("</table>")
        return "".join(parts)


def iterate_entries(section: DocSection, most: int = SHOWN) -> Iterator[tuple[DocEntry, str]]:
    """Yield the entries that are shown, with what to say after each."""
    first = section.entries[:most]
    more = section.count - len(first)
    for number, entry in enumerate(first, 1):
        last = number == len(first) and more > 0
        yield entry, f"  … and {more:,} more; %graphql search WORD finds them" if last else ""


def build_page(schema: GraphQLSchema, place: str | None) -> DocPage:
    """Return the documentation of a schema, or of a type or a field of it.

    Parameters
    ----------
    schema
        The schema.
    place
        ``"Type"`` or ``"Type.field"``; None for all of it.

    Raises
    ------
    TargetError
        If there is no such type or field; with what was meant.
    """
    if place is None:
        return build_overview(schema)
    name, dot, field = place.partition(".")
    kind = find_type(schema, name)
    if not dot:
        return build_type_page(schema, kind)
    known: Mapping[str, Any] = getattr(kind, "fields", {}) or getattr(kind, "values", {})
    if field not in known:
        told = suggest_name(field, known) or (
            f" It has: {', '.join(list(known)[:12])}." if known else ""
        )
        msg = f"{name} has no field {sanitize_text(field, 40)!r}.{told}"
        raise TargetError(msg)
    return build_field_page(kind, field, known[field])


def find_type(schema: GraphQLSchema, name: str) -> GraphQLNamedType:
    """Return a type of a schema.

    Raises
    ------
    TargetError
        If there is none of that name; with what was meant.
    """
    kind = schema.type_map.get(name)
    if kind is None:
        msg = f"The schema has no type {sanitize_text(name, 40)!r}.{suggest_name(name, schema)}"
        raise TargetError(msg)
    return kind


def list_own_types(schema: GraphQLSchema) -> list[GraphQLNamedType]:
    """Return the types that a schema defines: not GraphQL's scalars, nor introspection's."""
    kinds = schema.type_map.values()
    return [it for it in kinds if it.name[:2] != "__" and not is_specified_scalar_type(it)]


def suggest_name(word: str, schema: GraphQLSchema | Mapping[str, Any]) -> str:
    """Return what was meant by a name."""
    names = list(schema if isinstance(schema, Mapping) else schema.type_map)
    lowered = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), lowered, 1)
    return f" Did you mean {lowered[found[0]]!r}?" if found else ""


def build_overview(schema: GraphQLSchema) -> DocPage:
    """Return the root fields of a schema, and the names of its types."""
    sections = []
    roots = {
        word: kind
        for word in ("query", "mutation", "subscription")
        if (kind := getattr(schema, f"{word}_type")) is not None
    }
    for word, root in roots.items():
        sections.append(build_fields_section(root, f"{word}: {root.name}"))
    own = [kind for kind in list_own_types(schema) if kind not in roots.values()]
    for sort, _, heading in TYPE_KINDS:
        found = [kind for kind in own if isinstance(kind, sort)]
        if found:
            sections.append(build_section(heading, found, build_type_entry))
    names = ", ".join(root.name for root in roots.values())
    title = (
        f"schema of {format_count(len(own), 'type')} beside {names}" if own else f"schema: {names}"
    )
    return DocPage(
        title,
        shorten_description(schema.description),
        tuple(sections),
        partial(print_schema, schema),
    )


def build_type_page(schema: GraphQLSchema, kind: GraphQLNamedType) -> DocPage:
    """Return the documentation of a type."""
    word = next((word for sort, word, _ in TYPE_KINDS if isinstance(kind, sort)), "type")
    interfaces = [it.name for it in getattr(kind, "interfaces", ())]
    said = f"{word} {kind.name}"
    if interfaces:
        said += f" implements {' & '.join(interfaces)}"
    sections = []
    own = build_fields_section(kind, "Values" if isinstance(kind, GraphQLEnumType) else "Fields")
    if own.count:
        sections.append(own)
    if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
        possible = schema.get_possible_types(kind)
        sections.append(build_section("Is one of", possible, build_type_entry))
    users = list(find_users(schema, kind))
    if users:
        more = [f"… and {len(users) - USERS:,} more"] if len(users) > USERS else []
        sections.append(build_section("Found at", [*users[:USERS], *more], DocEntry))
    about_it = shorten_description(kind.description, whole=True)
    return DocPage(said, about_it, tuple(sections), partial(print_type, kind))


def find_users(schema: GraphQLSchema, kind: GraphQLNamedType) -> Iterator[str]:
    """Yield the fields that return a type, or take it as an argument."""
    for name, other in schema.type_map.items():
        if name[:2] == "__" or isinstance(other, GraphQLEnumType):
            continue
        for field_name, field in getattr(other, "fields", {}).items():
            if get_named_type(field.type) is kind:
                yield f"{name}.{field_name}: {field.type}"
            for argument_name, argument in getattr(field, "args", {}).items():
                if get_named_type(argument.type) is kind:
                    yield f"{name}.{field_name}({argument_name}: {argument.type})"


def build_fields_section(kind: Any, heading: str) -> DocSection:
    """Return the fields of a type, or the values of an enum."""
    if isinstance(kind, GraphQLEnumType):
        return build_section(
            heading, kind.values.items(), lambda it: DocEntry(it[0], describe_element(it[1]))
        )
    members = getattr(kind, "fields", {}).items()
    return build_section(
        heading, members, lambda it: DocEntry(format_signature(*it), describe_element(it[1]))
    )


def build_section(
    heading: str, things: Collection[Any], entry: Callable[[Any], DocEntry]
) -> DocSection:
    """Return a section of things, with entries of those that are shown."""
    return DocSection(heading, tuple(map(entry, islice(things, SHOWN))), len(things))


def build_type_entry(kind: GraphQLNamedType) -> DocEntry:
    """Return a type as an entry."""
    return DocEntry(kind.name, get_first_sentence(kind.description))


def build_field_page(kind: GraphQLNamedType, name: str, field: Any) -> DocPage:
    """Return the documentation of a field, an input field or an enum value."""
    if isinstance(kind, GraphQLEnumType):
        return DocPage(f"{kind.name}.{name}", describe_element(field, whole=True), (), lambda: name)
    code = f"{kind.name}.{format_signature(name, field)}"
    arguments = build_section(
        "Arguments",
        getattr(field, "args", {}).items(),
        lambda it: DocEntry(format_signature(*it), describe_element(it[1])),
    )
    sections = [arguments] if arguments.count else []
    inner = get_named_type(field.type)
    word = "Values" if isinstance(inner, GraphQLEnumType) else "Fields"
    below = build_fields_section(inner, f"{word} of {inner.name}")
    if below.count:
        sections.append(below)
    elif inner.description:
        entry = DocEntry(str(field.type), shorten_description(inner.description))
        sections.append(DocSection(inner.name, (entry,), 1))
    about_it = describe_element(field, whole=True)
    return DocPage(code, about_it, tuple(sections), lambda: format_signature(name, field))


def format_signature(name: str, field: Any) -> str:
    """Return a field or an argument as GraphQL writes it: arguments, type, default."""
    if not hasattr(field, "args"):
        try:
            return sanitize_text(print_input_value(name, field).partition(" @deprecated")[0], 200)
        except (GraphQLError, TypeError, ValueError):  # a scalar's default that has no literal
            return f"{name}: {field.type} = …"
    parts = [format_signature(each, it) for each, it in field.args.items()]
    inside = f"({', '.join(parts)})" if parts else ""
    if len(inside) > LONG:
        inside = f"({', '.join(part.partition(':')[0] for part in parts)})"
    return f"{name}{inside}: {field.type}"


def describe_element(thing: Any, *, whole: bool = False) -> str:
    """Return the description of a field or value, and that it is deprecated."""
    reason = getattr(thing, "deprecation_reason", None)
    said = shorten_description(thing.description, whole=whole)
    if reason is None:
        return said
    return f"{said} Deprecated: {sanitize_text(reason, 200)}".strip()


def shorten_description(text: str | None, *, whole: bool = False) -> str:
    """Return a description on one line."""
    return sanitize_text(text or "", 4000 if whole else ABOUT)


def get_first_sentence(text: str | None) -> str:
    """Return the first sentence of a description."""
    said = shorten_description(text)
    return f"{said.partition('. ')[0].rstrip('.')}." if said else ""
