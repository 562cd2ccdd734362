"""Edits of a ``%%graphql`` cell: extracting a fragment, renaming an alias or a variable."""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import dedent, indent
from typing import TYPE_CHECKING

from gqlnb.errors import OptionError
from gqlnb.notebook.completion.completion_context import parse_target
from gqlnb.notebook.completion.completion_list import find_at_cursor, parse_until
from gqlnb.notebook.completion.cursor_parser import SelectionSetState, tokenize
from gqlnb.notebook.magic_options import locate_cursor
from gqlnb.notebook.notebook_state import parse_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLSchema

    from gqlnb.notebook.magic_options import CursorPosition

    FindSchema = Callable[[str | None], tuple[str, GraphQLSchema]]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def find_place(find_schema: FindSchema, code: str, cursor: int) -> tuple[str, str]:
    """Return the endpoint of a cell, and the place of the name at the cursor in its schema.

    Raises
    ------
    OptionError
        If the cursor is on no name of the schema.
    """
    place = _locate(code, cursor)
    target, schema = find_schema(parse_target(place.line))
    found = find_at_cursor(schema, place.text, place.offset)
    if found is None or found.kind not in ("field", "argument", "enum value", "type", "directive"):
        msg = "The cursor is not on a name of the schema."
        raise OptionError(msg)
    names = {
        "argument": f"{found.owner}({found.name})",
        "type": found.name,
        "directive": f"@{found.name}",
    }
    return target, names.get(found.kind, f"{found.owner}.{found.name}")


def extract_fragment(find_schema: FindSchema, code: str, start: int, end: int, name: str) -> str:
    """Return a cell in which a fragment holds the selected fields.

    Parameters
    ----------
    find_schema
        Returns name and schema of the endpoint that a cell names.
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
    place = _locate(code, start)
    head = len(code) - len(place.text)
    tokens = tokenize(place.text)
    within = [it for it in tokens if it.start >= place.offset and it.end <= end - head]
    _, schema = find_schema(parse_target(place.line))
    state = parse_until(schema, tokens, place.offset, None).stack[-1]
    parent = getattr(state, "parent", None)
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
    place = _locate(code, cursor)
    line, text, tokens = code[: len(code) - len(place.text)], place.text, tokenize(place.text)
    names = [n for n, it in enumerate(tokens) if it.kind == "name"]
    at = next((n for n in names if tokens[n].start <= place.offset + 1 <= tokens[n].end + 1), 0)
    old, name = tokens[at].text, name.removeprefix("$")
    variables = [b for a, b in pairwise(tokens) if a.text == "$"]
    chosen = [it for it in variables if it.text == old] if tokens[at] in variables else []
    if chosen:  # the values of the line belong to the variables
        line = re.sub(rf"((?:-p|--param)[ =]){re.escape(old)}=", rf"\g<1>{name}=", line)
    elif [it.text for it in tokens[at + 1 : at + 2]] == [":"]:
        state = parse_until(None, tokens, tokens[at].start, None).stack[-1]
        chosen = [tokens[at]] if isinstance(state, SelectionSetState) else []
    if not chosen:
        msg = "Place the cursor on an alias or a variable."
        raise OptionError(msg)
    _check_name(name, {it.text for it in variables} - {old} if chosen[0] in variables else set())
    for token in reversed(chosen):
        text = f"{text[: token.start]}{name}{text[token.end :]}"
    return f"{line}{text}"


def _locate(code: str, cursor: int) -> CursorPosition:
    place = locate_cursor(code, cursor)
    if place is not None and place.inside and place.cell:
        return place
    msg = "Place the cursor in the text of a %%graphql cell."
    raise OptionError(msg)


def _check_name(name: str, taken: set[str]) -> None:
    if not NAME.fullmatch(name) or name in taken:
        msg = f"{name!r} is taken." if name in taken else "Write letters, digits and '_'."
        raise OptionError(msg)
