"""``[tool.gqlnb]`` of ``pyproject.toml``: how the cells of a project behave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traitlets import TraitError

from gqlnb.errors import OptionError, plain

if TYPE_CHECKING:
    from traitlets.config import Configurable

__all__ = ["apply"]

CONNECTIONS = "connections"  # a table of its own, which the client reads


def apply(magic: Configurable) -> None:
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
    from gqlnb.client.settings import guess, project

    settings = project()
    if settings is None:
        return
    traits = magic.traits(config=True)
    personal = magic.config.get(type(magic).__name__, {})
    faults = []
    for name, value in settings.values.items():
        if name == CONNECTIONS or name in personal:
            continue
        if name not in traits:
            known = [*traits, CONNECTIONS]
            faults.append(f"{settings.where(name)}: no setting {name!r}. {guess(name, known)}")
            continue
        try:
            setattr(magic, name, value)
        except TraitError:
            faults.append(
                f"{settings.where(name)}: {name} = {plain(value, 40)!r} cannot be; "
                f"{traits[name].info()} is expected."
            )
    if faults:
        raise OptionError("\n".join(faults))
