"""The notebook cell that is being executed, found on the call stack."""

from __future__ import annotations

from inspect import currentframe
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["CellRun", "find_calling_cell"]

# The function in which IPython executes the code of a cell.
_RUN_CODE = ("IPython.core.interactiveshell", "run_code")


class CellRun(NamedTuple):
    """One execution of one cell.

    Attributes
    ----------
    cell_id
        The same for each execution of a cell: the id of JupyterLab; without one, IPython's name
        for the text of the cell.
    run_id
        Different for each execution.
    """

    cell_id: str
    run_id: str

    def is_rerun_of(self, other: CellRun | None) -> bool:
        """Return whether `other` is another execution of the same cell."""
        return other is not None and other.cell_id == self.cell_id and other.run_id != self.run_id


def find_calling_cell() -> CellRun | None:
    """Return the cell that makes this call; None in scripts and in other threads.

    Notes
    -----
    It looks for IPython's own frame: a function called by a cell may be defined in any module.
    """
    found, frame = None, currentframe()
    while frame is not None:
        if frame.f_back is not None and _is_run_code_frame(frame.f_back):
            found = frame  # the outermost frame is the visible cell
        frame = frame.f_back
    if found is None or found.f_back is None:
        return None
    shell = found.f_back.f_locals.get("self")
    message = _get_execute_request(shell)
    name = message.get("metadata", {}).get("cellId") or found.f_code.co_filename
    run = message.get("header", {}).get("msg_id") or getattr(shell, "execution_count", 0)
    return CellRun(str(name), str(run))


def _is_run_code_frame(frame: FrameType) -> bool:
    return (frame.f_globals.get("__name__"), frame.f_code.co_name) == _RUN_CODE


def _get_execute_request(shell: object) -> dict[str, Any]:
    """Return the front end's execute_request for the cell; empty without one."""
    get = getattr(shell, "get_parent", None)
    message = get() if callable(get) else None
    return message if isinstance(message, dict) else {}
