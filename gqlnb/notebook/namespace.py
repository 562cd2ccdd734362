"""The names that a magic sees: those of the notebook, and of the function that calls it."""

from __future__ import annotations

import sys
from collections import ChainMap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from types import FrameType

__all__ = ["build_evaluation_names", "collect_visible_names"]

# Until Python 3.12 a comprehension is a function of its own, called by the one that it stands in.
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
CALLERS = frozenset({"run_line_magic", "run_cell_magic"})


def collect_visible_names(
    user_ns: dict[str, Any], local_ns: Mapping[str, Any] | None
) -> MutableMapping[str, Any]:
    """Return the names that the caller of a magic sees; its locals go before the notebook's.

    Parameters
    ----------
    user_ns
        The names of the notebook.
    local_ns
        What IPython gives a magic with ``needs_local_scope``: the locals of the function that
        called a line magic. For a cell magic that is always `user_ns`, so the frame is looked up
        here.
    """
    frame = find_calling_frame()
    scopes: list[dict[str, Any]] = []
    while frame is not None:
        found = frame.f_locals
        if found is user_ns or frame.f_code.co_name == "<module>":
            break
        scopes.append(dict(found))
        if frame.f_code.co_name not in COMPREHENSIONS:
            break
        frame = frame.f_back
    if not scopes and local_ns is not None and local_ns is not user_ns:
        scopes.append(dict(local_ns))
    return ChainMap(*scopes, user_ns) if scopes else user_ns


def find_calling_frame() -> FrameType | None:
    """Return the frame that asked IPython to run the magic; None if it was called directly."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as IPython itself does it
    while frame is not None and frame.f_code.co_name not in CALLERS:
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name in CALLERS:  # a shell may override them
        frame = frame.f_back
    return frame


def build_evaluation_names(
    global_ns: dict[str, Any], names: MutableMapping[str, Any]
) -> tuple[dict[str, Any], MutableMapping[str, Any]]:
    """Return the globals and locals to evaluate an expression with.

    Within a function both are one dict: a comprehension in the expression sees globals alone.
    """
    if not isinstance(names, ChainMap):
        return global_ns, names
    merged = {**global_ns, **names}
    return merged, merged
