"""What ``%load_ext gqlnb`` does, and how it is undone."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import GqlnbError
from gqlnb.notebook.completing import Completing, Knowledge
from gqlnb.notebook.defaults import apply
from gqlnb.notebook.magic import GraphQLMagic

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

NAMES = ("graphql", "gql")
_MARK = "_gqlnb"  # an attribute of the shell: what loading changed


class Loaded(NamedTuple):
    """What loading changed.

    Attributes
    ----------
    magic
        The magic.
    replaced
        What stood under its names before: by kind and name, None for nothing.
    completing
        What answers Tab and Shift-Tab.
    """

    magic: GraphQLMagic
    replaced: dict[tuple[str, str], Any]
    completing: Completing


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
        apply(magic)
    except GqlnbError as error:
        warnings.warn(str(error), stacklevel=2)
    run: Any = magic.graphql  # type: ignore[misc]
    for name in NAMES:
        if name != NAMES[0] and any(name in magics[kind] for kind in magics):
            continue
        for kind in magics:
            replaced[kind, name] = magics[kind].get(name)
            magics[kind][name] = run
    completing = Completing(ipython, partial(learned, magic))
    completing.enter()
    setattr(ipython, _MARK, Loaded(magic, replaced, completing))


def learned(magic: GraphQLMagic) -> Knowledge:
    """Return what completion asks of a notebook."""
    from gqlnb.notebook.knowing import Knowing

    return Knowing(magic).knowledge


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
    loaded: Loaded | None = getattr(ipython, _MARK, None)
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
    loaded.completing.leave()
    delattr(ipython, _MARK)
