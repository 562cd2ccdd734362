"""Generated values: by the format of a scalar, or by a guess from the name of a field.

They are pure functions of a number, the same in every process.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, TypeVar
from uuid import UUID

from gqlnb.document import scalars as kinds
from gqlnb.document.scalars import get_known_scalar

T = TypeVar("T")
ValueMaker = Callable[[int], object]  # from a number of 64 bits to a value

MASK_64 = 2**64 - 1
GOLDEN_STEP = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: multiples of it lie far apart


def hash_parts(*parts: object) -> int:
    """Return a number of 64 bits for some names or texts, the same in every process."""
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
    """Return a number from `low` to `high`, both included, that `value` determines."""
    return low + value % (high - low + 1)


# There is no Faker here: it takes 10 to 130 us for a value instead of 0.5 us, and its lists of
# names change between releases, which would change the data of every seed.
def _pick_from(values: Sequence[T], value: int) -> T:
    return values[value % len(values)]


def hash_arguments(arguments: Mapping[str, object]) -> int:
    """Return a number for the arguments of a field; null counts as left out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return hash_parts(json.dumps(given, sort_keys=True, default=str)) if given else 0


# -- words


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _split(
    "Ada Amara Anton Bea Carlos Chen Dana Elif Emil Farah Felix Grace Hana Hugo Ines Ivan Jonas "
    "Kenji Lena Luca Maya Mila Nadia Noor Olu Omar Priya Rosa Sami Tariq Uma Vera Yara"
)
LAST_NAMES = _split(
    "Abe Adeyemi Berg Costa Diaz Evans Fischer Garcia Haddad Ito Jansen Kaya Kim Kowalski Larsen "
    "Li Mbeki Moreau Novak Okafor Olsen Patel Petrov Quinn Rossi Sato Silva Singh Tanaka Weber"
)
ADJECTIVES = _split(
    "amber bold brisk calm clear crisp early faint fresh gentle green hidden keen light lucid "
    "mellow misty noble pale plain quick quiet rapid royal silent silver slow solid sunny swift"
)
NOUNS = _split(
    "acorn anchor arrow basin beacon bridge brook canyon cedar comet coral delta ember falcon "
    "field forge garden glacier harbor island lantern maple meadow orbit otter pebble prism raven "
    "river summit"
)
COMPANY_SUFFIXES = _split("Works Labs Systems Brothers Partners Foods Media Tools")
STREET_NAMES = _split("Mill Park Church Station Garden Market River School")
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
FIRST_MOMENT = datetime(2021, 1, 1, tzinfo=UTC)
MOMENT_SECONDS = 4 * 365 * 86400
LARGE_INTEGER = 10**12


# -- makers


def _make_words(value: int) -> str:
    return f"{_pick_from(ADJECTIVES, value)} {_pick_from(NOUNS, value >> 16)}"


def make_label(value: int) -> str:
    """Return words and a number, in the style of names of repositories and tags."""
    return f"{_make_words(value).replace(' ', '-')}-{(value >> 32) % 1000}"


def _make_sentence(value: int) -> str:
    words = (*_make_words(value).split(), *_make_words(mix_bits(value)).split())
    return _pick_from(SENTENCE_FORMS, value >> 48).format(*words).capitalize()


def make_moment(value: int) -> datetime:
    """Return a full second of the years 2021 to 2024."""
    return FIRST_MOMENT + timedelta(seconds=value % MOMENT_SECONDS)


def build_moment_maker(pattern: str) -> ValueMaker:
    """Return a maker of moments in a format of ``strftime``."""
    return lambda value: make_moment(value).strftime(pattern)


make_timestamp = build_moment_maker("%Y-%m-%dT%H:%M:%SZ")
make_local_timestamp = build_moment_maker("%Y-%m-%dT%H:%M:%S")
make_date = build_moment_maker("%Y-%m-%d")
make_time = build_moment_maker("%H:%M:%S")


def _make_epoch_seconds(value: int) -> int:
    return int(make_moment(value).timestamp())


def _make_duration(value: int) -> str:
    return f"PT{value % 600}S"


def make_birthday(value: int) -> str:
    """Return the birthday of an adult."""
    return (date(1950, 1, 1) + timedelta(days=value % 18000)).isoformat()


def make_decimal(value: int) -> str:
    """Return a decimal of two places, usually a small one."""
    return f"{pick_integer(value >> 8, 1, 10 ** pick_integer(value, 1, 4))}.{value % 100:02}"


def _make_uuid(value: int) -> str:
    return str(UUID(int=value << 64 | mix_bits(value), version=4))


def build_hex_maker(count: int) -> ValueMaker:
    """Return a maker of texts of hexadecimal digits."""

    def make_digits(value: int) -> str:
        text = ""
        while len(text) < count:
            value = mix_bits(value + 1)
            text += f"{value:016x}"
        return text[:count]

    return make_digits


# Hosts, addresses and phone numbers are those reserved for examples (RFC 2606, RFC 5737, RFC 3849,
# NANP 555-0100 to 555-0199), so that a mock leads to nobody.
def _make_url(value: int) -> str:
    return f"https://example.org/{make_label(value)}"


def _make_email(value: int) -> str:
    first, last = _pick_from(FIRST_NAMES, value), _pick_from(LAST_NAMES, value >> 16)
    return f"{first}.{last}{(value >> 32) % 100}@example.org".lower()


def _make_phone(value: int) -> str:
    return f"+1202555{pick_integer(value, 100, 199):04}"


def _make_json_object(value: int) -> dict[str, object]:
    return {"label": make_label(value), "value": value % 1000, "active": bool(value >> 20 & 1)}


def _make_version(value: int) -> str:
    return f"{value % 5}.{(value >> 8) % 20}.{(value >> 16) % 10}"


def _make_boolean(value: int) -> bool:
    return bool(mix_bits(value) & 1)


def build_integer_maker(low: int, high: int) -> ValueMaker:
    """Return a maker of integers from `low` to `high`."""
    return lambda value: pick_integer(value, low, high)


def build_float_maker(low: int, high: int, places: int = 2) -> ValueMaker:
    """Return a maker of numbers from `low` to `high` with a few decimal places."""
    scale = 10**places
    return lambda value: pick_integer(value, low * scale, high * scale) / scale


def build_place_maker(index: int) -> ValueMaker:
    """Return a maker of one column of `PLACES`."""
    return lambda value: _pick_from(PLACES, value)[index]


# -- tables

# By names in lower case without underscores. Other names have the format of their kind.
FORMATS: tuple[tuple[str, ValueMaker], ...] = (
    (
        "datetime datetimeiso iso8601datetime awsdatetime offsetdatetime timestamp gittimestamp "
        "precisedatetime timestamptz instant",
        make_timestamp,
    ),
    ("localdatetime", make_local_timestamp),
    ("date iso8601date localdate awsdate", make_date),
    ("time localtime awstime", make_time),
    ("duration iso8601duration", _make_duration),
    ("decimal bigdecimal numeric", make_decimal),
    ("bigint long int64 safeint", build_integer_maker(0, LARGE_INTEGER)),
    ("positiveint unsignedint nonnegativeint", build_integer_maker(1, 10_000)),
    ("negativeint nonpositiveint", build_integer_maker(-10_000, -1)),
    ("byte uint8", build_integer_maker(0, 127)),
    ("short int16", build_integer_maker(0, 32_767)),
    ("positivefloat unsignedfloat nonnegativefloat", build_float_maker(1, 1000)),
    ("negativefloat nonpositivefloat", build_float_maker(-1000, -1)),
    ("json jsonobject jsonb any", _make_json_object),
    ("awsjson", lambda value: f'{{"value": {value % 1000}}}'),
    ("uuid guid", _make_uuid),
    ("uri url awsurl", _make_url),
    ("emailaddress email awsemail", _make_email),
    ("phonenumber awsphone", _make_phone),
    ("html", lambda value: f"<p>{_make_sentence(value)}</p>"),
    ("gitobjectid sha1", build_hex_maker(40)),
    ("objectid", build_hex_maker(24)),
    ("gitsshremote", lambda v: f"git@example.org:{_pick_from(NOUNS, v)}/{make_label(v)}.git"),
    ("gitrefname", lambda value: f"refs/heads/{make_label(value)}"),
    ("base64string", lambda value: b64encode(value.to_bytes(8, "big") + b"data").decode()),
    ("ip ipv4 awsipaddress inet", lambda value: f"192.0.2.{value % 256}"),
    ("ipv6", lambda value: f"2001:db8::{pick_integer(value, 1, 65535):x}"),
    ("mac", lambda value: f"02:{value >> 8 & 255:02x}:{value & 255:02x}:00:00:01"),
    ("port", build_integer_maker(1024, 65535)),
    ("hostname", lambda value: f"{_pick_from(NOUNS, value)}.example.org"),
    ("latitude", build_float_maker(-90, 90, 5)),
    ("longitude", build_float_maker(-180, 180, 5)),
    ("postalcode", lambda value: f"{value % 100_000:05}"),
    ("countrycode", build_place_maker(2)),
    ("currency", build_place_maker(4)),
    ("locale", lambda value: "{5}-{2}".format(*_pick_from(PLACES, value))),
    ("timezone", build_place_maker(3)),
    ("hexcolorcode", lambda value: f"#{value & 0xFFFFFF:06x}"),
    ("semver", _make_version),
    ("nonemptystring", _make_words),
    ("void", lambda _value: None),
)
NAMED_FORMATS = {name: make for names, make in FORMATS for name in names.split()}
# Names of databases' types, which have another format than the same name in upper case.
DATABASE_FORMATS = {"timestamp": make_local_timestamp, "datetime": make_local_timestamp}
# By the kind of column that a scalar has.
KIND_FORMATS: dict[kinds.Scalar, ValueMaker] = {
    kinds.JSON: _make_json_object,
    kinds.BIG_INTEGER: build_integer_maker(0, LARGE_INTEGER),
    kinds.BYTE: build_integer_maker(0, 127),
    kinds.TIME: make_time,
    kinds.DATE: make_date,
    kinds.EPOCH_MILLISECONDS: lambda value: _make_epoch_seconds(value) * 1000,
    kinds.EPOCH_SECONDS: _make_epoch_seconds,
    kinds.DECIMAL: make_decimal,
    kinds.LOCAL_DATETIME: make_local_timestamp,
    kinds.LONG: build_integer_maker(0, 10_000),
    kinds.DATETIME: make_timestamp,
    kinds.MONEY: make_decimal,
    kinds.NUMBER: build_float_maker(0, 1000),
    kinds.EXACT_NUMBER: build_float_maker(0, 1000),
    kinds.DURATION_SECONDS: build_float_maker(0, 600),
    kinds.DURATION: _make_duration,
    kinds.BOOLEAN: _make_boolean,
    kinds.OBJECT_TEXT: make_label,
    kinds.ZONED_TIME: build_moment_maker("%H:%M:%SZ"),
}


def find_format(name: str) -> ValueMaker | None:
    """Return the maker of the values of a scalar, by its name; None if the name is unknown."""
    named = DATABASE_FORMATS.get(name) or NAMED_FORMATS.get(name.lower().replace("_", ""))
    kind = get_known_scalar(name)
    return KIND_FORMATS.get(kind) if named is None and kind is not None else named


WORD_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
EARLY_WORDS = frozenset(
    {"created", "registered", "joined", "founded", "started", "inserted", "signed"}
)
TIME_WORDS = frozenset({"at", "datetime", "timestamp"})
# Years before other timestamps, so that nothing is updated before it was created.
EARLY_OFFSET = timedelta(days=4 * 365)
# Types that are people, in the schemas of shops, clinics, schools and code hosts.
PERSON_TYPES = frozenset(
    {"user", "person", "author", "owner", "member", "customer", "employee", "account", "actor"}
    | {"contact", "patient", "student", "teacher", "viewer", "profile", "artist", "client"}
)


class ValueGuess(NamedTuple):
    """The maker of a field's values.

    Attributes
    ----------
    make
        Returns the value for a number.
    shared
        Whether all such fields of an object are made from one number, so that they agree.
    """

    make: ValueMaker
    shared: bool = False


def _make_person(value: int) -> str:
    return f"{_pick_from(FIRST_NAMES, value)} {_pick_from(LAST_NAMES, value >> 16)}"


def _make_login(value: int) -> str:
    return f"{_make_person(value).replace(' ', '-')}{(value >> 32) % 100}".lower()


def _make_company(value: int) -> str:
    suffix = _pick_from(COMPANY_SUFFIXES, value >> 16)
    return f"{_pick_from(LAST_NAMES, value)} {suffix}"


def _make_street(value: int) -> str:
    return f"{_pick_from(STREET_NAMES, value)} Street {pick_integer(value >> 8, 1, 120)}"


def make_count(value: int) -> int:
    """Return an integer, usually a small one, like counts of real things."""
    return pick_integer(value >> 8, 0, 10 ** pick_integer(value, 1, 5))


def make_early_timestamp(value: int) -> str:
    """Return a moment in the years before those of other timestamps."""
    return (make_moment(value) - EARLY_OFFSET).strftime("%Y-%m-%dT%H:%M:%SZ")


Guesses = tuple[tuple[str, ValueMaker], ...]


def build_guesses(guesses: Guesses, shared: Guesses = ()) -> dict[str, ValueGuess]:
    """Return guesses by the last words of a field's name; each entry lists alternatives."""
    return {
        words: ValueGuess(make, entries is shared)
        for entries in (guesses, shared)
        for names, make in entries
        for words in names.split(", ")
    }


integer, real, place = build_integer_maker, build_float_maker, build_place_maker
TEXT_GUESSES = build_guesses(
    (
        ("name, title, headline, subject", _make_words),
        ("slug, key, label, tag, name with owner", make_label),
        ("url, uri, href, link, website, homepage, blog, permalink", _make_url),
        (
            "avatar, image, photo, picture, icon, logo, thumbnail",
            lambda n: f"{_make_url(n)}.png",
        ),
        (
            "description, summary, bio, about, body, text, content, comment, message",
            _make_sentence,
        ),
        ("company, organization, employer, brand", _make_company),
        ("street, address, street address", _make_street),
        ("zip, zip code, postcode, postal code", NAMED_FORMATS["postalcode"]),
        ("phone, phone number, mobile, telephone, fax", _make_phone),
        ("color, colour", NAMED_FORMATS["hexcolorcode"]),
        ("version, semver", _make_version),
        ("sha, oid, commit, hash, digest, checksum", build_hex_maker(40)),
        ("uuid, guid", _make_uuid),
        ("ip, ip address", NAMED_FORMATS["ipv4"]),
        ("host, hostname, domain", NAMED_FORMATS["hostname"]),
        ("mime type, content type, media type", lambda _n: "text/plain"),
        ("file, filename, file name, path", lambda n: f"{make_label(n)}.txt"),
        ("price, amount, total, cost, balance", make_decimal),
        ("birthday, birth date, date of birth, born", make_birthday),
        ("date, day", make_date),
        ("status, state, kind, type, category", lambda n: _pick_from(NOUNS, n)),
        ("cursor", lambda n: f"cursor:{n % 1000}"),
    ),
    shared=(
        ("first name, given name, forename", lambda n: _pick_from(FIRST_NAMES, n)),
        ("last name, surname, family name", lambda n: _pick_from(LAST_NAMES, n >> 16)),
        ("full name, display name, author name, owner name", _make_person),
        ("login, username, user name, handle, nickname, screen name", _make_login),
        ("email, mail, email address", _make_email),
        ("city, town, location, place", place(0)),
        ("country, nation", place(1)),
        ("country code", place(2)),
        ("timezone, time zone", place(3)),
        ("currency, currency code", place(4)),
        ("language, locale, lang, language code", place(5)),
    ),
)
INTEGER_GUESSES = build_guesses(
    (
        ("age", integer(18, 90)),
        ("year", integer(1990, 2025)),
        ("month", integer(1, 12)),
        ("day", integer(1, 28)),
        ("hour", integer(0, 23)),
        ("minute, second", integer(0, 59)),
        ("rating", integer(1, 5)),
        ("percent, percentage, progress, score", integer(0, 100)),
        ("width, height", integer(100, 2000)),
        ("port", integer(1024, 65535)),
        ("quantity, position, rank, index", integer(1, 100)),
        ("timestamp", _make_epoch_seconds),
    ),
    shared=(("database id, full database id", integer(1, 2**31 - 1)),),
)
FLOAT_GUESSES = build_guesses(
    (
        ("latitude, lat", real(-90, 90, 5)),
        ("longitude, lon, lng, long", real(-180, 180, 5)),
        ("rating", real(1, 5, 1)),
        ("score, ratio, probability, confidence, rate", real(0, 1, 3)),
        ("percent, percentage, progress", real(0, 100, 1)),
        ("temperature", real(-10, 35, 1)),
        ("humidity", real(0, 100, 1)),
        ("weight", real(1, 120, 1)),
        ("height", real(1, 200, 1)),
        ("price, amount, total, cost", lambda n: float(make_decimal(n))),
    )
)
BOOLEAN_GUESSES = build_guesses((("success, successful, ok", lambda _n: True),))
GUESSES_BY_SCALAR: dict[str, tuple[dict[str, ValueGuess], ValueGuess]] = {
    "String": (TEXT_GUESSES, ValueGuess(_make_words)),
    "ID": (TEXT_GUESSES, ValueGuess(make_label)),
    "Int": (INTEGER_GUESSES, ValueGuess(make_count)),
    "Float": (FLOAT_GUESSES, ValueGuess(real(0, 1000))),
    "Boolean": (BOOLEAN_GUESSES, ValueGuess(_make_boolean)),
}
EARLIER_GUESSES: dict[ValueMaker, ValueGuess] = {
    make_timestamp: ValueGuess(make_early_timestamp),
    make_local_timestamp: ValueGuess(lambda n: make_early_timestamp(n).removesuffix("Z")),
    make_date: ValueGuess(lambda n: make_early_timestamp(n).partition("T")[0]),
}


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, ``createdAt`` or ``created_at``, in lower case."""
    return tuple(part.lower() for part in WORD_PART.findall(name))


def guess_field(scalar: str, field: str, owner: str, given: ValueMaker | None = None) -> ValueGuess:
    """Return the maker of a field's values.

    Parameters
    ----------
    scalar
        Its type: one of GraphQL's five, or another.
    field, owner
        Its name, and that of the type it is a field of.
    given
        The maker of the values of another scalar; None for an unknown one.
    """
    parts = split_words(field)
    if scalar in GUESSES_BY_SCALAR:
        human = bool(PERSON_TYPES.intersection(split_words(owner)))
        return _guess_builtin(scalar, parts, human=human)
    if given is None:
        return ValueGuess(lambda n: f"{scalar}-{n % 10_000}")
    if EARLY_WORDS.intersection(parts) and given in EARLIER_GUESSES:
        return EARLIER_GUESSES[given]
    return ValueGuess(given, given is _make_email)


@lru_cache(maxsize=4096)
def _guess_builtin(scalar: str, parts: tuple[str, ...], *, human: bool) -> ValueGuess:
    table, usual = GUESSES_BY_SCALAR[scalar]
    if scalar in {"String", "ID"}:
        # `name` alone says little: a person has a first and a last name, anything else two words.
        if parts == ("name",) and human:
            return ValueGuess(_make_person, shared=True)
        if TIME_WORDS.intersection(parts[-1:]):
            timestamp = make_timestamp
            early = EARLY_WORDS.intersection(parts)
            return EARLIER_GUESSES[timestamp] if early else ValueGuess(timestamp)
    # The longest known end of the name: "avatarUrl" is a url.
    for start in range(len(parts)):
        maker = table.get(" ".join(parts[start:]))
        if maker is not None:
            return maker
    return usual
