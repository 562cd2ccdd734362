"""Import optional dependencies, with an installation hint if one is missing."""

from __future__ import annotations

import shlex
from importlib import import_module
from types import ModuleType

from gqlnb.errors import MissingExtraError


def import_optional(module: str, requirement: str, purpose: str) -> ModuleType:
    """Import an optional module.

    Parameters
    ----------
    module
        The full dotted name.
    requirement
        The package that pip installs for it, with its own extra if needed.
    purpose
        The use of the module; it completes the sentence "... is needed to".

    Returns
    -------
    module
        The module.

    Raises
    ------
    MissingExtraError
        If it is not installed; the message has the installation command.
    ModuleNotFoundError
        If it is installed, but not a module that it imports.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise  # the module is installed, but one of its own dependencies is missing
    msg = (
        f"{top} is needed to {purpose}, and it is not installed. "
        f"Install it with: pip install {shlex.quote(requirement)}"
    )
    raise MissingExtraError(msg)
