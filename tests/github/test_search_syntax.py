"""Search expressions filter and sort as GitHub documents it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import github, stars
from gqlnb.errors import GqlnbError, QueryError
from gqlnb.github.repositories import Language, load_snapshot
from gqlnb.github.search_syntax import map_languages, normalize_language, parse_expression
from gqlnb.github.standin.github_schema import load_snapshot_population
from gqlnb.github.standin.repository_search import Population, select_rows


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
        ("stars:*..*", lambda n: True),
        ("stars:2..1", lambda n: False),
        ("stars:>-1", lambda n: True),
        ("stars:<=-1", lambda n: False),
        ("pushed:*..*", lambda n: True),
    ],
)
def test_unusual_forms_of_a_number_are_exact(text, holds):
    """The others are in tests/property/test_search.py, as are those of dates, names and words."""
    assert search(text) == tuple(row for row in load_snapshot() if holds(row.stars))


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
        ('"vim" OR "OR"', lambda n: "vim" in n or "or" in n),
        ("vim or go", lambda n: "vim" in n and "or" in n and "go" in n),
        ("vim stars:>1 OR emacs", lambda n: "vim" in n or "emacs" in n),
        ("vim AND stars:>1 AND", lambda n: "vim" in n),
        ("a OR b OR c OR d OR e OR f", lambda n: any(each in n for each in "abcdef")),
    ],
)
def test_operators_stand_between_words(text, holds):
    """In capitals, without quotes, and as far as they are; the property test has the precedence."""
    found = [row for row in load_snapshot() if holds(row.name.lower())]
    assert search(f"{text} sort:stars") == tuple(found)
    assert search(f"{text} language:python sort:stars") == tuple(
        row for row in found if row.language == Language("Python")
    )


ALIASES = {alias: name for alias, name in map_languages().items() if alias != name}


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_an_alias_refers_directly_to_a_language(alias):
    """Not to another alias, and each can be written in a search."""
    assert alias == alias.lower()
    assert " " not in alias + ALIASES[alias]
    assert ALIASES[alias] not in ALIASES
    assert normalize_language(alias.upper()) == ALIASES[alias]


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


@pytest.mark.parametrize(
    "where", ["in:name", "in:name,description", "in:README,Name", "in:name in:topics", "in:nowhere"]
)
def test_words_are_searched_in_names(where):
    """The data have no other texts, so ``in:`` must include the name, or no known field."""
    assert search(f"{where} vim") == search("vim")


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
