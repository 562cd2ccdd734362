"""The kernel side of the result view: tabs, frames, and the output without a kernel."""

from __future__ import annotations

import json
import warnings
from threading import Event
from threading import enumerate as threads
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from gqlnb import OptionError, Result, ResultView, Schema

SECONDS = 20
SDL = """
type Query { me: User search: [Repo!] }
type User { login: String! }
type Repo { id: ID! stars: Int bad: Int topics: [Topic!]! }
type Topic { name: String! }
"""
REPOS = [{"id": n, "stars": n * 1000, "topics": [{"name": "<b>"}] * 2} for n in range(30)]
RESOLVERS = {
    "Query": {"me": lambda *_: {"login": "ada"}, "search": lambda *_: REPOS},
    "Repo": {"bad": lambda root, args, context: 1 // (root["id"] - 7)},
}
ALL = "{ me { login } search { id stars bad topics { name } } }"


@pytest.fixture
def schema():
    """Return a schema in which the eighth row has an error."""
    return Schema(SDL, RESOLVERS)


class Listener:
    """Asks a view as its front end does."""

    def __init__(self, view: ResultView) -> None:
        self.view = view
        self.sent: list[Any] = []
        self.news = Event()
        view.send = self.hear

    def hear(self, content: Any, buffers: Any = None) -> None:
        """Record sent messages."""
        self.sent.append(json.loads(json.dumps(content, allow_nan=False)))
        self.news.set()

    def ask(self, **message: Any) -> Any:
        """Send a message and return the answer."""
        self.news.clear()
        self.view._handle_custom_msg(message, [])
        assert self.news.wait(SECONDS)
        for thread in threads():
            if thread.name == "gqlnb-ResultView":
                thread.join(SECONDS)
        return self.sent[-1]


ROWS = {"ask": "rows", "start": 0, "end": 9, "from": 0, "to": 9}


def test_a_result_has_tabs_for_frames_errors_and_data(schema):
    """There is no warning, since the view shows everything."""
    result = schema.execute(ALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = ResultView(result)
        state = Listener(view).ask(kind="hello")
    labels = [(tab["label"], tab["kind"]) for tab in state["tabs"]]
    assert labels == [
        *[("search", "grid"), ("search.topics", "grid"), ("Errors", "grid"), ("JSON", "tree")]
    ]
    assert state["errors"][0] == "Partial answer, 1 error:"
    assert state["errors"][1].startswith("  search[7].bad: ")
    assert view.result is result
    assert view.frame.equals(result.tables(quiet=True)["search"])
    assert view.frame.attrs["partial"]
    assert repr(view) == "ResultView(search, search.topics, Errors)"


def test_each_tab_answers_its_own_messages(schema):
    """Grids are addressed by number, the tree has the data; unknown tabs get no reply."""
    listener = Listener(ResultView(schema.execute(ALL)))
    query = {"sort": [[2, True]]}
    rows = listener.ask(kind="grid", tab=0, query=query, id="x", **ROWS)
    assert rows["id"] == "x"
    assert rows["cells"][2][:2] == ["29,000", "28,000"]
    errors = listener.ask(kind="grid", tab=2, **ROWS)
    assert errors["cells"][2] == ["search[7].bad"]
    tree = listener.ask(kind="tree", ask="children", at=[1, 3], start=0, end=1)
    assert tree["items"][0]["text"] == '"3"'
    wrong = listener.ask(kind="grid", tab=0, query={"filters": {"2": "x"}}, id="y", **ROWS)
    assert wrong["kind"] == "failed"
    assert "'x' of column 'stars' is not a number" in wrong["text"]
    assert listener.view._handle_view_message({"kind": "grid", "tab": 9}) is None


def test_the_data_tab_is_first_without_a_list(schema):
    """A frame of one row is less readable."""
    state = Listener(ResultView(schema.execute("{ me { login } }"))).ask(kind="hello")
    assert [tab["kind"] for tab in state["tabs"]] == ["tree", "grid"]
    assert state["errors"] == []


class Stream:
    """Gives an Arrow table as other libraries' frames do."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"n": [1, 2]}).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"n": [1, 2]}), pd.Series([1, 2], name="n"), pa.table({"n": [1, 2]}), Stream()],
)
def test_frames_of_all_kinds_are_shown(frame):
    """In one tab, with a table for viewers without a kernel."""
    view = ResultView(frame)
    assert view.result is None
    assert view.frame["n"].tolist() == [1, 2]
    assert repr(view) == "ResultView(2 rows, 1 column)"
    listener = Listener(view)
    assert [tab["kind"] for tab in listener.ask(kind="hello")["tabs"]] == ["grid"]
    assert listener.ask(kind="grid", tab=0, **ROWS)["cells"] == [["0", "1"], ["1", "2"]]
    data, _ = view._repr_mimebundle_()
    assert data["text/plain"] == "   n\n0  1\n1  2\n2 rows"
    assert "<td" in data["text/html"]
    assert view.get_state()["_twin"] == data["text/plain"]


def test_a_shown_frame_is_not_copied():
    """It is not copied."""
    frame = pd.DataFrame({"n": range(100_000)})
    view = ResultView(frame)
    assert view.frame is frame
    assert len(json.dumps(view._repr_mimebundle_()[0])) < 6_000
    view.close()
    assert view.frame is frame


def test_static_output_is_escaped(schema):
    """Data, names and errors; the text has no control characters."""
    bad = "<img src=x onerror=alert(1)>\x1b[31m"
    for view in (
        ResultView(Result({bad: [{bad: bad}]}, errors=({"message": bad},))),
        ResultView(pd.DataFrame({bad: [bad]}, index=[bad])),
    ):
        data, _ = view._repr_mimebundle_()
        assert "<img" not in data["text/html"]
        assert "&lt;img" in data["text/html"]
        assert "\x1b" not in data["text/plain"] + repr(view)


@pytest.mark.parametrize("shown", [None, 5, "text", [{"n": 1}], {"n": 1}])
def test_unsupported_types_are_refused(shown):
    """The error suggests a conversion."""
    with pytest.raises(OptionError, match=f"cannot show a {type(shown).__name__}"):
        ResultView(shown)
