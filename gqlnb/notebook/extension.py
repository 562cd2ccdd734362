"""What ``%load_ext gqlnb`` does, and how it is undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.notebook.magic import GraphQLMagics

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

NAMES = ("graphql", "gql")
_MARK = "_gqlnb_replaced"  # an attribute of the shell: what stood under our names before


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Enter ``%%graphql`` and ``%graphql``, and ``gql`` for both unless it is taken.

    Loading twice is the same as loading once.

    Parameters
    ----------
    ipython
        The shell to enter them in.
    """
    if getattr(ipython, _MARK, None) is not None:
        return
    magics = ipython.magics_manager.magics
    replaced: dict[tuple[str, str], Any] = {}
    run: Any = GraphQLMagics(ipython).graphql  # type: ignore[misc]
    for name in NAMES:
        if name != NAMES[0] and any(name in magics[kind] for kind in magics):
            continue
        for kind in magics:
            replaced[kind, name] = magics[kind].get(name)
            magics[kind][name] = run
    setattr(ipython, _MARK, replaced)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Take the magics out again and put back what stood there before.

    Parameters
    ----------
    ipython
        The shell they were entered in.
    """
    replaced: dict[tuple[str, str], Any] = getattr(ipython, _MARK, None) or {}
    for (kind, name), before in replaced.items():
        names = ipython.magics_manager.magics[kind]
        names.pop(name, None)
        if before is not None:
            names[name] = before
    setattr(ipython, _MARK, None)
