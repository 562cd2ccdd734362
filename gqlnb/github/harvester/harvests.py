"""The public harvest functions: all repositories above a star count, into a folder or a frame."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypedDict, Unpack, overload

import msgspec

from gqlnb.client.progress import Progress
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.github.builtin_connections import DEMO, open_client
from gqlnb.github.harvester.estimate import Estimate, estimate_harvest, narrow_scope
from gqlnb.github.harvester.parquet_parts import build_repository_frame
from gqlnb.github.harvester.query_range import Scope
from gqlnb.github.harvester.requests import PortableClient
from gqlnb.github.harvester.runner import HarvestRunner
from gqlnb.github.harvester.search_windows import Coverage
from gqlnb.github.harvester.state_machine import Sweep
from gqlnb.github.harvester.storage import ROWS_PER_PART, FolderStorage, LogHeader, MemoryStorage
from gqlnb.github.option_checks import check_whole_number
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import pyarrow as pa

    from gqlnb.client.client import Client
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.http.rate_limit_rules import Budget

    RowsCallback = Callable[[int, int, int], object]

__all__ = ["Harvest", "harvest", "harvest_frame"]

DEFAULT_WIDTH = 16  # requests at once, if the executor does not say how many workers it has
RESUME_HINT = "The rows so far are kept: run the same call again to continue."


class HarvestOptions(TypedDict, total=False):
    """Keyword arguments of :func:`harvest`.

    Attributes
    ----------
    width
        Most requests at once; by default the number of the executor's workers if it says so, and
        one without an executor.
    part
        Number of rows per part; a part may have up to a thousand more.
    """

    width: int
    part: int


@dataclass(frozen=True, slots=True)
class Harvest:
    """The rows of a harvest, with a report on their completeness.

    Attributes
    ----------
    query
        Search expression.
    source
        Address of the endpoint.
    coverage
        Number of repositories expected and found, duplicates, gaps, pages with their lower bound.
    requests
        Number of requests sent.
    folder
        Folder of the Parquet parts; None if the rows are in memory.
    notes
        Events during the harvest, as sentences.

    Examples
    --------
    >>> harvest = gqlnb.github.harvest(">20000", progress=False)
    >>> harvest.complete, len(harvest), harvest.coverage.expected
    (True, 1067, 1067)
    """

    query: str
    source: str
    coverage: Coverage
    requests: int
    folder: Path | None
    notes: tuple[str, ...]
    _storage: MemoryStorage = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether all repositories came, as far as counts and results can prove it."""
        return self.coverage.complete

    def __len__(self) -> int:
        return self._storage.rows

    def arrow(self) -> pa.Table:
        """Return all rows as an Arrow table, in the order in which they came."""
        return self._storage.load_table()

    def frame(self) -> pd.DataFrame:
        """Return all rows as a DataFrame, most stars first; it must fit into memory.

        Returns
        -------
        DataFrame
            Columns ``name``, ``owner`` (string), ``stargazers`` (Int64), ``created_at`` (in UTC)
            and ``id`` (string). ``attrs`` as of :func:`gqlnb.stars`.
        """
        frame = build_repository_frame(self.arrow())
        frame.attrs |= {
            "total_count": self.coverage.expected,
            "source": self.source,
            "query": self.query,
            "notes": self._list_warnings(),
            "coverage": encode_coverage(self.coverage),
        }
        return frame

    def _list_warnings(self) -> list[str]:
        gaps = self.coverage.gaps
        found = [
            f"{gap.text!r} is not complete: expected {gap.expected:,}, got {gap.got:,}: {gap.why}"
            for gap in gaps[:3]
        ]
        if len(gaps) > 3:
            found.append(f"{len(gaps) - 3:,} more ranges are not complete; see coverage.gaps.")
        return found

    def __repr__(self) -> str:
        report = self.coverage
        state = "complete" if self.complete else "not complete"
        lines = [
            f"{len(self):,} repositories of {self.query!r}, {state}",
            f"  expected {report.expected or 0:,} at the beginning, got {report.got:,}; "
            f"{report.duplicates + report.moved:,} came twice",
            f"  {report.requests:,} pages for at least {report.bound:,} "
            f"({report.requests / max(1, report.bound):.2f}), in {self.requests:,} requests; "
            f"{report.windows:,} searches, {report.splits:,} splits, "
            f"{report.repairs:,} asked again",
            f"  from {self.source}",
        ]
        lines += [f"  {warning}" for warning in self._list_warnings()]
        if self.folder is not None:
            lines.append(f"  in {self.folder}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *rest = map(escape, repr(self).split("\n"))
        return f"<strong>{first}</strong><br>{'<br>'.join(rest)}"


def encode_coverage(coverage: Coverage) -> dict[str, Any]:
    """Return a coverage as JSON values."""
    # Through JSON, as msgspec.to_builtins() leaves tuples, which DataFrame.attrs should not hold.
    values: dict[str, Any] = msgspec.json.decode(dump_valid_json(coverage))
    return values | {"complete": coverage.complete}


@overload
def harvest(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: bool | str | ProgressCallback = "auto",
    dry_run: Literal[False] = False,
    resume: bool = True,
    **options: Unpack[HarvestOptions],
) -> Harvest: ...


@overload
def harvest(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: bool | str | ProgressCallback = "auto",
    dry_run: Literal[True],
    resume: bool = True,
    **options: Unpack[HarvestOptions],
) -> Estimate: ...


def harvest(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: bool | str | ProgressCallback = "auto",
    dry_run: bool = False,
    resume: bool = True,
    **options: Unpack[HarvestOptions],
) -> Harvest | Estimate:
    """Fetch every repository above a number of stars, past the 1,000 results of a search.

    Parameters
    ----------
    query
        The star threshold, as for :func:`gqlnb.stars`; or a search expression with further
        qualifiers, such as ``"stars:>100 language:python"``.
    client
        The name of a connection, a client, or any target of :class:`gqlnb.Client`.
    out
        Folder for the rows, as Parquet parts with a log beside them. An interrupted harvest is
        continued there when the same call is made again. None keeps the rows in memory.
    executor
        Executor that runs several searches at once: a pool of threads or processes, or
        ``dask.distributed.Client(...).get_executor()``. Other processes create the client again,
        so its secrets must be given by source, such as ``token="env:NAME"``. An endpoint that
        accepts only one request at a time, such as GitHub, gets one at a time anyway.
    progress
        As for :meth:`gqlnb.Client.pages`.
    dry_run
        Whether to request only the count, and return an estimate of the cost.
    resume
        Whether to continue the same harvest in `out`, or return it if it is finished; False
        removes it first.
    **options
        ``width``, the most requests at once, with or without an executor; ``part``, the number of
        rows per part.

    Returns
    -------
    Harvest
        With ``coverage``, ``frame()`` and ``complete``; an :class:`Estimate` for a dry run.

    Raises
    ------
    QueryError
        If the query cannot be parsed, or the endpoint is not GitHub-shaped.
    OptionError
        If `out` contains other data, `executor` is not an executor, or an option is invalid.
    TargetError
        If the client cannot be created in the executor's processes.
    GqlnbError
        If a request fails for good. The rows so far are in `out`, or without it in the error's
        ``.result``.

    Warns
    -----
    UserWarning
        If a range could not be completed.

    Examples
    --------
    >>> found = harvest(">20000")
    >>> found.complete, len(found), found.coverage.requests
    (True, 1067, 11)
    """
    scope = Scope.parse(query)
    for name in options:
        if name not in ("width", "part"):
            msg = (
                f"There is no option {sanitize_text(name, 40)}=. A harvest takes width= and part=."
            )
            raise OptionError(msg)
    checked = {name: check_whole_number(name, value, least=1) for name, value in options.items()}
    width = _choose_width(executor, checked.get("width"))
    with open_client(client) as opened:
        if dry_run:
            return estimate_harvest(opened, scope, width)
        storage = MemoryStorage()
        if out is not None:
            header = LogHeader(query=scope.format_expression(order=""), source=opened.source)
            rows_per_part = checked.get("part", ROWS_PER_PART)
            folder = Path(out).expanduser()
            storage = FolderStorage(folder, header, resume=resume, part=rows_per_part)
        with Progress(progress, "Harvest") as bar:
            harvested = _run_harvest(scope, opened, storage, executor, width, bar)
    for warning in harvested._list_warnings():  # noqa: SLF001 - of the class above
        warnings.warn(warning, stacklevel=2)
    return harvested


def harvest_frame(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    on_progress: RowsCallback | None = None,
    executor: Executor | None = None,
    most: int | None = None,
    rising: bool = False,
) -> pd.DataFrame:
    """Return all repositories above a star count as a DataFrame, without warnings.

    Parameters
    ----------
    query, client, executor
        As for :func:`harvest`.
    on_progress
        Called after each answer as ``on_progress(got, wanted, total)``: rows so far, rows
        expected, repositories that match. If it returns False the harvest stops, and the rows so
        far are returned. None shows a progress bar in a notebook or terminal, as :func:`harvest`.
    most
        Most rows to return; None for all.
    rising
        Whether the fewest stars come first; by default the most.

    Returns
    -------
    DataFrame
        As of :meth:`Harvest.frame`.

    Raises
    ------
    QueryError, OptionError, TargetError, GqlnbError
        As for :func:`harvest`.
    """
    scope, total = Scope.parse(query), None
    width = _choose_width(executor, None)
    with open_client(client) as opened:
        if most is not None:
            scope, total = narrow_scope(opened, scope, most, rising=rising)

        def watch(got: int, expected: int | None, requests: int, budget: Budget | None) -> object:
            matching = max(got, expected or 0) if total is None else total
            wanted = matching if most is None else min(most, matching)
            bar(min(got, wanted), wanted, requests, budget)
            return on_progress(min(got, wanted), wanted, matching) if on_progress else None

        with Progress("auto" if on_progress is None else False, "Harvest") as bar:
            frame = _run_harvest(scope, opened, MemoryStorage(), executor, width, watch).frame()
    attrs = frame.attrs if total is None else {**frame.attrs, "total_count": total}
    if rising:
        frame = frame.iloc[::-1]
    frame = frame.head(most if most is not None else len(frame)).reset_index(drop=True)
    frame.attrs = attrs  # pandas may drop or copy them above
    return frame


def _choose_width(executor: object, width: int | None) -> int:
    """Return the most requests at once; raise OptionError if `executor` is not an executor."""
    if executor is None:
        return width or 1
    if isinstance(executor, Executor):
        workers = getattr(executor, "_max_workers", None)  # of the pools in the standard library
        return width or (workers if isinstance(workers, int) else DEFAULT_WIDTH)
    hint = "a pool of threads, as ThreadPoolExecutor(4)"
    if hasattr(executor, "get_executor"):  # a Dask client, recognized without importing Dask
        hint = "that client's get_executor()"
    kind = repr(executor) if isinstance(executor, type) else type(executor).__name__
    kind = sanitize_text(kind, 60)
    msg = f"executor= takes an executor of concurrent.futures, not {kind}. Give {hint}."
    raise OptionError(msg)


def _run_harvest(
    scope: Scope,
    client: Client,
    storage: MemoryStorage,
    executor: Executor | None,
    width: int,
    watch: ProgressCallback,
) -> Harvest:
    is_remote = type(executor).__module__.partition(".")[0] == "distributed"
    if is_remote or isinstance(executor, ProcessPoolExecutor):
        client.make_recipe()  # raises TargetError if other processes cannot create the client
    notes: list[str] = []
    with storage:
        sweep = storage.restore_sweep(Sweep(scope, width=width))
        if storage.ended is None:
            runner = HarvestRunner(sweep, storage, PortableClient(client), executor, width, watch)
            try:
                runner.run()
            except GqlnbError as error:
                _attach_rows(error, storage, client)
                raise
            storage.remove_repeated_rows()
            coverage = sweep.build_coverage().with_row_count(storage.rows)
            storage.finish_harvest(encode_coverage(coverage))
            notes = runner.notes
            if runner.wasted_pages:
                notes.append(
                    f"{runner.wasted_pages} pages travelled with others and were not needed."
                )
    report = {} if storage.ended is None else storage.ended.coverage
    return Harvest(
        query=scope.format_expression(order=""),
        source=client.source,
        coverage=msgspec.convert(report, Coverage),
        requests=storage.requests,
        folder=storage.folder,
        notes=tuple(notes),
        _storage=storage,
    )


def _attach_rows(error: GqlnbError, storage: MemoryStorage, client: Client) -> None:
    """Say in an error that the rows are in the folder, or attach those in memory."""
    if storage.folder is not None:
        error.args = (f"{error.args[0]} {RESUME_HINT}", *error.args[1:])
    elif storage.rows:
        rows = storage.load_table().select(["name", "owner", "stargazers"]).to_pylist()
        error.result = Result(data={"repositories": rows}, source=client.source)
