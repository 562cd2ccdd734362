"""One operation for many inputs: variables, requests in turn, and the inputs that are left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
from graphql import ListTypeNode, NonNullTypeNode, TypeNode

from gqlnb.document.document import format_variable_type
from gqlnb.document.input_coercion import is_table, read_items, read_record, read_table
from gqlnb.document.scalar_values import is_missing
from gqlnb.document.variables import get_type_name
from gqlnb.errors import (
    AuthError,
    GqlnbError,
    OptionError,
    QueryError,
    RateLimited,
    TransportError,
    sanitize_text,
)
from gqlnb.interactive import warn_caller
from gqlnb.option_checks import check_whole_number
from gqlnb.result.answer_notes import find_missing_data
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from gqlnb.client.batches import BatchOutcome
    from gqlnb.client.progress import Progress
    from gqlnb.client.request_sender import PreparedRequest, RequestSender
    from gqlnb.document.document import Document
    from gqlnb.result.event_frames import MappedFrame

MAX_FAILURES = 5  # transport errors in a row after which an endpoint counts as unreachable
BUILT_IN_SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})
# Refused before the endpoint executed anything, so that even a mutation may be sent again.
NOT_EXECUTED = (QueryError, AuthError, RateLimited, OptionError)
TAKES = (
    "map() takes the variables of each request: a DataFrame of pandas or Polars, an Arrow table, "
    "a list of dicts or records, or a list of values for the operation's only variable"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOptions:
    """The options of :meth:`gqlnb.Client.map` beside those of every call.

    Attributes
    ----------
    operation
        The name of the operation to run; None where there is only one.
    concurrency
        Largest number of requests at once; None for the default.
    batch_size
        Inputs in one request, in a variable that is a list; None for a request per input.
    resume
        A frame or an error of an earlier call with the same inputs; None for none.
    shape
        The options of the frame: ``path``, ``short``, ``explode`` and ``strict``.
    """

    operation: str | None
    concurrency: int | None
    batch_size: int | None
    resume: object
    shape: Mapping[str, Any]


class InputRows(msgspec.Struct, frozen=True):
    """The inputs of a map.

    Attributes
    ----------
    variables
        The variables of each request; names that the document does not declare are not sent.
    beside
        The columns that stand beside each answer: a pandas frame as given, or records.
    in_batches
        Whether each input is a batch of rows.
    """

    variables: list[dict[str, Any]]
    beside: Any
    in_batches: bool = False


class InputMap:
    """The requests for all inputs, and their outcomes.

    Parameters
    ----------
    document
        The document.
    rows
        The inputs.
    options
        The options of the call.
    sender
        Sends the requests.

    Attributes
    ----------
    prepared
        The request of each input.
    """

    def __init__(
        self, document: Document, rows: InputRows, options: MapOptions, sender: RequestSender
    ) -> None:
        self.prepared: list[PreparedRequest] = []
        self._document, self._rows, self._shape = document, rows, options.shape
        self._outcomes = read_outcomes(options.resume, len(rows.variables))
        self._done = len(self._outcomes) - self._outcomes.count(None)
        self.sender = sender
        self._failures = 0  # transport errors since the last answer
        self._fatal: GqlnbError | None = None

    def draw(self, progress: Progress) -> Iterator[int]:
        """Yield the position of each input without an answer.

        Until the endpoint is given up, or `progress` returns False.
        """
        is_mutation = self._document.kind == "mutation"
        for at, before in enumerate(list(self._outcomes)):
            is_done = isinstance(before, Result)
            # A mutation is sent again only if it was certainly not executed.
            if is_done or (is_mutation and before and not isinstance(before, NOT_EXECUTED)):
                continue
            if self._fatal is not None:
                return
            if before is not None:
                self._outcomes[at] = None
                self._done -= 1
            if not self.report(progress):
                return
            yield at

    def report(self, progress: Progress) -> bool:
        """Report the number of inputs with an outcome; return whether to go on."""
        # Counted as they come: counting them all for each input takes the square of their number.
        return progress(self._done, len(self._outcomes), self._done, self.sender.limiter.budget)

    def start(self, at: int) -> PreparedRequest:
        """Return the request of an input that is about to be sent."""
        if self._document.kind == "mutation":
            # Until its outcome is known: an interrupted mutation is never sent again.
            msg = "Interrupted after it was sent; the endpoint may have executed it."
            self._outcomes[at] = TransportError(msg)
        return self.prepared[at]

    def record(self, at: int, outcome: BatchOutcome) -> None:
        """Record an outcome, and give the endpoint up if other inputs would fail as this one."""
        self._outcomes[at] = outcome
        self._done += 1
        self._failures = self._failures + 1 if isinstance(outcome, TransportError) else 0
        # An OptionError: the endpoint takes no arrays of requests.
        is_final = isinstance(outcome, (AuthError, RateLimited, OptionError))
        if isinstance(outcome, GqlnbError) and (is_final or self._failures >= MAX_FAILURES):
            self._fatal = self._fatal or outcome

    def finish(self) -> MappedFrame:
        """Return the frame, after all inputs.

        Raises
        ------
        GqlnbError
            If the endpoint was given up, or the frame cannot be built; with the answers so far.
        """
        if self._fatal is not None:
            self.attach(self._fatal)
            raise self._fatal
        try:
            frame = self._build_frame()
        except GqlnbError as error:
            error.outcomes = self._outcomes  # type: ignore[attr-defined]
            raise
        missing = find_missing_data(frame.attrs.get("notes", ())).values()
        left = self._outcomes.count(None)
        stopped = (
            f"{left:,} of {len(self._outcomes):,} inputs were not sent: the map was stopped by "
            "progress=. client.map(..., resume=frame) continues."
        )
        for text in (stopped if left else "", frame._describe_errors(), *missing):
            if text:
                warn_caller(text)
        return frame

    def attach(self, error: BaseException) -> None:
        """Attach the answers so far to an exception, and how to go on."""
        done = sum(isinstance(outcome, Result) for outcome in self._outcomes)
        error.outcomes = self._outcomes  # type: ignore[attr-defined]
        error.result = self._build_frame(strict=False)  # type: ignore[attr-defined]
        # In the place of the note of a batch, which numbers only the requests of this call.
        error.__notes__ = [
            f"{done:,} of {len(self._outcomes):,} inputs were answered: their frame is "
            "error.result, and client.map(..., resume=error) continues."
        ]

    def _build_frame(self, **options: bool) -> MappedFrame:
        from gqlnb.result.event_frames import build_mapped_frame

        # A batch is not a row of the frame: one that was refused has none.
        shape = {**self._shape, **options, "keep_empty": not self._rows.in_batches}
        return build_mapped_frame(self._rows.beside, self._outcomes, self._document, **shape)


def read_outcomes(resume: object, count: int) -> list[BatchOutcome | None]:
    """Return the outcomes of an earlier call, None for each input without one."""
    if resume is None:
        return [None] * count
    done = getattr(resume, "outcomes", None)
    if not isinstance(done, Sequence):
        kind = type(resume).__name__
        msg = f"resume= takes a frame of map() or the error that ended it, not a {kind}."
        raise OptionError(msg)
    if not done and count:
        advice = "Run map() again; with cache= the inputs that were answered are not sent again."
        msg = f"resume= has no outcomes: they are not pickled. {advice}"
        raise OptionError(msg)
    if len(done) != count:
        msg = f"resume= has {len(done):,} inputs, and there are {count:,} now: give the same ones."
        raise OptionError(msg)
    return list(done)


def read_inputs(
    inputs: object, document: Document, constants: Mapping[str, Any], batch_size: int | None
) -> InputRows:
    """Return the variables of each request, from rows, records or values.

    Raises
    ------
    OptionError
        If the inputs are of another kind, or do not fit the variables of the document.
    """
    names = [name for name in document.variables if name not in constants]
    required = [name for name in names if is_required(document, name)]
    only = next((choice[0] for choice in (names, required) if len(choice) == 1), None)
    items = read_items_of(inputs)
    if batch_size is not None:
        return split_batches(items, document, only, batch_size)
    records = list(map(read_record, items))
    if only is not None and takes_whole_rows(records, document, names, only):
        return InputRows([{only: item} for item in items], choose_beside(inputs, records))
    for number, record in enumerate(records):
        if record is None and only is None:
            quoted = sanitize_text(repr(items[number]), 80)
            msg = (
                f"Input {number}, {quoted}, is one value, and the operation declares "
                f"{describe_variables(document)}. Give a dict or a row with their names."
            )
            raise OptionError(msg)
        missing = [name for name in required if record is not None and name not in record]
        if missing:
            declared = format_variable_type(document.variables[missing[0]])
            listed = sanitize_text(", ".join(map(repr, record or ())) or "none", 300)
            msg = (
                f"Input {number} has no value for ${missing[0]}: {declared}. Its columns are: "
                f"{listed}."
            )
            if missing[0] in getattr(getattr(inputs, "index", None), "names", ()):
                msg += " The index has that name: give frame.reset_index()."
            raise OptionError(msg)
    rows = [
        {str(only): items[number]} if record is None else record
        for number, record in enumerate(records)
    ]
    return InputRows(rows, choose_beside(inputs, rows))


def choose_beside(inputs: object, records: Sequence[Any]) -> object:
    """Return the inputs themselves if they are a pandas frame, which has dtypes; else records."""
    return inputs if type(inputs).__name__ == "DataFrame" and hasattr(inputs, "iloc") else records


def read_items_of(inputs: object) -> list[Any]:
    """Return the items of any inputs: dicts of a table, else values as they are."""
    table = read_table(inputs)
    if table is not None:
        if table.repeated:
            repeated = ", ".join(map(repr, table.repeated))
            msg = f"The {table.kind} has more than one column {sanitize_text(repeated, 200)}."
            raise OptionError(msg)
        return table.to_records()
    if is_table(inputs):
        kind = type(inputs).__name__
        msg = f"{TAKES}. A {kind} is not computed yet: collect() or compute() it first."
        raise OptionError(msg)
    if isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Iterable):
        quoted = sanitize_text(repr(inputs), 80)
        msg = f"{TAKES}; not {quoted}."
        if isinstance(inputs, Mapping):
            msg += " For a dict of columns: pandas.DataFrame(columns)."
        raise OptionError(msg)
    items = read_items(inputs)
    if items is None:
        return list(inputs)
    return [None if is_missing(item) else item for item in items]


def split_batches(
    items: list[Any], document: Document, only: str | None, batch_size: int
) -> InputRows:
    """Return a request for each batch of items, beside the numbers of its first and last item."""
    batch_size = check_whole_number("batch_size", batch_size, least=1, or_none=True)
    listed = describe_variables(document)
    if only is None or not is_list_type(document.variables[only].type):
        msg = f"batch_size= needs one variable that is a list. The operation declares {listed}."
        raise OptionError(msg)
    starts = range(0, len(items), batch_size)
    return InputRows(
        [{only: items[at : at + batch_size]} for at in starts],
        [{"first_row": at, "last_row": min(at + batch_size, len(items)) - 1} for at in starts],
        in_batches=True,
    )


def takes_whole_rows(
    records: Sequence[Any], document: Document, names: Sequence[str], only: str
) -> bool:
    """Return whether each row is an input object, as the value of the only variable."""
    first = records[0] if records else None
    is_object = get_type_name(document.variables[only]) not in BUILT_IN_SCALARS
    # Rows with columns named like variables are the variables, not the one object.
    return first is not None and is_object and not any(name in first for name in names)


def is_required(document: Document, name: str) -> bool:
    """Return whether a variable must have a value."""
    node = document.variables[name]
    return isinstance(node.type, NonNullTypeNode) and node.default_value is None


def is_list_type(node: TypeNode) -> bool:
    """Return whether a type is a list, or a list that is not null."""
    return isinstance(node.type if isinstance(node, NonNullTypeNode) else node, ListTypeNode)


def describe_variables(document: Document) -> str:
    """Return the declared variables with their types."""
    texts = (f"${name}: {format_variable_type(node)}" for name, node in document.variables.items())
    return ", ".join(texts) or "no variables"


def number_problems(error: QueryError, number: int, batch_size: int | None = None) -> None:
    """Begin the message of an error with the number of its input, or of its batch's first row."""
    place = f"Input {number}"
    if batch_size is not None:
        place = f"Batch {number}, whose [0] is row {number * batch_size:,}"
    if error.problems:
        first, *others = error.problems
        error.problems = (replace(first, message=f"{place}: {first.message}"), *others)
    else:
        error.args = (f"{place}: {error.args[0]}",)
