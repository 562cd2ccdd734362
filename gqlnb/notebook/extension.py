"""Loading and unloading of the extension: magics, completion, project settings."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from traitlets import TraitError

from gqlnb.config import load_project_settings
from gqlnb.errors import GqlnbError, OptionError, sanitize_text, suggest_or_list
from gqlnb.notebook.completion.ipython_completer import TabCompleter
from gqlnb.notebook.magic import GraphQLMagic
from gqlnb.result.renderer import FRAMES_ATTRIBUTE, TABLE, FrameDisplay, render_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLSchema
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.lib.pretty import RepresentationPrinter
    from traitlets.config import Configurable

    from gqlnb.notebook.completion.completion_context import CompletionProvider

MAGIC_NAMES = ("graphql", "gql")
CONNECTIONS_TABLE = "connections"  # a table of [tool.gqlnb] that the client reads
HELP_CELL = re.compile(r"\s*%%(?:graphql|gql)\s+(?:--help|-h)\s*")
SCHEMA_CLASS = ("graphql.type.schema", "GraphQLSchema")  # the class need not be imported for it
_ATTRIBUTE = "_gqlnb"  # the attribute of the shell that holds a LoadedExtension


class LoadedExtension(NamedTuple):
    """The changes that loading made.

    Attributes
    ----------
    magic
        The magic.
    replaced
        The former magics by kind and name; None where there was none.
    completer
        The completer of Tab and Shift-Tab.
    frames
        The display of frames.
    """

    magic: GraphQLMagic
    replaced: dict[tuple[str, str], Any]
    completer: TabCompleter
    frames: FrameDisplay


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Register ``%%graphql`` and ``%graphql``, and ``gql`` for both unless that name is taken.

    ``%load_ext gqlnb`` calls this function. A second call has no effect. The defaults come from
    ``[tool.gqlnb]`` in the nearest ``pyproject.toml``; invalid settings raise a warning.

    Parameters
    ----------
    ipython
        The shell.

    Examples
    --------
    >>> import gqlnb
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> gqlnb.load_ipython_extension(shell)
    >>> "graphql" in shell.magics_manager.magics["cell"]
    True
    """
    if getattr(ipython, _ATTRIBUTE, None) is not None:
        return
    magics = ipython.magics_manager.magics
    replaced: dict[tuple[str, str], Any] = {}
    magic = GraphQLMagic(ipython)
    try:
        apply_project_settings(magic)
    except GqlnbError as error:
        warnings.warn(str(error), stacklevel=2)
    run: Any = magic.graphql  # type: ignore[misc]
    for name in MAGIC_NAMES:
        if name != MAGIC_NAMES[0] and any(name in magics[kind] for kind in magics):
            continue
        for kind in magics:
            # Not register_magic_function(): it cannot tell what it replaces.
            replaced[kind, name] = magics[kind].get(name)
            magics[kind][name] = run

    def create_provider() -> CompletionProvider:
        from gqlnb.notebook.completion.completion_context import CompletionProvider

        return CompletionProvider(magic.state, run.__doc__ or "")

    def create_panel() -> Callable[[str], object]:
        from gqlnb.notebook.panel import Panel

        return Panel(magic.state).answer

    completer = TabCompleter(ipython, create_provider, create_panel)
    completer.install()
    ipython.input_transformers_cleanup.insert(0, move_help_to_line)
    for mime, show_summary in SCHEMA_FORMATS.items():
        get_formatter(ipython, mime).for_type_by_name(*SCHEMA_CLASS, show_summary)
    frames = FrameDisplay(ipython, lambda: magic.frames == TABLE)
    frames.install()
    setattr(ipython, FRAMES_ATTRIBUTE, frames)
    setattr(ipython, _ATTRIBUTE, LoadedExtension(magic, replaced, completer, frames))


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Remove the magics, restore the former ones, and close all clients.

    ``%unload_ext gqlnb`` calls this function.

    Parameters
    ----------
    ipython
        The shell.

    Examples
    --------
    >>> import gqlnb
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> gqlnb.load_ipython_extension(shell)
    >>> gqlnb.unload_ipython_extension(shell)
    >>> "graphql" in shell.magics_manager.magics["cell"]
    False
    """
    loaded: LoadedExtension | None = getattr(ipython, _ATTRIBUTE, None)
    if loaded is None:
        return
    run: Any = loaded.magic.graphql  # type: ignore[misc]
    for (kind, name), before in loaded.replaced.items():
        names = ipython.magics_manager.magics[kind]
        if names.get(name) != run:
            continue  # replaced by another extension
        del names[name]
        if before is not None:
            names[name] = before
    configurables: list[Any] = ipython.configurables
    configurables[:] = [it for it in configurables if it is not loaded.magic]
    loaded.magic.close()
    loaded.completer.uninstall()
    loaded.frames.uninstall()
    delattr(ipython, FRAMES_ATTRIBUTE)
    ipython.input_transformers_cleanup.remove(move_help_to_line)
    for mime in SCHEMA_FORMATS:
        # Imported meanwhile, it was moved from the names to the classes.
        get_formatter(ipython, mime).pop(".".join(SCHEMA_CLASS), None)
    delattr(ipython, _ATTRIBUTE)


def move_help_to_line(lines: list[str]) -> list[str]:
    """Turn a cell ``%%graphql --help`` into a line: IPython refuses a cell magic without a body."""
    if len(lines) == 1 and HELP_CELL.fullmatch(lines[0]):
        return [lines[0].lstrip().removeprefix("%")]
    return lines


def get_formatter(ipython: InteractiveShell, mime: str) -> Any:  # noqa: ANN401 - no types
    """Return IPython's formatter for a MIME type."""
    return ipython.display_formatter.formatters[mime]  # type: ignore[union-attr]


def summarize_schema(schema: GraphQLSchema) -> str:
    """Return the size and the root fields of a schema, which graphql-core shows as an address."""
    from gqlnb.notebook import schema_docs

    return schema_docs.summarize_schema(schema)


def print_schema_summary(schema: GraphQLSchema, printer: RepresentationPrinter, _: object) -> None:
    """Print the summary of a schema."""
    printer.text(summarize_schema(schema))  # type: ignore[no-untyped-call]


def render_schema_summary(schema: GraphQLSchema) -> str:
    """Render the same as HTML."""
    return render_lines(summarize_schema(schema))


SCHEMA_FORMATS = {"text/plain": print_schema_summary, "text/html": render_schema_summary}


def apply_project_settings(magic: Configurable) -> None:
    """Set the traits of the magic from ``[tool.gqlnb]``, except those in IPython's own config.

    Parameters
    ----------
    magic
        The magic.

    Raises
    ------
    OptionError
        If the file is not valid TOML, or has unknown settings or invalid values; the valid ones
        have been applied.
    """
    settings = load_project_settings()
    if settings is None:
        return
    traits = magic.traits(config=True)
    personal = magic.config.get(type(magic).__name__, {})
    faults = []
    for name, value in settings.values.items():
        if name == CONNECTIONS_TABLE or name in personal:
            continue
        if name not in traits:
            known = [*traits, CONNECTIONS_TABLE]
            faults.append(
                f"{settings.locate_key(name)}: no setting {name!r}.{suggest_or_list(name, known)}"
            )
            continue
        try:
            setattr(magic, name, value)
        except TraitError:
            faults.append(
                f"{settings.locate_key(name)}: {name} = {sanitize_text(value, 40)!r} is not valid: "
                f"{traits[name].info()} is expected."
            )
    if faults:
        raise OptionError("\n".join(faults))
