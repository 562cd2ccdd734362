"""Loading and unloading of the extension: magics, completion, project settings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from traitlets import TraitError

from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.notebook.completion.ipython_completer import TabCompleter
from gqlnb.notebook.magic import GraphQLMagic

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Configurable

    from gqlnb.notebook.completion_context import CompletionProvider

__all__ = ["apply_project_settings", "load_ipython_extension", "unload_ipython_extension"]

MAGIC_NAMES = ("graphql", "gql")
CONNECTIONS_TABLE = "connections"  # a table of [tool.gqlnb] that the client reads
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
    """

    magic: GraphQLMagic
    replaced: dict[tuple[str, str], Any]
    completer: TabCompleter


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
        from gqlnb.notebook.completion_context import CompletionProvider

        return CompletionProvider(magic.state, run.__doc__ or "")

    completer = TabCompleter(ipython, create_provider)
    completer.install()
    setattr(ipython, _ATTRIBUTE, LoadedExtension(magic, replaced, completer))


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
    loaded.magic.state.clients.close()
    loaded.completer.uninstall()
    delattr(ipython, _ATTRIBUTE)


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
    from gqlnb.config import load_project_settings, suggest_name

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
                f"{settings.locate_key(name)}: no setting {name!r}. {suggest_name(name, known)}"
            )
            continue
        try:
            setattr(magic, name, value)
        except TraitError:
            faults.append(
                f"{settings.locate_key(name)}: {name} = {sanitize_text(value, 40)!r} cannot be; "
                f"{traits[name].info()} is expected."
            )
    if faults:
        raise OptionError("\n".join(faults))
