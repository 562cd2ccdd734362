"""Search expressions filter and sort as GitHub documents it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import github, stars
from gqlnb.errors import GqlnbError, QueryError
from gqlnb.github.repositories import Language, Owner, Repository, load_snapshot
from gqlnb.github.search_syntax import LANGUAGE_ALIASES, normalize_language, parse_expression
from gqlnb.github.standin.github_schema import load_snapshot_population
from gqlnb.github.standin.repository_search import Population, group_clauses, select_rows


def search(text, rows=None, viewer=None):
    """Return the repositories that `text` finds, all of them."""
    population = load_snapshot_population() if rows is None else Population.from_repositories(rows)
    found, total = select_rows(population, parse_expression(text, viewer), reach=None)
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
        ("stars:>-1", lambda n: True),
        ("stars:<=-1", lambda n: False),
    ],
)
def test_each_form_of_a_number_is_exact(text, holds):
    """For each documented form."""
    assert search(text) == tuple(row for row in load_snapshot() if holds(row.stars))


def test_forks_accept_the_same_forms_of_a_number():
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
def test_each_form_of_a_date_is_exact(text, holds):
    """A day is a full day in UTC; a second may have any UTC offset."""
    assert search(text) == tuple(row for row in load_snapshot() if holds(row.pushed_at))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("2015", "2015-01-01..2015-12-31"),
        (">2015", ">2015-12-31"),
        (">=2015", ">=2015-01-01"),
        ("<2015-02", "<2015-02-01"),
        ("2016-02", "2016-02-01..2016-02-29"),
        ("2015..2016-02", "2015-01-01..2016-02-29"),
        ("*..2015", "<2016-01-01"),
        (">=2015-03-04T05:06:07", ">=2015-03-04T05:06:07Z"),
        ("2014-01-01T00:00:00..2015-01-01T00:00:00", "2014-01-01..2015-01-01T00:00:00Z"),
        (">2015-03-04T05:06:07.000Z", ">2015-03-04T05:06:07Z"),
        ("<=2015-03-04T07:06:07+0200", "<=2015-03-04T05:06:07Z"),
    ],
)
def test_undocumented_forms_of_a_date_are_read(short, long):
    """Years and months are full ones; a second without an offset is in UTC."""
    found = search(f"created:{short}")
    assert 0 < len(found) < len(load_snapshot())
    assert found == search(f"created:{long}")


@pytest.mark.parametrize(
    ("term", "same"), [(">", ">"), (">=", ">"), ("<", "<="), ("<=", "<="), ("", None)]
)
def test_a_fraction_of_a_second_is_between_two_seconds(term, same):
    """No repository matches it exactly."""
    found = search(f"pushed:{term}{SECOND[:-1]}.5Z")
    assert found == (search(f"pushed:{same}{SECOND}") if same else ())


def test_dates_divide_the_snapshot():
    """The dates of the test above select some rows but not all."""
    sizes = [len(search(f"pushed:{sign}{SECOND}")) for sign in ("<", "", ">")]
    assert min(sizes) > 0
    assert sum(sizes) == len(load_snapshot())


@pytest.mark.parametrize("text", ["language:vue", "LANGUAGE:Vue", 'language:"VUE"'])
def test_language_in_any_case(text):
    """A language is found whatever its case, quoted or not."""
    assert {row.language.name for row in search(text)} == {"Vue"}


def test_a_language_with_a_space_is_quoted():
    """A quoted value can have a space."""
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


def test_words_match_parts_of_the_name():
    """All words and quoted texts must match, in any case."""
    assert all("awesome" in row.name.lower() for row in search("AWESOME"))
    both = search("awesome python")
    assert both
    assert all({"awesome", "python"} <= set(row.name.lower().split("-")) for row in both)
    assert search('"awesome-python"')[0].full_name == "vinta/awesome-python"
    assert search("python in:name") == search("python")


@pytest.mark.parametrize("term", ["language:python", "stars:>20000", "user:google", "is:public"])
def test_a_negated_qualifier_excludes_its_matches(term):
    """With a minus."""
    assert len(search(f"-{term}")) == len(load_snapshot()) - len(search(term))


@pytest.mark.parametrize("text", ["-js", "NOT js", 'NOT "js"', "AND NOT js", "NOT NOT -js"])
def test_a_negated_word_excludes_its_matches(text):
    """Minus and NOT negate a word or quoted text; a lowercase "not" is a word."""
    kept = [row.full_name for row in load_snapshot() if "js" not in row.name.lower()]
    assert names(text) == kept
    assert all("not" in name.split("/")[1].lower() for name in names("not js"))


def test_a_minus_within_a_word_is_not_a_negation():
    """Only a minus at the beginning of a term negates."""
    assert "vinta/awesome-python" in names("awesome-python")


@pytest.mark.parametrize("sign", ["-", '"-"', "- ", "...", "&&", "--", "()"])
def test_punctuation_alone_is_ignored(sign):
    """Terms without a letter or a digit, also beside other terms."""
    assert search(f"{sign} vim stars:>10") == search("vim stars:>10")
    assert search(sign) == load_snapshot()


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("vim OR emacs", lambda n: "vim" in n or "emacs" in n),
        ("vim AND go", lambda n: "vim" in n and "go" in n),
        ("awesome AND NOT list", lambda n: "awesome" in n and "list" not in n),
        ("vim go OR emacs", lambda n: ("vim" in n and "go" in n) or "emacs" in n),
        ("emacs OR vim go", lambda n: ("vim" in n and "go" in n) or "emacs" in n),
        ("vim OR NOT a", lambda n: "vim" in n or "a" not in n),
        ("-a OR vim", lambda n: "vim" in n or "a" not in n),
        ('"vim" OR "OR"', lambda n: "vim" in n or "or" in n),
        ("vim or go", lambda n: "vim" in n and "or" in n and "go" in n),
        ("vim stars:>1 OR emacs", lambda n: "vim" in n or "emacs" in n),
        ("vim AND stars:>1 AND", lambda n: "vim" in n),
        ("(vim)", lambda n: "vim" in n),
        ("a OR b OR c OR d OR e OR f", lambda n: any(each in n for each in "abcdef")),
    ],
)
def test_operators_have_a_precedence(text, holds):
    """NOT has the highest, OR the lowest; adjacent words are joined by AND."""
    found = [row for row in load_snapshot() if holds(row.name.lower())]
    assert search(f"{text} sort:stars") == tuple(found)
    assert search(f"{text} language:python sort:stars") == tuple(
        row for row in found if row.language == Language("Python")
    )


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        *(("golang", "Go"), ("cpp", "C++"), ("c++", "C++"), ("js", "JavaScript")),
        *(("ts", "TypeScript"), ("csharp", "C#"), ("c#", "C#"), ("py", "Python"), ("rb", "Ruby")),
        *(("bash", "Shell"), ("SHELL", "Shell"), ("sh", "Shell"), ("objc", "Objective-C")),
        *(("objective-c", "Objective-C"), ('"Objective-C"', "Objective-C"), ("rs", "Rust")),
        *(("vimscript", "Vim Script"), ("viml", "Vim Script"), ("vim-script", "Vim Script")),
        *(("jupyter-notebook", "Jupyter Notebook"), ("latex", "TeX"), ("node", "JavaScript")),
        *(('"ipython notebook"', "Jupyter Notebook"), ("rich-text-format", "Rich Text Format")),
    ],
)
def test_a_language_is_found_by_any_of_its_aliases(alias, name):
    """Several aliases of one language are equal to its name."""
    found = tuple(row for row in load_snapshot() if row.language == Language(name))
    assert found
    assert search(f"language:{alias}") == search(f'language:{alias} language:"{name}"') == found
    assert len(search(f"-language:{alias}")) == len(load_snapshot()) - len(found)


@pytest.mark.parametrize("alias", sorted(LANGUAGE_ALIASES))
def test_an_alias_refers_directly_to_a_language(alias):
    """Not to another alias, and each can be written in a search."""
    assert alias == alias.lower()
    assert " " not in alias + LANGUAGE_ALIASES[alias]
    assert LANGUAGE_ALIASES[alias] not in LANGUAGE_ALIASES
    assert normalize_language(alias.upper()) == LANGUAGE_ALIASES[alias]


@pytest.mark.parametrize("name", ["user", "ORG"])
def test_me_is_the_login_of_the_viewer(name):
    """``@me`` in any case; without a viewer it matches no account."""
    assert [row.full_name for row in search(f"{name}:@ME", viewer="TORVALDS")] == ["torvalds/linux"]
    assert "torvalds/linux" not in names(f"-{name}:@me") or not names(f"{name}:@me")
    assert search(f"{name}:@me") == ()
    assert len(search(f"-{name}:@me", viewer="torvalds")) == len(load_snapshot()) - 1


def test_a_service_resolves_me_to_its_viewer():
    """In the stand-in, ``@me`` is the account given to the service."""
    text = '{ search(type: REPOSITORY, query: "user:@me") { repositoryCount } }'
    found = github.service(viewer="torvalds").execute(text)
    assert found["search"]["repositoryCount"] == 1
    assert github.service().execute(text)["search"]["repositoryCount"] == 0


@pytest.mark.parametrize(
    "text",
    [
        *("is:public", "visibility:public", "-is:private", "-visibility:internal", "IS:PUBLIC"),
        *("fork:true", "fork:false", "-fork:true", "-fork:only", "-is:fork"),
        *(
            "is:public is:issue",
            "is:public author:me type:pr",
            "is:public props.team:x",
            "is:public in:readme",
            "sort:x",
        ),
    ],
)
def test_a_qualifier_that_holds_for_all_repositories_selects_all(text):
    """All are public and none is a fork."""
    assert search(text) == load_snapshot()


@pytest.mark.parametrize(
    "text",
    [
        *("is:private", "is:internal", "visibility:private", "-is:public"),
        *("fork:only", "-fork:false", "is:fork"),
    ],
)
def test_a_qualifier_that_holds_for_no_repository_selects_none(text):
    """None is private or a fork."""
    assert search(text) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((text, "size") for text in ("size:>0", "size:0", "-size:<1000")),
        *((text, "topics") for text in ("topics:3", "topics:1..*")),
        *((f"stars:>5 {text}", "topic") for text in ("topic:jupyter", "-topic:jupyter")),
        *(("license:mit", "license"), ("-has:funding-file", "has"), ("followers:>=0", "followers")),
        *(("-good-first-issues:>5", "good-first-issues"), ("custom:x", "custom")),
        *(("help-wanted-issues:>2", "help-wanted-issues"), ("is:sponsorable", "sponsorable")),
        *((text, "mirror") for text in ("mirror:true", "mirror:false", "-is:mirror")),
        *((text, "template") for text in ("template:false", "-template:true", "is:template")),
        *((text, "in") for text in ("vim in:readme", "vim in:description,topics", "vim -in:name")),
    ],
)
def test_a_qualifier_without_data_is_refused(text, name):
    """The result would be neither empty nor complete, so an error explains it."""
    parse_expression(text)  # GitHub has it
    with pytest.raises(QueryError, match=rf"no data for the qualifier '{name}'.*client='github'"):
        search(text)


@pytest.mark.parametrize("limit", [10, 2000, None])
def test_stars_ends_with_the_reason_of_the_stand_in(limit):
    """Not with an empty frame."""
    with pytest.raises(GqlnbError, match="no data for the qualifier 'topic'"):
        stars(">100000 topic:python", limit=limit)


@pytest.mark.parametrize("owner", ["org:microsoft", "user:microsoft", "ORG:microsoft"])
def test_a_custom_property_is_refused_in_a_search_of_one_organization(owner):
    """Elsewhere GitHub ignores it."""
    for term in ("props.team:x", "-props.team:x"):
        with pytest.raises(QueryError, match="no data for the qualifier 'props'"):
            search(f"{owner} {term}")
        for others in ("stars:>50000", f"{owner} org:google", f"-{owner}"):
            assert search(f"{others} {term}") == search(others)


def test_archived_repositories_are_selected_by_each_form():
    """By each qualifier for them."""
    closed = tuple(row for row in load_snapshot() if row.archived)
    assert 0 < len(closed) < len(load_snapshot())
    for text in ("archived:true", "is:archived", "-archived:false", "is:archived archived:true"):
        assert search(text) == closed
    assert len(search("archived:false")) == len(search("-is:archived"))
    assert len(search("-is:archived")) == len(load_snapshot()) - len(closed)
    assert search("archived:true archived:false") == ()


@pytest.mark.parametrize(
    "where", ["in:name", "in:name,description", "in:README,Name", "in:name in:topics", "in:nowhere"]
)
def test_words_are_searched_in_names(where):
    """The data have no other texts, so ``in:`` must include the name, or no known field."""
    assert search(f"{where} vim") == search("vim")


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


def test_best_match_sorts_by_the_matched_words():
    """Names that equal a word are first, then names with that prefix, each by stars."""
    found = search("vim")
    assert set(found) == set(search("vim sort:stars"))
    assert found != search("vim sort:stars")
    lower = [row.name.lower() for row in found]
    grades = [2 * (name == "vim") or name.startswith("vim") for name in lower]
    assert grades[0] == 2
    order = [(-grade, -row.stars) for grade, row in zip(grades, found, strict=True)]
    assert order == sorted(order)


def test_best_match_without_words_is_most_stars_first():
    """There is nothing to match."""
    assert search("stars:>50000") == search("stars:>50000 sort:stars")


def test_an_unknown_order_is_ignored():
    """As at GitHub; an order given before it is used."""
    for order in ("created", "best-match", "stars-up", "-stars", '"stars asc"', "STARS"):
        assert search(f"sort:{order} stars:>50000") == search("stars:>50000")
    assert search("sort:forks sort:nothing") == search("sort:forks")


def test_every_unicode_space_separates_terms():
    """Also spaces pasted from a web page."""
    assert search("vim\u00a0stars:>9\u3000language:go\n") == search("vim stars:>9 language:go")


def test_an_empty_expression_matches_all_repositories():
    """It has no condition."""
    assert search("") == search("  ") == search("is:public") == load_snapshot()
    assert search("is:private") == ()


def test_an_unknown_qualifier_is_text():
    """It is searched as text, colon included."""
    assert search("nosuch:qualifier") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stars:many", "stars:many"),
        ("stars:>--5", "Write N, >N"),
        ("stars:1.5", "Write N, >N"),
        ("stars:١٢", "Write N, >N"),
        ("forks:9999999999999999", "Write N, >N"),
        ("stars: >5", "has no value"),
        ("sort: stars", "has no value"),
        ("pushed:yesterday", "is not a recognized date/time format"),
        ("pushed:>26", "is not a recognized date/time format"),
        ("pushed:2026-13", "is not a recognized date/time format"),
        ("pushed:0000", "is not a recognized date/time format"),
        ("pushed:2026-01-01T00:00", "is not a recognized date/time format"),
        ("pushed:2026-02-30", "is not a recognized date/time format"),
        ("pushed:2026-01-01T25:00:00Z", "is not a recognized date/time format"),
        ("pushed:0001-01-01T00:00:00+14:00", "is not a recognized date/time format"),
        ("pushed:>=2026-01-01..2026-02-01", "is not a recognized date/time format"),
        ("pushed:२०२६-०१-०१", "is not a recognized date/time format"),
        ("archived:maybe", "archived:true or archived:false"),
        ("fork:yes", "fork:true or fork:false or fork:only"),
        ("mirror:1", "mirror:true or mirror:false"),
        ("visibility:secret", "visibility:public"),
        ("topics:many", "Write N, >N"),
        ("in:readme", "None of the search qualifiers apply to this search type."),
        ("is:issue author:me", "None of the search qualifiers apply"),
        ("is:starred sort:stars", "None of the search qualifiers apply"),
        ("stars:>5 AND forks:>5", "contains only logical operators"),
        ("language:go OR language:rust", "contains only logical operators"),
        ("(language:go OR language:rust)", "Parentheses group nothing"),
        ("vim (a OR b)", "Parentheses group nothing"),
        ("vim -(a b)", "Parentheses group nothing"),
        ("NOT language:python", "contains only logical operators"),
        ("AND", "contains only logical operators"),
        ("vim NOT language:python", "NOT is about words"),
        ("vim OR language:python", "OR is about words"),
        ("OR vim", "OR is about words"),
        ("vim OR", "OR is about words"),
        ("a OR OR b", "OR is about words"),
        ("a OR b OR c OR d OR e AND NOT f", "More than five AND / OR / NOT operators were used."),
        ("w " * 129, "The search is longer than 256 characters."),
        ("x" * 257, "The search is longer than 256 characters."),
        ("-user:a " * 2049, "16,392 characters, qualifiers included; 16,384 are the most"),
    ],
)
def test_an_invalid_value_is_refused(text, said):
    """An invalid value, and a qualifier without data, have a one-sentence error."""
    with pytest.raises(QueryError, match=said):
        parse_expression(text)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text):
    """Only QueryError is raised."""
    with contextlib.suppress(QueryError):
        search(text, load_snapshot()[:5])


def test_the_error_truncates_a_long_term():
    """To one line."""
    with pytest.raises(QueryError) as caught:
        parse_expression("stars:" + "9" * 10_000)
    assert len(str(caught.value)) < 300


def test_the_longest_valid_expression_is_accepted():
    """At the limits; qualifiers do not count as text."""
    assert search("x" * 256) == ()
    assert search("x " * 128) == search("x")
    assert len(search(f"{'-user:nobody ' * 1260}")) == len(load_snapshot())
    assert names(f"{'stars:>1 ' * 1000} user:torvalds") == ["torvalds/linux"]


def test_repeated_conditions_are_merged():
    """Conditions, words and alternatives, in any case."""
    said = parse_expression(
        'stars:>5 vim STARS:>5 "VIM" -user:a -USER:A language:js language:JavaScript'
    )
    assert said == parse_expression("stars:>5 vim -user:a language:javascript")
    assert parse_expression("a OR b OR a") == parse_expression("a OR b")


def test_each_column_is_scanned_once():
    """For any number of terms."""
    terms = (
        f"-stars:{k} -language:l{k} -user:u{k} -repo:u/{k} -pushed:{k}" for k in range(1970, 2200)
    )
    clauses = list(parse_expression(" ".join(terms)).clauses)
    assert len(clauses) == 5 * 230
    assert sorted(group_clauses(clauses)) == ["language", "owner", "pushed", "stars"]


@pytest.mark.parametrize(
    "text", ["-user:microsoft -repo:torvalds/linux", "user:microsoft -repo:x/y"]
)
def test_negated_owners_and_repositories_are_excluded(text):
    """A repository also from the rows of its owner."""
    gone = {"microsoft", "torvalds"} if text.startswith("-") else set()
    whose = None if text.startswith("-") else "microsoft"
    assert search(text) == tuple(
        row
        for row in load_snapshot()
        if row.owner.login.lower() not in gone and whose in {None, row.owner.login.lower()}
    )


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
WORDS = ("vim", "o", ".js")
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
    word = draw(st.sampled_from(WORDS))
    return word, lambda row: word in row.name.lower()


def rate(row, words):
    """Return the rank of a row without `sort:`, as far as names and stars decide it."""
    name = row.name.lower()
    begins = any(name.startswith(word) for word in words)
    return (2 if name in words else begins, row.stars)


@given(
    populations,
    st.lists(st.tuples(st.booleans(), conditions()), max_size=4, unique_by=lambda c: c[1][0][:4]),
    sorts,
)
def test_search_equals_a_plain_filter_and_sort(rows, terms, sort):
    """For any expression, by a reference implementation."""
    text = " ".join([("-" if negated else "") + term for negated, (term, _) in terms] + [sort])
    kept = [row for row in rows if all(holds(row) != negated for negated, (_, holds) in terms)]
    kept.sort(key=lambda row: row.full_name.lower())
    words = [term for negated, (term, _) in terms if not negated and term in WORDS]
    by = {"f": lambda row: row.forks, "u": lambda row: row.pushed_at}
    if not sort:
        by[""] = lambda row: rate(row, words)
    kept.sort(key=by.get(sort[5:6], lambda row: row.stars), reverse=not sort.endswith("asc"))
    assert search(text, rows) == tuple(kept)


@given(
    populations, st.sampled_from(["STARS:>2 Language:C", "user:ANN VIM", "-User:Bob SORT:FORKS"])
)
def test_case_never_matters(rows, text):
    """An expression in capitals finds the same as in small letters."""
    assert search(text.lower(), rows) == search(text.upper(), rows)
