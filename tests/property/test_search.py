"""Search over columns finds what a plain filter and a plain sort over the same rows find.

``SEARCH_CASES`` in the environment says how many expressions are tried on each population.
"""

import os
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from gqlnb import github
from gqlnb.errors import QueryError
from gqlnb.github.search_syntax import parse_expression
from gqlnb.github.standin.repository_search import Population, select_rows
from tests.examples import count_examples

SEARCHES = int(os.environ.get("SEARCH_CASES", count_examples(480)))
SIGNS = ("", ">", ">=", "<", "<=")
SORTS = {
    "": None,  # by the words
    "sort:stars": lambda row: -row.stars,
    "sort:stars-asc": lambda row: row.stars,
    "sort:forks": lambda row: -row.forks,
    "sort:forks-desc": lambda row: -row.forks,
    "SORT:forks-asc": lambda row: row.forks,
    "sort:updated": lambda row: -moment(row.pushed_at).timestamp(),
    "sort:updated-ASC": lambda row: moment(row.pushed_at).timestamp(),
    "sort:created": None,  # ignored, as GitHub ignores it
}


ALIASES = {
    "Go": ("golang", "GO"),
    "C++": ("cpp", "c++", '"C++"'),
    "C#": ("csharp", "c#"),
    "JavaScript": ("js", "node"),
    "TypeScript": ("ts",),
    "Python": ("py", "python3"),
    "Ruby": ("rb",),
    "Rust": ("rs",),
    "Shell": ("bash", "sh", "zsh"),
    "Objective-C": ("objc", "objective-c", '"objective c"'),
    "Jupyter Notebook": ("jupyter-notebook",),
    "Vim Script": ("viml", "vimscript", "vim-script"),
    "TeX": ("latex",),
}
ALL = (
    *("is:public", "visibility:public", "fork:true", "fork:false"),
    *("-is:private", "-is:fork", "-fork:only"),
)
NONE = (*("is:private", "visibility:internal", "fork:only", "is:fork", "-fork:false"),)
IGNORED = ("is:issue", "author:ann", "label:bug", "-is:open", "state:closed")


def moment(text):
    """Return what a row says of a time."""
    return datetime.fromisoformat(text)


def ends(text):
    """Return the first and the last moment of a year, a month, a day or a second."""
    if len(text) == 4:
        return moment(f"{text}-01-01T00:00:00Z"), moment(f"{text}-12-31T23:59:59Z")
    if len(text) == 7:
        year, month = divmod(int(text[:4]) * 12 + int(text[5:]), 12)
        after = moment(f"{year:04}-{month + 1:02}-01T00:00:00Z")
        return moment(f"{text}-01T00:00:00Z"), after - timedelta(seconds=1)
    if len(text) == 10:
        return moment(f"{text}T00:00:00Z"), moment(f"{text}T23:59:59Z")
    at = moment(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC),) * 2


class Writer:
    """Writes terms about the rows of a population, each with the test that it stands for."""

    def __init__(self, rows, chance):
        self.rows, self.chance = rows, chance
        self.viewer = chance.choice(rows).owner.login

    def number(self):
        """Return a term about stars or forks."""
        name = self.chance.choice(["stars", "forks"])

        def read(row):
            return getattr(row, name)

        def value():
            number = read(self.chance.choice(self.rows))
            return str(number), (number, number)

        return self.compared(name, read, value)

    def time(self):
        """Return a term about a year, a month, a day, or a second in some zone or none."""
        name = self.chance.choice(["created", "pushed"])

        def read(row):
            return moment(getattr(row, f"{name}_at"))

        def value():
            at = read(self.chance.choice(self.rows))
            zone = timezone(timedelta(hours=self.chance.randint(-11, 13)))
            text = self.chance.choice(
                [
                    *(f"{at:%Y}", f"{at:%Y-%m}", f"{at:%Y-%m-%d}", f"{at:%Y-%m-%dT%H:%M:%S}"),
                    *(at.astimezone(zone).isoformat(), f"{at:%Y-%m-%dT%H:%M:%SZ}"),
                    f"{at.astimezone(zone):%Y-%m-%dT%H:%M:%S%z}",
                    *(f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", f"{at:%Y-%m-%dT%H:%M:%S}.25Z"),
                ]
            )
            return text, ends(text)

        return self.compared(name, read, value)

    def compared(self, name, read, value):
        """Return a term in one of the forms of a number."""
        form = self.chance.choice([*SIGNS, "..", "..*", "*.."])
        text, (first, last) = value()
        more, (_, end) = value()
        shown, holds = {
            "": (text, lambda n: first <= n <= last),
            ">": (f">{text}", lambda n: n > last),
            ">=": (f">={text}", lambda n: n >= first),
            "<": (f"<{text}", lambda n: n < first),
            "<=": (f"<={text}", lambda n: n <= last),
            "..*": (f"{text}..*", lambda n: n >= first),
            "*..": (f"*..{text}", lambda n: n <= last),
            "..": (f"{text}..{more}", lambda n: first <= n <= end),
        }[form]
        shown = f'"{shown}"' if self.chance.random() < 0.1 else shown
        return f"{name}:{shown}", lambda row: holds(read(row))

    def flag(self):
        """Return a term about what is so or is not."""
        return self.chance.choice(
            [
                ("archived:true", lambda row: row.archived),
                ("is:archived", lambda row: row.archived),
                ("archived:FALSE", lambda row: not row.archived),
            ]
        )

    def language(self):
        """Return a term about a language, by one of its names."""
        found = self.chance.choice(self.rows).language
        name = found.name if found else "Brainfuck"
        text = self.chance.choice([f'"{name}"', *ALIASES.get(name, ())])
        return (
            f"language:{text}",
            lambda row: row.language is not None and row.language.name == name,
        )

    def owner(self):
        """Return a term about an owner, who asks among them, or about one repository."""
        row = self.chance.choice(self.rows)
        if self.chance.random() < 0.3:
            return f"repo:{row.full_name}", lambda other: other.full_name == row.full_name
        name = self.chance.choice(["user", "org"])
        if self.chance.random() < 0.2:
            return f"{name}:@me", lambda other: other.owner.login == self.viewer
        return f"{name}:{row.owner.login}", lambda other: other.owner == row.owner

    def word(self):
        """Return a word or a quoted text, and the test of a name."""
        name = self.chance.choice(self.rows).name
        start = self.chance.randrange(len(name))
        word = name[start : start + self.chance.randint(1, 5)].strip("-._") or "x"
        loud = word.upper() if word.upper() not in {"AND", "OR", "NOT"} else word.lower()
        text = self.chance.choice([word.lower(), f'"{word}"', loud, f"({word.lower()})"])
        return text, word.lower()

    def phrase(self):
        """Return words with operators between them, and the test they stand for."""
        shown, alternatives = [], [[]]
        operators = 0
        for place in range(self.chance.randint(1, 4)):
            text, word = self.word()
            between = self.chance.choice(["", "", "AND", "OR"]) if place and operators < 4 else ""
            not_ = self.chance.random() < 0.3
            how = self.chance.choice(["-", "NOT "]) if not_ and operators < 4 else "-" * not_
            operators += bool(between) + (how == "NOT ")
            if between == "OR":
                alternatives.append([])
            alternatives[-1].append(lambda name, w=word, n=not_: (w in name) != n)
            self.words |= set() if not_ else {word}
            shown += [between] * bool(between) + [how + text]
        text = " ".join(shown)
        if operators or "-(" in text:
            text = text.replace("(", "").replace(")", "")

        def matches(row):
            name = row.name.lower()
            return any(all(h(name) for h in each) for each in alternatives)

        return text, matches

    def rate(self, row):
        """Return the sort key of a row by the words that were asked for."""
        name = row.name.lower()
        grade = 2 if name in self.words else any(name.startswith(word) for word in self.words)
        return (-grade, -row.stars)

    def expression(self):
        """Return an expression, the tests of which all must hold, and the order.

        The tests are None where the expression asks for nothing but what is of other searches.
        """
        terms, holding, groups, ignored = [], [], {}, []
        self.words = set()
        for _ in range(self.chance.randint(0, 3)):
            self.add(
                *self.chance.choice([self.number, self.number, self.time, self.flag])(),
                terms,
                holding,
            )
        for kind in (self.language, self.owner):
            for _ in range(self.chance.choice([0, 0, 0, 1, 2])):
                self.add(*kind(), terms, holding, groups.setdefault(kind, []))
        holding += [either(group) for group in groups.values() if group]
        for texts, holds in ((ALL, True), (NONE, False)):
            if self.chance.random() < 0.05:
                terms.append(self.chance.choice(texts))
                holding.append(lambda row, so=holds: so)
        if self.chance.random() < 0.2:
            ignored.append(self.chance.choice(IGNORED))
        if self.chance.random() < 0.2:
            where = ["name", self.chance.choice(["description", "readme", "topics"])]
            self.chance.shuffle(where)
            ignored.append("in:" + ",".join(where))
        applied = bool(terms)
        if self.chance.random() < 0.5:
            text, holds = self.phrase()
            terms.append(text)
            holding.append(holds)
            applied = True
        terms += ignored
        self.chance.shuffle(terms)
        sort = self.chance.choice(list(SORTS))
        text = " ".join([*terms, *self.chance.choice([[], ["-"]]), sort]).strip()
        return text, holding if applied or not ignored else None, SORTS[sort] or self.rate

    def add(self, text, holds, terms, holding, group=None):
        """Add a qualifier, now and then negated, twice or in other letters."""
        text = self.chance.choice([str, str.upper, str.lower])(text)
        if self.chance.random() < 0.25:
            terms.append(f"-{text}")
            holding.append(lambda row: not holds(row))
            return
        terms += [text] * self.chance.choice([1, 1, 1, 2])
        (holding if group is None else group).append(holds)


def either(tests):
    """Return the test that holds where one of several does."""
    return lambda row: any(test(row) for test in tests)


def crowded():
    """Return few rows that are equal in many ways."""
    chance, rows = Random(7), {}
    made = github.population(400, seed=7)
    for place in range(400):
        row = made[place]._replace(stars=chance.randint(0, 5), forks=chance.randint(0, 3))
        rows[row.full_name] = row
    return Population.from_repositories(rows.values())


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
        if holding is None:
            with pytest.raises(QueryError, match="None of the search qualifiers apply"):
                parse_expression(text, writer.viewer)
            continue
        expected = sorted((r for r in alphabet if all(holds(r) for holds in holding)), key=key)
        found, total = select_rows(population, parse_expression(text, writer.viewer))
        assert [population[int(row)] for row in found] == expected[:1000], text
        assert total == len(expected), text
        sizes.add(min(total, 2))
    assert sizes == {0, 1, 2}  # nothing, one and many were found
