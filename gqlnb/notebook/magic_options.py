"""The magics of a cell: settings, words and options of a line, literal secrets, the cursor."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from traitlets import Bool, Enum, HasTraits, Int, Unicode

from gqlnb.errors import OptionError, sanitize_text, suggest
from gqlnb.redact import has_token_prefix
from gqlnb.result.renderer import PANDAS, TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = re.compile(r"[^\W\d]\w*")
INLINE_OPERATION = re.compile(r"\{|(?:query|mutation|subscription)\b")
TYPES = ("result", "frame", "frames", "json", "arrow", "pandas", "polars", "raw")
PARAM = ("-p", "--param")
MAGIC_NAME = r"(?:graphql|gql)\b"
# Cell magics of IPython that run the rest of the cell as a cell of its own.
OUTER_MAGICS = r"(?:\s*%%(?:capture|prun|time|timeit)\b[^\n]*\n)*"
CELL_MAGIC = re.compile(rf"{OUTER_MAGICS}\s*%%{MAGIC_NAME}(?P<line>[^\n]*)(?P<newline>\n?)")
LINE_MAGIC = re.compile(rf"\s*(?:[^\W\d]\w*\s*=\s*)?%{MAGIC_NAME}(?P<line>.*)")
# Unlike :func:`find_inline_operation` also behind a quote that is still open.
TYPED_OPERATION = re.compile(r"(?:^|\s)(?=\{|(?:query|mutation|subscription)\b)")
MISSING = re.compile("the following arguments are required: (.*)")  # a message of argparse
CHOICE = re.compile(r"invalid choice: (.*) \(choose from (.*)\)")
NUMBER = re.compile("invalid int value: (.*)")
# Options that replace a single execution.
MODES = ("--no-execute", "--dry-run", "--explain", "--profile", "--interact")
ONE_REQUEST = ("--dry-run", "--explain", "--profile")  # modes for a single request
SWITCHES = (
    ("-N", "--no-execute"),
    ("--dry-run",),
    ("--explain",),
    ("--profile",),
    ("--paginate",),
    ("--no-cache",),
    ("--refresh",),
    ("--no-strict",),
    ("--no-validate",),
    ("--stats",),
    ("-q", "--silent"),
)
# A word of a shell with its quotes, and a Python string.
WORD = re.compile(r"""(?:\\.?|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+""", re.DOTALL)
STRING = re.compile(r"""(\'\'\'|"{3}|['"])(?:\\.|(?!\1).)*?\1""", re.DOTALL)
# The context of a secret; the prefixes of known tokens are in gqlnb.redact.
# The patterns are broad: a false alarm costs a rewritten line, a miss a published token.
SECRET = re.compile(
    r"""\bbearer\s+\S{8,}
    |https?://[^\s/?\#'"]+@                 # a user, with or without a password
    |\w://[^\s/?\#'"]*:[^\s/?\#'"]*@
    |[?&](?:access_token|token|api_?key|password|secret)=[^\s&'"]""",
    re.VERBOSE | re.IGNORECASE,
)
# An option for a secret whose value is not the place of a secret.
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


class CellSettings(HasTraits):
    """The settings of ``%config GraphQLMagic`` and ``[tool.gqlnb]``."""

    type = Enum(
        TYPES,
        default_value="result",
        help="The type of a cell's value, like --type for one cell: result, frame (or pandas), "
        "frames, json, arrow, polars or raw.",
    ).tag(config=True)
    variables = Enum(
        ("by name", "given"),
        default_value="by name",
        help="The source of $variables: names of the notebook and options (by name), or --param "
        "and --vars alone (given).",
    ).tag(config=True)
    introspect = Enum(
        ("ask", "never"),
        default_value="ask",
        help="Whether an endpoint is asked for its schema before the first operation, to check "
        "texts before they are sent and to determine the dtypes of frames.",
    ).tag(config=True)
    partial = Enum(
        ("show", "raise"),
        default_value="show",
        help="The handling of an answer with both data and errors: show it with the errors, or "
        "raise PartialError.",
    ).tag(config=True)
    frames = Enum(
        (TABLE, PANDAS),
        default_value=TABLE,
        help="The display of the DataFrames of gqlnb at the end of a cell: as the table of a "
        "result, or as pandas shows any other.",
    ).tag(config=True)
    replay = Unicode(
        "",
        help="The recording that answers every cell, like --replay for one cell; empty for none.",
    ).tag(config=True)
    cache = Unicode(
        "",
        help="How long answers to queries are remembered on disk, such as 1h or 7d, like --cache "
        "for one cell; empty for not at all.",
    ).tag(config=True)
    live_rows = Int(
        1000, min=1, help="The number of last rows of a subscription that are kept and shown."
    ).tag(config=True)
    stats = Bool(
        default_value=False, help="Show time, bytes, rows and budget of each cell, like --stats."
    ).tag(config=True)


def reword_argument_error(error: ArgumentError) -> str:
    """Return the message of an error of argparse as a sentence about the option."""
    if (choice := CHOICE.match(error.message)) is not None:
        wrong, listed = choice[1], choice[2].replace("'", "")
        hint = suggest(wrong.strip("'"), listed.split(", "))
        message = f"takes one of {listed}; got {wrong}.{hint}"
    elif error.message.startswith("expected one argument"):
        message = "takes a value; %%graphql --help describes it."
    elif (number := NUMBER.match(error.message)) is not None:
        message = f"takes a whole number, not {number[1]}."
    else:
        message = error.message
    return f"{error.argument_name} {message}"


class LineParser(ArgumentParser):
    """An argument parser that raises OptionError with a suggestion instead of exiting."""

    def __init__(self, prog: str) -> None:
        # Abbreviations are off: a later option could make one ambiguous in saved notebooks.
        super().__init__(prog, add_help=False, allow_abbrev=False, exit_on_error=False)

    def parse_words(self, words: list[str]) -> Namespace:
        """Read the words of a line.

        Raises
        ------
        OptionError
            If an option does not exist or a value is not valid.
        """
        try:
            options, left = self.parse_known_args(words)
        except ArgumentError as error:
            message = reword_argument_error(error)
        else:
            if not left:
                return options
            message = f"{sanitize_text(left[0], 40)!r} is one word too many."
            if left[0].startswith("-"):
                known = [option for action in self._actions for option in action.option_strings]
                long = [option for option in known if option.startswith("--")]
                listed = f" Options: {', '.join(long)}." if long else " It takes none."
                hint = suggest(left[0], known) or listed
                message = f"unknown option {sanitize_text(left[0], 40)!r}.{hint}"
        return self.error(message)

    def error(self, message: str) -> NoReturn:
        """Raise an error instead of exiting.

        Raises
        ------
        OptionError
            Always.
        """
        if (missing := MISSING.match(message)) is not None:
            message = f"{missing[1].upper()} is missing; {self.prog} --help explains it."
        msg = f"{self.prog}: {sanitize_text(message, 500)}"
        raise OptionError(msg)


@cache
def get_cell_parser() -> LineParser:
    """Return the parser of the ``%%graphql`` line, built once: building takes a millisecond."""
    parser = LineParser("%%graphql")
    add = parser.add_argument
    add("target", nargs="?")
    add("-c", "--connection")
    add("-o", "--output", type=_check_name)
    add("-t", "--type", choices=TYPES)
    add("-p", "--param", action="append", default=[])
    add("-v", "--vars")
    add_header(parser)
    add("--operation")
    add("-f", "--file")
    add("-S", "--save", metavar="NAME", type=_check_name)
    add("--export-to", metavar="FILE")
    add("--max-results", metavar="N", type=parse_count)
    add("--record", metavar="FILE")
    add("--replay", metavar="FILE")
    add("--interact", action="append", default=[], metavar="VARIABLE")
    for words in SWITCHES:
        add(*words, action="store_true")
    add("--cache", metavar="AGE")
    add("--map", metavar="NAME")
    add("--batch", metavar="N", type=parse_count)
    add("--resume", metavar="NAME")
    return parser


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        msg = f"takes a Python name, not {sanitize_text(name, 40)!r}."
        raise ArgumentTypeError(msg)
    return name


def parse_count(text: str) -> int:
    """Read the number of ``--max-results`` or ``--batch``."""
    digits = text.replace("_", "")
    if not (digits.isascii() and digits.isdecimal()) or int(digits) == 0:
        msg = f"takes a whole number above 0, not {sanitize_text(text, 40)!r}."
        raise ArgumentTypeError(msg)
    return int(digits)


def check_options(options: Namespace) -> None:
    """Check that the options of a cell can be combined.

    Raises
    ------
    OptionError
        If they exclude each other.
    """
    modes = [mode for mode in MODES if getattr(options, mode.lstrip("-").replace("-", "_"))]
    if len(modes) > 1:
        msg = f"%%graphql: {modes[0]} and {modes[1]} cannot be combined."
        raise OptionError(msg)
    if options.paginate and modes and modes[0] in ONE_REQUEST:
        msg = f"%%graphql: {modes[0]} is about one request and cannot be used with --paginate."
        raise OptionError(msg)
    if modes and modes[0] != "--interact" and options.export_to is not None:
        msg = f"%%graphql: with {modes[0]} there is no answer to write to {options.export_to!r}."
        raise OptionError(msg)
    if options.record is not None and options.replay is not None:
        msg = "%%graphql: --record and --replay cannot be combined: only one sends the request."
        raise OptionError(msg)
    for name in ("batch", "resume"):
        if getattr(options, name) is not None and options.map is None:
            msg = f"%%graphql: --{name} is an option of --map NAME, which is missing."
            raise OptionError(msg)
    if options.connection is not None and options.target is not None:
        msg = (
            f"%%graphql: two connections are given, {sanitize_text(options.target, 40)!r} and "
            f"{sanitize_text(options.connection, 40)!r}."
        )
        raise OptionError(msg)


def refuse_secrets(line: str, cell: str | None) -> None:
    """Refuse literal secrets, which would be saved with the notebook.

    Parameters
    ----------
    line
        The whole magic line, with an operation on it.
    cell
        The text below it, which may be about anything: only known token prefixes are refused.

    Raises
    ------
    OptionError
        If there is a possible token or password; the message does not show it.
    """
    options = line.partition("{")[0]
    is_line_secret = SECRET.search(line) or LITERAL.search(options)
    # One scan of both texts: a hit is rare, and only then the place matters.
    if not is_line_secret and not has_token_prefix(f"{line}\n{cell or ''}"):
        return
    where = "this line" if is_line_secret or has_token_prefix(line) else "this cell"
    msg = (
        f"graphql: {where} contains what looks like a token or a password, which would be saved "
        f"with the notebook. {SECRET_ADVICE}"
    )
    raise OptionError(msg)


def add_header(parser: ArgumentParser) -> None:
    """Add the option ``-H NAME=env:VAR``."""
    parser.add_argument(
        "-H",
        "--header",
        action="append",
        default=[],
        metavar="NAME=env:VAR",
        help="a header of each request, whose value is in an environment variable",
    )


def find_inline_operation(line: str) -> int | None:
    """Return the position of the operation on a line, or None.

    Raises
    ------
    OptionError
        If a quote before it is not closed.
    """
    for start, _, expression in split_words(line, "%graphql"):
        if not expression and INLINE_OPERATION.match(line, start):
            return start
    return None


def has_stored_text(line: str) -> bool:
    """Return whether a line names a file or a saved cell with an operation.

    Raises
    ------
    OptionError
        If a quote is not closed.
    """
    words = [word for _, word, expression in split_words(line, "%graphql") if not expression]
    return any(word.startswith(("-f", "--file", "--operation")) for word in words)


def split_words(line: str, prog: str) -> Iterator[tuple[int, str, bool]]:
    """Split a line into words, each with its position and whether it belongs to ``--param``.

    Quotes and white space separate words as in a shell. A Python expression ends at the first white
    space outside its strings and brackets.

    Raises
    ------
    OptionError
        If a quote is not closed.
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
    """Return the end of a Python expression, None if a quote is not closed."""
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
    """Parse a magic line, including ``name <<``.

    Raises
    ------
    OptionError
        If an option does not exist, a value is not valid, or a quote is not closed.
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
            plain_words.append(word)  # unchanged: its quotes are Python's
        else:
            # shlex refuses a backslash at the end of its text.
            plain_words.extend(shlex.split(word.removesuffix("\\")))
    found = parser.parse_words(plain_words)
    if captured is not None:
        if getattr(found, "output", None) is not None:
            names = f"{sanitize_text(captured, 40)!r} and {sanitize_text(found.output, 40)!r}"
            msg = f"{parser.prog}: two names for the output, {names}."
            raise OptionError(msg)
        found.output = captured
    return found


DEFAULT_HITS = 20  # a screenful


def _parse_row_limit(text: str) -> int | None:
    return None if text == "all" else int(text)


# The names of an argument, and the keywords of ``add_argument``.
ArgumentSpec = tuple[tuple[str, ...], dict[str, Any]]


def _take(*names: str, **options: object) -> ArgumentSpec:
    return names, options


CONNECTION = _take("-c", "--connection", help="the connection")
SUBCOMMAND_ARGUMENTS: dict[str, tuple[ArgumentSpec, ...]] = {
    "connect": (
        _take("name"),
        _take("target", nargs="?"),
        _take("--token", metavar="env:NAME", help="the place of the token"),
        _take("--keep", action="store_true", help="write it into your settings file"),
    ),
    "use": (_take("name"),),
    "close": (_take("name"),),
    "schema": (
        _take("words", nargs="*", metavar="[CONNECTION] [TYPE]"),
        _take("--sdl", action="store_true", help="as schema definition language"),
        _take(
            "--changes",
            nargs="?",
            const=True,
            metavar="SINCE",
            help="changes that may break queries",
        ),
        CONNECTION,
    ),
    "endpoint": (
        _take("name", nargs="?"),
        _take(
            "--list", action="append", metavar="FIELD", help="examine this list; may be repeated"
        ),
        _take("--max-requests", type=int, default=60, help="the most requests to send"),
        _take("--dry-run", action="store_true", help="only count the requests"),
        _take(
            "--keep", action="store_true", help="write the paging of its lists into your settings"
        ),
        CONNECTION,
    ),
    "search": (
        _take("words", nargs="+", metavar="[CONNECTION] WORD"),
        _take("--limit", type=int, default=DEFAULT_HITS, help="number of hits"),
        CONNECTION,
    ),
    "stars": (
        _take("query", nargs="+"),
        _take("--limit", type=_parse_row_limit, default=100, help="number of rows, or: all"),
        _take("-c", "--connection", default="demo", help="the connection"),
        _take("-o", "--output", metavar="NAME", help="keep the DataFrame under this name"),
    ),
    "cache": (_take("action", choices=("list", "clear"), nargs="?", default="list"),),
    "history": (_take("number", type=int, nargs="?"),),
    "snippets": (_take("name", nargs="?"),),
    "serve": (_take("name"), _take("--port", type=int, default=4000, help="the port")),
    "stop": (_take("server", nargs="?"),),
}
WITH_HEADERS = ("connect", "schema", "endpoint", "search")  # subcommands that take -H


def build_parser(word: str) -> LineParser:
    """Return the parser of the words behind a subcommand."""
    parser = LineParser(f"%graphql {word}")
    for names, options in SUBCOMMAND_ARGUMENTS.get(word, ()):
        parser.add_argument(*names, **options)
    if word in WITH_HEADERS:
        add_header(parser)
    return parser


UNNAMED_TARGET = "# Write the name of a schema or client of the notebook behind %%graphql."


def write_cell(query: str, variables: Mapping[str, Any], target: str | None) -> str:
    """Write a ``%%graphql`` cell; refuse variables that look like a token."""
    # --param ends at white space outside strings and brackets, which a repr never has.
    given = [f"-p {name}={value!r}" for name, value in variables.items() if NAME.fullmatch(name)]
    line = " ".join(["%%graphql", *([target] if target else []), *given])
    # A token typed as a variable must not end up in a cell of the notebook.
    refuse_secrets(line, None)
    note = [] if target else [UNNAMED_TARGET]
    return "\n".join([line, *note, query.strip()])


class CursorPosition(NamedTuple):
    """The position of the cursor in a cell.

    Attributes
    ----------
    line
        The line of the magic behind its name; of a line magic up to the operation.
    text
        The operation.
    inside
        Whether the cursor is in the operation, not on the line.
    offset
        The position in the operation or on the line, in characters.
    cell
        Whether it is a cell magic.
    """

    line: str
    text: str
    inside: bool
    offset: int
    cell: bool


def locate_cursor(source: str, offset: int) -> CursorPosition | None:
    """Locate the cursor in the source of a cell; None if it is not in GraphQL.

    Parameters
    ----------
    source
        The whole cell.
    offset
        The position of the cursor, in characters.
    """
    match = CELL_MAGIC.match(source)
    if match is not None:
        line, text, at = match["line"], source[match.end() :], offset - match.end()
        if offset <= match.start("line"):  # in its name, which the kernel completes
            return None
        if offset <= match.end("line"):
            at = offset - match.start("line")
            return CursorPosition(line, text, inside=False, offset=at, cell=True)
        return CursorPosition(line, text, inside=True, offset=at, cell=True)
    start = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", offset)
    match = LINE_MAGIC.match(source, start, len(source) if end < 0 else end)
    if match is None or offset <= match.start("line"):
        return None
    line, at = match["line"], offset - match.start("line")
    inline = TYPED_OPERATION.search(line)
    split = inline.end() if inline else len(line) + 1
    inside = at >= split
    at = at - split if inside else at
    return CursorPosition(line[:split], line[split:], inside=inside, offset=at, cell=False)
