"""Something shown in a notebook that changes in place until its end, without a comm."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from gqlnb.result.renderer import HTML_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.display import DisplayHandle

__all__ = ["MimeBundle", "OutputUpdater", "SavedOutput", "is_in_kernel"]

MimeBundle = dict[str, str]
EMPTY_BUNDLE = {"text/plain": "", "text/html": ""}
SECONDS_BETWEEN = 0.1  # two changes; ten a second look smooth
SECONDS_BETWEEN_LOOKS = 1.0  # where nothing says that something has changed
SECONDS_TO_END = 5.0


class OutputUpdater:
    """Paints what is shown, in a thread: neither a running cell nor what is painted waits.

    Parameters
    ----------
    bundle
        Returns what to show, with a hint that holds while it lives.
    state
        Returns what differs where there is something new to show.
    over
        Set at the end; what is painted then stays.
    """

    def __init__(
        self, bundle: Callable[[str], MimeBundle], state: Callable[[], Any], over: Event
    ) -> None:
        self.news = Event()
        self._bundle, self._state, self._finished = bundle, state, over
        self._lock = Lock()
        self._shown: list[tuple[Callable[[MimeBundle], None], bool, str]] = []
        self._thread: Thread | None = None

    def show(self, *, keep: bool, hint: str) -> None:
        """Show it here; parameters as for :meth:`gqlnb.LiveFrame.show`."""
        from IPython.display import display

        # What is left must be what came first, or a test that compares outputs finds another one.
        first = self._bundle(hint) if keep else EMPTY_BUNDLE
        handle: Any = display(first, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        if handle is None:  # there is nobody to show it to
            return
        with self._lock:
            self._shown.append((partial(handle.update, raw=True), keep, hint))
            self.news.set()
            if self._thread is None:
                self._thread = Thread(
                    target=self._update_outputs, name="gqlnb-painter", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Wait until what is shown is how it ended."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(SECONDS_TO_END)

    def _update_outputs(self) -> None:
        seen: Any = None
        while not self._finished.is_set():
            self.news.wait(SECONDS_BETWEEN_LOOKS)
            self.news.clear()
            shown = list(self._shown)
            state = self._state(), len(shown)
            for update, _, hint in shown if state != seen else []:
                update(self._bundle(hint))
            seen = state
            self._finished.wait(SECONDS_BETWEEN)
        last = self._bundle("")
        with self._lock:
            for update, keep, _ in self._shown:
                update(last if keep else EMPTY_BUNDLE)
            self._shown.clear()
            self._thread = None


def is_in_kernel() -> bool:
    """Tell whether what is shown can be changed later: in a notebook, not in a terminal."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


class SavedOutput:
    """The place below a view; there is none where outputs cannot be changed later."""

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None
        self._lock = Lock()

    def show(self, html: str) -> bool:
        """Make the place, as an output of the cell that runs; return False where there is none."""
        if not is_in_kernel():
            return False
        from IPython.display import display

        # The same place again, if the view is shown again: both change together.
        again: Any = True if self._handle is None else self._handle.display_id
        made: Any = display(build_html_bundle(html), raw=True, display_id=again)  # type: ignore[no-untyped-call]
        self._handle = made
        return True

    def put(self, make: Callable[[], str]) -> None:
        """Put what `make` returns there, from any thread; of two at once the later result stays."""
        if self._handle is None:
            return
        with self._lock:
            self._handle.update(build_html_bundle(make()), raw=True)  # type: ignore[no-untyped-call]


def build_html_bundle(html: str) -> dict[str, str]:
    """Return an output of HTML; the text is with the view."""
    return {"text/html": f'<div class="gqlnb-kept {HTML_CLASSES}">{html}</div>'}
