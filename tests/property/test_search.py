"""Search over columns finds what a plain filter and a plain sort over the same rows find.

``SEARCH_CASES`` in the environment says how many expressions are tried on each population.
"""

import operator
import os
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from gqlnb import github
from gqlnb.github.finding import Population, select
from gqlnb.github.search import parse

SEARCHES = int(os.environ.get("SEARCH_CASES", "300"))
SIGNS = {
    "": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
SORTS = {
    "": lambda row: -row.stars,
    "sort:stars": lambda row: -row.stars,
    "sort:stars-asc": lambda row: row.stars,
    "sort:forks": lambda row: -row.forks,
    "SORT:forks-asc": lambda row: row.forks,
    "sort:updated": lambda row: -moment(row.pushed_at).timestamp(),
    "sort:updated-ASC": lambda row: moment(row.pushed_at).timestamp(),
    "sort:created": lambda row: -row.stars,  # ignored, as GitHub ignores it
}


def moment(text):
    """Return what a row says of a time."""
    return datetime.fromisoformat(text)


class Writer:
    """Writes terms about the rows of a population, each with the test that it stands for."""

    def __init__(self, rows, chance):
        self.rows, self.chance = rows, chance

    def number(self):
        """Return a term about stars or forks."""
        name = self.chance.choice(["stars", "forks"])
        read = operator.attrgetter(name)
        return self.compared(name, read, lambda: (read(self.chance.choice(self.rows)),) * 2)

    def time(self):
        """Return a term about a day, or a second in some zone."""
        name = self.chance.choice(["created", "pushed"])

        def read(row):
            return moment(getattr(row, f"{name}_at"))

        def value():
            at = read(self.chance.choice(self.rows))
            if self.chance.random() < 0.5:
                return at.date().isoformat(), at.date()
            zone = timezone(timedelta(hours=self.chance.randint(-11, 13)))
            return at.astimezone(zone).isoformat(), at

        return self.compared(name, read, value)

    def compared(self, name, read, value):
        """Return a term in one of the forms of a number."""
        form = self.chance.choice([*SIGNS, "..", "..*", "*.."])
        text, low = value()
        if form in SIGNS:
            return f"{name}:{form}{text}", lambda row: SIGNS[form](cut(read(row), low), low)
        if form == "..*":
            return f"{name}:{text}..*", lambda row: cut(read(row), low) >= low
        if form == "*..":
            return f"{name}:*..{text}", lambda row: cut(read(row), low) <= low
        more, high = value()
        return (
            f"{name}:{text}..{more}",
            lambda row: cut(read(row), low) >= low and cut(read(row), high) <= high,
        )

    def word(self):
        """Return a term about a part of a name."""
        name = self.chance.choice(self.rows).name
        start = self.chance.randrange(len(name))
        word = name[start : start + self.chance.randint(1, 6)].lstrip("-") or "x"
        text = f'"{word}"' if self.chance.random() < 0.5 else word
        return text, lambda row: word.lower() in row.name.lower()

    def flag(self):
        """Return a term about what is so or is not."""
        return self.chance.choice(
            [
                ("archived:true", lambda row: row.archived),
                ("archived:FALSE", lambda row: not row.archived),
                ("is:public", lambda row: True),
                ("fork:true", lambda row: True),
                ("in:name", lambda row: True),
            ]
        )

    def language(self):
        """Return a term about a language."""
        found = self.chance.choice(self.rows).language
        name = found.name if found else "Brainfuck"
        return (
            f'language:"{name}"',
            lambda row: row.language is not None and row.language.name == name,
        )

    def owner(self):
        """Return a term about an owner, or about one repository."""
        row = self.chance.choice(self.rows)
        if self.chance.random() < 0.3:
            return f"repo:{row.full_name}", lambda other: other.full_name == row.full_name
        name = self.chance.choice(["user", "org"])
        return f"{name}:{row.owner.login}", lambda other: other.owner == row.owner

    def expression(self):
        """Return an expression, and the tests of which all must hold."""
        kinds = [self.number, self.number, self.time, self.word, self.flag]
        terms, holding, groups = [], [], {}
        for _ in range(self.chance.randint(0, 4)):
            self.add(*self.chance.choice(kinds)(), terms, holding)
        for kind in (self.language, self.owner):
            for _ in range(self.chance.choice([0, 0, 0, 1, 2])):
                self.add(*kind(), terms, holding, groups.setdefault(kind, []))
        holding += [
            lambda row, g=group: any(one(row) for one in g) for group in groups.values() if group
        ]
        self.chance.shuffle(terms)
        sort = self.chance.choice(list(SORTS))
        return " ".join([*terms, sort]).strip(), holding, SORTS[sort]

    def add(self, text, holds, terms, holding, group=None):
        """Add a term, now and then negated or in other letters."""
        text = self.chance.choice([str, str.upper, str.lower])(text) if "T" not in text else text
        if self.chance.random() < 0.25:
            terms.append(self.chance.choice(["-", "NOT "]) + text)
            holding.append(lambda row: not holds(row))
            return
        terms.append(text)
        (holding if group is None else group).append(holds)


def either(tests):
    """Return the test that holds where one of several does."""
    return lambda row: any(test(row) for test in tests)


def cut(value, like):
    """Return a moment as a day in UTC where it is compared with a day."""
    if isinstance(value, datetime) and not isinstance(like, datetime):
        return value.astimezone(UTC).date()
    return value


def crowded():
    """Return few rows that are equal in many ways."""
    chance, rows = Random(7), {}
    made = github.population(400, seed=7)
    for place in range(400):
        row = made[place]._replace(stars=chance.randint(0, 5), forks=chance.randint(0, 3))
        rows[row.full_name] = row
    return Population.of(rows.values())


def spread():
    """Return rows as a population has them."""
    return github.population(3_000, seed=3)


@pytest.mark.parametrize("make", [crowded, spread])
def test_search_equals_a_plain_filter_and_sort(make):
    """Every generated expression finds the same rows in the same order, with the same count."""
    population = make()
    rows = [population[place] for place in range(len(population))]
    alphabet = sorted(rows, key=lambda row: row.full_name.lower())
    writer = Writer(rows, Random(SEARCHES))
    sizes = set()
    for _ in range(SEARCHES):
        text, holding, key = writer.expression()
        expected = sorted((r for r in alphabet if all(holds(r) for holds in holding)), key=key)
        found, total = select(population, parse(text))
        assert [population[int(row)] for row in found] == expected[:1000], text
        assert total == len(expected), text
        sizes.add(min(total, 2))
    assert sizes == {0, 1, 2}  # nothing, one and many were found
