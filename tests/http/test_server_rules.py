"""Who may ask, and for what, as a value that refuses what is none."""

from __future__ import annotations

import pytest

from gqlnb.errors import OptionError
from gqlnb.http.server_rules import Access


def test_the_defaults_allow_no_other_host_or_origin():
    """GET is disabled; page, introspection and hints are enabled."""
    access = Access()
    assert (access.hosts, access.origins, access.get) == (frozenset(), frozenset(), False)
    assert (access.page, access.introspection, access.hints) == (True, True, True)
    assert access.profile == "audit"


def test_the_rules_are_an_immutable_value():
    """They are compared by content, and arguments are keyword-only."""
    with pytest.raises(AttributeError):
        Access().get = True
    with pytest.raises(TypeError):
        Access(["lab.example"])
    assert Access(origins=["http://A.example:80"]) == Access(origins={"http://a.example"})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["Lab.Example"], {"lab.example"}),
        ("lab.example", {"lab.example"}),
        (("10.0.0.7", "::1", "[2001:DB8::1]"), {"10.0.0.7", "[::1]", "[2001:db8::1]"}),
        ([], set()),
    ],
)
def test_hosts_are_normalised(given, kept):
    """Lower-case, IPv6 in brackets; a single name needs no list."""
    assert Access(hosts=given).hosts == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["http://localhost:5173"], {"http://localhost:5173"}),
        ("HTTPS://Studio.Example:443", {"https://studio.example"}),
        (
            ["http://[::1]:3000", "vscode-webview://x1"],
            {"http://[::1]:3000", "vscode-webview://x1"},
        ),
    ],
)
def test_origins_are_normalised(given, kept):
    """Lower-case, without the default port."""
    assert Access(origins=given).origins == kept


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
