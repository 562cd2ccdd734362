"""Pages of other origins: none may ask, but those that are named, exactly."""

from __future__ import annotations

import pytest

from gqlnb.auth import Token
from gqlnb.http.server_rules import LOOPBACK_HOSTS, Access, ServerRules
from gqlnb.server.page import build_pages
from tests.http.http_requests import RULES, ask, get, request, said

PAGE = "http://localhost:5173"
NAMED = ServerRules(
    access=Access(origins=[PAGE, "https://studio.example"], get=True), pages=build_pages()
)
GUARDED = ServerRules(access=NAMED.access, token=Token("open-sesame"))
FIRST = {
    "origin": PAGE,
    "sec-fetch-site": "cross-site",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
}
NEAR = [
    "http://localhost:51730",
    "http://localhost:517",
    "http://localhost",
    "https://localhost:5173",
    "http://localhost:5173.evil.example",
    "http://localhost:5173/",
    "http://evil.example/http://localhost:5173",
    "https://studio.example.evil.example",
    "https://evil-studio.example",
    "null",
    "*",
    "",
    "http://localhost:5173, http://evil.example",
]


def cors(response):
    """Return the CORS headers of an answer."""
    return {k: v for k, v in response.headers.items() if k.startswith("access-control-")}


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
def test_a_named_page_is_answered_readably(site):
    """Its browser finds its name in the answer, and caches keep it apart."""
    headers = {"origin": PAGE} | ({"sec-fetch-site": site} if site else {})
    response = ask(request(headers=headers), NAMED)
    assert (response.status, response.headers["vary"]) == (200, "Origin")
    assert cors(response) == {"access-control-allow-origin": PAGE}


@pytest.mark.parametrize(
    "wanted",
    [
        request("{ helo }", headers={"origin": PAGE}),
        request(body=b"x", headers={"origin": PAGE}),
        request(path="/other", headers={"origin": PAGE}),
        request(method="PUT", headers={"origin": PAGE}),
        request(headers={"origin": PAGE, "content-type": "text/plain"}),
        request(headers={"origin": PAGE}, body=b" " * (2**20 + 1)),
        get(query="mutation { count }", headers={"origin": PAGE}),
    ],
)
def test_a_named_page_can_read_a_refusal_too(wanted):
    """Who builds a page sees what is wrong with its request, not a CORS error."""
    assert cors(ask(wanted, NAMED)) == {"access-control-allow-origin": PAGE}


@pytest.mark.parametrize("origin", NEAR)
def test_a_page_with_a_name_like_it_is_refused(origin):
    """Names are compared whole."""
    response = ask(request(headers={"origin": origin}), NAMED)
    assert (response.status, cors(response)) == (403, {})
    assert response.headers["vary"] == "Origin"
    first = ask(request(method="OPTIONS", headers=FIRST | {"origin": origin}), NAMED)
    assert (first.status, cors(first)) == (403, {})


def test_a_browser_that_asks_first_is_told_what_may_be_sent():
    """The preflight of a named page is answered with the methods and the headers it asked for."""
    response = ask(request(method="OPTIONS", headers=FIRST), NAMED)
    assert (response.status, response.body) == (204, b"")
    assert cors(response) == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "authorization,content-type",
        "access-control-max-age": "600",
    }


def test_a_preflight_needs_no_token():
    """Browsers send none with it; the request itself is asked for it, readably."""
    assert ask(request(method="OPTIONS", headers=FIRST), GUARDED).status == 204
    response = ask(request(headers={"origin": PAGE}), GUARDED)
    assert response.status == 401
    assert cors(response) == {"access-control-allow-origin": PAGE}


def test_a_preflight_may_ask_for_this_network():
    """A page from elsewhere asks whether it may reach a machine like this one."""
    headers = FIRST | {"access-control-request-private-network": "true"}
    response = ask(request(method="OPTIONS", headers=headers), NAMED)
    assert cors(response)["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize("names", ["x\r\ny: 1", "x;y", "é", "x" * 3000, ""])
def test_what_are_no_header_names_are_not_repeated(names):
    """Of a list that is none, content-type is left."""
    headers = FIRST | {"access-control-request-headers": names}
    response = ask(request(method="OPTIONS", headers=headers), NAMED)
    assert cors(response)["access-control-allow-headers"] == "content-type"


def test_without_named_pages_nothing_speaks_of_them():
    """A preflight is a method like any other, and no answer has a header for pages."""
    first = ask(request(method="OPTIONS", headers=FIRST), RULES)
    assert (first.status, first.headers["allow"], cors(first)) == (405, "POST", {})
    assert "vary" not in ask(request(), RULES).headers


@pytest.mark.parametrize("headers", [{}, {"origin": PAGE}, {"origin": "http://127.0.0.1:4000"}])
def test_options_that_is_no_preflight_is_405(headers):
    """It needs an origin that is named, and the method that it asks for."""
    assert ask(request(method="OPTIONS", headers=headers), NAMED).status == 405
    own = {"origin": "http://127.0.0.1:4000", "access-control-request-method": "POST"}
    assert ask(request(method="OPTIONS", headers=own), NAMED).status == 405


def test_a_foreign_host_is_refused_to_a_named_page_too():
    """A name that someone's DNS leads here is not served, whoever asks."""
    assert ask(request(headers={"origin": PAGE, "host": "evil.example"}), NAMED).status == 403


def test_the_host_of_another_name_is_served_where_it_is_named():
    """What a proxy calls the server can be let in, with any port."""
    rules = ServerRules(hosts=LOOPBACK_HOSTS | Access(hosts=["Lab.Example"]).hosts)
    for host in ("lab.example", "LAB.example:8443", "localhost"):
        assert ask(request(headers={"host": host}), rules).status == 200
    for host in ("lab.example.evil.example", "xlab.example", "example"):
        assert ask(request(headers={"host": host}), rules).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "cross-origin", "", "NONE"])
def test_a_get_of_a_foreign_page_is_refused(site):
    """An image or a link of another page can't make the server work, GET or not."""
    wanted = get(query="{ hello }", headers={"sec-fetch-site": site})
    assert ask(wanted, NAMED).status == 403
    assert said(ask(wanted, NAMED))["errors"][0]["message"].startswith("A page of another site")


@pytest.mark.parametrize("site", ["same-origin", "none", None])
def test_a_get_of_ones_own_is_answered(site):
    """Typed into the address bar, sent by the own page or by no browser at all."""
    headers = {"sec-fetch-site": site} if site else {}
    assert ask(get(query="{ hello }", headers=headers), NAMED).status == 200
