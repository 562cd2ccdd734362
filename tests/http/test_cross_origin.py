"""Pages of other origins: none may ask, but those that are named, exactly."""

from __future__ import annotations

import pytest

from gqlnb.http.server_rules import Access, ServerRules
from gqlnb.server.page import build_pages
from gqlnb.tokens import Token
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
def test_an_allowed_origin_gets_cors_headers(site):
    """The origin is echoed, and Vary keeps caches apart."""
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
def test_an_allowed_origin_gets_cors_headers_on_errors(wanted):
    """The page sees the error, not a CORS failure."""
    assert cors(ask(wanted, NAMED)) == {"access-control-allow-origin": PAGE}


@pytest.mark.parametrize("origin", NEAR)
def test_a_similar_origin_is_rejected(origin):
    """Origins are compared whole."""
    response = ask(request(headers={"origin": origin}), NAMED)
    assert (response.status, cors(response)) == (403, {})
    assert response.headers["vary"] == "Origin"
    first = ask(request(method="OPTIONS", headers=FIRST | {"origin": origin}), NAMED)
    assert (first.status, cors(first)) == (403, {})


def test_a_preflight_lists_methods_and_headers():
    """The requested headers are allowed for an allowed origin."""
    response = ask(request(method="OPTIONS", headers=FIRST), NAMED)
    assert (response.status, response.body) == (204, b"")
    assert cors(response) == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "authorization,content-type",
        "access-control-max-age": "600",
    }


def test_a_preflight_needs_no_token():
    """Browsers send none; the actual request requires it and can read the 401."""
    assert ask(request(method="OPTIONS", headers=FIRST), GUARDED).status == 204
    response = ask(request(headers={"origin": PAGE}), GUARDED)
    assert response.status == 401
    assert cors(response) == {"access-control-allow-origin": PAGE}


def test_a_preflight_may_request_private_network_access():
    """Public pages ask for it before they reach a local server."""
    headers = FIRST | {"access-control-request-private-network": "true"}
    response = ask(request(method="OPTIONS", headers=headers), NAMED)
    assert cors(response)["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize("names", ["x\r\ny: 1", "x;y", "é", "x" * 3000, ""])
def test_invalid_header_names_are_not_echoed(names):
    """Only content-type remains of an invalid list."""
    headers = FIRST | {"access-control-request-headers": names}
    response = ask(request(method="OPTIONS", headers=headers), NAMED)
    assert cors(response)["access-control-allow-headers"] == "content-type"


def test_without_allowed_origins_no_cors_headers_are_sent():
    """A preflight then is an unsupported method."""
    first = ask(request(method="OPTIONS", headers=FIRST), RULES)
    assert (first.status, first.headers["allow"], cors(first)) == (405, "POST", {})
    assert "vary" not in ask(request(), RULES).headers


@pytest.mark.parametrize("headers", [{}, {"origin": PAGE}, {"origin": "http://127.0.0.1:4000"}])
def test_options_without_preflight_headers_gets_405(headers):
    """A preflight has an allowed origin and a requested method."""
    assert ask(request(method="OPTIONS", headers=headers), NAMED).status == 405
    own = {"origin": "http://127.0.0.1:4000", "access-control-request-method": "POST"}
    assert ask(request(method="OPTIONS", headers=own), NAMED).status == 405


def test_a_foreign_host_is_rejected_for_an_allowed_origin():
    """DNS rebinding is prevented for every origin."""
    assert ask(request(headers={"origin": PAGE, "host": "evil.example"}), NAMED).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "cross-origin", "", "NONE"])
def test_a_cross_site_get_is_rejected(site):
    """An image or link of another page cannot run a query."""
    wanted = get(query="{ hello }", headers={"sec-fetch-site": site})
    assert ask(wanted, NAMED).status == 403
    assert said(ask(wanted, NAMED))["errors"][0]["message"].startswith("Cross-site requests")


@pytest.mark.parametrize("site", ["same-origin", "none", None])
def test_a_same_origin_get_is_answered(site):
    """Also one from the address bar, or from a client that is not a browser."""
    headers = {"sec-fetch-site": site} if site else {}
    assert ask(get(query="{ hello }", headers=headers), NAMED).status == 200
