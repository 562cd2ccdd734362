"""What is saved of a widget's result below its view, for whoever reads the notebook later.

A view is nothing without its kernel, and the HTML that is shown with it stays as it was when the
view was made. So that HTML is an output of its own, in the same cell, where each result takes the
place of the one before; beside a view that lives, the view's style sheet hides it.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from gqlnb.model.render import CLASSES
from gqlnb.notebook.widgets.painting import in_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.display import DisplayHandle

__all__ = ["Kept"]


class Kept:
    """The place below a view; there is none where outputs cannot be changed later."""

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None
        self._lock = Lock()

    def show(self, html: str) -> bool:
        """Make the place, as an output of the cell that runs; return False where there is none."""
        if not in_kernel():
            return False
        from IPython.display import display

        # The same place again, if the view is shown again: both change together.
        again: Any = True if self._handle is None else self._handle.display_id
        made: Any = display(bundle(html), raw=True, display_id=again)  # type: ignore[no-untyped-call]
        self._handle = made
        return True

    def put(self, make: Callable[[], str]) -> None:
        """Put what `make` returns there, from any thread; of two at once the later result stays."""
        if self._handle is None:
            return
        with self._lock:
            self._handle.update(bundle(make()), raw=True)  # type: ignore[no-untyped-call]


def bundle(html: str) -> dict[str, str]:
    """Return an output of HTML; the text is with the view."""
    return {"text/html": f'<div class="gqlnb-kept {CLASSES}">{html}</div>'}
