"""Who may ask, and for what, as a value that refuses what is none."""

from __future__ import annotations

import pytest

from gqlnb.errors import OptionError
from gqlnb.http.server_rules import Access


def test_the_rules_are_an_immutable_value():
    """They are compared by content, and arguments are keyword-only."""
    with pytest.raises(AttributeError):
        Access().get = True
    with pytest.raises(TypeError):
        Access(["lab.example"])
    assert Access(origins=["http://A.example:80"]) == Access(origins={"http://a.example"})


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"hosts": ["Lab.Example"]}, {"lab.example"}),
        ({"hosts": "lab.example"}, {"lab.example"}),
        ({"hosts": ("::1", "[2001:DB8::1]")}, {"[::1]", "[2001:db8::1]"}),
        ({"origins": "HTTPS://Studio.Example:443"}, {"https://studio.example"}),
        ({"origins": ["http://[::1]:80", "vscode-webview://x1"]},
         {"http://[::1]", "vscode-webview://x1"}),
    ],
)  # fmt: skip
def test_hosts_and_origins_are_normalised(options, kept):
    """Lower-case, IPv6 in brackets, without the default port; a single name needs no list."""
    (name,) = options
    assert getattr(Access(**options), name) == kept


@pytest.mark.parametrize(
    "options",
    [
        {"hosts": ["lab.example:4000"]},
        {"hosts": ["*"]},
        {"hosts": ["*.example"]},
        {"hosts": ["http://lab.example"]},
        {"hosts": [""]},
        {"hosts": ["läb.example"]},
        {"hosts": 7},
        {"origins": ["localhost:5173"]},
        {"origins": ["http://localhost:5173/"]},
        {"origins": ["http://localhost:5173/app"]},
        {"origins": ["http://*.example"]},
        {"origins": ["null"]},
        {"origins": [""]},
        {"origins": [None]},
        {"origins": 7},
        {"page": "no"},
        {"get": 1},
        {"introspection": None},
        {"hints": "off"},
        {"profile": "strict"},
        {"profile": ["audit"]},
    ],
)
def test_an_invalid_name_is_rejected(options):
    """The message has the option and the value."""
    (name,) = options
    with pytest.raises(OptionError, match=rf"^Access\({name}=\.\.\.\) takes .*; got "):
        Access(**options)


@pytest.mark.parametrize("given", ["*", ["*"], ["http://a.example", "*"]])
def test_a_wildcard_origin_is_rejected(given):
    """The message has the reason and an alternative."""
    with pytest.raises(OptionError, match=r"every page on the internet.*localhost:5173"):
        Access(origins=given)
