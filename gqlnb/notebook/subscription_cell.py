"""A cell with a subscription: followed to its end, or until the interrupt button is pressed."""

from __future__ import annotations

import sys
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, OptionError
from gqlnb.notebook.cell_errors import add_error_lines
from gqlnb.notebook.display import Note, Text, format_count, show, to_json_text
from gqlnb.notebook.output_options import export_result
from gqlnb.notebook.widgets.live_frame import LiveFrame
from gqlnb.notebook.widgets.live_output import is_in_kernel
from gqlnb.result.event_frames import build_events_frames

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from gqlnb.notebook.cell_runner import CellRunner

__all__ = ["LIVE_NAME", "follow_subscription"]

LIVE_NAME = "_live"  # as IPython keeps what it was not told to keep
SECONDS_BETWEEN_UPDATES = 0.2  # between two looks at a terminal


def follow_subscription(run: CellRunner, given: Mapping[str, Any], path: Path | None) -> Any:
    """Follow a subscription, and return the value of its cell.

    An interrupt is its usual end, so it is none of the cell's errors.

    Parameters
    ----------
    run
        The run of the cell.
    given
        The variables.
    path
        The file to write to at the end; None for none.

    Raises
    ------
    OptionError
        If an option is about one answer.
    GqlnbError
        If it fails; the rows that came are kept under the name of ``--output``, else ``_live``.
    """
    options = run.options
    if options.profile:
        msg = "--profile measures one execution, so it takes no subscription."
        raise OptionError(msg)
    name, quiet = options.output or LIVE_NAME, options.silent
    begun = perf_counter()
    stream = run.target.client.subscribe(run.full_text, given, operation=options.operation)
    live = LiveFrame(stream, rows=run.magic.live_rows, max_results=options.max_results)
    run.magic.shell.user_ns[name] = live
    try:
        watch_until_end(live, quiet=quiet)
        live.raise_for_error()
        if run.magic.partial == "raise":
            for result in live.results:
                result.raise_for_errors()
        value = convert_live_frame(live, run.kind)
        said = [] if path is None else export_rows(live, path, quiet=quiet)
    except Exception as error:
        run.record_history(type(error).__name__)
        report_failure(live, error, name, quiet=quiet)
        raise
    finally:
        live.stop()  # whatever it was that ended the wait
    count = format_count(live.events, "event")
    run.record_history(count)
    if options.stats or run.magic.stats:
        said.append(f"{perf_counter() - begun:.1f} s, {count}")
    if said:
        show(Note(said))
    return value


def report_failure(live: LiveFrame, error: Exception, name: str, *, quiet: bool) -> None:
    """Show what came before an error, and let that say where it is kept."""
    if not live.events:
        return
    if not quiet:
        show(live)
    if isinstance(error, GqlnbError):
        error.result = None  # what an event brought is among the rows, under their name
        count = format_count(live.events, "event")
        add_error_lines(error, f"{count} came; the rows are kept as {name}.")


def export_rows(live: LiveFrame, path: Path, *, quiet: bool) -> list[str]:
    """Write what is kept to a file, and return what to say of it."""
    rows: Any = LiveFrameExport(live)
    said = export_result(rows, path)
    return [] if quiet else [said]


def watch_until_end(live: LiveFrame, *, quiet: bool) -> None:
    """Wait for the end, and show meanwhile what comes; an interrupt is an end."""
    with suppress(KeyboardInterrupt):
        if quiet:
            live.wait()
        elif is_in_kernel():
            live.show(keep=False, hint="The interrupt button ends it.")
            live.wait()
        else:
            watch_at_terminal(live)


def watch_at_terminal(live: LiveFrame) -> None:
    """Wait for the end, and say on one line how far it is."""
    seen = sys.stderr is not None and sys.stderr.isatty()
    try:
        while not live.wait(SECONDS_BETWEEN_UPDATES):
            if seen:
                sys.stderr.write(f"\r\x1b[K{live.status} Ctrl-C ends it.")
                sys.stderr.flush()
    finally:
        if seen:
            sys.stderr.write("\r\x1b[K")


def convert_live_frame(live: LiveFrame, kind: str) -> Any:
    """Return a live frame as the kind of value that ``--type`` names."""
    match kind:
        case "frame":
            return live.frame
        case "frames":
            return build_events_frames(live.results)
        case "arrow":
            return LiveFrameExport(live).arrow()
        case "json":
            return LiveFrameExport(live).data
        case "raw":
            return Text("\n".join(map(to_json_text, live.results)))
    return live


class LiveFrameExport:
    """The rows that a live frame has kept, as what is written of an answer.

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
        """The data of each event."""
        return [result.data for result in self._live.results]

    def frame(self, *, strict: bool = False) -> pd.DataFrame:  # noqa: ARG002 - never strict
        """Return the rows; values that do not fit are as they came."""
        return self._live.frame

    def arrow(self, *, strict: bool = False) -> pa.Table:  # noqa: ARG002 - never strict
        """Return the rows as an Arrow table; values that do not fit are as they came."""
        import pyarrow as pa

        return pa.Table.from_pandas(self._live.frame, preserve_index=False)
