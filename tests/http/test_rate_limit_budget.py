"""What endpoints say about how much may still be asked: every spelling, and nonsense."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.http.rate_limit_rules import (
    RATE_LIMIT_HEADERS,
    UNKNOWN_BUDGET,
    Budget,
    read_budget,
    read_budget_headers,
    read_cost_extension,
    read_rate_limit_field,
)

NOW = 1_800_000_000.0
SOON = datetime.fromtimestamp(NOW + 60, UTC)
LATER = datetime.fromtimestamp(NOW + 5, UTC)
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"  # NOW
SHOPIFY = {
    "cost": {
        "requestedQueryCost": 101,
        "actualQueryCost": 46,
        "throttleStatus": {
            "maximumAvailable": 1000.0,
            "currentlyAvailable": 954,
            "restoreRate": 50.0,
        },
    }
}


def github(left="4987", reset="1800000060", **more):
    """Return the headers of GitHub."""
    return {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": left,
        "x-ratelimit-reset": reset,
        **more,
    }


@pytest.mark.parametrize(
    ("headers", "budget"),
    [
        (github(), Budget(5000, 4987, SOON)),
        (github(reset="1800000060123"), Budget(5000, 4987, SOON.replace(microsecond=123000))),
        (github(reset="60"), Budget(5000, 4987, SOON)),
        (github(reset="2027-01-15T08:01:00Z"), Budget(5000, 4987, SOON)),
        (github(reset="Fri, 15 Jan 2027 08:01:00 GMT"), Budget(5000, 4987, SOON)),
        (github(reset="never"), Budget(5000, 4987, None)),
        (github(left="-1"), Budget(5000, None, SOON)),
        (github(left="many", reset="never"), UNKNOWN_BUDGET),
        ({"ratelimit-limit": "100, 100;w=60",
         "ratelimit-remaining": "50"} | {"ratelimit-reset": "60"}, Budget(100, 50, SOON)),
        ({"x-rate-limit-remaining": "3"}, Budget(None, 3)),
        ({"ratelimit": "limit=100, remaining=50, reset=60"}, Budget(100, 50, SOON)),
        ({"ratelimit": '"default";r=50;t=60'}, Budget(None, 50, SOON)),
        ({"ratelimit": '"d";r=50;t=60', "ratelimit-policy": '"d";q=100;w=60'},
         Budget(100, 50, SOON)),
        ({"ratelimit": '"day";r=900;t=60, "burst";r=0;t=5',
         "ratelimit-policy": '"burst";q=10;w=10, "day";q=1000;w=86400'}, Budget(10, 0, LATER)),
        ({"ratelimit": "plenty"}, UNKNOWN_BUDGET),
        ({"ratelimit-policy": '"d";q=100;w=60'}, UNKNOWN_BUDGET),
        ({"content-type": "application/json"}, UNKNOWN_BUDGET),
    ],
)  # fmt: skip
def test_every_form_of_rate_limit_headers_is_parsed(headers, budget):
    """GitHub's, and three revisions of the IETF draft."""
    assert read_budget_headers(headers, NOW) == budget


def test_the_reset_time_uses_the_clock_of_the_endpoint():
    """With a clock ten minutes ahead, the wait is still correct."""
    ahead = {"date": "Fri, 15 Jan 2027 08:10:00 GMT"}
    assert read_budget_headers(github(reset="1800000660", **ahead), NOW).reset == SOON
    assert read_budget_headers(github(reset="60", **ahead), NOW).reset == SOON


def test_the_bucket_of_shopify_is_parsed():
    """With its refill rate and the cost of the request."""
    assert read_cost_extension(SHOPIFY) == Budget(1000, 954, None, 46, 50)
    assert read_cost_extension({"cost": {"requestedQueryCost": 7}}) == Budget(cost=7)
    assert read_cost_extension({"cost": 7}) == read_cost_extension({}) == UNKNOWN_BUDGET


@pytest.mark.parametrize(
    ("data", "budget"),
    [
        ({"rateLimit": {"cost": 1, "remaining": 9, "limit": 10, "resetAt": "2027-01-15T08:01:00Z"}},
         Budget(10, 9, SOON, 1)),
        ({"viewer": {"login": "me"}, "mine": {"cost": 51}}, Budget(cost=51)),
        ({"rateLimit": {"remaining": "9", "resetAt": 5}}, Budget(None, 9)),
        ({"rateLimit": None}, UNKNOWN_BUDGET),
        (None, UNKNOWN_BUDGET),
    ],
)  # fmt: skip
def test_the_rate_limit_field_of_github_is_parsed(data, budget):
    """Under any alias."""
    assert read_rate_limit_field(data) == budget


def test_field_and_headers_are_merged_into_one_budget():
    """The field has the cost, the headers have the rest."""
    said = read_budget(github(), {}, {"rateLimit": {"cost": 3}}, NOW)
    assert said == Budget(5000, 4987, SOON, 3)
    assert read_budget(github(), SHOPIFY, None, NOW) == Budget(1000, 954, None, 46, 50)
    assert not read_budget({}, {}, None, NOW)


def test_the_repr_and_text_of_a_budget_omit_unknown_values():
    """The text is one sentence."""
    known = Budget(5000, 4987, SOON, 1)
    assert repr(known) == (
        "Budget(limit=5000, remaining=4987, reset='2027-01-15 08:01:00 UTC', cost=1)"
    )
    assert str(known) == "4,987 of 5,000 left until 08:01 UTC"
    assert (repr(Budget()), str(Budget()), bool(Budget())) == ("Budget()", "", False)


SAID = st.text(max_size=20) | st.sampled_from(["1", "9" * 30, "-1", "1e9", '"a";r=1;t=9', DATE])


@given(
    st.dictionaries(st.sampled_from([*sorted(RATE_LIMIT_HEADERS), "date"]), SAID), st.floats(0, 2e9)
)
def test_arbitrary_headers_give_a_valid_budget(headers, now):
    """Remaining points and limit are None or not negative."""
    said = read_budget_headers(headers, now)
    assert said.remaining is None or said.remaining >= 0
    assert said.limit is None or said.limit >= 0


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(
        st.sampled_from(["cost", "remaining", "resetAt", "throttleStatus", "restoreRate"]), inner
    ),
)


@given(JSON)
def test_arbitrary_rate_limit_members_do_not_raise(members):
    """For GitHub's field and Shopify's extension."""
    assert read_rate_limit_field(members) == read_rate_limit_field(members)
    assert read_cost_extension({"cost": members}) == read_cost_extension({"cost": members})
