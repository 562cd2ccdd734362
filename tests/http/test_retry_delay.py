"""Whether to ask again, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.errors import AnswerError, AuthError, QueryError, RateLimited, TransportError
from gqlnb.http.rate_limit_rules import (
    DEFAULT_LIMIT_WAIT,
    MAX_ATTEMPTS,
    Attempt,
    classify_failure,
    compute_retry_delay,
    read_retry_after,
)

SECONDS = st.floats(0, 1e10, allow_nan=False)
FRACTIONS = st.floats(0, 1, exclude_max=True)
FAILURES = ["broken", "busy", "limited"]
TIMES = {"seconds_left": SECONDS | st.just(float("inf")), "retry_after": SECONDS | st.none()}
ATTEMPTED = st.builds(
    Attempt,
    kind=st.sampled_from(["query", "mutation", "subscription"]),
    failure=st.sampled_from([*FAILURES, None]),
    number=st.integers(1, 10),
    **TIMES,
)
FAILED = st.builds(
    Attempt,
    kind=st.just("query"),
    failure=st.sampled_from(FAILURES),
    number=st.integers(1, MAX_ATTEMPTS - 1),
    **TIMES,
)


@given(ATTEMPTED, FRACTIONS)
def test_a_wait_is_between_the_requested_and_the_remaining_time(attempt, fraction):
    """For arbitrary input."""
    wait = compute_retry_delay(attempt, fraction)
    if wait is not None:
        assert 0 < wait <= attempt.seconds_left
        assert wait >= (attempt.retry_after or 0)


@given(ATTEMPTED, FRACTIONS)
def test_only_queries_with_transient_failures_are_retried(attempt, fraction):
    """Mutations and permanent failures are not, and attempts are limited."""
    hopeless = attempt.kind != "query" or not attempt.failure or attempt.number >= MAX_ATTEMPTS
    if hopeless:
        assert compute_retry_delay(attempt, fraction) is None


@given(FAILED, FRACTIONS)
def test_retries_stop_early_only_if_time_is_short(attempt, fraction):
    """The decision does not depend on the random jitter."""
    endless = Attempt(
        attempt.kind, attempt.failure, attempt.number, float("inf"), attempt.retry_after
    )
    wait = compute_retry_delay(endless, fraction)
    assert wait is not None
    assert (compute_retry_delay(attempt, fraction) is None) == (wait > attempt.seconds_left)


@given(st.sampled_from(["broken", "busy"]), FRACTIONS, FRACTIONS, st.integers(1, MAX_ATTEMPTS - 2))
def test_backoff_grows_for_any_jitter(kind, one, other, number):
    """Waits never decrease, and those of several clients differ."""
    first = compute_retry_delay(Attempt("query", kind, number, 1e9), one)
    second = compute_retry_delay(Attempt("query", kind, number + 1, 1e9), other)
    assert first <= second
    assert compute_retry_delay(
        Attempt("query", kind, number, 1e9), 0.0
    ) * 1.9 < compute_retry_delay(Attempt("query", kind, number, 1e9), 0.999)


@given(FRACTIONS)
def test_a_rate_limit_without_a_wait_follows_githubs_advice(fraction):
    """At least a minute, longer each time."""
    waits = [compute_retry_delay(Attempt("query", "limited", n, 1e9), fraction) for n in (1, 2, 3)]
    assert waits == [DEFAULT_LIMIT_WAIT, 2 * DEFAULT_LIMIT_WAIT, 4 * DEFAULT_LIMIT_WAIT]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RateLimited("m"), "limited"),
        (RateLimited("m", status=503), "limited"),
        (TransportError("m", status=502), "busy"),
        (TransportError("m", status=503), "busy"),
        (TransportError("m", status=504), "busy"),
        (TransportError("m", broken=True), "broken"),
        (TransportError("m"), None),
        (TransportError("m", status=500), None),
        (AuthError("m", status=401), None),
        (AnswerError("m"), None),
        (AnswerError("m", broken=True), "broken"),
        (QueryError("m"), None),
    ],
)
def test_every_error_has_one_kind_of_failure(error, kind):
    """Timeouts, rejections and invalid requests are not retried."""
    assert classify_failure(error) == kind


@pytest.mark.parametrize(
    ("headers", "limited", "wait"),
    [
        ({}, True, None),
        ({"retry-after": "7"}, False, 7),
        ({"retry-after": " 0.5 "}, False, 0.5),
        ({"retry-after": "9" * 400}, False, 1e9),
        ({"retry-after": "-5"}, False, None),
        ({"retry-after": "soon"}, False, None),
        ({"retry-after": "7, 7"}, False, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:00 GMT"}, False, 20),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:00"}, False, 20),
        ({"retry-after": "Thursday, 01-Jan-70 00:17:00 GMT"}, False, 20),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:00 GMT"}, False, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"},
         False, 30),
        ({"x-ratelimit-reset": "1030"}, True, 31),
        ({"x-ratelimit-reset": "1030"}, False, None),
        ({"x-ratelimit-reset": "1030", "x-ratelimit-remaining": "0"}, False, 31),
        ({"x-ratelimit-reset": "1030", "x-ratelimit-remaining": "5"}, False, None),
        ({"x-ratelimit-reset": "10"}, True, 11),
        ({"x-ratelimit-reset": "990"}, True, 0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "10"}, False, 11),
        ({"ratelimit": '"default";r=0;t=10'}, False, 11),
        ({"x-ratelimit-reset": "never"}, True, None),
        ({"retry-after": "3", "x-ratelimit-reset": "1030"}, True, 3),
    ],
)  # fmt: skip
def test_every_form_of_wait_is_parsed(headers, limited, wait):
    """Seconds, dates by the endpoint's clock, GitHub's reset time; others give None."""
    assert read_retry_after(headers, 1000.0, limited=limited) == wait


@given(st.dictionaries(st.sampled_from(["retry-after", "date", "x-ratelimit-reset"]), st.text()))
def test_arbitrary_headers_give_a_valid_wait(headers):
    """For headers of any text."""
    wait = read_retry_after(headers, 1000.0, limited=True)
    assert wait is None or wait >= 0
