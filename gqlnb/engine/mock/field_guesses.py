"""Guesses of a field's values from its name and its type."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from gqlnb.engine.mock import value_formats as formats
from gqlnb.engine.mock.value_formats import ValueMaker, pick_from, pick_integer

__all__ = ["ValueGuess", "guess_field"]

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


def make_person(value: int) -> str:
    return f"{pick_from(formats.FIRST_NAMES, value)} {pick_from(formats.LAST_NAMES, value >> 16)}"


def make_login(value: int) -> str:
    return f"{make_person(value).replace(' ', '-')}{(value >> 32) % 100}".lower()


def make_company(value: int) -> str:
    suffix = pick_from(formats.COMPANY_SUFFIXES, value >> 16)
    return f"{pick_from(formats.LAST_NAMES, value)} {suffix}"


def make_street(value: int) -> str:
    return f"{pick_from(formats.STREET_NAMES, value)} Street {pick_integer(value >> 8, 1, 120)}"


def make_count(value: int) -> int:
    """Return an integer, usually a small one, like counts of real things."""
    return pick_integer(value >> 8, 0, 10 ** pick_integer(value, 1, 5))


def make_early_timestamp(value: int) -> str:
    """Return a moment in the years before those of other timestamps."""
    return (formats.make_moment(value) - EARLY_OFFSET).strftime("%Y-%m-%dT%H:%M:%SZ")


Guesses = tuple[tuple[str, ValueMaker], ...]


def build_guesses(guesses: Guesses, shared: Guesses = ()) -> dict[str, ValueGuess]:
    """Return guesses by the last words of a field's name; each entry lists alternatives."""
    return {
        words: ValueGuess(make, entries is shared)
        for entries in (guesses, shared)
        for names, make in entries
        for words in names.split(", ")
    }


integer, real, place = (
    formats.build_integer_maker,
    formats.build_float_maker,
    formats.build_place_maker,
)
TEXT_GUESSES = build_guesses(
    (
        ("name, title, headline, subject", formats.make_words),
        ("slug, key, label, tag, name with owner", formats.make_label),
        ("url, uri, href, link, website, homepage, blog, permalink", formats.make_url),
        (
            "avatar, image, photo, picture, icon, logo, thumbnail",
            lambda n: f"{formats.make_url(n)}.png",
        ),
        (
            "description, summary, bio, about, body, text, content, comment, message",
            formats.make_sentence,
        ),
        ("company, organization, employer, brand", make_company),
        ("street, address, street address", make_street),
        ("zip, zip code, postcode, postal code", formats.NAMED_FORMATS["postalcode"]),
        ("phone, phone number, mobile, telephone, fax", formats.make_phone),
        ("color, colour", formats.NAMED_FORMATS["hexcolorcode"]),
        ("version, semver", formats.make_version),
        ("sha, oid, commit, hash, digest, checksum", formats.build_hex_maker(40)),
        ("uuid, guid", formats.make_uuid),
        ("ip, ip address", formats.NAMED_FORMATS["ipv4"]),
        ("host, hostname, domain", formats.NAMED_FORMATS["hostname"]),
        ("mime type, content type, media type", lambda _n: "text/plain"),
        ("file, filename, file name, path", lambda n: f"{formats.make_label(n)}.txt"),
        ("price, amount, total, cost, balance", formats.make_decimal),
        ("birthday, birth date, date of birth, born", formats.make_birthday),
        ("date, day", formats.make_date),
        ("status, state, kind, type, category", lambda n: pick_from(formats.NOUNS, n)),
        ("cursor", lambda n: f"cursor:{n % 1000}"),
    ),
    shared=(
        ("first name, given name, forename", lambda n: pick_from(formats.FIRST_NAMES, n)),
        ("last name, surname, family name", lambda n: pick_from(formats.LAST_NAMES, n >> 16)),
        ("full name, display name, author name, owner name", make_person),
        ("login, username, user name, handle, nickname, screen name", make_login),
        ("email, mail, email address", formats.make_email),
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
        ("timestamp", formats.make_epoch_seconds),
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
        ("price, amount, total, cost", lambda n: float(formats.make_decimal(n))),
    )
)
BOOLEAN_GUESSES = build_guesses((("success, successful, ok", lambda _n: True),))
GUESSES_BY_SCALAR: dict[str, tuple[dict[str, ValueGuess], ValueGuess]] = {
    "String": (TEXT_GUESSES, ValueGuess(formats.make_words)),
    "ID": (TEXT_GUESSES, ValueGuess(formats.make_label)),
    "Int": (INTEGER_GUESSES, ValueGuess(make_count)),
    "Float": (FLOAT_GUESSES, ValueGuess(real(0, 1000))),
    "Boolean": (BOOLEAN_GUESSES, ValueGuess(formats.make_boolean)),
}
EARLIER_GUESSES: dict[ValueMaker, ValueGuess] = {
    formats.make_timestamp: ValueGuess(make_early_timestamp),
    formats.make_local_timestamp: ValueGuess(lambda n: make_early_timestamp(n).removesuffix("Z")),
    formats.make_date: ValueGuess(lambda n: make_early_timestamp(n).partition("T")[0]),
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
    return ValueGuess(given, given is formats.make_email)


@lru_cache(maxsize=4096)
def _guess_builtin(scalar: str, parts: tuple[str, ...], *, human: bool) -> ValueGuess:
    table, usual = GUESSES_BY_SCALAR[scalar]
    if scalar in {"String", "ID"}:
        # `name` alone says little: a person has a first and a last name, anything else two words.
        if parts == ("name",) and human:
            return ValueGuess(make_person, shared=True)
        if TIME_WORDS.intersection(parts[-1:]):
            timestamp = formats.make_timestamp
            early = EARLY_WORDS.intersection(parts)
            return EARLIER_GUESSES[timestamp] if early else ValueGuess(timestamp)
    # The longest known end of the name: "avatarUrl" is a url.
    for start in range(len(parts)):
        found = table.get(" ".join(parts[start:]))
        if found is not None:
            return found
    return usual
