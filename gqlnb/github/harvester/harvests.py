"""Harvests as a person calls them: everything above a number of stars, into a folder or a frame."""

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

    RowsCallback = Callable[[int, int, int], object]

__all__ = ["Harvest", "harvest", "harvest_frame"]

DEFAULT_WIDTH = 16  # requests at once, where an executor does not say how many it takes
RESUME_HINT = "What came is kept: run the same again, and it goes on from there."


class HarvestOptions(TypedDict, total=False):
    """How to harvest, as keyword arguments.

    Attributes
    ----------
    width
        Most requests at once; by default as many as the executor has workers, where it says, and
        one without an executor.
    part
        How many rows a part has, or up to a thousand more.
    """

    width: int
    part: int


@dataclass(frozen=True, slots=True)
class Harvest:
    """What a harvest brought, and how complete it is.

    Attributes
    ----------
    query
        The search expression.
    source
        Where the rows are from.
    coverage
        How many there should be and are, duplicates, gaps, and pages with their lower bound.
    requests
        How many requests were sent.
    folder
        Where the parts are; None where the rows are held here.
    notes
        What happened on the way, a sentence each.

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
        """Whether everything came, as far as counts and results can prove it."""
        return self.coverage.complete

    def __len__(self) -> int:
        return self._storage.rows

    def arrow(self) -> pa.Table:
        """Return all rows as an Arrow table, in the order in which they came."""
        return self._storage.load_table()

    def frame(self) -> pd.DataFrame:
        """Return all rows as a DataFrame, most stars first; it has to fit into memory.

        Returns
        -------
        DataFrame
            Columns ``name``, ``owner`` (string), ``stargazers`` (Int64), ``created_at`` (in UTC)
            and ``id`` (string). ``build_attrs`` as of :func:`gqlnb.stars`.
        """
        made = build_repository_frame(self.arrow())
        made.attrs.update(self.build_attrs())
        return made

    def build_attrs(self) -> dict[str, Any]:
        """Return what a frame's ``build_attrs`` say of it."""
        return {
            "total_count": self.coverage.expected,
            "source": self.source,
            "query": self.query,
            "notes": self.list_warnings(),
            "coverage": encode_coverage(self.coverage),
        }

    def list_warnings(self) -> list[str]:
        """Return what a person should know about the rows, a sentence each."""
        gaps = self.coverage.gaps
        found = [
            f"{gap.text!r} is not complete: expected {gap.expected:,}, got {gap.got:,}: {gap.why}"
            for gap in gaps[:3]
        ]
        if len(gaps) > 3:
            found.append(f"{len(gaps) - 3:,} more ranges are not complete; see coverage.gaps.")
        return found

    def format_lines(self) -> list[str]:
        """Return the report, a line each."""
        it = self.coverage
        expected = 0 if it.expected is None else it.expected
        state = "complete" if self.complete else "not complete"
        found = [
            f"{len(self):,} repositories of {self.query!r}, {state}",
            f"  expected {expected:,} at the beginning, got {it.got:,}; "
            f"{it.duplicates + it.moved:,} came twice",
            f"  {it.requests:,} pages for at least {it.bound:,} "
            f"({it.requests / max(1, it.bound):.2f}), in {self.requests:,} requests; "
            f"{it.windows:,} searches, {it.splits:,} splits, {it.repairs:,} asked again",
            f"  from {self.source}",
        ]
        found += [f"  {each}" for each in self.list_warnings()]
        if self.folder is not None:
            found.append(f"  in {self.folder}")
        return found

    def __repr__(self) -> str:
        return "\n".join(self.format_lines())

    def _repr_html_(self) -> str:
        first, *rest = map(escape, self.format_lines())
        return f"<strong>{first}</strong><br>{'<br>'.join(rest)}"


def encode_coverage(coverage: Coverage) -> dict[str, Any]:
    """Return a coverage as JSON values."""
    found: dict[str, Any] = msgspec.json.decode(dump_valid_json(coverage))
    return found | {"complete": coverage.complete}


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
        What to ask: the name of a connection, a client, or whatever a client can be made for.
    out
        A folder for the rows, as Parquet parts with a log beside them. A harvest that was ended, by
        whatever, goes on there when the same is run again. None keeps the rows in memory.
    executor
        Where to ask several searches at once: a pool of threads or processes, or
        ``dask.distributed.Client(...).get_executor()``. Other processes make the client anew, so
        its secrets must be named by where they are, such as ``token="env:NAME"``. An endpoint
        that takes one request at a time, as GitHub does, gets one at a time anyway.
    progress
        As for :meth:`gqlnb.Client.pages`.
    dry_run
        Whether to ask for the count alone, and return how much it would take.
    resume
        Whether to go on with a harvest of the same that is in `out`, or return it if it is over;
        False removes it first.
    **options
        ``width``, the most requests at once, without an executor too; ``part``, the rows of a part.

    Returns
    -------
    Harvest
        With ``coverage``, ``frame()`` and ``complete``; an :class:`Estimate` for a dry run.

    Raises
    ------
    QueryError
        If the query cannot be read, or the endpoint is not GitHub-shaped.
    OptionError
        If `out` holds something else, `executor` is none, or an option has no such value.
    TargetError
        If the client can't be made in the executor's processes.
    GqlnbError
        If a request fails that asking again does not mend. What came is kept in `out`; without
        it, it is in the error's ``.result``.

    Warns
    -----
    UserWarning
        If a range could not be completed.

    Examples
    --------
    >>> made = harvest(">20000")
    >>> made.complete, len(made), made.coverage.requests
    (True, 1067, 11)
    """
    scope = Scope.parse(query)
    wide = _Parallelism(executor, **_check_options(options))
    with open_client(client) as asked:
        if dry_run:
            return estimate_harvest(asked, scope, wide.width)
        keeper = wide.open_storage(_build_header(scope, asked), out, resume=resume)
        with Progress(progress, "Harvest") as bar:
            made = _run_harvest(scope, asked, keeper, wide, bar)
    for note in made.list_warnings():
        warnings.warn(note, stacklevel=2)
    return made


def harvest_frame(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    on_progress: RowsCallback | None = None,
    executor: Executor | None = None,
    most: int | None = None,
    rising: bool = False,
) -> pd.DataFrame:
    """Return all repositories above a number of stars as a DataFrame, warning of nothing.

    Parameters
    ----------
    query, client, executor
        As for :func:`harvest`.
    on_progress
        Called after each answer as ``on_progress(got, wanted, total)``: rows so far, rows there
        will be, repositories that match. If it returns False the harvest stops and the rows are
        kept. None shows a bar where a person waits, as :func:`harvest` does.
    most
        Most rows to return; None for all.
    rising
        Whether the fewest stars stand first; by default the most.

    Returns
    -------
    DataFrame
        As of :meth:`Harvest.frame`.

    Raises
    ------
    GqlnbError
        As :func:`harvest` does.
    """
    scope, total = Scope.parse(query), None
    with open_client(client) as asked:
        if most is not None:
            scope, total = narrow_scope(asked, scope, most, rising=rising)

        def watch(got: int, expected: int | None, *beside: Any) -> object:
            matching = max(got, expected or 0) if total is None else total
            wanted = matching if most is None else min(most, matching)
            bar(min(got, wanted), wanted, *beside)
            return on_progress(min(got, wanted), wanted, matching) if on_progress else None

        with Progress("auto" if on_progress is None else False, "Harvest") as bar:
            found = _run_harvest(
                scope, asked, MemoryStorage(), _Parallelism(executor), watch
            ).frame()
    attrs = found.attrs if total is None else {**found.attrs, "total_count": total}
    if rising:
        found = found.iloc[::-1]
    found = found.head(most if most is not None else len(found)).reset_index(drop=True)
    found.attrs = attrs
    return found


class _Parallelism:
    """Where to ask, and how much at once.

    Parameters
    ----------
    executor
        The user's; None for threads of our own.
    width
        Most requests at once; None for as many as the executor takes, one without it.
    part
        Rows of a part.
    """

    def __init__(
        self, executor: Executor | None = None, width: int | None = None, part: int = ROWS_PER_PART
    ) -> None:
        self.executor, self._rows_per_part = _check_executor(executor), part
        workers = getattr(executor, "_max_workers", None)
        usual = workers if isinstance(workers, int) else DEFAULT_WIDTH
        self.width = width or (1 if executor is None else usual)

    def open_storage(
        self, told: LogHeader, out: str | os.PathLike[str] | None, *, resume: bool
    ) -> MemoryStorage:
        """Return what keeps the rows."""
        if out is None:
            return MemoryStorage()
        return FolderStorage(Path(out).expanduser(), told, resume=resume, part=self._rows_per_part)

    def check_client(self, client: Client) -> None:
        """Check that a client can be where the executor works.

        Raises
        ------
        TargetError
            If it can't be made in another process, and the executor has others.
        """
        elsewhere = type(self.executor).__module__.partition(".")[0] == "distributed"
        if elsewhere or isinstance(self.executor, ProcessPoolExecutor):
            client.make_recipe()


def _check_executor(given: Any) -> Executor | None:
    """Return what the user gave to ask with.

    Raises
    ------
    OptionError
        If it is no executor.
    """
    if given is None or isinstance(given, Executor):
        return given
    hint = "a pool of threads, as ThreadPoolExecutor(4)"
    if hasattr(given, "get_executor"):  # Dask's client, the class of which is not imported for this
        hint = "that client's get_executor()"
    kind = sanitize_text(repr(given) if isinstance(given, type) else type(given).__name__, 60)
    msg = f"executor= takes an executor of concurrent.futures, not {kind}. Give {hint}."
    raise OptionError(msg)


def _check_options(options: HarvestOptions) -> dict[str, int]:
    """Return the options that were given.

    Raises
    ------
    OptionError
        If there is no such option, or it has no such value.
    """
    for name in options:
        if name not in ("width", "part"):
            msg = (
                f"There is no option {sanitize_text(name, 40)}=. A harvest takes width= and part=."
            )
            raise OptionError(msg)
    return {name: check_whole_number(name, value, least=1) for name, value in options.items()}


def _build_header(scope: Scope, client: Client) -> LogHeader:
    return LogHeader(query=scope.format_expression(order=""), source=client.source)


def _run_harvest(
    scope: Scope, client: Client, keeper: MemoryStorage, wide: _Parallelism, watch: Any
) -> Harvest:
    """Harvest, and return what came."""
    wide.check_client(client)
    with keeper:
        sweep = keeper.restore_sweep(Sweep(scope, width=wide.width))
        if keeper.ended is not None:
            return _build_harvest(scope, client, keeper, ())
        drive = HarvestRunner(
            sweep, keeper, PortableClient(client), wide.executor, wide.width, watch
        )
        try:
            drive.run()
        except GqlnbError as error:
            _attach_rows(error, keeper, client)
            raise
        keeper.remove_repeated_rows()
        keeper.finish_harvest(encode_coverage(sweep.build_coverage().with_row_count(keeper.rows)))
    if drive.wasted_pages:
        drive.notes.append(f"{drive.wasted_pages} pages travelled with others and were not needed.")
    return _build_harvest(scope, client, keeper, tuple(drive.notes))


def _build_harvest(
    scope: Scope, client: Client, keeper: MemoryStorage, notes: tuple[str, ...]
) -> Harvest:
    ended = keeper.ended
    coverage = msgspec.convert({} if ended is None else ended.coverage, Coverage)
    query, folder = scope.format_expression(order=""), keeper.folder
    return Harvest(query, client.source, coverage, keeper.requests, folder, notes, keeper)


def _attach_rows(error: GqlnbError, keeper: MemoryStorage, client: Client) -> None:
    """Say with an error where the rows are that came before it."""
    if keeper.folder is not None:
        error.args = (f"{error.args[0]} {RESUME_HINT}", *error.args[1:])
    elif keeper.rows:
        rows = keeper.load_table().select(["name", "owner", "stargazers"]).to_pylist()
        error.result = Result(data={"repositories": rows}, source=client.source)
