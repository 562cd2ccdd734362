"""What the side panel writes into cells: edits of names and fragments, and whole operations."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, pairwise
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

from graphql import (
    OperationType,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
    parse,
)

from gqlnb.document.paged_fields import WRAPPER_NAMES
from gqlnb.document.paging_conventions import find_length_limit, find_page_arguments, is_plain_leaf
from gqlnb.document.schema_text import find_type
from gqlnb.errors import OptionError, TargetError
from gqlnb.notebook.completion.completion_list import find_at_cursor, parse_until, write_placeholder
from gqlnb.notebook.completion.cursor_parser import tokenize
from gqlnb.notebook.magic_options import CELL_MAGIC, locate_cursor
from gqlnb.notebook.notebook_state import parse_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLField, GraphQLSchema

    from gqlnb.notebook.magic_options import CursorPosition


def check_format(code: str, text: str) -> str:
    """Return the text of a formatted cell, unless it says something else than the cell did.

    Prettier 3.10 takes the spaces away that end the lines of a block string.

    Raises
    ------
    OptionError
        If a text between three quotes would change.
    """
    old, new = (parse(CELL_MAGIC.sub("", it, count=1), no_location=True) for it in (code, text))
    if old != new:
        msg = (
            "Formatting would change the text between three quotes (spaces at the ends of its "
            "lines), so the cell stays as it was. Write the text as a variable."
        )
        raise OptionError(msg)
    return text


def find_place(schema: GraphQLSchema, code: str, cursor: int) -> str:
    """Return the place in the schema of the name at the cursor of a cell.

    Raises
    ------
    OptionError
        If the cursor is on no name of the schema.
    """
    place = locate_operation(code, cursor)
    found = find_at_cursor(schema, place.text, place.offset)
    if found is None or found.thing is None:
        msg = "The cursor is not on a name of the schema."
        raise OptionError(msg)
    if found.kind == "argument":
        return f"{found.owner}({found.name})"
    name = f"{found.owner}.{found.name}".lstrip(".")
    return f"@{name}" if found.kind == "directive" else name


def extract_fragment(schema: GraphQLSchema, code: str, start: int, end: int, name: str) -> str:
    """Return a cell in which a fragment holds the selected fields.

    Parameters
    ----------
    schema
        The schema of the endpoint that the cell names.
    code
        The cell.
    start, end
        The selection, in characters.
    name
        The name of the fragment.

    Raises
    ------
    OptionError
        If the selection is not a list of whole fields, or the name is taken or not valid.
    """
    place = locate_operation(code, start)
    head = len(code) - len(place.text)
    tokens = tokenize(place.text)
    within = [it for it in tokens if it.start >= place.offset and it.end <= end - head]
    parent = parse_until(schema, tokens, place.offset, None).parent
    _check_name(name, {b.text for a, b in pairwise(tokens) if a.text == "fragment"})
    if within and parent is not None:
        begin, finish = within[0].start, within[-1].end
        margin = " " * (begin - place.text.rfind("\n", 0, begin) - 1)
        fields = indent(dedent(margin + place.text[begin:finish]).strip(), "  ")
        rest = f"{place.text[:begin]}...{name}{place.text[finish:]}".rstrip()
        text = f"{rest}\n\nfragment {name} on {parent.name} {{\n{fields}\n}}"
        if parse_or_none(text) is not None:  # it is not if a field was cut
            return code[:head] + text
    msg = "Select whole fields of one selection set, such as: name owner { login }"
    raise OptionError(msg)


def rename_at(code: str, cursor: int, name: str) -> str:
    """Return a cell with the alias or the variable at the cursor renamed.

    Raises
    ------
    OptionError
        If the cursor is on neither, or the name is taken or not valid.
    """
    place = locate_operation(code, cursor)
    line, text, tokens = code[: len(code) - len(place.text)], place.text, tokenize(place.text)
    names = [n for n, it in enumerate(tokens) if it.kind == "name"]
    at = next((n for n in names if tokens[n].start <= place.offset + 1 <= tokens[n].end + 1), 0)
    old, name = tokens[at].text, name.removeprefix("$")
    variables = [b for a, b in pairwise(tokens) if a.text == "$"]
    chosen = [it for it in variables if it.text == old] if tokens[at] in variables else []
    if chosen:  # the values of the line belong to the variables
        line = re.sub(rf"((?:-p|--param)[ =]){re.escape(old)}=", rf"\g<1>{name}=", line)
    elif [it.text for it in tokens[at + 1 : at + 2]] == [":"]:
        is_alias = parse_until(None, tokens, tokens[at].start, None).in_fields
        chosen = [tokens[at]] if is_alias else []
    if not chosen:
        msg = "Place the cursor on an alias or a variable."
        raise OptionError(msg)
    _check_name(name, {it.text for it in variables} - {old} if chosen[0] in variables else set())
    for token in reversed(chosen):
        text = f"{text[: token.start]}{name}{text[token.end :]}"
    return f"{line}{text}"


def locate_operation(code: str, cursor: int) -> CursorPosition:
    """Locate the cursor in the operation of a cell.

    Raises
    ------
    OptionError
        If it is not in the text of a ``%%graphql`` cell.
    """
    place = locate_cursor(code, cursor)
    if place is not None and place.inside and place.cell:
        return place
    msg = "Place the cursor in the text of a %%graphql cell."
    raise OptionError(msg)


def _check_name(name: str, taken: set[str]) -> None:
    if not (name.isascii() and name.isidentifier()) or name in taken:
        msg = f"{name!r} is taken." if name in taken else "Write letters, digits and '_'."
        raise OptionError(msg)


LABELS = ("name", "title", "login", "label", "code", "key", "id")  # fields that tell rows apart
SELECTED = 3  # fields of a first selection without any of these
PATHS = 5
PAGE_SIZE = 10
MEMBERS = 8  # types of a union, of which search results of GitHub have as many
NARROWING = 3.0  # a type condition costs as much as three fields: `node(id:)` leads to most types


def list_steps(schema: GraphQLSchema, kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any type
    """Return what a selection set of a type can have, by place: its fields, and type conditions."""
    steps = {f"{kind.name}.{name}": it for name, it in getattr(kind, "fields", {}).items()}
    return {**steps, **{it.name: it for it in schema.get_possible_types(kind)}}


def find_paths(schema: GraphQLSchema, target: str, most: int = PATHS) -> list[tuple[str, ...]]:
    """Find the shortest paths from a field of the query type to a type.

    Parameters
    ----------
    schema
        The schema.
    target
        The name of the type.
    most
        The number of paths.

    Returns
    -------
    list of tuples
        The paths, the shortest first: places of fields (``"Query.search"``) and of type
        conditions (``"Repository"``).
    """
    find_type(schema, target)
    order, visits, found = count(), Counter[str](), list[tuple[str, ...]]()
    # The cheapest first; a type is left `most` times at most: no further path can be among those.
    waiting: list[tuple[float, int, Any, tuple[str, ...]]] = [(0.0, 0, schema.query_type, ())]
    while waiting and len(found) < most:
        cost, _, kind, path = heappop(waiting)
        if kind.name == target and path:
            found.append(path)
            continue
        visits[kind.name] += 1
        steps = list_steps(schema, kind) if visits[kind.name] <= most else {}
        seen = {place.partition(".")[0] for place in path}
        for place, step in steps.items():
            inner: Any = get_named_type(getattr(step, "type", step))
            leads_on = is_composite_type(inner) or inner.name == target
            is_current = getattr(step, "deprecation_reason", None) is None
            if leads_on and is_current and inner.name not in seen:
                needed = getattr(step, "args", {}).values()
                more = NARROWING if inner is step else 1.0 + sum(map(is_required_argument, needed))
                heappush(waiting, (cost + more, next(order), inner, (*path, place)))
    return found


def write_selection(schema: GraphQLSchema, place: str) -> str:
    """Write a field with its required arguments and a first selection, or a type condition."""
    return _Writer(schema, [place], None).write_step(0)


def write_operation(schema: GraphQLSchema, path: Sequence[str]) -> tuple[str, dict[str, object]]:
    """Write an operation that selects the end of a path, with variables for required arguments.

    Parameters
    ----------
    schema
        The schema.
    path
        As of :func:`find_paths`; one that begins below the root is completed by the shortest path.

    Returns
    -------
    (str, dict)
        The text, and a value for each variable, of the type of its argument.

    Raises
    ------
    TargetError
        If no path leads there, or a step of it does not exist.
    """
    roots = {kind.name: it.value for it in OperationType if (kind := schema.get_root_type(it))}
    steps = list(path[1:] if path[0] in roots else path)
    if steps and (owner := steps[0].partition(".")[0]) not in roots:
        before = find_paths(schema, owner, 1)
        steps = [*before[0], *(steps if "." in steps[0] else steps[1:])] if before else []
    if not steps:
        msg = f"No field of the query type leads to {path[-1]}."
        raise TargetError(msg)
    variables: dict[str, tuple[str, object]] = {}
    body = _Writer(schema, steps, variables).write_step(0)
    declared = ", ".join(f"${name}: {kind}" for name, (kind, _) in variables.items())
    head = roots[steps[0].partition(".")[0]] + (f" ({declared})" if declared else "")
    return join_block(head, [body]), {name: it for name, (_, it) in variables.items()}


@dataclass
class _Writer:
    """Writes the selections along a path; arguments as literals if `variables` is None."""

    schema: GraphQLSchema
    path: Sequence[str]
    variables: dict[str, tuple[str, object]] | None  # type and value by name

    def write_step(self, at: int) -> str:
        """Write a step of the path with all below it."""
        owner, _, name = self.path[at].partition(".")
        kind, head = find_type(self.schema, owner), f"... on {owner}"
        if name:
            field: Any = getattr(kind, "fields", {}).get(name)
            if not hasattr(field, "args"):
                msg = f"{self.path[at]} is not a field that can be selected."
                raise TargetError(msg)
            kind, head = get_named_type(field.type), name + self._write_arguments(field)
        if at + 1 == len(self.path):
            return join_block(head, self._select(kind))
        # What tells the rows apart, unless it is selected anyway.
        labels = [it for it in find_leaves(kind) if it in LABELS][:1]
        below = self.write_step(at + 1)
        return join_block(head, [below] if labels == [below] else [*labels, below])

    def _write_arguments(self, field: GraphQLField) -> str:
        ways = (*find_page_arguments(field, {}), find_length_limit(field, {}))
        sizes = [way.size[0] for way in ways if way is not None and len(way.size) == 1]
        parts = []
        for name, argument in field.args.items():
            value = write_placeholder(argument.type)
            if name in sizes[:1]:
                value = str(PAGE_SIZE)
            elif not is_required_argument(argument):
                continue
            elif self.variables is not None:
                names = (name, *(f"{name}{number}" for number in range(2, 100)))
                variable = next(it for it in names if it not in self.variables)
                self.variables[variable] = str(argument.type), self._choose_value(argument.type)
                value = f"${variable}"
            parts.append(f"{name}: {value}")
        return f"({', '.join(parts)})" if parts else ""

    def _choose_value(self, expected: Any) -> object:  # noqa: ANN401 - any input type
        """Return a value for a variable; of an enum the one that names a type of the path."""
        inner: Any = get_nullable_type(expected)
        if is_enum_type(inner):
            names, types = list(inner.values), {it.partition(".")[0].casefold() for it in self.path}
            return next((it for it in names if it.casefold() in types), names[0])
        if is_input_object_type(inner):
            required = {n: it.type for n, it in inner.fields.items() if is_required_input_field(it)}
            return {name: self._choose_value(kind) for name, kind in required.items()}
        values = {"Int": 1, "Float": 1.0, "Boolean": False}
        return [] if is_list_type(inner) else values.get(str(inner), "")

    def _select(self, kind: Any) -> list[str]:  # noqa: ANN401 - any output type
        """Return the lines of a first selection of a type; empty for scalars and enums."""
        if not is_composite_type(kind):
            return []
        fields: dict[str, GraphQLField] = getattr(kind, "fields", {})
        wrappers = WRAPPER_NAMES | ({"node"} if "cursor" in fields else set())  # of an edge
        for name in ("nodes", *fields):
            inner = get_named_type(fields[name].type) if name in fields else None
            if name in wrappers and is_composite_type(inner) and inner is not kind:
                return [join_block(name + self._write_arguments(fields[name]), self._select(inner))]
        return find_leaves(kind) or ["__typename", *self._select_members(kind)]

    def _select_members(self, kind: Any) -> list[str]:  # noqa: ANN401 - any composite type
        """Return type conditions with what tells the rows of the first possible types apart."""
        types: dict[str, str] = {}  # by name: in one answer all fields of a name have one type
        lines = list[str]()
        for member in self.schema.get_possible_types(kind):
            leaves = list_leaves(member)
            kinds = {name: str(member.fields[name].type) for name in LABELS if name in leaves}
            fit = [name for name, kind in kinds.items() if types.get(name, kind) == kind]
            # One that is never null is better than another: users have a login, few a name.
            fit.sort(key=lambda name: (name == "id", kinds[name][-1] != "!"))
            if fit and len(lines) < MEMBERS:
                types[fit[0]] = kinds[fit[0]]
                lines.append(join_block(f"... on {member.name}", fit[:1]))
        return lines


def list_leaves(kind: Any) -> list[str]:  # noqa: ANN401 - any output type
    """Return the names of the scalar fields of a type that need no argument."""
    return [
        name
        for name, field in getattr(kind, "fields", {}).items()
        if is_plain_leaf(field) and field.deprecation_reason is None
    ]


def find_leaves(kind: Any) -> list[str]:  # noqa: ANN401 - any output type
    """Return the names of the scalar fields of a first selection, one if it tells rows apart."""
    leaves = list_leaves(kind)
    return [name for name in LABELS if name in leaves][:1] or leaves[:SELECTED]


def join_block(head: str, lines: Sequence[str]) -> str:
    """Write a selection set below its field, if it has one."""
    inner = indent("\n".join(lines), "  ")
    return f"{head} {{\n{inner}\n}}" if lines else head
