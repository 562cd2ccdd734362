"""What the name of a field says of its values."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from gqlnb.engine.mock.value_formats import (
    COMPANY_SUFFIXES,
    FIRST_NAMES,
    LAST_NAMES,
    NAMED_FORMATS,
    NOUNS,
    STREET_NAMES,
    ValueMaker,
    build_float_maker,
    build_hex_maker,
    build_integer_maker,
    build_place_maker,
    make_birthday,
    make_date,
    make_decimal,
    make_email,
    make_label,
    make_local_timestamp,
    make_moment,
    make_phone,
    make_sentence,
    make_timestamp,
    make_url,
    make_uuid,
    make_version,
    make_words,
    mix_bits,
    pick_from,
    pick_integer,
)

__all__ = ["ValueGuess", "guess_field"]

WORD_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
EARLY_WORDS = frozenset(
    {"created", "registered", "joined", "founded", "started", "inserted", "signed"}
)
TIME_WORDS = frozenset({"at", "datetime", "timestamp"})
EARLY_OFFSET = timedelta(days=4 * 365)
PERSON_TYPES = frozenset(
    {"user", "person", "author", "owner", "member", "customer", "employee", "account", "actor"}
    | {"contact", "patient", "student", "teacher", "viewer", "profile", "artist", "client"}
)


class ValueGuess(NamedTuple):
    """What makes the values of a field.

    Attributes
    ----------
    make
        Makes a value of a number.
    shared
        Whether all such fields of an object are made of one number, so that they agree.
    """

    make: ValueMaker
    shared: bool = False


def make_person(value: int) -> str:
    """Return a first and a last name."""
    return f"{pick_from(FIRST_NAMES, value)} {pick_from(LAST_NAMES, value >> 16)}"


def make_login(value: int) -> str:
    """Return the name that the person of the same number has on a machine."""
    return f"{pick_from(FIRST_NAMES, value)}-{pick_from(LAST_NAMES, value >> 16)}{(value >> 32) % 100}".lower()


def make_company(value: int) -> str:
    """Return the name of a company."""
    return f"{pick_from(LAST_NAMES, value)} {pick_from(COMPANY_SUFFIXES, value >> 16)}"


def make_count(value: int) -> int:
    """Return a whole number, small ones most often, as counts of real things are."""
    return pick_integer(value >> 8, 0, 10 ** pick_integer(value, 1, 5))


def make_early_timestamp(value: int) -> str:
    """Return a moment of the years before those of `make_timestamp`."""
    return (make_moment(value) - EARLY_OFFSET).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_early_date(value: int) -> str:
    """Return a day of the years before those of `make_date`."""
    return (make_moment(value) - EARLY_OFFSET).date().isoformat()


def make_boolean(value: int) -> bool:
    """Return true or false."""
    return bool(mix_bits(value) & 1)


TEXT_GUESSES: dict[str, ValueGuess] = {
    **dict.fromkeys(
        ("first name", "given name", "forename"),
        ValueGuess(lambda n: pick_from(FIRST_NAMES, n), True),
    ),
    **dict.fromkeys(
        ("last name", "surname", "family name"),
        ValueGuess(lambda n: pick_from(LAST_NAMES, n >> 16), True),
    ),
    **dict.fromkeys(
        ("full name", "display name", "author name", "owner name"), ValueGuess(make_person, True)
    ),
    **dict.fromkeys(
        ("login", "username", "user name", "handle", "nickname", "screen name"),
        ValueGuess(make_login, True),
    ),
    **dict.fromkeys(("email", "mail", "email address"), ValueGuess(make_email, True)),
    **dict.fromkeys(("name", "title", "headline", "subject"), ValueGuess(make_words)),
    **dict.fromkeys(("slug", "key", "label", "tag", "name with owner"), ValueGuess(make_label)),
    **dict.fromkeys(
        ("url", "uri", "href", "link", "website", "homepage", "blog", "permalink"),
        ValueGuess(make_url),
    ),
    **dict.fromkeys(
        ("avatar", "image", "photo", "picture", "icon", "logo", "thumbnail"),
        ValueGuess(lambda n: f"{make_url(n)}.png"),
    ),
    **dict.fromkeys(
        ("description", "summary", "bio", "about", "body", "text", "content", "comment", "message"),
        ValueGuess(make_sentence),
    ),
    **dict.fromkeys(("company", "organization", "employer", "brand"), ValueGuess(make_company)),
    **dict.fromkeys(("city", "town", "location", "place"), ValueGuess(build_place_maker(0), True)),
    **dict.fromkeys(("country", "nation"), ValueGuess(build_place_maker(1), True)),
    "country code": ValueGuess(build_place_maker(2), True),
    **dict.fromkeys(("timezone", "time zone"), ValueGuess(build_place_maker(3), True)),
    **dict.fromkeys(("currency", "currency code"), ValueGuess(build_place_maker(4), True)),
    **dict.fromkeys(
        ("language", "locale", "lang", "language code"), ValueGuess(build_place_maker(5), True)
    ),
    **dict.fromkeys(
        ("street", "address", "street address"),
        ValueGuess(lambda n: f"{pick_from(STREET_NAMES, n)} Street {pick_integer(n >> 8, 1, 120)}"),
    ),
    **dict.fromkeys(
        ("zip", "zip code", "postcode", "postal code"), ValueGuess(NAMED_FORMATS["postalcode"])
    ),
    **dict.fromkeys(
        ("phone", "phone number", "mobile", "telephone", "fax"), ValueGuess(make_phone)
    ),
    **dict.fromkeys(("color", "colour"), ValueGuess(NAMED_FORMATS["hexcolorcode"])),
    **dict.fromkeys(("version", "semver"), ValueGuess(make_version)),
    **dict.fromkeys(
        ("sha", "oid", "commit", "hash", "digest", "checksum"), ValueGuess(build_hex_maker(40))
    ),
    **dict.fromkeys(("uuid", "guid"), ValueGuess(make_uuid)),
    **dict.fromkeys(("ip", "ip address"), ValueGuess(NAMED_FORMATS["ipv4"])),
    **dict.fromkeys(("host", "hostname", "domain"), ValueGuess(NAMED_FORMATS["hostname"])),
    **dict.fromkeys(
        ("mime type", "content type", "media type"), ValueGuess(lambda _n: "text/plain")
    ),
    **dict.fromkeys(
        ("file", "filename", "file name", "path"), ValueGuess(lambda n: f"{make_label(n)}.txt")
    ),
    **dict.fromkeys(("price", "amount", "total", "cost", "balance"), ValueGuess(make_decimal)),
    **dict.fromkeys(("birthday", "birth date", "date of birth", "born"), ValueGuess(make_birthday)),
    **dict.fromkeys(("date", "day"), ValueGuess(make_date)),
    **dict.fromkeys(
        ("status", "state", "kind", "type", "category"), ValueGuess(lambda n: pick_from(NOUNS, n))
    ),
    "cursor": ValueGuess(lambda n: f"cursor:{n % 1000}"),
}
INTEGER_GUESSES: dict[str, ValueGuess] = {
    "age": ValueGuess(build_integer_maker(18, 90)),
    "year": ValueGuess(build_integer_maker(1990, 2025)),
    "month": ValueGuess(build_integer_maker(1, 12)),
    "day": ValueGuess(build_integer_maker(1, 28)),
    "hour": ValueGuess(build_integer_maker(0, 23)),
    **dict.fromkeys(("minute", "second"), ValueGuess(build_integer_maker(0, 59))),
    "rating": ValueGuess(build_integer_maker(1, 5)),
    **dict.fromkeys(
        ("percent", "percentage", "progress", "score"), ValueGuess(build_integer_maker(0, 100))
    ),
    **dict.fromkeys(("width", "height"), ValueGuess(build_integer_maker(100, 2000))),
    "port": ValueGuess(build_integer_maker(1024, 65535)),
    **dict.fromkeys(
        ("quantity", "position", "rank", "index"), ValueGuess(build_integer_maker(1, 100))
    ),
    **dict.fromkeys(
        ("database id", "full database id"), ValueGuess(build_integer_maker(1, 2**31 - 1), True)
    ),
    "timestamp": ValueGuess(lambda n: int(make_moment(n).timestamp())),
}
FLOAT_GUESSES: dict[str, ValueGuess] = {
    **dict.fromkeys(("latitude", "lat"), ValueGuess(build_float_maker(-90, 90, 5))),
    **dict.fromkeys(
        ("longitude", "lon", "lng", "long"), ValueGuess(build_float_maker(-180, 180, 5))
    ),
    "rating": ValueGuess(build_float_maker(1, 5, 1)),
    **dict.fromkeys(
        ("score", "ratio", "probability", "confidence", "rate"),
        ValueGuess(build_float_maker(0, 1, 3)),
    ),
    **dict.fromkeys(
        ("percent", "percentage", "progress"), ValueGuess(build_float_maker(0, 100, 1))
    ),
    "temperature": ValueGuess(build_float_maker(-10, 35, 1)),
    "humidity": ValueGuess(build_float_maker(0, 100, 1)),
    "weight": ValueGuess(build_float_maker(1, 120, 1)),
    "height": ValueGuess(build_float_maker(1, 200, 1)),
    **dict.fromkeys(
        ("price", "amount", "total", "cost"), ValueGuess(lambda n: float(make_decimal(n)))
    ),
}
BOOLEAN_GUESSES: dict[str, ValueGuess] = dict.fromkeys(
    ("success", "successful", "ok"), ValueGuess(lambda _n: True)
)
GUESSES_BY_SCALAR: dict[str, tuple[dict[str, ValueGuess], ValueGuess]] = {
    "String": (TEXT_GUESSES, ValueGuess(make_words)),
    "ID": (TEXT_GUESSES, ValueGuess(make_label)),
    "Int": (INTEGER_GUESSES, ValueGuess(make_count)),
    "Float": (FLOAT_GUESSES, ValueGuess(build_float_maker(0, 1000))),
    "Boolean": (BOOLEAN_GUESSES, ValueGuess(make_boolean)),
}
EARLIER_GUESSES: dict[ValueMaker, ValueGuess] = {
    make_timestamp: ValueGuess(make_early_timestamp),
    make_local_timestamp: ValueGuess(lambda value: make_early_timestamp(value).removesuffix("Z")),
    make_date: ValueGuess(make_early_date),
}


def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, ``createdAt`` or ``created_at``, in lower case."""
    return tuple(part.lower() for part in WORD_PART.findall(name))


def guess_field(scalar: str, field: str, owner: str, given: ValueMaker | None = None) -> ValueGuess:
    """Return what makes the values of a field.

    Parameters
    ----------
    scalar
        Its type: one of GraphQL's five, or another.
    field, owner
        Its name, and that of the type it is a field of.
    given
        What makes values of another scalar; None for one that is not known.
    """
    parts = split_words(field)
    if scalar in GUESSES_BY_SCALAR:
        return _guess_builtin(scalar, parts, bool(PERSON_TYPES.intersection(split_words(owner))))
    if given is None:
        return ValueGuess(lambda n: f"{scalar}-{n % 10_000}")
    if EARLY_WORDS.intersection(parts) and given in EARLIER_GUESSES:
        return EARLIER_GUESSES[given]
    return ValueGuess(given, given is make_email)


@lru_cache(maxsize=4096)
def _guess_builtin(scalar: str, parts: tuple[str, ...], human: bool) -> ValueGuess:
    table, usual = GUESSES_BY_SCALAR[scalar]
    if scalar in {"String", "ID"}:
        if parts == ("name",) and human:
            return ValueGuess(make_person, True)
        if TIME_WORDS.intersection(parts[-1:]):
            return (
                EARLIER_GUESSES[make_timestamp]
                if EARLY_WORDS.intersection(parts)
                else ValueGuess(make_timestamp)
            )
    # The longest end of the name that says something: "avatarUrl" is a url.
    for start in range(len(parts)):
        found = table.get(" ".join(parts[start:]))
        if found is not None:
            return found
    return usual
