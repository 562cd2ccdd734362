"""The store of a harvest: rows in memory, or a folder with Parquet parts, a log and a lock.

The log is ``_harvest.jsonl``, a file of JSON lines beside the Parquet parts. Its first line
describes the harvest, the second one the state when the last part was written; each further line
is the state after an answer since then, with its rows, and with only the new items of the lists
that grow; it is on the disk before the harvest continues. When a part is written, the log is
replaced by one of two lines.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec
import numpy as np

from gqlnb.config import open_replacement, replace_file
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.lists.report import Changes, Coverage, StoredState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa


ROWS_PER_GROUP = 20_000  # whose encoded columns are held in memory until they are written
_PARQUET_END = b"PAR1"
_PART_PATTERN = re.compile(r"part-\d{5,}\.parquet")


def build_part_path(folder: Path, number: int) -> Path:
    """Return the path of a part; `number` counts from 0."""
    return folder / f"part-{number:05}.parquet"


def find_lost_part(folder: Path, count: int) -> str | None:
    """Return which of the first `count` parts is missing or damaged, in words, or None."""
    for number in range(count):
        path = build_part_path(folder, number)
        if not path.exists():
            return f"{path.name} is missing"
        with path.open("rb") as file:  # a copy that was cut does not end as a Parquet file
            file.seek(max(0, file.seek(0, os.SEEK_END) - len(_PARQUET_END)))
            if file.read() != _PARQUET_END:
                return f"{path.name} is damaged"
    return None


def read_parquet(path: str | Path) -> pa.Table:
    """Return the rows of a part.

    Raises
    ------
    OptionError
        If its contents are damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowInvalid) as error:
        msg = (
            f"{sanitize_text(Path(path).parent, 120)}: {Path(path).name} is damaged "
            f"({sanitize_text(error, 120)}). Put it back."
        )
        raise OptionError(msg) from None


def remove_parts(folder: Path, first: int) -> None:
    """Remove the parts from number `first` on, and files that a killed process was writing."""
    for name in ("part-*.parquet", LOG_NAME, COVERAGE_NAME):
        for unfinished in folder.glob(f".{name}.*"):
            unfinished.unlink()
    while (path := build_part_path(folder, first)).exists():
        path.unlink()
        first += 1


def sync_folder(folder: Path) -> None:
    """Write the directory entries of a folder to the disk, after a file was renamed or cut."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file, atomically, and so that it survives a power failure."""
    replace_file(path, data, private=False)
    sync_folder(path.parent)


def check_foreign_files(folder: Path) -> None:
    """Check that a folder contains no other Parquet files, which would be read as parts.

    Raises
    ------
    OptionError
        If it contains one.
    """
    names = sorted(file.name for file in folder.glob("*.parquet"))
    foreign = [name for name in names if not _PART_PATTERN.fullmatch(name)]
    if foreign:
        msg = (
            f"{sanitize_text(folder, 120)} holds {sanitize_text(foreign[0], 80)!r}, which is not a "
            "part of a harvest and would be read as one. Name a folder of its own."
        )
        raise OptionError(msg)


def find_repeated_rows(parts: Callable[[], Iterable[Sequence[str]]]) -> dict[int, dict[int, str]]:
    """Find the rows whose id comes again later.

    A set of all ids would take about 100 bytes per row. Instead their hashes take 8, and then the
    ids of the rows with equal hashes are compared.

    Parameters
    ----------
    parts
        Returns the ids of each part; it is called twice.

    Returns
    -------
    dict
        The ids of these rows by their index, by the number of their part, from 0.
    """
    hashes = [np.fromiter(map(hash, ids), np.int64, len(ids)) for ids in parts()]
    joined = np.sort(np.concatenate([np.empty(0, np.int64), *hashes]))
    suspects = set(joined[1:][joined[1:] == joined[:-1]].tolist())
    last: dict[str, tuple[int, int]] = {}
    found: dict[int, dict[int, str]] = {}
    for number, ids in enumerate(parts() if suspects else ()):
        for index, id_ in enumerate(ids):
            if hash(id_) in suspects:
                if id_ in last:
                    part, before = last[id_]
                    found.setdefault(part, {})[before] = id_
                last[id_] = number, index
    return found


try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # neither in a browser, where there are no other processes
    msvcrt = None  # type: ignore[assignment]

LOG_NAME = "_harvest.jsonl"
LOG_VERSION = 5
ROWS_PER_PART = 100_000  # of repositories: about 4 MB on the disk, 10 MB in memory
RESUME_HINT = "The rows so far are kept: run the same call again to continue."
RESTART_HINT = "Name another folder, or replace the harvest in this one with resume=False."
COVERAGE_NAME = "_coverage.json"
LOCK_NAME = "_harvest.lock"
_open_folders: set[Path] = set()
_open_folders_lock = threading.Lock()


class LogHeader(msgspec.Struct, tag_field="gqlnb", tag="harvest", kw_only=True):
    """The first line of the log: the harvest and its endpoint.

    Attributes
    ----------
    query, source
        The query, and the address of the endpoint.
    fields
        The caller's own fields; None without.
    shape
        Their shape, as JSON values.
    twice
        Whether everything is read a second time.
    """

    version: int = LOG_VERSION
    query: str = ""
    source: str = ""
    fields: str | None = None
    shape: Any = None
    twice: bool = False


State = TypeVar("State", bound=StoredState)


def parse_header(path: Path, text: bytes) -> LogHeader:
    """Return the first line of a log.

    Raises
    ------
    OptionError
        If it is not of a harvest, or of another format.
    """
    shown = sanitize_text(path, 120)
    try:
        header = msgspec.json.decode(text, type=LogHeader)
    except msgspec.MsgspecError:
        msg = f"{shown} is not the log of a harvest. {RESTART_HINT}"
        raise OptionError(msg) from None
    if header.version != LOG_VERSION:
        remedy = "Harvest again" if header.version < LOG_VERSION else "Update gqlnb. Or"
        msg = (
            f"{shown} is a log of format {header.version}, and this version of gqlnb reads format "
            f"{LOG_VERSION}. {remedy}: {RESTART_HINT}"
        )
        raise OptionError(msg)
    return header


def _show_difference(*queries: str) -> list[str]:
    """Return two queries as they are shown: from shortly before their first difference."""
    pairs = zip(*queries, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = same - 30 if same > 60 and queries[0] != queries[1] else 0
    cut = "\u2026" if start else ""
    return [sanitize_text(repr(cut + query[start:]), 120) for query in queries]


def lock_file(file: IO[bytes]) -> None:
    """Lock a file against other processes, until it is closed.

    Raises
    ------
    OSError
        If another process has locked it.
    """
    if fcntl is not None:
        # lockf, not flock: forked workers would inherit an flock, and may outlive this process for
        # a while.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other harvests in this process and in others.

    Parameters
    ----------
    folder
        The folder; it is created if it does not exist.

    Raises
    ------
    OptionError
        If `folder` is a file, contains other Parquet files, or another harvest is writing to it.
    OSError
        If it cannot be written to.
    """
    path, absolute = sanitize_text(folder, 120), folder.absolute()
    if folder.is_file():
        msg = f"{path} is a file. A harvest writes a folder: name another."
        raise OptionError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    msg = f"Another harvest is writing to {path}. Wait until it is over."
    with _open_folders_lock:
        # A process unlocks a file when it closes it, however often it has opened it.
        if absolute in _open_folders:
            raise OptionError(msg)
        file = (folder / LOCK_NAME).open("ab")
        try:
            lock_file(file)
        except OSError:
            file.close()
            raise OptionError(msg) from None
        _open_folders.add(absolute)
    try:
        check_foreign_files(folder)
        yield
    finally:
        file.close()
        with _open_folders_lock:
            _open_folders.discard(absolute)


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of consecutive readings.

    Attributes
    ----------
    segments
        The numbers of the readings, each with its number of rows.
    table
        The rows; None if they are in a file.
    path
        The file.
    """

    segments: list[tuple[int, int]]
    table: pa.Table | None = None
    path: Path | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(rows for _, rows in self.segments)

    def list_readings(self) -> list[int]:
        """Return the number of the reading of each row."""
        return [number for number, rows in self.segments for _ in range(rows)]

    def load(self) -> pa.Table:
        """Return the rows."""
        return self.table if self.path is None else read_parquet(self.path)


class HarvestStore(Generic[State]):
    """The rows of a harvest, and its state.

    Parameters
    ----------
    folder
        The folder; None for memory.
    header
        The first line of the log.
    resume
        Whether to continue the harvest in the folder; else it is removed.
    rows_per_part
        Number of rows per part; a part may have as many more as an event.

    Attributes
    ----------
    state_type, decoder
        The class of the state, and the decoder of the lines of the log.
    state
        The state of the harvest.

    Raises
    ------
    OptionError
        On entering: if `folder` is a file, contains other Parquet files or another harvest, lacks
        a part, or another harvest is writing to it.
    OSError
        If it cannot be written to.
    """

    state_type: type[State]
    decoder: msgspec.json.Decoder[State]

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        header: LogHeader | None = None,
        *,
        resume: bool = True,
        rows_per_part: int = ROWS_PER_PART,
    ) -> None:
        self.folder = None if folder is None else Path(folder).expanduser()
        self.header, self.state = header or LogHeader(), self.state_type()
        self._resume, self._rows_per_part = resume, rows_per_part
        self._parts: list[Part] = []  # in files
        self._new: list[Part] = []  # in memory, and in the log
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            if self.folder is not None:
                stack.enter_context(lock_folder(self.folder))
                self._begin(self.folder)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Unlock the folder, and say in an error that it keeps the rows so far."""
        # The message of an error with problems is made of them.
        has_text = isinstance(error, GqlnbError) and not getattr(error, "problems", ())
        if error is not None and has_text and self.folder is not None and error.args:
            error.args = (f"{error.args[0]} {RESUME_HINT}", *error.args[1:])
        self._stack.close()

    # -- the log

    def _begin(self, folder: Path) -> None:
        """Read the log and the parts of the folder, or begin a log."""
        path = folder / LOG_NAME
        if not path.exists() and build_part_path(folder, 0).exists():
            msg = (
                f"{sanitize_text(folder, 120)} holds parts of a harvest whose log {LOG_NAME} is "
                "gone, so it cannot be continued. Name another folder, or remove them."
            )
            raise OptionError(msg)
        if not (path.exists() and self._resume):
            # The log first: if this is interrupted, it says that all parts are obsolete.
            self._restart_log(folder)
            remove_parts(folder, 0)
            return
        states = self._read_log(path)
        self.state = next(states, self.state)
        for state in states:
            if self.state.coverage is not None:
                msg = (
                    f"The log in {sanitize_text(folder, 120)} is broken: it goes on after its end. "
                    f"{RESTART_HINT}"
                )
                raise OptionError(msg)
            self._take_state(state)
        # The log does not contain the rows of parts any more.
        lost = find_lost_part(folder, self.state.parts)
        if lost is not None:
            msg = (
                f"{sanitize_text(folder, 120)}: {lost}, a part of this harvest. Put it back. "
                f"Or: {RESTART_HINT}"
            )
            raise OptionError(msg)
        # A part that was not followed by a state: the log contains its rows.
        remove_parts(folder, self.state.parts)
        paths = (build_part_path(folder, number) for number in range(self.state.parts))
        self._parts = [Part(_read_segments(path), path=path) for path in paths]
        self._save_full_part()

    def _read_log(self, path: Path) -> Iterator[State]:
        """Yield the states in the log; an incomplete last line is removed from it."""
        with path.open("rb") as file:
            self._check_header(path, file.readline())
            end = file.tell()
            for number, text in enumerate(file, 2):
                if not text.endswith(b"\n"):
                    break
                end += len(text)
                try:
                    yield self.decoder.decode(text)
                except msgspec.MsgspecError as error:
                    msg = (
                        f"{sanitize_text(path, 120)}, line {number} is broken: "
                        f"{sanitize_text(error, 120).rstrip('.')}. {RESTART_HINT}"
                    )
                    raise OptionError(msg) from None
        if end < path.stat().st_size:
            os.truncate(path, end)
            sync_folder(path.parent)

    def _check_header(self, path: Path, text: bytes) -> None:
        header, own, shown = parse_header(path, text), self.header, sanitize_text(path, 120)
        if (header.query, header.source) != (own.query, own.source):
            found, wanted = _show_difference(header.query, own.query)
            msg = (
                f"{shown} is the log of {found} from {sanitize_text(header.source, 120)}, and this "
                f"harvest is {wanted} from {own.source}. {RESTART_HINT}"
            )
        elif header.fields != own.fields:
            found, wanted = (
                "no fields=" if text is None else f"fields={sanitize_text(repr(text), 120)}"
                for text in (header.fields, own.fields)
            )
            msg = f"{shown} is the log of {found}, and this harvest has {wanted}. {RESTART_HINT}"
        elif own.twice and not header.twice:
            msg = f"{shown} is the log of a harvest without twice=True. {RESTART_HINT}"
        else:
            # The parts have the types of their time, though the schema may have changed since.
            own.shape, own.twice = header.shape, header.twice
            return
        raise OptionError(msg)

    def _restart_log(self, folder: Path) -> None:
        """Replace the log by its header and the state; the report of a run before is obsolete."""
        if self.state.coverage is None:
            (folder / COVERAGE_NAME).unlink(missing_ok=True)
        lines = dump_valid_json(self.header), dump_valid_json(self.state), b""
        write_durably(folder / LOG_NAME, b"\n".join(lines))

    def _log_state(self, **new: object) -> None:
        """Append the state to the log of a folder, and wait until it is on the disk.

        Parameters
        ----------
        new
            Rows, and the new items of the lists that only grow, in their place.
        """
        assert self.folder is not None  # noqa: S101 - for mypy
        line = dump_valid_json(msgspec.structs.replace(self.state, **new)) + b"\n"
        with (self.folder / LOG_NAME).open("ab") as log:
            log.write(line)
            log.flush()
            os.fsync(log.fileno())

    def _take_state(self, state: State) -> None:
        """Take a state of the log, with its rows and the new items of its lists."""
        raise NotImplementedError

    # -- the rows

    def _concat(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return tables as one."""
        return concat_tables(tables)

    @property
    def rows(self) -> int:
        """The number of rows, repeated ones included."""
        return sum(part.rows for part in self._list_parts())

    def _list_parts(self) -> list[Part]:
        return [*self._parts, *self._new]

    def load_table(self) -> pa.Table:
        """Return all rows."""
        return self._concat([part.load() for part in self._list_parts()])

    def _save_full_part(self) -> None:
        """Write a part and the state if there are enough rows."""
        if sum(part.rows for part in self._new) >= self._rows_per_part:
            self.save_state()

    def save_state(self, **about: str) -> None:
        """Write the rows that are in memory as a part, and the state to the log."""
        if self.folder is None:
            self._parts, self._new = self._list_parts(), []
            return
        if self._new:
            segments = [pair for part in self._new for pair in part.segments]
            table = self._concat([part.load() for part in self._new])
            self._parts.append(self._write_part(len(self._parts), table, segments, **about))
            self._new = []
        self.state.parts = len(self._parts)
        self._restart_log(self.folder)

    def _write_part(
        self, number: int, table: pa.Table, segments: list[tuple[int, int]], **about: str
    ) -> Part:
        """Write or replace a part; `about` is further metadata of its schema."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        assert self.folder is not None  # noqa: S101 - for mypy
        header, path = self.header, build_part_path(self.folder, number)
        about |= {"harvest": str(header.version), "query": header.query, "source": header.source}
        about |= {} if header.fields is None else {"fields": header.fields}
        about |= {"readings": dump_valid_json(segments).decode()}
        metadata = {f"gqlnb.{name}".encode(): text.encode() for name, text in about.items()}
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
        # Readers of the whole folder (pandas, Dask, Spark) ignore names that begin with a dot or
        # an underscore.
        with open_replacement(path, private=False) as unfinished:
            pq.write_table(table, unfinished, compression="zstd", row_group_size=ROWS_PER_GROUP)
        sync_folder(self.folder)
        # Arrow keeps what writing took, about 60 MB, in part too fragmented to be used again.
        pa.default_memory_pool().release_unused()
        return Part(segments, path=path)

    @property
    def coverage(self) -> Coverage:
        """The report on the harvest, which is finished or stopped."""
        assert self.state.coverage is not None  # noqa: S101 - for mypy
        return self.state.coverage

    def finish(self, coverage: Coverage) -> None:
        """Take the report; unless the harvest was stopped, write it, and mark it as ended."""
        self.state.coverage = coverage
        if coverage.stopped:  # the next run continues
            return
        about = {"query": self.header.query, "source": self.header.source}
        report = dump_valid_json(about | coverage.to_dict())
        if self.folder is not None:
            write_durably(self.folder / COVERAGE_NAME, msgspec.json.format(report, indent=1))
        self.save_state(coverage=report.decode())


def _read_segments(path: Path) -> list[tuple[int, int]]:
    import pyarrow.parquet as pq

    metadata = pq.read_schema(path).metadata or {}
    return msgspec.json.decode(metadata[b"gqlnb.readings"], type=list[tuple[int, int]])


# -- the tables of parts


def hash_rows(table: pa.Table, keys: Sequence[str]) -> dict[str, bytes]:
    """Return a hash of each row by its key; the same in every process."""
    rows = zip(keys, table.to_pylist(), strict=True)
    return {key: blake2b(str(row).encode(), digest_size=8).digest() for key, row in rows}


def compare_hashes(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> Changes:
    """Return the keys that were added, removed, or have another hash."""
    return Changes(
        added=[key for key in now if key not in before],
        changed=[key for key in now if before.get(key, now[key]) != now[key]],
        removed=[key for key in before if key not in now],
    )


def concat_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables as one; columns without a value get the type that others have."""
    import pyarrow as pa

    found: dict[str, list[tuple[bool, pa.Field, dict[str, str]]]] = {}
    for table in tables:
        described = table.schema.pandas_metadata or {"columns": []}
        by_name = {entry["name"]: entry for entry in described["columns"]}
        for column in table.schema:
            has_values = table[column.name].null_count < table.num_rows
            entry = by_name.get(column.name, {})
            found.setdefault(column.name, []).append((has_values, column, entry))
    types, entries = dict[str, pa.DataType](), list[dict[str, str]]()
    for name, columns in found.items():
        used = [each for each in columns if each[0]] or columns[:1]
        _, column, entry = used[-1]
        schemas = [pa.schema([each]) for _, each, _ in used]
        try:
            pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowTypeError:  # all of a column is text if parts have no type in common
            types[name], entry = pa.large_string(), entry | {"numpy_type": "object"}
        else:
            types[name] = column.type
        entries += [entry] if "name" in entry else []
    fitted = [
        pa.table({name: _fit_column(table, name, kind) for name, kind in types.items()})
        for table in tables
    ]
    joined = pa.concat_tables(fitted, promote_options="permissive")
    metadata = dict(tables[-1].schema.metadata or {})
    if b"pandas" in metadata:
        described["columns"] = entries
        metadata[b"pandas"] = msgspec.json.encode(described)
    return joined.replace_schema_metadata(metadata)


def _fit_column(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column as text, or of this type where it has no values."""
    import pyarrow as pa

    if name not in table.column_names or table[name].null_count == table.num_rows:
        return pa.chunked_array([pa.nulls(table.num_rows, kind)])
    values = table[name]
    if kind != pa.large_string() or values.type == kind:
        return values  # the types are promoted where they are concatenated
    try:
        return values.cast(kind)
    except pa.ArrowException:  # lists
        items = values.to_pylist()
        texts = [
            None if each is None else msgspec.json.encode(each, enc_hook=str) for each in items
        ]
        return pa.chunked_array([pa.array(texts, pa.large_binary()).cast(kind)])


def build_range_frame(table: pa.Table) -> pd.DataFrame:
    """Return the rows of a harvest in ranges as a DataFrame."""
    import pyarrow as pa

    for index, column in enumerate(table.schema):
        if not pa.types.is_decimal(column.type):
            continue
        # Parts have 18 places, since a later part may need more than this one.
        build_type = pa.decimal128 if pa.types.is_decimal128(column.type) else pa.decimal256
        for scale in range(column.type.scale):
            with suppress(pa.ArrowInvalid):
                values = table[column.name].cast(build_type(column.type.precision, scale))
                table = table.set_column(index, column.name, values)
                break
    frame: pd.DataFrame = table.to_pandas()
    return frame
