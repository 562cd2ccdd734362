"""``--export-to``: an answer as a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gqlnb.errors import GqlnbError, OptionError, plain
from gqlnb.notebook.shown import counted

if TYPE_CHECKING:
    from gqlnb.model.result import Result

__all__ = ["export", "exportable"]


def exportable(name: str) -> Path:
    """Return the file that an answer is to be written to; checked before anything is asked.

    Raises
    ------
    OptionError
        If its suffix is none that is known, or its folder does not exist.
    """
    path = Path(name).expanduser()
    if path.suffix.lower() not in WRITERS:
        msg = f"--export-to {plain(name, 80)}: its name must end in {', '.join(WRITERS)}."
        raise OptionError(msg)
    if not path.parent.is_dir():
        msg = f"--export-to {plain(name, 80)}: there is no folder {plain(path.parent, 80)!r}."
        raise OptionError(msg)
    return path


def export(result: Result, path: Path, *, strict: bool = True) -> str:
    """Write an answer, or its text, and return what was done as a sentence.

    The file is replaced as a whole, or left as it was.

    Raises
    ------
    OptionError
        If it cannot be written; what came is the error's ``.result``.
    """
    try:
        handle, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            os.close(handle)
            done = WRITERS[path.suffix.lower()](result, Path(made), strict)
            Path(made).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask())
            Path(made).replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(made).unlink()
            raise
    except GqlnbError as error:  # no rows, or more than one list of them
        error.result = result
        raise
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or plain(error, 200)
    else:
        return f"Wrote {done} to {path}."
    msg = f"--export-to {plain(path, 80)}: {reason}."
    raise OptionError(msg, result=result)


def umask() -> int:
    """Return the permissions that new files of this process do not have."""
    current = os.umask(0)
    os.umask(current)
    return current


def csv(result: Result, path: Path, strict: bool) -> str:
    """Write the rows as CSV."""
    frame = result.frame(strict=strict)
    frame.to_csv(path, index=False, lineterminator="\n")
    return counted(len(frame), "row")


def parquet(result: Result, path: Path, strict: bool) -> str:
    """Write the rows as Parquet, with the schema's types."""
    from pyarrow.parquet import write_table

    table = result.arrow(strict=strict)
    write_table(table, path)
    return counted(table.num_rows, "row")


def data(result: Result, path: Path, _strict: bool) -> str:
    """Write the data as JSON."""
    import msgspec

    from gqlnb.wire.json import dump

    path.write_bytes(msgspec.json.format(dump(result.data), indent=2) + b"\n")
    return "the data"


def query(result: Result, path: Path, _strict: bool) -> str:
    """Write the text that was sent."""
    text = result.document.text if result.document is not None else ""
    path.write_text(f"{text.strip()}\n", encoding="utf-8")
    return "the operation"


WRITERS: dict[str, Callable[[Result, Path, bool], Any]] = {
    ".csv": csv,
    ".parquet": parquet,
    ".json": data,
    ".graphql": query,
}
