"""Support of ``help()``, Tab, misspelled attributes, warnings and waits in interactive sessions."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from gqlnb.errors import suggest

if TYPE_CHECKING:
    from collections.abc import Mapping


PACKAGE = __name__.partition(".")[0]
_LOG = logging.getLogger(PACKAGE)
NOTICEABLE_WAIT = 1.5  # seconds; a shorter wait needs no explanation

GETMEMBERS_DEPTH = 5  # `__dir__`, two functions of inspect, and pydoc's, with one to spare


def split_hints(hints: Mapping[str, str]) -> dict[str, str]:
    """Return hints by single names, from hints by names with spaces between them."""
    return {name: hint for names, hint in hints.items() for name in names.split()}


def raise_attribute_error(owner: object, name: str, hints: Mapping[str, str]) -> NoReturn:
    """Report an attribute that does not exist, with the name that was meant.

    Parameters
    ----------
    owner
        The object or module.
    name
        The missing attribute.
    hints
        What to use instead, by names that other libraries have for it.

    Raises
    ------
    AttributeError
        Without the object, for which Python would print a suggestion of its own after ours.
    """
    cls = type(owner)
    if name in dir(cls):
        object.__getattribute__(owner, name)  # a property failed: its own error, once more
    kind = (
        f"module {owner.__name__!r}"
        if isinstance(owner, ModuleType)
        else f"{cls.__name__!r} object"
    )
    message = f"{kind} has no attribute {name!r}"
    if not name.startswith("_"):  # frameworks probe private names, and show no message
        hint = hints.get(name)
        guess = f" Use {hint}." if hint else suggest(name, dir(owner))
        message += f".{guess}" if guess else ""
    raise AttributeError(message, name=name)


def is_called_by_pydoc() -> bool:
    """Return whether the calling ``__dir__`` lists a module's names for ``help()``.

    pydoc prints every class that ``dir()`` lists, with all its methods: 7,000 lines for gqlnb. It
    offers no hook, and Tab, star imports and type checkers need the same names, so that only the
    caller tells them apart. The docstring of the module describes the names in its place.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the documented way to the caller
    for _ in range(GETMEMBERS_DEPTH):
        if frame.f_back is None:
            return False
        frame = frame.f_back
        if frame.f_globals.get("__name__") == "pydoc":
            return True
    return False


def warn_caller(message: str) -> None:
    """Warn at the line of the caller outside of this package."""
    # Counted, not fixed: a cell, `frame()` and a harvest call at different depths, and a constant
    # would show a line of this package.
    frame: FrameType | None = sys._getframe(0)  # noqa: SLF001 - warnings.warn uses it likewise
    level = 1
    while frame and str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def announce_wait(text: str, wait: float) -> None:
    """Log the reason for a wait of so many seconds; in interactive use also write it to stderr."""
    _LOG.warning("%s", text)
    if wait >= NOTICEABLE_WAIT and is_interactive():
        sys.stderr.write(f"{text} Interrupt to stop waiting.\n")


def is_interactive() -> bool:
    """Return whether stderr is seen by a person: in an open notebook, or at a terminal."""
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        return not is_unattended()
    return sys.stderr is not None and sys.stderr.isatty()


def is_unattended() -> bool:
    """Return whether the cell is run by a program that shows nothing, such as nbclient."""
    # Programs that run notebooks allow no input. Voila and Databricks allow none either, but show
    # the notebook to a person.
    shell = sys.modules.get("IPython")
    parent: dict[str, Any] = getattr(shell and shell.get_ipython(), "get_parent", dict)() or {}
    if parent.get("content", {}).get("allow_stdin") is not False:
        return False
    server = os.environ.get("SERVER_SOFTWARE", "")
    return not (server.startswith("voila/") or "DATABRICKS_RUNTIME_VERSION" in os.environ)
