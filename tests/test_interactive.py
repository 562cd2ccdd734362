"""Tab, ``help()`` and attributes that do not exist, as a person at a prompt meets them."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys

import gql
import pandas as pd
import pytest
import requests
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import gqlnb
from gqlnb.client import client as client_module
from gqlnb.engine import schema as schema_module
from gqlnb.result import result as result_module

MODULES = [gqlnb, gqlnb.github, gqlnb.engine]
DEMO = gqlnb.connect("demo")
RESULT = DEMO.execute("{ viewer { login } }")
SCHEMA = gqlnb.reference_schema()
HINTS = [
    *((DEMO, *it) for it in client_module._HINTS.items()),
    *((SCHEMA, *it) for it in schema_module._HINTS.items()),
    *((RESULT, *it) for it in result_module._HINTS.items()),
]
WIDGETS = {
    "Explorer": lambda: gqlnb.Explorer("demo"),
    "ResultView": lambda: gqlnb.ResultView(RESULT),
    "SchemaView": lambda: gqlnb.SchemaView("demo"),
    "StarSearch": lambda: gqlnb.StarSearch(">100000"),
    "TokenBox": gqlnb.TokenBox,
}


def list_public_names(thing: object) -> list[str]:
    """Return the names that Tab offers."""
    return [name for name in dir(thing) if name[0] != "_"]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_help_of_a_module_is_a_page(module):
    """It fits two screens and names each public name."""
    text = pydoc.plain(pydoc.render_doc(module))
    assert len(text.splitlines()) < 100
    assert [name for name in module.__all__ if not re.search(rf"\b{name}\b", text)] == []


# What test helpers do with each loaded module.
READ_ALL_NAMES = """
import doctest, inspect, sys, gqlnb, gqlnb.engine, gqlnb.github
sys.modules |= dict.fromkeys(("pandas", "pyarrow", "polars"))  # an ImportError each
for module in (gqlnb, gqlnb.engine, gqlnb.github):
    assert not hasattr(module, "__warningregistry__")
    doctest.DocTestFinder().find(module)
    inspect.getmembers(module)
for module in list(filter(None, sys.modules.values())):
    if module.__name__.startswith("gqlnb"):
        inspect.getmembers(module)
"""


def test_reading_all_names_imports_no_data_library():
    """Nor fails at a moment when pandas cannot be imported."""
    command = [sys.executable, "-c", READ_ALL_NAMES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_help_of_a_name_is_complete():
    """Pydoc finds functions and classes by their public names."""
    assert "timeout" in pydoc.plain(pydoc.render_doc("gqlnb.connect"))
    assert "execute_all" in pydoc.plain(pydoc.render_doc("gqlnb.Client"))


def test_connect_describes_each_option():
    """Shift-Tab on `connect(` lists them."""
    text = gqlnb.connect.__doc__ or ""
    options = inspect.signature(gqlnb.connect).parameters
    assert [name for name in options if not re.search(rf"\b{name}\b", text)] == []


def test_tab_offers_public_names(root):
    """IPython completes a client, a result, a schema and a server to documented members alone."""
    listed = (root / "tests" / "public_api.txt").read_text()
    shell = InteractiveShell.instance()
    with gqlnb.serve(SCHEMA, port=0) as server, provisionalcompleter():
        things = {"client": DEMO, "result": RESULT, "schema": SCHEMA, "server": server}
        shell.push(things)
        for word, thing in things.items():
            offered = {
                it.text.strip(".")
                for it in shell.Completer.completions(f"{word}.", len(word) + 1)
                if not it.text.startswith("%")
            }
            public = re.findall(rf"^{type(thing).__name__}\.(\w+)", listed, re.MULTILINE)
            assert set(list_public_names(thing)) <= {*public, *vars(thing)}, word
            assert offered >= set(public), word
            assert [name for name in offered if name.startswith("_")] == []


@pytest.mark.parametrize("name", WIDGETS)
def test_tab_on_a_widget_offers_its_own_names(name, root):
    """Of those of ipywidgets only four."""
    listed = (root / "tests" / "public_api.txt").read_text()
    own = set(re.findall(rf"^{name}\.(\w+)", listed, re.MULTILINE)) - {"model_id", "open"}
    offered = set(list_public_names(WIDGETS[name]()))
    assert own <= offered
    others = offered - own - {"close", "layout", "observe", "unobserve"}
    about = inspect.getdoc(getattr(gqlnb, name)) or ""
    assert [it for it in others if not re.search(rf"\b{it}\b", about)] == []


@pytest.mark.parametrize(("owner", "name", "hint"), HINTS)
def test_each_hint_names_something_that_exists(owner, name, hint):
    """The name itself does not, and what to use instead does."""
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute {name!r}. Use ")):
        getattr(owner, name)
    for start in re.split(r", or |, which|, the |, where|, after|, [a-z]+\(\) to | for ", hint)[:1]:
        head, *attributes = re.match(r"[\w.]+", start)[0].split(".")
        found = getattr(owner if head not in gqlnb.__all__ else gqlnb, head, None)
        found = gqlnb if head == "gqlnb" else found
        for attribute in attributes:
            found = getattr(found, attribute)
        assert found is not None or head in {"response", "report"}, hint


@pytest.mark.parametrize("name", [*list_public_names(gql.Client), "get", "post"])
def test_names_of_other_clients_lead_somewhere(name):
    """Those of gql and requests."""
    assert hasattr(gql.Client, name) or hasattr(requests.Session, name)
    if not hasattr(DEMO, name):
        with pytest.raises(AttributeError, match=r"Use |Did you mean "):
            getattr(DEMO, name)


@pytest.mark.parametrize("name", list_public_names(pd.DataFrame))
def test_names_of_a_frame_lead_to_it(name):
    """A result is not a DataFrame, but holds one."""
    if not hasattr(RESULT, name):
        with pytest.raises(AttributeError, match=r"Use df\b|Use data\b|Use dicts\b"):
            getattr(RESULT, name)


def test_a_module_suggests_similar_names():
    """Also those that are members of an object of it."""
    with pytest.raises(AttributeError, match="Did you mean 'Client'"):
        gqlnb.Clinet  # noqa: B018
    with pytest.raises(AttributeError, match=re.escape("Use connect(target).execute(text)")):
        gqlnb.query  # noqa: B018
    assert not hasattr(gqlnb, "_repr_html_")


def test_a_property_that_fails_is_not_called_missing():
    """Its own AttributeError is shown."""

    class Broken(gqlnb.Schema):
        @property
        def wrong(self) -> str:
            return None.strip()

    broken = Broken("type Query { hello: String }")
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'strip'"):
        broken.wrong  # noqa: B018
