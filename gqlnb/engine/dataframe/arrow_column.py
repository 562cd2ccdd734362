"""Columns of frames: the GraphQL names of their labels, their types, and their scalar values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from graphql import GraphQLError

from gqlnb.document.input_coercion import convert_value
from gqlnb.document.scalar_values import (
    NANOSECONDS_PER_SECOND,
    format_duration,
    parse_fraction,
    strip_zeros,
    to_nanoseconds,
)
from gqlnb.document.variables import HIDES_VALUES
from gqlnb.errors import SchemaError, sanitize_text

NAME = re.compile(r"(?!__)[A-Za-z_][0-9A-Za-z_]*")  # two underscores belong to introspection
# Letters that Unicode does not decompose, in the usual transliteration.
LETTERS = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "Th"}
    | {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D"}
)
OTHER_CHARACTERS = re.compile(r"[^0-9A-Za-z_]+")
OUTER_CHARACTERS = re.compile(r"^[^0-9A-Za-z_]+|[^0-9A-Za-z_]+$")
# The first three are invalid as enum values, which fields become in an order; the others join
# conditions in a filter.
RESERVED_NAMES = frozenset({"true", "false", "null", "and", "or", "not"})
PLURALS = (  # the first ending that fits; words that only look like plurals stay as they are
    (re.compile(r"(ss|us|is|series|species|news)$", re.IGNORECASE), None),
    (re.compile(r"ies$"), "y"),
    (re.compile(r"(?<=[sc]h|ss)es$|(?<=x)es$"), ""),
    (re.compile(r"s$"), ""),
)


def is_graphql_name(text: str) -> bool:
    """Return whether a text is valid as the name of a field and of an enum value."""
    return NAME.fullmatch(text) is not None and text not in {"true", "false", "null"}


def check_name(text: object, what: str) -> str:
    """Return a name given by the user.

    Raises
    ------
    SchemaError
        If it is not a valid GraphQL name.
    """
    if isinstance(text, str) and is_graphql_name(text):
        return text
    msg = (
        f"{sanitize_text(text, 80)!r} can't be the name of {what}: use letters, digits and "
        "underscores, no digit first, not two underscores first."
    )
    raise SchemaError(msg)


def format_label(label: object) -> str:
    """Return the label of a column as text; the parts of a tuple are joined by dots."""
    return ".".join(map(str, label)) if isinstance(label, tuple) else str(label)


def build_field_names(labels: Iterable[object], frame: str) -> list[str]:
    """Return a field name for each label of a frame's columns.

    Raises
    ------
    SchemaError
        If two labels become the same name, or one becomes empty.
    """
    found: dict[str, str] = {}
    for label in map(format_label, labels):
        name, shown = build_field_name(label), sanitize_text(label, 80)
        if not name:
            msg = (
                f"Column {shown!r} of frame {frame!r} has no letter from a to z and no digit, of "
                "which the name of a field consists. Rename it: "
                f"df.rename(columns={{{shown!r}: ...}})."
            )
            raise SchemaError(msg)
        if name in found:
            how = "df.columns = [...]" if label == found[name] else "df.rename(columns=...)"
            msg = (
                f"Columns {sanitize_text(found[name], 80)!r} and {shown!r} of frame {frame!r} "
                f"would both be field {name!r}. Rename one of them with {how}."
            )
            raise SchemaError(msg)
        found[name] = label
    return list(found)


def build_field_name(label: str) -> str:
    """Return a label as a field name; empty if no character of it is valid in a name."""
    apart = unicodedata.normalize("NFKD", label.translate(LETTERS))
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    name = OTHER_CHARACTERS.sub("_", OUTER_CHARACTERS.sub("", bare))
    name = re.sub(r"^__+", "_", name)
    if not name.strip("_"):
        return ""
    return f"_{name}" if name[0].isdigit() else f"{name}_" if name in RESERVED_NAMES else name


def build_type_name(name: str) -> str:
    """Return the type of a frame's rows: the singular, or the name with ``Row``, in PascalCase."""
    word = singularize(name)
    pascal = "".join(part[:1].upper() + part[1:] for part in word.split("_"))
    return pascal if word != name else f"{pascal}Row"


def singularize(word: str) -> str:
    """Return the singular of a plural in s; any other word unchanged."""
    for ending, instead in PLURALS:
        if ending.search(word):
            return word if instead is None else ending.sub(instead, word)
    return word


# Of the units of Arrow; days are parsed to days.
NANOSECONDS_PER_UNIT = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "D": 1}
TickArray: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
BIGINT_DIGITS = 38  # the digits of a 128 bit decimal

MOMENT = re.compile(r"(\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d)?)?)(?:[.,](\d{1,9}))?(\D.*)?")

SCALAR_DESCRIPTIONS = {
    "BigInt": f"A whole number of up to {BIGINT_DIGITS} digits, beyond the 32 bits of Int.",
    "Date": "A date in ISO 8601 format: 2024-02-29.",
    "DateTime": "A date and time in ISO 8601 format, in UTC: 2024-02-29T12:30:00Z. "
    "Filters accept any UTC offset; the default is UTC.",
    "Decimal": "An exact decimal number, as text: 12.50.",
    "Duration": "A length of time in ISO 8601 format, in seconds: PT90S. "
    "Filters also accept weeks, days, hours and minutes: P1DT2H.",
    "JSON": "Any JSON value.",
    "LocalDateTime": "A date and time without a time zone: 2024-02-29T12:30:00.",
    "Time": "A time of day in ISO 8601 format: 12:30:00.",
    "UUID": "A UUID as text.",
}


def read_moment(text: str, *, is_local: bool = False) -> int:
    """Return a moment as nanoseconds since 1970, in UTC if it has no offset.

    With `is_local`, an offset is an error.
    """
    match = MOMENT.fullmatch(text)
    if match is None or (is_local and match[3]):
        raise ValueError
    base, digits, zone = match.groups()
    found = datetime.fromisoformat(f"{base}{zone or ''}".upper())
    since = found.replace(tzinfo=found.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * NANOSECONDS_PER_SECOND + parse_fraction(digits)


def _read_date(text: str) -> int:
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()


def _read_time(text: str) -> int:
    return read_moment(f"1970-01-01T{text}", is_local=True)


def read_decimal(value: object) -> Decimal:
    """Return an exact decimal number; of a float the number that it prints as."""
    found = Decimal(str(value))
    if isinstance(value, bool) or not found.is_finite() or abs(found.adjusted()) > 1000:
        raise ValueError
    return found


def _read_big_integer(value: object) -> int:
    found = read_decimal(value)
    if found != found.to_integral_value() or found.adjusted() >= BIGINT_DIGITS:
        raise ValueError
    return int(found)


def build_parser(name: str, read: Callable[[Any], Any], form: str) -> Callable[[Any], Any]:
    """Return a scalar's parser; its error shows a valid form.

    The error never contains the value, which may be that of a variable.
    """

    def parse(value: object) -> object:
        try:
            return read(value)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            message = f"{name} cannot represent this value: write {form}."
        raise GraphQLError(message)

    setattr(parse, HIDES_VALUES, True)
    return parse


READERS: tuple[tuple[str, Callable[[Any], Any], str], ...] = (
    ("BigInt", _read_big_integer, f"a whole number of up to {BIGINT_DIGITS} digits"),
    ("Date", _read_date, "a day such as '2024-02-29'"),
    ("DateTime", read_moment, "a moment such as '2024-02-29T12:30:00Z'"),
    (
        "LocalDateTime",
        partial(read_moment, is_local=True),
        "a date and time without a time zone such as '2024-02-29T12:30:00'",
    ),
    ("Decimal", read_decimal, "a number such as '12.50'"),
    ("Duration", to_nanoseconds, "a length of time such as 'PT90S'"),
    ("UUID", lambda text: str(UUID(text)), "a UUID as text"),
    ("Time", _read_time, "a time of day such as '12:30:00'"),
)
SCALAR_PARSERS = {
    name: {"__parseValue": build_parser(name, read, form)} for name, read, form in READERS
}


def format_moments(ticks: TickArray, unit: str) -> list[str]:
    """Return moments in UTC as text.

    Parameters
    ----------
    ticks
        NumPy integers, `unit` since 1970.
    unit
        ``"s"``, ``"ms"``, ``"us"``, ``"ns"`` or, for days, ``"D"``.
    """
    texts: list[str] = np.datetime_as_string(ticks.astype(f"datetime64[{unit}]")).tolist()
    return texts if unit == "D" else [f"{strip_zeros(text)}Z" for text in texts]


def format_local_moments(ticks: TickArray, unit: str) -> list[str]:
    """Version of :func:`format_moments` for moments without a time zone."""
    return [text.removesuffix("Z") for text in format_moments(ticks, unit)]


def format_times(ticks: TickArray, unit: str) -> list[str]:
    """Return times of day as text; `ticks` are NumPy integers, `unit` since midnight."""
    return [text.partition("T")[2] for text in format_local_moments(ticks, unit)]


def format_durations(ticks: TickArray, unit: str) -> list[str]:
    """Return lengths of time as text; `ticks` are NumPy integers in `unit`."""
    return [format_duration(tick * NANOSECONDS_PER_UNIT[unit]) for tick in ticks.tolist()]


ArrowArray: TypeAlias = Any  # pyarrow has no type stubs
Value: TypeAlias = Any  # a JSON value, or an operand as its scalar parses it

EQUALITY = ("eq", "neq", "in", "nin")
COMPARISONS = (*EQUALITY, "gt", "gte", "lt", "lte")
INT_LIMIT = 2**31  # GraphQL's Int has 32 bits
COMPARISON_FUNCTIONS: dict[str, Callable[[ArrowArray, Value], ArrowArray]] = {
    "eq": pc.equal,
    "gt": pc.greater,
    "gte": pc.greater_equal,
    "lt": pc.less,
    "lte": pc.less_equal,
}
TEXT_FUNCTIONS: dict[str, Callable[[ArrowArray, Value], ArrowArray]] = {
    "contains": pc.match_substring,
    "startsWith": pc.starts_with,
    "endsWith": pc.ends_with,
}
TEXT_OPERATORS = (*COMPARISONS, *TEXT_FUNCTIONS)
OPPOSITES = {"neq": "eq", "nin": "in"}


class UnsupportedColumnError(ValueError):
    """Values that have no GraphQL type; the message says why."""


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """One column of a table.

    Attributes
    ----------
    type
        The name of its GraphQL type; empty for an enum, whose name depends on the field.
    values
        The values to compare and sort, an Arrow array: moments as integers, enums as codes.
    show
        Returns the JSON values of an Arrow array like `values`.
    operators
        The operators of its filter, without ``isNull``.
    names
        The categories by their codes; the members of an enum. Empty for other types.
    step
        The size of one step of `values` in the unit of a request; None if they need no conversion.
    note
        A note for the description of its field.
    """

    type: str
    values: ArrowArray
    show: Callable[[ArrowArray], list[Value]]
    operators: tuple[str, ...]
    names: tuple[str, ...] = ()
    step: Fraction | None = None
    note: str = ""

    @property
    def ordered(self) -> bool:
        """Whether rows can be ordered by it."""
        return bool(self.operators)

    def match_values(self, values: ArrowArray, operator: str, wanted: Value) -> ArrowArray:
        """Return for which of `values`, all or some of this column's, a condition holds.

        Parameters
        ----------
        values
            An Arrow array.
        operator
            A name of `operators`, or ``"isNull"``.
        wanted
            The operand. Null equals null, and nothing else.

        Returns
        -------
        BooleanArray
            Without nulls: either a condition or its opposite holds.

        Raises
        ------
        GraphQLError
            If `wanted` is null and the operator does not take null.
        """
        if operator in OPPOSITES:
            return pc.invert(self.match_values(values, OPPOSITES[operator], wanted))
        if wanted is None and operator != "eq":
            msg = f"'{operator}' can't be null. To ask for rows without a value, use isNull: true."
            raise GraphQLError(msg)
        if operator == "isNull":
            return values.is_null() if wanted else values.is_valid()
        if wanted is None:
            return values.is_null()
        return pc.fill_null(self._match_valid(values, operator, wanted), fill_value=False)

    def _match_valid(self, values: ArrowArray, operator: str, wanted: Value) -> ArrowArray:
        if operator in TEXT_FUNCTIONS and self.names:  # tested once a category, not once a row
            fits = TEXT_FUNCTIONS[operator](pa.array(self.names, pa.large_string()), wanted)
            return pc.is_in(values, value_set=pc.indices_nonzero(fits).cast(values.type))
        if operator in TEXT_FUNCTIONS:
            return TEXT_FUNCTIONS[operator](values, wanted)
        if operator == "in":
            known = [it for item in wanted if (it := self._find_exact(item)) is not None]
            return pc.is_in(values, value_set=pa.array(known, values.type))
        if self.step is None or operator == "eq":
            exact = self._find_exact(wanted)
            if exact is None and operator != "eq":
                name = sanitize_text(wanted, 80)
                msg = f"{name!r} is not a category and cannot be compared with lt, lte, gt or gte."
                raise GraphQLError(msg)
            return COMPARISON_FUNCTIONS[operator](values, pa.scalar(exact, values.type))
        # Fractions, since a float would round nanoseconds and decimals.
        return self._compare_bound(values, operator, Fraction(wanted) / self.step)

    def _find_exact(self, wanted: Value) -> ArrowArray:
        """Return the element of `values` that equals `wanted`, None if none can."""
        if self.names:
            return self.names.index(wanted) if wanted in self.names else None
        if self.step is None:
            return wanted
        exact = Fraction(wanted) / self.step
        low, high = find_bounds(self.values.type)
        fits = exact.denominator == 1 and low <= exact <= high
        return scale_steps(exact.numerator, self.values.type) if fits else None

    def _compare_bound(self, values: ArrowArray, operator: str, wanted: Fraction) -> ArrowArray:
        """Compare with a number that may lie between two steps or beyond the type's range."""
        low, high = find_bounds(self.values.type)
        floor = wanted.numerator // wanted.denominator
        if (
            not low <= floor <= high
        ):  # beyond every value: the comparison holds for all, or for none
            holds = (operator in {"lt", "lte"}) == (floor > high)
            return values.is_valid() if holds else pa.repeat(pa.scalar(value=False), len(values))
        if floor != wanted:
            operator = {"lt": "lte", "gte": "gt"}.get(operator, operator)
        return COMPARISON_FUNCTIONS[operator](
            values, pa.scalar(scale_steps(floor, values.type), values.type)
        )


def find_bounds(kind: pa.DataType) -> tuple[int, int]:
    """Return the lowest and the highest number of an Arrow type, in its steps."""
    if pa.types.is_decimal(kind):
        return 1 - 10**kind.precision, 10**kind.precision - 1
    if pa.types.is_unsigned_integer(kind):
        return 0, (1 << kind.bit_width) - 1
    return -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1


def scale_steps(steps: int, kind: pa.DataType) -> int | Decimal:
    """Return a number of steps in the form that an Arrow type takes."""
    # Through text: arithmetic would round to the digits of the current decimal context.
    return Decimal(f"{steps}E{-kind.scale}") if pa.types.is_decimal(kind) else steps


# -- building columns from Arrow arrays


def build_column(array: ArrowArray, hint: str | None = None) -> ArrowColumn:
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
    UnsupportedColumnError
        If GraphQL has no type for it.
    """
    if hint == "JSON":
        return ArrowColumn("JSON", array, _decode_json_texts, ())
    if hint == "BigInt":
        return ArrowColumn("BigInt", array, _list_integers, COMPARISONS, step=Fraction(1))
    if hint is not None:
        return ArrowColumn(hint, array, _list_values, EQUALITY)
    for fits, make in COLUMN_BUILDERS:
        if fits(array.type):
            return make(array)
    raise build_type_error(array)


def build_type_error(array: ArrowArray) -> UnsupportedColumnError:
    """Return the error for an Arrow type without a GraphQL type."""
    return UnsupportedColumnError(
        f"Arrow's type {array.type} has no GraphQL type. Convert it, to text for instance."
    )


def _list_values(array: ArrowArray) -> list[Value]:
    return array.to_pylist()  # type: ignore[no-any-return]


def build_integer_column(array: ArrowArray) -> ArrowColumn:
    """Return a column of integers: Int if all of them fit into 32 bits, else BigInt."""
    # 64 bit columns are pandas' default, so that their values decide; a narrow type decides itself.
    ends = pc.min_max(array).as_py()
    low, high = ends["min"] or 0, ends["max"] or 0
    small = array.type.bit_width < 32 or (low >= -INT_LIMIT and high < INT_LIMIT)
    return ArrowColumn(
        "Int" if small else "BigInt", array, _list_values, COMPARISONS, step=Fraction(1)
    )


def build_float_column(array: ArrowArray) -> ArrowColumn:
    """Return a column of floats; NaN and infinity, which JSON does not have, are null."""
    array = array.cast(pa.float64())
    finite = pc.is_finite(array)
    note = ""
    if pc.all(finite).as_py() is False:
        lost = pc.sum(pc.is_inf(array)).as_py()
        note = f"Infinite values ({lost:,}) are null, as JSON has none." if lost else ""
        array = pc.if_else(finite, array, pa.scalar(None, pa.float64()))
    return ArrowColumn("Float", array, _list_values, COMPARISONS, note=note)


def _build_decimal_column(array: ArrowArray) -> ArrowColumn:
    return ArrowColumn(
        "Decimal", array, list_decimals, COMPARISONS, step=Fraction(10) ** -array.type.scale
    )


def _list_integers(array: ArrowArray) -> list[int | None]:
    return [None if value is None else int(value) for value in array.to_pylist()]


def list_decimals(array: ArrowArray) -> list[str | None]:
    """Return decimals as text, with all digits and no exponent."""
    return [None if value is None else format(value, "f") for value in array.to_pylist()]


def build_category_column(array: ArrowArray) -> ArrowColumn:
    """Return a column of categories: an enum if all of them are valid names, else their values.

    Ordered texts stay codes, which have their order.
    """
    names = array.dictionary.to_pylist()
    texts = bool(names) and all(isinstance(name, str) for name in names)
    named = texts and all(map(is_graphql_name, names))
    if not (named or (texts and array.type.ordered)):
        return build_column(array.dictionary_decode())
    operators = (COMPARISONS if named else TEXT_OPERATORS) if array.type.ordered else EQUALITY

    def show(codes: ArrowArray) -> list[Value]:
        return [None if code is None else names[code] for code in codes.to_pylist()]

    kind, note = ("", "") if named else ("String", "Categories; they are in their own order.")
    return ArrowColumn(kind, array.indices, show, operators, tuple(names), note=note)


def build_timestamp_column(array: ArrowArray) -> ArrowColumn:
    """Return a column of moments, those without a time zone as LocalDateTime."""
    # The DateTime of graphql-scalars and of scalars.graphql.org has an offset, and an empty column
    # would not show a client that it has none.
    unit, ticks = array.type.unit, array.cast(pa.int64())
    if array.type.tz is None:
        return build_tick_column("LocalDateTime", ticks, unit, format_local_moments)
    return build_tick_column("DateTime", ticks, unit, format_moments)


def _build_date_column(array: ArrowArray) -> ArrowColumn:
    days = array.cast(pa.date32()).cast(pa.int32())
    return build_tick_column("Date", days, "D", format_moments)


def build_tick_column(
    name: str, ticks: ArrowArray, unit: str, write: Callable[[TickArray, str], list[str]]
) -> ArrowColumn:
    """Return a column of times, counted in a unit, with their formatter."""

    def show(array: ArrowArray) -> list[Value]:
        texts = write(pc.fill_null(array, 0).to_numpy(zero_copy_only=False), unit)
        valid = array.is_valid().to_pylist()
        return [text if known else None for text, known in zip(texts, valid, strict=True)]

    return ArrowColumn(name, ticks, show, COMPARISONS, step=Fraction(NANOSECONDS_PER_UNIT[unit]))


def _build_nested_column(array: ArrowArray) -> ArrowColumn:
    return ArrowColumn(
        "JSON", array, lambda a: _decode_json_texts(encode_json_texts(a.to_pylist())), ()
    )


def build_extension_column(array: ArrowArray) -> ArrowColumn:
    """Return a column of an extension type: of UUIDs, JSON texts or Booleans."""
    name = getattr(array.type, "extension_name", "")
    if name == "arrow.uuid":
        texts = [None if it is None else str(it) for it in array.to_pylist()]
        return build_column(pa.array(texts, pa.string()), "UUID")
    if name == "arrow.json":
        return build_column(array.storage.cast(pa.large_string()), "JSON")
    if name == "arrow.bool8":
        return build_column(array.storage.cast(pa.bool_()))
    raise build_type_error(array)


def encode_json_texts(values: list[Value]) -> ArrowArray:
    """Return values as an Arrow array of JSON texts, null for None.

    Raises
    ------
    UnsupportedColumnError
        If one of them has no JSON form; the message names its row.
    """
    texts: list[str | None] = []
    for row, value in enumerate(values):
        try:
            encoded = msgspec.json.encode(value, enc_hook=convert_value)
            texts.append(None if value is None else encoded.decode())
        except (TypeError, ValueError, RecursionError, OverflowError):
            msg = (
                f"Row {row} holds a {type(value).__name__} that has no JSON form. "
                "Convert it, to text for instance."
            )
            raise UnsupportedColumnError(msg) from None
    return pa.array(texts, pa.large_string())


def _decode_json_texts(array: ArrowArray) -> list[Value]:
    return [None if text is None else msgspec.json.decode(text) for text in array.to_pylist()]


pa_types = pa.types
COLUMN_BUILDERS: tuple[
    tuple[Callable[[pa.DataType], bool], Callable[[ArrowArray], ArrowColumn]], ...
] = (
    (pa_types.is_run_end_encoded, lambda a: build_column(pc.run_end_decode(a))),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), build_extension_column),
    (pa_types.is_boolean, lambda a: ArrowColumn("Boolean", a, _list_values, ("eq", "neq"))),
    (pa_types.is_integer, build_integer_column),
    (pa_types.is_floating, build_float_column),
    (pa_types.is_string, lambda a: ArrowColumn("String", a, _list_values, TEXT_OPERATORS)),
    (pa_types.is_large_string, lambda a: ArrowColumn("String", a, _list_values, TEXT_OPERATORS)),
    (pa_types.is_string_view, lambda a: build_column(a.cast(pa.large_string()))),
    (pa_types.is_dictionary, build_category_column),
    (pa_types.is_timestamp, build_timestamp_column),
    (pa_types.is_date, _build_date_column),
    (
        pa_types.is_time,
        lambda a: build_tick_column(
            "Time", a.cast(f"int{a.type.bit_width}"), a.type.unit, format_times
        ),
    ),
    (
        pa_types.is_duration,
        lambda a: build_tick_column("Duration", a.cast(pa.int64()), a.type.unit, format_durations),
    ),
    (pa_types.is_decimal, _build_decimal_column),
    (pa_types.is_null, lambda a: build_column(a.cast(pa.string()))),
    (pa_types.is_nested, _build_nested_column),
)
