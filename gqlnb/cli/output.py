"""The output of the commands: JSON, tables, CSV, and messages for a shell."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import click
import msgspec

from gqlnb.auth import LITERAL_TOKEN_REFUSED
from gqlnb.client.paging.pager import ADVICE as PAGES_ADVICE
from gqlnb.client.urls import SERVE_HINT
from gqlnb.document.json_codec import dump_json
from gqlnb.errors import advise_if_strict, sanitize_text
from gqlnb.result.result import detach_schema_loader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from gqlnb.result.result import Result

__all__ = ["FORMATTERS", "print_frame", "print_note", "print_result", "translate_for_shell"]

# The errors and notes of the package are written for a notebook. Each pair holds advice for a
# notebook and the same advice for a shell.
_SHELL_ADVICE = (
    (PAGES_ADVICE, "They were printed."),
    (
        "Look at client.schema once to have all of them followed",
        "Nested ones are followed where the query asks for the id of what they stand in",
    ),
    (SERVE_HINT, "To serve the reference schema there: gqlnb serve"),
    (
        LITERAL_TOKEN_REFUSED,
        "--token takes env:NAME, keyring:NAME, file:PATH or prompt: a token typed into a command "
        "would be saved in the shell's history.",
    ),
    ("token='env:NAME' or 'prompt'", "--token env:NAME or --token prompt"),
    ("token='env:NAME'", "--token env:NAME"),
    ("token='prompt'", "--token prompt"),
    ("with resume=False", "with --anew"),
    ("Access(origins=['http://localhost:5173'])", "--origin http://localhost:5173"),
    ("Access(origins='*')", "--origin '*'"),
    ("Access(origins=...)", "--origin"),
    ("Access(hosts=...)", "--allow-host"),
    ("token= and headers= would", "--token and --header would"),
    ("token= would", "--token would"),
    ("headers= would", "--header would"),
    (" before Jupyter starts", ""),
    ("Try again, or pass a longer timeout=.", "Try again."),
)


def translate_for_shell(text: str) -> str:
    """Return a message with its advice for a notebook replaced by advice for a shell."""
    for notebook, shell in _SHELL_ADVICE:
        text = text.replace(notebook, shell)
    return text


def print_note(text: str) -> None:
    """Print a message to stderr."""
    click.echo(f"gqlnb: {translate_for_shell(text)}", err=True)


def print_result(result: Result, form: str) -> int:
    """Print a result and, to stderr, the errors that its form leaves out; return the exit code."""
    click.echo(FORMATTERS[form](result), nl=False)
    for error in result.errors if form != "json" else ():
        path = ".".join(map(str, error.get("path") or ()))
        message = sanitize_text(error["message"])
        click.echo(f"gqlnb: {message}{f' at {path}' if path else ''}", err=True)
    return 1 if result.errors else 0


def _format_json(result: Result) -> str:
    members: dict[str, object] = {"data": result.data}
    if result.errors:
        members["errors"] = list(result.errors)
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    return _indent_json(members)


def _format_table(result: Result) -> str:
    frame = _build_frame(result)
    return f"{len(frame)} rows\n" if frame.empty else f"{frame.to_string(index=False)}\n"


def _format_csv(result: Result) -> str:
    return _build_frame(result).to_csv(index=False, lineterminator="\n")


def _build_frame(result: Result) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # errors are printed to stderr anyway
        with advise_if_strict("JSON, the usual form of output, shows all values as they came."):
            # Detached: no second request, for the schema.
            return detach_schema_loader(result).frame()


FORMATTERS: dict[str, Callable[[Result], str]] = {
    "json": _format_json,
    "table": _format_table,
    "csv": _format_csv,
}


def _indent_json(value: object) -> str:
    return f"{msgspec.json.format(dump_json(value), indent=2).decode()}\n"


def print_frame(frame: pd.DataFrame, form: str, parquet: Path | None) -> None:
    """Print a frame of repositories, or write it to a file; its notes go to stderr."""
    total, source = frame.attrs["total_count"], frame.attrs["source"]
    summary = f"{len(frame):,} of {total:,} repositories, from {source}"
    if parquet is not None:
        frame.to_parquet(parquet, index=False)
        output = f"Wrote {summary} to {parquet}\n"
    elif form == "csv":
        output = frame.to_csv(index=False, lineterminator="\n")
    elif form == "json":
        output = _indent_json(frame.to_dict(orient="records"))
    else:
        table = "" if frame.empty else f"{frame.to_string(index=False)}\n\n"
        output = f"{table}{summary}\n"
    click.echo(output, nl=False)
    sys.stdout.flush()
    for note in frame.attrs["notes"]:
        print_note(note)
