"""The option ``--map``: a cell's operation for each input of a frame or list of the notebook."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gqlnb.document.input_coercion import read_record
from gqlnb.errors import GqlnbError, OptionError, sanitize_text, suggest
from gqlnb.notebook.cell_errors import add_error_lines
from gqlnb.notebook.display import Note, show
from gqlnb.result.answer_notes import MISSING, format_notes

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, MutableMapping

    from gqlnb.client.client import Client
    from gqlnb.document.document import Document

__all__ = ["check_map_options", "convert_mapped", "find_input_names", "map_inputs"]

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
) -> object:
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
    from gqlnb.result.event_frames import describe_errors

    inputs = find_name(names, options.map, "--map")
    resume = None if options.resume is None else find_name(names, options.resume, "--resume")
    # A variable that the inputs set is not taken from a name of the notebook as well.
    mapped = find_mapped_names(inputs, document, read_param_names(options))
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
            if isinstance(error, GqlnbError):
                add_error_lines(error, kept, advice)
            else:
                error.notes = (kept, advice)  # type: ignore[attr-defined]
        raise
    if text := describe_errors(frame):  # also where the frame itself is not shown
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
    return find_mapped_names(inputs, document, read_param_names(options)).union(
        *(read_record(record) or () for record in records)
    )


def read_param_names(options: Namespace) -> set[str]:
    return {param.partition("=")[0].strip() for param in options.param}


def find_mapped_names(inputs: object, document: Document, given: set[str]) -> set[str]:
    """Return the variables that get their values from the inputs, not by name."""
    columns = {
        str(name) for name in getattr(inputs, "column_names", getattr(inputs, "columns", ()))
    }
    if isinstance(inputs, (list, tuple)) and inputs:
        columns = set(read_record(inputs[0]) or ())
    if not columns.isdisjoint(document.variables):
        return columns - given
    free = [name for name in document.variables if name not in given]
    return set(free) if len(free) == 1 else set()


def convert_mapped(frame: Any, kind: str) -> object:  # noqa: ANN401 - a DataFrame
    """Return a frame in the type of a cell's value."""
    if kind == "polars":
        return frame.to_polars()
    return frame.to_arrow() if kind == "arrow" else frame
