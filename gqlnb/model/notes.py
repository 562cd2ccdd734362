"""What a person should know of a frame that the frame does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["guessed", "partial", "renumbered"]

_sources: set[str | None] = set()  # where answers without a schema came from, each said once


def partial(count: str, said: set[str | None]) -> Iterator[str]:
    """Yield that errors came with the data, unless it was said of this answer."""
    if None not in said:
        said.add(None)
        yield f"The answer is partial: {count}. See result.errors_frame()."


def renumbered(names: Collection[str], said: set[str | None]) -> Iterator[str]:
    """Yield of each frame whose ids can't be keys that its rows' numbers are, once an answer."""
    for name in sorted(set(names) - said):
        said.add(name)
        key = name.rpartition(".")[2]
        yield (
            f"Ids in a list of {name!r} repeat or are missing, so what is in its rows has "
            f"the row, {f'{key}_index'!r}, as key instead of {f'{key}.id'!r}."
        )


def guessed(source: str | None) -> Iterator[str]:
    """Yield that dtypes are inferred, once for each source."""
    if source not in _sources:
        _sources.add(source)
        yield (
            f"No schema is known for {source or 'this answer'}: the dtypes of its frames "
            "are inferred from the values. A client knows it once client.schema was asked "
            "for, or from Client(..., schema=); Result.from_bytes from its document."
        )
