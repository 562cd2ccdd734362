"""The seeded data of the tests: a forum of 100,000 posts, and a row of extremes for each type."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.servers.postgraphile.postgres import Postgres

SCHEMA = Path(__file__).with_name("schema.sql")
SEED = 22
POSTS = 100_000
AUTHORS = 400
SMALL_AUTHORS = 30  # authors of teams 1 to 3, whose posts and comments tests page completely
TAGS = (
    "café",
    "naïve",
    "Größe",
    "日本語",
    "emoji 🎉",
    "quote ' and \"",
    "back\\slash",
    "tab\there",
)
NAMES = ("Ana", "Zoë", "Émile", "Jürgen", "Łukasz", "Øystein", "Νίκος", "小林", "Ñuria", "O'Neil")
COUNTRIES = ("Österreich", "Côte d'Ivoire", "Norge", "Perú", None)
STATUSES = ("draft", "published", "in_review", "on_hold")
START = datetime(2015, 1, 1, tzinfo=UTC)
BIG = 2**53  # the first integers that JSON numbers of JavaScript cannot hold lie above

# Columns of `readings` with the values of the special rows, as SQL writes them. Row 1 is all nulls;
# row n + 2 has the n-th value of each column, null where a column has fewer.
EXTREMES: dict[str, tuple[str, ...]] = {
    "a_smallint": ("-32768", "32767", "0"),
    "an_integer": ("-2147483648", "2147483647", "0"),
    "a_bigint": ("-9223372036854775808", "9223372036854775807", "9007199254740993"),
    "a_numeric": ("-12345678901234567890.123456789012345", "0.000000000000000000000000000001",
     "1e40", "100.10", "NaN"),
    "a_real": ("-1.5", "3.4028235e+38", "0.1"),
    "a_double": ("-2.5", "1.7976931348623157e+308", "5e-324", "0.1"),
    # PostGraphile sends money as a JSON number, which is exact to the cent up to 13 digits.
    "a_money": ("-99999999999.99", "99999999999.99", "1234.5"),
    "a_text": ("", "Größe 日本語 🎉", 'quote " and \\ and\nnew line', " spaces "),
    "a_varchar": ("Zoë", "", "x"),
    "a_char": ("ab", "", "abcdef"),
    "a_citext": ("MiXeD", "Ünïcode", ""),
    "a_uuid": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
     "1b4e28ba-2fa1-11d2-883f-0016d3cca427"),
    "a_boolean": ("true", "false", "true"),
    "a_date": ("0001-01-01", "9999-12-31", "1969-12-31", "2024-02-29"),
    "a_time": ("00:00:00", "23:59:59.999999", "12:34:56"),
    "a_timetz": ("00:00:00+00", "23:59:59.999999-05", "12:34:56+05:30"),
    "a_timestamp": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.5",
     "2024-02-29 12:00:00.123456"),
    "a_timestamptz": ("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00",
     "1969-12-31 19:00:00-05", "2024-02-29 12:00:00.123456+05:30"),
    "an_interval": ("1 year 2 mons 3 days 04:05:06.789", "-3 days -02:00:00", "0",
     "00:00:00.000001"),
    # Node's JSON parser rounds integers above 2^53 in JSON before PostGraphile sends them.
    "a_json": ('{"a": [1, null, "ü"], "b": {}}', "[]", "null", '"text"', "9007199254740991"),
    "a_jsonb": ('{"a": [1, null, "ü"], "b": {}}', "[]", "null", '"text"', "9007199254740991"),
    "a_hstore": ("a=>1, b=>NULL", "", 'k=>"ü"'),
    "a_bytea": ("\\x00ff10", "\\x", "\\x676f"),
    "an_inet": ("192.168.0.1/24", "::1", "10.0.0.1"),
    "a_cidr": ("10.0.0.0/8", "2001:db8::/32", "0.0.0.0/0"),
    "a_macaddr": ("08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"),
    "a_bit": ("1010", "11111111", "0"),
    "an_xml": ("<a>ü</a>", "<b/>", "<c x='1'/>"),
    "a_status": ("draft", "in_review", "on_hold", "published"),
    "a_point": ("(1,2)", "(-0.5,1e300)", "(0,0)"),
    "an_int4range": ("[1,5)", "empty", "(,10)"),
    "integers": ("{1,-2,NULL}", "{}", "{2147483647}"),
    "bigints": ("{9223372036854775807,NULL}", "{}", "{9007199254740993,1}"),
    "numerics": ("{1.10,NULL,12345678901234567890.5}", "{}", "{0}"),
    "texts": ('{ü,NULL,"a,b",""}', "{}", '{"quote \\" and \\\\"}'),
    "statuses": ("{draft,NULL,in_review}", "{}", "{on_hold}"),
    "instants": ('{"2024-02-29 12:00:00.123456+05:30",NULL}', "{}", '{"1969-12-31 23:00:00+00"}'),
}  # fmt: skip
SPECIAL_ROWS = max(len(values) for values in EXTREMES.values())
INFINITE_ROW = SPECIAL_ROWS + 2  # `id` of the row with infinity in each type that has it
INFINITE = {
    "a_real": "Infinity",
    "a_double": "-Infinity",
    "a_numeric": "Infinity",
    "a_timestamp": "infinity",
    "a_timestamptz": "-infinity",
    "a_date": "infinity",
}
ORDINARY_ROWS = 200  # rows of `readings` with random values, after the special ones


def load_database(database: Postgres) -> None:
    """Create the tables in an empty database, and fill them; the data are always the same."""
    source = random.Random(SEED)
    parts = [SCHEMA.read_text()]
    for table, columns, rows in make_tables(source):
        parts.append(f"COPY {table} ({columns}) FROM stdin;\n{write_rows(rows)}\\.\n")
    parts.append("ANALYZE;\n")
    database.run_script("".join(parts))


def write_rows(rows: Iterable[tuple[Any, ...]]) -> str:
    """Return rows in the text format of COPY."""
    return "".join("\t".join(map(write_value, row)) + "\n" for row in rows)


def write_value(value: Any) -> str:
    """Return a value in the text format of COPY."""
    if value is None:
        return r"\N"
    text = str(value)
    for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n")):
        text = text.replace(plain, escaped)
    return text


def make_tables(source: random.Random) -> Iterator[tuple[str, str, list[tuple[Any, ...]]]]:
    """Yield table, column names and rows, in an order that satisfies the foreign keys."""
    yield "authors", "name, email, team, country, joined_at", make_authors()
    posts = make_posts(source)
    yield "posts", "author_id, title, status, views, price, published_at", posts
    comments = make_comments(source, posts)
    yield "comments", "post_id, number, author_id, body", comments
    votes = [
        (post, number, source.choice((-1, 1)))
        for post, number, _, _ in comments[:3000]
        for _ in range(source.choice((0, 0, 1, 2, 7)))
    ]
    yield "votes", "post_id, number, value", votes
    yield "tags", "name", [(name,) for name in (*TAGS, *(f"tag {n}" for n in range(32)))]
    pairs = {
        (min(int(source.expovariate(0.001)) + 1, POSTS), source.randint(1, 40))
        for _ in range(12_000)
    }
    yield "post_tags", "post_id, tag_id", sorted(pairs)
    visits = [
        (f"/{source.choice('abc')}", f"2024-01-{source.randint(1, 9):02}", source.choice((1, None)))
        for _ in range(2000)
    ]
    yield "visits", "page, day, seconds", visits
    yield "readings", ", ".join(EXTREMES), make_readings(source)


def make_authors() -> list[tuple[Any, ...]]:
    """Return the authors: ten each in teams 1, 2 and 3, the others in team 4."""
    return [
        (
            f"{NAMES[n % len(NAMES)]} {n}",
            f"Author{n}@example.org",
            min(n // 10, 3) + 1,
            COUNTRIES[n % len(COUNTRIES)],
            START + timedelta(hours=n * 7, microseconds=n),
        )
        for n in range(AUTHORS)
    ]


def make_posts(source: random.Random) -> list[tuple[Any, ...]]:
    """Return the posts: 0 to 27 for each author of teams 1 to 3, the rest for the others."""
    owners = [author for author in range(1, SMALL_AUTHORS + 1) for _ in range((author * 7) % 28)]
    source.shuffle(owners)
    owners += [source.randint(SMALL_AUTHORS + 1, AUTHORS - 1) for _ in range(POSTS - len(owners))]
    return [
        (
            author,
            f"Title {n} {source.choice(NAMES)}",
            source.choice(STATUSES),
            source.choice((n, BIG + n)),
            None if source.random() < 0.1 else f"{source.randint(-500, 10**9) / 100:.2f}",
            None
            if source.random() < 0.2
            else START + timedelta(microseconds=source.randint(0, 3 * 10**14)),
        )
        for n, author in enumerate(owners, 1)
    ]


def make_comments(source: random.Random, posts: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the comments: 0 to 14 for each of the first 2,000 posts."""
    return [
        (
            post,
            number,
            source.choice((None, source.randint(1, AUTHORS))),
            f"Comment {number} of {post}",
        )
        for post in range(1, min(2000, len(posts)) + 1)
        for number in range(1, (post * 11) % 15 + 1)
    ]


def make_readings(source: random.Random) -> list[tuple[Any, ...]]:
    """Return one row of nulls, the extremes, one row with infinities, and ordinary rows."""
    nothing = tuple(None for _ in EXTREMES)
    extremes = [
        tuple(values[n] if n < len(values) else None for values in EXTREMES.values())
        for n in range(SPECIAL_ROWS)
    ]
    infinite = tuple(INFINITE.get(name) for name in EXTREMES)
    return [nothing, *extremes, infinite, *(make_reading(source) for _ in range(ORDINARY_ROWS))]


def make_reading(source: random.Random) -> tuple[Any, ...]:
    """Return ordinary values, a fifth of them null."""
    moment = START + timedelta(microseconds=source.randint(0, 3 * 10**14))
    local = moment.replace(tzinfo=None)
    number = source.randint(-(10**6), 10**6)
    values = {
        **{name: source.choice(values) for name, values in EXTREMES.items()},
        "a_smallint": number % 30_000,
        "an_integer": number,
        "a_bigint": BIG + number,
        "a_numeric": f"{number}.{number % 100:02}",
        "a_real": number / 4,
        "a_double": number / 3,
        "a_money": f"{number}.{number % 100:02}",
        "a_date": local.date(),
        "a_time": local.time(),
        "a_timestamp": local,
        "a_timestamptz": moment,
    }
    return tuple(None if source.random() < 0.2 else values[name] for name in EXTREMES)
