"""Pages have GitHub's cursors, boundaries and refusals."""

import base64

import pytest
from graphql import GraphQLError
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.github.paging import cursor, page

ITEMS = tuple("abcdefghij")


def cut(**args):
    """Return a page of ten letters."""
    return page("letters", ITEMS, args)


def test_a_cursor_is_the_place_in_base64():
    """The cursor of the hundredth item is the one crawlers know."""
    assert cursor(100) == "Y3Vyc29yOjEwMA=="
    assert [base64.b64decode(edge["cursor"]) for edge in cut(first=2).edges] == [
        b"cursor:1",
        b"cursor:2",
    ]


def test_first_and_after_go_forward():
    """A page begins behind the cursor it is given."""
    second = cut(first=4, after=cut(first=4).info["endCursor"])
    assert second.nodes == tuple("efgh")
    assert second.info["hasNextPage"] is True
    assert second.info["hasPreviousPage"] is True


def test_last_and_before_go_back():
    """A page ends ahead of the cursor it is given."""
    end = cut(last=4)
    assert end.nodes == tuple("ghij")
    assert end.info["hasNextPage"] is False
    assert cut(last=4, before=end.info["startCursor"]).nodes == tuple("cdef")


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
    """Where nothing is left the page is empty and names no cursor."""
    empty = cut(**args)
    assert list(empty.nodes) == []
    assert empty.info["startCursor"] is None
    assert empty.info["endCursor"] is None


@given(st.integers(1, 12), st.booleans())
def test_walking_finds_every_item_once(size, back):
    """Any page size leads through all items in order, from both ends."""
    word, along, which, more = (
        ("last", "before", "startCursor", "hasPreviousPage")
        if back
        else ("first", "after", "endCursor", "hasNextPage")
    )
    found, info = [], {which: None, more: True}
    while info[more]:
        step = cut(**{word: size, along: info[which]})
        found = [*step.nodes, *found] if back else [*found, *step.nodes]
        info = step.info
    assert found == list(ITEMS)


def test_counts_need_no_boundaries():
    """Without first and last the totals can be asked for, the items not."""
    bare = page("letters", ITEMS, {}, total=99)
    assert bare.total == 99
    assert bare.info["hasNextPage"] is False
    with pytest.raises(GraphQLError, match="`first` or `last` value to properly") as caught:
        _ = bare.edges
    assert caught.value.extensions == {"type": "MISSING_PAGINATION_BOUNDARIES"}


@pytest.mark.parametrize(
    ("args", "kind", "said"),
    [
        ({"first": 101}, "EXCESSIVE_PAGINATION", "101 records on the `letters` connection exceeds"),
        ({"last": 1000}, "EXCESSIVE_PAGINATION", "the `last` limit of 100 records"),
        ({"first": -1}, "UNPROCESSABLE", "less than zero"),
        ({"first": 1, "last": 1}, "UNPROCESSABLE", "both `first` and `last`"),
        ({"first": 1, "after": "nonsense"}, "INVALID_CURSOR_ARGUMENTS", "`nonsense` does not"),
        ({"first": 1, "after": "é"}, "INVALID_CURSOR_ARGUMENTS", "valid cursor"),
        ({"first": 1, "after": ""}, "INVALID_CURSOR_ARGUMENTS", "valid cursor"),
        ({"last": 1, "before": "Y3Vyc29yOi0x"}, "INVALID_CURSOR_ARGUMENTS", "valid cursor"),
    ],
)
def test_a_wrong_boundary_is_refused(args, kind, said):
    """Each wrong boundary gets GitHub's word and message."""
    with pytest.raises(GraphQLError, match=said) as caught:
        cut(**args)
    assert caught.value.extensions == {"type": kind}
