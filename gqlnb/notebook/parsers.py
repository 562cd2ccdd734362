"""What the words behind each subcommand of ``%graphql`` are."""

from __future__ import annotations

from typing import Any

from gqlnb.notebook.options import Parser, add_header

__all__ = ["parser"]

FOUND = 20  # a screenful


def rows(text: str) -> int | None:
    """Return how many rows are wanted; None for all."""
    return None if text == "all" else int(text)


# A line of a table: the names of an argument, and how it is taken.
Argument = tuple[tuple[str, ...], dict[str, Any]]

CONNECTION: Argument = (("-c", "--connection"), {"help": "whose schema"})
ARGUMENTS: dict[str, tuple[Argument, ...]] = {
    "connect": (
        (("name",), {}),
        (("target",), {"nargs": "?"}),
        (("--token",), {"metavar": "env:NAME", "help": "where the token is"}),
        (("--keep",), {"action": "store_true", "help": "write it into a file of one's own"}),
    ),
    "use": ((("name",), {}),),
    "close": ((("name",), {}),),
    "schema": (
        (("type",), {"nargs": "?"}),
        (("--sdl",), {"action": "store_true", "help": "as schema definition language"}),
        (
            ("--changes",),
            {"nargs": "?", "const": True, "metavar": "SINCE", "help": "what may break queries"},
        ),
        CONNECTION,
    ),
    "search": (
        (("words",), {"nargs": "+"}),
        (("--limit",), {"type": int, "default": FOUND, "help": "how many to show"}),
        CONNECTION,
    ),
    "stars": (
        (("query",), {"nargs": "+"}),
        (("--limit",), {"type": rows, "default": 100, "help": "how many rows, or: all"}),
        (("-c", "--connection"), {"default": "demo", "help": "whom to ask"}),
        (("-o", "--output"), {"metavar": "NAME", "help": "keep the DataFrame under this name"}),
    ),
    "history": ((("number",), {"type": int, "nargs": "?"}),),
    "snippets": ((("name",), {"nargs": "?"}),),
    "serve": (
        (("name",), {}),
        (("--port",), {"type": int, "default": 4000, "help": "which port"}),
    ),
}
HEADED = ("connect", "schema", "search")  # those that ask an endpoint


def parser(word: str) -> Parser:
    """Return the parser of what stands behind a subcommand."""
    made = Parser(f"%graphql {word}")
    for names, options in ARGUMENTS.get(word, ()):
        made.add_argument(*names, **options)
    if word in HEADED:
        add_header(made)
    return made
