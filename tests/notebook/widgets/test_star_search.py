"""The kernel's side of the star search: the real widget, the real stand-in, a comm that listens."""

from __future__ import annotations

import json
from itertools import product
from threading import Condition, Event, Thread
from threading import enumerate as threads
from typing import Any

import comm
import numpy as np
import pytest
from comm.base_comm import BaseComm
from pandas.testing import assert_frame_equal

from gqlnb import Client, GqlnbError, QueryError, Schema, Token, github, stars
from gqlnb.notebook.widgets import star_search
from gqlnb.notebook.widgets.star_search import StarSearch, find_site

VIEW = "application/vnd.jupyter.widget-view+json"
SECONDS = 20
SDL = """
type Query { search(query: String!, type: Kind!, first: Int!, after: String): Hits! }
enum Kind { REPOSITORY }
type Hits { repositoryCount: Int! pageInfo: Info! edges: [Edge!]! }
type Info { hasNextPage: Boolean! endCursor: String }
type Edge { node: Repository }
type Repository { name: String! owner: Owner! stargazers: Stars }
type Owner { login: String! }
type Stars { totalCount: Int! }
"""


class Front(BaseComm):
    """A stand-in for the front end that records messages and sends them."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.messages: list[dict[str, Any]] = []
        self._news = Condition()
        self._asked = 0
        super().__init__(*args, **options)

    def publish_msg(
        self,
        msg_type: str,
        data: Any = None,
        metadata: Any = None,
        buffers: Any = None,
        **keys: Any,
    ) -> None:
        """Keep a message, as the JSON that would travel."""
        with self._news:
            self.messages.append(json.loads(json.dumps(data or {}, allow_nan=False)))
            self._news.notify_all()

    def say(self, **content: Any) -> None:
        """Send a custom message of the view to the widget."""
        data = {"method": "custom", "content": content}
        self.handle_msg({"content": {"data": data}, "buffers": []})

    def ask(self, **content: Any) -> dict[str, Any]:
        """Ask something of the kernel, and wait for the answer."""
        self._asked += 1
        ident = f"view-{self._asked}"
        self.say(id=ident, **content)
        return self.wait_for(id=ident)

    def rows(self, **query: Any) -> list[tuple[Any, ...]]:
        """Return the rows that the grid shows of the last result, without its index."""
        window = {"start": 0, "end": 200, "from": 1, "to": 4}
        answer = self.ask(kind="grid", ask="rows", query=query, **window)
        return list(zip(*answer["cells"], strict=True))

    def click(self, query: str, limit: str, stars: str = "") -> None:
        """Click on Search with this search, number of rows and threshold in the boxes."""
        self.say(kind="run", query=query, stars=stars, limit=limit)

    @property
    def states(self) -> list[dict[str, Any]]:
        """The received states."""
        return [told for told in self.told() if told["kind"] == "state"]

    def told(self) -> list[dict[str, Any]]:
        """Return all messages of the widget."""
        with self._news:
            found = [m["content"] for m in self.messages if m.get("method") == "custom"]
        return [{"kind": "answer", **content} for content in found]

    def wait_for(self, **wanted: Any) -> dict[str, Any]:
        """Wait for a message with these members, and return it."""

        def found() -> dict[str, Any] | None:
            fits = (s for s in self.told() if wanted.items() <= {**s, "found": None}.items())
            return next(fits, None)

        with self._news:
            state = self._news.wait_for(found, SECONDS)
        assert state, f"No message with {wanted} among {self.told()}"
        return state


class Service:
    """A service of endless results that can be held at a row.

    Attributes
    ----------
    schema
        The service.
    held, release
        Set when it waits; set it to let it go on.
    asked
        The first row of each page it was asked for.
    """

    def __init__(self, hold: int | None = None) -> None:
        self.held, self.release = Event(), Event()
        self.hold = hold
        self.asked: list[int] = []
        self.schema = Schema(SDL, {"Query": {"search": self.search}})

    def search(self, root: object, args: dict[str, Any], context: object) -> dict[str, Any]:
        """Answer one page."""
        start = int(args.get("after") or 0)
        if args["first"] > 1:  # else a count for the histogram
            self.asked.append(start)
        if start == self.hold:
            self.held.set()
            assert self.release.wait(SECONDS)
        end = start + args["first"]
        return {
            "repositoryCount": 5000,
            "pageInfo": {"hasNextPage": True, "endCursor": str(end)},
            "edges": [{"node": self.node(number)} for number in range(start, end)],
        }

    def node(self, number: int) -> dict[str, Any]:
        """Return one repository."""
        count = {"totalCount": 9000 - number}
        return {"name": f"repo{number}", "owner": {"login": "someone"}, "stargazers": count}


class Broken:
    """A transport that fails in a way of its own.

    Attributes
    ----------
    held, release
        Set when it was asked; it fails when the other is set.
    """

    source = "broken"

    def __init__(self, error: BaseException, *, hold: bool = False) -> None:
        self.held, self.release = Event(), Event()
        self.error = error
        if not hold:
            self.release.set()

    def __repr__(self) -> str:
        return "<b>Broken</b>"

    def send(self, request: object) -> None:
        """Fail."""
        self.held.set()
        assert self.release.wait(SECONDS)
        raise self.error

    async def asend(self, request: object) -> None:
        """Fail."""
        raise self.error


@pytest.fixture(autouse=True)
def front_end(monkeypatch):
    """Connect every widget to a front end that listens."""
    monkeypatch.setattr(comm, "create_comm", Front)


@pytest.fixture
def show():
    """Return a function that makes a widget and its front end; all are closed in the end."""
    made: list[StarSearch] = []

    def show_it(*args: Any, **options: Any) -> tuple[StarSearch, Front]:
        made.append(StarSearch(*args, **options))
        return made[-1], made[-1].comm

    yield show_it
    for widget in made:
        widget.close()


@pytest.fixture
def service():
    """Return a function that makes a service held at a row; all are let go in the end."""
    made: list[Service] = []

    def make(hold: int | None = None) -> Service:
        made.append(Service(hold))
        return made[-1]

    yield make
    for one in made:
        one.release.set()


def settle() -> None:
    """Wait for the threads of searches that nobody waits for any longer."""
    for thread in threads():
        if thread.name == "gqlnb-star-search":
            thread.join(SECONDS)


def texts(frame: Any) -> list[tuple[str, str, str]]:
    """Return the rows of a frame as a grid shows them."""
    return [(name, owner, f"{count:,}") for name, owner, count in frame.itertuples(index=False)]


def test_repr_repeats_the_call(show):
    """The repr is the call that makes the same widget, without an address."""
    assert repr(show(1000)[0]) == "StarSearch('>1000', limit=100, client='demo')"
    assert " at 0x" not in repr(show(client=Service().schema)[0])


@pytest.mark.parametrize(
    ("client", "shown"),
    [
        ("http://user:canary@127.0.0.1:9/graphql?key=canary#canary", "http://127.0.0.1:9/graphql"),
        ("https://canary@[::1]/graphql", "https://[::1]/graphql"),
        ("/graphql?token=canary", "/graphql"),
        ("http://user:1/canary@host/graphql", "http://host/graphql"),
        ("user:canary@host/graphql", "host/graphql"),
        ("http://user:canary@host:port/graphql", "http://host:port/graphql"),
        ("github", "github"),
    ],
)
def test_repr_shows_no_secret_of_an_address(show, client, shown):
    """Neither repr nor saved HTML holds a password or a query string."""
    widget, _ = show(client=client)
    assert repr(widget) == f"StarSearch('>10000', limit=100, client={shown!r})"
    assert "canary" not in json.dumps([widget._repr_mimebundle_()[0], widget.get_state()])


def test_an_empty_result_for_an_exact_number_explains_it(show):
    """1000 in the box means exactly 1000; a result with rows has no explanation."""
    widget, front = show("999999999")
    assert len(widget.run()) == 0
    said = "'999999999' means exactly 999,999,999 stars; write '>999999999' for above."
    assert said in front.wait_for(phase="done")["found"]["caption"]
    widget.query = ">999999999"
    widget.run()
    assert "exactly" not in widget._repr_mimebundle_()[0]["text/html"]


def test_run_returns_the_frame_of_stars(show):
    """The widget stores the frame, too."""
    widget, _ = show(">100000", limit=None)
    assert widget.frame is None
    found = widget.run()
    assert_frame_equal(found, stars(">100000", limit=None))
    assert found.attrs == stars(">100000", limit=None).attrs
    assert widget.frame is found
    assert widget.error is None


def test_start_searches_in_a_thread(show, service):
    """`start` returns while the search still runs; `wait` waits for it."""
    slow = service(hold=0)
    widget, _ = show(">1", limit=3, client=slow.schema)
    widget.start()
    assert slow.held.wait(SECONDS)
    assert not widget.wait(0)
    assert widget.frame is None
    slow.release.set()
    assert widget.wait(SECONDS)
    assert list(widget.frame["name"]) == ["repo0", "repo1", "repo2"]


def test_wait_before_any_search_returns_at_once(show):
    """`cancel` then has no effect."""
    widget, front = show()
    widget.cancel()
    assert widget.wait(0)
    assert front.states == []


@pytest.mark.parametrize("query", [">abc", "", "5..1", True])
def test_an_invalid_threshold_is_refused(query):
    """The call raises the error."""
    with pytest.raises(QueryError):
        StarSearch(query)


@pytest.mark.parametrize("limit", [0, -1, "ten", 1.5, True, 10**15])
def test_an_invalid_limit_is_refused(show, limit):
    """By the call and by a click."""
    with pytest.raises(QueryError, match="not a whole number above 0"):
        StarSearch(limit=limit)
    _, front = show()
    front.click(">1", str(limit))
    assert "not a whole number above 0" in front.wait_for(phase="failed")["error"]


def test_integers_of_any_type_are_valid_limits(show):
    """For example NumPy integers computed from data."""
    assert show(limit=np.int64(7))[0].limit == 7


def test_a_click_searches_with_its_own_values(show):
    """The values become those of the widget."""
    widget, front = show(">300000", limit=5)
    front.click(" >= 100,000 ", "1_50")
    assert widget.wait(SECONDS)
    assert (widget.query, widget.limit) == (">=100000", 150)
    wanted = stars(">=100000", limit=150)
    assert_frame_equal(widget.frame, wanted)
    assert front.rows() == texts(wanted)


def test_the_boxes_accept_any_search_terms(show):
    """The widget's query has qualifiers and order in normal form."""
    widget, front = show()
    front.click("language:Python  > 50,000 sort:forks-desc", "7")
    assert widget.wait(SECONDS)
    assert widget.query == ">50000 language:Python sort:forks"
    assert_frame_equal(widget.frame, stars(">50000 language:python sort:forks", limit=7))
    front.click(">50000 langauge:python", "7")
    assert "Did you mean 'language:'" in front.wait_for(phase="failed")["error"]


def test_the_grid_sorts_and_filters_in_the_kernel(show):
    """The grid shows the frame without changing it."""
    widget, front = show(">50000", limit=None)
    widget.run()
    frame = widget.frame.copy()
    found = front.rows(sort=[[1, False]], filters={"3": "100000..200000"})
    wanted = frame[frame["stargazers"].between(100000, 200000)].sort_values("name")
    assert found == texts(wanted.head(200))
    before = widget._build_html()
    widget.frame["stargazers"] = 0  # it is the user's
    widget.frame.attrs.clear()
    assert front.rows(filters={"3": ">0"}) == texts(frame.head(200))
    assert widget._build_html() == before


def test_a_grid_request_before_the_first_result_is_an_error(show):
    """The question fails in words."""
    _, front = show()
    assert "Search first" in front.ask(kind="grid", ask="about")["text"]


def test_the_caption_names_count_and_source(show):
    """The caption says how many match and that a snapshot's counts are not GitHub's."""
    widget, front = show(">1000", limit=2)
    widget.run()
    total, source = widget.frame.attrs["total_count"], widget.frame.attrs["source"]
    assert front.wait_for(phase="done")["found"]["caption"] == (
        f"2 of the {total:,} repositories that match stars:>1000. "
        f"Source: {source}, not GitHub's counts."
    )


def test_the_caption_of_an_empty_result_is_a_sentence(show):
    """The count is a word, not 0."""
    widget, front = show(">999999999")
    widget.run()
    caption = front.wait_for(phase="done")["found"]["caption"]
    assert caption.startswith("No repository matches stars:>999999999. Source: ")


@pytest.mark.parametrize(
    ("stars", "qualifiers"),
    [
        (">abc", ""),
        *product(
            ["many", "lots of", "language:c", "1k", "1..2..3", "-5", ">"], [" language:python"]
        ),
    ],
)
def test_a_bad_threshold_is_an_error(show, stars, qualifiers):
    """Beside a qualifier, too: it is not searched for as a word, which would find no rows."""
    widget, front = show(">300000", limit=5)
    found = widget.run()
    front.click(f"{stars}{qualifiers}", "5", stars)
    state = front.wait_for(phase="failed")
    assert "Star threshold" in state["error"]
    assert state["error"] == widget.error
    assert "found" not in state
    assert widget.frame is found
    assert widget.query == ">300000"


@pytest.mark.parametrize("stars", ["", " ", ">= 1,000", "stars:>10", "5..9", "vim >1000"])
def test_a_threshold_in_any_form_is_searched(show, stars):
    """An empty box searches for the qualifiers alone."""
    widget, front = show()
    front.click(f"{stars} language:python", "3", stars)
    assert widget.wait(SECONDS)
    assert widget.error is None


def test_a_query_that_is_given_is_searched_when_shown(show, service):
    """Once, also if several views say hello."""
    slow = service()
    widget, front = show(">1", limit=3, client=slow.schema)
    assert slow.asked == []
    front.say(kind="hello")
    assert widget.wait(SECONDS)
    front.say(kind="hello")
    settle()
    assert slow.asked == [0]
    assert front.states[-1]["found"]["rows"] == 3


def test_a_search_before_the_view_is_not_repeated(show, service):
    """The view shows the rows of `run`."""
    slow = service()
    widget, front = show(">1", limit=3, client=slow.schema)
    widget.run()
    front.say(kind="hello")
    settle()
    assert slow.asked == [0]


def test_without_a_query_nothing_is_searched(show):
    """The box proposes a threshold."""
    widget, front = show()
    front.say(kind="hello")
    assert [state["phase"] for state in front.states] == ["idle"]
    assert widget.query == ">10000"


@pytest.mark.parametrize(
    ("source", "site"),
    [
        ("demo: embedded snapshot of 2026-08-22", "https://github.com"),
        ("https://api.github.com/graphql", "https://github.com"),
        ("https://api.octocorp.ghe.com/graphql", "https://octocorp.ghe.com"),
        ("https://git.example:8443/api/graphql", "https://git.example:8443"),
        ("http://git.example/api/graphql", ""),
        ("https://snapshot.example/graphql", ""),
        ("in-process", ""),
        (None, ""),
    ],
)
def test_names_link_to_the_site_of_their_endpoint(source, site):
    """Only where the repositories are known to be found."""
    assert find_site(source) == site


def test_a_failing_endpoint_sets_the_error(show):
    """The thread ends without an exception, and `run` raises it."""
    widget, front = show(">1", client="http://127.0.0.1:9/graphql")
    widget.start()
    assert widget.wait(SECONDS)
    assert front.wait_for(phase="failed")["error"] == widget.error
    assert "127.0.0.1:9" in widget.error
    with pytest.raises(GqlnbError):
        widget.run()
    assert widget.frame is None


def test_a_foreign_exception_sets_the_error(show):
    """The search ends, and the message has the exception's type."""
    widget, _ = show(">1", client=Client(Broken(ZeroDivisionError("\x1b[31mred"))))
    widget.start()
    assert widget.wait(SECONDS)
    assert widget.error == "ZeroDivisionError: [31mred"


def test_progress_is_reported_if_the_next_page_hangs(show, service):
    """The last page before a long wait is reported despite the interval."""
    slow = service(hold=300)
    _, front = show(">1", limit=1000, client=slow.schema)
    front.click(">1", "1000")
    state = front.wait_for(phase="running", got=300)
    assert state["wanted"] == 1000
    assert state["text"] == "300 of 1,000 rows, 3 pages …"


def test_the_remaining_rate_limit_is_reported(show):
    """For an endpoint that sends it."""
    service = github.service(simulation=github.Simulation(budget=5000))
    with github.serve(service, port=0, token=Token("secret")) as server:
        client = Client(server.url, token=Token("secret"))
        widget, front = show(">1000", limit=250, client=client)
        widget.run()
    state = front.wait_for(phase="done")
    assert state["budget"].startswith("4,997 of 5,000 left until ")
    assert state["text"] == "250 rows in 3 pages."


def test_progress_is_throttled(show, service):
    """Ten quick pages send fewer messages."""
    widget, front = show(">1", limit=1000, client=service().schema)
    star_search.collect_stars(">1", limit=100, client=service().schema)  # pandas is loaded
    widget.run()
    assert len(widget.frame) == 1000
    assert [state["phase"] for state in front.states].count("running") < 10


def test_cancel_keeps_the_previous_result(show, service):
    """The search ends at once and discards later pages."""
    slow = service()
    widget, front = show(">1", limit=2, client=slow.schema)
    found = widget.run()
    slow.hold = 100
    front.click(">2", "500")
    assert slow.held.wait(SECONDS)
    front.say(kind="cancel")
    assert widget.wait(0)
    assert front.states[-1]["phase"] == "cancelled"
    assert front.states[-1]["text"] == "Cancelled after 100 rows."
    slow.release.set()
    settle()
    assert slow.asked == [0, 0, 100]
    assert widget.frame is found
    assert front.states[-1]["phase"] == "cancelled"


def test_a_cancelled_search_that_fails_stays_cancelled(show):
    """A later failure does not set the widget's error."""
    broken = Broken(OSError("late"), hold=True)
    widget, front = show(client=Client(broken))
    widget.start()
    assert broken.held.wait(SECONDS)
    widget.cancel()
    broken.release.set()
    settle()
    assert widget.error is None
    assert front.states[-1]["phase"] == "cancelled"


def test_a_new_search_replaces_the_running_one(show, service):
    """The rows belong to the last click, also if the first search ends later."""
    slow = service(hold=100)
    widget, front = show(client=slow.schema)
    front.click(">1", "500")
    assert slow.held.wait(SECONDS)
    front.click(">2", "7")
    assert widget.wait(SECONDS)
    slow.release.set()
    settle()
    assert slow.asked == [0, 100, 0]
    assert len(widget.frame) == 7
    assert widget.frame.attrs["query"] == "stars:>2"
    assert [state["found"]["rows"] for state in front.states if "found" in state] == [7]


def test_run_raises_if_cancelled(show, service):
    """By `cancel` in another thread."""
    slow = service(hold=100)
    widget, _ = show(">1", limit=500, client=slow.schema)

    def cancel() -> None:
        slow.held.wait(SECONDS)
        widget.cancel()
        slow.release.set()

    helper = Thread(target=cancel)
    helper.start()
    with pytest.raises(GqlnbError, match="was cancelled"):
        widget.run()
    helper.join()
    assert widget.frame is None


def test_an_interrupt_ends_run(show):
    """No search seems to be running afterwards."""
    widget, front = show(client=Client(Broken(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        widget.run()
    assert widget.wait(0)
    assert front.states[-1]["phase"] == "cancelled"


def test_a_view_opened_later_gets_the_rows(show):
    """The reply to hello has the state and the rows of the last result."""
    widget, front = show(limit=5)
    front.say(kind="hello")
    assert front.states[-1] == {
        "kind": "state",
        "phase": "idle",
        "text": "",
        "budget": "",
        "error": None,
        "got": 0,
        "wanted": None,
        "found": None,
    }
    widget.run()
    front.say(kind="hello")
    first, again = (state for state in front.states if state.get("found"))
    assert first == again


def test_hostile_names_are_sent_as_plain_text(show, service):
    """Characters that reorder or colour text are dropped; markup is shown as text."""
    nasty = service()
    nasty.node = lambda number: {
        "name": f"<img src=x onerror=alert({number})>\u202e\x1b[0m",
        "owner": {"login": "<b>"},
        "stargazers": None,
    }
    widget, front = show(">1", limit=1, client=nasty.schema)
    widget.run()
    bad = "<img src=x onerror=alert(0)> [0m"
    assert front.rows() == [(bad, "<b>", None)]
    assert front.wait_for(phase="done")["found"]["top"]["bars"] == []
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert "<img" not in html
    assert "&lt;img" in html
    assert "<b>" not in html


def test_the_state_has_no_secret_and_no_rows(show):
    """Two small values of ours; neither state nor messages contain a token."""
    canary = "canary-b0a7f1"
    client = Client("http://127.0.0.1:9/graphql", token=Token(canary))
    widget, front = show(">1", client=client)
    front.click(">1", "5")
    assert widget.wait(SECONDS)
    assert canary not in json.dumps([front.messages, widget.get_state(), repr(widget)])
    searched, _ = show(">300000", limit=5)
    before = searched.get_state()
    found = searched.run()
    after = searched.get_state()
    assert {key for key in after if key[0] != "_"} == {
        *("layout", "limit", "query", "tabbable", "tooltip")
    }
    assert after.pop("_twin") == star_search.write_caption(found)
    assert {**after, "_twin": ""} == before
    assert found["name"][0] not in json.dumps(after)


def test_a_viewer_without_a_kernel_sees_the_first_rows(show):
    """The output has plain text and HTML beside the view."""
    widget, _ = show(">100000", limit=50)
    bundle = widget._repr_mimebundle_()[0]
    assert bundle[VIEW]["model_id"] == widget.model_id
    assert bundle["text/plain"] == repr(widget)
    assert "run this notebook to search" in bundle["text/html"]
    odd, _ = show(client=Broken(OSError()))
    assert "&lt;b&gt;Broken" in odd._repr_mimebundle_()[0]["text/html"]
    widget.run()
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert widget.frame["name"][0] in html
    assert html.count("<tr") > 1 + 20  # the histogram stands below
    assert "The first 20 are shown." in html


def test_closing_ends_the_search(show, service):
    """A closed widget sends no messages."""
    slow = service(hold=100)
    widget, front = show(">1", limit=500, client=slow.schema)
    widget.start()
    assert slow.held.wait(SECONDS)
    widget.close()
    said = len(front.messages)
    assert widget.wait(0)
    slow.release.set()
    settle()
    assert widget.frame is None
    assert len(front.messages) == said


def test_any_thread_may_click(show):
    """Concurrent searches leave one complete result, reported last."""
    widget, front = show()

    def click(number: int) -> None:
        front.click(f">{100_000 + number}", str(number + 1))
        front.say(kind="hello")

    people = [Thread(target=click, args=[number]) for number in range(20)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert widget.wait(SECONDS)
    last = front.states[-1]
    assert last["phase"] == "done"
    shown = [state["found"] for state in front.states if state.get("found")][-1]
    number = len(widget.frame) - 1
    assert shown["rows"] == number + 1
    assert f"stars:>{100_000 + number}." in shown["caption"]


# ---------------------------------------------------------------- what repeats a search


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        (">100000", 5),
        ('>1000 language:"c++" sort:forks-asc', 7),
        ('>1000 NOT "sort: words"', 7),
        (">100000", None),
        (">50000", 150),
        (">999999999", 5),
    ],
)
def test_the_copied_text_and_code_repeat_the_search(show, query, limit):
    """Both return the rows of the frame."""
    widget, front = show(query, limit=limit)
    frame = widget.run()
    found = front.wait_for(phase="done")["found"]
    lines = found["code"].split("; ")
    names: dict[str, Any] = {}
    exec(lines[0], names)
    assert_frame_equal(eval(lines[1], names), frame)
    assert f"sort:{frame.attrs['order']}" in found["text"]  # or GitHub's order would be another
    asked = Client("demo").execute_all(found["text"], max_results=limit)
    nodes = [edge["node"] for edge in asked.data["search"]["edges"]]
    assert [
        (node["name"], node["owner"]["login"], node["stargazers"]["totalCount"]) for node in nodes
    ] == list(frame.itertuples(index=False, name=None))


def test_the_query_of_several_pages_explains_paging(show):
    """The text of one page alone would return only some of the rows."""
    widget, front = show(">50000", limit=150)
    widget.run()
    text = front.wait_for(phase="done")["found"]["text"]
    assert text.startswith("# 150 rows, 100 a page: %%graphql --paginate --max-results 150\n")


def test_the_copied_code_uses_the_notebooks_client_name(show, monkeypatch):
    """An object without a name is called client; secrets of an address are removed."""
    mine = Service().schema
    monkeypatch.setattr(star_search, "get_notebook_names", lambda: {"_1": mine, "mine": mine})
    codes = []
    for client in (mine, Service().schema):
        widget, front = show(">1", limit=1, client=client)
        widget.run()
        codes.append(front.wait_for(phase="done")["found"]["code"])
    assert codes[0].endswith("gqlnb.stars('>1', limit=1, client=mine)")
    assert codes[1].endswith("gqlnb.stars('>1', limit=1, client=client)")


# ---------------------------------------------------------------- who waits for results


def test_a_listener_gets_each_complete_result(show):
    """After a click and after `run`, until the listener is removed."""
    heard: list[int] = []
    widget, front = show(">300000", limit=3)
    listen = widget.on_result(lambda frame: heard.append(len(frame)))
    widget.on_result(listen)  # a cell that runs again
    widget.run()
    front.click(">300000", "2")
    settle()
    front.click("?", "1")
    assert heard == [3, 2]
    widget.on_result(listen, remove=True)
    widget.run()
    assert heard == [3, 2]


def test_exceptions_of_a_listener_are_shown(show):
    """In the widget and in `error`, with file and line; other listeners still run."""
    heard: list[int] = []
    widget, front = show(">300000", limit=3)

    @widget.on_result
    def plot(frame: Any) -> None:
        msg = "no <b>display</b>"
        raise ValueError(msg)

    widget.on_result(lambda frame: heard.append(len(frame)))
    front.click(">300000", "2")
    settle()
    assert heard == [2]
    assert len(widget.frame) == 2
    assert "plot, called with it, raised ValueError: no <b>display</b>" in widget.error
    assert "raise ValueError(msg)" in widget.error
    assert front.states[-1]["error"] == widget.error
    with pytest.raises(ValueError, match="no <b>display"):
        widget.run()
    assert heard == [2, 2]
    widget.on_result(plot, remove=True)
    widget.run()
    assert widget.error is None


# ---------------------------------------------------------------- what is saved


class Handle:
    """A display handle that records its updates."""

    display_id = "one"

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, bundle: dict[str, str], **options: Any) -> None:
        """Put something there."""
        self.shown.append(bundle["text/html"])


def test_a_result_is_saved_with_the_view(show, monkeypatch):
    """As its HTML, after a click and after a search from a cell."""
    place = Handle()
    monkeypatch.setattr(star_search, "is_in_kernel", lambda: True)
    monkeypatch.setattr(star_search, "display", lambda *args, **options: place)
    widget, front = show(">300000", limit=3)
    widget._ipython_display_()
    widget.run()
    assert "3 of the" in place.shown[0]
    front.click(">400000", "2")
    settle()
    _, html = place.shown
    assert "2 of the" in html
    assert widget.frame["name"][0] in html
    front.click("?", "2")
    assert len(place.shown) == 2


def test_a_front_end_without_our_extension_keeps_its_view(show, monkeypatch):
    """There an update of the output would replace the view, with its tabs and texts."""
    place = Handle()
    monkeypatch.setattr(star_search, "is_in_kernel", lambda: True)
    monkeypatch.setattr(star_search, "display", lambda *args, **options: place)
    widget, _ = show(">300000", limit=3)
    widget._ipython_display_()
    widget._handle_view_message({"kind": "hello", "extension": True})
    widget.run()
    settle()  # the first search may have ended before this one began
    shown = len(place.shown)
    assert shown
    widget._handle_view_message({"kind": "hello", "extension": False})
    widget.run()
    settle()
    assert len(place.shown) == shown


def test_without_a_kernel_no_html_is_saved(show, capsys):
    """Nothing is printed after a click."""
    widget, front = show(">400000", limit=2)
    with pytest.raises(NotImplementedError):
        widget._ipython_display_()
    front.click(">400000", "2")
    settle()
    assert capsys.readouterr().out == ""
