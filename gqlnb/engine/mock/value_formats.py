"""Numbers that follow from what they are for: no state, the same in every process."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from typing import Any, TypeVar
from uuid import UUID

from gqlnb.document import known_scalars as kinds
from gqlnb.document.known_scalars import get_known_scalar

__all__ = [
    "ADJECTIVES",
    "COMPANY_SUFFIXES",
    "FIRST_NAMES",
    "GOLDEN_STEP",
    "LAST_NAMES",
    "NAMED_FORMATS",
    "NOUNS",
    "PLACES",
    "SENTENCE_FORMS",
    "STREET_NAMES",
    "ValueMaker",
    "build_float_maker",
    "build_hex_maker",
    "build_integer_maker",
    "build_place_maker",
    "find_format",
    "hash_arguments",
    "hash_parts",
    "make_birthday",
    "make_date",
    "make_decimal",
    "make_email",
    "make_label",
    "make_moment",
    "make_phone",
    "make_sentence",
    "make_timestamp",
    "make_url",
    "make_uuid",
    "make_version",
    "make_words",
    "mix_bits",
    "pick_from",
    "pick_integer",
]

MASK_64 = 2**64 - 1
GOLDEN_STEP = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: multiples of it lie far apart


def hash_parts(*parts: object) -> int:
    """Return a number of 64 bits for some names or texts, the same everywhere."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


def mix_bits(value: int) -> int:
    """Return a number of 64 bits in which every bit depends on every bit of `value`.

    Notes
    -----
    Source: the last steps of splitmix64, S. Vigna, "Further scramblings of Marsaglia's xorshift
    generators". Several times faster than a hash function, and good enough for names of people.
    """
    value &= MASK_64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK_64
    return value ^ value >> 31


def pick_integer(value: int, low: int, high: int) -> int:
    """Return a number from `low` to `high`, both included, that `value` decides."""
    return low + value % (high - low + 1)


def hash_arguments(arguments: dict[str, Any]) -> int:
    """Return a number for the arguments of a field; null and left out are the same."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return hash_parts(json.dumps(given, sort_keys=True, default=str)) if given else 0


FIRST_NAMES = (
    *("Ada", "Amara", "Anton", "Bea", "Carlos", "Chen", "Dana", "Elif", "Emil", "Farah", "Felix"),
    *("Grace", "Hana", "Hugo", "Ines", "Ivan", "Jonas", "Kenji", "Lena", "Luca", "Maya", "Mila"),
    *("Nadia", "Noor", "Olu", "Omar", "Priya", "Rosa", "Sami", "Tariq", "Uma", "Vera", "Yara"),
)
LAST_NAMES = (
    *("Abe", "Adeyemi", "Berg", "Costa", "Diaz", "Evans", "Fischer", "Garcia", "Haddad", "Ito"),
    *("Jansen", "Kaya", "Kim", "Kowalski", "Larsen", "Li", "Mbeki", "Moreau", "Novak", "Okafor"),
    *("Olsen", "Patel", "Petrov", "Quinn", "Rossi", "Sato", "Silva", "Singh", "Tanaka", "Weber"),
)
ADJECTIVES = (
    *("amber", "bold", "brisk", "calm", "clear", "crisp", "early", "faint", "fresh", "gentle"),
    *("green", "hidden", "keen", "light", "lucid", "mellow", "misty", "noble", "pale", "plain"),
    *("quick", "quiet", "rapid", "royal", "silent", "silver", "slow", "solid", "sunny", "swift"),
)
NOUNS = (
    *("acorn", "anchor", "arrow", "basin", "beacon", "bridge", "brook", "canyon", "cedar", "comet"),
    *(
        "coral",
        "delta",
        "ember",
        "falcon",
        "field",
        "forge",
        "garden",
        "glacier",
        "harbor",
        "island",
    ),
    *(
        "lantern",
        "maple",
        "meadow",
        "orbit",
        "otter",
        "pebble",
        "prism",
        "raven",
        "river",
        "summit",
    ),
)
COMPANY_SUFFIXES = ("Works", "Labs", "Systems", "Brothers", "Partners", "Foods", "Media", "Tools")
STREET_NAMES = ("Mill", "Park", "Church", "Station", "Garden", "Market", "River", "School")
# City, country, its code, its zone, its currency and its language.
PLACES = (
    ("Amsterdam", "Netherlands", "NL", "Europe/Amsterdam", "EUR", "nl"),
    ("Berlin", "Germany", "DE", "Europe/Berlin", "EUR", "de"),
    ("Cairo", "Egypt", "EG", "Africa/Cairo", "EGP", "ar"),
    ("Lagos", "Nigeria", "NG", "Africa/Lagos", "NGN", "en"),
    ("Lima", "Peru", "PE", "America/Lima", "PEN", "es"),
    ("Lisbon", "Portugal", "PT", "Europe/Lisbon", "EUR", "pt"),
    ("London", "United Kingdom", "GB", "Europe/London", "GBP", "en"),
    ("Mumbai", "India", "IN", "Asia/Kolkata", "INR", "hi"),
    ("Oslo", "Norway", "NO", "Europe/Oslo", "NOK", "nb"),
    ("Paris", "France", "FR", "Europe/Paris", "EUR", "fr"),
    ("Seoul", "South Korea", "KR", "Asia/Seoul", "KRW", "ko"),
    ("Sydney", "Australia", "AU", "Australia/Sydney", "AUD", "en"),
    ("Tokyo", "Japan", "JP", "Asia/Tokyo", "JPY", "ja"),
    ("Toronto", "Canada", "CA", "America/Toronto", "CAD", "en"),
)
SENTENCE_FORMS = (
    "{} {} keeps the {} {} in view.",
    "Why the {} {} needs no {} {}.",
    "From the {} {} to the {} {}.",
    "A {} {} is worth a {} {}.",
    "The {} {} and the {} {} meet again.",
)

T = TypeVar("T")
ValueMaker = Callable[[int], object]  # from a number of 64 bits to a value

FIRST_MOMENT = datetime(2021, 1, 1, tzinfo=UTC)
MOMENT_DAYS = 4 * 365


def pick_from(values: tuple[T, ...], value: int) -> T:
    """Return one of `values`."""
    return values[value % len(values)]


def make_words(value: int) -> str:
    """Return an adjective and a noun."""
    return f"{pick_from(ADJECTIVES, value)} {pick_from(NOUNS, value >> 16)}"


def make_label(value: int) -> str:
    """Return an adjective, a noun and a number, as names of repositories and tags are written."""
    return f"{make_words(value).replace(' ', '-')}-{(value >> 32) % 1000}"


def make_sentence(value: int) -> str:
    """Return a sentence."""
    form = pick_from(SENTENCE_FORMS, value >> 48)
    return form.format(
        *make_words(value).split(), *make_words(mix_bits(value)).split()
    ).capitalize()


def make_moment(value: int) -> datetime:
    """Return a moment of the years 2021 to 2024, on a second."""
    return FIRST_MOMENT + timedelta(seconds=value % (MOMENT_DAYS * 86400))


def make_timestamp(value: int) -> str:
    """Return a moment in UTC, as RFC 3339 writes it."""
    return make_moment(value).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_local_timestamp(value: int) -> str:
    """Return a moment without a zone, as ISO 8601 writes it."""
    return make_moment(value).strftime("%Y-%m-%dT%H:%M:%S")


def make_utc_time(value: int) -> str:
    """Return a time of day in UTC."""
    return make_moment(value).strftime("%H:%M:%SZ")


def make_epoch_seconds(value: int) -> int:
    """Return a moment as seconds since 1970."""
    return int(make_moment(value).timestamp())


def make_duration(value: int) -> str:
    """Return a length of time, as ISO 8601 writes it."""
    return f"PT{value % 600}S"


def make_date(value: int) -> str:
    """Return a day."""
    return make_moment(value).date().isoformat()


def make_time(value: int) -> str:
    """Return a time of day."""
    return make_moment(value).strftime("%H:%M:%S")


def make_birthday(value: int) -> str:
    """Return the day that a grown person was born."""
    return (date(1950, 1, 1) + timedelta(days=value % 18000)).isoformat()


def make_decimal(value: int) -> str:
    """Return a decimal of two places, most of them small."""
    return f"{pick_integer(value >> 8, 1, 10 ** pick_integer(value, 1, 4))}.{value % 100:02}"


def make_uuid(value: int) -> str:
    """Return a UUID of version 4."""
    return str(UUID(int=value << 64 | mix_bits(value), version=4))


def build_hex_maker(count: int) -> ValueMaker:
    """Return what makes hexadecimal digits."""

    def make_digits(value: int) -> str:
        text = ""
        while len(text) < count:
            value = mix_bits(value + 1)
            text += f"{value:016x}"
        return text[:count]

    return make_digits


def make_url(value: int) -> str:
    """Return an address that leads nowhere (RFC 2606)."""
    return f"https://example.org/{make_label(value)}"


def make_email(value: int) -> str:
    """Return an e-mail address that nobody has (RFC 2606)."""
    return f"{pick_from(FIRST_NAMES, value)}.{pick_from(LAST_NAMES, value >> 16)}{(value >> 32) % 100}@example.org".lower()


def make_phone(value: int) -> str:
    """Return a number of those set aside for fiction (NANP 555-0100 to 555-0199)."""
    return f"+1202555{pick_integer(value, 100, 199):04}"


def make_json_object(value: int) -> dict[str, object]:
    """Return a JSON object."""
    return {"label": make_label(value), "value": value % 1000, "active": bool(value >> 20 & 1)}


def make_version(value: int) -> str:
    """Return a version, as semver.org says."""
    return f"{value % 5}.{(value >> 8) % 20}.{(value >> 16) % 10}"


def build_integer_maker(low: int, high: int) -> ValueMaker:
    """Return what makes whole numbers from `low` to `high`."""
    return lambda value: pick_integer(value, low, high)


def build_float_maker(low: int, high: int, places: int = 2) -> ValueMaker:
    """Return what makes numbers from `low` to `high` with a few decimal places."""
    scale = 10**places
    return lambda value: pick_integer(value, low * scale, high * scale) / scale


def build_place_maker(index: int) -> ValueMaker:
    """Return what makes a part of a place: 0 city, 1 country, 2 code, 3 zone, 4 money, 5 tongue."""
    return lambda value: pick_from(PLACES, value)[index]


def make_ipv4(value: int) -> str:
    """Return an IPv4 address of those set aside for examples (RFC 5737)."""
    return f"192.0.2.{value % 256}"


def make_ipv6(value: int) -> str:
    """Return an IPv6 address of those set aside for examples (RFC 3849)."""
    return f"2001:db8::{pick_integer(value, 1, 65535):x}"


def make_base64(value: int) -> str:
    """Return bytes as base64 writes them."""
    return b64encode(value.to_bytes(8, "big") + b"data").decode()


LARGE_INTEGER = 10**12
# By names in lower case, which are spelled in several ways otherwise. Names that are not here have
# the format of their kind.
NAMED_FORMATS: dict[str, ValueMaker] = {
    **dict.fromkeys(
        (
            *("datetime", "datetimeiso", "iso8601datetime", "awsdatetime", "offsetdatetime"),
            *("timestamp", "gittimestamp", "precisedatetime", "timestamptz", "instant"),
        ),
        make_timestamp,
    ),
    "localdatetime": make_local_timestamp,
    **dict.fromkeys(("date", "iso8601date", "localdate", "awsdate"), make_date),
    **dict.fromkeys(("time", "localtime", "awstime"), make_time),
    **dict.fromkeys(("duration", "iso8601duration"), make_duration),
    **dict.fromkeys(("decimal", "bigdecimal", "numeric"), make_decimal),
    **dict.fromkeys(("bigint", "long", "int64", "safeint"), build_integer_maker(0, LARGE_INTEGER)),
    **dict.fromkeys(
        ("positiveint", "unsignedint", "nonnegativeint"), build_integer_maker(1, 10_000)
    ),
    **dict.fromkeys(("negativeint", "nonpositiveint"), build_integer_maker(-10_000, -1)),
    **dict.fromkeys(("byte", "uint8"), build_integer_maker(0, 127)),
    **dict.fromkeys(("short", "int16"), build_integer_maker(0, 32_767)),
    **dict.fromkeys(
        ("positivefloat", "unsignedfloat", "nonnegativefloat"), build_float_maker(1, 1000)
    ),
    **dict.fromkeys(("negativefloat", "nonpositivefloat"), build_float_maker(-1000, -1)),
    **dict.fromkeys(("json", "jsonobject", "jsonb", "any"), make_json_object),
    "awsjson": lambda value: f'{{"value": {value % 1000}}}',
    **dict.fromkeys(("uuid", "guid"), make_uuid),
    **dict.fromkeys(("uri", "url", "awsurl"), make_url),
    **dict.fromkeys(("emailaddress", "email", "awsemail"), make_email),
    **dict.fromkeys(("phonenumber", "awsphone"), make_phone),
    "html": lambda value: f"<p>{make_sentence(value)}</p>",
    **dict.fromkeys(("gitobjectid", "sha1"), build_hex_maker(40)),
    "objectid": build_hex_maker(24),
    "gitsshremote": lambda value: (
        f"git@example.org:{pick_from(NOUNS, value)}/{make_label(value)}.git"
    ),
    "gitrefname": lambda value: f"refs/heads/{make_label(value)}",
    "base64string": make_base64,
    **dict.fromkeys(("ip", "ipv4", "awsipaddress", "inet"), make_ipv4),
    "ipv6": make_ipv6,
    "mac": lambda value: f"02:{value >> 8 & 255:02x}:{value & 255:02x}:00:00:01",
    "port": build_integer_maker(1024, 65535),
    "hostname": lambda value: f"{pick_from(NOUNS, value)}.example.org",
    "latitude": build_float_maker(-90, 90, 5),
    "longitude": build_float_maker(-180, 180, 5),
    "postalcode": lambda value: f"{value % 100_000:05}",
    "countrycode": build_place_maker(2),
    "currency": build_place_maker(4),
    "locale": lambda value: f"{pick_from(PLACES, value)[5]}-{pick_from(PLACES, value)[2]}",
    "timezone": build_place_maker(3),
    "hexcolorcode": lambda value: f"#{value & 0xFFFFFF:06x}",
    "semver": make_version,
    "nonemptystring": make_words,
    "void": lambda _value: None,
}


# Names of databases, which in lower case are of another format.
DATABASE_FORMATS: dict[str, ValueMaker] = {
    "timestamp": make_local_timestamp,
    "datetime": make_local_timestamp,
}
# By the kind of column that a scalar has.
KIND_FORMATS: dict[kinds.Scalar, ValueMaker] = {
    kinds.JSON: make_json_object,
    kinds.BIG_INTEGER: build_integer_maker(0, LARGE_INTEGER),
    kinds.BYTE: build_integer_maker(0, 127),
    kinds.TIME: make_time,
    kinds.DATE: make_date,
    kinds.EPOCH_MILLISECONDS: lambda value: make_epoch_seconds(value) * 1000,
    kinds.EPOCH_SECONDS: make_epoch_seconds,
    kinds.DECIMAL: make_decimal,
    kinds.LOCAL_DATETIME: make_local_timestamp,
    kinds.LONG: build_integer_maker(0, 10_000),
    kinds.DATETIME: make_timestamp,
    kinds.MONEY: make_decimal,
    kinds.NUMBER: build_float_maker(0, 1000),
    kinds.DURATION_SECONDS: build_float_maker(0, 600),
    kinds.DURATION: make_duration,
    kinds.TIMESTAMP: make_timestamp,
    kinds.BOOLEAN: lambda value: bool(mix_bits(value) & 1),
    kinds.OBJECT_TEXT: make_label,
    kinds.ZONED_TIME: make_utc_time,
}


def find_format(name: str) -> ValueMaker | None:
    """Return what makes values of a scalar, by its name; None for one that is not known."""
    found = DATABASE_FORMATS.get(name) or NAMED_FORMATS.get(name.lower().replace("_", ""))
    kind = get_known_scalar(name)
    return KIND_FORMATS.get(kind) if found is None and kind is not None else found
