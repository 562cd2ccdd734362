"""The scalars of each server: what its resolvers hold, and what a frame of them holds."""

from __future__ import annotations

from datetime import UTC, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pandas as pd

__all__ = ["APOLLO", "ARIADNE", "STRAWBERRY", "ScalarCase", "describe", "field_name"]

TEXT, WHOLE, NUMBER, ANY = "string", "Int64", "Float64", "object"
INSTANT, NAIVE = "datetime64[us, UTC]", "datetime64[us]"


class ScalarCase(NamedTuple):
    """One scalar of a server.

    Attributes
    ----------
    type
        Its name in the schema.
    held
        Values of the resolver as JSON values, None among them.
    dtype
        The pandas dtype of a column.
    expected
        What the column holds, in the same order; None where it is `held`.
    """

    type: str
    held: list[Any]
    dtype: str
    expected: list[Any] | None = None

    def values(self) -> list[Any]:
        """Return the values that a column holds."""
        return self.held if self.expected is None else self.expected


def instants(*texts: str | None) -> list[Any]:
    """Return instants in UTC."""
    return [None if text is None else pd.Timestamp(text).tz_convert("UTC") for text in texts]


def local(*texts: str | None) -> list[Any]:
    """Return days or times without a zone."""
    return [None if text is None else pd.Timestamp(text) for text in texts]


DAYS = ["2024-02-29", None, "1969-12-31"]
MOMENTS = ["2024-02-29T12:34:56.789Z", None, "1969-12-31T23:59:59.999Z"]
WHOLES = [7, None, 2**31 - 1]
UUIDS = ["0a1b2c3d-4e5f-4a6b-8c7d-0e1f2a3b4c5d", None, "00000000-0000-4000-8000-000000000000"]
VALUES = [{"a": [1, None, "ü"]}, None, {}]

# graphql-scalars, by its own names: on Apollo Server, GraphQL Yoga and Mercurius.
APOLLO = [
    ScalarCase("Int", [-(2**31), None, 2**31 - 1], WHOLE),
    ScalarCase("Float", [0.1, None, 1e300], NUMBER),
    ScalarCase("Boolean", [True, None, False], "boolean"),
    ScalarCase("String", ["", None, "größer 🎉\n\u2028"], TEXT),
    ScalarCase("ID", ["007", None, "x"], TEXT),
    ScalarCase("DateTime", MOMENTS, INSTANT, instants(*MOMENTS)),
    ScalarCase("DateTimeISO", MOMENTS, INSTANT, instants(*MOMENTS)),
    ScalarCase("Timestamp", [1709210096789, None, -1], INSTANT, instants(*MOMENTS)),
    ScalarCase("Date", DAYS, NAIVE, local(*DAYS)),
    ScalarCase("LocalDate", DAYS, NAIVE, local(*DAYS)),
    ScalarCase("LocalDateTime", ["2024-02-29T12:34:56", None, "1969-12-31T23:59:59"], NAIVE,
     local("2024-02-29T12:34:56", None, "1969-12-31T23:59:59")),
    ScalarCase("LocalTime", ["12:34:56", None, "00:00:00"], ANY, [time(12, 34, 56), None, time(0)]),
    ScalarCase("Time", ["12:34:56.789Z", None, "00:00:00.000Z"], ANY,
     [time(12, 34, 56, 789000, UTC), None, time(0, tzinfo=UTC)]),
    ScalarCase("TimeZone", ["Europe/Berlin", None, "UTC"], TEXT),
    ScalarCase("UtcOffset", ["+03:00", None, "-11:30"], TEXT),
    ScalarCase("Duration", ["PT1H30M", None, "P2D"], "timedelta64[us]",
     [timedelta(hours=1, minutes=30), None, timedelta(days=2)]),
    ScalarCase("ISO8601Duration", ["P1Y2M", None, "PT0S"], ANY),
    ScalarCase("BigInt", ["9007199254740993", None, "-5"], WHOLE, [2**53 + 1, None, -5]),
    ScalarCase("Long", ["9007199254740993", None, "-5"], WHOLE, [2**53 + 1, None, -5]),
    ScalarCase("SafeInt", [2**53 - 1, None, -5], WHOLE),
    ScalarCase("PositiveInt", WHOLES, WHOLE),
    ScalarCase("NonNegativeInt", [0, None, 2**31 - 1], WHOLE),
    ScalarCase("NegativeInt", [-1, None, -(2**31)], WHOLE),
    ScalarCase("NonPositiveInt", [0, None, -(2**31)], WHOLE),
    ScalarCase("UnsignedInt", [0, None, 2**31 - 1], WHOLE),
    ScalarCase("Port", [80, None, 65535], WHOLE),
    ScalarCase("PositiveFloat", [0.5, None, 3], NUMBER),
    ScalarCase("NonNegativeFloat", [0, None, 3.25], NUMBER),
    ScalarCase("NegativeFloat", [-0.5, None, -3], NUMBER),
    ScalarCase("NonPositiveFloat", [0, None, -3.25], NUMBER),
    ScalarCase("UnsignedFloat", [0, None, 3.25], NUMBER),
    ScalarCase("Latitude", [52.5, None, -90], NUMBER),
    ScalarCase("Longitude", [13.4, None, 180], NUMBER),
    ScalarCase("EmailAddress", ["a@example.org", None, "b.c+d@example.org"], TEXT),
    ScalarCase("URL", ["https://example.org/a?b=c#d", None, "http://example.org/"], TEXT),
    ScalarCase("UUID", UUIDS, TEXT),
    ScalarCase("GUID", UUIDS, TEXT),
    ScalarCase("Hexadecimal", ["deadbeef", None, "00"], TEXT),
    ScalarCase("HexColorCode", ["#00ff00", None, "#fff"], TEXT),
    ScalarCase("IBAN", ["GB29NWBK60161331926819", None, "DE89370400440532013000"], TEXT),
    ScalarCase("IP", ["127.0.0.1", None, "::1"], TEXT),
    ScalarCase("IPv4", ["127.0.0.1", None, "10.0.0.1"], TEXT),
    ScalarCase("IPv6", ["::1", None, "fe80::1"], TEXT),
    ScalarCase("ISBN", ["978-3-16-148410-0", None, "0-306-40615-2"], TEXT),
    ScalarCase("Locale", ["de-DE", None, "en"], TEXT),
    ScalarCase("MAC", ["01:23:45:67:89:ab", None, "00:00:00:00:00:00"], TEXT),
    ScalarCase("NonEmptyString", ["a", None, "ß"], TEXT),
    ScalarCase("ObjectID", ["5e5677d71bdc2ae76344968c", None, "000000000000000000000000"], TEXT),
    ScalarCase("PhoneNumber", ["+17895551234", None, "+4930123456"], TEXT),
    ScalarCase("PostalCode", ["60031", None, "10115"], TEXT),
    ScalarCase("CountryCode", ["DE", None, "FR"], TEXT),
    ScalarCase("Currency", ["EUR", None, "USD"], TEXT),
    ScalarCase("SemVer", ["1.2.3", None, "1.0.0-alpha.1"], TEXT),
    ScalarCase("RGB", ["rgb(255, 0, 10)", None, "rgb(0, 0, 0)"], TEXT),
    ScalarCase("JSON", [[1, {"a": None}], None, "text"], ANY),
    ScalarCase("JSONObject", VALUES, ANY),
]  # fmt: skip

# Strawberry's own, and those that its documentation shows how to make.
STRAWBERRY = [
    *APOLLO[:5],
    ScalarCase("DateTime", ["2024-02-29T12:34:56.789012+02:00", None, "1969-12-31T23:59:59+00:00"],
     INSTANT, instants("2024-02-29T12:34:56.789012+02:00", None, "1969-12-31T23:59:59+00:00")),
    ScalarCase("Date", DAYS, NAIVE, local(*DAYS)),
    ScalarCase("Time", ["12:34:56.789012", None, "00:00:00"], ANY,
     [time(12, 34, 56, 789012), None, time(0)]),
    ScalarCase("Decimal", ["12345678901234567890.123456789", None, "-0.10"], ANY,
     [Decimal("12345678901234567890.123456789"), None, Decimal("-0.10")]),
    ScalarCase("UUID", UUIDS, TEXT),
    ScalarCase("JSON", [[1, {"a": None}], None, "text"], ANY),
    ScalarCase("Base64", ["aGVsbG8=", None, ""], TEXT),
    ScalarCase("BigInt", ["9223372036854775807", None, "-5"], WHOLE, [2**63 - 1, None, -5]),
    ScalarCase("Void", [None, None, None], ANY),
]  # fmt: skip

# Ariadne has none: these are written as its documentation shows.
ARIADNE = [
    *APOLLO[:5],
    ScalarCase("DateTime", ["2024-02-29T12:34:56.789012+02:00", None, "1969-12-31T23:59:59+00:00"],
     INSTANT, instants("2024-02-29T12:34:56.789012+02:00", None, "1969-12-31T23:59:59+00:00")),
    ScalarCase("LocalDateTime", ["2024-02-29T12:34:56.789012", None, "1969-12-31T23:59:59"], NAIVE,
     local("2024-02-29T12:34:56.789012", None, "1969-12-31T23:59:59")),
    ScalarCase("Date", DAYS, NAIVE, local(*DAYS)),
    ScalarCase("Decimal", ["1.10", None, "-3"], ANY, [Decimal("1.10"), None, Decimal(-3)]),
    ScalarCase("UUID", UUIDS, TEXT),
    ScalarCase("BigInt", [2**53 + 1, None, -5], WHOLE),
    ScalarCase("JSON", VALUES, ANY),
]  # fmt: skip


def field_name(scalar: str) -> str:
    """Return the field that holds a scalar."""
    return f"a{scalar}"


def describe(cases: list[ScalarCase]) -> dict[str, Any]:
    """Return the fields and the rows of the type ``Scalars`` as JSON values."""
    return {
        "fields": {field_name(case.type): case.type for case in cases},
        "rows": [
            {"number": row, **{field_name(case.type): case.held[row] for case in cases}}
            for row in range(3)
        ],
    }
