"""Connections by name, and what is meant when nothing is named."""

import pytest

import gqlnb
from gqlnb import Client, TargetError, connect, reference_schema, runtime, serve
from gqlnb.client import connections


@pytest.fixture(autouse=True)
def tidy():
    """Leave no name and no current connection behind."""
    yield
    connections.use(None)
    for name in ("mine", "other"):
        connections.forget(name)


def make(**options):
    """Return a client of the reference schema."""
    return Client(reference_schema(), **options)


def test_a_name_gives_the_same_client_each_time():
    """Its connections are kept alive; options make a new one."""
    connections.register("mine", make, "hello")
    assert connect("mine") is connect("mine")
    assert connect("mine").execute("{ hello }").data == {"hello": "Hello world!"}
    assert connect("mine", headers={"X": "y"}) is not connect("mine")


def test_a_closed_connection_opens_again():
    """Closing gives back what is open; the name stays."""
    connections.register("mine", make, "hello")
    first = connect("mine")
    connections.close("mine")
    assert connect("mine") is not first


def test_an_unknown_name_lists_the_known_ones():
    """With a guess at what was meant."""
    connections.register("mine", make, "hello")
    with pytest.raises(TargetError, match=r"'mime'. Did you mean 'mine'\? Known: .*'demo'"):
        connect("mime")
    with pytest.raises(TargetError, match="nope"):
        connections.use("nope")


def test_github_and_demo_exist_from_the_start():
    """The stand-in needs no token."""
    names = {connection.name for connection in connections.known()}
    assert {"github", "demo"} <= names
    assert connect("demo").execute("{ viewer { login } }").data["viewer"]["login"]


def test_the_order_in_which_a_target_is_chosen(monkeypatch):
    """Current connection, GQLNB_URL, newest server, this host."""
    assert connections.default_target() == "http://127.0.0.1:4000/graphql"
    with serve(reference_schema(), port=0) as older, serve(reference_schema(), port=0) as newest:
        assert connections.default_target() is newest
        newest.close()
        assert connections.default_target() is older
        monkeypatch.setenv("GQLNB_URL", "http://127.0.0.1:1/graphql")
        assert Client().source == "http://127.0.0.1:1/graphql"
        connections.register("mine", make, "hello")
        connections.use("mine")
        assert Client().source == "in-process"


def test_a_bare_client_asks_the_newest_server():
    """Over its real socket."""
    with serve(reference_schema(), port=0):
        assert Client().execute("{ hello }").data == {"hello": "Hello world!"}
    assert runtime.servers.newest() is None


def test_a_path_is_on_the_current_host():
    """`/graphql` is `/graphql` on port 4000 of this machine."""
    assert Client("/graphql").source == "http://127.0.0.1:4000/graphql"
    assert Client("/v2/graphql").source == "http://127.0.0.1:4000/v2/graphql"


def test_a_client_is_its_own_connection():
    """Passing one on is no second client."""
    client = make()
    assert connect(client) is client


@pytest.mark.parametrize("target", [5, object(), "", [], print])
def test_what_cannot_be_asked_is_an_error(target):
    """The message lists what can."""
    with pytest.raises(TargetError):
        connect(target)


def test_github_without_a_token_says_how_to_get_one():
    """A personal access token with nothing ticked is enough for public data."""
    with pytest.raises(gqlnb.AuthError, match="personal access token"):
        connect("github")
