"""``gqlnb run_query``, ``print_endpoint_schema`` and ``print_stars``: ask, and print what came."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Any

from gqlnb.cli.output import translate_for_shell
from gqlnb.client.client import connect
from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import GqlnbError, OptionError, QueryError, advise_if_strict, sanitize_text
from gqlnb.github.builtin_connections import register_connections
from gqlnb.github.harvester.harvests import RESUME_HINT, harvest
from gqlnb.github.star_query import normalize_typed_query
from gqlnb.result.result import detach_schema_loader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd

    from gqlnb.client.client import Client
    from gqlnb.client.paging.options import PagingOptions
    from gqlnb.github.harvester.harvests import Harvest
    from gqlnb.result.result import Result

__all__ = [
    "EXIT_INCOMPLETE",
    "FORMATTERS",
    "harvest_stars",
    "open_client",
    "print_endpoint_schema",
    "print_frame",
    "print_stars",
    "run_query",
]


def run_query(
    client: Client,
    text: str,
    variables: str | None,
    *,
    operation: str | None,
    show: Callable[[Result], str],
    pages: PagingOptions | None = None,
) -> int:
    """Run one operation and print its answer.

    Parameters
    ----------
    client
        Whom to ask; closed afterwards.
    text
        The operation; ``-`` reads it from standard input.
    variables
        A JSON object, or None for none.
    operation
        The name of the operation to run, if there are several.
    show
        What to print of an answer, one of :data:`FORMATTERS`.
    pages
        How far to go for all pages of its connections, which are printed as one answer; what
        paging did goes to stderr. None for one request.

    Returns
    -------
    int
        0, or 1 if the answer holds errors, or a page failed; what came is printed in all cases.

    Raises
    ------
    GqlnbError
        If there is no answer to print.
    """
    text = _read_operation(text)
    given = parse_variables(variables) if variables is not None else None
    with client:
        if show is not format_json:
            with suppress(GqlnbError):  # the dtypes of a frame; without, the values give them
                _ = client.schema
        if pages is not None:
            more = pages
            return print_pages(
                lambda: client.execute_all(text, given, operation=operation, **more), show
            )
        return print_result(client.execute(text, given, operation=operation), show)


def _read_operation(given: str) -> str:
    """Return an operation, read from standard input for ``-``.

    Raises
    ------
    QueryError
        If it is the name of a file.
    """
    if given == "-":
        return sys.stdin.read()
    if "{" not in given and os.path.isfile(given):
        name = quote(given)
        msg = f"{name} is a file, and no operation. To run what it holds: gqlnb query - < {name}"
        raise QueryError(msg)
    return given


def print_pages(ask: Callable[[], Result], show: Callable[[Result], str]) -> int:
    """Print all pages as one answer, or those that came before a failure or an interrupt."""
    try:
        result = ask()
    except (GqlnbError, KeyboardInterrupt) as error:
        came = getattr(error, "result", None)
        if came is not None:
            print_result(came, show)
        raise
    code = print_result(result, show)
    sys.stdout.flush()
    for line in () if result.report is None else result.report.format_lines():
        sys.stderr.write(f"gqlnb: {translate_for_shell(line.strip())}\n")
    return code


def print_result(result: Result, show: Callable[[Result], str]) -> int:
    """Print a result; return 1 if it holds errors, which go to stderr unless shown, else 0."""
    sys.stdout.write(show(result))
    sys.stdout.flush()
    for error in result.errors if show is not format_json else ():
        path = ".".join(map(str, error.get("path") or ()))
        sys.stderr.write(
            f"gqlnb: {sanitize_text(error['message'])}{f' at {path}' if path else ''}\n"
        )
    return 1 if result.errors else 0


def format_json(result: Result) -> str:
    """Return the answer as JSON."""
    members: dict[str, Any] = {"data": result.data}
    if result.errors:
        members["errors"] = list(result.errors)
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    return indent_json(members)


def format_table(result: Result) -> str:
    """Return the rows of the answer as a table."""
    frame = build_frame(result)
    return f"{len(frame)} rows\n" if frame.empty else f"{frame.to_string(index=False)}\n"


def format_csv(result: Result) -> str:
    """Return the rows of the answer as CSV."""
    return build_frame(result).to_csv(index=False, lineterminator="\n")


def build_frame(result: Result) -> pd.DataFrame:
    """Return the frame of an answer; what it warns of, stderr tells of errors anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with advise_if_strict("JSON, the usual form of output, shows all values as they came."):
            return detach_schema_loader(result).frame()  # one request, as was asked for


FORMATTERS: dict[str | None, Callable[[Result], str]] = {
    None: format_json,
    "table": format_table,
    "csv": format_csv,
}


def open_client(connection: str | None, token: str | None, headers: Mapping[str, str]) -> Client:
    """Return the client of a connection, an address, or None for the default.

    `token` and the values of `headers` say where the secrets are, as for :class:`gqlnb.Client`.
    """
    register_connections()
    return connect(connection, token=token, headers=headers)


def parse_variables(text: str) -> dict[str, Any]:
    """Read the JSON object of ``--variables``.

    Raises
    ------
    QueryError
        If the text is no JSON, or no object.
    """
    try:
        value = load_json(text.encode())
    except JSONError as error:
        reason = str(error)
    else:
        if isinstance(value, dict):
            return value
        reason = f"it is of type {type(value).__name__}"
    msg = f'--variables takes a JSON object, for example \'{{"name": "Ada"}}\': {reason}.'
    raise QueryError(msg)


def indent_json(value: Any) -> str:
    """Return a value as JSON for people: exact numbers, two spaces, a line break at the end."""
    import msgspec

    return f"{msgspec.json.format(dump_json(value), indent=2).decode()}\n"


def print_endpoint_schema(
    connection: str | None, *, token: str | None, headers: Mapping[str, str]
) -> int:
    """Print the schema of an endpoint in the schema definition language.

    Parameters
    ----------
    connection, token, headers
        As for :func:`open_client`.

    Raises
    ------
    GqlnbError
        If the endpoint does not tell its schema.
    """
    from graphql import print_schema

    with open_client(connection, token, headers) as client:
        sys.stdout.write(f"{print_schema(client.schema)}\n")
    return 0


def print_stars(
    query: str,
    *,
    limit: int,
    client: str,
    token: str | None,
    headers: Mapping[str, str],
    form: str | None,
    parquet: Path | None,
) -> int:
    """Print the repositories above a number of stars; what to know about them goes to stderr.

    Parameters
    ----------
    query
        As :func:`gqlnb.print_stars` takes it; a number N means ``>N``, as in Python.
    limit
        Most rows.
    client
        The connection or address to ask.
    token, headers
        As for :func:`open_client`.
    form
        ``"csv"``, ``"json"``, or None for a table.
    parquet
        The file to write instead of printing, or None.

    Raises
    ------
    GqlnbError
        If the search cannot be read, or a page fails.
    OSError
        If the file cannot be written.
    """
    from gqlnb.github.star_query import normalize_typed_query
    from gqlnb.github.star_results import stars as found

    with open_client(client, token, headers) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the same sentences stand in the notes
        frame = found(normalize_typed_query(query), limit=limit, client=opened)
    print_frame(frame, form, parquet)
    return 0


def print_frame(frame: pd.DataFrame, form: str | None, parquet: Path | None) -> None:
    """Print a frame, or write it to a file; what to know about it goes to stderr."""
    if parquet is not None:
        frame.to_parquet(parquet, index=False)
        sys.stdout.write(f"Wrote {describe_frame(frame)} to {parquet}\n")
    elif form == "csv":
        sys.stdout.write(frame.to_csv(index=False, lineterminator="\n"))
    elif form == "json":
        sys.stdout.write(indent_json(frame.to_dict(orient="records")))
    else:
        table = "" if frame.empty else f"{frame.to_string(index=False)}\n\n"
        sys.stdout.write(f"{table}{describe_frame(frame)}\n")
    sys.stdout.flush()
    for note in frame.attrs["notes"]:
        sys.stderr.write(f"gqlnb: {translate_for_shell(note)}\n")


def describe_frame(frame: pd.DataFrame) -> str:
    """Say how many of how many, and where from."""
    total, source = frame.attrs["total_count"], frame.attrs["source"]
    return f"{len(frame):,} of {total:,} repositories, from {source}"


EXIT_INCOMPLETE = 3
ClientSource = tuple[str, str | None, Mapping[str, str]]


def harvest_stars(
    threshold: str,
    *,
    client: ClientSource,
    form: str | None,
    parquet: Path | None,
    folder: bool,
    dry_run: bool,
    resume: bool,
) -> int:
    """Fetch everything, and print it or write it; what to know about it goes to stderr.

    Parameters
    ----------
    threshold
        A number N means ``>N``; else as for :func:`gqlnb.github.harvest`.
    client
        What to ask: connection or address, and where its token and headers are.
    form, parquet
        As for :func:`gqlnb.cli.query_commands.print_stars`.
    folder
        Whether `parquet` is a folder of parts.
    dry_run
        Whether to say how much it would take, and no more.
    resume
        Whether to go on with what is in the folder.

    Returns
    -------
    int
        0; or 3 if some could not be had.

    Raises
    ------
    GqlnbError
        If an argument is wrong, or a request fails.
    OSError
        If nothing can be written.
    """
    out = parquet if folder else None
    query = normalize_typed_query(threshold)
    if out is None and not resume:
        msg = "--anew is for a folder: give --all --parquet FOLDER."
        raise OptionError(msg)
    with open_client(*client) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the same sentences are told below
        if dry_run:
            sys.stdout.write(f"{harvest(query, client=opened, dry_run=True)!r}\n")
            return 0
        try:
            made = harvest(query, client=opened, out=out, resume=resume)
        except KeyboardInterrupt:
            if out is not None:
                sys.stderr.write(f"gqlnb: {RESUME_HINT}\n")
            raise
    return _print_harvest(made, form, parquet)


def _print_harvest(made: Harvest, form: str | None, parquet: Path | None) -> int:
    """Print a harvest, or say where it is."""
    if made.folder is not None:
        sys.stdout.write(f"{made!r}\n")
        return 0 if made.complete else EXIT_INCOMPLETE
    frame = made.frame()
    attrs = frame.attrs
    frame = frame[["name", "owner", "stargazers"]]
    frame.attrs = attrs
    print_frame(frame, form, parquet)
    return 0 if made.complete else EXIT_INCOMPLETE
