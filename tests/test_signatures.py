"""The public interface: names, parameters and attributes, as listed in ``public_api.txt``."""

from __future__ import annotations

import inspect
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import jedi
import pytest

import gqlnb

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACES = {"": gqlnb, "engine.": gqlnb.engine, "github.": gqlnb.github}
# Where `**` stands for names that the package cannot list.
OTHER_KEYWORDS = {
    "Schema.from_frame": "frames by the names of the user's fields",
    "Schema.adopt": "arguments of graphql-core's execute, which differ by version",
    "engine.execute": "the signature of graphql-core",
    "engine.subscribe": "the signature of graphql-core",
    "Result.to_csv": "arguments of pandas",
    "Result.to_parquet": "arguments of pyarrow",
}


def list_public_api() -> Iterator[str]:
    """Yield a line for each public name, and for each public member of a public class."""
    for prefix, module in NAMESPACES.items():
        for name in module.__all__:
            value = getattr(module, name)
            yield describe(f"{prefix}{name}", value)
            if inspect.isclass(value) and not issubclass(value, Enum):
                yield from list_members(f"{prefix}{name}", value)


def list_members(qualified: str, owner: type) -> Iterator[str]:
    """Yield a line for each public method, property and documented attribute of a class."""
    members = {}
    for base in reversed(owner.__mro__):
        if base.__module__.partition(".")[0] == "gqlnb":
            members |= vars(base)
    for name in sorted(name for name in members if name[0] != "_"):
        yield describe(f"{qualified}.{name}", members[name])


def describe(name: str, value: Any) -> str:
    """Return a name with the parameters and their defaults, without types."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if not callable(value):
        return name
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parameters = [
        it.replace(annotation=inspect.Parameter.empty, default=shorten(it.default))
        for it in signature.parameters.values()
    ]
    text = str(inspect.Signature(parameters))
    return f"{name}{text}"


class _Shown:
    """A default that is printed as a word, since its repr holds an address or a long text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def shorten(default: Any) -> Any:
    """Return a default of a simple type, and a placeholder for any other."""
    simple = (str, bytes, int, float, bool, type(None))
    if default is inspect.Parameter.empty or isinstance(default, simple):
        return default
    return _Shown("...")


def test_the_public_api_matches_the_list(root):
    """An API change needs a change of the list and of CHANGELOG."""
    listed = (root / "tests" / "public_api.txt").read_text().splitlines()
    assert [*list_public_api()] == listed


def test_signatures_list_every_keyword():
    """Shift-Tab and readers see them; `**` is left where the names are not the package's."""
    open_ended = set()
    for line in list_public_api():
        name, _, parameters = line.partition("(")
        # Errors are raised by the package, with attributes of several kinds.
        if "**" in parameters and not name.split(".")[0].endswith("Error"):
            open_ended.add(name)
    # graphql-core 3.2 has no further arguments there.
    assert open_ended | {"engine.execute", "engine.subscribe"} == OTHER_KEYWORDS.keys()


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ('connect("demo", cac', {"cache="}),
        ("Client(x, bat", {"batch="}),
        ("client.map(t, rows, batch", {"batch_size="}),
        ("client.execute(t, head", {"headers="}),
        ("gqlnb.serve(schema, certf", {"certfile="}),
    ],
)
def test_tab_completes_keywords(text, proposed):
    """By jedi, as in a notebook: from the objects of the session."""
    client = gqlnb.Client(gqlnb.reference_schema())
    names = {"gqlnb": gqlnb, "connect": gqlnb.connect, "Client": gqlnb.Client, "client": client}
    completions = jedi.Interpreter(text, [names]).complete()
    assert {it.name for it in completions if it.name.endswith("=")} == proposed


def test_jedi_lists_the_keywords_of_all_callables():
    """Each one that `inspect` lists: what it lists, it completes."""
    for line in list_public_api():
        name = line.partition("(")[0]
        value = attrgetter(name)(gqlnb)
        if not (inspect.isfunction(value) or inspect.ismethod(value)):
            continue
        keywords = {
            it.name
            for it in inspect.signature(value).parameters.values()
            if it.kind is it.KEYWORD_ONLY
        }
        (signature,) = jedi.Interpreter("call(", [{"call": value}]).get_signatures()
        assert keywords <= {it.name for it in signature.params}, name
