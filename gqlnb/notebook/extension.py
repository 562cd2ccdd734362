"""What ``%load_ext gqlnb`` does, and how it is undone."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from traitlets import TraitError

from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.notebook.completion.ipython_completer import CompletionSources, TabCompleter
from gqlnb.notebook.magic import GraphQLMagic

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Configurable

__all__ = ["apply_project_settings", "load_ipython_extension", "unload_ipython_extension"]

MAGIC_NAMES = ("graphql", "gql")
_MARK = "_gqlnb"  # an attribute of the shell: what loading changed


class LoadedExtension(NamedTuple):
    """What loading changed.

    Attributes
    ----------
    magic
        The magic.
    replaced
        What stood under its names before: by kind and name, None for nothing.
    completer
        What answers Tab and Shift-Tab.
    """

    magic: GraphQLMagic
    replaced: dict[tuple[str, str], Any]
    completer: TabCompleter


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Enter ``%%graphql`` and ``%graphql``, and ``gql`` for both unless it is taken.

    Loading twice is the same as loading once. The defaults are those of ``[tool.gqlnb]`` in the
    nearest ``pyproject.toml``; what is wrong with them is a warning.

    Parameters
    ----------
    ipython
        The shell to enter them in.

    Examples
    --------
    What ``%load_ext gqlnb`` calls:

    >>> import gqlnb
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> gqlnb.load_ipython_extension(shell)
    >>> "graphql" in shell.magics_manager.magics["cell"]
    True
    """
    if getattr(ipython, _MARK, None) is not None:
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
            replaced[kind, name] = magics[kind].get(name)
            magics[kind][name] = run
    completing = TabCompleter(ipython, partial(load_completion_sources, magic))
    completing.install()
    setattr(ipython, _MARK, LoadedExtension(magic, replaced, completing))


def load_completion_sources(magic: GraphQLMagic) -> CompletionSources:
    """Return what completion asks of a notebook."""
    from gqlnb.notebook.completion_context import CompletionProvider

    return CompletionProvider(magic).sources


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Take the magics out again and put back what stood there before.

    Parameters
    ----------
    ipython
        The shell they were entered in.

    Examples
    --------
    What ``%unload_ext gqlnb`` calls:

    >>> import gqlnb
    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> gqlnb.load_ipython_extension(shell)
    >>> gqlnb.unload_ipython_extension(shell)
    >>> "graphql" in shell.magics_manager.magics["cell"]
    False
    """
    loaded: LoadedExtension | None = getattr(ipython, _MARK, None)
    if loaded is None:
        return
    run: Any = loaded.magic.graphql  # type: ignore[misc]
    for (kind, name), before in loaded.replaced.items():
        names = ipython.magics_manager.magics[kind]
        if names.get(name) != run:
            continue  # somebody else's by now
        del names[name]
        if before is not None:
            names[name] = before
    known: list[Any] = ipython.configurables
    known[:] = [it for it in known if it is not loaded.magic]
    loaded.magic.close()
    loaded.completer.uninstall()
    delattr(ipython, _MARK)


CONNECTIONS_TABLE = "connections"  # a table of its own, which the client reads


def apply_project_settings(magic: Configurable) -> None:
    """Set the traits of the magic as the project says, other than those that IPython's config sets.

    Parameters
    ----------
    magic
        The magic.

    Raises
    ------
    OptionError
        If the file is no TOML, or says something that does not exist or cannot be; what is right
        in it was set.
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
