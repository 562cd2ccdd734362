"""Rows that come twice, as they changed meanwhile, are kept once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.lists.part_files import find_repeated_rows


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=9), max_size=6), st.integers(1, 9))
def test_each_id_is_returned_once(parts: list[list[str]], at_once: int) -> None:
    """For any number of hashes in memory; the first row stays."""
    places = find_repeated_rows(
        lambda: [[part[:at_once], part[at_once:]] for part in parts], sum(map(len, parts)), at_once
    )
    seen: set[str] = set()
    for number, ids in enumerate(parts):
        again = [place for place, each in enumerate(ids) if each in seen or each in ids[:place]]
        assert places.get(number, []) == again
        seen.update(ids)


def test_equal_hashes_are_not_equal_ids() -> None:
    """Rows with equal hashes and different ids stay."""

    class Same(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 1

    ids = [Same("a"), Same("b"), Same("a"), Same("c")]
    assert find_repeated_rows(lambda: [[ids]], 4) == {0: [2]}
