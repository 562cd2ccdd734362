"""The words of a magic line: options, the name an answer goes to, and what was meant."""

from __future__ import annotations

import difflib
import re
import shlex
from argparse import ArgumentError, ArgumentParser, Namespace
from typing import NoReturn

from gqlnb.errors import OptionError, plain

__all__ = ["Parser", "cell_parser", "read_line"]

CAPTURE = re.compile(r"(?:^|(?<=\s))(?P<name>[^\W\d]\w*)\s*<<(?=\s|$)")
TYPES = ("result", "frame", "json")
# What GitHub, and many others, put before a token: such a word is not for a notebook.
SECRET = re.compile(
    r"\b(gh[pousr]_\w{8,}|github_pat_\w{8,}|ey[\w-]{10,}\.[\w-]{8,}|[Bb]earer\s+\S{8,})"
)


class Parser(ArgumentParser):
    """An argument parser whose mistakes are errors of ours, with a guess at what was meant."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, add_help=False, allow_abbrev=False, exit_on_error=False)

    def read(self, words: list[str]) -> Namespace:
        """Read the words of a line.

        Raises
        ------
        OptionError
            If an option does not exist or a value does not fit.
        """
        try:
            found, left = self.parse_known_args(words)
        except ArgumentError as error:
            message = str(error)
        else:
            if not left:
                return found
            message = f"unknown option {plain(left[0], 40)!r}.{self._guess(left[0])}"
        return self.error(message)

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving the process.

        Raises
        ------
        OptionError
            Always.
        """
        msg = f"{self.prog}: {plain(message, 200)}"
        raise OptionError(msg)

    def _guess(self, word: str) -> str:
        known = [option for action in self._actions for option in action.option_strings]
        near = difflib.get_close_matches(word, known, 1)
        return f" Did you mean {near[0]!r}?" if near else f" Options: {', '.join(known)}."


def cell_parser() -> Parser:
    """Return the parser of the ``%%graphql`` line."""
    parser = Parser("%%graphql")
    add = parser.add_argument
    add("target", nargs="?")
    add("-c", "--connection")
    add("-o", "--output")
    add("-t", "--type", choices=TYPES, default="result")
    add("-p", "--param", action="append", default=[])
    add("-v", "--vars")
    add("--operation")
    add("-q", "--silent", action="store_true")
    return parser


def read_line(parser: Parser, line: str) -> Namespace:
    """Read a magic line, ``name <<`` included.

    Raises
    ------
    OptionError
        If an option does not exist, a value does not fit, a quote is left open, or the line holds
        what looks like a token.
    """
    if SECRET.search(line):
        msg = (
            f"{parser.prog}: this line holds what looks like a token; it would be saved with the "
            "notebook. Put it into an environment variable and name that: --token env:NAME."
        )
        raise OptionError(msg)
    captured = CAPTURE.search(line)
    rest = line[: captured.start()] + line[captured.end() :] if captured else line
    try:
        words = shlex.split(rest)
    except ValueError as error:
        reason = str(error).lower()
    else:
        found = parser.read(words)
        if captured:
            found.output = captured["name"]
        return found
    msg = f"{parser.prog}: {reason} in the magic line."
    raise OptionError(msg)
