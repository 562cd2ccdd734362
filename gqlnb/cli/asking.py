"""``gqlnb query``, ``schema`` and ``stars``: ask, and print what came."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Any

from gqlnb.cli.wording import for_shell
from gqlnb.client.factory import connect
from gqlnb.errors import GqlnbError, QueryError, plain
from gqlnb.github.entry import enter
from gqlnb.model.learning import settled
from gqlnb.model.strict import way_out
from gqlnb.wire.json import JSONError, dump, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd

    from gqlnb.client.client import Client
    from gqlnb.client.paging.options import PagingOptions
    from gqlnb.model.result import Result

__all__ = ["SHOWN", "asked", "query", "schema", "shown", "stars"]


def query(
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
        What to print of an answer, one of :data:`SHOWN`.
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
    text = _text(text)
    given = mapping(variables) if variables is not None else None
    with client:
        if show is not as_json:
            with suppress(GqlnbError):  # the dtypes of a frame; without, the values give them
                _ = client.schema
        if pages is not None:
            more = pages
            return paged(lambda: client.execute_all(text, given, operation=operation, **more), show)
        return printed(client.execute(text, given, operation=operation), show)


def _text(given: str) -> str:
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


def paged(ask: Callable[[], Result], show: Callable[[Result], str]) -> int:
    """Print all pages as one answer, or those that came before a failure or an interrupt."""
    try:
        result = ask()
    except (GqlnbError, KeyboardInterrupt) as error:
        came = getattr(error, "result", None)
        if came is not None:
            printed(came, show)
        raise
    code = printed(result, show)
    sys.stdout.flush()
    for line in () if result.report is None else result.report.lines():
        sys.stderr.write(f"gqlnb: {for_shell(line.strip())}\n")
    return code


def printed(result: Result, show: Callable[[Result], str]) -> int:
    """Print a result; return 1 if it holds errors, which go to stderr unless shown, else 0."""
    sys.stdout.write(show(result))
    sys.stdout.flush()
    for error in result.errors if show is not as_json else ():
        path = ".".join(map(str, error.get("path") or ()))
        sys.stderr.write(f"gqlnb: {plain(error['message'])}{f' at {path}' if path else ''}\n")
    return 1 if result.errors else 0


def as_json(result: Result) -> str:
    """Return the answer as JSON."""
    members: dict[str, Any] = {"data": result.data}
    if result.errors:
        members["errors"] = list(result.errors)
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    return indented(members)


def as_table(result: Result) -> str:
    """Return the rows of the answer as a table."""
    frame = rows(result)
    return f"{len(frame)} rows\n" if frame.empty else f"{frame.to_string(index=False)}\n"


def as_csv(result: Result) -> str:
    """Return the rows of the answer as CSV."""
    return rows(result).to_csv(index=False, lineterminator="\n")


def rows(result: Result) -> pd.DataFrame:
    """Return the frame of an answer; what it warns of, stderr tells of errors anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with way_out("JSON, the usual form of output, shows all values as they came."):
            return settled(result).frame()  # one request, as was asked for


SHOWN: dict[str | None, Callable[[Result], str]] = {None: as_json, "table": as_table, "csv": as_csv}


def asked(connection: str | None, token: str | None, headers: Mapping[str, str]) -> Client:
    """Return the client of a connection, an address, or None for the default.

    `token` and the values of `headers` say where the secrets are, as for :class:`gqlnb.Client`.
    """
    enter()
    return connect(connection, token=token, headers=headers)


def mapping(text: str) -> dict[str, Any]:
    """Read the JSON object of ``--variables``.

    Raises
    ------
    QueryError
        If the text is no JSON, or no object.
    """
    try:
        value = load(text.encode())
    except JSONError as error:
        reason = str(error)
    else:
        if isinstance(value, dict):
            return value
        reason = f"it is of type {type(value).__name__}"
    msg = f'--variables takes a JSON object, for example \'{{"name": "Ada"}}\': {reason}.'
    raise QueryError(msg)


def indented(value: Any) -> str:
    """Return a value as JSON for people: exact numbers, two spaces, a line break at the end."""
    import msgspec

    return f"{msgspec.json.format(dump(value), indent=2).decode()}\n"


def schema(connection: str | None, *, token: str | None, headers: Mapping[str, str]) -> int:
    """Print the schema of an endpoint in the schema definition language.

    Parameters
    ----------
    connection, token, headers
        As for :func:`asked`.

    Raises
    ------
    GqlnbError
        If the endpoint does not tell its schema.
    """
    from graphql import print_schema

    with asked(connection, token, headers) as client:
        sys.stdout.write(f"{print_schema(client.schema)}\n")
    return 0


def stars(
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
        As :func:`gqlnb.stars` takes it; a number N means ``>N``, as in Python.
    limit
        Most rows.
    client
        The connection or address to ask.
    token, headers
        As for :func:`asked`.
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
    from gqlnb.github.expressions import typed
    from gqlnb.github.starsearch import stars as found

    with asked(client, token, headers) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the same sentences stand in the notes
        frame = found(typed(query), limit=limit, client=opened)
    shown(frame, form, parquet)
    return 0


def shown(frame: pd.DataFrame, form: str | None, parquet: Path | None) -> None:
    """Print a frame, or write it to a file; what to know about it goes to stderr."""
    if parquet is not None:
        frame.to_parquet(parquet, index=False)
        sys.stdout.write(f"Wrote {caption(frame)} to {parquet}\n")
    elif form == "csv":
        sys.stdout.write(frame.to_csv(index=False, lineterminator="\n"))
    elif form == "json":
        sys.stdout.write(indented(frame.to_dict(orient="records")))
    else:
        table = "" if frame.empty else f"{frame.to_string(index=False)}\n\n"
        sys.stdout.write(f"{table}{caption(frame)}\n")
    sys.stdout.flush()
    for note in frame.attrs["notes"]:
        sys.stderr.write(f"gqlnb: {for_shell(note)}\n")


def caption(frame: pd.DataFrame) -> str:
    """Say how many of how many, and where from."""
    total, source = frame.attrs["total_count"], frame.attrs["source"]
    return f"{len(frame):,} of {total:,} repositories, from {source}"
