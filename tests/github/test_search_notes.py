"""Notes about searches whose terms have no effect, or that find nothing."""

import pytest

from gqlnb import github, stars
from gqlnb.github.repositories import load_snapshot
from gqlnb.github.search_syntax import list_search_notes, map_languages, normalize_language

EXACT = "'1000' means exactly 1,000 stars; write '>1000' for above."


@pytest.mark.parametrize(
    ("expression", "notes"),
    [
        ("stars:1000", [EXACT]),
        ("language:go stars:1000..1000", [EXACT]),
        ("-stars:1000", []),
        ("stars:>1000", []),
        ("language:pyhton", ["'pyhton' is not a known language. Did you mean 'python'?"]),
        ("language:brand-new", []),
        ("language:java", []),
        (
            "language:python,go",
            ["'language:python,go' is one value. Write language:python language:go for either."],
        ),
        ("org:a,b", ["'user:a,b' is one value. Write user:a user:b for either."]),
        ("stars:x", []),
    ],
)
def test_an_empty_search_has_a_note_on_the_likely_reason(expression, notes):
    """A search with results has none of them."""
    assert list_search_notes(expression, is_empty=True) == notes
    assert list_search_notes(expression, is_empty=False) == []


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (
            "stars:>5 author:ann",
            "Probably without effect: 'author:ann'. Searches for repositories have no such",
        ),
        ("stars:>5 -filename:x label:y", "Probably without effect: '-filename:x', 'label:y'."),
        ("stars:>5 is:archive", "Their values of is: are public, private, internal, mirror,"),
        ("stars:>5 no:a no:b no:c no:d", "'no:c' and others."),
    ],
)
def test_terms_without_effect_are_noted(expression, said):
    """Those of GitHub's other searches, and unknown values of ``is:``."""
    (note,) = list_search_notes(expression, is_empty=False)
    assert said in note


@pytest.mark.parametrize("expression", ["stars:>5 is:archived", "vim in:name", "user:a props.b:c"])
def test_terms_with_an_effect_are_not_noted(expression):
    """Also if the stand-in has no data for them."""
    assert list_search_notes(expression, is_empty=False) == []


@pytest.mark.parametrize("limit", [10, None])
def test_a_search_shows_them(limit):
    """As warnings and in the attributes of its frame, once each."""
    with pytest.warns(UserWarning, match=r"Probably without effect: 'is:archive'\.") as caught:
        found = stars(">400000 is:archive", limit=limit)
    assert len(found) > 1
    assert found.attrs["notes"] == [str(one.message) for one in caught]
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="means exactly"):
        found = stars("1000", limit=limit)
    assert found.attrs["notes"] == [EXACT]


def test_a_harvest_shows_them():
    """As warnings, in its text and in the attributes of its frame."""
    with pytest.warns(UserWarning, match="means exactly 1,000 stars"):
        found = github.harvest("1000", progress=False)
    assert EXACT in repr(found)
    assert found.frame().attrs["notes"] == [EXACT]
    assert found.frame().attrs["order"] == "stars-desc"


def test_the_languages_of_the_snapshot_are_known():
    """So none of them is called unknown."""
    languages = {row.language.name for row in load_snapshot() if row.language is not None}
    assert languages
    assert set(map_languages()).issuperset(map(normalize_language, languages))
