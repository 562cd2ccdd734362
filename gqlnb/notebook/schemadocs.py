"""A schema as people read documentation: its types, a type with its fields, a field."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLUnionType,
    get_named_type,
    print_schema,
    print_type,
)
from graphql.utilities.print_schema import print_input_value

from gqlnb.errors import TargetError, plain
from gqlnb.model.render import CLASSES

if TYPE_CHECKING:
    from graphql import GraphQLNamedType, GraphQLSchema

__all__ = ["Page", "field_page", "overview", "page", "signature", "type_page"]

SHOWN = 60  # entries of a section; GitHub's Repository has 120 fields
USERS = 12  # fields that are told to return a type
LONG = 100  # characters of a signature on one line
ABOUT = 400  # characters of a description beside others
KINDS: tuple[tuple[type, str, str], ...] = (
    (GraphQLObjectType, "type", "Types"),
    (GraphQLInterfaceType, "interface", "Interfaces"),
    (GraphQLUnionType, "union", "Unions"),
    (GraphQLEnumType, "enum", "Enums"),
    (GraphQLInputObjectType, "input", "Inputs"),
    (GraphQLScalarType, "scalar", "Scalars"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a section: what there is, and what it is for."""

    code: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its entries."""

    heading: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page of documentation.

    Attributes
    ----------
    title
        What it is about, as GraphQL writes it.
    about
        Its description.
    sections
        What follows.
    sdl
        The same in the schema definition language.
    """

    title: str
    about: str
    sections: tuple[Section, ...]
    sdl: str

    def __repr__(self) -> str:
        lines = [self.title, *([f"  {self.about}"] if self.about else [])]
        for section in self.sections:
            lines += ["", section.heading]
            for entry, more in shown(section):
                lines += [f"  {entry.code}", *([f"      {entry.about}"] if entry.about else [])]
                lines += [more] if more else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><b><code>{escape(self.title)}</code></b></p>"]
        parts += [f"<p>{escape(self.about)}</p>"] if self.about else []
        left = "text-align:left;vertical-align:top"
        for section in self.sections:
            parts.append(f'<p style="margin:8px 0 2px"><b>{escape(section.heading)}</b></p><table>')
            for entry, more in shown(section):
                cells = f"<code>{escape(entry.code)}</code>", escape(entry.about), escape(more)
                below = f"<br>{cells[2]}" if more else ""
                parts.append(
                    f'<tr><td style="{left}">{cells[0]}{below}</td>'
                    f'<td style="{left}">{cells[1]}</td></tr>'
                )
            parts.append("</table>")
        return f'<div class="{CLASSES}">{"".join(parts)}</div>'


def shown(section: Section) -> Iterator[tuple[Entry, str]]:
    """Yield the entries that are shown, with what to say after each."""
    more = len(section.entries) - SHOWN
    for number, entry in enumerate(section.entries[:SHOWN], 1):
        last = number == SHOWN and more > 0
        yield entry, f"  … and {more:,} more; %graphql search WORD finds them" if last else ""


def page(schema: GraphQLSchema, place: str | None) -> Page:
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
        return overview(schema)
    name, dot, field = place.partition(".")
    kind = schema.type_map.get(name)
    if kind is None:
        msg = f"The schema has no type {plain(name, 40)!r}.{near(name, schema)}"
        raise TargetError(msg)
    if not dot:
        return type_page(schema, kind)
    known: Mapping[str, Any] = getattr(kind, "fields", {}) or getattr(kind, "values", {})
    if field not in known:
        told = near(field, known) or (f" It has: {', '.join(list(known)[:12])}." if known else "")
        msg = f"{name} has no field {plain(field, 40)!r}.{told}"
        raise TargetError(msg)
    return field_page(kind, field, known[field])


def near(word: str, schema: GraphQLSchema | Mapping[str, Any]) -> str:
    """Return what was meant by a name."""
    names = list(schema if isinstance(schema, Mapping) else schema.type_map)
    lowered = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), lowered, 1)
    return f" Did you mean {lowered[found[0]]!r}?" if found else ""


def overview(schema: GraphQLSchema) -> Page:
    """Return the root fields of a schema, and the names of its types."""
    sections = []
    roots = {
        word: kind
        for word in ("query", "mutation", "subscription")
        if (kind := getattr(schema, f"{word}_type")) is not None
    }
    for word, root in roots.items():
        sections.append(Section(f"{word}: {root.name}", tuple(fields(root))))
    builtin = {"Int", "Float", "String", "Boolean", "ID"}
    own = [
        kind
        for name, kind in schema.type_map.items()
        if name[:2] != "__" and name not in builtin and kind not in roots.values()
    ]
    for sort, _, heading in KINDS:
        found = [kind for kind in own if isinstance(kind, sort)]
        if found:
            entries = tuple(Entry(kind.name, first(kind.description)) for kind in found)
            sections.append(Section(heading, entries))
    count = "1 type" if len(own) == 1 else f"{len(own):,} types"
    title = f"schema of {count} beside {', '.join(root.name for root in roots.values())}"
    if not own:
        title = f"schema: {', '.join(root.name for root in roots.values())}"
    return Page(title, about(schema.description), tuple(sections), print_schema(schema))


def type_page(schema: GraphQLSchema, kind: GraphQLNamedType) -> Page:
    """Return the documentation of a type."""
    word = next((word for sort, word, _ in KINDS if isinstance(kind, sort)), "type")
    interfaces = [it.name for it in getattr(kind, "interfaces", ())]
    said = f"{word} {kind.name}"
    if interfaces:
        said += f" implements {' & '.join(interfaces)}"
    sections = []
    own = tuple(fields(kind))
    if own:
        sections.append(Section("Values" if isinstance(kind, GraphQLEnumType) else "Fields", own))
    if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
        possible = schema.get_possible_types(kind)
        entries = tuple(Entry(it.name, first(it.description)) for it in possible)
        sections.append(Section("Is one of", entries))
    users = list(users_of(schema, kind))
    if users:
        more = [Entry(f"… and {len(users) - USERS:,} more")] if len(users) > USERS else []
        sections.append(Section("Found at", (*map(Entry, users[:USERS]), *more)))
    return Page(said, about(kind.description, whole=True), tuple(sections), print_type(kind))


def users_of(schema: GraphQLSchema, kind: GraphQLNamedType) -> Iterator[str]:
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


def fields(kind: Any) -> Iterator[Entry]:
    """Yield the fields of a type, or the values of an enum."""
    if isinstance(kind, GraphQLEnumType):
        for name, value in kind.values.items():
            yield Entry(name, noted(value))
    for name, field in getattr(kind, "fields", {}).items():
        yield Entry(signature(name, field), noted(field))


def field_page(kind: GraphQLNamedType, name: str, field: Any) -> Page:
    """Return the documentation of a field, an input field or an enum value."""
    if isinstance(kind, GraphQLEnumType):
        return Page(f"{kind.name}.{name}", noted(field, whole=True), (), name)
    code = f"{kind.name}.{signature(name, field)}"
    arguments = tuple(
        Entry(signature(each, argument), noted(argument))
        for each, argument in getattr(field, "args", {}).items()
    )
    sections = [Section("Arguments", arguments)] if arguments else []
    inner = get_named_type(field.type)
    below = tuple(fields(inner))
    if below:
        word = "Values" if isinstance(inner, GraphQLEnumType) else "Fields"
        sections.append(Section(f"{word} of {inner.name}", below))
    elif inner.description:
        sections.append(Section(inner.name, (Entry(str(field.type), about(inner.description)),)))
    return Page(code, noted(field, whole=True), tuple(sections), signature(name, field))


def signature(name: str, field: Any) -> str:
    """Return a field or an argument as GraphQL writes it: arguments, type, default."""
    if not hasattr(field, "args"):
        return plain(print_input_value(name, field).partition(" @deprecated")[0], 200)
    parts = [signature(each, it) for each, it in field.args.items()]
    inside = f"({', '.join(parts)})" if parts else ""
    if len(inside) > LONG:
        inside = f"({', '.join(part.partition(':')[0] for part in parts)})"
    return f"{name}{inside}: {field.type}"


def noted(thing: Any, *, whole: bool = False) -> str:
    """Return the description of a field or value, and that it is deprecated."""
    reason = getattr(thing, "deprecation_reason", None)
    said = about(thing.description, whole=whole)
    if reason is None:
        return said
    return f"{said} Deprecated: {plain(reason, 200)}".strip()


def about(text: str | None, *, whole: bool = False) -> str:
    """Return a description on one line."""
    return plain(text or "", 4000 if whole else ABOUT)


def first(text: str | None) -> str:
    """Return the first sentence of a description."""
    said = about(text)
    return f"{said.partition('. ')[0].rstrip('.')}." if said else ""
