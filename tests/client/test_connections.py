"""Connections by name, and the default connection."""

import threading

import pytest

from gqlnb import (
    AuthError,
    Client,
    QueryError,
    TargetError,
    Token,
    connect,
    reference_schema,
    serve,
)
from gqlnb.client import connections
from tests.named_connections import forget_connection


@pytest.fixture(autouse=True)
def tidy():
    """Leave no name and no current connection behind."""
    yield
    connections.use_connection(None)
    for name in ("mine", "other"):
        forget_connection(name)


def make(**options):
    """Return a client of the reference schema."""
    return Client(reference_schema(), **options)


def test_a_name_returns_the_same_client_each_time():
    """Its connections are reused; options create a new client."""
    connections.register_connection("mine", make, "hello")
    assert connect("mine") is connect("mine")
    assert connect("mine").execute("{ hello }").data == {"hello": "Hello world!"}
    assert connect("mine", timeout=7) is not connect("mine")


def test_a_closed_connection_can_be_reopened():
    """Closing releases its resources; the name stays."""
    connections.register_connection("mine", make, "hello")
    first = connect("mine")
    connections.close_client("mine")
    assert connect("mine") is not first


def test_names_can_be_listed_while_a_client_closes(monkeypatch):
    """Closing may be slow, as for a recording on a network drive; completion does not wait."""
    connections.register_connection("mine", make, "hello")
    asked = []

    def close():
        thread = threading.Thread(target=lambda: asked.append(connections.is_known("demo")))
        thread.start()
        thread.join(5)

    monkeypatch.setattr(connect("mine"), "close", close)
    connections.close_client("mine")
    assert asked == [True]


def test_an_unknown_name_lists_the_known_ones():
    """With a suggestion."""
    connections.register_connection("mine", make, "hello")
    with pytest.raises(TargetError, match=r"'mime'. Did you mean 'mine'\? Known: .*'demo'"):
        connect("mime")
    with pytest.raises(TargetError, match="nope"):
        connections.use_connection("nope")


def test_the_default_target_is_chosen_in_order(monkeypatch):
    """Current connection, GQLNB_URL, newest server, this host."""
    assert connections.resolve_default_target()[0] == "http://127.0.0.1:4000/graphql"
    with serve(reference_schema(), port=0) as older, serve(reference_schema(), port=0) as newest:
        assert connections.resolve_default_target()[0] is newest
        newest.close()
        assert connections.resolve_default_target()[0] is older
        monkeypatch.setenv("GQLNB_URL", "http://127.0.0.1:1/graphql")
        assert Client().source == "http://127.0.0.1:1/graphql"
        connections.register_connection("mine", make, "hello")
        connections.use_connection("mine")
        assert Client().source == "in-process"


def test_a_path_is_resolved_on_the_current_host():
    """By default, `/graphql` is on port 4000 of this machine."""
    assert Client("/graphql").source == "http://127.0.0.1:4000/graphql"
    assert Client("/v2/graphql").source == "http://127.0.0.1:4000/v2/graphql"


def test_a_client_is_accepted_as_a_connection():
    """Passing one on creates no second client."""
    client = make()
    assert connect(client) is client


@pytest.mark.parametrize("target", [5, object(), "", [], print])
def test_an_invalid_target_is_an_error(target):
    """The message lists the valid ones."""
    with pytest.raises(TargetError):
        connect(target)


def asking(server):
    """Return a factory of clients of a server's address, as a person would register it."""
    return lambda **options: Client(server.url, **{"token": Token("registered"), **options})


@pytest.mark.parametrize("target", ["mine", None])
@pytest.mark.parametrize("make_client", [Client, connect])
def test_given_options_override_those_of_a_connection(target, make_client):
    """Named or current, a new client is created with them."""
    with serve(reference_schema(), port=0, token=Token("canary-31")) as server:
        connections.register_connection("mine", asking(server), "a server with a token")
        connections.use_connection("mine")
        with pytest.raises(AuthError):
            make_client(target).execute("{ hello }")
        given = {"headers": {"X-Other": "a"}, "timeout": 7, "token": Token("canary-31")}
        made = make_client(target, **given, verify=False)
        assert made.execute("{ hello }").data == {"hello": "Hello world!"}
        assert made._endpoint.transport.timeout == 7
        assert made._endpoint.transport.verify is False
        assert made._endpoint.credentials.headers == {"X-Other": "a"}


def test_without_options_the_options_of_a_connection_apply():
    """Neither its timeout nor its verify= is replaced by a default."""
    connections.register_connection(
        "mine",
        lambda **o: Client("https://127.0.0.1:1", **{"timeout": 5, "verify": False, **o}),
        "",
    )
    for made in (Client("mine"), Client("mine", headers={"X": "y"}), connect("mine")):
        assert (made._endpoint.transport.timeout, made._endpoint.transport.verify) == (5, False)


def test_errors_of_a_named_client_hide_the_token_of_its_connection():
    """The client's errors mask the secrets of the connection."""
    with serve(reference_schema(), port=0) as server:
        connections.register_connection("mine", asking(server), "")
        with pytest.raises(QueryError) as caught:
            Client("mine").execute("{ registered }")
        assert "registered" not in caught.value.problems[0].message


@pytest.mark.parametrize(
    "options", [{"token": Token("x")}, {"headers": {"X": "y"}}, {"timeout": 1}]
)
def test_options_for_an_existing_client_are_refused(options):
    """Its options cannot be changed."""
    with pytest.raises(TargetError, match=f"{next(iter(options))}= cannot be changed"):
        connect(make(), **options)


def test_an_invalid_environment_variable_is_named(monkeypatch):
    """The address is not in the user's code."""
    monkeypatch.setenv("GQLNB_URL", "localhost:4000")
    with pytest.raises(
        TargetError, match=r"GQLNB_URL does not specify a valid endpoint.*'localhost:4000'"
    ):
        Client()
    monkeypatch.setenv("GQLNB_URL", "http://user:canary-32@127.0.0.1/graphql")
    with pytest.raises(TargetError, match="GQLNB_URL") as caught:
        Client()
    assert "canary-32" not in str(caught.value)


@pytest.mark.parametrize("text", ["{ helo }", "{ hello", "", "query ($a: Int!) { hello }"])
def test_errors_name_the_current_connection(text):
    """Unless the call named its target."""
    connections.register_connection("mine", make, "hello")
    connections.use_connection("mine")
    for ask in (Client().execute, Client().parse_document):
        if "$a" in text and ask.__name__ == "document":
            continue
        with pytest.raises(QueryError, match="Target: 'mine', the current connection") as caught:
            ask(text)
        assert str(caught.value).count("Target:") == 1
    with pytest.raises(QueryError) as caught:
        Client("mine").execute(text)
    assert "Target:" not in str(caught.value)


def test_errors_name_the_target_of_the_environment_variable(monkeypatch):
    """Without possible secrets in the address."""
    monkeypatch.setenv("GQLNB_URL", "http://127.0.0.1:1/graphql?key=canary-33")
    with pytest.raises(
        QueryError, match=r"Target: http://127\.0\.0\.1:1/graphql, which GQLNB_URL names\."
    ):
        Client().execute("{ hello")
