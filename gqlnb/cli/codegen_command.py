"""``gqlnb codegen``: a Python module with typed functions for operations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gqlnb.cli.options import connection_options
from gqlnb.cli.output import print_note
from gqlnb.cli.query_commands import read_text
from gqlnb.client.operation_module import write_module
from gqlnb.client.schema_sources import read_schema
from gqlnb.document.scalars import is_known
from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gqlnb.client.client import Client

__all__ = ["codegen"]


@click.command()
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Write the module to this file; by default to stdout.",
)
@click.option(
    "--schema",
    "schema_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Read the schema from this file, SDL or introspection JSON, instead of an endpoint.",
)
@connection_options()
@click.option(
    "--scalar",
    "scalars",
    multiple=True,
    metavar="NAME=LIKE",
    help="Treat a scalar like a known one, such as Money=Decimal.",
)
@click.option("--pydantic", is_flag=True, help="Write classes of pydantic, not of msgspec.")
def codegen(
    files: tuple[Path, ...],
    *,
    output: Path | None,
    schema_file: Path | None,
    open_client: Callable[[], Client],
    scalars: tuple[str, ...],
    pydantic: bool,
) -> int:
    """Write a Python module with typed functions for operations.

    FILE holds operations and fragments, - stands for stdin; a fragment may be used in the other
    files. For each operation the module has its text, a frozen class for each selection set, and
    functions that execute it, which mypy and pyright check.

    \b
    Examples:
      gqlnb codegen viewer.graphql -c demo -o viewer.py
      gqlnb codegen queries/*.graphql --schema schema.graphql --pydantic -o queries.py
    """  # noqa: D301
    if schema_file is not None and click.get_current_context().params.get("connection"):
        msg = "--schema and --connection both name a schema. Leave one of them out."
        raise OptionError(msg)
    # Before the schema is loaded, which may take a request and a prompt for a token.
    likes = _parse_scalars(scalars)
    texts = {str(file): read_text(file) for file in files}
    if schema_file is not None:
        schema = read_schema(schema_file).graphql
    else:
        with open_client() as client:
            schema = client.schema
    source = write_module(texts, schema, likes, pydantic=pydantic)
    if output is None:
        click.echo(source, nl=False)
    else:
        # The same bytes on every system, as the file is committed and compared.
        output.write_text(source, encoding="utf-8", newline="\n")
        print_note(f"Wrote {sanitize_text(output, 200)}.")
    return 0


def _parse_scalars(pairs: Iterable[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, _, like = pair.partition("=")
        if not name or not is_known(like):
            msg = (
                f"--scalar {sanitize_text(pair, 80)!r}: write NAME=LIKE, where LIKE is a known "
                "scalar such as DateTime, Date, Decimal, BigInt, JSON or String."
            )
            raise OptionError(msg)
        found[name] = like
    return found
