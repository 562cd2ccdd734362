"""``gqlnb scrub``: take tokens out of files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gqlnb.client.recording.scrubber import ScrubReport, scrub

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["scrub_paths"]


def scrub_paths(paths: Sequence[Path], *, dry_run: bool) -> int:
    """Remove the tokens from files and folders, and say which there were.

    Parameters
    ----------
    paths
        What to search.
    dry_run
        Whether to change nothing.

    Returns
    -------
    int
        1 if there are tokens and they were left, else 0.

    Raises
    ------
    GqlnbError, OSError
        If a file cannot be read or written.
    """
    done = [scrub(path, dry_run=dry_run) for path in paths]
    findings = tuple(finding for one in done for finding in one)
    whole = ScrubReport(findings, sum(one.files for one in done), dry_run)
    sys.stdout.write(f"{whole!r}\n")
    return 1 if dry_run and findings else 0
