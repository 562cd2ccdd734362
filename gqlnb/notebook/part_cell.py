"""A cell with ``@defer`` or ``@stream``: the answer is shown while its parts arrive."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from gqlnb.errors import AnswerError, format_count
from gqlnb.notebook.display import Note
from gqlnb.notebook.widgets.live_output import EMPTY_BUNDLE, OutputUpdater, is_in_kernel
from gqlnb.result.renderer import render_bundle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gqlnb.notebook.widgets.live_output import MimeBundle
    from gqlnb.result.result import Result

__all__ = ["follow_parts"]


class LivePart:
    """The answer so far, as an output."""

    def __init__(self) -> None:
        self.count = 0
        self.result: Result | None = None

    def build_bundle(self, hint: str) -> MimeBundle:
        """Return the answer so far, with the number of its parts above it."""
        if self.result is None:
            return EMPTY_BUNDLE
        note = Note([f"{format_count(self.count, 'part')} received. {hint}"])
        shown, _ = render_bundle(self.result)
        return {
            "text/plain": f"{note!r}\n{shown['text/plain']}",
            "text/html": f"{note._repr_html_()}{shown['text/html']}",
        }


def follow_parts(stream: Iterable[Result], *, quiet: bool) -> Result:
    """Return the last result of an answer in parts.

    In a notebook the results before it are shown meanwhile, in an output that is cleared at the
    end.

    Parameters
    ----------
    stream
        A result for each part, with all parts so far.
    quiet
        Whether nothing is shown.

    Raises
    ------
    AnswerError
        If there was no part.
    """
    live, finished = LivePart(), Event()
    updater = OutputUpdater(live.build_bundle, lambda: live.count, finished)
    if not quiet and is_in_kernel():
        updater.show(keep=False, hint="More parts follow; the interrupt button ends it.")
    try:
        for result in stream:
            live.result, live.count = result, live.count + 1
            updater.news.set()
    finally:
        finished.set()
        updater.news.set()
        updater.wait()
    if live.result is None:
        msg = "The answer ended before its first part."
        raise AnswerError(msg)
    return live.result
