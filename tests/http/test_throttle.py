"""How many requests may go at once, and when: the rules, on plain numbers."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.http.rate_limit_rules import (
    DEFAULT_LIMIT_WAIT,
    MAX_CONCURRENT,
    RECOVERY_ANSWERS,
    UNKNOWN_BUDGET,
    Budget,
    Throttle,
)

NOW = 1_800_000_000.0
OURS = {"x-github-request-id": "1:2"}


def at(seconds):
    """Return the moment so many seconds from now."""
    return datetime.fromtimestamp(NOW + seconds, UTC)


def flow(told=UNKNOWN_BUDGET, headers=None, **options):
    """Return a flow that has had one answer."""
    made = Throttle(**options)
    made.record_answer(told, headers or {}, NOW)
    made.record_success(NOW)
    return made


def test_late_responses_do_not_raise_the_budget():
    """The remaining points of a window only decrease."""
    made = flow(Budget(5000, 1, at(40)))
    made.record_answer(Budget(5000, 3, at(41)), {}, NOW)
    assert made.estimate_budget(NOW).remaining == 1
    made.record_answer(Budget(5000, 4999, at(3640)), {}, NOW + 45)
    made.record_answer(Budget(5000, 0, at(40)), {}, NOW + 45)  # late, of the window before
    assert made.estimate_budget(NOW + 45).remaining == 4999


def test_a_budget_without_any_points_causes_no_wait():
    """Waiting would not help."""
    assert flow(Budget(0, 0, at(40))).compute_delay(NOW) == 0


def test_a_bucket_refills_continuously():
    """Shopify's; here by half a point a second."""
    made = flow(Budget(1000, 0, None, 46, 0.5))
    assert made.compute_delay(NOW) == 2
    assert made.compute_delay(NOW + 2) == 0
    assert made.estimate_budget(NOW + 20).remaining == 10
    assert made.estimate_budget(NOW + 9999).remaining == 1000


def test_a_request_without_a_response_counts_as_charged():
    """GitHub counts points and time for unfinished requests."""
    made = flow(Budget(5000, 10, at(40)), OURS)
    made.record_loss(None, NOW)
    assert made.estimate_budget(NOW).remaining == 9
    made.start_request()
    assert made.compute_delay(NOW) is None
    nothing = flow()
    nothing.record_loss(None, NOW)
    assert (nothing.estimate_budget(NOW), nothing.compute_delay(NOW)) == (UNKNOWN_BUDGET, 0)


def test_an_overloaded_endpoint_pauses_all_requests():
    """After 503 with Retry-After, the former concurrency resumes."""
    made = flow()
    made.record_loss(20, NOW)
    assert (made.compute_delay(NOW), made.compute_delay(NOW + 20)) == (20, 0)
    assert (made.capacity, made.requested_until) == (MAX_CONCURRENT, 0)


def test_a_rate_limit_without_a_wait_pauses_for_a_growing_time():
    """At least a minute; eight threads that hit it together count once."""
    made = flow()
    for _ in range(8):
        made.record_limit(None, NOW)
    assert (made.compute_delay(NOW), made.requested_until) == (DEFAULT_LIMIT_WAIT, 0)
    made.record_limit(None, NOW + 60)
    assert made.compute_delay(NOW + 60) == 2 * DEFAULT_LIMIT_WAIT
    made.record_success(NOW + 90)  # it was on its way already
    made.record_limit(None, NOW + 180)
    assert made.compute_delay(NOW + 180) == 4 * DEFAULT_LIMIT_WAIT
    made.record_success(NOW + 420)
    made.record_limit(None, NOW + 500)
    assert made.compute_delay(NOW + 500) == DEFAULT_LIMIT_WAIT


def test_a_rate_limit_halves_the_concurrency():
    """Ten successful responses raise it by one."""
    made = flow(max_concurrent=8)
    made.record_limit(0, NOW)
    assert made.capacity == 4
    made.record_limit(0, NOW)
    assert made.capacity == 2
    for _ in range(10):
        made.record_limit(0, NOW)
    assert made.capacity == 1
    made = flow(max_concurrent=8)
    made.record_limit(0, NOW)
    for _ in range(RECOVERY_ANSWERS):
        assert made.capacity == 4
        made.record_success(NOW)
    assert made.capacity == 8
    assert made.is_unconstrained


ACTS = st.lists(
    st.tuples(st.sampled_from(["go", "back", "lost", "limit"]), st.floats(0, 5)), max_size=60
)


@given(ACTS, st.integers(1, 8), st.integers(1, 12))
def test_requests_never_exceed_the_points(acts, width, points):
    """For an endpoint that charges each request when it starts."""
    made, now = flow(Budget(points, points, at(1e6)), max_concurrent=width), NOW
    left, flying = points, 0
    for act, pause in acts:
        now += pause
        if act == "go" and made.compute_delay(now) == 0:
            assert left > 0
            assert flying < width
            made.start_request()
            left, flying = left - 1, flying + 1
        elif act in {"back", "lost"} and flying:
            flying -= 1
            if act == "back":
                made.record_answer(Budget(points, left, at(1e6)), {}, now)
                made.record_success(now)
            else:
                made.record_loss(None, now)
            made.finish_request()
        elif act == "limit":
            made.record_limit(pause, now)
    assert made.in_flight == flying
