"""Decimals in the rows of a harvest in ranges."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb import Client, Slice
from tests.client.paging.lists import build_client
from tests.examples import count_examples

if TYPE_CHECKING:
    from collections.abc import Sequence

SDL = """
items(low: Int, high: Int, limit: Int = 10, offset: Int = 0): Page! scalar Decimal
type Page { total: Int! rows: [Row!]! } type Row { id: ID! n: Int! price: Decimal }
"""
TEXT = "query ($low: Int, $high: Int) { items(low: $low, high: $high) { rows { n price } } }"
PRICES = st.lists(
    st.none() | st.decimals(-(10**9), 10**9, places=2) | st.decimals(0, 1, places=6),
    min_size=1,
    max_size=25,
)


def serve_prices(prices: Sequence[Decimal | None]) -> Client:
    """Return a client of an endpoint that returns at most ten of its rows."""
    rows = [
        {"id": n, "n": n, "price": None if price is None else str(price)}
        for n, price in enumerate(prices)
    ]

    def find_items(args: dict[str, Any]) -> object:
        found = rows[max(args.get("low") or 0, 0) : args.get("high", len(rows)) + 1]
        return {"total": len(found), "rows": found[:10][args["offset"] :][: args["limit"]]}

    return build_client(SDL, find_items)


@settings(max_examples=count_examples(32))
@given(PRICES)
def test_decimals_have_the_places_that_their_column_needs(prices):
    """The values are exact, with as many places as the longest of them needs, in all parts."""
    found = serve_prices(prices).harvest(TEXT, slice=Slice(column="n", cap=10), progress=False)
    assert found.complete
    values = found.frame().sort_values("n")["price"].tolist()
    assert [None if value is None else Decimal(value) for value in values] == prices
    normal = [price.normalize().as_tuple().exponent for price in prices if price is not None]
    places = -min([*(each for each in normal if isinstance(each, int)), 0])
    assert {value.as_tuple().exponent for value in values if value is not None} <= {-places}
