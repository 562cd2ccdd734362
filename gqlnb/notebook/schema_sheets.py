"""Pages of a schema for a view that can be clicked through: plain data, in portions.

A sheet is about one place: the schema, a type, a field, a directive. What may be long (fields, the
values of an enum, types that lead here) is sent a part at a time, so that it does not matter how
large a schema is. Signatures are lists of pieces ``[text]`` or ``[text, place]``, the latter links.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLScalarType,
    GraphQLUnionType,
    get_named_type,
    is_specified_scalar_type,
)
from graphql.utilities.print_schema import print_input_value

from gqlnb.errors import TargetError, sanitize_text
from gqlnb.notebook.display import format_count
from gqlnb.notebook.schema_docs import TYPE_KINDS, find_type, list_own_types, suggest_name
from gqlnb.notebook.schema_search import MEMBER, TypeLink, describe_kind, get_index

if TYPE_CHECKING:
    from graphql import GraphQLNamedType, GraphQLSchema

    from gqlnb.notebook.schema_search import SchemaIndex

    Pieces = list[list[str]]
    Row = dict[str, Any]

__all__ = ["LINKS", "SchemaSheets"]

FIRST = 60  # rows of a section that come with its sheet
PART = 200  # rows of each further portion
LINKS = 40  # types beside a type that come with its sheet
VIA = 3  # fields that are named where a type leads to another
ABOUT = 4000  # characters of a description
BESIDE = 400  # of one in a row
LONG = 100  # characters of the arguments in a row
ROOTS = ("query", "mutation", "subscription")


class SchemaSheets:
    """The sheets of a schema.

    Parameters
    ----------
    schema
        The schema.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema
        self._kinds: dict[str, list[Any]] | None = None

    @property
    def index(self) -> SchemaIndex:
        """The index of the schema; who asks first waits for it."""
        return get_index(self.schema)

    def build_sheet(self, place: str) -> dict[str, Any]:
        """Return the sheet of a place.

        Parameters
        ----------
        place
            ``""`` for the schema; ``"Type"``, ``"Type.field"``, ``"@directive"``; with
            ``"(argument)"`` behind it, or of a value or an input field, the sheet it is on.

        Raises
        ------
        TargetError
            If there is no such place.
        """
        if not place:
            return self._build_overview()
        owner, field, argument = split_place(place)
        if owner.startswith("@"):
            return self._build_directive(owner, argument)
        kind = find_type(self.schema, owner)
        if not field:
            return self._build_type(kind, "")
        known: Any = getattr(kind, "fields", {}) or getattr(kind, "values", {})
        if field not in known:
            msg = f"{owner} has no field {sanitize_text(field, 40)!r}.{suggest_name(field, known)}"
            raise TargetError(msg)
        if isinstance(kind, (GraphQLEnumType, GraphQLInputObjectType)):
            return self._build_type(kind, field)
        return self._build_field(kind, field, known[field], argument)

    def build_rows(self, place: str, section: str, start: int) -> list[Row]:
        """Return a further portion of a section: of a sheet, by the name that it has there."""
        owner, field, _ = split_place(place)
        for name, things in self._iterate_sections(owner, field):
            if name == section:
                return [self._build_row(it) for it in things[start : start + PART]]
        return []

    def build_links(self, place: str, side: str, start: int) -> list[Row]:
        """Return further types that lead to a type (`side` is ``"from"``) or that it leads to."""
        kind = self.schema.type_map.get(place)
        found = [] if kind is None else self._find_links(kind)[side]
        return [build_link_row(it) for it in found[start : start + PART]]

    def list_neighbours(self, place: str) -> list[tuple[str, str, str]]:
        """Return all types beside a type: whether they lead here or are led to, which, and by what.

        Raises
        ------
        TargetError
            If there is no such type.
        """
        kind = find_type(self.schema, place)
        words = {"from": "leads here", "to": "leads to"}
        return [
            (words[side], link.name, ", ".join(link.via))
            for side, links in self._find_links(kind).items()
            for link in links
        ]

    # -- sheets

    def _build_overview(self) -> dict[str, Any]:
        types = format_count(len(list_own_types(self.schema)), "type")
        directives = format_count(len(self.schema.directives), "directive")
        return {
            **build_empty_sheet("", "schema", "Schema"),
            "about": clean_text(self.schema.description),
            "notes": [[[f"{types}, {directives}"]]],
            "sections": self._build_sections("", ""),
        }

    def _build_type(self, kind: GraphQLNamedType, marked: str) -> dict[str, Any]:
        links = self._find_links(kind)
        return {
            **build_empty_sheet(kind.name, describe_kind(kind), kind.name),
            "mark": f"{kind.name}.{marked}" if marked else "",
            "crumbs": [["Schema", ""], [kind.name, kind.name]],
            "about": clean_text(kind.description),
            "notes": list(self._build_notes(kind)),
            "sections": self._build_sections(kind.name, "", marked),
            "links": {
                side: {"total": len(found), "rows": [build_link_row(it) for it in found[:LINKS]]}
                for side, found in links.items()
            },
        }

    def _build_field(
        self, kind: GraphQLNamedType, name: str, field: Any, argument: str
    ) -> dict[str, Any]:
        place = f"{kind.name}.{name}"
        return {
            **build_empty_sheet(place, "field", name),
            "mark": f"{place}({argument})" if argument else "",
            "crumbs": [["Schema", ""], [kind.name, kind.name], [name, place]],
            "code": [[f"{name}: "], *link_type(field.type)],
            "about": clean_text(field.description),
            "deprecated": get_deprecation_reason(field),
            "sections": self._build_sections(kind.name, name, argument),
        }

    def _build_directive(self, owner: str, argument: str) -> dict[str, Any]:
        directive: Any = self.schema.get_directive(owner[1:])
        if directive is None:
            msg = f"The schema has no directive {sanitize_text(owner, 40)!r}."
            raise TargetError(msg)
        where = ", ".join(location.name for location in directive.locations)
        often = "Repeatable, on " if directive.is_repeatable else "On "
        return {
            **build_empty_sheet(owner, "directive", owner),
            "mark": f"{owner}({argument})" if argument else "",
            "crumbs": [["Schema", ""], [owner, owner]],
            "about": clean_text(directive.description),
            "notes": [[[f"{often}{where}"]]],
            "sections": self._build_sections(owner, "", argument),
        }

    def _build_notes(self, kind: Any) -> Iterator[Pieces]:
        """Yield what is to be known about a type in a few words."""
        roots = [word for word in ROOTS if getattr(self.schema, f"{word}_type") is kind]
        if roots:
            yield [[f"Where each {' and each '.join(roots)} begins"]]
        interfaces = [it.name for it in getattr(kind, "interfaces", ())]
        if interfaces:
            yield [["Implements "], *join_links(interfaces)]
        url = getattr(kind, "specified_by_url", None)
        if url:
            yield [[f"Specified by {sanitize_text(url, 400)}"]]
        if getattr(kind, "is_one_of", False):
            yield [["Exactly one of its fields is given"]]

    # -- sections

    def _build_sections(self, owner: str, field: str, marked: str = "") -> list[dict[str, Any]]:
        """Return the sections of a sheet, each with its first rows, and the one that is marked."""
        made = []
        for name, things in self._iterate_sections(owner, field):
            rows = [self._build_row(it) for it in things[:FIRST]]
            later = [it for it in things[FIRST:] if marked and it[-2] == marked]
            found = {"name": name, "total": len(things), "rows": rows}
            made.append({**found, "marked": [self._build_row(it) for it in later]})
        return made

    def _iterate_sections(self, owner: str, field: str) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield the sections of a sheet: a name, and what is listed, of which rows are made."""
        if not owner:
            yield from self._iterate_schema_sections()
        elif owner.startswith("@"):
            directive: Any = self.schema.get_directive(owner[1:])
            yield from yield_section("Arguments", list_members(owner, directive.args))
        elif not field:
            yield from self._iterate_type_sections(self.schema.type_map[owner])
        else:
            kind: Any = self.schema.type_map[owner]
            declared = kind.fields[field]
            place = f"{owner}.{field}"
            yield from yield_section("Arguments", list_members(place, declared.args))
            inner: Any = get_named_type(declared.type)
            if not isinstance(inner, GraphQLScalarType):
                for name, things in self._iterate_type_sections(inner):
                    yield f"{name} of {inner.name}", things

    def _iterate_type_sections(self, kind: Any) -> Iterator[tuple[str, Sequence[Any]]]:
        if isinstance(kind, GraphQLEnumType):
            yield from yield_section("Values", list_members(kind.name, kind.values))
        yield from yield_section("Fields", list_members(kind.name, getattr(kind, "fields", {})))
        if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
            possible = self.schema.get_possible_types(kind)
            yield from yield_section("Is one of", [("", it.name, it) for it in possible])

    def _iterate_schema_sections(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield what a schema consists of: the fields to begin with, then all types by kind."""
        for word in ROOTS:
            root = getattr(self.schema, f"{word}_type")
            if root is not None:
                yield from yield_section(f"{word.title()}", list_members(root.name, root.fields))
        for heading, kinds in self._group_by_kind().items():
            yield from yield_section(heading, [("", kind.name, kind) for kind in kinds])
        directives = [("", f"@{it.name}", it) for it in self.schema.directives]
        yield from yield_section("Directives", directives)

    def _group_by_kind(self) -> dict[str, list[Any]]:
        if self._kinds is None:
            found: dict[str, list[Any]] = {heading: [] for *_, heading in TYPE_KINDS}
            for kind in sorted(list_own_types(self.schema), key=lambda kind: kind.name):
                heading = next(head for sort, _, head in TYPE_KINDS if isinstance(kind, sort))
                found[heading].append(kind)
            self._kinds = found
        return self._kinds

    def _build_row(self, it: tuple[str, str, Any]) -> Row:
        """Return a row: where it leads, how it is written, what it is for."""
        owner, name, thing = it
        if not owner:
            place, code = name, [[name, name]]
        elif hasattr(thing, "args"):
            place, code = f"{owner}.{name}", write_field(f"{owner}.{name}", name, thing)
        elif hasattr(thing, "type"):
            argument = owner.startswith("@") or "." in owner
            place = f"{owner}({name})" if argument else f"{owner}.{name}"
            code = [[f"{name}: "], *link_type(thing.type), *write_default(name, thing)]
        else:
            place, code = f"{owner}.{name}", [[name]]
        about = clean_text(thing.description, BESIDE)
        return {
            "place": place,
            "code": code,
            "about": about,
            "deprecated": get_deprecation_reason(thing),
        }

    # -- types beside a type

    def _find_links(self, kind: Any) -> dict[str, list[TypeLink]]:
        """Return the types that lead to a type, and those that it leads to."""
        inner: dict[str, list[str]] = {}
        for via, used in iterate_used_types(kind):
            if not is_specified_scalar_type(used):
                inner.setdefault(used.name, []).append(via)
        if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
            for member in self.schema.get_possible_types(kind):
                inner.setdefault(member.name, []).append(MEMBER)
        users = [it for it in self.index.find_users(kind.name) if it.name != kind.name]
        return {
            "from": users,
            "to": [TypeLink(name, tuple(via)) for name, via in inner.items() if name != kind.name],
        }


def iterate_used_types(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the types of a type's fields, then those of their arguments, with where they stand."""
    fields = getattr(kind, "fields", {})
    for name, field in fields.items():
        yield name, get_named_type(field.type)
    for name, field in fields.items():
        for argument_name, argument in getattr(field, "args", {}).items():
            yield f"{name}({argument_name})", get_named_type(argument.type)


def build_empty_sheet(place: str, kind: str, title: str) -> dict[str, Any]:
    """Return what every sheet has."""
    return {
        "place": place,
        "kind": kind,
        "title": title,
        "crumbs": [["Schema", ""]],
        "code": [],
        "about": "",
        "deprecated": None,
        "notes": [],
        "mark": "",
    }


def split_place(place: str) -> tuple[str, str, str]:
    """Return owner, field and argument of a place; empty for what is not there."""
    front, _, argument = place.removesuffix(")").partition("(")
    owner, _, field = front.partition(".")
    return owner, field, argument


def list_members(owner: str, things: Any) -> list[tuple[str, str, Any]]:
    """Return members with what they belong to."""
    return [(owner, name, thing) for name, thing in things.items()]


def yield_section(name: str, things: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield a section, unless it is empty."""
    if things:
        yield name, things


def link_type(kind: Any) -> Pieces:
    """Return a type as it is written, its name a link."""
    name = get_named_type(kind).name
    before, _, after = str(kind).partition(name)
    return [piece for piece in ([before], [name, name], [after]) if piece[0]]


def join_links(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield names as links, with commas between them."""
    for number, name in enumerate(names):
        if number:
            yield [", "]
        yield [name, name]


def write_field(place: str, name: str, field: Any) -> Pieces:
    """Return a field of an object or interface as it is written, long arguments by name alone."""
    said = ", ".join(f"{each}: {it.type}" for each, it in field.args.items())
    if len(said) > LONG:
        said = sanitize_text(", ".join(field.args), LONG)
    arguments = f"({said})" if said else ""
    return [[name, place], [f"{arguments}: "], *link_type(field.type)]


def write_default(name: str, member: Any) -> Pieces:
    """Return the default value of an argument or input field, as it is written."""
    begin = f"{name}: {member.type}"
    try:
        said = print_input_value(name, member).removeprefix(begin)
    except (GraphQLError, TypeError, ValueError):  # a scalar's default that has no literal
        return [[" = …"]]
    if get_deprecation_reason(member) is not None:
        said = said.rpartition(" @deprecated")[0]
    return [[f" {sanitize_text(said, 200)}"]] if said else []


def build_link_row(link: TypeLink) -> Row:
    """Return a type beside another, with the fields that lead to it."""
    via = ", ".join(link.via[:VIA])
    more = len(link.via) - VIA
    return {"place": link.name, "via": f"{via} and {more:,} more" if more > 0 else via}


def get_deprecation_reason(thing: Any) -> str | None:
    """Return why something is deprecated; None if it is not."""
    found = getattr(thing, "deprecation_reason", None)
    return None if found is None else clean_text(found, BESIDE)


def clean_text(text: str | None, limit: int = ABOUT) -> str:
    """Return foreign text without what could colour or reorder it; its lines stay."""
    found = (text or "")[: limit * 2]
    kept = "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else " " for c in found)
    return kept if len(kept) <= limit else f"{kept[: limit - 1]}…"
