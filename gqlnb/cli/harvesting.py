"""``gqlnb stars --all``: everything above a threshold, printed or into a folder."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gqlnb.cli.asking import asked, shown
from gqlnb.errors import OptionError
from gqlnb.github.expressions import typed
from gqlnb.github.harvesting.running import AGAIN, harvest

if TYPE_CHECKING:
    from pathlib import Path

    from gqlnb.github.harvesting.running import Harvest

__all__ = ["INCOMPLETE", "run"]

INCOMPLETE = 3
Who = tuple[str, str | None, Mapping[str, str]]


def run(
    threshold: str,
    *,
    client: Who,
    form: str | None,
    parquet: Path | None,
    folder: bool,
    dry_run: bool,
    resume: bool,
) -> int:
    """Fetch everything, and print it or write it; what to know about it goes to stderr.

    Parameters
    ----------
    threshold
        A number N means ``>N``; else as for :func:`gqlnb.github.harvest`.
    client
        What to ask: connection or address, and where its token and headers are.
    form, parquet
        As for :func:`gqlnb.cli.asking.stars`.
    folder
        Whether `parquet` is a folder of parts.
    dry_run
        Whether to say how much it would take, and no more.
    resume
        Whether to go on with what is in the folder.

    Returns
    -------
    int
        0; or 3 if some could not be had.

    Raises
    ------
    GqlnbError
        If an argument is wrong, or a request fails.
    OSError
        If nothing can be written.
    """
    out = parquet if folder else None
    query = typed(threshold)
    if out is None and not resume:
        msg = "--anew is for a folder: give --all --parquet FOLDER."
        raise OptionError(msg)
    with asked(*client) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the same sentences are told below
        if dry_run:
            sys.stdout.write(f"{harvest(query, client=opened, dry_run=True)!r}\n")
            return 0
        try:
            made = harvest(query, client=opened, out=out, resume=resume)
        except KeyboardInterrupt:
            if out is not None:
                sys.stderr.write(f"gqlnb: {AGAIN}\n")
            raise
    return _told(made, form, parquet)


def _told(made: Harvest, form: str | None, parquet: Path | None) -> int:
    """Print a harvest, or say where it is."""
    if made.folder is not None:
        sys.stdout.write(f"{made!r}\n")
        return 0 if made.complete else INCOMPLETE
    frame = made.frame()
    attrs = frame.attrs
    frame = frame[["name", "owner", "stargazers"]]
    frame.attrs = attrs
    shown(frame, form, parquet)
    return 0 if made.complete else INCOMPLETE
