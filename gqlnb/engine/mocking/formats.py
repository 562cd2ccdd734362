"""Values of scalars that are known by name, each valid in its format."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from gqlnb.engine.mocking.chance import below, mixed
from gqlnb.engine.mocking.words import ADJECTIVES, FIRST, LAST, NOUNS, PLACES, SENTENCES
from gqlnb.model import scalar_kinds as kinds
from gqlnb.model.scalar_table import known_by_name

__all__ = [
    "FORMATS",
    "Maker",
    "birthday",
    "day",
    "digits",
    "email",
    "known",
    "label",
    "moment",
    "money",
    "of_place",
    "phone",
    "pick",
    "real",
    "sentence",
    "stamp",
    "url",
    "uuid",
    "version",
    "whole",
    "words",
]

T = TypeVar("T")
Maker = Callable[[int], object]  # from a number of 64 bits to a value

EPOCH = datetime(2021, 1, 1, tzinfo=UTC)
DAYS = 4 * 365


def pick(values: tuple[T, ...], value: int) -> T:
    """Return one of `values`."""
    return values[value % len(values)]


def words(value: int) -> str:
    """Return an adjective and a noun."""
    return f"{pick(ADJECTIVES, value)} {pick(NOUNS, value >> 16)}"


def label(value: int) -> str:
    """Return an adjective, a noun and a number, as names of repositories and tags are written."""
    return f"{words(value).replace(' ', '-')}-{(value >> 32) % 1000}"


def sentence(value: int) -> str:
    """Return a sentence."""
    form = pick(SENTENCES, value >> 48)
    return form.format(*words(value).split(), *words(mixed(value)).split()).capitalize()


def moment(value: int) -> datetime:
    """Return a moment of the years 2021 to 2024, on a second."""
    return EPOCH + timedelta(seconds=value % (DAYS * 86400))


def stamp(value: int) -> str:
    """Return a moment in UTC, as RFC 3339 writes it."""
    return moment(value).strftime("%Y-%m-%dT%H:%M:%SZ")


def local_stamp(value: int) -> str:
    """Return a moment without a zone, as ISO 8601 writes it."""
    return moment(value).strftime("%Y-%m-%dT%H:%M:%S")


def zoned_clock(value: int) -> str:
    """Return a time of day in UTC."""
    return moment(value).strftime("%H:%M:%SZ")


def epoch(value: int) -> int:
    """Return a moment as seconds since 1970."""
    return int(moment(value).timestamp())


def duration(value: int) -> str:
    """Return a length of time, as ISO 8601 writes it."""
    return f"PT{value % 600}S"


def day(value: int) -> str:
    """Return a day."""
    return moment(value).date().isoformat()


def clock(value: int) -> str:
    """Return a time of day."""
    return moment(value).strftime("%H:%M:%S")


def birthday(value: int) -> str:
    """Return the day that a grown person was born."""
    return (date(1950, 1, 1) + timedelta(days=value % 18000)).isoformat()


def money(value: int) -> str:
    """Return a decimal of two places, most of them small."""
    return f"{below(value >> 8, 1, 10 ** below(value, 1, 4))}.{value % 100:02}"


def uuid(value: int) -> str:
    """Return a UUID of version 4."""
    return str(UUID(int=value << 64 | mixed(value), version=4))


def digits(count: int) -> Maker:
    """Return what makes hexadecimal digits."""

    def made(value: int) -> str:
        text = ""
        while len(text) < count:
            value = mixed(value + 1)
            text += f"{value:016x}"
        return text[:count]

    return made


def url(value: int) -> str:
    """Return an address that leads nowhere (RFC 2606)."""
    return f"https://example.org/{label(value)}"


def email(value: int) -> str:
    """Return an e-mail address that nobody has (RFC 2606)."""
    return (
        f"{pick(FIRST, value)}.{pick(LAST, value >> 16)}{(value >> 32) % 100}@example.org".lower()
    )


def phone(value: int) -> str:
    """Return a number of those set aside for fiction (NANP 555-0100 to 555-0199)."""
    return f"+1202555{below(value, 100, 199):04}"


def data(value: int) -> dict[str, object]:
    """Return a JSON object."""
    return {"label": label(value), "value": value % 1000, "active": bool(value >> 20 & 1)}


def version(value: int) -> str:
    """Return a version, as semver.org says."""
    return f"{value % 5}.{(value >> 8) % 20}.{(value >> 16) % 10}"


def whole(low: int, high: int) -> Maker:
    """Return what makes whole numbers from `low` to `high`."""
    return lambda value: below(value, low, high)


def real(low: int, high: int, places: int = 2) -> Maker:
    """Return what makes numbers from `low` to `high` with a few decimal places."""
    scale = 10**places
    return lambda value: below(value, low * scale, high * scale) / scale


def of_place(index: int) -> Maker:
    """Return what makes a part of a place: 0 city, 1 country, 2 code, 3 zone, 4 money, 5 tongue."""
    return lambda value: pick(PLACES, value)[index]


def address4(value: int) -> str:
    """Return an IPv4 address of those set aside for examples (RFC 5737)."""
    return f"192.0.2.{value % 256}"


def address6(value: int) -> str:
    """Return an IPv6 address of those set aside for examples (RFC 3849)."""
    return f"2001:db8::{below(value, 1, 65535):x}"


def in_base64(value: int) -> str:
    """Return bytes as base64 writes them."""
    return b64encode(value.to_bytes(8, "big") + b"data").decode()


LARGE = 10**12
# By names in lower case, which are spelled in several ways otherwise. Names that are not here have
# the format of their kind.
FORMATS: dict[str, Maker] = {
    **dict.fromkeys(
        (
            *("datetime", "datetimeiso", "iso8601datetime", "awsdatetime", "offsetdatetime"),
            *("timestamp", "gittimestamp", "precisedatetime", "timestamptz", "instant"),
        ),
        stamp,
    ),
    "localdatetime": local_stamp,
    **dict.fromkeys(("date", "iso8601date", "localdate", "awsdate"), day),
    **dict.fromkeys(("time", "localtime", "awstime"), clock),
    **dict.fromkeys(("duration", "iso8601duration"), duration),
    **dict.fromkeys(("decimal", "bigdecimal", "numeric"), money),
    **dict.fromkeys(("bigint", "long", "int64", "safeint"), whole(0, LARGE)),
    **dict.fromkeys(("positiveint", "unsignedint", "nonnegativeint"), whole(1, 10_000)),
    **dict.fromkeys(("negativeint", "nonpositiveint"), whole(-10_000, -1)),
    **dict.fromkeys(("byte", "uint8"), whole(0, 127)),
    **dict.fromkeys(("short", "int16"), whole(0, 32_767)),
    **dict.fromkeys(("positivefloat", "unsignedfloat", "nonnegativefloat"), real(1, 1000)),
    **dict.fromkeys(("negativefloat", "nonpositivefloat"), real(-1000, -1)),
    **dict.fromkeys(("json", "jsonobject", "jsonb", "any"), data),
    "awsjson": lambda value: f'{{"value": {value % 1000}}}',
    **dict.fromkeys(("uuid", "guid"), uuid),
    **dict.fromkeys(("uri", "url", "awsurl"), url),
    **dict.fromkeys(("emailaddress", "email", "awsemail"), email),
    **dict.fromkeys(("phonenumber", "awsphone"), phone),
    "html": lambda value: f"<p>{sentence(value)}</p>",
    **dict.fromkeys(("gitobjectid", "sha1"), digits(40)),
    "objectid": digits(24),
    "gitsshremote": lambda value: f"git@example.org:{pick(NOUNS, value)}/{label(value)}.git",
    "gitrefname": lambda value: f"refs/heads/{label(value)}",
    "base64string": in_base64,
    **dict.fromkeys(("ip", "ipv4", "awsipaddress", "inet"), address4),
    "ipv6": address6,
    "mac": lambda value: f"02:{value >> 8 & 255:02x}:{value & 255:02x}:00:00:01",
    "port": whole(1024, 65535),
    "hostname": lambda value: f"{pick(NOUNS, value)}.example.org",
    "latitude": real(-90, 90, 5),
    "longitude": real(-180, 180, 5),
    "postalcode": lambda value: f"{value % 100_000:05}",
    "countrycode": of_place(2),
    "currency": of_place(4),
    "locale": lambda value: f"{pick(PLACES, value)[5]}-{pick(PLACES, value)[2]}",
    "timezone": of_place(3),
    "hexcolorcode": lambda value: f"#{value & 0xFFFFFF:06x}",
    "semver": version,
    "nonemptystring": words,
    "void": lambda _value: None,
}


# Names of databases, which in lower case are of another format.
DATABASE: dict[str, Maker] = {"timestamp": local_stamp, "datetime": local_stamp}
# By the kind of column that a scalar has.
KINDS: dict[kinds.Scalar, Maker] = {
    kinds.ANY: data,
    kinds.BIG: whole(0, LARGE),
    kinds.BYTE: whole(0, 127),
    kinds.CLOCK: clock,
    kinds.DAY: day,
    kinds.EPOCH_MILLISECONDS: lambda value: epoch(value) * 1000,
    kinds.EPOCH_SECONDS: epoch,
    kinds.EXACT: money,
    kinds.LOCAL_MOMENT: local_stamp,
    kinds.LONG: whole(0, 10_000),
    kinds.MOMENT: stamp,
    kinds.MONEY: money,
    kinds.NUMBER: real(0, 1000),
    kinds.SECONDS: real(0, 600),
    kinds.SPAN: duration,
    kinds.TIMESTAMP: stamp,
    kinds.TRUTH: lambda value: bool(mixed(value) & 1),
    kinds.WRITTEN: label,
    kinds.ZONED_CLOCK: zoned_clock,
}


def known(name: str) -> Maker | None:
    """Return what makes values of a scalar, by its name; None for one that is not known."""
    found = DATABASE.get(name) or FORMATS.get(name.lower().replace("_", ""))
    kind = known_by_name(name)
    return KINDS.get(kind) if found is None and kind is not None else found
