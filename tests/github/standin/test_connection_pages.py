"""Pages have GitHub's cursors, boundaries and refusals."""

from base64 import b64encode

import pytest
from graphql import GraphQLError
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.github.standin.connection_pages import KeysetCursors, OffsetCursors, build_page

ITEMS = tuple("abcdefghij")


def cursor(place):
    """Return the cursor of a search's item, counted from 1."""
    return OffsetCursors().encode_cursors([place - 1])[0]


def cut(**args):
    """Return a page of ten letters."""
    return build_page("letters", ITEMS, args)


def test_after_and_before_bound_a_page():
    """Both cursors are left out of the page between them."""
    assert cut(first=10, after=cursor(2), before=cursor(5)).nodes == ("c", "d")
    assert cut(last=1, after=cursor(2), before=cursor(5)).nodes == ("d",)


@pytest.mark.parametrize(
    "args",
    [
        {"first": 0},
        {"first": 5, "after": cursor(10)},
        {"first": 5, "after": cursor(999_999_999)},
        {"last": 5, "before": cursor(1)},
        {"first": 5, "after": cursor(6), "before": cursor(3)},
    ],
)
def test_an_empty_page_has_no_cursors(args):
    """Past the last item the page is empty and its cursors are null."""
    empty = cut(**args)
    assert list(empty.nodes) == []
    assert empty.page_info["startCursor"] is None
    assert empty.page_info["endCursor"] is None


@pytest.mark.parametrize(
    ("args", "kind", "said"),
    [
        ({"first": -1}, "UNPROCESSABLE", "less than zero"),
        ({"first": 1, "last": 1}, "UNPROCESSABLE", "both `first` and `last`"),
        ({"first": 1, "after": "é"}, "INVALID_CURSOR_ARGUMENTS", "valid cursor"),
        ({"first": 1, "after": ""}, "INVALID_CURSOR_ARGUMENTS", "valid cursor"),
        ({"last": 1, "before": "Y3Vyc29yOi0x"}, "INVALID_CURSOR_ARGUMENTS", "valid cursor"),
    ],
)
def test_an_invalid_page_argument_is_refused(args, kind, said):
    """Each error has GitHub's code and message."""
    with pytest.raises(GraphQLError, match=said) as caught:
        cut(**args)
    assert caught.value.extensions == {"type": kind}


def keyed(keys, kind, *, descending=False):
    """Return cursors of items that have these keys, in this order."""
    return KeysetCursors(lambda place: keys[place], len(keys), kind, descending)


@pytest.mark.parametrize(
    ("key", "kind", "text"),
    [
        ((312869,), tuple[int], "Y3Vyc29yOnYyOpHOAATGJQ=="),
        (
            ("2019-12-15T00:00:00Z", 4912501),
            tuple[str, int],
            "Y3Vyc29yOnYyOpK0MjAxOS0xMi0xNVQwMDowMDowMFrOAEr1dQ==",
        ),
        ((53590, 36040894), tuple[int, int], "Y3Vyc29yOnYyOpLN0VbOAiXwvg=="),
        ((153, 0x0CFD0F07), tuple[int, int], "Y3Vyc29yOnYyOpLMmc4M_Q8H"),
    ],
)
def test_a_keyset_cursor_has_the_form_of_githubs(key, kind, text):
    """As in recorded cursors: the id alone, or the sort value and the id."""
    cursors = keyed([key], kind)
    assert cursors.encode_cursors([0]) == [text]
    for written in (text, text.rstrip("="), text.replace("_", "/")):
        assert (cursors.find_before(written), cursors.find_after(written)) == (0, 1)


@pytest.mark.parametrize("descending", [False, True])
def test_paging_continues_after_the_cursor_of_a_removed_item(descending):
    """The key of the removed item still lies between two others."""
    keys = sorted([(stars, number) for number, stars in enumerate([5, 5, 7, 9, 9])])
    keys = keys[::-1] if descending else keys
    whole = keyed(keys, tuple[int, int], descending=descending)
    for place, key in enumerate(keys):
        left = keyed([k for k in keys if k != key], tuple[int, int], descending=descending)
        [found] = whole.encode_cursors([place])
        assert left.find_after(found) == left.find_before(found) == place
        assert (whole.find_before(found), whole.find_after(found)) == (place, place + 1)


@given(st.integers(1, 12), st.booleans(), st.booleans())
def test_paging_by_keyset_cursors_returns_every_item_once(size, back, descending):
    """For any page size, in order, from both ends, in both directions."""
    keys = sorted([(letter, number) for number, letter in enumerate("aabbbcdeef")])
    keys = keys[::-1] if descending else keys
    cursors = keyed(keys, tuple[str, int], descending=descending)
    word, along, which, more = (
        ("last", "before", "startCursor", "hasPreviousPage")
        if back
        else ("first", "after", "endCursor", "hasNextPage")
    )
    found, info = [], {which: None, more: True}
    while info[more]:
        step = build_page("letters", keys, {word: size, along: info[which]}, cursors=cursors)
        places = [keys.index(node) for node in step.nodes]
        assert [edge["cursor"] for edge in step.edges] == cursors.encode_cursors(places)
        found = [*step.nodes, *found] if back else [*found, *step.nodes]
        info = step.page_info
    assert found == keys


@pytest.mark.parametrize(
    "text",
    [
        *("", "nonsense", "é", "Y3Vyc29yOjEwMA==", "Y3Vyc29yOnYyOg==", "Y3Vyc29yOnYyOpHOAATGJQ=="),
        *("Y3Vyc29yOnYyOpLN0VbOAiXwvg==x", "Y3Vyc29yOnYyOpLN0VbOAiXw", "!Y3Vyc29yOnYyOpLN0Vb"),
        b64encode(b"cursor:v2:" + b"\x91" * 100_000).decode(),
        b64encode(b"cursor:v2:\x92\xa1\xff\x01").decode(),
    ],
)
@pytest.mark.parametrize("word", ["after", "before"])
def test_a_cursor_of_another_connection_is_refused(text, word):
    """A search cursor, another order's or an unknown one gets GitHub's code and message."""
    cursors = keyed([("a", 1)], tuple[str, int])
    with pytest.raises(GraphQLError, match="does not appear to be a valid cursor") as caught:
        build_page("letters", "a", {"first": 1, word: text}, cursors=cursors)
    assert caught.value.extensions == {"type": "INVALID_CURSOR_ARGUMENTS"}
    assert len(str(caught.value)) < 200
