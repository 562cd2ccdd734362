"""A column: values as Arrow holds them, their GraphQL type, and what a filter asks of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from graphql import GraphQLError

from gqlnb.engine.frames.naming import is_name
from gqlnb.engine.frames.scalars import STEPS, local_moments, moments, spans, times
from gqlnb.errors import plain
from gqlnb.model.wire_values import wire_value

__all__ = ["Column", "UnfitError", "column_of", "texts_of_json"]

EQUALITY = ("eq", "neq", "in", "nin")
COMPARING = (*EQUALITY, "gt", "gte", "lt", "lte")
INT = 2**31  # GraphQL's Int has 32 bits
TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": pc.equal,
    "gt": pc.greater,
    "gte": pc.greater_equal,
    "lt": pc.less,
    "lte": pc.less_equal,
}
PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "contains": pc.match_substring,
    "startsWith": pc.starts_with,
    "endsWith": pc.ends_with,
}
TEXT = (*COMPARING, *PARTS)
OPPOSITE = {"neq": "eq", "nin": "in"}


class UnfitError(ValueError):
    """Values that have no GraphQL type; the message says why."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    type
        The name of its GraphQL type; empty for an enum, which is named where it stands.
    values
        What is compared and sorted, an Arrow array: moments as integers, enums as codes.
    show
        Returns the JSON values of an Arrow array like `values`.
    operators
        What a filter may ask, ``isNull`` apart.
    names
        The categories by their codes; of an enum they are its members. Else empty.
    step
        How much of what a request counts in one step of `values` is; None where both are alike.
    note
        What a reader of the schema should know.
    """

    type: str
    values: Any
    show: Callable[[Any], list[Any]]
    operators: tuple[str, ...]
    names: tuple[str, ...] = ()
    step: Fraction | None = None
    note: str = ""

    @property
    def ordered(self) -> bool:
        """Whether rows can be ordered by it."""
        return bool(self.operators)

    def holds(self, values: Any, operator: str, wanted: Any) -> Any:
        """Tell of which of `values`, all or some of this column's, a condition holds.

        Parameters
        ----------
        values
            An Arrow array.
        operator
            A name of `operators`, or ``"isNull"``.
        wanted
            What the condition compares with. Null equals null, and nothing else.

        Returns
        -------
        BooleanArray
            Without nulls: each condition and its opposite split the rows.

        Raises
        ------
        GraphQLError
            If `wanted` is null where null means nothing.
        """
        if operator in OPPOSITE:
            return pc.invert(self.holds(values, OPPOSITE[operator], wanted))
        if wanted is None and operator != "eq":
            msg = f"'{operator}' can't be null. To ask for rows without a value, use isNull: true."
            raise GraphQLError(msg)
        if operator == "isNull":
            return values.is_null() if wanted else values.is_valid()
        if wanted is None:
            return values.is_null()
        return pc.fill_null(self._test(values, operator, wanted), False)

    def _test(self, values: Any, operator: str, wanted: Any) -> Any:
        if operator in PARTS and self.names:
            fits = PARTS[operator](pa.array(self.names, pa.large_string()), wanted)
            return pc.is_in(values, value_set=pc.indices_nonzero(fits).cast(values.type))
        if operator in PARTS:
            return PARTS[operator](values, wanted)
        if operator == "in":
            known = [it for item in wanted if (it := self._exact(item)) is not None]
            return pc.is_in(values, value_set=pa.array(known, values.type))
        if self.step is None or operator == "eq":
            exact = self._exact(wanted)
            if exact is None and operator != "eq":
                msg = f"{plain(wanted, 80)!r} is no category, so none is before or behind it."
                raise GraphQLError(msg)
            return TESTS[operator](values, pa.scalar(exact, values.type))
        return self._compared(values, operator, Fraction(wanted) / self.step)

    def _exact(self, wanted: Any) -> Any:
        """Return what `values` hold where they equal `wanted`, None if they never do."""
        if self.names:
            return self.names.index(wanted) if wanted in self.names else None
        if self.step is None:
            return wanted
        exact = Fraction(wanted) / self.step
        low, high = bounds(self.values.type)
        fits = exact.denominator == 1 and low <= exact <= high
        return number(exact.numerator, self.values.type) if fits else None

    def _compared(self, values: Any, operator: str, wanted: Fraction) -> Any:
        """Compare with a number that no value may be able to equal."""
        low, high = bounds(self.values.type)
        floor = wanted.numerator // wanted.denominator
        if not low <= floor <= high:  # on the far side of every value: all are so, or none
            holds = (operator in {"lt", "lte"}) == (floor > high)
            return values.is_valid() if holds else pa.repeat(pa.scalar(False), len(values))
        if floor != wanted:
            operator = {"lt": "lte", "gte": "gt"}.get(operator, operator)
        return TESTS[operator](values, pa.scalar(number(floor, values.type), values.type))


def bounds(kind: Any) -> tuple[int, int]:
    """Return the lowest and the highest number that an Arrow type holds, in its steps."""
    if pa.types.is_decimal(kind):
        return 1 - 10**kind.precision, 10**kind.precision - 1
    if pa.types.is_unsigned_integer(kind):
        return 0, (1 << kind.bit_width) - 1
    return -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1


def number(steps: int, kind: Any) -> Any:
    """Return a number of steps as an Arrow type takes it."""
    # Through text: arithmetic would round to the digits of the current decimal context.
    return Decimal(f"{steps}E{-kind.scale}") if pa.types.is_decimal(kind) else steps


# -- from Arrow


def column_of(array: Any, hint: str | None = None) -> Column:
    """Return the column of an Arrow array.

    Parameters
    ----------
    array
        Of any type.
    hint
        ``"JSON"`` for text that is JSON, ``"UUID"`` for text that is UUIDs, ``"BigInt"`` for whole
        numbers as decimals.

    Raises
    ------
    UnfitError
        If there is no GraphQL type for it.
    """
    if hint == "JSON":
        return Column("JSON", array, from_json, ())
    if hint == "BigInt":
        return Column("BigInt", array, whole_numbers, COMPARING, step=Fraction(1))
    if hint is not None:
        return Column(hint, array, listed, EQUALITY)
    for fits, make in MAKERS:
        if fits(array.type):
            return make(array)
    msg = f"Arrow's type {array.type} has no GraphQL type. Convert it, to text for instance."
    raise UnfitError(msg)


def listed(array: Any) -> list[Any]:
    """Return the values of an array as Python holds them, None for null."""
    found: list[Any] = array.to_pylist()
    return found


def whole(array: Any) -> Column:
    """Return a column of whole numbers: Int where all of them fit into 32 bits."""
    ends = pc.min_max(array).as_py()
    low, high = ends["min"] or 0, ends["max"] or 0
    small = array.type.bit_width < 32 or (low >= -INT and high < INT)
    return Column("Int" if small else "BigInt", array, listed, COMPARING, step=Fraction(1))


def floating(array: Any) -> Column:
    """Return a column of floats; NaN and infinity, which JSON has not, are null."""
    array = array.cast(pa.float64())
    finite = pc.is_finite(array)
    note = ""
    if pc.all(finite).as_py() is False:
        lost = pc.sum(pc.is_inf(array)).as_py()
        note = f"Infinite values ({lost:,}) are null, as JSON has none." if lost else ""
        array = pc.if_else(finite, array, pa.scalar(None, pa.float64()))
    return Column("Float", array, listed, COMPARING, note=note)


def exact(array: Any) -> Column:
    """Return a column of decimals."""
    return Column("Decimal", array, decimals, COMPARING, step=Fraction(10) ** -array.type.scale)


def whole_numbers(array: Any) -> list[int | None]:
    """Return the values of decimals without a point."""
    return [None if value is None else int(value) for value in array.to_pylist()]


def decimals(array: Any) -> list[str | None]:
    """Return the values of decimals as text, all their digits and no exponent."""
    return [None if value is None else format(value, "f") for value in array.to_pylist()]


def dictionary(array: Any) -> Column:
    """Return a column of categories: an enum where all of them are names, else their values.

    Texts that are ordered stay codes, which have their order.
    """
    names = array.dictionary.to_pylist()
    texts = bool(names) and all(isinstance(name, str) for name in names)
    named = texts and all(map(is_name, names))
    if not (named or (texts and array.type.ordered)):
        return column_of(array.dictionary_decode())
    operators = (COMPARING if named else TEXT) if array.type.ordered else EQUALITY

    def show(codes: Any) -> list[Any]:
        return [None if code is None else names[code] for code in codes.to_pylist()]

    kind, note = ("", "") if named else ("String", "Categories; they are in their own order.")
    return Column(kind, array.indices, show, operators, tuple(names), note=note)


def moment(array: Any) -> Column:
    """Return a column of moments, those without a time zone as LocalDateTime.

    graphql-scalars' and scalars.graphql.org's DateTime has an offset, and a client could not tell
    from an empty column of it that there is none. LocalDateTime is the name for moments without.
    """
    unit, ticks = array.type.unit, array.cast(pa.int64())
    if array.type.tz is None:
        return counted("LocalDateTime", ticks, unit, local_moments)
    return counted("DateTime", ticks, unit, moments)


def day(array: Any) -> Column:
    """Return a column of days."""
    days = array.cast(pa.date32()).cast(pa.int32())
    return counted("Date", days, "D", moments)


def counted(name: str, ticks: Any, unit: str, write: Callable[[Any, str], list[str]]) -> Column:
    """Return a column of times, counted in a unit, that `write` writes."""

    def show(array: Any) -> list[Any]:
        texts = write(pc.fill_null(array, 0).to_numpy(zero_copy_only=False), unit)
        valid = array.is_valid().to_pylist()
        return [text if known else None for text, known in zip(texts, valid, strict=True)]

    return Column(name, ticks, show, COMPARING, step=Fraction(STEPS[unit]))


def nested(array: Any) -> Column:
    """Return a column of lists, structs and maps."""
    return Column("JSON", array, lambda a: from_json(texts_of_json(a.to_pylist())), ())


def extension(array: Any) -> Column:
    """Return a column of an Arrow type that stands for another: of UUIDs, JSON texts, Booleans.

    Raises
    ------
    UnfitError
        If it is none of these.
    """
    name = getattr(array.type, "extension_name", "")
    if name == "arrow.uuid":
        texts = [None if it is None else str(it) for it in array.to_pylist()]
        return column_of(pa.array(texts, pa.string()), "UUID")
    if name == "arrow.json":
        return column_of(array.storage.cast(pa.large_string()), "JSON")
    if name == "arrow.bool8":
        return column_of(array.storage.cast(pa.bool_()))
    msg = f"Arrow's type {array.type} has no GraphQL type. Convert it, to text for instance."
    raise UnfitError(msg)


def texts_of_json(values: list[Any]) -> Any:
    """Return values as an Arrow array of JSON texts, null for None.

    Raises
    ------
    UnfitError
        If one of them has no JSON form; the message names its row.
    """
    texts: list[str | None] = []
    for row, value in enumerate(values):
        try:
            made = None if value is None else msgspec.json.encode(value, enc_hook=wire_value)
            texts.append(made if made is None else made.decode())
        except (TypeError, ValueError, RecursionError, OverflowError):
            msg = (
                f"Row {row} holds a {type(value).__name__} that has no JSON form. "
                "Convert it, to text for instance."
            )
            raise UnfitError(msg) from None
    return pa.array(texts, pa.large_string())


def from_json(array: Any) -> list[Any]:
    """Return the values of JSON texts."""
    return [None if text is None else msgspec.json.decode(text) for text in array.to_pylist()]


T = pa.types
MAKERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Column]], ...] = (
    (T.is_run_end_encoded, lambda a: column_of(pc.run_end_decode(a))),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), extension),
    (T.is_boolean, lambda a: Column("Boolean", a, listed, ("eq", "neq"))),
    (T.is_integer, whole),
    (T.is_floating, floating),
    (T.is_string, lambda a: Column("String", a, listed, TEXT)),
    (T.is_large_string, lambda a: Column("String", a, listed, TEXT)),
    (T.is_string_view, lambda a: column_of(a.cast(pa.large_string()))),
    (T.is_dictionary, dictionary),
    (T.is_timestamp, moment),
    (T.is_date, day),
    (T.is_time, lambda a: counted("Time", a.cast(f"int{a.type.bit_width}"), a.type.unit, times)),
    (T.is_duration, lambda a: counted("Duration", a.cast(pa.int64()), a.type.unit, spans)),
    (T.is_decimal, exact),
    (T.is_null, lambda a: column_of(a.cast(pa.string()))),
    (T.is_nested, nested),
)
