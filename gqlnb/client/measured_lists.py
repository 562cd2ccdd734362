"""The paging of lists as a report measured it, in the settings of a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gqlnb.config import Settings, find_settings, write_table
from gqlnb.document.paged_fields import ListRole
from gqlnb.document.paging_conventions import PageArguments
from gqlnb.errors import OptionError, sanitize_text


class ListSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The paging of one list.

    Attributes
    ----------
    arguments
        Its arguments; None for a list that a convention pages.
    cursor, is_cursor_of_row, holder
        As of :class:`ListRole`.
    largest
        The number of rows of the largest page; None if no limit is known.
    """

    arguments: PageArguments | None = None
    cursor: tuple[str, ...] = ()
    is_cursor_of_row: bool = False
    holder: tuple[str, ...] = ()
    largest: int | None = None

    @property
    def role(self) -> ListRole | None:
        """The role, as experiments find it."""
        if self.arguments is None:
            return None
        return ListRole(self.arguments, self.cursor, self.is_cursor_of_row, self.holder)


ListTables = Mapping[str, ListSettings]  # by coordinate, such as "Query.books"


def read_lists(table: object) -> dict[str, ListSettings]:
    """Return the lists of a table of settings; raise ValidationError if it is not valid."""
    return msgspec.convert(table, dict[str, ListSettings])


def check_lists(table: object) -> str:
    """Return the error in a table of lists; "" if it is valid."""
    try:
        lists = read_lists(table)
    except msgspec.ValidationError as error:
        return f"lists: {sanitize_text(error, 200)}. describe(keep=True) writes them."
    wrong = next((name for name in lists if name.count(".") != 1), None)
    return "" if wrong is None else f"lists: {wrong!r} is not a type and a field: 'Query.books'."


def dump_lists(lists: ListTables) -> dict[str, Any]:
    """Return lists as values of TOML, which has no null."""
    tables: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(lists))
    for table in tables.values():
        if "arguments" in table:
            table["arguments"] = {k: v for k, v in table["arguments"].items() if v is not None}
    return tables


def save_lists(name: str, lists: ListTables) -> str:
    """Write lists into the settings of a connection; return the path of the file, as it is shown.

    Raises
    ------
    OptionError
        If no settings file has the connection, or it cannot be changed.
    """
    return write_table(require_settings(name), ("connections", name, "lists"), dump_lists(lists))


def require_settings(name: str) -> Settings:
    """Return the settings with a connection; those of the project count.

    Raises
    ------
    OptionError
        If no settings file has it.
    """
    settings = find_settings("connections", name)
    if settings is not None:
        return settings
    msg = (
        f"{name or 'The endpoint'} is not a connection of a settings file, so nothing can be kept "
        "for it. Add it first: %graphql connect NAME ADDRESS --keep"
    )
    raise OptionError(msg)
