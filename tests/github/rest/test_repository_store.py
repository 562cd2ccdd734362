"""Rows under many hands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.github.rest.repository_store import RepositoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.github.rest.conftest import Asking

MANY = 300


def test_no_write_is_lost() -> None:
    """Threads that create, star and delete leave exactly what they did."""
    store = RepositoryStore([])

    def work(hand: int) -> list[int]:
        made = [store.create("ada", f"{hand}-{it}", None).id for it in range(MANY)]
        for number in made:
            store.star(number, f"login-{hand}", starred=True)
        for number in made[::2]:
            store.delete(number)
        return made

    with ThreadPoolExecutor(8) as pool:
        made = [number for numbers in pool.map(work, range(8)) for number in numbers]
    assert sorted(made) == list(range(1, 8 * MANY + 1))
    left = store.list_rows()
    assert len(left) == len({row.key for row in left}) == 4 * MANY
    assert {row.stars for row in left} == {1}


def test_a_name_is_taken_once() -> None:
    """Of many who want one name at once, one gets it."""
    store = RepositoryStore([])

    def attempt(_: int) -> bool:
        try:
            store.create("ada", "wanted", None)
        except ValueError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(MANY))) == 1


def test_stars_of_many_are_all_counted(running: Callable[..., Asking]) -> None:
    """Over sockets too: each of two people stars once, however often both try at once."""
    first = running()
    people = [first.log_in(login).headers["Authorization"] for login in ("ada", "bob")]

    def star(attempt: int) -> int:
        headers = {"Authorization": people[attempt % 2]}
        return first.post("/repository/1/star", headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(star, range(40))) == {200}
    assert first.get("/repository/1").json()["stars"] == 102


class Model:
    """The same as a plain dict, the slow way."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[str, str, set[str]]] = {}
        self.last = 0

    def step(self, action: str, number: int, name: str, login: str) -> object:
        """Do one step; return the id of its row, or the name of what is to be raised."""
        if action == "create":
            if self.taken(login, name, None):
                return "ValueError"
            self.last += 1
            self.rows[self.last] = (login, name, set())
            return self.last
        if number not in self.rows:
            return "KeyError"
        owner, _, stars = self.rows[number]
        if action == "replace":
            if self.taken(owner, name, number):
                return "ValueError"
            self.rows[number] = (owner, name, stars)
        elif action == "delete":
            del self.rows[number]
        else:
            (stars.add if action == "star" else stars.discard)(login.lower())
        return number

    def taken(self, owner: str, name: str, besides: int | None) -> bool:
        """Tell whether another row has these names, in whatever case."""
        wanted = (owner.lower(), name.lower())
        return any(
            (one.lower(), other.lower()) == wanted and number != besides
            for number, (one, other, _) in self.rows.items()
        )

    def listing(self) -> list[tuple[int, int, str, str]]:
        """Return the rows in their order."""
        return sorted((-len(stars), at, *names) for at, (*names, stars) in self.rows.items())


def applied(store: RepositoryStore, action: str, number: int, name: str, login: str) -> object:
    """Do one step; return the id of its row, or the name of what was raised."""
    try:
        match action:
            case "create":
                row = store.create(login, name, None)
            case "replace":
                row = store.replace(number, name, None)
            case "delete":
                row = store.delete(number)
            case _:
                row = store.star(number, login, starred=action == "star")
    except (KeyError, ValueError) as error:
        return type(error).__name__
    return row.id


STEP = st.tuples(
    st.sampled_from(["create", "replace", "delete", "star", "unstar"]),
    st.integers(1, 8),
    st.sampled_from(["a", "B", "b", "c"]),
    st.sampled_from(["ada", "Bob"]),
)


@given(st.lists(STEP, max_size=30))
def test_the_store_does_what_a_plain_dict_does(steps: list[tuple[str, int, str, str]]) -> None:
    """Any sequence of writes gives the rows, the order and the refusals of a naive model."""
    store, model = RepositoryStore([]), Model()
    for step in steps:
        assert applied(store, *step) == model.step(*step)
    shown = [(-row.stars, row.id, row.login, row.name) for row in store.list_rows()]
    assert shown == model.listing()
    assert [store.get(row.id) for row in store.list_rows()] == list(store.list_rows())


def test_a_population_has_rows_as_the_snapshot_has() -> None:
    """A synthetic GitHub is served by its rows, in their order."""
    from gqlnb import github

    made = github.population(50, seed=3)
    store = RepositoryStore(made)
    assert [(row.id, f"{row.login}/{row.name}", row.stars) for row in store.list_rows()] == [
        (place + 1, made[place].full_name, made[place].stars) for place in range(50)
    ]
