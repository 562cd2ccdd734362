"""Frames of the package as the value of a cell: shown like the table of a result.

IPython asks its formatters how to show a DataFrame, so the frame itself remains one of pandas.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gqlnb.config import load_project_settings
from gqlnb.result.renderer import HTML_CLASSES, build_caption, build_grid, render_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.lib.pretty import RepresentationPrinter

CLASSES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")  # of pandas 3, and 2
FRAMES_ATTRIBUTE = "_gqlnb_frames"  # the attribute of the shell that holds a FrameDisplay
PANDAS_ROWS = 60  # the default of its option display.max_rows
TABLE, PANDAS = "table", "pandas"  # the setting `frames`


class FrameDisplay:
    """The formatters of DataFrames in a shell.

    Parameters
    ----------
    shell
        The shell.
    is_on
        Returns whether frames of the package are shown as tables.
    """

    def __init__(self, shell: InteractiveShell, is_on: Callable[[], bool]) -> None:
        self._is_on = is_on
        self._formatters: Any = shell.display_formatter.formatters  # type: ignore[union-attr]
        self._forms = {"text/plain": self.print_frame, "text/html": self.render_frame}

    def install(self) -> None:
        """Register the formatters, unless another library formats DataFrames."""
        for mime, form in self._forms.items():
            for name in CLASSES:
                before = self._formatters[mime].for_type(name)
                if before is None or isinstance(getattr(before, "__self__", None), FrameDisplay):
                    self._formatters[mime].for_type(name, form)

    def uninstall(self) -> None:
        """Remove the formatters that are still registered."""
        for mime, form in self._forms.items():
            for name in CLASSES:
                if self._formatters[mime].for_type(name) == form:
                    self._formatters[mime].pop(name)

    def print_frame(self, frame: pd.DataFrame, printer: RepresentationPrinter, _: object) -> None:
        """Print a frame; within a list or dict as pandas does."""
        is_alone = len(printer.stack) == 1
        shown = is_alone and self._is_on() and is_table(frame)
        lines = (render_frame_text(frame) if shown else repr(frame)).splitlines()
        with printer.group():
            for number, line in enumerate(lines):
                if number:
                    printer.break_()  # type: ignore[no-untyped-call]
                printer.text(line)  # type: ignore[no-untyped-call]

    def render_frame(self, frame: pd.DataFrame) -> str | None:
        """Render a frame as HTML; None if pandas is set to show text only."""
        html: str | None = frame._repr_html_()  # type: ignore[operator]
        if html is None or not (self._is_on() and is_table(frame)):
            return html
        return f'<div class="{HTML_CLASSES}">{render_frame(frame)}</div>'


def register_frame_display() -> None:
    """Show the frames of this package as tables in the running shell, if there is one.

    ``frames = "pandas"`` in ``[tool.gqlnb]`` of ``pyproject.toml`` leaves them to pandas. After
    ``%load_ext gqlnb`` the setting ``GraphQLMagic.frames`` decides.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or hasattr(shell, FRAMES_ATTRIBUTE):
        return

    settings = load_project_settings()
    choice = TABLE if settings is None else settings.values.get("frames", TABLE)
    frames = FrameDisplay(shell, lambda: choice != PANDAS)
    frames.install()
    setattr(shell, FRAMES_ATTRIBUTE, frames)


def is_table(frame: pd.DataFrame) -> bool:
    """Return whether a frame has rows of this package, and no labels that its table would lack."""
    import pandas as pd

    index, columns = frame.index, frame.columns
    is_plain = index.inferred_type == "integer" and index.name is None and columns.nlevels == 1
    # Who chooses a number of rows in pandas wants to see as many.
    is_usual = pd.get_option("display.max_rows") == PANDAS_ROWS
    is_ours = {"source", "partial"} <= frame.attrs.keys()
    return is_ours and is_plain and is_usual and columns.name is None and len(columns) > 0


def render_frame_text(frame: pd.DataFrame) -> str:
    """Return a frame as text, with its caption."""
    return f"{build_grid(frame).to_text()}\n{build_caption(frame)}"
