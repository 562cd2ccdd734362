"""Options of a cell: ``--map`` for its inputs, ``--export-to``, ``--dry-run`` and ``--stats``."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gqlnb.config import open_replacement
from gqlnb.document.document import Document, format_variable_type
from gqlnb.document.input_coercion import read_record
from gqlnb.document.json_codec import dump_json
from gqlnb.document.limit_checks import compute_expanded_size, expand_fragments, measure_definition
from gqlnb.document.variables import write_large_integers
from gqlnb.errors import GqlnbError, OptionError, format_count, sanitize_text, suggest
from gqlnb.github.builtin_connections import GITHUB_ENDPOINT
from gqlnb.github.query_cost import MAX_NODES, compute_cost
from gqlnb.http.rate_limit_rules import read_budget
from gqlnb.notebook.display import Note, Text, add_error_lines, show
from gqlnb.redact import redact_text
from gqlnb.result.answer_notes import MISSING, format_notes
from gqlnb.result.renderer import render_preformatted, wrap_html
from gqlnb.result.result import Result, collect_members

if TYPE_CHECKING:
    from argparse import Namespace

    from gqlnb.client.client import Client
    from gqlnb.result.event_frames import MappedFrame


SUFFIXES = (".csv", ".parquet", ".xlsx", ".json", ".graphql")  # of --export-to
MAPPED_NAME = "_mapped"  # like the names that IPython gives to unnamed values
FRAME_TYPES = ("result", "frame", "pandas", "polars", "arrow")
EXCLUDED = ("--paginate", "--interact", "--no-execute", "--dry-run", "--explain", "--profile")


def check_map_options(options: Namespace, kind: str) -> None:
    """Check that ``--map`` fits the other options.

    Parameters
    ----------
    options
        The options of the cell.
    kind
        The type of its value.

    Raises
    ------
    OptionError
        If they exclude each other.
    """
    given = [it for it in EXCLUDED if getattr(options, it.lstrip("-").replace("-", "_"))]
    if options.export_to is not None:
        given.append("--export-to")
    if given:
        msg = f"%%graphql: --map sends one request per input and excludes {given[0]}."
        raise OptionError(msg)
    if kind not in FRAME_TYPES:
        msg = f"%%graphql: --map returns one frame: -t {' | '.join(FRAME_TYPES)}, not {kind}."
        raise OptionError(msg)


def map_inputs(
    client: Client,
    document: Document,
    options: Namespace,
    *,
    names: Mapping[str, object],
    variables: Mapping[str, object],
    user_ns: MutableMapping[str, object],
) -> MappedFrame:
    """Execute an operation for each input; after a failure the answers are kept under a name.

    Parameters
    ----------
    client
        The client.
    document
        The document.
    options
        The options of the cell.
    names
        The names that the cell sees.
    variables
        The values of its variables by the notebook's names and by options.
    user_ns
        The names of the notebook, where the answers before a failure are kept.

    Returns
    -------
    DataFrame
        As of :meth:`gqlnb.Client.map`.

    Raises
    ------
    OptionError
        If there is no such name.
    """
    inputs = find_name(names, options.map, "--map")
    resume = None if options.resume is None else find_name(names, options.resume, "--resume")
    # A variable that the inputs set is not taken from a name of the notebook as well.
    mapped = find_mapped_names(inputs, document, options)
    constants = {name: value for name, value in variables.items() if name not in mapped}
    try:
        with warnings.catch_warnings():
            for message in (".* inputs have errors", MISSING):  # shown as notes instead
                warnings.filterwarnings("ignore", message)
            frame = client.map(
                document,
                inputs,
                constants,
                operation=options.operation,
                validate=False if options.no_validate else None,
                batch_size=options.batch,
                resume=resume,
            )
    except (GqlnbError, KeyboardInterrupt) as error:
        kept_frame = getattr(error, "result", None)
        # Hundreds of answers may be there: they are kept under a name, so that the next run asks
        # for the rest alone.
        if hasattr(error, "outcomes") and kept_frame is not None:
            name = options.output or MAPPED_NAME
            user_ns[name] = kept_frame
            counts = kept_frame.attrs
            kept = f"{counts['answered']:,} of {counts['inputs']:,} inputs were answered."
            advice = f"They are kept as {name}. To continue, add to the cell: --resume {name}"
            add_error_lines(error, kept, advice)
        raise
    if text := frame._describe_errors():  # also where the frame itself is not shown
        show(Note([text], wrong=True))
    notes = [] if options.silent else frame.attrs.get("notes", [])
    if notes:
        show(Note(format_notes(notes, 'attrs["notes"] of the frame')))
    return frame


def find_name(names: Mapping[str, object], name: str, option: str) -> object:
    """Return an object of the notebook; raise OptionError if no name is like that."""
    if name in names:
        return names[name]
    guess = suggest(name, [it for it in names if not it.startswith("_")])
    msg = f"{option} {sanitize_text(name, 40)}: the notebook has no such name.{guess}"
    raise OptionError(msg)


def find_input_names(
    document: Document, options: Namespace, names: Mapping[str, object]
) -> set[str]:
    """Return the variables that get a value from at least one input of ``--map``.

    Raises
    ------
    OptionError
        If the notebook has no such name.
    """
    inputs = find_name(names, options.map, "--map")
    records = inputs if isinstance(inputs, (list, tuple)) else ()
    return find_mapped_names(inputs, document, options).union(
        *(read_record(record) or () for record in records)
    )


def find_mapped_names(inputs: object, document: Document, options: Namespace) -> set[str]:
    """Return the variables that get their values from the inputs, not by name."""
    given = {param.partition("=")[0].strip() for param in options.param}
    columns = {
        str(name) for name in getattr(inputs, "column_names", getattr(inputs, "columns", ()))
    }
    if isinstance(inputs, (list, tuple)) and inputs:
        columns = set(read_record(inputs[0]) or ())
    if not columns.isdisjoint(document.variables):
        return columns - given
    free = [name for name in document.variables if name not in given]
    return set(free) if len(free) == 1 else set()


def to_json_text(result: Result) -> Text:
    """Return a response as JSON text."""
    return Text(dump_json(collect_members(result)).decode())


def check_export_path(name: str) -> Path:
    """Check the path of ``--export-to`` before a request is sent.

    Raises
    ------
    OptionError
        If the suffix is unknown or the folder does not exist.
    """
    path = Path(name).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        msg = f"--export-to {sanitize_text(name, 80)}: its name must end in {', '.join(SUFFIXES)}."
        raise OptionError(msg)
    if not path.parent.is_dir():
        folder = sanitize_text(path.parent, 80)
        msg = f"--export-to {sanitize_text(name, 80)}: there is no folder {folder!r}."
        raise OptionError(msg)
    return path


def export_result(result: Result, path: Path, *, strict: bool = True) -> str:
    """Write an answer, or its text, and return a sentence about it.

    The file is replaced as a whole, or left unchanged.

    Raises
    ------
    OptionError
        If the file cannot be written; ``.result`` of the error is the answer.
    """
    try:
        with open_replacement(path, private=False) as temporary:
            content = _write_file(result, temporary, path.suffix.lower(), strict=strict)
    except GqlnbError as error:  # no rows, or more than one list of them
        error.result = result
        raise
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or sanitize_text(error, 200)
    else:
        return f"Wrote {content} to {path}."
    msg = f"--export-to {sanitize_text(path, 80)}: {reason}."
    raise OptionError(msg, result=result)


def _write_file(result: Result, path: Path, suffix: str, *, strict: bool) -> str:
    """Write an answer in the format of a suffix, and return what was written."""
    match suffix:
        case ".json":
            path.write_bytes(msgspec.json.format(dump_json(result.data), indent=2) + b"\n")
            return "the data"
        case ".graphql":
            text = result.document.text if result.document is not None else ""
            path.write_text(f"{text.strip()}\n", encoding="utf-8")
            return "the operation"
        case ".xlsx":
            result.to_excel(path, strict=strict)
            return format_count(len(result.tables(strict=strict, quiet=True)), "sheet")
        case ".csv":
            result.to_csv(path, strict=strict, lineterminator="\n")
        case ".parquet":
            result.to_parquet(path, strict=strict)
    return format_count(len(result.frame(strict=strict)), "row")


METER = "rateLimit"  # the field for the budget at GitHub and compatible endpoints
VARIABLE_LENGTH = 120  # characters of a variable


@dataclass(frozen=True, slots=True, repr=False)
class DryRun:
    """An operation that was checked but not sent.

    Attributes
    ----------
    text
        The text that would be sent.
    variables
        The JSON values that would be sent.
    source
        The endpoint.
    title
        The kind and the name of the operation.
    types
        The declared types of its variables, by name.
    checked
        Whether it was validated against the schema.
    depth
        Levels of fields.
    fields
        The number of selected fields, those of fragments at each spread.
    nodes
        The largest number of items that all requested pages can have.
    points
        The cost of GitHub's hourly budget; None at other endpoints.
    """

    text: str
    variables: Mapping[str, object]
    source: str
    title: str
    types: Mapping[str, str]
    checked: bool
    depth: int
    fields: int
    nodes: int
    points: int | None

    def _summarize(self) -> list[str]:
        known = "" if self.checked else " Its schema is not known: only the syntax was checked."
        asks = [
            format_count(self.depth, "level deep", "levels deep"),
            format_count(self.fields, "field"),
        ]
        if self.nodes:
            asks.append(f"up to {format_count(self.nodes, 'node')}")
        lines = [f"Not sent: {self.title} to {self.source}.{known}", f"  {', '.join(asks)}"]
        if self.points is not None:
            lines.append(f"  {format_count(self.points, 'point')} of the budget for an hour")
            if self.nodes > MAX_NODES:
                lines.append(f"  GitHub refuses more than {MAX_NODES:,} nodes")
        for name, value in self.variables.items():
            shown = sanitize_text(json.dumps(value, ensure_ascii=False), VARIABLE_LENGTH)
            lines.append(f"  ${name}: {self.types[name]} = {redact_text(shown)}")
        return lines

    def __repr__(self) -> str:
        return "\n".join([*self._summarize(), "", self.text.strip("\n")])

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._summarize())
        body = render_preformatted(self.text.strip())
        return wrap_html(f'<p style="margin:2px 0">{head}</p>{body}')


def prepare_dry_run(client: Client, document: Document, variables: Mapping[str, object]) -> DryRun:
    """Compute the size and the cost of an operation that is not sent.

    Parameters
    ----------
    client
        The client.
    document
        The valid document.
    variables
        The checked JSON values of its variables.
    """
    if client._local_schema is None:  # over HTTP large integers are sent as text
        variables = write_large_integers(document, dict(variables))
    measures = {name: measure_definition(node) for name, node in document.fragments.items()}
    # Fragments are measured once and expanded by counting: spreads can grow exponentially.
    size = compute_expanded_size(measure_definition(document.operation), expand_fragments(measures))
    cost = compute_cost(document, variables)
    query = document.schema.query_type if document.schema is not None else None
    # Whether the endpoint counts the cost of operations like GitHub.
    is_counted = client.source == GITHUB_ENDPOINT or (query is not None and METER in query.fields)
    return DryRun(
        text=document.text,
        variables=variables,
        source=client.source,
        title=f"{document.kind} {document.name or ''}".strip(),
        types={name: format_variable_type(node) for name, node in document.variables.items()},
        checked=document.schema is not None,
        depth=size.depth,
        fields=size.fields,
        nodes=cost.nodes,
        points=cost.points if is_counted else None,
    )


def format_stats(result: Result, seconds: float) -> str:
    """Format time, bytes, rows and the remaining budget on one line.

    Parameters
    ----------
    result
        The answer.
    seconds
        The duration of the request.
    """
    parts = [f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"]
    body = getattr(result.response, "body", b"")
    if body:
        parts.append(f"{len(body):,} bytes")
    parts.append(format_count(len(result), "row"))
    headers: Mapping[str, str] = getattr(result.response, "headers", None) or {}
    has_meter = isinstance(result.data, dict) and METER in result.data
    budget = read_budget(
        {name.lower(): value for name, value in headers.items()},
        result.extensions,
        result.data if has_meter else None,
        time.time(),
    )
    return ", ".join([*parts, f"budget {budget}"] if str(budget) else parts)
