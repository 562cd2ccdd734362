"""The scalars that are known by name, by the specification they name, or by their description.

Each block names its source. What a name leaves open (`Time`, `Timestamp`, `Byte`, a moment with or
without a zone) is decided by the values of each column; see :mod:`gqlnb.model.scalar_kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gqlnb.model.scalar_kinds import (
    ANY,
    BIG,
    BYTE,
    CLOCK,
    DAY,
    EPOCH_MILLISECONDS,
    EPOCH_SECONDS,
    EXACT,
    FLOAT,
    ID,
    INT,
    LOCAL_MOMENT,
    LONG,
    MOMENT,
    MONEY,
    NUMBER,
    SECONDS,
    SPAN,
    TEXT,
    TIMESTAMP,
    TRUTH,
    UNKNOWN,
    WRITTEN,
    ZONED_CLOCK,
    Scalar,
)

__all__ = ["KNOWN", "known_by_name", "recognize"]

# (names, kind) by source; a later block does not repeat the names of an earlier one.
_BLOCKS: tuple[tuple[str, Scalar], ...] = (
    # The five of the GraphQL specification, section 3.5.
    ("Int", INT),
    ("Float", FLOAT),
    ("Boolean", TRUTH),
    ("String", TEXT),
    ("ID", ID),
    # graphql-scalars 1.25, Apollo's and The Guild's common library: its `codegenScalarType`s and
    # descriptions. `Byte` is Base64 there and a number on the JVM and .NET.
    ("DateTime DateTimeISO", MOMENT),
    ("LocalDateTime", LOCAL_MOMENT),
    ("Date LocalDate", DAY),
    ("Time LocalTime", CLOCK),
    ("Timestamp", TIMESTAMP),
    ("Duration ISO8601Duration", SPAN),
    ("BigInt", BIG),
    ("Long SafeInt", LONG),
    ("NonNegativeInt PositiveInt NonPositiveInt NegativeInt UnsignedInt Port", LONG),
    ("NonNegativeFloat PositiveFloat NonPositiveFloat NegativeFloat UnsignedFloat", NUMBER),
    ("Latitude Longitude", NUMBER),
    ("Byte", BYTE),
    ("JSON JSONObject GeoJSON", ANY),
    ("Void", UNKNOWN),
    # `LocalEndTime` may be 24:00, which no time of Python is; a dewey decimal is a label.
    ("LocalEndTime TimeZone UtcOffset AccountNumber CountryCode CountryName Cuid Cuid2", WRITTEN),
    ("Currency USCurrency DID DeweyDecimal EmailAddress GUID UUID HSL HSLA RGB RGBA", WRITTEN),
    ("HexColorCode Hexadecimal IBAN IP IPv4 IPv6 IPCPatent ISBN JWT LCCSubclass", WRITTEN),
    ("Locale MAC NonEmptyString ObjectID PhoneNumber PostalCode RoutingNumber SESSN", WRITTEN),
    ("SemVer ULID URL", WRITTEN),
    # PostGraphile 4 and 5: graphile-build-pg's PgTypesPlugin, PgCodecsPlugin and PgJWTPlugin.
    # `Datetime` is both timestamp and timestamptz; intervals, ranges and points are objects.
    ("Datetime", MOMENT),
    ("BigFloat", EXACT),
    ("Oid", LONG),
    ("KeyValueHash", ANY),
    ("Cursor BitString InternetAddress CidrAddress CidrRange MacAddress MacAddress8", WRITTEN),
    ("LTree Xml XML JSONPath TSQuery TSVector JwtToken", WRITTEN),
    ("Base64EncodedBinary RegProc RegProcedure RegOper RegOperator RegClass RegType", WRITTEN),
    ("RegRole RegNamespace RegConfig RegDictionary FullText", WRITTEN),
    # Hasura: "Supported PostgreSQL types", whose scalars bear the names of the database; those of
    # its SQL Server and BigQuery sources too. Arrays (`_text`): :func:`known_by_name`.
    ("timestamptz datetimeoffset", MOMENT),
    ("timestamp datetime datetime2 smalldatetime", LOCAL_MOMENT),
    ("date", DAY),
    ("time", CLOCK),
    ("timetz", ZONED_CLOCK),
    ("interval", SPAN),
    ("numeric decimal bigdecimal bignumeric", EXACT),
    ("money smallmoney", MONEY),
    ("bigint int8 int2 int4 smallint integer tinyint int serial bigserial oid", LONG),
    ("float8 float4 float real double", NUMBER),
    ("bool boolean bit", TRUTH),
    ("json jsonb hstore geometry geography raster", ANY),
    ("uuid uniqueidentifier citext bpchar name bytea text varchar char nchar nvarchar", WRITTEN),
    ("inet cidr macaddr macaddr8 xml ltree lquery ltxtquery tsvector tsquery point", WRITTEN),
    ("line lseg box path polygon circle int4range int8range numrange tsrange", WRITTEN),
    ("tstzrange daterange varbit int4multirange int8multirange nummultirange", WRITTEN),
    ("tsmultirange tstzmultirange datemultirange pg_lsn pg_snapshot txid_snapshot", WRITTEN),
    ("regproc regprocedure regoper regoperator regclass regtype regrole regnamespace", WRITTEN),
    ("regconfig regdictionary regcollation jsonpath tid character box2d box3d", WRITTEN),
    ("xid cid", LONG),
    ("xid8", BIG),
    # Of PostgreSQL's extensions pgvector, cube, seg and isn, written as text there.
    ("vector halfvec sparsevec cube seg isbn isbn13 issn ismn ean13 upc", WRITTEN),
    ("binary varbinary image ntext hierarchyid rowversion", WRITTEN),  # of SQL Server
    # The same: "BigQuery: Supported Types", and the names of Hasura's DDN connectors.
    ("bigquery_decimal Numeric Bigdecimal", EXACT),
    ("bigquery_float Float4 Float8 Float32 Float64", NUMBER),
    ("bigquery_int Bigint Smallint Int2 Int4 Int8", LONG),
    ("Timestamptz", MOMENT),
    ("Timetz", ZONED_CLOCK),
    ("Jsonb Geography Geometry", ANY),
    ("Bytes Bytea Citext Bpchar Varchar Inet Cidr Macaddr", WRITTEN),
    # Strawberry: strawberry.schema.types.scalar.
    ("Decimal", EXACT),
    ("Base16 Base32 Base64", WRITTEN),
    # Saleor: saleor/graphql/core/scalars.py. A `JSONString` (of graphene too) is text of JSON.
    ("PositiveDecimal", EXACT),
    ("Day Hour Minute", LONG),
    ("Metadata GenericScalar WeightScalar", ANY),
    ("JSONString JsonString", WRITTEN),
    # graphql-java and graphql-java-extended-scalars, Netflix DGS: graphql.scalars.ExtendedScalars.
    ("Instant OffsetDateTime ZonedDateTime", MOMENT),
    ("OffsetTime", ZONED_CLOCK),
    ("SecondsSinceEpoch", EPOCH_SECONDS),
    ("AccurateDuration NominalDuration Period", SPAN),
    ("Double", NUMBER),
    ("BigDecimal", EXACT),
    ("BigInteger", BIG),
    ("Short", LONG),
    ("Object Json", ANY),
    ("Char Url Uri Country CountryCodeAlpha2 CountryCodeAlpha3 YearMonth", WRITTEN),
    # HotChocolate and its NodaTime package: "Scalars" of chillicream.com/docs/hotchocolate.
    ("TimeSpan", SPAN),
    ("UnsignedByte UnsignedShort Int16 Int32 Int64 UInt16 UInt32 SignedByte", LONG),
    ("UnsignedLong UInt64 ULong", BIG),
    ("Any", ANY),
    ("OffsetDate ByteArray DateTimeZone IsoDayOfWeek Isbn Rgb Rgba Hsl Hsla", WRITTEN),
    ("LocalCurrency NonEmptyText", WRITTEN),
    # Shopify: shopify.dev/docs/api/admin-graphql, scalars.
    ("Money", MONEY),
    ("UnsignedInt64", BIG),
    ("DateTimeWithoutTimezone", LOCAL_MOMENT),
    ("TimeWithoutTimezone", CLOCK),
    ("FormattedString ARN Color StorefrontID Handle", WRITTEN),
    # GitHub: docs.github.com/graphql/reference/scalars.
    ("PreciseDateTime GitTimestamp", MOMENT),
    ("URI HTML GitObjectID GitRefname GitSSHRemote Base64String X509Certificate", WRITTEN),
    # GitLab: docs.gitlab.com/api/graphql/reference, scalar types. Its `Time` is a timestamp and its
    # `Duration` a number of seconds; their descriptions say so: :func:`recognize`.
    ("ISO8601Date", DAY),
    ("UntrustedRegexp", WRITTEN),
    # graphql-ruby: GraphQL::Types.
    ("ISO8601DateTime", MOMENT),
    # AWS AppSync: "Scalar types in AWS AppSync".
    ("AWSDateTime", MOMENT),
    ("AWSDate", DAY),
    ("AWSTime", CLOCK),
    ("AWSTimestamp", EPOCH_SECONDS),
    ("AWSJSON", ANY),
    ("AWSURL AWSEmail AWSPhone AWSIPAddress", WRITTEN),
)
KNOWN: dict[str, Scalar] = {name: kind for names, kind in _BLOCKS for name in names.split()}

# What no name says, but the description of a scalar: names that no scalar of a schema can have.
_EPOCH, _SECONDS = "Timestamp in milliseconds", "Duration in seconds"
_DESCRIBED = {_EPOCH: EPOCH_MILLISECONDS, _SECONDS: SECONDS}

_FULL_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
# The name of a scalar, what its description says, and the scalar that it is then like.
_DESCRIPTIONS = (
    # GitLab: 'Time represented in ISO 8601. For example: "2021-03-09T14:58:50+00:00".'
    ("Time", _FULL_TIME, "DateTime"),
    # graphql-scalars: "number of milliseconds from start of UNIX epoch".
    ("Timestamp", re.compile(r"milliseconds (?:from|since)"), _EPOCH),
    (
        "Timestamp",
        re.compile(r"(?<!milli)(?<!micro)(?<!nano)seconds (?:from|since)"),
        "AWSTimestamp",
    ),
    # GitLab: "Duration between two instants, represented as a fractional number of seconds."
    ("Duration", re.compile(r"number of seconds"), _SECONDS),
    # GitLab has a scalar for the ids of each type: `ProjectID`.
    ("", re.compile(r"is a global ID\. It is encoded as a string"), "String"),
)

# Sites with a page for each scalar, whose last segment is its name in kebab case.
_SITES = re.compile(
    r"https?://(?:www\.)?(?:scalars\.graphql\.org|ibm\.github\.io/graphql-specs"
    r"|(?:the-guild\.dev/graphql/scalars|graphql-scalars\.(?:dev|com)))/(?:.*/)?([\w-]+)(?:\.html)?/?"
)
_SLUGS = {name.lower(): name for name in reversed(KNOWN) if name[0].isupper()}
_SPECIFICATIONS = (
    (r"rfc-?(?:4122|9562)\b", "UUID"),
    (r"rfc-?(?:3986|1738|6570)\b", "URL"),
    (r"rfc-?(?:8259|7159|4627)\b|ecma-404", "JSON"),
    (r"rfc-?(?:5321|5322|2822)\b", "EmailAddress"),
    (r"rfc-?4648\b", "Base64"),
    (r"rfc-?7946\b", "GeoJSON"),
    (r"rfc-?9557\b", "ZonedDateTime"),
)
_RFC_3339 = re.compile(r"rfc-?3339\b|iso[-_]?8601|iso-date", re.IGNORECASE)


def known_by_name(name: str) -> Scalar | None:
    """Return the kind of a scalar by its name; None for one that is not known.

    Hasura names arrays as PostgreSQL does, ``_text``; their values are JSON.
    """
    found = KNOWN.get(name) or _DESCRIBED.get(name)
    if found is None and name[:1] == "_" and name[1:] in KNOWN:
        return ANY
    return found


def recognize(name: str, url: str | None, description: str | None) -> str:
    """Return the name of the known scalar that a schema's scalar is like; empty for none.

    Parameters
    ----------
    name
        Its own name.
    url
        Where it is specified, as ``@specifiedBy`` says.
    description
        Its description.
    """
    site = _SITES.fullmatch(url.strip()) if url else None
    if site is not None:
        found = _SLUGS.get(site[1].lower().replace("-", "").replace("_", ""))
        if found is not None:
            return found
    for own, words, like in _DESCRIPTIONS:
        if own in {"", name} and description and words.search(description):
            return like
    if known_by_name(name) is not None:
        return name
    for pattern, like in _SPECIFICATIONS:
        if url and re.search(pattern, url, re.IGNORECASE):
            return like
    return _part_of_rfc_3339(name) if url and _RFC_3339.search(url) else ""


def _part_of_rfc_3339(name: str) -> str:
    """Return which of the forms of RFC 3339 a scalar has, by the end of its name."""
    words: Iterable[str] = re.findall(r"[A-Z]?[a-z]+", name)
    last = [word.lower() for word in words][-2:]
    if last[-1:] == ["date"]:
        return "Date"
    if last[-1:] == ["duration"]:
        return "Duration"
    return "Time" if last[-1:] == ["time"] and last != ["date", "time"] else "DateTime"
