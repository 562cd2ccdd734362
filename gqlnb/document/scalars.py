"""Registry of custom scalars, and look-up of scalars by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from gqlnb.document.known_scalars import (
    BOOLEAN,
    FLOAT,
    ID,
    INT,
    JSON,
    KNOWN_SCALARS,
    OBJECT_TEXT,
    TEXT,
    UNKNOWN,
    Scalar,
    get_known_scalar,
)
from gqlnb.document.scalar_values import (
    build_integer_reader,
    read_boolean,
    read_id,
    read_number,
    unwrap,
)
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.option_checks import explain_keywords

UNCONVERTED = (TEXT, OBJECT_TEXT, ID, INT, FLOAT, BOOLEAN, JSON, UNKNOWN)
_REGISTERED: dict[str, Scalar] = {}
_version = 0


def get_version() -> int:
    """Return a counter that increases when a scalar is registered, to key caches."""
    return _version


@explain_keywords
def scalar(
    name: str,
    *,
    like: str | None = None,
    parse: Callable[[Any], Any] | None = None,
    serialise: Callable[[Any], Any] | None = None,
    dtype: str | None = None,
) -> None:
    """Register a custom scalar for this process: its column type and conversions.

    The scalars below are known by name, with their usual spellings, and so are those of
    PostGraphile, Hasura, graphql-scalars, Strawberry, Saleor, graphql-java, HotChocolate, Shopify,
    GitHub, GitLab and AppSync; others by the URL of ``@specifiedBy``. The names of machine types
    (``uint64``, ``Uint32``, ``float64``, ``string``, ``bool``, ``bytes``) give integers, numbers,
    text and Booleans; where a value does not fit, its column keeps all values as received, with a
    warning. A column of an unknown scalar gets the dtype of its values if all are text, Booleans,
    or numbers that the dtype holds exactly, with one warning for each scalar. In frames that are
    one of several, of pages and harvests, such values are not converted, since later ones may be
    of another kind.

    ================= ===================================================================
    Scalar            dtype of a column
    ================= ===================================================================
    ``BigInt``        Int64; Python's ``int`` in all rows where one has more than 64 bits
    ``Date``          datetime64[us]; that of ``DateTime`` where values are
                      timestamps or numbers, with a warning
    ``DateTime``      datetime64[us, UTC]; datetime64[us] where no value has a zone; [ns]
                      where one has nanoseconds; Int64 where values are numbers, with a warning
    ``Datetime``      that of ``DateTime``: PostGraphile has one name for both. Without any value
                      it is in UTC, and in a page of ``client.pages`` as in the previous pages
    ``LocalDateTime`` datetime64[us]; datetime64[ns] where one has nanoseconds
    ``Decimal``       object: ``decimal.Decimal``
    ``Double``        Float64
    ``Duration``      timedelta64[us], or [ns]; unconverted where one is not of a fixed
                      length, Float64 where all are numbers; both with a warning
    ``JSON``          object: dictionaries, lists, ...
    ``PositiveInt``   Int64
    ``Time``          object: ``datetime.time``
    ``Timestamp``     that of ``DateTime``
    ``URI``, ``UUID`` string
    ================= ===================================================================

    Values in lists within one cell are converted too. The dtype of a column without any value in a
    page cannot be known: a warning names the column of ``Datetime`` whose first value in a later
    page has no time zone, since ``pandas.concat`` would convert both to objects;
    :func:`gqlnb.concat` does not, and ``client.execute_all`` reads all pages as one frame.

    Variables of integer and decimal scalars are sent as numbers up to 2**53 - 1, else as text.
    Integers inside values of JSON scalars stay numbers, which servers on JavaScript round beyond.

    Parameters
    ----------
    name
        The name of the scalar in the schema.
    like
        The name of a known scalar with the same column type and conversions.
    parse
        Converts a JSON value of a response, never null, to the value in the column.
    serialise
        Converts a Python value of a variable, never None, to the JSON value to send.
    dtype
        The pandas dtype of its columns, after `parse`; by default that of `like`, else
        ``"object"``. A value that the dtype cannot represent exactly is an error; text of a number
        is converted. For NumPy's ``"bool"`` and integers, which have no null, the nullable pandas
        dtype is used: ``"boolean"``, ``"Int64"``.

    Raises
    ------
    OptionError
        If `like` is not a known scalar, or `dtype` not a dtype.

    Examples
    --------
    >>> scalar("Dollars", parse=lambda text: float(text.removeprefix("$")), dtype="Float64")
    """
    global _version  # noqa: PLW0603 - one registry per process, like that of codecs
    if like is not None and like not in _REGISTERED and get_known_scalar(like) is None:
        names = ", ".join(sorted({*KNOWN_SCALARS, *_REGISTERED}))
        msg = f"scalar({name!r}, like={sanitize_text(like, 80)!r}): known are {names}."
        raise OptionError(msg)
    base = UNKNOWN if like is None else _REGISTERED.get(like) or get_known_scalar(like) or UNKNOWN
    if parse is not None:
        base = replace(
            base,
            json_types=(),
            exact_types=frozenset(),
            convert=parse,
            wider=None,
            other_forms={},
        )
    if dtype is not None:
        column_dtype, fit = _resolve_dtype(name, dtype)
        first = base.convert

        def convert(value: object) -> object:
            converted = value if first is None else first(value)
            return None if converted is None else fit(converted)

        base = Scalar(column_dtype, convert=convert)
    _REGISTERED[name] = replace(base, serialise=serialise or base.serialise)
    _version += 1


def _read_boolean_or_bit(value: object) -> bool:
    value = unwrap(value)
    return bool(value) if type(value) is int and value in {0, 1} else read_boolean(value)


def _read_float(value: object) -> float:
    return float(value) if isinstance(value, str) else read_number(value)


def _resolve_dtype(name: str, dtype: str) -> tuple[str, Callable[[Any], Any]]:
    """Return the nullable dtype for a dtype, and a function that converts values for it."""
    # NumPy's Booleans, integers and strings have no null: it would be False, an error, or "None".
    from pandas import StringDtype
    from pandas.api.types import is_extension_array_dtype, pandas_dtype

    try:
        found: Any = pandas_dtype(dtype)
    except TypeError:
        found = None
    if found is None:
        msg = (
            f"scalar({name!r}, dtype={sanitize_text(dtype, 80)!r}): pandas does not have it. "
            "For example 'Int64', 'Float64', 'string', 'datetime64[us, UTC]' or 'object'."
        )
        raise OptionError(msg)
    if isinstance(found, StringDtype) or found.kind in "US":
        return dtype if found.kind == "O" else "string", read_id
    if found.kind == "f":
        return dtype, _read_float
    is_nullable = is_extension_array_dtype(found)
    # A sparse dtype has the kind of its subtype, but cannot be replaced by a nullable dtype.
    if found.kind == "b" and getattr(found, "subtype", None) is None:
        return dtype if is_nullable else "boolean", _read_boolean_or_bit
    if found.kind in "iu" and getattr(found, "subtype", None) is None:
        signed, bits = found.kind == "i", 8 * found.itemsize
        read_integer = build_integer_reader(bits, texts=True, signed=signed)
        return dtype if is_nullable else f"{'Int' if signed else 'UInt'}{bits}", read_integer
    return dtype, lambda value: value


class LeafShape(Protocol):
    """The type of a leaf of a response: its name, its enum values, the known scalar it is like."""

    type: str | None
    values: tuple[str, ...]
    like: str


def get_scalar(shape: LeafShape) -> Scalar:
    """Return the kind of a leaf; an enum is text."""
    if shape.values or shape.type is None:
        return TEXT if shape.values else UNKNOWN
    registered = _REGISTERED.get(shape.type)
    return registered or get_known_scalar(shape.like or shape.type) or UNKNOWN


def needs_conversion(kind: Scalar) -> bool:
    """Return whether values in a column differ from JSON, as those of text and numbers do not."""
    if kind in UNCONVERTED:
        return False
    is_duration = kind.arrow in {"duration", "seconds"}
    return kind.dtype != "object" or kind.convert is not None or is_duration


def is_known(name: str) -> bool:
    """Return whether a scalar is registered or known by its name."""
    return name in _REGISTERED or get_known_scalar(name) is not None


def is_integer(name: str) -> bool:
    """Return whether a scalar takes integers, and has no serialiser."""
    found = _REGISTERED.get(name) or get_known_scalar(name)
    return found is not None and found.dtype == "Int64" and found.serialise is None


def is_always_integer(name: str) -> bool:
    """Return whether all servers use the name for an integer, unlike `Byte`."""
    found = _REGISTERED.get(name) or get_known_scalar(name)
    return is_integer(name) and found is not None and not found.other_forms


def may_be_nan(name: str) -> bool:
    """Return whether NaN may be a value of a scalar, rather than a missing one."""
    found = _REGISTERED.get(name) or get_known_scalar(name) or UNKNOWN
    return found.dtype in {"object", "Float64"}


def takes_numbers(name: str, like: str = "") -> bool:
    """Return whether large integers for a scalar are sent as JSON numbers, not as text.

    They are for built-in scalars, for floats and any JSON, and for scalars with a serialiser, which
    decides itself.

    Parameters
    ----------
    name, like
        The name of the scalar, and the name of the known scalar that it is like; "" if none.

    Returns
    -------
    bool
        Whether numbers are sent.
    """
    found = _REGISTERED.get(name) or get_known_scalar(like or name) or UNKNOWN
    if name in {"Int", "String", "Boolean"}:  # servers reject a number that does not fit
        return True
    return found.serialise is not None or found.dtype == "Float64" or found.arrow == "json"


def serialise_value(name: str, value: object) -> object:
    """Apply the serialiser of a scalar to a value, before its conversion to JSON.

    Parameters
    ----------
    name
        The name of the scalar.
    value
        The Python value of a variable.

    Returns
    -------
    object
        The value to convert; the same without a serialiser.

    Raises
    ------
    TypeError
        If the serialiser fails; the message does not contain the value, which may be a secret.
    """
    registered = _REGISTERED.get(name)
    found = registered or get_known_scalar(name)
    if found is None or found.serialise is None:
        return value
    try:
        return found.serialise(value)
    except Exception as error:
        if registered is None:  # our own, whose errors name no value
            raise
        reason = type(error).__name__
    message = f"its serialiser raised {reason} for a {type(value).__name__}."
    raise TypeError(message)
