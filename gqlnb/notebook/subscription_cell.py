"""Cells with answers in parts: subscriptions, ``@defer`` and ``@stream``."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pyarrow.parquet import write_table

from gqlnb.errors import AnswerError, GqlnbError, format_count
from gqlnb.notebook.display import (
    EMPTY_BUNDLE,
    Note,
    OutputUpdater,
    Text,
    add_error_lines,
    is_in_kernel,
    show,
)
from gqlnb.notebook.output_options import export_result, to_json_text
from gqlnb.notebook.widgets.live_frame import LiveFrame
from gqlnb.optional_imports import import_optional
from gqlnb.result.event_frames import build_events_frames, read_events
from gqlnb.result.excel import write_workbook
from gqlnb.result.frames import assemble_frame, build_parquet_table, build_table
from gqlnb.result.renderer import render_bundle

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterable, Iterable, MutableMapping
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from gqlnb.notebook.display import MimeBundle
    from gqlnb.notebook.magic_options import CellSettings
    from gqlnb.result.frames import FrameColumn
    from gqlnb.result.result import Result

LIVE_NAME = "_live"  # like the names that IPython gives to unnamed values
TERMINAL_INTERVAL = 0.2  # seconds between updates of the status line


def follow_subscription(
    stream: Iterable[Result] | AsyncIterable[Result],
    options: Namespace,
    settings: CellSettings,
    kind: str,
    path: Path | None,
    user_ns: MutableMapping[str, object],
) -> tuple[object, str]:
    """Follow a subscription until it ends; an interrupt is a regular end.

    Parameters
    ----------
    stream
        The events.
    options
        The options of the cell.
    settings
        The settings of the notebook.
    kind
        The type of the value that ``--type`` names.
    path
        The file to write the rows to; None for none.
    user_ns
        The names of the notebook, where the live frame is stored.

    Returns
    -------
    (object, str)
        The value, and the number of events for the history. After an error the rows are stored
        under the name of ``--output``, else as ``_live``.

    Raises
    ------
    OptionError
        If a number of rows or events is not valid.
    """
    start, name = perf_counter(), options.output or LIVE_NAME
    live = LiveFrame(stream, rows=settings.live_rows, max_results=options.max_results)
    # Stored before the first event: the rows must survive an interrupt or an error.
    user_ns[name] = live
    lines = []
    try:
        watch_until_end(live, quiet=options.silent)
        live.raise_for_error()
        if settings.partial == "raise":
            for result in live.results:
                result.raise_for_errors()
        value = convert_live_frame(live, kind)
        if path is not None:
            export: Any = _LiveFrameExport(live)
            lines = [export_result(export, path)]
    except Exception as error:
        if live.events:
            if not options.silent:
                show(live)
            # The magic stores the result of an error under --output, where the rows are by now.
            if isinstance(error, GqlnbError):
                error.result = None  # the data of the last event are among the stored rows
                count = format_count(live.events, "event")
                add_error_lines(error, f"{count} received; the rows are kept as {name}.")
        raise
    finally:
        live.stop()
    count = format_count(live.events, "event")
    lines = [] if options.silent else lines
    if options.stats or settings.stats:
        lines.append(f"{perf_counter() - start:.1f} s, {count}")
    if lines:
        show(Note(lines))
    return value, count


def watch_until_end(live: LiveFrame, *, quiet: bool) -> None:
    """Wait for the end and show the rows meanwhile; an interrupt is an end."""
    with suppress(KeyboardInterrupt):
        if quiet:
            live.wait()
        elif is_in_kernel():
            live.show(keep=False, hint="The interrupt button ends it.")
            live.wait()
        else:
            watch_at_terminal(live)


def watch_at_terminal(live: LiveFrame) -> None:
    """Wait for the end and show the progress on one line."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    try:
        while not live.wait(TERMINAL_INTERVAL):
            if is_terminal:
                sys.stderr.write(f"\r\x1b[K{live.status} Ctrl-C ends it.")
                sys.stderr.flush()
    finally:
        # Erase the status line, or the prompt would follow on it.
        if is_terminal:
            sys.stderr.write("\r\x1b[K")


def convert_live_frame(live: LiveFrame, kind: str) -> object:
    """Convert a live frame to the type of value that ``--type`` names."""
    export = _LiveFrameExport(live)
    value: object = live
    match kind:
        case "frame" | "pandas":
            value = export.frame()
        case "frames":
            value = build_events_frames(live.results)
        case "arrow":
            value = export.arrow()
        case "polars":
            polars = import_optional("polars", "polars", "return Polars frames")
            value = polars.from_arrow(export.arrow())
        case "json":
            value = export.data
        case "raw":
            value = Text("\n".join(map(to_json_text, live.results)))
    return value


class _LiveFrameExport:
    """The kept rows of a live frame with the interface of a Result, for conversion and export.

    Parameters
    ----------
    live
        The live frame.
    """

    def __init__(self, live: LiveFrame) -> None:
        self._live = live
        self.document = live.document

    @property
    def data(self) -> list[Any]:
        return [result.data for result in self._live.results]

    def frame(self, *, strict: bool = False) -> pd.DataFrame:  # noqa: ARG002 - never strict
        """Return the rows; values that do not fit their type are unchanged."""
        return self._live.frame

    def _read_columns(self) -> tuple[dict[str, FrameColumn], int, int]:
        """Return the columns of all kept results, their length, and the first row of the frame."""
        columns, numbers = read_events(self._live.results, None, self.document, strict=False)
        return columns, len(numbers), max(0, len(numbers) - len(self._live.frame))

    def arrow(self, *, strict: bool = False) -> pa.Table:  # noqa: ARG002 - never strict
        """Return the rows with the types of ``Result.to_arrow``."""
        columns, _, first = self._read_columns()
        return build_table(columns).slice(first)

    def to_csv(self, file: Path, *, strict: bool = False, **options: str) -> None:  # noqa: ARG002 - never strict
        """Write the rows as ``Result.to_csv`` does."""
        columns, count, first = self._read_columns()
        texts = {name: column.to_text_array() for name, column in columns.items()}
        frame: Any = assemble_frame(texts, count).iloc[first:]
        frame.to_csv(file, index=False, **options)

    def to_parquet(self, file: Path, *, strict: bool = False) -> None:
        """Write the rows as ``Result.to_parquet`` does."""
        write_table(build_parquet_table(self.arrow(strict=strict), self._live.frame.attrs), file)

    def to_excel(self, file: Path, *, strict: bool = False) -> None:
        """Write the rows as the only sheet of a workbook."""
        write_workbook(self.tables(strict=strict), file)

    def tables(self, *, strict: bool = False, quiet: bool = False) -> dict[str, pd.DataFrame]:  # noqa: ARG002 - as of a Result
        """Return the rows by the name of their sheet."""
        return {"events": self._live.frame}


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
    last: Result | None = None
    count, finished = 0, Event()

    def build_bundle(hint: str) -> MimeBundle:
        if last is None:
            return EMPTY_BUNDLE
        note = Note([f"{format_count(count, 'part')} received. {hint}"])
        bundle, _ = render_bundle(last)
        return {
            "text/plain": f"{note!r}\n{bundle['text/plain']}",
            "text/html": f"{note._repr_html_()}{bundle['text/html']}",
        }

    updater = OutputUpdater(build_bundle, lambda: count, finished)
    if not quiet and is_in_kernel():
        updater.show(keep=False, hint="More parts follow; the interrupt button ends it.")
    try:
        for result in stream:
            last, count = result, count + 1
            updater.news.set()
    finally:
        finished.set()
        updater.news.set()
        updater.wait()
    if last is None:
        msg = "The answer ended before its first part."
        raise AnswerError(msg)
    return last
