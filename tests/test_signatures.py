"""The public interface: names, parameters and attributes, as listed in ``public_api.txt``."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import TYPE_CHECKING, Any

import gqlnb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMESPACES = {"": gqlnb, "engine.": gqlnb.engine, "github.": gqlnb.github}


def list_public_api() -> Iterator[str]:
    """Yield a line for each public name, and for each public member of a public class."""
    for prefix, module in NAMESPACES.items():
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
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


def test_the_public_api_matches_the_list(root: Path) -> None:
    """An API change needs a change of the list and of CHANGELOG."""
    listed = (root / "tests" / "public_api.txt").read_text().splitlines()
    assert [*list_public_api()] == listed
