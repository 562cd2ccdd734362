"""Files that are replaced in one step: who reads one finds it as it was, or as it is now."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes, *, keep_mode: bool) -> None:
    """Put bytes in the place of a file, at once or not at all.

    Parameters
    ----------
    path
        The file; a link is replaced itself, so resolve it first to keep it.
    data
        What it is to hold.
    keep_mode
        Whether to keep the permissions it has; else its owner alone may read it.

    Raises
    ------
    OSError
        If it cannot be written; it is then as it was.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # of mode 600
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if keep_mode:
            shutil.copymode(path, made)
        made.replace(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise
