"""``gqlnb query``, ``gqlnb schema`` and ``gqlnb stars``: send queries and print the responses."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click
from graphql import ListTypeNode, NonNullTypeNode, TypeNode, introspection_from_schema, print_ast

from gqlnb.cli.options import OutputOption, connection_options, parse_assignments, parse_limit
from gqlnb.cli.output import format_json, print_frame, print_note, print_result
from gqlnb.document.document import Document
from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.document.schema_text import print_coordinate
from gqlnb.document.variables import describe_unset, find_unset_variables
from gqlnb.errors import GqlnbError, OptionError, QueryError
from gqlnb.github.harvester.harvests import estimate, harvest
from gqlnb.github.star_query import normalize_typed_query, parse_star_query
from gqlnb.github.star_results import stars as search_stars
from gqlnb.lists.store import RESUME_HINT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd
    from graphql import VariableDefinitionNode

    from gqlnb.client.client import Client
    from gqlnb.result.result import Result

# Not 1, an error, nor 2, with which click reports wrong arguments.
_EXIT_INCOMPLETE = 3
# What a value of the type looks like, and the Python types of its JSON.
_NUMBERS_AND_FLAGS: dict[str, tuple[str, tuple[type, ...]]] = {
    "Int": ("a whole number", (int,)),
    "Float": ("a number", (int, float)),
    "Boolean": ("true or false", (bool,)),
}


@click.command()
@click.argument("words", metavar="[OPERATION] [NAME=VALUE]...", nargs=-1)
@click.option(
    "-f",
    "--file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="PATH",
    help="Read the operation from this file, or - for stdin.",
)
@connection_options()
@click.option("--variables", metavar="JSON", help="The variables, as a JSON object.")
@click.option("--operation", metavar="NAME", help="The operation to run, if there are several.")
@click.option(
    "--no-validate",
    is_flag=True,
    help="Send it as it is: the endpoint decides whether it is valid.",
)
@click.option(
    "--paginate",
    is_flag=True,
    help="Fetch all pages of its connections, and print them as one response.",
)
@click.option(
    "--max-results",
    type=parse_limit,
    metavar="N",
    help="Like --paginate, for at most N items of an outermost connection; or: all.",
)
@click.option(
    "--json", cls=OutputOption, is_flag=True, help="Print the response as JSON (default)."
)
@click.option("--table", cls=OutputOption, is_flag=True, help="Print the rows as a table.")
@click.option("--csv", cls=OutputOption, is_flag=True, help="Print the rows as CSV.")
def query(
    words: tuple[str, ...],
    *,
    file: Path | None,
    open_client: Callable[[], Client],
    variables: str | None,
    operation: str | None,
    no_validate: bool,
    paginate: bool,
    max_results: int | Literal["all"] | None,
    **forms: bool,
) -> int:
    """Run one operation and print its response.

    OPERATION is its text, the name of a file that contains it, or - to read it from stdin. The
    response is printed as JSON, or its rows as a table or CSV. The exit code is 1 if the response
    has errors; it is printed all the same.

    Variables follow as NAME=VALUE, each read as the type that the operation declares: text for
    String, ID and enums, a number for Int, JSON for lists and input objects. They replace those of
    --variables.

    \b
    Examples:
      gqlnb query '{ repository(owner: "torvalds", name: "linux") { stargazerCount } }' -c demo
      gqlnb query repository.graphql owner=torvalds name=linux -c demo
    """  # noqa: D301
    text, assignments = _read_operation(words, file)
    values = None if variables is None else _parse_variables(variables)
    if assignments:
        read = Document.parse_unchecked if no_validate else partial(Document.parse, schema=None)
        declared = read(text, operation=operation).variables
        values = (values or {}) | parse_variable_assignments(assignments, declared)
    form = next((name for name, chosen in forms.items() if chosen), "json")
    validate = False if no_validate else None
    with open_client() as client:
        # JSON needs no schema, so it is not fetched for it.
        if form != "json":
            with suppress(GqlnbError):  # for the dtypes; without a schema the values decide
                _ = client.schema
        most = None if max_results == "all" else max_results
        if not paginate and max_results is None:
            result = client.execute(text, values, operation=operation, validate=validate)
        else:
            try:
                result = client.execute_all(
                    text, values, operation=operation, validate=validate, max_results=most
                )
            # The pages before a failure are printed, then the error.
            except (GqlnbError, KeyboardInterrupt) as error:
                partial_result = getattr(error, "result", None)
                if partial_result is not None:
                    print_result(partial_result, form)
                raise
    code = print_result(result, form)
    _note_unset(result, values or {})
    for line in () if result.report is None else result.report.format_lines():
        print_note(line.strip())
    return code


def _note_unset(result: Result, given: Mapping[str, Any]) -> None:
    """Note the optional variables that were left out: a filter without a value filters nothing."""
    unset = [] if result.document is None else find_unset_variables(result.document, given)
    if unset:
        print_note(f"{describe_unset(unset)} To set it, add: {unset[0]}=VALUE")


def _read_operation(words: tuple[str, ...], file: Path | None) -> tuple[str, tuple[str, ...]]:
    """Return the text of the operation, and the arguments after it."""
    if file is None:
        if not words:
            msg = "Missing argument 'OPERATION'; or name its file: --file PATH."
            raise click.UsageError(msg, click.get_current_context())
        first, *rest = words
        words = tuple(rest)
        if first != "-" and not _is_file_name(first):
            return first, words
        file = Path(first)
    return read_text(file), words


def read_text(file: Path) -> str:
    """Return the text of a file with operations; ``-`` is stdin."""
    # Files may begin with a byte order mark, which editors on Windows write.
    if str(file) == "-" and sys.stdin is None:  # closed, as by `<&-`
        msg = "Standard input is closed, so there is no text to read from it."
        raise OptionError(msg)
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{file}: the operation is not UTF-8 text: {error.reason} at byte {error.start}."
        raise OptionError(msg) from None


# A misspelled file.graphql is a missing file, not an invalid operation. Every operation has a
# brace; a file of any other name must exist.
def _is_file_name(word: str) -> bool:
    return "{" not in word and (word.endswith((".graphql", ".gql")) or os.path.isfile(word))


def _parse_variables(text: str) -> dict[str, Any]:
    try:
        value = load_json(text.encode())
    except JSONError as error:
        reason = str(error)
    else:
        if isinstance(value, dict):
            return value
        reason = f"it is of type {type(value).__name__}"
    msg = f'--variables takes a JSON object, for example \'{{"name": "Ada"}}\': {reason}.'
    raise OptionError(msg)


def parse_variable_assignments(
    assignments: Iterable[str], declared: Mapping[str, VariableDefinitionNode]
) -> dict[str, Any]:
    """Return the variables of ``NAME=VALUE`` arguments, by name.

    Parameters
    ----------
    assignments
        The arguments. A name may begin with ``$``.
    declared
        The variables that the operation declares.

    Raises
    ------
    OptionError
        If an argument has another form, the operation does not declare the name, or the value
        cannot be of its type.
    """
    texts = [text.removeprefix("$") for text in assignments]
    if not declared:
        msg = f"{texts[0]!r}: the operation declares no variables. Remove the argument."
        raise OptionError(msg)
    parsers = {name: partial(_parse_value, node.type) for name, node in declared.items()}
    return parse_assignments("", texts, parsers)


def _parse_value(type_: TypeNode, text: str) -> object:
    """Return a value as the declared type asks for; a ValueError describes the valid ones.

    The schema is not asked: of a name that is no built-in scalar it would say whether it is an
    enum, an input object or another scalar. Text that is a JSON object or list is read as JSON, as
    it cannot be the name of an enum value; any other text stays text.
    """
    if isinstance(type_, NonNullTypeNode):
        type_ = type_.type
    elif text == "null":
        return None
    name = "" if isinstance(type_, ListTypeNode) else print_ast(type_)
    if name in {"String", "ID"}:
        return text
    if name in _NUMBERS_AND_FLAGS:
        about, types = _NUMBERS_AND_FLAGS[name]
        value = _load_json(text)
        if type(value) not in types:
            raise ValueError(about)
        return value
    if text.lstrip().startswith(("{", "[")):
        value = _load_json(text)
        if value is None:
            reason = f"valid JSON, as for {print_ast(type_)}"
            raise ValueError(reason)
        return value
    # GraphQL takes a single value for a list of one.
    return [_parse_value(type_.type, text)] if isinstance(type_, ListTypeNode) else text


def _load_json(text: str) -> object:
    try:
        return load_json(text.encode())
    except JSONError:
        return None


@click.command()
@click.argument("types", metavar="[TYPE]...", nargs=-1)
@connection_options()
@click.option("--json", "as_json", is_flag=True, help="Print the introspection result as JSON.")
def schema(types: tuple[str, ...], *, open_client: Callable[[], Client], as_json: bool) -> int:
    """Print the schema of an endpoint, or only some of its types and fields.

    In the schema definition language, with descriptions; with --json the introspection result, as
    generators of code take it. gqlnb.Client(schema=FILE) reads both.

    \b
    Examples:
      gqlnb schema -c demo > github.graphql
      gqlnb schema Repository Query.search -c demo
    """  # noqa: D301
    if types and as_json:
        msg = "--json prints the whole schema. Leave out the types, or --json."
        raise OptionError(msg)
    with open_client() as client:
        if types:
            printed = [print_coordinate(client.schema, name) for name in types]
            click.echo("\n\n".join(printed))
        elif as_json:
            click.echo(format_json(introspection_from_schema(client.schema)), nl=False)
        else:
            click.echo(client.sdl)
    return 0


@click.command()
@click.argument("target", metavar="[NAME|URL]", required=False)
@connection_options()
@click.option(
    "--list",
    "lists",
    multiple=True,
    metavar="FIELD",
    help="Examine this list, such as 'books' or 'search(query: \"a\")'; may be repeated.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    default=60,
    metavar="N",
    show_default=True,
    help="The most requests to send.",
)
@click.option("--dry-run", is_flag=True, help="Print how many requests it would send at most.")
@click.option(
    "--keep",
    is_flag=True,
    help="Write the paging of its lists into the settings of the connection.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def endpoint(
    target: str | None,
    *,
    open_client: Callable[..., Client],
    lists: tuple[str, ...],
    max_requests: int,
    dry_run: bool,
    keep: bool,
    as_json: bool,
) -> int:
    """Find out by experiment how an endpoint behaves, and report it.

    The report has the protocol, the schema, up to three lists of the query type, custom scalars,
    and advice, each line with its evidence. Only queries are sent, at most two a second to other
    machines.

    \b
    Examples:
      gqlnb endpoint https://countries.example/graphql
      gqlnb endpoint demo --list 'search(query: "stars:>1000", type: REPOSITORY)' --json
    """  # noqa: D301
    with open_client(target=target) as client:
        report = client.describe(
            list(lists) or None, max_requests=max_requests, dry_run=dry_run, keep=keep
        )
    if as_json:
        click.echo(format_json(report.to_dict()), nl=False)
    else:
        click.echo(report.format_text())
    return 0


@click.command()
@click.argument("threshold", metavar="QUERY")
@click.option(
    "--limit",
    type=parse_limit,
    default="100",
    metavar="N",
    show_default=True,
    help="Maximum number of rows, or: all.",
)
@click.option(
    "--all",
    "fetch_all",
    is_flag=True,
    help="Fetch all repositories; --parquet then names a folder of parts and of a log to resume.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print how many requests it would take to fetch them all."
)
@click.option(
    "--anew",
    is_flag=True,
    help="Remove the files of an earlier run from the folder, and start again.",
)
@click.option(
    "--fields",
    metavar="GRAPHQL",
    help="Fetch further fields of each repository, such as 'forkCount primaryLanguage { name }'.",
)
@click.option(
    "--twice",
    is_flag=True,
    help="Read everything a second time, which proves more where counts vary.",
)
@connection_options(("-c", "--client", "--connection"), default="demo")
@click.option("--csv", cls=OutputOption, is_flag=True, help="Print CSV.")
@click.option("--json", cls=OutputOption, is_flag=True, help="Print JSON.")
@click.option(
    "--parquet",
    cls=OutputOption,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a Parquet file.",
)
def stars(
    threshold: str,
    *,
    open_client: Callable[[], Client],
    limit: int | Literal["all"],
    fetch_all: bool,
    dry_run: bool,
    anew: bool,
    parquet: Path | None,
    **more: bool | str | None,
) -> int:
    """List repositories by their number of stars.

    QUERY is the threshold in stars: N or '>N', '>=N', 'N..M'; and terms of GitHub's search beside
    it, such as '>1000 language:python sort:forks'. Quote it, since a shell takes > for a
    redirection.

    With --all, or a limit above 1,000, it goes past the 1,000 results of a search. Into a folder,
    --all resumes an interrupted run when the same command is given again. The exit code is 3 if
    some repositories could not be fetched.

    \b
    Examples:
      gqlnb stars '>100000' --limit 10
      gqlnb stars '>1000' --all --parquet stars/
      gqlnb stars '>1000' --all --fields 'forkCount primaryLanguage { name }' --csv
    """  # noqa: D301
    if parquet is not None:
        check_parquet_path(parquet, fetch_all=fetch_all)
    fields, twice = cast("str | None", more.pop("fields")), bool(more.pop("twice"))
    if (fields is not None or twice) and not (fetch_all or dry_run or limit == "all"):
        option = "--twice" if twice else "--fields"
        msg = f"{option} requires --all, --limit all, or --dry-run."
        raise OptionError(msg)
    form = next((name for name, chosen in more.items() if chosen), "table")
    try:
        search = str(parse_star_query(normalize_typed_query(threshold)))
    except QueryError as error:
        raise OptionError(str(error)) from error
    with open_client() as client, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the notes of the frame repeat them
        if not (fetch_all or dry_run or limit == "all"):
            _print_search(partial(search_stars, search, limit=limit, client=client), form, parquet)
            return 0
        folder = parquet if fetch_all else None
        if folder is None and anew:
            msg = "--anew requires --all and --parquet FOLDER."
            raise OptionError(msg)
        if dry_run:
            click.echo(repr(estimate(search, client=client, fields=fields, twice=twice)))
            return 0
        try:
            result = harvest(
                search,
                client=client,
                out=folder,
                resume=not anew,
                fields=fields,
                twice=twice,
            )
        except KeyboardInterrupt:
            if folder is not None:
                print_note(RESUME_HINT)
            raise
    if folder is not None:
        click.echo(repr(result))
    else:
        frame = result.frame()
        attrs = frame.attrs
        frame = frame[["name", "owner", "stargazers"]] if fields is None else frame
        frame.attrs = attrs
        print_frame(frame, form, parquet)
    return 0 if result.complete else _EXIT_INCOMPLETE


def check_parquet_path(path: Path, *, fetch_all: bool) -> None:
    """Raise OptionError unless a path is a file of its own, or a folder for ``--all``."""
    if path.is_dir():
        if not fetch_all:
            msg = f"--parquet: {path} is a folder. Name a file, or take all of it: --all."
            raise OptionError(msg)
        return
    is_own = path.is_file() or not path.exists()
    with suppress(OSError):  # no such file, or a stdout without a file descriptor
        is_own = is_own and not os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    if not is_own:
        # Parquet ends with its index: with lines behind it, it cannot be read.
        msg = (
            f"--parquet: {path} is not a file of its own, which Parquet needs. Name a file, or "
            "print the rows: --csv or --json."
        )
        raise OptionError(msg)


def _print_search(search: Callable[[], pd.DataFrame], form: str, parquet: Path | None) -> None:
    """Print the result of a search, with its notes and all other warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        frame = search()
    print_frame(frame, form, parquet)
    for text in (str(item.message) for item in caught if issubclass(item.category, UserWarning)):
        if text not in frame.attrs["notes"]:
            print_note(text)
