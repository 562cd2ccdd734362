"""The output of the commands: JSON, tables, CSV, and messages for a shell."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import msgspec

from gqlnb.client.credentials import SERVE_HINT
from gqlnb.client.schema_sources import ACCEPTED_FORMS
from gqlnb.document.json_codec import dump_json
from gqlnb.errors import PAGES_ADVICE, GqlnbError, advise_if_strict
from gqlnb.result.renderer import describe_rows, format_error
from gqlnb.result.result import attach_schema_loader, collect_members
from gqlnb.tokens import LITERAL_TOKEN_REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

    from gqlnb.result.result import Result

# The errors and notes of the package are written for a notebook. Each pair holds advice for a
# notebook and the same advice for a shell.
_SHELL_ADVICE = (
    (PAGES_ADVICE, "They were printed."),
    (SERVE_HINT, "To serve the reference schema there: gqlnb serve"),
    (
        LITERAL_TOKEN_REFUSED,
        "--token takes env:NAME, keyring:NAME, file:PATH or prompt: a token typed into a command "
        "would be saved in the shell's history.",
    ),
    ("serve(schema, host=..., token='env:NAME')", "gqlnb serve --host HOST --token env:NAME"),
    ("For this machine alone leave host out.", "For this machine alone leave --host out."),
    ("token='env:NAME' or 'prompt'", "--token env:NAME or --token prompt"),
    ("token='env:NAME'", "--token env:NAME"),
    ("token='prompt'", "--token prompt"),
    ("with resume=False", "with --anew"),
    ("lists= '", "--list '"),
    ("without twice=True", "without --twice"),
    ("schema= does not refer", "--schema does not refer"),
    (ACCEPTED_FORMS, "--schema takes the path of a file with SDL or introspection JSON"),
    ("Access(origins=['http://localhost:5173'])", "--origin http://localhost:5173"),
    ("Access(origins='*')", "--origin '*'"),
    ("Access(origins=...)", "--origin"),
    ("Access(hosts=...)", "--allow-host"),
    ("token= and headers= would", "--token and --header would"),
    ("token= would", "--token would"),
    ("headers= would", "--header would"),
    (" before Jupyter starts", ""),
    (" To wait longer, pass limits=Limits(wait=...).", ""),
    ("pass a longer timeout=.", "pass a longer --timeout."),
    ("access=Access(get=True)", "--get"),
    ("access=Access(uploads=True)", "--uploads"),
)
# The same for advice with a name or a number in it, as pattern and replacement.
_SHELL_ADVICE_PATTERNS = (
    (
        re.compile(r"^Limits\((\w+)=\.\.\.\) takes (.*), or None for no limit"),
        r"--limit \1 takes \2, or off for no limit",
    ),
    (re.compile(r"limits=Limits\((\w+)=([\w.]+)\)"), r"--limit \1=\2"),
    (re.compile(r"access=Access\(batch=(\d+)\)"), r"--batch \1"),
    (re.compile(r"serve\(schema, (--\w.*?)\)"), r"gqlnb serve \1"),
    (re.compile(r"port=0, or another, such as port=(\d+)"), r"--port 0, or another: --port \1"),
    (re.compile(r"^host='([^']*)' (?=lets other|is not a name)"), r"--host \1 "),
)


def translate_for_shell(text: str) -> str:
    """Return a message with its advice for a notebook replaced by advice for a shell."""
    for notebook, shell in _SHELL_ADVICE:
        text = text.replace(notebook, shell)
    for pattern, replacement in _SHELL_ADVICE_PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def print_note(text: str) -> None:
    """Print a message to stderr."""
    click.echo(f"gqlnb: {translate_for_shell(text)}", err=True)


def print_result(result: Result, form: str) -> int:
    """Print a result and, to stderr, errors and notes that its form lacks; return the exit code."""
    # JSON holds errors and notes itself; a table or CSV has no place for them.
    click.echo(FORMATTERS[form](result), nl=False)
    for error in result.errors if form != "json" else ():
        click.echo(f"gqlnb: {format_error(error)}", err=True)
    for note in [*result.notes, *_list_cut_lists(result)] if form != "json" else ():
        print_note(note)
    return 1 if result.errors else 0


def _list_cut_lists(result: Result) -> list[str]:
    """Return a line for each list that is not complete: a table looks like the whole list."""
    try:
        tables = result.previews(0)
    except GqlnbError:
        return []
    return [
        describe_rows(table.rows, table.verdict) + (f" in {name}" if len(tables) > 1 else "")
        for name, table in tables.items()
        if table.verdict is not None and table.verdict.state != "complete"
    ]


def _format_table(result: Result) -> str:
    with _advise_of_json():
        # Detached: no second request, for the schema.
        frame = attach_schema_loader(result, None).frame()
    return f"{len(frame)} rows\n" if frame.empty else f"{frame.to_string(index=False)}\n"


# The same bytes on every system: pandas would end lines as the system does, and a pipe or a
# comparison of files would see another output.
def _format_csv(result: Result) -> str:
    with _advise_of_json():
        return str(attach_schema_loader(result, None).to_csv(lineterminator="\n"))


@contextmanager
def _advise_of_json() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # errors are printed to stderr anyway
        with advise_if_strict("JSON, the usual form of output, shows all values as received."):
            yield


FORMATTERS: dict[str, Callable[[Result], str]] = {
    "json": lambda result: format_json(collect_members(result)),
    "table": _format_table,
    "csv": _format_csv,
}


def format_json(value: object) -> str:
    """Return a value as indented JSON."""
    return f"{msgspec.json.format(dump_json(value), indent=2).decode()}\n"


def _encode_list(value: object) -> object:
    return msgspec.json.encode(value, enc_hook=str).decode() if isinstance(value, list) else value


def print_frame(frame: pd.DataFrame, form: str, parquet: Path | None) -> None:
    """Print a frame of repositories, or write it to a file; its notes go to stderr."""
    total, source = frame.attrs["total_count"], frame.attrs["source"]
    summary = f"{len(frame):,} of {total:,} repositories, from {source}"
    if parquet is not None:
        frame.to_parquet(parquet, index=False)
        output = f"Wrote {summary} to {parquet}\n"
    elif form == "csv":
        lists = {
            str(name): column.map(_encode_list)
            for name, column in frame.items()
            if column.dtype == object
        }
        output = frame.assign(**lists).to_csv(index=False, lineterminator="\n")
    elif form == "json":
        text = frame.to_json(orient="records", date_format="iso")
        output = format_json(msgspec.json.decode(text))
    else:
        table = "" if frame.empty else f"{frame.to_string(index=False)}\n\n"
        output = f"{table}{summary}\n"
    click.echo(output, nl=False)
    sys.stdout.flush()
    for note in frame.attrs["notes"]:
        print_note(note)
