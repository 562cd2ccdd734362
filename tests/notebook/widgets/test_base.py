"""The base class of widgets: messages in any thread, errors as text, front-end code by message."""

from __future__ import annotations

import json
import re
import sys
from threading import Event
from threading import enumerate as threads
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from anywidget._util import enable_custom_widget_manager_once

from gqlnb import QueryError
from gqlnb.notebook.widgets import base
from gqlnb.notebook.widgets.base import Widget, describe_error, keep_route, load_front_end

SECONDS = 20
VIEW = "application/vnd.jupyter.widget-view+json"


class Counter(Widget):
    """A widget that counts clicks and can fail."""

    _view = "result_view.js"

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.news = Event()
        super().__init__()

    def send(self, content: Any, buffers: Any = None) -> None:
        """Record sent messages as JSON."""
        self.sent.append(json.loads(json.dumps(content)))
        self.news.set()

    def _handle_view_message(self, message: Any) -> Any:
        match message:
            case {"kind": "add", "one": int(one), "two": int(two)}:
                return {"kind": "sum", "sum": one + two}
            case {"kind": "apart", "for": seconds}:
                return self._run_in_thread(lambda: {"kind": "slept", "for": 1 / seconds}, message)
            case {"kind": "unsendable"}:
                return {"kind": "set", "of": {1}}
            case {"kind": "wrong"}:
                msg = "Write it otherwise."
                raise QueryError(msg)
        return None

    def _build_html(self) -> str:
        return "<p>counted</p>"


@pytest.fixture
def counter():
    """Return a widget that listens to itself."""
    return Counter()


def test_a_reply_has_the_id_of_its_request(counter):
    """Without an id it is sent to all views."""
    counter._handle_custom_msg({"kind": "add", "one": 1, "two": 2, "id": "a"}, [])
    counter._handle_custom_msg({"kind": "add", "one": 1, "two": 2}, [])
    assert counter.sent == [{"kind": "sum", "sum": 3, "id": "a"}, {"kind": "sum", "sum": 3}]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"kind": "wrong"}, "Write it otherwise."),
        ({"kind": "unsendable"}, "TypeError: Object of type set is not JSON serializable"),
    ],
)
def test_exceptions_are_sent_to_the_view(counter, message, words):
    """Exceptions are sent to the view as text."""
    counter._handle_custom_msg({**message, "id": "b"}, [])
    assert counter.sent == [{"kind": "failed", "text": words, "id": "b"}]


def test_slow_handlers_run_in_a_thread(counter):
    """The handler returns at once; exceptions of the thread are sent to the view."""
    for seconds, wanted in ((2, {"kind": "slept", "for": 0.5}), (0, {"kind": "failed"})):
        counter.news.clear()
        counter._handle_custom_msg({"kind": "apart", "for": seconds, "id": "c"}, [])
        assert counter.news.wait(SECONDS)
        assert (wanted | {"id": "c"}).items() <= counter.sent[-1].items()
    assert counter.sent[-1]["text"] == "ZeroDivisionError: division by zero"
    for thread in threads():
        if thread.name == "gqlnb-Counter":
            thread.join(SECONDS)


@pytest.mark.parametrize("message", [None, "x", 5, [], {}, {"kind": "other"}, {"id": 5}])
def test_unknown_messages_are_ignored(counter, message):
    """Messages of unknown form are ignored."""
    counter._receive(counter, message, None)
    assert counter.sent == []


def test_the_saved_state_has_a_hash_of_the_code(counter):
    """The loader is the same for all widgets; the hash covers all files."""
    state = counter.get_state()
    assert state["_front"] == load_front_end("result_view.js")["hash"]
    assert len(json.dumps({key: str(value) for key, value in state.items()})) < 6_000
    counter._twin = "x" * 10_000
    assert len(counter._twin) < 4_010


def test_the_code_is_sent_on_request(counter):
    """Each file follows its imports, with its style sheet."""
    counter._handle_custom_msg({"kind": "front"}, [])
    ((front),) = counter.sent
    assert front["kind"] == "front"
    names = [file["name"] for file in front["files"]]
    assert names[-1] == "result_view.js"
    assert len(set(names)) == len(names)
    for at, file in enumerate(front["files"]):
        assert set(re.findall(r'from "\./([\w-]+\.js)"', file["text"])) <= set(names[:at])
    sheets = {file["name"]: file["css"] for file in front["files"]}
    assert sheets["common.js"] == (base.FRONT_END_FOLDER / "common.css").read_text()


def test_a_changed_import_changes_the_module_hash(tmp_path):
    """Two kernels with different versions may show widgets in one page."""
    (tmp_path / "a.js").write_text('import { b } from "./b.js";')
    (tmp_path / "b.js").write_text("export const b = 1;")
    before = load_front_end("a.js", tmp_path)
    load_front_end.cache_clear()
    (tmp_path / "b.css").write_text("p {}")
    after = load_front_end("a.js", tmp_path)
    hashes = [{file["hash"] for file in front["files"]} for front in (before, after)]
    assert hashes[0] & hashes[1] == set()


def test_a_viewer_without_a_kernel_gets_html_and_text(counter):
    """They are saved beside the view."""
    data, _ = counter._repr_mimebundle_()
    assert data["text/plain"] == repr(counter) == "Counter()"
    assert data["text/html"].endswith('"><p>counted</p></div>')
    assert VIEW in data
    counter.close()


def test_colab_learns_which_widget_manager_to_load(counter, monkeypatch):
    """Its manager for third-party widgets is switched on once, and named beside each view."""
    switched: list[bool] = []
    colab = ModuleType("google.colab.output")
    vars(colab).update(
        enable_custom_widget_manager=lambda: switched.append(True),
        _widgets=SimpleNamespace(_installed_url="https://colab.example/manager.js"),
    )
    monkeypatch.setitem(sys.modules, colab.__name__, colab)
    enable_custom_widget_manager_once.cache_clear()
    for _ in range(2):
        data, metadata = counter._repr_mimebundle_()
        assert metadata == {
            VIEW: {"colab": {"custom_widget_manager": {"url": "https://colab.example/manager.js"}}}
        }
        assert VIEW in data
    assert switched == [True]
    enable_custom_widget_manager_once.cache_clear()
    counter.close()


class JsNull:
    """The null of Pyodide, which converts all other values of JSON."""


def test_nulls_of_a_browser_are_none(counter, monkeypatch):
    """In the contents of messages, however deep."""
    monkeypatch.setattr(base, "IN_BROWSER", True)
    got: list[object] = []
    monkeypatch.setattr(counter, "_handle_view_message", got.append)
    content = {"kind": "x", "a": [JsNull(), {"b": JsNull()}], "n": 0}
    data = {"method": "custom", "content": content}
    counter._handle_msg({"content": {"data": data}, "buffers": []})
    assert got == [{"kind": "x", "a": [None, {"b": None}], "n": 0}]
    counter.close()


def test_the_front_end_chooses_the_thread():
    """Not ipykernel 7.4, which would choose the thread that sent last."""

    class Comm:
        """Chooses as there."""

        def _reply_subshell_for(self, _data: object, _subshell_id: str) -> str:
            return "of the cell"

    comm = Comm()
    keep_route(comm)
    assert comm._reply_subshell_for({}, "of the page") == "of the page"
    keep_route(None)
    keep_route(object())  # as those of xeus-python, without attributes


def test_an_exception_is_described_in_one_line():
    """With its type, and without control characters."""
    assert describe_error(OSError("\x1b[31ma\nb")) == "OSError: [31ma b"
