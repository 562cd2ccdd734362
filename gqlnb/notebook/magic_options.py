"""The words of a magic line: options, the name an answer goes to, and what was meant."""

from __future__ import annotations

import difflib
import re
import shlex
from argparse import ArgumentError, ArgumentParser, Namespace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from gqlnb.errors import OptionError, sanitize_text
from gqlnb.redact import has_token_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "NAME",
    "TYPES",
    "LineParser",
    "add_header",
    "build_parser",
    "check_options",
    "find_inline_operation",
    "get_cell_parser",
    "has_stored_text",
    "read_line",
    "refuse_secrets",
]

NAME = re.compile(r"[^\W\d]\w*")
INLINE_OPERATION = re.compile(r"\{|(?:query|mutation|subscription)\b")
TYPES = ("result", "frame", "frames", "json", "arrow", "raw")
PARAM = ("-p", "--param")
# What is done with the operation instead of showing its answer once.
MODES = ("--no-execute", "--dry-run", "--explain", "--profile", "--interact")
ONE_REQUEST = ("--dry-run", "--explain", "--profile")  # modes that are about one request
SWITCHES = (
    ("-N", "--no-execute"),
    ("--dry-run",),
    ("--explain",),
    ("--profile",),
    ("--paginate",),
    ("--no-cache",),
    ("--no-strict",),
    ("--stats",),
    ("-q", "--silent"),
)
# One word of a shell, its quotes included; and a string of Python.
WORD = re.compile(r"""(?:\\.?|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+""", re.DOTALL)
STRING = re.compile(r"""(\'\'\'|"{3}|['"])(?:\\.|(?!\1).)*?\1""", re.DOTALL)
# What stands around a secret; what many services let theirs begin with is in gqlnb.redact.
SECRET = re.compile(
    r"""\bbearer\s+\S{8,}
    |https?://[^\s/?\#'"]+@                 # a user, and whatever stands behind the colon
    |\w://[^\s/?\#'"]*:[^\s/?\#'"]*@
    |[?&](?:access_token|token|api_?key|password|secret)=[^\s&'"]""",
    re.VERBOSE | re.IGNORECASE,
)
# An option that takes a secret, with something else than where to find it.
LITERAL = re.compile(
    r"""(?:^|\s)(?:
        --token(?:\s++|=)(?!["']?(?:env:|keyring:|file:|prompt\b))
        |(?:-H|--header)(?:\s++|=)?+(?!["']?[^\s=:'"]+=["']?(?:env|keyring):)
    )["']?\S""",
    re.VERBOSE,
)
SECRET_ADVICE = (
    "Put it into an environment variable and name that: --token env:NAME, -H X-Api-Key=env:NAME."  # noqa: S105
)


class LineParser(ArgumentParser):
    """An argument parser whose mistakes are errors of ours, with a guess at what was meant."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, add_help=False, allow_abbrev=False, exit_on_error=False)

    def parse_words(self, words: list[str]) -> Namespace:
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
            message = f"{sanitize_text(left[0], 40)!r} is one word too many."
            if left[0].startswith("-"):
                message = (
                    f"unknown option {sanitize_text(left[0], 40)!r}.{self._suggest_option(left[0])}"
                )
        return self.error(message)

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving the process.

        Raises
        ------
        OptionError
            Always.
        """
        msg = f"{self.prog}: {sanitize_text(message, 500)}"
        raise OptionError(msg)

    def _suggest_option(self, word: str) -> str:
        known = [option for action in self._actions for option in action.option_strings]
        near = difflib.get_close_matches(word, known, 1)
        long = [option for option in known if option.startswith("--")]
        told = f" Options: {', '.join(long)}." if long else " It takes none."
        return f" Did you mean {near[0]!r}?" if near else told


@cache
def get_cell_parser() -> LineParser:
    """Return the parser of the ``%%graphql`` line, made once: making it takes a millisecond."""
    parser = LineParser("%%graphql")
    add = parser.add_argument
    add("target", nargs="?")
    add("-c", "--connection")
    add("-o", "--output")
    add("-t", "--type", choices=TYPES)
    add("-p", "--param", action="append", default=[])
    add("-v", "--vars")
    add_header(parser)
    add("--operation")
    add("-f", "--file")
    add("-S", "--save", metavar="NAME")
    add("--export-to", metavar="FILE")
    add("--max-results", metavar="N")
    add("--record", metavar="FILE")
    add("--replay", metavar="FILE")
    add("--interact", action="append", default=[], metavar="VARIABLE")
    for words in SWITCHES:
        add(*words, action="store_true")
    return parser


def check_options(options: Namespace) -> Namespace:
    """Return the options of a cell, ``max_results`` as a number, if they can be had together.

    Raises
    ------
    OptionError
        If they exclude each other, or a name is no Python name.
    """
    for option, name in (("--output", options.output), ("--save", options.save)):
        if name is not None and not NAME.fullmatch(name):
            msg = f"%%graphql: {sanitize_text(name, 40)!r} is no Python name, as {option} takes."
            raise OptionError(msg)
    modes = [mode for mode in MODES if getattr(options, mode.lstrip("-").replace("-", "_"))]
    if len(modes) > 1:
        msg = f"%%graphql: {modes[0]} and {modes[1]} exclude each other."
        raise OptionError(msg)
    if options.paginate and modes and modes[0] in ONE_REQUEST:
        msg = f"%%graphql: {modes[0]} is about one request, so it goes without --paginate."
        raise OptionError(msg)
    options.max_results = parse_max_results(options)
    if modes and modes[0] != "--interact" and options.export_to is not None:
        msg = f"%%graphql: with {modes[0]} there is no answer to write to {options.export_to!r}."
        raise OptionError(msg)
    if options.record is not None and options.replay is not None:
        msg = "%%graphql: --record asks and --replay does not, so a cell takes one of them."
        raise OptionError(msg)
    if options.connection is not None and options.target is not None:
        msg = (
            f"%%graphql: two connections are named, {sanitize_text(options.target, 40)!r} and "
            f"{sanitize_text(options.connection, 40)!r}."
        )
        raise OptionError(msg)
    return options


def parse_max_results(options: Namespace) -> int | None:
    """Return the number of ``--max-results``; None without it.

    Raises
    ------
    OptionError
        If it is no whole number above 0.
    """
    given = options.max_results
    if given is None:
        return None
    digits = given.replace("_", "")
    if not (digits.isascii() and digits.isdecimal()) or int(digits) == 0:
        msg = f"%%graphql: --max-results takes a whole number above 0, not {sanitize_text(given, 40)!r}."
        raise OptionError(msg)
    return int(digits)


def refuse_secrets(line: str, cell: str | None) -> None:
    """Refuse what would be saved with the notebook, before any of it is read or repeated.

    Parameters
    ----------
    line
        All of the magic line, an operation on it included.
    cell
        The text below it, which may be about anything: only what begins as the tokens of many
        services do is looked for.

    Raises
    ------
    OptionError
        If there is what looks like a token or a password; the message does not show it.
    """
    if SECRET.search(line) or has_token_prefix(line) or LITERAL.search(line.partition("{")[0]):
        where = "this line"
    elif cell is not None and has_token_prefix(cell):
        where = "this cell"
    else:
        return
    msg = (
        f"graphql: {where} holds what looks like a token or a password; it would be saved with "
        f"the notebook. {SECRET_ADVICE}"
    )
    raise OptionError(msg)


def add_header(parser: ArgumentParser) -> None:
    """Let a parser take ``-H NAME=env:VAR``."""
    parser.add_argument(
        "-H",
        "--header",
        action="append",
        default=[],
        metavar="NAME=env:VAR",
        help="a header of each request, whose value is in an environment variable",
    )


def find_inline_operation(line: str) -> int | None:
    """Return where the operation on a line begins; None if there is none.

    Raises
    ------
    OptionError
        If a quote before it is left open.
    """
    for start, _, expression in split_words(line, "%graphql"):
        if not expression and INLINE_OPERATION.match(line, start):
            return start
    return None


def has_stored_text(line: str) -> bool:
    """Tell whether a line without an operation says where one is: in a file, or saved.

    Raises
    ------
    OptionError
        If a quote is left open.
    """
    found = [word for _, word, expression in split_words(line, "%graphql") if not expression]
    return any(word.startswith(("-f", "--file", "--operation")) for word in found)


def split_words(line: str, prog: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the words of a line as they are written: where, what, whether ``--param`` takes it.

    Quotes and white space divide them as in a shell. An expression of Python goes on to the first
    white space outside its strings and brackets.
    """
    place, before = 0, ""
    while place < len(line):
        if line[place].isspace():
            place += 1
            continue
        attached = line.startswith(("--param=", "-p"), place)
        expression = before in PARAM or (
            attached and line[place:].split(maxsplit=1)[0] not in PARAM
        )
        word = WORD.match(line, place)
        end = find_expression_end(line, place) if expression else word.end() if word else place
        if end is None or (end < len(line) and not line[end].isspace()):
            msg = f"{prog}: no closing quotation in the magic line."
            raise OptionError(msg)
        before = line[place:end]
        yield place, before, expression
        place = end


def find_expression_end(line: str, place: int) -> int | None:
    """Return where an expression of Python ends; None if a quote is left open."""
    depth = 0
    while place < len(line) and (depth > 0 or not line[place].isspace()):
        if line[place] in "'\"":
            string = STRING.match(line, place)
            if string is None:
                return None
            place = string.end()
            continue
        depth += (line[place] in "([{") - (line[place] in ")]}")
        place += 1
    return place


def read_line(parser: LineParser, line: str) -> Namespace:
    """Read a magic line, ``name <<`` included.

    Raises
    ------
    OptionError
        If an option does not exist, a value does not fit, or a quote is left open.
    """
    plain_words: list[str] = []
    captured: str | None = None
    for _, word, expression in split_words(line, parser.prog):
        name = word.removesuffix("<<")
        if word == "<<" and plain_words and NAME.fullmatch(plain_words[-1]):
            captured = plain_words.pop()
        elif name != word and NAME.fullmatch(name):
            captured = name
        elif expression and word[0] not in "'\"":
            plain_words.append(word)  # as it is written: its quotes are Python's
        else:
            plain_words.extend(shlex.split(word.removesuffix("\\")))
    found = parser.parse_words(plain_words)
    if captured is not None:
        if getattr(found, "output", None) is not None:
            names = f"{sanitize_text(captured, 40)!r} and {sanitize_text(found.output, 40)!r}"
            msg = f"{parser.prog}: two names for the answer, {names}."
            raise OptionError(msg)
        found.output = captured
    return found


DEFAULT_HITS = 20  # a screenful


def parse_row_limit(text: str) -> int | None:
    """Return how many rows are wanted; None for all."""
    return None if text == "all" else int(text)


# A line of a table: the names of an argument, and how it is taken.
ArgumentSpec = tuple[tuple[str, ...], dict[str, Any]]

CONNECTION: ArgumentSpec = (("-c", "--connection"), {"help": "whose schema"})
SUBCOMMAND_ARGUMENTS: dict[str, tuple[ArgumentSpec, ...]] = {
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
        (("--limit",), {"type": int, "default": DEFAULT_HITS, "help": "how many to show"}),
        CONNECTION,
    ),
    "stars": (
        (("query",), {"nargs": "+"}),
        (("--limit",), {"type": parse_row_limit, "default": 100, "help": "how many rows, or: all"}),
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
WITH_HEADERS = ("connect", "schema", "search")  # those that ask an endpoint


def build_parser(word: str) -> LineParser:
    """Return the parser of what stands behind a subcommand."""
    made = LineParser(f"%graphql {word}")
    for names, options in SUBCOMMAND_ARGUMENTS.get(word, ()):
        made.add_argument(*names, **options)
    if word in WITH_HEADERS:
        add_header(made)
    return made
