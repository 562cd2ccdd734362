"""Pages of documentation for a schema: as text, as HTML, and as messages for the schema view.

A page covers one place: the schema, a type, a field, a value or a directive. Long sections are
written in portions, so that the size of a schema does not matter. Code is a list of pieces, each
``[text]`` or ``[text, place]``; the latter become links in the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from graphql import (
    GraphQLArgument,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLField,
    GraphQLInputField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_specified_scalar_type,
    print_type,
)
from graphql.utilities.print_schema import print_directive

from gqlnb.client.schema_store import get_schema_source
from gqlnb.document.schema_text import find_type, print_sdl
from gqlnb.errors import TargetError, clean_text, format_count, join_names, sanitize_text, suggest
from gqlnb.notebook.completion.cursor_parser import format_input_value
from gqlnb.notebook.display import CODE, mark_code
from gqlnb.notebook.schema_search import (
    MEMBER,
    TYPE_KINDS,
    Definition,
    TypeLink,
    describe_element,
    describe_kind,
    get_index,
    get_members,
    list_own_types,
)
from gqlnb.result.renderer import wrap_html

if TYPE_CHECKING:
    from graphql import GraphQLInputType, GraphQLOutputType

Pieces: TypeAlias = list[list[str]]
Row: TypeAlias = dict[str, Any]

SHOWN = 60  # entries of a section in text; GitHub's Repository has 120 fields
USERS = 12  # fields in "Found at"
ROWS = 60  # rows of a section that come with its page
PORTION = 200  # rows of each further portion
LINKS = 40  # linked types that come with their page
VIA = 3  # fields that are named beside a linked type
DESCRIPTION = 4000  # characters of a description
ROW_DESCRIPTION = 400  # characters of a description in a row
ROOT_FIELDS = 8  # fields of a root type in the summary of a schema
# A description is beside its code, or below it where there is no room; a column of a table would be
# out of sight there.
ROW = '<div style="display:flex;flex-wrap:wrap;gap:0 2em;margin:4px 0">'
CODE_WIDTH = 48  # characters of a line of code beside its description
UNFOLDED = 3  # rows of a section of a schema's page that is shown without a click
IN_HTML = 2000  # entries of a section
BOXED = 12  # rows of a section; those of a longer one scroll in a box
BOX = "max-height:24em;overflow:auto;border:1px solid #8884;border-radius:4px;padding:0 8px"
NAMES = 200  # of the entries beyond those of a section in text
LONG = 100  # characters of arguments on one line
ROOTS = ("query", "mutation", "subscription")


class _Member(NamedTuple):
    """One row of a section: a definition with its name and the place that it belongs to."""

    owner: str  # "" for types and directives
    name: str
    definition: Definition

    @property
    def place(self) -> str:
        if not self.owner:
            return self.name
        if isinstance(self.definition, GraphQLArgument):
            return f"{self.owner}({self.name})"
        return f"{self.owner}.{self.name}"

    def write_code(self) -> Pieces:
        """Write the definition as one line of SDL."""
        if isinstance(self.definition, GraphQLField):
            return write_field(self.place, self.name, self.definition)
        if isinstance(self.definition, (GraphQLArgument, GraphQLInputField)):
            return write_input(self.name, self.definition)
        return [[self.name]] if self.owner else [[self.name, self.name]]

    def to_message(self) -> Row:
        return {
            "place": self.place,
            "code": self.write_code(),
            "about": clean_text(self.definition.description or "", ROW_DESCRIPTION),
            "deprecated": get_deprecation_reason(self.definition),
        }

    def to_text(self) -> tuple[str, str]:
        """Return code and description as lines; of a type the first sentence only."""
        text = describe_element(self.definition)
        if isinstance(self.definition, GraphQLNamedType) and text:
            text = f"{text.partition('. ')[0].rstrip('.')}."
        return _join_pieces(self.write_code()), text


@dataclass(frozen=True, slots=True)
class PageSection:
    """A list of members under a heading.

    Attributes
    ----------
    name
        The heading in the view; "" for a section of the text alone.
    heading
        The heading in the text; "" for a section of the view alone.
    members
        The members; rows are made from those that are shown.
    """

    name: str
    heading: str
    members: Sequence[_Member]


@dataclass(frozen=True, slots=True, repr=False)
class SchemaPage:
    """The documentation of one place of a schema.

    Attributes
    ----------
    place
        ``""`` for the schema, ``"Type"``, ``"Type.field"`` or ``"@directive"``.
    title
        The definition as one line of SDL.
    schema
        The schema.
    definition
        The definition at the place.
    sections
        The lists of its members.
    notes
        Short remarks below the description, in the view.
    code
        The code of the title in the view; empty for the name alone.
    mark
        The place of the member to highlight, "" for none.
    """

    place: str
    title: str
    schema: GraphQLSchema
    definition: Definition | GraphQLSchema
    sections: tuple[PageSection, ...]
    notes: tuple[Pieces, ...] = ()
    code: tuple[list[str], ...] = ()
    mark: str = ""

    @property
    def sdl(self) -> str:
        """The definition in the schema definition language."""
        if isinstance(self.definition, GraphQLSchema):
            return print_sdl(self.definition)
        if isinstance(self.definition, GraphQLNamedType):
            return print_type(self.definition)
        if isinstance(self.definition, GraphQLDirective):
            return print_directive(self.definition)
        return self.title.partition(".")[2]

    def _describe(self) -> str:
        # A schema has a description and is never deprecated.
        return describe_element(self.definition, DESCRIPTION)  # type: ignore[arg-type]

    def _iterate_text_sections(
        self, others: int, first: int | None = None
    ) -> Iterator[tuple[str, list[tuple[str, str]], str]]:
        """Yield heading, entries, and a line about the others; of the first section `first`."""
        most = others if first is None else first
        for section in self.sections:
            members = section.members
            if self.mark:
                members = [it for it in members if it.place == self.mark]
            if section.heading and members:
                rest = name_others(members[most:])
                yield section.heading, [it.to_text() for it in members[:most]], rest
                most = others
        kind = self.definition
        uses = find_uses(self.schema, kind.name) if isinstance(kind, GraphQLNamedType) else []
        if uses:
            more = len(uses) - USERS
            rest = f"… and {more:,} more" if more > 0 else ""
            yield "Found at", [(use, "") for use in uses[:USERS]], rest

    def __repr__(self) -> str:
        description = self._describe()
        lines = [self.title, *([f"  {description}"] if description else [])]
        for heading, entries, rest in self._iterate_text_sections(SHOWN):
            lines += ["", heading]
            for code, text in entries:
                lines += [f"  {code}", *([f"      {text}"] if text else [])]
            lines += [f"  {rest}"] if rest else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return wrap_html(self.to_html())

    def to_html(self, most: int = IN_HTML, first: int = IN_HTML) -> str:
        """Render the page as escaped HTML, with `most` entries of each section but the first.

        Long sections scroll in a box, above which JupyterLab's extension puts a filter.
        """
        description = self._describe()
        parts = [f'<p><b>{CODE}">{escape(self.title)}</code></b></p>']
        parts += [f"<p>{mark_code(escape(description))}</p>"] if description else []
        sections = self._iterate_text_sections(most, first)
        for place, (heading, entries, rest) in enumerate(sections):
            head = f"<b>{escape(heading)}</b>"
            # A service has hundreds of mutations and types; most readers look for its queries.
            folded = not self.place and place > 0 and len(entries) > UNFOLDED
            if folded:
                parts.append(f"<details><summary>{head}</summary>")
            else:
                parts.append(f'<p style="margin:8px 0 2px">{head}</p>')
            if len(entries) > BOXED:
                label = escape(heading, quote=True)
                box = f'class="gqlnb-box" role="group" aria-label="{label}" tabindex="0"'
                parts.append(f'<div {box} style="{BOX}">')
            width = min(CODE_WIDTH, max((len(code) for code, _ in entries), default=0))
            for code, text in entries:
                about = (
                    f' <span style="flex:1 1 16em">{mark_code(escape(text))}</span>' if text else ""
                )
                style = f"{CODE};flex:0 0 {width}ch;max-width:100%"
                parts.append(f'{ROW}{style}">{escape(code)}</code>{about}</div>')
            parts += ["</div>"] if len(entries) > BOXED else []
            parts += [f"<p>{escape(rest)}</p>"] if rest else []
            parts += ["</details>"] if folded else []
        return "".join(parts)

    def to_message(self) -> dict[str, Any]:
        """Return the page for the view, with the first rows of each section."""
        owner, _, field = self.place.partition(".")
        crumbs = [["Schema", ""]]
        crumbs += [[owner, owner]] if owner else []
        crumbs += [[field, self.place]] if field else []
        sections = []
        for section in self.sections:
            if section.name and section.members:
                first, later = section.members[:ROWS], section.members[ROWS:]
                sections.append(
                    {
                        "name": section.name,
                        "total": len(section.members),
                        "rows": [member.to_message() for member in first],
                        # The highlighted row may be beyond the first portion.
                        "marked": [it.to_message() for it in later if it.place == self.mark],
                    }
                )
        kind = "schema" if not owner else "field" if field else describe_kind(self.definition)  # type: ignore[arg-type]
        return {
            "place": self.place,
            "kind": kind,
            "title": field or owner or "Schema",
            "crumbs": crumbs,
            "code": list(self.code),
            "about": clean_text(self.definition.description or "", DESCRIPTION),
            "deprecated": get_deprecation_reason(self.definition),
            "notes": list(self.notes),
            "sections": sections,
            "mark": self.mark,
        }


class SchemaDocs:
    """The documentation of a schema.

    Parameters
    ----------
    schema
        The schema.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema

    def build_page(self, place: str = "") -> SchemaPage:
        """Build the page of a place.

        Parameters
        ----------
        place
            ``""`` for the schema, the name of a root field, or a schema coordinate: ``"Type"``,
            ``"Type.field"``, ``"Enum.VALUE"``, ``"@directive"``, and with ``"(argument:)"``, whose
            colon may be missing, a page with that argument only in text, highlighted in the view.

        Raises
        ------
        TargetError
            If the schema has no such place; the message suggests a similar name.
        """
        if not place:
            return self._build_overview()
        front, _, argument = place.removesuffix(")").removesuffix(":").partition("(")
        owner, _, field = front.partition(".")
        if owner.startswith("@"):
            return self._build_directive(owner, argument)
        if not field and owner not in self.schema.type_map:
            owner, field = self._find_root_field(owner) or (owner, field)
        kind = find_type(self.schema, owner)
        if not field:
            require_argument(owner, argument, ())
            return self._build_type(kind)
        members = get_members(kind)
        if field not in members:
            hint = suggest(field, members, abbreviated=True) or (
                f" It has: {', '.join(list(members)[:12])}." if members else ""
            )
            msg = f"{owner} has no field {sanitize_text(field, 40)!r}.{hint}"
            raise TargetError(msg)
        return self._build_field(kind, field, members[field], argument)

    def _find_root_field(self, name: str) -> tuple[str, str] | None:
        """Return the root type that has a field of this name, and the name; None without one."""
        schema = self.schema
        roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
        return next(((it.name, name) for it in roots if it is not None and name in it.fields), None)

    def build_message(self, place: str) -> dict[str, Any]:
        """Build the page of a place for the view, with the types linked to it.

        Unlike in :meth:`build_page`, values and input fields are highlighted on their type's page.

        Raises
        ------
        TargetError
            If the schema has no such place.
        """
        page = self.build_page(place)
        kind = self.schema.type_map.get(page.place.partition(".")[0])
        if isinstance(page.definition, (GraphQLEnumValue, GraphQLInputField)) and kind:
            page = self._build_type(kind, mark=page.place)
        message = page.to_message()
        if isinstance(page.definition, GraphQLNamedType):
            message["links"] = {
                side: {"total": len(links), "rows": [write_link(link) for link in links[:LINKS]]}
                for side, links in self._find_links(page.definition).items()
            }
        return message

    def build_rows(self, place: str, section: str, start: int) -> list[Row]:
        """Build a further portion of the section of a page in the view."""
        found = [it for it in self.build_page(place).sections if it.name == section]
        members = found[0].members[start : start + PORTION] if found else ()
        return [member.to_message() for member in members]

    def build_links(self, place: str, side: str, start: int) -> list[Row]:
        """Build a further portion of the types linked from or to a type."""
        kind = self.schema.type_map.get(place)
        links = [] if kind is None else self._find_links(kind)[side]
        return [write_link(link) for link in links[start : start + PORTION]]

    def list_neighbours(self, place: str) -> list[tuple[str, str, str]]:
        """List the types that use a type or are used by it: direction, name, fields.

        Raises
        ------
        TargetError
            If the schema has no such type.
        """
        words = {"from": "leads here", "to": "leads to"}
        return [
            (words[side], link.name, ", ".join(link.via))
            for side, links in self._find_links(find_type(self.schema, place)).items()
            for link in links
        ]

    def _build_overview(self) -> SchemaPage:
        roots: dict[str, GraphQLNamedType] = {
            word: kind
            for word in ROOTS
            if (kind := getattr(self.schema, f"{word}_type")) is not None
        }
        sections = [
            PageSection(word.title(), f"{word}: {kind.name}", _list_members(kind))
            for word, kind in roots.items()
        ]
        own = list_own_types(self.schema)
        others = [kind for kind in own if kind not in roots.values()]
        for sort, _, heading in TYPE_KINDS:
            # The view lists all types by name, the text the others in the order of the schema.
            named = sorted((it for it in own if isinstance(it, sort)), key=lambda it: it.name)
            sections.append(PageSection(heading, "", _list_types(named)))
            rest = [it for it in others if isinstance(it, sort)]
            sections.append(PageSection("", heading, _list_types(rest)))
        directives = [_Member("", f"@{it.name}", it) for it in self.schema.directives]
        sections.append(PageSection("Directives", "", directives))
        counts = f"{format_count(len(own), 'type')}, {format_count(len(directives), 'directive')}"
        names = ", ".join(kind.name for kind in roots.values())
        title = f"schema: {names}"
        if others:
            title = f"schema of {format_count(len(others), 'type')} beside {names}"
        return SchemaPage("", title, self.schema, self.schema, tuple(sections), notes=([[counts]],))

    def _build_type(self, kind: GraphQLNamedType, mark: str = "") -> SchemaPage:
        word, interfaces = describe_kind(kind), [it.name for it in getattr(kind, "interfaces", ())]
        implements = f" implements {' & '.join(interfaces)}" if interfaces else ""
        notes: list[Pieces] = []
        roots = [root for root in ROOTS if getattr(self.schema, f"{root}_type") is kind]
        if roots:
            notes.append([[f"Root type of each {' and each '.join(roots)}"]])
        if interfaces:
            names = [piece for name in interfaces for piece in ([", "], [name, name])]
            notes.append([["Implements "], *names[1:]])
        url = getattr(kind, "specified_by_url", None)
        if url:
            notes.append([[f"Specified by {sanitize_text(url, 400)}"]])
        if getattr(kind, "is_one_of", False):
            notes.append([["Exactly one of its fields is given"]])
        title, sections = f"{word} {kind.name}{implements}", self._list_sections(kind)
        return SchemaPage(
            kind.name, title, self.schema, kind, sections, notes=tuple(notes), mark=mark
        )

    def _build_field(
        self, kind: GraphQLNamedType, name: str, field: Definition, argument: str
    ) -> SchemaPage:
        member = _Member(kind.name, name, field)
        place, code = member.place, _join_pieces(member.write_code())
        arguments = _list_inputs(place, getattr(field, "args", {}))
        require_argument(place, argument, arguments)
        sections: list[PageSection] = []
        type_code: Pieces = []
        if isinstance(field, (GraphQLField, GraphQLInputField)):
            type_code = [[f"{name}: "], *link_type(field.type)]
            inner = get_named_type(field.type)
            # A scalar without members is described by itself.
            scalar = _list_types([inner]) if inner.description and not get_members(inner) else ()
            sections = [
                PageSection("Arguments", "Arguments", arguments),
                *self._list_sections(inner, f" of {inner.name}"),
                PageSection("", inner.name, [] if isinstance(inner, GraphQLUnionType) else scalar),
            ]
        return SchemaPage(
            place,
            f"{kind.name}.{code}",
            self.schema,
            field,
            tuple(sections),
            code=tuple(type_code),
            mark=f"{place}({argument})" if argument else "",
        )

    def _build_directive(self, owner: str, argument: str) -> SchemaPage:
        directive = self.schema.get_directive(owner[1:])
        if directive is None:
            msg = f"The schema has no directive {sanitize_text(owner, 40)!r}."
            raise TargetError(msg)
        places = [location.name for location in directive.locations]
        often = "Repeatable, on " if directive.is_repeatable else "On "
        arguments = _list_inputs(owner, directive.args)
        require_argument(owner, argument, arguments)
        return SchemaPage(
            owner,
            f"directive {owner} on {' | '.join(places)}",
            self.schema,
            directive,
            (PageSection("Arguments", "Arguments", arguments),),
            notes=([[f"{often}{', '.join(places)}"]],),
            mark=f"{owner}({argument})" if argument else "",
        )

    def _list_sections(self, kind: GraphQLNamedType, suffix: str = "") -> tuple[PageSection, ...]:
        word = "Values" if isinstance(kind, GraphQLEnumType) else "Fields"
        sections = [PageSection(f"{word}{suffix}", f"{word}{suffix}", _list_members(kind))]
        if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
            heading = f"{kind.name} is one of" if suffix else "Is one of"
            possible = _list_types(self.schema.get_possible_types(kind))
            sections.append(PageSection(heading, heading, possible))
        return tuple(sections)

    def _find_links(self, kind: GraphQLNamedType) -> dict[str, list[TypeLink]]:
        """Find the types that use a type, and those that it uses."""
        used: dict[str, list[str]] = {}
        fields: Mapping[str, Any] = getattr(kind, "fields", {})
        uses = [(name, field.type) for name, field in fields.items()]
        uses += [
            (f"{name}({argument_name})", argument.type)
            for name, field in fields.items()
            for argument_name, argument in getattr(field, "args", {}).items()
        ]
        for via, used_type in uses:
            inner = get_named_type(used_type)
            if not is_specified_scalar_type(inner):
                used.setdefault(inner.name, []).append(via)
        if isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
            for member in self.schema.get_possible_types(kind):
                used.setdefault(member.name, []).append(MEMBER)
        users = get_index(self.schema).find_users(kind.name)
        return {
            "from": [link for link in users if link.name != kind.name],
            "to": [TypeLink(name, tuple(via)) for name, via in used.items() if name != kind.name],
        }


def summarize_schema(schema: GraphQLSchema) -> str:
    """Return the numbers of types and fields, the source and the first root fields of a schema."""
    types = list_own_types(schema)
    fields = sum(len(getattr(kind, "fields", ())) for kind in types)
    counts = f"{format_count(len(types), 'type')}, {format_count(fields, 'field')}"
    source = get_schema_source(schema)
    lines = [f"GraphQLSchema({counts}{source and f', {source}'})"]
    for root in ROOTS:
        kind = getattr(schema, f"{root}_type")
        if kind is not None:
            names = ", ".join([*kind.fields][:ROOT_FIELDS])
            more = len(kind.fields) - ROOT_FIELDS
            rest = f" and {more:,} more" if more > 0 else ""
            lines.append(f"  {root} {kind.name}: {sanitize_text(names, 200)}{rest}")
    return "\n".join(lines)


def find_uses(schema: GraphQLSchema, name: str) -> list[str]:
    """List the fields and arguments that have a type, as SDL."""
    uses = []
    for link in get_index(schema).find_users(name):
        # A directive or a union has no fields.
        fields: Mapping[str, Any] = getattr(schema.type_map.get(link.name), "fields", {})
        for via in link.via if fields else ():
            field_name, _, argument = via.removesuffix(")").partition("(")
            if via == MEMBER:
                continue
            field, place = fields[field_name], f"{link.name}.{field_name}"
            if argument:
                uses.append(f"{place}({argument}: {field.args[argument].type})")
            else:
                uses.append(f"{place}: {field.type}")
    return uses


def name_others(members: Sequence[_Member]) -> str:
    """Return a line that names further members; empty without."""
    if not members:
        return ""
    more = len(members) - NAMES
    rest = f" and {more:,} more; %graphql search WORD finds them" if more > 0 else ""
    return f"… and {len(members):,} more: {', '.join(it.name for it in members[:NAMES])}{rest}"


def _list_types(kinds: Sequence[GraphQLNamedType]) -> list[_Member]:
    return [_Member("", kind.name, kind) for kind in kinds]


def _list_inputs(owner: str, arguments: Mapping[str, GraphQLArgument]) -> list[_Member]:
    return [_Member(owner, name, argument) for name, argument in arguments.items()]


def require_argument(place: str, name: str, arguments: Sequence[_Member]) -> None:
    """Raise an error if a place has no argument of this name.

    Raises
    ------
    TargetError
        If it has none; the message suggests a similar name.
    """
    names = [member.name for member in arguments]
    if name and name not in names:
        hint = suggest(name, names) or (f" It has: {', '.join(names[:12])}." if names else "")
        msg = f"{place} has no argument {sanitize_text(name, 40)!r}.{hint}"
        raise TargetError(msg)


def _list_members(kind: GraphQLNamedType) -> list[_Member]:
    return [_Member(kind.name, name, it) for name, it in get_members(kind).items()]


def write_field(place: str, name: str, field: GraphQLField) -> Pieces:
    """Write a field with its arguments, or with their names alone if they are long."""
    arguments = ", ".join(_join_pieces(write_input(*it)) for it in field.args.items())
    if len(arguments) > LONG:
        arguments = sanitize_text(", ".join(field.args), LONG)
    return [[name, place], [f"({arguments}): " if arguments else ": "], *link_type(field.type)]


def write_input(name: str, definition: GraphQLArgument | GraphQLInputField) -> Pieces:
    """Write an argument or input field with its type and default value."""
    code = format_input_value(name, definition)
    if definition.deprecation_reason is not None:
        code = code.rpartition(" @deprecated")[0]
    default = sanitize_text(code.removeprefix(f"{name}: {definition.type}"), 200)
    pieces = [[f"{name}: "], *link_type(definition.type)]
    return [*pieces, [f" {default}"]] if default else pieces


def link_type(kind: GraphQLInputType | GraphQLOutputType) -> Pieces:
    """Write a type with a link on its name."""
    name = get_named_type(kind).name
    before, _, after = str(kind).partition(name)
    return [piece for piece in ([before], [name, name], [after]) if piece[0]]


def write_link(link: TypeLink) -> Row:
    """Write a linked type with the first fields that make the link."""
    return {"place": link.name, "via": join_names(link.via, VIA)}


def _join_pieces(pieces: Pieces) -> str:
    return "".join(piece[0] for piece in pieces)


def get_deprecation_reason(definition: object) -> str | None:
    """Return the reason of a deprecation, None if the definition is not deprecated."""
    reason = getattr(definition, "deprecation_reason", None)
    return None if reason is None else clean_text(reason, ROW_DESCRIPTION)
