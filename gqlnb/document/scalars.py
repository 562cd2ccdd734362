"""Scalars: the known ones with their column types and conversions, and the registry of others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, Protocol

from gqlnb.document import scalar_values as values
from gqlnb.document.scalar_values import (
    ValueForm,
    build_integer_reader,
    read_boolean,
    read_id,
    read_number,
    unwrap,
)
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.option_checks import explain_keywords


# A column is widened rather than cut: BigInt and DateTime have a wider dtype (`wider`), used if a
# value needs it. Durations, the forms of `other_forms` and hints depend on the values, too.
@dataclass(frozen=True, slots=True)
class Scalar:
    """Column type and conversions of a scalar.

    Attributes
    ----------
    dtype
        The pandas dtype of a column; ``"object"`` for unconverted Python values.
    arrow
        The name of the Arrow type of a column, or a word of ``ARROW_TYPES`` in
        ``result/column_builder.py``, such as ``"json"``; None if it depends on the values.
    stored
        The Arrow type from which values are cast, if it differs: ``int32`` checks the range of an
        Int, and Arrow parses timestamps from text.
    json_types
        The Python types of the JSON values, besides None.
    exact_types
        Those of `json_types` that Arrow accepts without conversion.
    convert
        Converts a value of any other type, or raises; None if values are not converted.
    serialise
        Converts a Python value of a variable to a JSON value; None for the default conversion.
    wider
        The kind of a column in which `convert` raises `WiderError` for a value.
    other_forms
        The kinds of a column in which `convert` raises `OtherFormError` for the first value, since
        servers use one name for different scalars.
    is_hint
        Whether the name only suggests the kind: a column with a value that does not fit keeps all
        of its values as received.
    as_objects
        Whether a column is built from Python objects rather than from Arrow arrays.
    """

    dtype: str
    arrow: str | None = None
    stored: str | None = None
    json_types: tuple[type, ...] = ()
    exact_types: frozenset[type] = frozenset()
    convert: Callable[[Any], Any] | None = None
    serialise: Callable[[Any], Any] | None = None
    wider: Scalar | None = None
    other_forms: Mapping[str, OtherForm] = field(default_factory=dict, compare=False)
    is_hint: bool = field(default=False, compare=False)
    as_objects: bool = field(init=False)

    def __post_init__(self) -> None:
        """Set the attribute that is derived from the types."""
        object.__setattr__(self, "as_objects", self.dtype == "object" or self.arrow is None)


class OtherForm(NamedTuple):
    """The kind of a column with values in another form than the name of the scalar implies.

    Attributes
    ----------
    scalar
        The kind.
    described
        A noun for such values, for a warning; empty for no warning.
    like
        The known scalar with such values.
    """

    scalar: Scalar
    described: str = ""
    like: str = ""


_STR = frozenset({str})

TEXT = Scalar("string", "large_string", None, (str,), _STR, values.read_text)
OBJECT_TEXT = replace(TEXT, convert=values.read_object_text)
ID = replace(TEXT, json_types=(str, int), convert=values.read_id)
INT = Scalar(
    "Int64", "int64", "int32", (int,), frozenset({int}), build_integer_reader(32, texts=False)
)
LONG = Scalar(
    "Int64", "int64", None, (int, str), frozenset({int}), build_integer_reader(64, texts=True)
)
FLOAT = Scalar(
    dtype="Float64",
    arrow="float64",
    stored=None,
    json_types=(float,),
    exact_types=frozenset({float, int}),
    convert=values.read_number,
    serialise=values.send_number,
)
# As `FLOAT`, and text: PostgreSQL's infinities, and servers that send all numbers as text.
NUMBER = replace(FLOAT, json_types=(float, str), convert=values.read_number_text)
# As `NUMBER`, without rounding.
EXACT_NUMBER = replace(NUMBER, json_types=(float, int, str), convert=values.read_exact_number)
BOOLEAN = Scalar("boolean", "bool", None, (bool,), frozenset({bool}), values.read_boolean)
# An integer of more than 64 bits, and a timestamp with nanoseconds, change the type of their
# column, because a fixed type would have to round them.
BIG_INTEGER = replace(
    LONG,
    convert=build_integer_reader(64, texts=True, wider=True),
    wider=Scalar(
        "object",
        "decimal128(38)",
        json_types=LONG.json_types,
        convert=build_integer_reader(None, texts=True),
    ),
)
BYTE = replace(
    LONG,
    convert=values.read_byte,
    other_forms={ValueForm.TEXT: OtherForm(TEXT, "text, not numbers", "String")},
)
DECIMAL = Scalar("object", "decimal128", json_types=(Decimal,), convert=values.read_decimal)
MONEY = replace(
    DECIMAL,
    convert=values.read_money,
    other_forms={ValueForm.AMOUNT: OtherForm(TEXT, "text, not plain numbers", "String")},
)


# Timestamps. The first value decides whether all must have a time zone, or none: the names imply it
# for most servers, but PostGraphile and Strawberry have one name for both. A timestamp without a
# zone is never assumed to be in UTC.
def _build_datetime(zone: tzinfo | None) -> Scalar:
    suffix, zoned = "" if zone is None else f", {zone}", zone is not None
    nanoseconds = Scalar(
        f"datetime64[ns{suffix}]",
        f"timestamp[ns{suffix}]",
        "large_string",
        (str,),
        convert=partial(values.read_nanoseconds, zoned=zoned),
    )
    return Scalar(
        dtype=f"datetime64[us{suffix}]",
        arrow=f"timestamp[us{suffix}]",
        stored="large_string",
        json_types=(str,),
        exact_types=_STR,
        convert=partial(values.read_datetime, zoned=zoned),
        serialise=partial(values.send_datetime, zone=zone),
        wider=nanoseconds,
    )


_PLAIN_DATETIME, _PLAIN_LOCAL_DATETIME = _build_datetime(UTC), _build_datetime(None)
_COUNT_FORM = OtherForm(
    replace(LONG, serialise=None), "numbers in a unit that is not known", "Long"
)
DATETIME = replace(
    _PLAIN_DATETIME,
    convert=values.read_timestamp,
    other_forms={
        ValueForm.LOCAL: OtherForm(_PLAIN_LOCAL_DATETIME),
        ValueForm.COUNT: _COUNT_FORM,
    },
)
LOCAL_DATETIME = replace(
    _PLAIN_LOCAL_DATETIME,
    other_forms={
        ValueForm.ZONED: OtherForm(_PLAIN_DATETIME, "timestamps with a time zone", "DateTime")
    },
)
EPOCH_SECONDS, EPOCH_MILLISECONDS = (
    replace(
        _PLAIN_DATETIME,
        stored=None,
        json_types=(int, float, str),
        exact_types=frozenset(),
        convert=partial(values.read_epoch, unit),
        serialise=partial(values.send_epoch, unit),
        wider=None,
    )
    for unit in (1_000_000, 1_000)  # microseconds
)
_PLAIN_TIME = Scalar("object", "time64[us]", convert=partial(values.read_time, zoned=False))
_PLAIN_ZONED_TIME = Scalar("object", "zoned time", convert=partial(values.read_time, zoned=True))
TIME = replace(
    _PLAIN_TIME,
    other_forms={
        ValueForm.ZONED: OtherForm(_PLAIN_ZONED_TIME),
        ValueForm.ZONED_TIMESTAMP: OtherForm(
            _PLAIN_DATETIME, "timestamps, not times of day", "DateTime"
        ),
        ValueForm.LOCAL_TIMESTAMP: OtherForm(
            _PLAIN_LOCAL_DATETIME, "timestamps, not times of day", "LocalDateTime"
        ),
    },
)
DATE = Scalar(
    dtype="datetime64[us]",
    arrow="date32",
    stored="large_string",
    json_types=(str,),
    exact_types=_STR,
    convert=values.read_date,
    serialise=values.send_date,
    other_forms={
        ValueForm.ZONED_TIMESTAMP: OtherForm(_PLAIN_DATETIME, "timestamps, not dates", "DateTime"),
        ValueForm.LOCAL_TIMESTAMP: OtherForm(
            _PLAIN_LOCAL_DATETIME, "timestamps, not dates", "LocalDateTime"
        ),
        # Without a warning: Directus has dates, times and timestamps in its scalar `Date`.
        ValueForm.TIME: OtherForm(TIME),
        ValueForm.COUNT: _COUNT_FORM,
    },
)
ZONED_TIME = replace(_PLAIN_ZONED_TIME, other_forms={ValueForm.LOCAL: OtherForm(_PLAIN_TIME)})
DURATION = Scalar("object", "duration")  # timedelta64 unless a value is not of a fixed length
DURATION_SECONDS = Scalar("object", "seconds")  # the same, with numbers in seconds
JSON = Scalar("object", "json")  # text in Arrow and Parquet, which have no type of any JSON value
UNKNOWN = Scalar("object")

# (names, kind) by source; a later block does not repeat the names of an earlier one.
_NAMES_BY_SOURCE: tuple[tuple[str, Scalar], ...] = (
    # The five of the GraphQL specification, section 3.5.
    ("Int", INT),
    ("Float", FLOAT),
    ("Boolean", BOOLEAN),
    ("String", TEXT),
    ("ID", ID),
    # graphql-scalars 1.25, Apollo's and The Guild's common library: its `codegenScalarType`s and
    # descriptions. `Byte` is Base64 there and a number on the JVM and .NET.
    ("DateTime DateTimeISO", DATETIME),
    ("LocalDateTime", LOCAL_DATETIME),
    ("Date LocalDate", DATE),
    ("Time LocalTime", TIME),
    ("Timestamp", DATETIME),
    ("Duration ISO8601Duration", DURATION),
    ("BigInt", BIG_INTEGER),
    ("Long SafeInt", LONG),
    ("NonNegativeInt PositiveInt NonPositiveInt NegativeInt UnsignedInt Port", LONG),
    ("NonNegativeFloat PositiveFloat NonPositiveFloat NegativeFloat UnsignedFloat", NUMBER),
    ("Latitude Longitude", NUMBER),
    ("Byte", BYTE),
    ("JSON JSONObject GeoJSON", JSON),
    ("Void", UNKNOWN),
    # `LocalEndTime` may be 24:00, which no time of Python is; a dewey decimal is a label.
    (
        "LocalEndTime TimeZone UtcOffset AccountNumber CountryCode CountryName Cuid Cuid2",
        OBJECT_TEXT,
    ),
    ("Currency USCurrency DID DeweyDecimal EmailAddress GUID UUID HSL HSLA RGB RGBA", OBJECT_TEXT),
    ("HexColorCode Hexadecimal IBAN IP IPv4 IPv6 IPCPatent ISBN JWT LCCSubclass", OBJECT_TEXT),
    ("Locale MAC NonEmptyString ObjectID PhoneNumber PostalCode RoutingNumber SESSN", OBJECT_TEXT),
    ("SemVer ULID URL", OBJECT_TEXT),
    # PostGraphile 4 and 5: graphile-build-pg's PgTypesPlugin, PgCodecsPlugin and PgJWTPlugin.
    # `Datetime` is both timestamp and timestamptz; intervals, ranges and points are objects.
    ("Datetime", DATETIME),
    ("BigFloat", DECIMAL),
    ("Oid", LONG),
    ("KeyValueHash", JSON),
    ("Cursor BitString InternetAddress CidrAddress CidrRange MacAddress MacAddress8", OBJECT_TEXT),
    ("LTree Xml XML JSONPath TSQuery TSVector JwtToken", OBJECT_TEXT),
    ("Base64EncodedBinary RegProc RegProcedure RegOper RegOperator RegClass RegType", OBJECT_TEXT),
    ("RegRole RegNamespace RegConfig RegDictionary FullText", OBJECT_TEXT),
    # Hasura: "Supported PostgreSQL types", whose scalars bear the names of the database; those of
    # its SQL Server and BigQuery sources too. Arrays (`_text`): :func:`get_known_scalar`.
    ("timestamptz datetimeoffset", DATETIME),
    ("timestamp datetime datetime2 smalldatetime", LOCAL_DATETIME),
    ("date", DATE),
    ("time", TIME),
    ("timetz", ZONED_TIME),
    ("interval", DURATION),
    ("numeric decimal bigdecimal bignumeric", DECIMAL),
    ("money smallmoney", MONEY),
    ("bigint int8 int2 int4 smallint integer tinyint int serial bigserial oid", LONG),
    ("float8 float4 float real double", NUMBER),
    ("bit", BOOLEAN),
    ("json jsonb hstore geometry geography raster", JSON),
    (
        "uuid uniqueidentifier citext bpchar name bytea text varchar char nchar nvarchar",
        OBJECT_TEXT,
    ),
    ("inet cidr macaddr macaddr8 xml ltree lquery ltxtquery tsvector tsquery point", OBJECT_TEXT),
    ("line lseg box path polygon circle int4range int8range numrange tsrange", OBJECT_TEXT),
    ("tstzrange daterange varbit int4multirange int8multirange nummultirange", OBJECT_TEXT),
    ("tsmultirange tstzmultirange datemultirange pg_lsn pg_snapshot txid_snapshot", OBJECT_TEXT),
    ("regproc regprocedure regoper regoperator regclass regtype regrole regnamespace", OBJECT_TEXT),
    ("regconfig regdictionary regcollation jsonpath tid character box2d box3d", OBJECT_TEXT),
    ("xid cid", LONG),
    ("xid8", BIG_INTEGER),
    # Of PostgreSQL's extensions pgvector, cube, seg and isn, written as text there.
    ("vector halfvec sparsevec cube seg isbn isbn13 issn ismn ean13 upc", OBJECT_TEXT),
    ("binary varbinary image ntext hierarchyid rowversion", OBJECT_TEXT),  # of SQL Server
    # The same: "BigQuery: Supported Types", and the names of Hasura's DDN connectors.
    ("bigquery_decimal Numeric Bigdecimal", DECIMAL),
    ("bigquery_float Float4 Float8", NUMBER),
    ("bigquery_int Bigint Smallint Int2 Int4 Int8", LONG),
    ("Timestamptz", DATETIME),
    ("Timetz", ZONED_TIME),
    ("Jsonb Geography Geometry", JSON),
    ("Bytea Citext Bpchar Varchar Inet Cidr Macaddr", OBJECT_TEXT),
    # Strawberry: strawberry.schema.types.scalar.
    ("Decimal", DECIMAL),
    ("Base16 Base32 Base64", OBJECT_TEXT),
    # Saleor: saleor/graphql/core/scalars.py. A `JSONString` (of graphene too) is text of JSON.
    ("PositiveDecimal", DECIMAL),
    ("Day Hour Minute", LONG),
    ("Metadata GenericScalar WeightScalar", JSON),
    ("JSONString JsonString", OBJECT_TEXT),
    # graphql-java and graphql-java-extended-scalars, Netflix DGS: graphql.scalars.ExtendedScalars.
    ("Instant OffsetDateTime ZonedDateTime", DATETIME),
    ("OffsetTime", ZONED_TIME),
    ("SecondsSinceEpoch", EPOCH_SECONDS),
    ("AccurateDuration NominalDuration Period", DURATION),
    ("Double", NUMBER),
    ("BigDecimal", DECIMAL),
    ("BigInteger", BIG_INTEGER),
    ("Short", LONG),
    ("Object Json", JSON),
    ("Char Url Uri Country CountryCodeAlpha2 CountryCodeAlpha3 YearMonth", OBJECT_TEXT),
    # HotChocolate and its NodaTime package: "Scalars" of chillicream.com/docs/hotchocolate.
    ("TimeSpan", DURATION),
    ("UnsignedByte UnsignedShort SignedByte", LONG),
    ("UnsignedLong", BIG_INTEGER),
    ("Any", JSON),
    ("OffsetDate ByteArray DateTimeZone IsoDayOfWeek Isbn Rgb Rgba Hsl Hsla", OBJECT_TEXT),
    ("LocalCurrency NonEmptyText", OBJECT_TEXT),
    # Shopify: shopify.dev/docs/api/admin-graphql, scalars.
    ("Money", MONEY),
    ("UnsignedInt64", BIG_INTEGER),
    ("DateTimeWithoutTimezone", LOCAL_DATETIME),
    ("TimeWithoutTimezone", TIME),
    ("FormattedString ARN Color StorefrontID Handle", OBJECT_TEXT),
    # GitHub: docs.github.com/graphql/reference/scalars.
    ("PreciseDateTime GitTimestamp", DATETIME),
    ("URI HTML GitObjectID GitRefname GitSSHRemote Base64String X509Certificate", OBJECT_TEXT),
    # GitLab: docs.gitlab.com/api/graphql/reference, scalar types. Its `Time` is a timestamp and its
    # `Duration` a number of seconds; their descriptions say so: :func:`recognize_scalar`.
    ("ISO8601Date", DATE),
    ("UntrustedRegexp", OBJECT_TEXT),
    # graphql-ruby: GraphQL::Types.
    ("ISO8601DateTime", DATETIME),
    # graphene-django-extras and django-graphex: base_types.py. Directives change their form.
    ("CustomDateTime", DATETIME),
    ("CustomDate", DATE),
    ("CustomTime", TIME),
    ("BigIntScalar", BIG_INTEGER),  # GeneralManager 0.87
    # Directus: api/src/services/graphql/types. Its `Date` is any timestamp, date or time.
    ("GraphQLBigInt", BIG_INTEGER),
    ("GraphQLGeoJSON", JSON),
    ("Hash", OBJECT_TEXT),
    # AWS AppSync: "Scalar types in AWS AppSync".
    ("AWSDateTime", DATETIME),
    ("AWSDate", DATE),
    ("AWSTime", TIME),
    ("AWSTimestamp", EPOCH_SECONDS),
    ("AWSJSON", JSON),
    ("AWSURL AWSEmail AWSPhone AWSIPAddress", OBJECT_TEXT),
)
KNOWN_SCALARS: dict[str, Scalar] = {
    name: kind for names, kind in _NAMES_BY_SOURCE for name in names.split()
}

# Names of machine types, as of Cloudflare (`uint64`, `float64`, `string`), HotChocolate (`UInt32`),
# Hasura, and servers in Go and Rust. Each has its own JSON for them (a 64-bit integer is a number
# or text, bytes are Base64 or a list), so that the values decide.
_MACHINE_TYPES = tuple(
    (re.compile(rf"(?:{pattern})(?:_t)?", re.IGNORECASE), replace(kind, is_hint=True))
    for pattern, kind in (
        (r"u?int(?:eger)?(?:8|16|32|64|128|256)?|[iu](?:8|16|32|64|128)|u?(?:long|short)|u?size",
         BIG_INTEGER),
        (r"float(?:16|32|64|128)?|f(?:16|32|64)|double", EXACT_NUMBER),
        (r"bool(?:ean)?", BOOLEAN),
        (r"str(?:ing)?|bytes", TEXT),
    )
)  # fmt: skip

# Kinds that only a description identifies; no scalar of a schema can have these names.
_MILLISECONDS_NAME, _DURATION_NAME = "Timestamp in milliseconds", "Duration in seconds"
_DESCRIBED = {_MILLISECONDS_NAME: EPOCH_MILLISECONDS, _DURATION_NAME: DURATION_SECONDS}

_FULL_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# The name of a scalar, a pattern for its description, and the known scalar that it is then like.
_DESCRIPTIONS = (
    # GitLab: 'Time represented in ISO 8601. For example: "2021-03-09T14:58:50+00:00".'
    ("Time", _FULL_TIME, "DateTime"),
    # graphql-scalars: "number of milliseconds from start of UNIX epoch".
    ("Timestamp", re.compile(r"milliseconds (?:from|since)"), _MILLISECONDS_NAME),
    (
        "Timestamp",
        re.compile(r"(?<!milli)(?<!micro)(?<!nano)seconds (?:from|since)"),
        "AWSTimestamp",
    ),
    # GitLab: "Duration between two instants, represented as a fractional number of seconds."
    ("Duration", re.compile(r"number of seconds"), _DURATION_NAME),
    # GitLab has a scalar for the ids of each type: `ProjectID`.
    ("", re.compile(r"is a global ID\. It is encoded as a string"), "String"),
)

# Sites with a page for each scalar, whose last segment is its name in kebab case.
_SCALAR_PAGES = re.compile(
    r"https?://(?:www\.)?(?:scalars\.graphql\.org|ibm\.github\.io/graphql-specs"
    r"|(?:the-guild\.dev/graphql/scalars|graphql-scalars\.(?:dev|com)))/(?:.*/)?([\w-]+)(?:\.html)?/?"
)
_NAMES_BY_SLUG = {name.lower(): name for name in reversed(KNOWN_SCALARS) if name[0].isupper()}
_SPECIFICATIONS = (
    (r"rfc-?(?:4122|9562)\b", "UUID"),
    (r"rfc-?(?:3986|1738|6570)\b", "URL"),
    (r"rfc-?(?:8259|7159|4627)\b|ecma-404", "JSON"),
    (r"rfc-?(?:5321|5322|2822)\b", "EmailAddress"),
    (r"rfc-?4648\b", "Base64"),
    (r"rfc-?7946\b", "GeoJSON"),
    (r"rfc-?9557\b", "ZonedDateTime"),
    (r"iso[-_]?8601#durations\b", "Duration"),
)
_RFC_3339 = re.compile(r"rfc-?3339\b|iso[-_]?8601|iso-date", re.IGNORECASE)


def get_known_scalar(name: str) -> Scalar | None:
    """Return the kind of a scalar by its name; None if it is unknown."""
    # Hasura names arrays as in PostgreSQL, such as `_text`; their values are JSON.
    scalar = KNOWN_SCALARS.get(name) or _DESCRIBED.get(name)
    if scalar is None and name[:1] == "_" and name[1:] in KNOWN_SCALARS:
        return JSON
    if scalar is None:
        return next((kind for names, kind in _MACHINE_TYPES if names.fullmatch(name)), None)
    return scalar


def recognize_scalar(name: str, url: str | None, description: str | None) -> str:
    """Return the name of the known scalar that a schema's scalar is like; "" if none.

    Parameters
    ----------
    name
        The name of the scalar.
    url
        The URL of ``@specifiedBy``.
    description
        The description of the scalar.

    Returns
    -------
    str
        A name that :func:`get_known_scalar` knows, or "".
    """
    site = _SCALAR_PAGES.fullmatch(url.strip()) if url else None
    if site is not None:
        known_name = _NAMES_BY_SLUG.get(site[1].lower().replace("-", "").replace("_", ""))
        if known_name is not None:
            return known_name
    for own, words, like in _DESCRIPTIONS:
        if own in {"", name} and description and words.search(description):
            return like
    if get_known_scalar(name) is not None:
        return name
    for pattern, like in _SPECIFICATIONS:
        if url and re.search(pattern, url, re.IGNORECASE):
            return like
    if not url or not _RFC_3339.search(url):
        return ""
    # RFC 3339 defines several forms; the end of the name tells which one is meant.
    endings = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)][-2:]
    like = {"date": "Date", "duration": "Duration", "time": "Time"}.get("".join(endings[-1:]), "")
    return "DateTime" if endings == ["date", "time"] else like or "DateTime"


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
    import pandas as pd

    try:
        resolved: Any = pd.api.types.pandas_dtype(dtype)
    except TypeError:
        resolved = None
    if resolved is None:
        msg = (
            f"scalar({name!r}, dtype={sanitize_text(dtype, 80)!r}): pandas does not have it. "
            "For example 'Int64', 'Float64', 'string', 'datetime64[us, UTC]' or 'object'."
        )
        raise OptionError(msg)
    if isinstance(resolved, pd.StringDtype) or resolved.kind in "US":
        return dtype if resolved.kind == "O" else "string", read_id
    if resolved.kind == "f":
        return dtype, _read_float
    is_nullable = pd.api.types.is_extension_array_dtype(resolved)
    # A sparse dtype has the kind of its subtype, but cannot be replaced by a nullable dtype.
    if resolved.kind == "b" and getattr(resolved, "subtype", None) is None:
        return dtype if is_nullable else "boolean", _read_boolean_or_bit
    if resolved.kind in "iu" and getattr(resolved, "subtype", None) is None:
        signed, bits = resolved.kind == "i", 8 * resolved.itemsize
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
    scalar = _REGISTERED.get(name) or get_known_scalar(name)
    return scalar is not None and scalar.dtype == "Int64" and scalar.serialise is None


def is_always_integer(name: str) -> bool:
    """Return whether all servers use the name for an integer, unlike `Byte`."""
    scalar = _REGISTERED.get(name) or get_known_scalar(name)
    return is_integer(name) and scalar is not None and not scalar.other_forms


def may_be_nan(name: str) -> bool:
    """Return whether NaN may be a value of a scalar, rather than a missing one."""
    scalar = _REGISTERED.get(name) or get_known_scalar(name) or UNKNOWN
    return scalar.dtype in {"object", "Float64"}


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
    scalar = _REGISTERED.get(name) or get_known_scalar(like or name) or UNKNOWN
    if name in {"Int", "String", "Boolean"}:  # servers reject a number that does not fit
        return True
    return scalar.serialise is not None or scalar.dtype == "Float64" or scalar.arrow == "json"


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
    scalar = registered or get_known_scalar(name)
    if scalar is None or scalar.serialise is None:
        return value
    try:
        return scalar.serialise(value)
    except Exception as error:
        if registered is None:  # our own, whose errors name no value
            raise
        reason = type(error).__name__
    message = f"its serialiser raised {reason} for a {type(value).__name__}."
    raise TypeError(message)
