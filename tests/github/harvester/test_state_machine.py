"""A sweep returns each repository once, reports gaps, and its state is plain JSON."""

import json
from collections import Counter
from random import Random

import msgspec
import pytest

from gqlnb import AnswerError, github
from gqlnb.github.harvester.query_range import Scope
from gqlnb.github.harvester.search_windows import (
    CompleteRead,
    Coverage,
    RepositoryRow,
    SearchPage,
    SearchRequest,
    SearchWindow,
)
from gqlnb.github.harvester.state_machine import Sweep
from gqlnb.github.harvester.sweep_state import CountCheck, ProvedSlice, RangeRepair, SweepState
from gqlnb.github.search_syntax import parse_expression
from gqlnb.github.standin.simulation import Simulation
from tests.github.harvester.populations import START, World, crowd, cursor, harvest, row_of, truth
from tests.github.harvester.search_simulator import Changes, SearchSimulator


@pytest.fixture(scope="module")
def population():
    """Return a population with many equal star counts, some of them zero."""
    return crowd(9_000, 3)


def complete(sweep, rows, wanted):
    """Assert that the rows are the expected ones, each once, and that the coverage says so."""
    assert Counter(row.id for row in rows) == Counter(wanted)
    coverage = sweep.build_coverage()
    assert coverage.complete
    assert coverage.got == len(wanted)
    assert coverage.bound == -(-len(wanted) // 100)


@pytest.mark.parametrize("query", [">=15", "0..20", "21", ">1000000", "language:go", ">300"])
def test_each_repository_is_returned_once(population, query):
    """For any range, also with more than 1,000 of equal stars."""
    sweep, world = Sweep(Scope.parse(query)), World(population)
    wanted = truth(population, Scope.parse(query).format_expression())
    complete(sweep, harvest(sweep, world), wanted)
    assert sweep.build_coverage().expected == len(wanted)
    assert sweep.build_coverage().requests == len(world.asked)
    assert len(world.asked) <= max(1, 1.07 * -(-len(wanted) // 100) + 4)


def test_a_thousand_results_take_one_search():
    """After one page another order is compared, after several pages up to three slices.

    A count of 1,000 may be capped, so another window follows, and one slice less.
    """
    for count, requests in ((0, 2), (1, 2), (100, 2), (101, 4), (199, 5), (999, 14), (1000, 13)):
        made = github.population(count or 1, 1)
        sweep = Sweep(Scope.parse(">0" if count else ">1000000000"))
        rows = harvest(sweep, World(made))
        assert (len(rows), sweep.build_coverage().requests) == (count, requests)


def test_high_thresholds_need_no_additional_page():
    """A few repositories with equal stars are excluded by name from the next search."""
    made = github.population(3_100)
    sweep, world = Sweep(Scope.parse(">=1")), World(made)
    complete(sweep, harvest(sweep, world), truth(made, ""))
    # The pages of a search overlap by one result, so there is a fourth one; then all are counted.
    assert sweep.build_coverage().requests == 33
    assert any(" -repo:" in ask.text for ask in world.asked)


def test_pages_are_requested_in_parallel_if_cursors_are_computable(population):
    """The first page gives the cursors of nine others; otherwise each search has one page."""
    for cursors, at_once in ((None, 9), (lambda place: f"x{place}", 1)):
        world = World(population) if cursors is None else World(population, cursors=cursors)
        sweep = Sweep(Scope.parse(">=15"))
        (ask,) = sweep.list_requests()
        assert (ask.start, ask.first, ask.after) == (0, 100, None)
        step = sweep.feed_page(ask, world(ask))
        assert len(step.asks) == len(sweep.list_requests()) == at_once
        rows = [*step.rows, *harvest(sweep, world)]
        complete(sweep, rows, truth(population, "stars:>=15"))


def test_the_order_of_answers_does_not_matter(population):
    """Any order gives the same rows and the same number of requests."""
    found = []
    for seed in (None, 1, 2):
        sweep = Sweep(Scope.parse(">=15"), width=4)
        chance = None if seed is None else Random(seed)
        rows = harvest(sweep, World(population), chance=chance)
        found.append((sorted(rows), sweep.build_coverage()))
    assert found[0] == found[1] == found[2]


def test_a_sweep_can_be_wide(population):
    """After the first window `width` searches run at once, for a few more pages."""
    narrow, wide = Sweep(Scope.parse(">=15")), Sweep(Scope.parse(">=15"), width=8)
    harvest(narrow, World(population))
    world, todo = World(population), [*wide.list_requests()]
    while len({ask.window for ask in todo}) < 8:
        ask = todo.pop(0)
        todo.extend(wide.feed_page(ask, world(ask)).asks)
    assert wide.build_coverage().requests == 10
    harvest(wide, world)
    fewest = narrow.build_coverage().requests
    assert wide.build_coverage().requests < fewest + 12


def test_all_slices_begin_before_one_continues(population):
    """So that their counts are of the same time, and few windows are open."""
    sweep, world = Sweep(Scope.parse(">=0")), World(population)
    todo, most = sweep.list_requests(), 0
    while todo:
        ask = todo.pop()
        todo.extend(reversed(sweep.feed_page(ask, world(ask)).asks))
        state = sweep.export_state()
        windows, checks = state["windows"], state["checks"]
        most = max(most, len(windows) + len(checks))
        for each in {str(ask.window) for ask in todo}:
            above = checks.get(str(windows[each]["parent"]), {"parent": 0})["parent"]
            assert not checks.get(str(above), {"waiting": 0})["waiting"]
    assert sweep.build_coverage().splits >= 3
    assert most <= 16


def test_a_sweep_continues_from_its_json_state():
    """Stopped after any answer, it ends the same."""
    population = crowd(3_000, 3)
    whole = Sweep(Scope.parse(">=15"))
    world = World(population, Simulation(dropped=0.002, ties=True))
    wanted = harvest(whole, world)
    sweep, rows = Sweep(Scope.parse(">=15")), []
    todo = [*sweep.list_requests()]
    while todo:
        ask = todo.pop(0)
        rows.extend(sweep.feed_page(ask, world(ask)).rows)
        sweep = Sweep.from_state(json.loads(json.dumps(sweep.export_state())))
        todo = sweep.list_requests()
    assert sorted(rows) == sorted(wanted)
    assert sweep.build_coverage() == whole.build_coverage()
    made = msgspec.to_builtins(sweep.build_coverage())
    assert msgspec.convert(made, Coverage) == sweep.build_coverage()


def test_a_log_of_answers_gives_the_same_steps(population):
    """An answer that came before is ignored."""
    one, log = Sweep(Scope.parse(">=40")), []
    world = World(population)
    todo = one.list_requests()
    while todo:
        ask = todo.pop()
        page = world(ask)
        step = one.feed_page(ask, page)
        log.append((ask, page, step))
        todo.extend(step.asks)
        assert one.feed_page(ask, page) == ((), (), ())
    other = Sweep(Scope.parse(">=40"))
    for ask, page, step in log:
        again = msgspec.json.decode(
            msgspec.json.encode((ask, page)), type=tuple[SearchRequest, SearchPage]
        )
        assert other.feed_page(*again) == step
    assert other.export_state() == one.export_state()


# -- faults


EVERY = {"ties": True, "dropped": 0.001, "duplicated": 0.001}


@pytest.mark.parametrize("seed", range(4))
def test_dropped_results_are_found(population, seed):
    """Dropped and repeated results, in another order for each search."""
    sweep = Sweep(Scope.parse(">=15"))
    world = World(population, Simulation(seed=seed, **EVERY))
    complete(sweep, harvest(sweep, world), truth(population, "stars:>=15"))
    assert sweep.build_coverage().repairs > 0


def test_one_dropped_result_in_a_hundred_is_repaired():
    """It costs many requests, but no rows."""
    population = crowd(5_000, 7)
    sweep = Sweep(Scope.parse(">=15"))
    world = World(population, Simulation(ties=True, dropped=0.005, duplicated=0.005))
    complete(sweep, harvest(sweep, world), truth(population, "stars:>=15"))


@pytest.mark.parametrize("seed", range(4))
def test_one_dropped_result_in_fifty_is_reported(seed):
    """A range that repeated searches cannot repair is a gap, and never complete."""
    population = crowd(3_000, seed)
    sweep = Sweep(Scope.parse(">=15"))
    world = World(population, Simulation(seed=seed, ties=True, dropped=0.01, duplicated=0.01))
    came = [row.id for row in harvest(sweep, world)]
    wanted, coverage = truth(population, "stars:>=15"), sweep.build_coverage()
    assert len(came) == len(set(came))
    assert set(came) <= set(wanted)
    assert coverage.complete == (not coverage.gaps)
    if set(came) != set(wanted):
        assert coverage.gaps
    for gap in coverage.gaps:
        assert gap.why
        assert gap.text


class Moving:
    """A world where one repository gets a star at a chosen moment.

    Parameters
    ----------
    population
        What there is.
    when
        Tells of a request, with the rows shown so far, which repository rises before its answer.
    """

    def __init__(self, population, when):
        self.rows = [row_of(population[place]) for place in range(len(population))]
        self.when, self.shown, self.risen = when, set(), None

    def __call__(self, ask):
        """Return a page with the present stars."""
        if self.risen is None:
            self.risen = self.when(ask, self)
            self.rows = [
                row._replace(stars=row.stars + 1) if row.id == self.risen else row
                for row in self.rows
            ]
        read = parse_expression(ask.text)
        found = [row for row in self.rows if all(_holds(clause, row) for clause in read.clauses)]
        found.sort(key=lambda row: (-row.stars if read.descending else row.stars, row.id))
        rows = tuple(found[ask.start : ask.start + ask.first])
        self.shown |= {row.id for row in rows}
        stop = ask.start + len(rows)
        return SearchPage(len(found), rows, stop < len(found), cursor(stop))


def _holds(clause, row):
    test = clause.tests[0]
    if clause.negated:
        return row.id.lower() != test.text
    value = getattr(row, test.column)
    return value >= (test.low or 0) and (test.high is None or value <= test.high)


def test_a_repository_that_moves_across_a_window_border_is_found():
    """It is in neither window: the counts differ, and its new range is searched."""
    population = crowd(2_500, 4, top=300_000)

    def when(ask, world):
        if ask.window == 1:
            return None
        hidden = [row for row in world.rows if row.id not in world.shown]
        return max(hidden, key=lambda row: row.stars).id

    world, sweep = Moving(population, when), Sweep(Scope.parse(">=1"))
    rows = harvest(sweep, world)
    assert world.risen in {row.id for row in rows}
    complete(sweep, rows, truth(population, ""))
    assert sweep.build_coverage().requests <= 60


def test_a_repository_that_moves_above_its_window_is_found():
    """It leaves the range while its pages come."""
    population = crowd(2_500, 4, top=30)

    def when(ask, world):
        if ask.window == 1 or not ask.start:
            return None
        clauses = parse_expression(ask.text).clauses
        high = clauses[0].tests[0].high
        hidden = [row for row in world.rows if row.stars == high and row.id not in world.shown]
        return next((row.id for row in hidden if all(_holds(c, row) for c in clauses)), None)

    world, sweep = Moving(population, when), Sweep(Scope.parse(">=1"))
    rows = harvest(sweep, world)
    assert world.risen in {row.id for row in rows}
    complete(sweep, rows, truth(population, "stars:>=1"))


@pytest.mark.parametrize("seed", range(3))
def test_star_counts_may_change_during_a_harvest(seed):
    """Repositories that always match are returned once; those that never match are not."""
    population = crowd(4_000, seed)
    world = World(population, Simulation(seed=seed, drift=1, **EVERY))
    sweep = Sweep(Scope.parse(">=20"))
    ids = Counter(row.id for row in harvest(sweep, world))
    before, after = truth(population, "stars:>=20"), truth(world.faults.population, "stars:>=20")
    assert before & after <= ids.keys() <= before | after
    assert set(ids.values()) == {1}


def test_counts_that_agree_by_chance_do_not_hide_a_gap():
    """One is missing above a window border and one below it."""
    population = crowd(2_500, 4, top=30)
    world, shown = World(population), []

    def forgetful(ask):
        page = world(ask)
        if "sort:updated" in ask.text:  # not before the searches of short pages are over
            return page
        if ask.window == 1:
            shown.extend(row.id for row in page.rows)
        hidden = shown[400:401] if ask.window == 1 else [shown[400], shown[-1]]
        rows = tuple(None if row.id in hidden else row for row in page.rows)
        return msgspec.structs.replace(page, rows=rows)

    sweep = Sweep(Scope.parse(">=1"))
    todo, rows = sweep.list_requests(), []
    while todo:  # oldest first: the window above has done what it can when the one below has
        ask = todo.pop(0)
        step = sweep.feed_page(ask, forgetful(ask))
        rows.extend(step.rows)
        todo.extend(step.asks)
    complete(sweep, rows, truth(population, "stars:>=1"))


def test_pages_that_are_too_large_are_split(population):
    """Pages shrink until they are answered, and stay small."""
    sweep = Sweep(Scope.parse(">=40"))
    world = World(population, Simulation(resources=30))
    complete(sweep, harvest(sweep, world), truth(population, "stars:>=40"))
    sizes = Counter(ask.first for ask in world.asked)
    assert sizes[25] > 0.6 * len(world.asked)
    assert sizes[12] == 0


def test_pages_grow_again(population):
    """After some successful answers."""
    sweep, world = Sweep(Scope.parse(">=15")), World(population)
    (ask,) = sweep.list_requests()
    sweep.feed_page(ask, SearchPage(0, (), heavy=True))
    complete(sweep, harvest(sweep, world), truth(population, "stars:>=15"))
    assert {ask.first for ask in world.asked} == {50, 100}


def test_more_than_a_thousand_of_one_second_are_reported():
    """The gap has the range and the reason."""
    population = crowd(1_800, 1, top=0, moments=[START])
    sweep = Sweep(Scope.parse(">=0"))
    rows = harvest(sweep, World(population))
    (gap,) = sweep.build_coverage().gaps
    assert gap.expected == 1_800
    assert gap.got == len(rows) == len({row.id for row in rows}) == sweep.build_coverage().got
    assert 1_000 <= gap.got < 1_800
    assert "2010-01-01T00:00:00Z..2010-01-01T00:00:00Z" in gap.text
    assert "one second" in gap.why
    assert not sweep.build_coverage().complete
    assert sweep.build_coverage().requests < 150


def test_a_second_with_many_repositories_is_isolated():
    """In few requests, for any position in the time range."""
    moments = [START] * 5 + [START + 1] * 4 + [START + 2] + [START + 400_000_000] * 3
    population = crowd(5_000, 2, top=20, moments=[*moments, *range(START, START + 10)])
    sweep = Sweep(Scope.parse(">=0"))
    complete(sweep, harvest(sweep, World(population)), truth(population, ""))
    assert sweep.build_coverage().requests < 2 * 50


def test_counts_that_are_too_high_are_reported(population):
    """The range is searched again, then reported; no rows are lost."""
    world = World(population)

    def lying(ask):
        page = world(ask)
        return msgspec.structs.replace(page, total=page.total + 7)

    sweep = Sweep(Scope.parse("40..60"))
    rows = harvest(sweep, lying)
    assert {row.id for row in rows} == truth(population, "stars:40..60")
    assert sweep.build_coverage().gaps
    assert sweep.build_coverage().expected == len(rows) + 7


def test_rounded_counts_are_not_a_gap(population):
    """Rounded counts above a thousand cost requests, but no rows."""
    world = World(population)

    def rounded(ask):
        page = world(ask)
        total = page.total if page.total <= 1000 else page.total // 100 * 100 + 50
        return msgspec.structs.replace(page, total=total)

    sweep = Sweep(Scope.parse(">=15"))
    complete(sweep, harvest(sweep, rounded), truth(population, "stars:>=15"))
    assert sweep.build_coverage().splits > 0


def test_nulls_are_searched_again(population):
    """A null in one search is filled by another, or reported."""
    world, chance = World(population), Random(5)

    def holed(ask):
        page = world(ask)
        rows = tuple(None if chance.random() < 0.01 else row for row in page.rows)
        return msgspec.structs.replace(page, rows=rows)

    sweep = Sweep(Scope.parse(">=40"))
    rows = harvest(sweep, holed)
    assert {row.id for row in rows} == truth(population, "stars:>=40")

    hidden = {row.id for row in rows[:3]}

    def secret(ask):
        page = world(ask)
        rows = tuple(None if row.id in hidden else row for row in page.rows)
        return msgspec.structs.replace(page, rows=rows)

    sweep = Sweep(Scope.parse(">=40"))
    found = {row.id for row in harvest(sweep, secret)}
    assert found == truth(population, "stars:>=40") - hidden
    assert sum(gap.expected - gap.got for gap in sweep.build_coverage().gaps) == 3


def test_searches_without_results_terminate(population):
    """An endpoint that counts but returns no results is retried, then reported."""
    sweep = Sweep(Scope.parse(">=40"))
    assert harvest(sweep, lambda _: SearchPage(5_000, ()), most=200) == []
    (gap,) = sweep.build_coverage().gaps
    assert (gap.expected, gap.got) == (5_000, 0)


@pytest.mark.parametrize("word", ["stars", "created"])
def test_an_endpoint_that_ignores_the_search_raises(word):
    """The sweep would not end."""
    population = crowd(5_000, 1, top=0 if word == "created" else 300)
    items = [row_of(population[place]) for place in range(1000)]

    def deaf(ask):
        return SearchPage(5_000, tuple(items[ask.start : ask.start + ask.first]), more=True)

    with pytest.raises(AnswerError, match="ignores"):
        harvest(Sweep(Scope.parse("0..0" if word == "created" else ">=0")), deaf, most=500)


def test_without_creation_times_the_time_range_is_halved(population):
    """An endpoint that does not return creation times can still be searched by them."""
    world = World(population)

    def timeless(ask):
        page = world(ask)
        rows = tuple(row._replace(created=None) for row in page.rows)
        return msgspec.structs.replace(page, rows=rows)

    sweep = Sweep(Scope.parse(">=15"))
    complete(sweep, harvest(sweep, timeless), truth(population, "stars:>=15"))


def test_stars_of_an_old_index_are_not_a_gap(population):
    """Results may have more stars than the search index: ids are compared, not stars."""
    world = World(population)
    grown = {row.full_name: row.stars + 3 for row in map(population.__getitem__, range(0, 9000, 9))}

    def fresh(ask):
        page = world(ask)
        rows = tuple(row._replace(stars=grown.get(row.id, row.stars)) for row in page.rows)
        return msgspec.structs.replace(page, rows=rows)

    sweep = Sweep(Scope.parse(">=15"))
    complete(sweep, harvest(sweep, fresh), truth(population, "stars:>=15"))


def test_the_embedded_snapshot_is_harvested_completely():
    """All rows of the demo are returned, including those without stars."""
    from gqlnb.github.standin.github_schema import load_snapshot_population

    sweep = Sweep(Scope.parse(">=0"))
    complete(
        sweep,
        harvest(sweep, World(load_snapshot_population())),
        truth(load_snapshot_population(), ""),
    )
    assert len(load_snapshot_population()) == 3_449


def read_window(counts, ids):
    """Return a closed window of two pages that share four places."""
    window = SearchWindow(1, Scope("", 1, 10), closed=True)
    first = window.build_first_request(100)
    shown = [tuple(RepositoryRow(f"{place}", 5) for place in each) for each in ids]
    (second,) = window.add_page(first, SearchPage(counts[0], shown[0], end=cursor(100)))
    assert second.start == 96
    window.add_page(second, SearchPage(counts[1], shown[1]))
    return window.assess()


def test_a_window_with_as_many_results_as_counted_is_complete():
    """Each position has a different repository."""
    assert read_window((150, 150), (range(100), range(96, 150))).proved


def test_a_repository_that_leaves_between_pages_shows_the_next_one():
    """All later ones move up by one, into the places that both pages show."""
    verdict = read_window((150, 149), (range(100), range(97, 150)))
    assert (verdict.proved, verdict.pulls, verdict.pushes) == (True, 1, 0)


def test_a_fall_without_a_shift_may_hide_a_skipped_repository():
    """One rose past the border, while one above it left."""
    verdict = read_window((150, 149), (range(100), range(96, 149)))
    assert not verdict.proved
    assert verdict.ranges == ()


def test_a_repository_that_moves_to_a_page_still_to_come_is_not_skipped():
    """The results below it move up, and it comes again later."""
    moved = [*range(97, 140), 20, *range(140, 150)]
    verdict = read_window((150, 150), (range(100), moved))
    assert (verdict.proved, verdict.pulls) == (True, 1)


def test_a_repeated_result_reveals_a_skipped_repository():
    """The skipped one has about as many stars."""
    verdict = read_window((150, 150), (range(100), [*range(95, 99), 99, *range(100, 149)]))
    assert verdict[:4] == (False, 1, (Scope("", 5, 5),), False)
    assert (verdict.pulls, verdict.pushes) == (0, 1)


def test_a_new_repository_may_explain_a_repeated_result():
    """Then another count decides, before the place is searched again."""
    verdict = read_window((150, 151), (range(100), [*range(95, 99), 99, *range(100, 150)]))
    assert verdict.missing == 1
    assert verdict.has_arrivals


@pytest.mark.parametrize(
    ("counts", "ids"),
    [
        ((150, 150), (range(100), range(96, 149))),  # one is left out
        ((150, 150), (range(100), range(100, 154))),  # four or more left
        ((150, 140), (range(100), range(96, 140))),  # the count falls
        ((150, 149), (range(100), range(96, 150))),  # more than are counted
    ],
)
def test_other_windows_are_searched_again_completely(counts, ids):
    """The positions of skipped repositories are unknown."""
    verdict = read_window(counts, ids)
    assert not verdict.proved
    assert verdict.ranges == () or counts[0] == counts[1]


@pytest.mark.parametrize(("stars", "again"), [(9, True), (10, False)])
def test_a_repair_counts_rows_of_its_own_range(stars, again):
    """It searches a wider one, and a neighbour of the range is not the row that is missing."""
    window = SearchWindow(2, Scope("", 9, 21), parent=1, closed=True, recent={"a": None}, tries=1)
    ask = window.build_first_request(100)
    repair = RangeRepair(1, Scope("", 10, 20), 0, {"a": None}, {}, missing=1, open=1)
    state = SweepState(
        Scope("", 0), number=2, windows={2: window}, repairs={1: repair}, moving=True
    )
    sweep = Sweep(state.scope, state=state)
    step = sweep.feed_page(ask, SearchPage(2, (RepositoryRow("a", 15), RepositoryRow("b", stars))))
    assert [row.id for row in step.rows] == ["b"]
    texts = [ask.text for ask in sweep.list_requests()]
    halves = [" created:" in text for text in texts]
    assert halves == ([True, True] if again else [False])


def repair_a_row(total):
    """Return a sweep that found as many rows as a range lacked, after a new count of the range."""
    window = SearchWindow(2, Scope("", 9, 21), parent=1, closed=True, recent={"a": None}, tries=1)
    ask = window.build_first_request(100)
    repair = RangeRepair(1, Scope("", 10, 20), 0, {"a": None}, {}, missing=1, open=1)
    state = SweepState(
        Scope("", 0), number=2, windows={2: window}, repairs={1: repair}, moving=True
    )
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(ask, SearchPage(2, (RepositoryRow("a", 15), RepositoryRow("new", 15))))
    (count,) = sweep.list_requests()
    assert count.text == "stars:10..20 sort:stars-asc"
    sweep.feed_page(count, SearchPage(total, (RepositoryRow("a", 15),)))
    return sweep


def test_a_new_row_does_not_stand_for_the_one_that_was_skipped():
    """The range counts more rows than came of it, so it is read again."""
    assert [ask.first for ask in repair_a_row(3).list_requests()] == [100, 100]
    counts = repair_a_row(2).list_requests()  # all are counted at the end
    assert {(ask.first, ask.text) for ask in counts} == {
        (1, "stars:>=0 sort:stars-asc"),
        (100, "stars:>=0 sort:updated-desc"),
    }


@pytest.mark.parametrize("offset", [0, 1])
def test_a_first_page_may_hold_all_that_is_counted_and_be_followed(offset):
    """A count of 100 may be capped, and a smaller one rounded."""
    window = SearchWindow(1, Scope("", 0))
    rows = tuple(RepositoryRow(f"r{number}", 5) for number in range(100))
    page = SearchPage(100 - offset, rows, more=True, end=cursor(100))
    (ask,) = window.add_page(window.build_first_request(100), page)
    assert (ask.start, ask.after) == (100, cursor(100))
    ended = SearchWindow(1, Scope("", 0))
    page = SearchPage(100 - offset, rows, more=False, end=cursor(100))
    assert not ended.add_page(ended.build_first_request(100), page)


@pytest.mark.parametrize(
    ("reads", "proved"),
    [
        (["abd", "bc", "bcd"], False),  # "a" may have left after the first search
        (["abd", "abc", "acd"], True),  # each left out another one of the same four
        (["abd", "acd"], False),  # one of them may have replaced another
        (["abcd", "abcd"], False),
        (["bcd", "bcd", "bcd"], False),
        (["abde", "abc", "acde"], False),  # more than are counted
    ],
)
def test_searches_of_the_same_range_prove_it_together(reads, proved):
    """As many repositories as counted came both before and after a search of it, or in it."""
    *earlier, last = [CompleteRead(4, tuple(ids)) for ids in reads]
    window = SearchWindow(1, Scope("", 0), closed=True, reads=earlier)
    window.add_page(
        window.build_first_request(100),
        SearchPage(4, tuple(RepositoryRow(key, 1) for key in last.ids)),
    )
    assert window.is_proved_by_repetition() is proved
    window.reads = [CompleteRead(5, earlier[0].ids), *earlier[1:]]
    assert not window.is_proved_by_repetition()


# -- changing data, step by step


DAY = 86_400


def slice_of(day, low=0, high=None):
    """Return the repositories of one day."""
    return Scope("", low, high, day * DAY, (day + 1) * DAY - 1)


def rows_of(day, numbers, stars=5):
    """Return repositories created in the course of a day, some seconds apart."""
    return tuple(
        RepositoryRow(f"{day}/{number}", stars, day * DAY + 100 * number) for number in numbers
    )


def proved_slice(day, pages=1):
    """Return a proved range of one row."""
    return ProvedSlice(slice_of(day), 1, {f"{day}/0": day * DAY}, pages)


def finish_last_window(**about):
    """Return a sweep in closed windows with some state, after its last open window is proved."""
    window = SearchWindow(1, slice_of(9), closed=True)
    state = SweepState(Scope("", 0), number=1, windows={1: window}, moving=True, **about)
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(window.build_first_request(100), SearchPage(1, rows_of(9, [0])))
    return sweep


def list_texts(sweep):
    """Return the range of each open request, without its order, and the number of rows."""
    return sorted((ask.text.partition(" sort:")[0], ask.first) for ask in sweep.list_requests())


def describe_search(part):
    """Return the request that reads a slice again, as `list_texts` gives it."""
    return part.scope.format_expression().partition(" sort:")[0], 100


COUNTS = [("stars:>=0", 1), ("stars:>=0", 100)]  # all are counted in two orders


@pytest.mark.parametrize("is_large", [False, True])
def test_the_last_count_finds_a_repository_that_moved_from_search_to_search(is_large):
    """The repositories that changed last come with it, unless the ids of all are too many."""
    sweep = finish_last_window(got=5, has_forgotten_ids=is_large)
    counts = {ask.text.partition(" sort:")[2]: ask for ask in sweep.list_requests()}
    assert [counts[order].first for order in ("stars-asc", "updated-desc")] == (
        [1, 1] if is_large else [1, 100]
    )
    rows = (*rows_of(9, [0]), *rows_of(1, [7]))  # the first one is of the window
    step = sweep.feed_page(
        counts["updated-desc"], SearchPage(7, rows[: counts["updated-desc"].first])
    )
    assert [row.id for row in step.rows] == ([] if is_large else ["1/7"])
    assert sweep.feed_page(counts["stars-asc"], SearchPage(7, rows[:1])).rows == ()
    assert (sweep.got, sweep.build_coverage().recovered) == ((6, ()) if is_large else (7, ("1/7",)))


@pytest.mark.parametrize(
    ("about", "is_gap"),
    [
        ({"expected": 11_000, "counted": 11_006, "got": 10_899}, True),
        ({"expected": 18_400, "counted": 18_420, "got": 18_405}, False),  # some came meanwhile
        ({"expected": 500, "counted": 511, "got": 500}, False),
        ({"expected": 500, "counted": 500, "got": 489}, True),
    ],
)
def test_counts_that_arrivals_cannot_explain_are_a_gap(about, is_gap):
    """More rows are missing than the count has grown, and than a thousandth of all."""
    state = SweepState(Scope("", 0), changed=True, **about)
    state.compare_with_count(is_last=False)
    assert bool(state.gaps) is is_gap
    assert state.build_coverage().complete is not is_gap


@pytest.mark.parametrize("changed", [False, True])
def test_ranges_of_stars_of_one_second_prove_nothing_while_stars_change(changed):
    """A repository leaves one of them, and enters another one that was read before."""
    state = SweepState(
        Scope("", 0), expected=1500, got=1500, has_split_second=True, changed=changed
    )
    coverage = state.build_coverage()
    assert coverage.complete is not changed
    assert any("same second" in gap.why for gap in coverage.gaps) is changed


def test_rows_that_fell_below_an_unverified_range_are_forgotten():
    """A new one that came into the range would otherwise be taken for them."""
    rows = {row.id: row for row in (*rows_of(1, [0], 20), *rows_of(1, [1], 49), *rows_of(1, [2]))}
    known = {key: row.created for key, row in rows.items()}
    state = SweepState(Scope("", 0), unverified=[Scope("", 50)], unverified_rows=dict(known))
    state.forget_fallen({key: row for key, row in rows.items() if key != "1/2"})
    assert state.unverified_rows.keys() == {"1/1", "1/2"}  # ranges are read with a margin


def test_a_row_that_fell_does_not_stand_for_one_that_rose():
    """The range counts as many as before, and shows another one behind its first page."""
    about = {"unverified": [Scope("", 50)], "unverified_rows": {"9/0": 9 * DAY}}
    sweep = finish_last_window(**about)  # it shows 9/0 with five stars
    (ask,) = sweep.list_requests()
    sweep.feed_page(ask, SearchPage(1, ()))
    assert sweep.is_moving
    assert [again.first for again in sweep.list_requests()] == [100]


@pytest.mark.parametrize("mismatches", [0, 1, 2])
def test_agreement_is_doubted_where_many_ranges_disagreed(mismatches):
    """The others may have agreed by chance, so they are searched, too."""
    verified = [proved_slice(day) for day in range(1, 8)]
    sweep = finish_last_window(verified=verified, mismatches=mismatches)
    again = sorted(describe_search(part) for part in verified)
    assert list_texts(sweep) == (again if mismatches == 2 else COUNTS)


@pytest.mark.parametrize(
    ("about", "pages", "days"),
    [
        ({"pulls": 3, "pushes": 3, "intervals": 8}, 60, [2]),
        ({"pulls": 3, "pushes": 3, "intervals": 9}, 60, []),
        ({"pulls": 1, "intervals": 9}, 2, [2]),
        ({"pulls": 1, "intervals": 9, "is_repeated": True}, 2, []),
        ({"pushes": 9, "intervals": 9}, 2, []),
        ({"has_mismatches": True}, 2, [2]),
        ({"has_mismatches": True}, 60, []),
        ({"twice": True}, 60, [1, 2, 9]),
        ({"twice": True, "is_repeated": True}, 60, []),
    ],
)
def test_slices_whose_changes_may_have_hidden_each_other_are_read_again(about, pages, days):
    """Those of several pages, if changes are frequent, or if it costs little; all if asked for."""
    slices = {1: proved_slice(1), 2: proved_slice(2, pages=pages)}
    sweep = finish_last_window(slices=[*slices.values()], **about)
    slices[9] = proved_slice(9)  # of the last window
    again = [describe_search(slices[day]) for day in days]
    assert list_texts(sweep) == (again or COUNTS)


@pytest.mark.parametrize("most", [100_000, 100])
def test_everything_is_read_a_second_time_if_asked_for(most, monkeypatch):
    """In slices of creation time, after all was proved; each repository is counted once."""
    monkeypatch.setattr("gqlnb.github.harvester.sweep_state.MAX_KNOWN_ROWS", most)
    monkeypatch.setattr("gqlnb.github.harvester.state_machine.MAX_KEPT_CHECKS", most // 100)
    simulator = SearchSimulator(4_000, 20, Changes(), seed=1)
    found, requests = [], []
    for twice in (False, True):
        sweep = Sweep(Scope.parse(">=20"), twice=twice)
        todo, ids = sweep.list_requests(), set()
        while todo:
            requests.append(todo.pop())
            step = sweep.feed_page(requests[-1], simulator(requests[-1]))
            ids.update(row.id for row in step.rows)
            todo.extend(step.asks)
        found.append((ids, sweep.build_coverage()))
    (ids, once), (same, coverage) = found
    assert ids == same == simulator.required
    assert once.complete
    assert coverage.complete
    assert once.got == coverage.got == len(ids)
    again = requests[once.requests + once.requests :]
    assert {ask.text for ask in again if " created:" in ask.text}
    assert coverage.requests >= 2 * once.requests


@pytest.mark.parametrize("is_frequent", [False, True])
def test_windows_are_divided_into_pages_where_changes_are_frequent(is_frequent):
    """One answer is of one moment; a window of several pages proves nothing then."""
    window = SearchWindow(1, slice_of(1), closed=True, order="stars-asc")
    state = SweepState(Scope("", 0), number=1, windows={1: window}, moving=True, expected=8_000)
    state.pulls = state.pushes = 9 if is_frequent else 0
    first = window.build_first_request(100)
    (second,) = window.add_page(first, SearchPage(150, rows_of(1, range(100)), True, cursor(100)))
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(second, SearchPage(150, rows_of(1, range(second.start, 150))))
    asks = sweep.list_requests()
    if not is_frequent:
        assert list_texts(sweep) == COUNTS
        return
    assert len(asks) == 2
    assert all(" created:" in ask.text and ask.first == 100 for ask in asks)


@pytest.mark.parametrize("opaque", [False, True])
def test_pages_of_one_second_that_cannot_overlap_prove_nothing(opaque):
    """What moves from one to another may be in none; they are requested in another order."""
    second = Scope("", 0, None, DAY, DAY)
    window = SearchWindow(1, second, closed=True)
    state = SweepState(Scope("", 0), number=1, windows={1: window}, moving=True, expected=8_000)
    sweep = Sweep(state.scope, state=state)
    rows = tuple(RepositoryRow(f"{number}", 5, DAY) for number in range(150))
    end = "Y3Vyc29y?" if opaque else cursor(100)
    sweep.feed_page(window.build_first_request(100), SearchPage(150, rows[:100], True, end))
    (ask,) = sweep.list_requests()
    sweep.feed_page(ask, SearchPage(150, rows[ask.start :]))
    assert (list_texts(sweep) == COUNTS) is not opaque
    if opaque:
        assert {ask.text for ask in sweep.list_requests()} == {
            second.format_expression("updated-desc")
        }


def test_a_range_that_disagrees_is_read_in_another_order():
    """The same text may show the same wrong answer again."""
    window = SearchWindow(
        1,
        slice_of(1),
        order="stars-asc",
        closed=True,
        comparison="known",
        reads=[CompleteRead(-1, ("1/0",))],
    )
    ask = window.build_first_request(100)
    state = SweepState(Scope("", 0), number=1, windows={1: window}, moving=True)
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(ask, SearchPage(3, rows_of(1, [0, 1])))
    (again,) = sweep.list_requests()
    assert again.text == slice_of(1).format_expression("stars-desc")


@pytest.mark.parametrize("has_forgotten", [False, True])
def test_rows_of_chains_are_compared_unless_they_are_too_many_to_keep(has_forgotten):
    """Otherwise only the number of all rows can be compared with the count."""
    known = {f"1/{number}": DAY + number for number in range(3)}
    check = CountCheck(1, Scope("", 10), 0, 3, known, {})
    window = SearchWindow(2, Scope("", 0, 9))
    state = SweepState(Scope("", 0), number=2, windows={2: window}, proved=[check], expected=5)
    state.got, state.begun, state.requests = 4, 1, 1  # one of these is not kept
    state.has_forgotten = has_forgotten
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(window.build_first_request(100), SearchPage(1, rows_of(2, [0])))
    firsts = {ask.first for ask in sweep.list_requests()}
    assert firsts == ({1} if has_forgotten else {100})


@pytest.mark.parametrize("total", [3, 2])
def test_counts_below_their_own_rows_verify_nothing(total):
    """What chains have read is read again at once then, not compared later."""
    known = {f"1/{number}": DAY + number for number in range(3)}
    check = CountCheck(1, Scope("", 10), 0, total, known, {})
    window = SearchWindow(2, Scope("", 0, 9))
    state = SweepState(Scope("", 0), number=2, windows={2: window}, proved=[check], expected=5)
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(window.build_first_request(100), SearchPage(2, rows_of(2, [0])))  # one too few
    assert sweep.is_moving
    assert list_texts(sweep) == [("stars:0..10" if total == 3 else "stars:>=0", 100)]


@pytest.mark.parametrize(
    ("order", "other"), [("stars-asc", "stars-desc"), ("stars-desc", "updated-desc")]
)
def test_a_slice_is_counted_in_another_order_than_the_one_that_proved_it(order, other):
    """An answer that is cut by its text is cut in the same way again."""
    part = ProvedSlice(slice_of(1), 1, {"1/0": DAY}, 1, order)
    sweep = finish_last_window(slices=[part], got=1)
    for ask in sweep.list_requests():
        sweep.feed_page(ask, SearchPage(9, ()))
    texts = [ask.text for ask in sweep.list_requests()]
    assert slice_of(1).format_expression(other) in texts
    assert slice_of(9).format_expression("updated-desc") in texts  # read in the default order


@pytest.mark.parametrize("total", [1, 2, 3])
def test_a_page_that_shows_a_result_twice_proves_nothing(total):
    """It stands in the place of another one, however many are counted."""
    rows = tuple(RepositoryRow(key, 5) for key in "abb")
    window = SearchWindow(1, Scope("", 1, 10), closed=True)
    window.add_page(window.build_first_request(100), SearchPage(total, rows))
    assert not window.assess().proved


@pytest.mark.parametrize(("total", "is_cut"), [(60, False), (57, False), (20, True)])
def test_a_range_that_counts_far_fewer_when_searched_again_was_cut(total, is_cut):
    """Few repositories leave a slice of creation time meanwhile."""
    window = SearchWindow(
        1, slice_of(1), closed=True, comparison="known", reads=[CompleteRead(-1, ("1/0",))]
    )
    ask = window.build_first_request(100)
    state = SweepState(Scope("", 0), number=1, windows={1: window}, moving=True)
    sweep = Sweep(state.scope, state=state)
    sweep.feed_page(ask, SearchPage(60, rows_of(1, range(20))))
    (again,) = sweep.list_requests()
    sweep.feed_page(again, SearchPage(total, rows_of(1, range(total))))
    assert sweep.export_state()["has_cut_answers"] is is_cut
