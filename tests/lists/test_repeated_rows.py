"""Rows that come twice, as they changed meanwhile, are kept once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.lists.store import find_repeated_rows


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=9), max_size=6))
def test_each_id_is_kept_once(parts: list[list[str]]) -> None:
    """The last row stays."""
    found = find_repeated_rows(lambda: parts)
    later = set[str]()
    for number, ids in reversed([*enumerate(parts)]):
        again = {n: each for n, each in enumerate(ids) if each in later or each in ids[n + 1 :]}
        assert found.get(number, {}) == again
        later.update(ids)


def test_equal_hashes_are_not_equal_ids() -> None:
    """Rows with equal hashes and different ids stay."""

    class Same(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 1

    ids = [Same("a"), Same("b"), Same("a"), Same("c")]
    assert find_repeated_rows(lambda: [ids]) == {0: {0: "a"}}
