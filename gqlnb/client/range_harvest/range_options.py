"""The options of a harvest in ranges, and the parts that they create."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gqlnb.client.call_options import CallOptions
from gqlnb.client.range_harvest.harvest_log import LogHeader
from gqlnb.client.range_harvest.range_reader import RangeReader
from gqlnb.client.range_harvest.range_store import ROWS_PER_PART, RangeStore
from gqlnb.client.range_harvest.slices import Slice
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.option_checks import check_whole_number

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from gqlnb.client.paging.crawler import Crawler
    from gqlnb.client.paging.pager import Pager
    from gqlnb.document.document import Document

__all__ = ["RangeOptions", "make_slice", "open_reader", "open_store"]


class RangeOptions(CallOptions, total=False):
    """Keyword arguments of :meth:`gqlnb.Client.harvest`.

    Attributes
    ----------
    operation
        The name of the operation to run; None where there is only one.
    path
        The list, if the query has several.
    page_size
        Rows per page; by default 100, growing.
    part
        Rows per Parquet part; a part may have as many more as a range.
    resume
        Whether to continue the harvest in the folder, or return it if it is finished.
    refresh
        Whether to update a finished harvest.
    token, headers, extensions, timeout
        As for :meth:`gqlnb.Client.execute`.
    """

    operation: str | None
    path: str | None
    page_size: int | None
    part: int
    resume: bool
    refresh: bool


def make_slice(value: object) -> Slice:
    """Return a slice; raise OptionError if it is neither one nor the name of a column."""
    if isinstance(value, Slice):
        return value
    if isinstance(value, str) and value:
        return Slice(column=value)
    shown = sanitize_text(repr(value), 60)
    msg = f"slice= takes a gqlnb.Slice or the name of a column, not {shown}."
    raise OptionError(msg)


def open_reader(
    pager: Pager,
    text: str | Document,
    variables: Mapping[str, Any] | None,
    slice_: Slice,
    options: RangeOptions,
) -> RangeReader:
    """Return a reader for the query of a harvest."""
    path, operation = options.get("path"), options.get("operation")
    objects = {end.partition(".")[0] for end in (slice_.low, slice_.high) if "." in end}

    def start(bound: Mapping[str, Any], limits: Mapping[str, object]) -> Crawler:
        paging = {**limits, "path": path}
        missing = objects - bound.keys()
        if missing:  # an open range sets no member; the object may be required nevertheless
            required = pager.list_required_variables(text, operation)
            bound = {**bound, **{name: {} for name in required if name in missing}}
        return pager.start_crawler(
            text, bound, operation, paging, takes_unpaged=True, examines=False
        )

    return RangeReader(pager, start, variables or {}, slice_, path, options.get("page_size"))


def open_store(
    out: str | os.PathLike[str] | None,
    text: str | Document,
    variables: Mapping[str, Any] | None,
    slice_: Slice,
    source: str,
    options: RangeOptions,
) -> RangeStore:
    """Return the store of a harvest, which is not open yet.

    Raises
    ------
    OptionError
        If an option has no such value.
    """
    part = check_whole_number("part", options.get("part", ROWS_PER_PART), least=1)
    if out is None and options.get("refresh"):
        msg = "refresh=True updates the harvest in a folder: name it with out=."
        raise OptionError(msg)
    # What selects other rows is another harvest. It comes first, as messages cut long queries.
    selected = {"least": slice_.least, "most": slice_.most, "id": slice_.id}
    selected |= {name: options.get(name) for name in ("operation", "path")}
    terms = [f"{name}={value}" for name, value in selected.items() if value is not None]
    query = " ".join([*terms, text if isinstance(text, str) else text.text, repr(slice_)])
    if variables:  # of which the values may be secret
        given = json.dumps({**variables}, default=repr, sort_keys=True)
        query += f" variables {blake2b(given.encode(), digest_size=8).hexdigest()}"
    header = LogHeader(query=query, source=source)
    folder = None if out is None else Path(out).expanduser()
    return RangeStore(folder, header, resume=options.get("resume", True), rows_per_part=part)
