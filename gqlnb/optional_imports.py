"""Optional dependencies: imported where used, and missed in one clear sentence."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gqlnb.errors import MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["import_optional"]


def import_optional(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module.

    Parameters
    ----------
    module
        Full dotted name.
    extra
        The extra of this package that installs it.
    purpose
        What it is needed for, as the end of "... is needed to".

    Raises
    ------
    MissingExtraError
        If it is not installed; the message holds the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise  # it is installed, and something of its own is missing: not ours to explain
    msg = (
        f"{top} is needed to {purpose}, and it is not installed. "
        f"Install it with: pip install 'gqlnb[{extra}]'"
    )
    raise MissingExtraError(msg)
