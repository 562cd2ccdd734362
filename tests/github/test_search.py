"""Search expressions filter and sort as GitHub documents it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.errors import QueryError
from gqlnb.github.data import Language, Owner, Repositories, Repository, embedded
from gqlnb.github.finding import Population, select
from gqlnb.github.search import parse
from gqlnb.github.standin import snapshot


def search(text, rows=None):
    """Return the repositories that `text` finds, all of them."""
    population = snapshot() if rows is None else Population.of(rows)
    found, total = select(population, parse(text), reach=None)
    assert total == len(found)
    return tuple(population[int(row)] for row in found)


def names(text, rows=None):
    """Return owner and name of what `text` finds, in order."""
    return [row.full_name for row in search(text, rows)]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("stars:243608", lambda n: n == 243608),
        ("stars:>243608", lambda n: n > 243608),
        ("stars:>=243608", lambda n: n >= 243608),
        ("stars:<243608", lambda n: n < 243608),
        ("stars:<=243608", lambda n: n <= 243608),
        ("stars:100000..243608", lambda n: 100000 <= n <= 243608),
        ("stars:243608..*", lambda n: n >= 243608),
        ("stars:*..243608", lambda n: n <= 243608),
        ("stars:*..*", lambda n: True),
        ("stars:2..1", lambda n: False),
    ],
)
def test_each_form_of_a_number(text, holds):
    """Each documented form of a number finds exactly what it says."""
    assert search(text) == tuple(row for row in embedded().rows if holds(row.stars))


def test_forks_take_the_same_forms():
    """``forks:`` filters by the number of forks."""
    rows = search("forks:>60000")
    assert rows
    assert all(row.forks > 60000 for row in rows)


DAY, SECOND = "2026-08-21", "2026-08-21T20:24:53Z"  # when linux was last pushed to


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (f"pushed:{DAY}", lambda at: at[:10] == DAY),
        (f"pushed:>{DAY}", lambda at: at[:10] > DAY),
        (f"pushed:>={DAY}", lambda at: at[:10] >= DAY),
        (f"pushed:<{DAY}", lambda at: at[:10] < DAY),
        (f"pushed:<={DAY}", lambda at: at[:10] <= DAY),
        (f"pushed:2026-08-20..{DAY}", lambda at: "2026-08-20" <= at[:10] <= DAY),
        (f"pushed:{DAY}..*", lambda at: at[:10] >= DAY),
        (f"pushed:*..{DAY}", lambda at: at[:10] <= DAY),
        ("pushed:*..*", lambda at: True),
        (f"pushed:{DAY}..2026-08-20", lambda at: False),
        (f"pushed:{SECOND}", lambda at: at == SECOND),
        (f"PUSHED:>{SECOND.lower()}", lambda at: at > SECOND),
        (f"pushed:>={SECOND}", lambda at: at >= SECOND),
        (f"pushed:<{SECOND}", lambda at: at < SECOND),
        (f'pushed:"<={SECOND}"', lambda at: at <= SECOND),
        (f"pushed:{DAY}..{SECOND}", lambda at: DAY <= at <= SECOND),
        ("pushed:2026-08-22T01:24:53+05:00", lambda at: at == SECOND),
        ("pushed:<=2026-08-21T16:24:53-04:00", lambda at: at <= SECOND),
        (f"-pushed:>{DAY}", lambda at: at[:10] <= DAY),
    ],
)
def test_each_form_of_a_date(text, holds):
    """A day is all of it in UTC, a second is itself in whatever zone; each form is exact."""
    assert search(text) == tuple(row for row in embedded().rows if holds(row.pushed_at))


def test_dates_find_some_and_not_all():
    """The dates of the test above divide the snapshot, to the second."""
    sizes = [len(search(f"pushed:{sign}{SECOND}")) for sign in ("<", "", ">")]
    assert min(sizes) > 0
    assert sum(sizes) == len(embedded())


@pytest.mark.parametrize("text", ["language:vue", "LANGUAGE:Vue", 'language:"VUE"'])
def test_language_in_any_case(text):
    """A language is found whatever its case, quoted or not."""
    assert {row.language.name for row in search(text)} == {"Vue"}


def test_a_language_with_a_space_is_quoted():
    """A quoted value may hold a space."""
    assert len(search('language:"Jupyter Notebook"')) == 4


def test_several_languages_mean_any_of_them():
    """A repository has one language, so several are alternatives."""
    both = search("language:vue language:mdx")
    assert {row.language.name for row in both} == {"Vue", "MDX"}


@pytest.mark.parametrize("text", ["user:Torvalds", "org:torvalds"])
def test_an_owner_in_any_case(text):
    """``user:`` and ``org:`` find the repositories of an account."""
    assert names(text) == ["torvalds/linux"]


def test_several_owners_mean_any_of_them():
    """Owners and repositories named together are alternatives, within the other conditions."""
    found = names("user:torvalds repo:git/git org:vim stars:>10000 sort:stars-asc")
    assert found == ["vim/vim", "git/git", "torvalds/linux"]


def test_words_are_part_of_the_name():
    """Words and quoted text are looked for in the name, in any case, all of them."""
    assert all("awesome" in row.name.lower() for row in search("AWESOME"))
    both = search("awesome python")
    assert both
    assert all({"awesome", "python"} <= set(row.name.lower().split("-")) for row in both)
    assert search('"awesome-python"')[0].full_name == "vinta/awesome-python"
    assert search("python in:name") == search("python")


@pytest.mark.parametrize("negated", ["-language:python", "NOT language:python"])
def test_a_negated_qualifier_leaves_out(negated):
    """Minus and NOT take away what their term finds."""
    assert len(search(negated)) == len(embedded()) - len(search("language:python"))


def test_a_negated_word_leaves_out():
    """A minus before a word or a quoted text takes it away."""
    assert not [name for name in names('-"-" -a') if "-" in name.split("/")[1]]


def test_a_minus_within_a_word_negates_nothing():
    """Only a minus at the beginning of a term negates."""
    assert "vinta/awesome-python" in names("awesome-python")


def test_not_negates_one_term_only():
    """What follows the negated term holds as it stands."""
    found = search("NOT language:c user:torvalds")
    assert found == ()
    assert search("NOT language:rust user:torvalds")


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("stars", lambda row: row.stars),
        ("forks", lambda row: row.forks),
        ("updated", lambda row: row.pushed_at),
    ],
)
def test_sort_both_ways(sort, key):
    """Each documented order works in both directions, descending by default."""
    down = [key(row) for row in search(f"stars:>50000 sort:{sort}")]
    assert down == sorted(down, reverse=True)
    assert [key(row) for row in search(f"stars:>50000 sort:{sort}-desc")] == down
    assert [key(row) for row in search(f"stars:>50000 sort:{sort}-asc")] == down[::-1]


def test_best_match_is_most_stars_first():
    """Without ``sort:`` the most starred come first."""
    assert search("stars:>50000") == search("stars:>50000 sort:stars")


def test_an_unknown_order_changes_nothing():
    """GitHub ignores an order it does not have; so do we."""
    assert search("sort:created stars:>50000") == search("stars:>50000")


def test_an_empty_expression_finds_everything():
    """Without a condition all repositories are found."""
    assert search("") == search("  ") == search("is:public") == embedded().rows
    assert search("is:private") == ()


def test_an_unknown_word_with_a_colon_is_text():
    """What is no qualifier of GitHub's is looked for as text, colon and all."""
    assert search("nosuch:qualifier") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stars:many", "stars:many"),
        ("stars:>-5", "Write N, >N"),
        ("stars:1.5", "Write N, >N"),
        ("stars:١٢", "Write N, >N"),
        ("forks:9999999999999999", "Write N, >N"),
        ("stars: >5", "has no value"),
        ("sort: stars", "has no value"),
        ("license:mit", "do not hold"),
        ("pushed:yesterday", "is not a recognized date/time format"),
        ("pushed:>2026", "is not a recognized date/time format"),
        ("pushed:2026-02-30", "is not a recognized date/time format"),
        ("pushed:2026-01-01T00:00:00", "is not a recognized date/time format"),
        ("pushed:2026-01-01T25:00:00Z", "is not a recognized date/time format"),
        ("pushed:0001-01-01T00:00:00+14:00", "is not a recognized date/time format"),
        ("pushed:>=2026-01-01..2026-02-01", "is not a recognized date/time format"),
        ("pushed:२०२६-०१-०१", "is not a recognized date/time format"),
        ("topic:jupyter stars:>5", "do not hold"),
        ("in:readme", "in:name"),
        ("is:sponsorable", "is:public"),
    ],
)
def test_what_cannot_be_answered_is_refused(text, said):
    """A value that is none, and a qualifier without data, get one clear sentence."""
    with pytest.raises(QueryError, match=said):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    """No text whatever raises anything but QueryError."""
    with contextlib.suppress(QueryError):
        search(text, embedded().rows[:5])


def test_a_refusal_shows_no_more_than_a_line_of_the_term():
    """A term of any length is cut in the sentence that refuses it."""
    with pytest.raises(QueryError) as caught:
        parse("stars:" + "9" * 10_000)
    assert len(str(caught.value)) < 300


OWNERS = [Owner(login, "User") for login in ("ann", "Bob", "c-3")]
LANGUAGES = [None, Language("C"), Language("Vim Script"), Language("Python")]
repositories = st.builds(
    Repository,
    name=st.sampled_from(["vim", "Vim-go", "vim.js", "python", "x"]),
    owner=st.sampled_from(OWNERS),
    stars=st.integers(0, 6),
    forks=st.integers(0, 6),
    language=st.sampled_from(LANGUAGES),
    pushed_at=st.sampled_from(["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]),
    created_at=st.sampled_from(["2012-05-05T05:05:05Z", "2024-12-31T23:59:59Z"]),
    archived=st.booleans(),
)
populations = st.lists(repositories, max_size=25, unique_by=lambda row: row.full_name.lower())
comparisons = st.sampled_from([">", ">=", "<", "<=", ""])
sorts = st.sampled_from(["", "sort:stars-asc", "sort:forks", "sort:forks-asc", "sort:updated"])
RELATION = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "": lambda a, b: a == b,
}


@st.composite
def conditions(draw):
    """Draw a term and the plain test it stands for."""
    kind = draw(st.sampled_from(["stars", "forks", "range", "pushed", "language", "user", "word"]))
    if kind in {"stars", "forks"}:
        sign, number = draw(comparisons), draw(st.integers(0, 6))
        holds = RELATION[sign]
        return f"{kind}:{sign}{number}", lambda row: holds(getattr(row, kind), number)
    if kind == "pushed":
        sign, year = draw(comparisons), draw(st.integers(2024, 2027))
        holds, day = RELATION[sign], f"{year}-01-01"
        return f"pushed:{sign}{day}", lambda row: holds(row.pushed_at[:10], day)
    if kind == "range":
        low, high = draw(st.integers(0, 6)), draw(st.integers(0, 6))
        return f"stars:{low}..{high}", lambda row: low <= row.stars <= high
    if kind == "language":
        name = draw(st.sampled_from(["C", "Vim Script", "Rust"]))
        return f'language:"{name}"', lambda row: row.language == Language(name)
    if kind == "user":
        login = draw(st.sampled_from(["ann", "bob"]))
        return f"user:{login}", lambda row: row.owner.login.lower() == login
    word = draw(st.sampled_from(["vim", "o", ".js"]))
    return word, lambda row: word in row.name.lower()


@given(
    populations,
    st.lists(st.tuples(st.booleans(), conditions()), max_size=4, unique_by=lambda c: c[1][0][:4]),
    sorts,
)
def test_search_equals_a_plain_filter_and_sort(rows, terms, sort):
    """Any expression finds what filtering with plain conditions and sorting would find."""
    text = " ".join([("-" if negated else "") + term for negated, (term, _) in terms] + [sort])
    kept = [row for row in rows if all(holds(row) != negated for negated, (_, holds) in terms)]
    kept.sort(key=lambda row: row.full_name.lower())
    by = {"f": lambda row: row.forks, "u": lambda row: row.pushed_at}
    kept.sort(key=by.get(sort[5:6], lambda row: row.stars), reverse=not sort.endswith("asc"))
    assert search(text, Repositories.of(rows).rows) == tuple(kept)


@given(
    populations, st.sampled_from(["STARS:>2 Language:C", "user:ANN VIM", "-User:Bob SORT:FORKS"])
)
def test_case_never_matters(rows, text):
    """An expression in capitals finds the same as in small letters."""
    ordered = Repositories.of(rows).rows
    assert search(text.lower(), ordered) == search(text.upper(), ordered)
