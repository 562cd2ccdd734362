"""Keys of the items of a page, read together or one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.client.paging.duplicates import DuplicateFilter, identify_item, read_plain_keys
from gqlnb.document.paged_fields import ItemList

IDS = st.sampled_from(["a", "b", "c", 1, 2, True, None])
NODES = st.none() | st.fixed_dictionaries(
    {}, optional={"id": IDS, "pk": IDS, "kind": st.sampled_from(["A", "B", None])}
)
ITEMS = st.lists(NODES | st.fixed_dictionaries({}, optional={"node": NODES}), max_size=4)
LISTS = st.builds(
    ItemList,
    st.just("rows"),
    node=st.sampled_from([None, "node"]),
    ids=st.sampled_from([(), ("id",), ("id", "pk")]),
    typename=st.sampled_from([None, "kind"]),
)


@given(ITEMS, LISTS)
def test_keys_that_are_read_together_are_those_of_each_item(
    items: list[Any], described: ItemList
) -> None:
    """Where a list has no plain keys, there are none."""
    assert read_plain_keys(items, described) in (
        [],
        [identify_item(item, described, ()) for item in items],
    )


def test_pages_with_plain_keys_are_compared_with_all_pages_before() -> None:
    """Also with those whose items were new."""
    pages = DuplicateFilter([ItemList("rows", ids=("id",))])
    removed = []
    for ids in ([1, 2], [3, 4], [4, 5], [1, 6], [7, 8]):
        page: dict[str, Any] = {"rows": [{"id": number} for number in ids]}
        removed.append(pages.remove_duplicates(page, counted=False))
    assert removed == [0, 0, 1, 1, 0]
    assert pages.duplicates == 2
