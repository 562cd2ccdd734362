"""Kinds of scalars: the dtype and the Arrow type of a column, and the functions for its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple

from gqlnb.model import scalar_values as values
from gqlnb.model.scalar_values import (
    read_boolean,
    read_byte,
    read_clock,
    read_day,
    read_decimal,
    read_epoch,
    read_identity,
    read_local_moment,
    read_local_nanoseconds,
    read_money,
    read_number,
    read_number_text,
    read_object,
    read_text,
    read_timestamp,
    read_zoned_clock,
    read_zoned_moment,
    read_zoned_nanoseconds,
    send_day,
    send_epoch,
    send_local_moment,
    send_moment,
    send_number,
    whole_reader,
)

__all__ = [
    "ANY",
    "BIG",
    "BYTE",
    "CLOCK",
    "DAY",
    "EPOCH_MILLISECONDS",
    "EPOCH_SECONDS",
    "EXACT",
    "FLOAT",
    "ID",
    "INT",
    "LOCAL_MOMENT",
    "LONG",
    "MOMENT",
    "MONEY",
    "NUMBER",
    "SECONDS",
    "SPAN",
    "TEXT",
    "TIMESTAMP",
    "TRUTH",
    "UNKNOWN",
    "WRITTEN",
    "ZONED_CLOCK",
    "OtherForm",
    "Scalar",
]


@dataclass(frozen=True, slots=True)
class Scalar:
    """How the values of a scalar are read and sent.

    Attributes
    ----------
    dtype
        The pandas dtype of a column; ``"object"`` for Python values as they are.
    arrow
        The Arrow type of a column; None where it depends on the values.
    stored
        The Arrow type that values are read as on the way there, where it is another: 32 bits check
        the range of an Int, and Arrow parses the text of a moment.
    wire
        The Python types that the JSON values have, None apart.
    exact
        Those of `wire` that Arrow takes as they are.
    fix
        Makes a value of any other type right, or raises; None where values stay as they are.
    serialise
        Makes a Python value of a variable a JSON value; None for the usual way.
    wider
        The kind of a column where `fix` raises `WiderError` for one of its values; None where
        it never does.
    others
        The kinds of a column where `fix` raises `OtherFormError` for its first value, by the name
        of the form: servers give one name to different things.
    """

    dtype: str
    arrow: str | None = None
    stored: str | None = None
    wire: tuple[type, ...] = ()
    exact: frozenset[type] = frozenset()
    fix: Callable[[Any], Any] | None = None
    serialise: Callable[[Any], Any] | None = None
    wider: Scalar | None = None
    others: Mapping[str, OtherForm] = field(default_factory=dict, compare=False)


class OtherForm(NamedTuple):
    """The kind of a column whose values are not what the name of their scalar says.

    Attributes
    ----------
    scalar
        The kind.
    described
        A noun for such values, where the difference is worth a warning; empty where the dtype of
        the column says enough.
    like
        The known scalar that has these values.
    """

    scalar: Scalar
    described: str = ""
    like: str = ""


_STR = frozenset({str})

TEXT = Scalar("string", "large_string", None, (str,), _STR, read_text)
WRITTEN = replace(TEXT, fix=read_object)
ID = replace(TEXT, wire=(str, int), fix=read_identity)
INT = Scalar("Int64", "int64", "int32", (int,), frozenset({int}), whole_reader(32, texts=False))
LONG = Scalar("Int64", "int64", None, (int, str), frozenset({int}), whole_reader(64, texts=True))
FLOAT = Scalar(
    "Float64", "float64", None, (float,), frozenset({float, int}), read_number, send_number
)
# As `FLOAT`, and text: PostgreSQL's infinities, and numbers of servers that write all as text.
NUMBER = replace(FLOAT, wire=(float, str), fix=read_number_text)
TRUTH = Scalar("boolean", "bool", None, (bool,), frozenset({bool}), read_boolean)
# A number of more than 64 bits, and a moment with nanoseconds, make their columns hold that: either
# is exact, which a declared dtype that cuts them would not be.
BIG = replace(
    LONG,
    fix=whole_reader(64, texts=True, wider=True),
    wider=Scalar("object", "decimal128(38)", wire=LONG.wire, fix=whole_reader(None, texts=True)),
)
BYTE = replace(
    LONG, fix=read_byte, others={values.TEXT: OtherForm(TEXT, "text, not numbers", "String")}
)
EXACT = Scalar("object", "decimal128", wire=(Decimal,), fix=read_decimal)
MONEY = replace(
    EXACT,
    fix=read_money,
    others={values.AMOUNT: OtherForm(TEXT, "text, not plain numbers", "String")},
)

# Moments. Where the first value has a zone all must have one, and none where it has none: what a
# name says of that is true of most servers, not of all (PostGraphile and Strawberry name both
# alike). A moment without a zone is never taken for one in UTC.
_ZONED = Scalar(
    "datetime64[us, UTC]",
    "moment",
    "large_string",
    (str,),
    _STR,
    read_zoned_moment,
    send_moment,
    Scalar("datetime64[ns, UTC]", "instant", "large_string", (str,), fix=read_zoned_nanoseconds),
)
_LOCAL = Scalar(
    "datetime64[us]",
    "local moment",
    "large_string",
    (str,),
    _STR,
    read_local_moment,
    send_local_moment,
    Scalar("datetime64[ns]", "local instant", "large_string", (str,), fix=read_local_nanoseconds),
)
MOMENT = replace(_ZONED, others={values.LOCAL: OtherForm(_LOCAL)})
LOCAL_MOMENT = replace(
    _LOCAL, others={values.ZONED: OtherForm(_ZONED, "timestamps with a time zone", "DateTime")}
)
TIMESTAMP = replace(
    MOMENT,
    fix=read_timestamp,
    others={
        values.LOCAL: OtherForm(_LOCAL),
        values.COUNT: OtherForm(
            replace(LONG, serialise=None), "numbers in a unit that is not known", "Long"
        ),
    },
)
_NUMERIC_MOMENT = replace(_ZONED, wire=(int, float, str), exact=frozenset(), stored=None)
EPOCH_SECONDS = replace(
    _NUMERIC_MOMENT, fix=read_epoch("seconds"), serialise=send_epoch("seconds"), wider=None
)
EPOCH_MILLISECONDS = replace(
    _NUMERIC_MOMENT,
    fix=read_epoch("milliseconds"),
    serialise=send_epoch("milliseconds"),
    wider=None,
)
DAY = Scalar("datetime64[us]", "date32", "large_string", (str,), _STR, read_day, send_day)
_CLOCK = Scalar("object", "time64[us]", fix=read_clock)
_ZONED_CLOCK = Scalar("object", "zoned time", fix=read_zoned_clock)
CLOCK = replace(
    _CLOCK,
    others={
        values.ZONED: OtherForm(_ZONED_CLOCK),
        values.ZONED_TIMESTAMP: OtherForm(_ZONED, "timestamps, not times of day", "DateTime"),
        values.LOCAL_TIMESTAMP: OtherForm(_LOCAL, "timestamps, not times of day", "LocalDateTime"),
    },
)
ZONED_CLOCK = replace(_ZONED_CLOCK, others={values.LOCAL: OtherForm(_CLOCK)})
SPAN = Scalar("object", "span")  # of lengths that are all fixed a timedelta64, else as they came
SECONDS = Scalar("object", "seconds")  # the same, numbers being seconds
ANY = Scalar("object", "json")  # text in Arrow and Parquet, which have no type of any JSON value
UNKNOWN = Scalar("object")
