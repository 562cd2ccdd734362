"""Sphinx extension: reference pages written from the package itself, and the first table."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

import gqlnb
from gqlnb.cli.command_group import command_line
from gqlnb.notebook.magic import GraphQLMagic

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parent
REFERENCE = DOCS / "reference"


def write_cell_options() -> None:
    """Write the help of `%%graphql`, and its settings."""
    magic = GraphQLMagic.graphql.__doc__ or ""
    settings = "\n".join(
        f"| `{name}` | `{trait.default()!r}` | {' '.join(trait.help.split())} |"
        for name, trait in sorted(GraphQLMagic.class_traits(config=True).items())
        if trait.help
    )
    (REFERENCE / "cell-options.md").write_text(
        "# Options of `%%graphql`\n\n"
        "With examples: {doc}`cell-targets`, {doc}`cell-values`, {doc}`cell-running`, "
        "{doc}`cell-checks` and {doc}`cell-schema`.\n\n"
        "```text\n" + magic.strip() + "\n```\n\n"
        "## Settings\n\nFor all cells: `%config GraphQLMagic.NAME = VALUE`, or "
        "`NAME = VALUE` in the table `[tool.gqlnb]` of `pyproject.toml`.\n\n"
        f"| Name | Default | Meaning |\n|---|---|---|\n{settings}\n\n"
        "## The library of the examples\n\nThe file `library.py`:\n\n"
        "```{literalinclude} library.py\n:language: python\n:lines: 3-\n```\n"
    )


def write_command_line() -> None:
    """Write the help of each command."""
    context = click.Context(command_line, info_name="gqlnb")
    parts = [f"# Command line\n\n```text\n{command_line.get_help(context)}\n```\n"]
    for name in command_line.list_commands(context):
        command = command_line.get_command(context, name)
        with click.Context(command, parent=context, info_name=name) as inner:
            parts.append(f"## `gqlnb {name}`\n\n```text\n{command.get_help(inner)}\n```\n")
    (REFERENCE / "command-line.md").write_text("\n".join(parts))


def write_api() -> None:
    """Write a page for each public name, and a list of them."""
    folder = REFERENCE / "api"
    folder.mkdir(exist_ok=True)
    parts = ["# Python interface\n"]
    for module in (gqlnb, gqlnb.github, gqlnb.engine, gqlnb.errors):
        names = [n for n in module.__all__ if not inspect.ismodule(getattr(module, n))]
        if module is gqlnb.errors:  # the two that are caught by the names of their base classes
            names = ["KeywordError", "LiteralSecretError"]
        parts.append(f"## `{module.__name__}`\n\n| Name | Purpose |\n|---|---|")
        for name in sorted(names, key=str.lower):
            found = getattr(module, name)
            directive = "autoclass" if inspect.isclass(found) else "autofunction"
            members = "\n   :members:" if inspect.isclass(found) else ""
            if found is gqlnb.Result:  # the methods for files and frames are in a base class
                members += "\n   :inherited-members:"
            full = f"{module.__name__}.{name}"
            (folder / f"{full}.md").write_text(
                f"# {full}\n\n```{{eval-rst}}\n.. {directive}:: {full}{members}\n```\n"
            )
            summary = (inspect.getdoc(found) or "").partition("\n")[0].replace("|", "\\|")
            summary = re.sub(r":\w+:`[~.]?(.+?)`", r"`\1`", summary)  # the list is Markdown
            parts.append(f"| [{name}](api/{full}.md) | {summary} |")
        pages = "\n".join(f"api/{module.__name__}.{name}" for name in names)
        parts.append(f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
    (REFERENCE / "api.md").write_text("\n".join(parts))


def write_front_table() -> None:
    """Run the cell of the front page, and write the table that it shows."""
    (cell,) = re.findall(
        r"```text\n%%graphql demo --paginate\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL
    )
    data, _ = gqlnb.connect("demo").execute_all(cell)._repr_mimebundle_()
    folder = DOCS / "_front"
    folder.mkdir(exist_ok=True)
    (folder / "table.html").write_text(data["text/html"])


def write_pages(_app: Sphinx) -> None:
    """Write all of them."""
    write_cell_options()
    write_command_line()
    write_api()
    write_front_table()


def setup(app: Sphinx) -> None:
    """Register the hook."""
    app.connect("builder-inited", write_pages, priority=100)
