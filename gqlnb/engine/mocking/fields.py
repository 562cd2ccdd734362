"""What the name of a field says of its values."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from gqlnb.engine.mocking.chance import below, mixed
from gqlnb.engine.mocking.formats import (
    FORMATS,
    Maker,
    birthday,
    day,
    digits,
    email,
    label,
    local_stamp,
    moment,
    money,
    of_place,
    phone,
    pick,
    real,
    sentence,
    stamp,
    url,
    uuid,
    version,
    whole,
    words,
)
from gqlnb.engine.mocking.words import COMPANIES, FIRST, LAST, NOUNS, STREETS

__all__ = ["Guess", "guess"]

PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
EARLY = frozenset({"created", "registered", "joined", "founded", "started", "inserted", "signed"})
TIMES = frozenset({"at", "datetime", "timestamp"})
HALF = timedelta(days=4 * 365)
PEOPLE = frozenset(
    {"user", "person", "author", "owner", "member", "customer", "employee", "account", "actor"}
    | {"contact", "patient", "student", "teacher", "viewer", "profile", "artist", "client"}
)


class Guess(NamedTuple):
    """What makes the values of a field.

    Attributes
    ----------
    make
        Makes a value of a number.
    shared
        Whether all such fields of an object are made of one number, so that they agree.
    """

    make: Maker
    shared: bool = False


def person(value: int) -> str:
    """Return a first and a last name."""
    return f"{pick(FIRST, value)} {pick(LAST, value >> 16)}"


def login(value: int) -> str:
    """Return the name that the person of the same number has on a machine."""
    return f"{pick(FIRST, value)}-{pick(LAST, value >> 16)}{(value >> 32) % 100}".lower()


def company(value: int) -> str:
    """Return the name of a company."""
    return f"{pick(LAST, value)} {pick(COMPANIES, value >> 16)}"


def skewed(value: int) -> int:
    """Return a whole number, small ones most often, as counts of real things are."""
    return below(value >> 8, 0, 10 ** below(value, 1, 5))


def early(value: int) -> str:
    """Return a moment of the years before those of `stamp`."""
    return (moment(value) - HALF).strftime("%Y-%m-%dT%H:%M:%SZ")


def early_day(value: int) -> str:
    """Return a day of the years before those of `day`."""
    return (moment(value) - HALF).date().isoformat()


def truth(value: int) -> bool:
    """Return true or false."""
    return bool(mixed(value) & 1)


TEXTS: dict[str, Guess] = {
    **dict.fromkeys(
        ("first name", "given name", "forename"), Guess(lambda n: pick(FIRST, n), True)
    ),
    **dict.fromkeys(
        ("last name", "surname", "family name"), Guess(lambda n: pick(LAST, n >> 16), True)
    ),
    **dict.fromkeys(
        ("full name", "display name", "author name", "owner name"), Guess(person, True)
    ),
    **dict.fromkeys(
        ("login", "username", "user name", "handle", "nickname", "screen name"), Guess(login, True)
    ),
    **dict.fromkeys(("email", "mail", "email address"), Guess(email, True)),
    **dict.fromkeys(("name", "title", "headline", "subject"), Guess(words)),
    **dict.fromkeys(("slug", "key", "label", "tag", "name with owner"), Guess(label)),
    **dict.fromkeys(
        ("url", "uri", "href", "link", "website", "homepage", "blog", "permalink"), Guess(url)
    ),
    **dict.fromkeys(
        ("avatar", "image", "photo", "picture", "icon", "logo", "thumbnail"),
        Guess(lambda n: f"{url(n)}.png"),
    ),
    **dict.fromkeys(
        ("description", "summary", "bio", "about", "body", "text", "content", "comment", "message"),
        Guess(sentence),
    ),
    **dict.fromkeys(("company", "organization", "employer", "brand"), Guess(company)),
    **dict.fromkeys(("city", "town", "location", "place"), Guess(of_place(0), True)),
    **dict.fromkeys(("country", "nation"), Guess(of_place(1), True)),
    "country code": Guess(of_place(2), True),
    **dict.fromkeys(("timezone", "time zone"), Guess(of_place(3), True)),
    **dict.fromkeys(("currency", "currency code"), Guess(of_place(4), True)),
    **dict.fromkeys(("language", "locale", "lang", "language code"), Guess(of_place(5), True)),
    **dict.fromkeys(
        ("street", "address", "street address"),
        Guess(lambda n: f"{pick(STREETS, n)} Street {below(n >> 8, 1, 120)}"),
    ),
    **dict.fromkeys(("zip", "zip code", "postcode", "postal code"), Guess(FORMATS["postalcode"])),
    **dict.fromkeys(("phone", "phone number", "mobile", "telephone", "fax"), Guess(phone)),
    **dict.fromkeys(("color", "colour"), Guess(FORMATS["hexcolorcode"])),
    **dict.fromkeys(("version", "semver"), Guess(version)),
    **dict.fromkeys(("sha", "oid", "commit", "hash", "digest", "checksum"), Guess(digits(40))),
    **dict.fromkeys(("uuid", "guid"), Guess(uuid)),
    **dict.fromkeys(("ip", "ip address"), Guess(FORMATS["ipv4"])),
    **dict.fromkeys(("host", "hostname", "domain"), Guess(FORMATS["hostname"])),
    **dict.fromkeys(("mime type", "content type", "media type"), Guess(lambda _n: "text/plain")),
    **dict.fromkeys(("file", "filename", "file name", "path"), Guess(lambda n: f"{label(n)}.txt")),
    **dict.fromkeys(("price", "amount", "total", "cost", "balance"), Guess(money)),
    **dict.fromkeys(("birthday", "birth date", "date of birth", "born"), Guess(birthday)),
    **dict.fromkeys(("date", "day"), Guess(day)),
    **dict.fromkeys(
        ("status", "state", "kind", "type", "category"), Guess(lambda n: pick(NOUNS, n))
    ),
    "cursor": Guess(lambda n: f"cursor:{n % 1000}"),
}
WHOLES: dict[str, Guess] = {
    "age": Guess(whole(18, 90)),
    "year": Guess(whole(1990, 2025)),
    "month": Guess(whole(1, 12)),
    "day": Guess(whole(1, 28)),
    "hour": Guess(whole(0, 23)),
    **dict.fromkeys(("minute", "second"), Guess(whole(0, 59))),
    "rating": Guess(whole(1, 5)),
    **dict.fromkeys(("percent", "percentage", "progress", "score"), Guess(whole(0, 100))),
    **dict.fromkeys(("width", "height"), Guess(whole(100, 2000))),
    "port": Guess(whole(1024, 65535)),
    **dict.fromkeys(("quantity", "position", "rank", "index"), Guess(whole(1, 100))),
    **dict.fromkeys(("database id", "full database id"), Guess(whole(1, 2**31 - 1), True)),
    "timestamp": Guess(lambda n: int(moment(n).timestamp())),
}
REALS: dict[str, Guess] = {
    **dict.fromkeys(("latitude", "lat"), Guess(real(-90, 90, 5))),
    **dict.fromkeys(("longitude", "lon", "lng", "long"), Guess(real(-180, 180, 5))),
    "rating": Guess(real(1, 5, 1)),
    **dict.fromkeys(("score", "ratio", "probability", "confidence", "rate"), Guess(real(0, 1, 3))),
    **dict.fromkeys(("percent", "percentage", "progress"), Guess(real(0, 100, 1))),
    "temperature": Guess(real(-10, 35, 1)),
    "humidity": Guess(real(0, 100, 1)),
    "weight": Guess(real(1, 120, 1)),
    "height": Guess(real(1, 200, 1)),
    **dict.fromkeys(("price", "amount", "total", "cost"), Guess(lambda n: float(money(n)))),
}
TRUTHS: dict[str, Guess] = dict.fromkeys(("success", "successful", "ok"), Guess(lambda _n: True))
TABLES: dict[str, tuple[dict[str, Guess], Guess]] = {
    "String": (TEXTS, Guess(words)),
    "ID": (TEXTS, Guess(label)),
    "Int": (WHOLES, Guess(skewed)),
    "Float": (REALS, Guess(real(0, 1000))),
    "Boolean": (TRUTHS, Guess(truth)),
}
EARLIER: dict[Maker, Guess] = {
    stamp: Guess(early),
    local_stamp: Guess(lambda value: early(value).removesuffix("Z")),
    day: Guess(early_day),
}


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, ``createdAt`` or ``created_at``, in lower case."""
    return tuple(part.lower() for part in PART.findall(name))


def guess(scalar: str, field: str, owner: str, given: Maker | None = None) -> Guess:
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
    parts = words_of(field)
    if scalar in TABLES:
        return _guess(scalar, parts, bool(PEOPLE.intersection(words_of(owner))))
    if given is None:
        return Guess(lambda n: f"{scalar}-{n % 10_000}")
    if EARLY.intersection(parts) and given in EARLIER:
        return EARLIER[given]
    return Guess(given, given is email)


@lru_cache(maxsize=4096)
def _guess(scalar: str, parts: tuple[str, ...], human: bool) -> Guess:
    table, usual = TABLES[scalar]
    if scalar in {"String", "ID"}:
        if parts == ("name",) and human:
            return Guess(person, True)
        if TIMES.intersection(parts[-1:]):
            return EARLIER[stamp] if EARLY.intersection(parts) else Guess(stamp)
    # The longest end of the name that says something: "avatarUrl" is a url.
    for start in range(len(parts)):
        found = table.get(" ".join(parts[start:]))
        if found is not None:
            return found
    return usual
