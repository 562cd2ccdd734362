"""Files as variables: sent to an application that implements the multipart specification."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import signal
import socket
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
import strawberry
from strawberry.asgi import GraphQL
from strawberry.file_uploads import Upload as Received
from strawberry.schema.config import StrawberryConfig

import gqlnb
from gqlnb import Client, QueryError, Schema, TransportError, Upload, serve
from gqlnb.client.http_transport import HttpTransport
from gqlnb.server.app import App
from tests.asgi import run_app
from tests.client.faults import Endpoint, answer, json_answer

# The application leaves its temporary files to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

MIB = 1 << 20
PATIENCE = 20.0  # seconds until a test gives up
HELLO = b"a,b\n1,2\n"
SINGLE = "mutation ($file: Upload!) { read(file: $file) { name type size digest } }"


@strawberry.type
class Seen:
    """What came of a file."""

    name: str
    type: str
    size: int
    digest: str


async def seen(file: Any) -> Seen:
    """Read a file."""
    data = await file.read()
    return Seen(name=file.filename, type=file.content_type, size=len(data), digest=digest(data))


def digest(data: bytes) -> str:
    """Return what tells contents apart."""
    return hashlib.sha256(data).hexdigest()


@strawberry.type
class Query:
    """What is asked."""

    hello: str = "Hello world!"


@strawberry.type
class Mutation:
    """A mutation that reads a file."""

    @strawberry.mutation
    async def read(self, file: Received) -> Seen:
        """Tell what came."""
        return await seen(file)


@pytest.fixture(scope="module")
def address():
    """Serve the application on a free port."""
    schema = strawberry.Schema(Query, Mutation, config=StrawberryConfig())
    app: Any = GraphQL(schema, multipart_uploads_enabled=True)  # a Starlette application
    with run_app(app) as url:
        yield url


@pytest.fixture
def client(address):
    """Return a client of it."""
    with Client(address) as made:
        yield made


@pytest.fixture
def table(tmp_path):
    """Return the path of a small file."""
    path = tmp_path / "table.csv"
    path.write_bytes(HELLO)
    return path


@pytest.mark.parametrize(
    "make",
    [Path, str, Path.read_bytes, lambda path: path.open("rb")],
    ids=["path", "text", "bytes", "open"],
)
def test_an_upload_may_set_a_name_and_a_type(client, table, make):
    """Of a path, of bytes and of an open file."""
    given = Upload(make(table), filename='a "b".dat', content_type="application/x-own")
    found = client.execute(SINGLE, {"file": given})["read"]
    assert found["type"] == "application/x-own"
    assert found["digest"] == digest(HELLO)
    assert found["name"] in {'a "b".dat', "a %22b%22.dat"}


def test_files_are_validated_against_the_schema(client, table):
    """With a known schema, a file is valid for Upload, and not for Int."""
    assert client.schema.type_map["Upload"]
    assert client.execute(SINGLE, {"file": Upload(table)})["read"]["size"] == 8
    text = "query ($t: String!) { __type(name: $t) { name } }"
    with pytest.raises(QueryError, match="String cannot represent"):
        client.execute(text, {"t": Upload(table)})


def test_a_file_is_sent_from_its_current_position(client, table):
    """Bytes read before are not sent, and a second request sends the same."""
    with table.open("rb") as file:
        file.readline()
        for _ in range(2):
            place = file.tell()
            found = client.execute(SINGLE, {"file": Upload(file)})["read"]
            assert found["digest"] == digest(HELLO[4:])
            file.seek(place if place < len(HELLO) else 4)


def test_a_stream_of_unknown_length_is_sent_in_chunks(client):
    """A pipe has no length and is not seekable."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(b"from a pipe")
    with os.fdopen(reading, "rb") as pipe:
        found = client.execute(SINGLE, {"file": pipe})["read"]
    assert found["digest"] == digest(b"from a pipe")


def test_a_member_of_an_archive_is_sent(client, tmp_path):
    """Any object with a `read` method that returns bytes is a file."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner.txt", "packed")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive, archive.open("inner.txt") as member:
        found = client.execute(SINGLE, {"file": member})["read"]
    assert (found["name"], found["digest"]) == ("inner.txt", digest(b"packed"))


def test_a_large_file_is_never_entirely_in_memory(client, tmp_path):
    """Of 48 MiB the client has only a few chunks in memory at a time."""
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(48 * MIB)
    made = Upload(path)
    client.execute(SINGLE, {"file": io.BytesIO(b"warm")})
    highest = 0

    class Watched(io.FileIO):
        def read(self, size: int = -1) -> bytes:
            nonlocal highest
            assert size > 0
            highest = max(highest, size)
            return super().read(size)

    with Watched(path) as file:
        found = client.execute(SINGLE, {"file": file})["read"]
    assert found["size"] == 48 * MIB == made.size
    assert highest <= MIB


# -- what is sent, to the byte


FAILURE = answer("", "503 No", Connection="close")


def test_the_body_follows_the_multipart_specification(canned):
    """`operations` with nulls, then `map`, then the files; the token is sent, too."""
    canned.answers = [json_answer({"data": {"a": 1}})]
    file = io.BytesIO(b"once")
    text = "mutation ($a: Upload, $b: In) { a(a: $a, b: $b) }"
    with Client(canned.url, token=gqlnb.Token("t0ken-abcdef")) as client:
        client.execute(text, {"a": file, "b": {"n": 1, "files": [None, file]}})
    sent = canned.requests[0]
    head, _, body = sent.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    boundary = headers["Content-Type"].removeprefix("multipart/form-data; boundary=")
    assert headers["Authorization"] == "Bearer t0ken-abcdef"
    assert int(headers["Content-Length"]) == len(body)
    parts = [part.strip(b"\r\n") for part in body.split(f"--{boundary}".encode())]
    assert parts[0] == b""
    assert parts[-1] == b"--"
    operations = json.loads(parts[1].partition(b"\r\n\r\n")[2])
    assert operations["variables"] == {"a": None, "b": {"n": 1, "files": [None, None]}}
    assert b'name="map"' in parts[2]
    assert b'filename="file"' in parts[3]
    assert parts[3].endswith(b"once")
    assert json.loads(parts[2].partition(b"\r\n\r\n")[2]) == {
        "0": ["variables.a", "variables.b.files.1"]
    }


def test_a_query_with_a_seekable_file_is_retried(canned):
    """After HTTP 503 it sends its file once more, from the start."""
    canned.answers = [FAILURE, json_answer({"data": {"look": 1}})]
    with Client(canned.url) as client:
        found = client.execute("query ($f: Upload) { look(f: $f) }", {"f": io.BytesIO(b"twice")})
    assert found.data == {"look": 1}
    assert [request.count(b"twice") for request in canned.requests] == [1, 1]


def test_a_stream_is_not_sent_twice(canned):
    """A stream that cannot be rewound is an error, and no partial content is sent."""
    canned.answers = [FAILURE, json_answer({"data": {"look": 1}})]
    reading, writing = os.pipe()
    os.write(writing, b"once")
    os.close(writing)
    with (
        os.fdopen(reading, "rb") as pipe,
        Client(canned.url) as client,
        pytest.raises(TransportError, match="can't be sent a second time") as caught,
    ):
        client.execute("query ($f: Upload) { look(f: $f) }", {"f": pipe})
    assert "Upload(path)" in str(caught.value)
    assert sum(request.count(b"once") for request in canned.requests) == 1


def test_the_deadline_applies_while_a_file_is_sent(tmp_path):
    """An endpoint that reads nothing ends the call at its deadline."""
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(64 * MIB)
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with listener, Client(url, timeout=0.3) as client, pytest.raises(TransportError) as caught:
        client.execute(SINGLE, {"file": Upload(path)})
    assert "0.3 s" in str(caught.value)
    assert "may have been executed" in str(caught.value)


# -- what is no file, and who takes none


class Sink(Endpoint):
    """Takes the beginning of one upload and no more of it; answers what comes after it."""

    def __init__(self) -> None:
        super().__init__(self.take, json_answer({"data": {"hello": "Hi"}}))
        self.begun, self.left = threading.Event(), threading.Event()

    def take(self, connection: socket.socket, _over: threading.Event) -> None:
        """Begin to read, wait until the client has left, and see that nothing more comes."""
        while b"xxxx" not in connection.recv(1 << 16):
            pass
        self.begun.set()
        self.left.wait(PATIENCE)
        while connection.recv(1 << 20):
            pass


class Endless(io.RawIOBase):
    """A file whose end never comes."""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return as much as is asked for."""
        return b"x" * max(size, 1)


def interrupted(client: Client, sink: Sink, file: Any) -> None:
    """Press Ctrl-C while a file is sent."""
    main = threading.main_thread().ident
    assert main is not None

    def press() -> None:
        assert sink.begun.wait(PATIENCE)
        signal.pthread_kill(main, signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        client.execute(SINGLE, {"file": file})
    presser.join()


def cancelled(client: Client, sink: Sink, file: Any) -> None:
    """Cancel the task that sends a file."""

    async def there() -> None:
        task = asyncio.create_task(client.aexecute(SINGLE, {"file": file}))
        assert await asyncio.to_thread(sink.begun.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(there())


@pytest.mark.parametrize("leave", [interrupted, cancelled])
def test_a_cancelled_upload_ends(leave):
    """Its connection closes, the file stays open, and the client stays usable."""
    file = Endless()
    with Sink() as sink:
        client = Client(sink.url)
        leave(client, sink, file)
        sink.left.set()
        assert sink.gone.wait(PATIENCE)
        assert not file.closed
        assert client.execute("{ hello }").data == {"hello": "Hi"}


def test_an_in_process_resolver_gets_the_file_object(table):
    """It is not converted to bytes."""
    got: list[Any] = []
    sdl = "scalar Upload type Query { a: Int } type Mutation { read(file: Upload!): Int }"
    schema = Schema(sdl, {"Mutation": {"read": lambda _r, args, _c: got.append(args["file"]) or 1}})
    file, upload = io.BytesIO(b"x"), Upload(table)
    for given in (file, upload):
        Client(schema).execute("mutation ($f: Upload!) { read(file: $f) }", {"f": given})
    assert got == [file, upload]
    assert upload.read() == HELLO


def test_our_server_refuses_uploads_with_an_explanation():
    """HTTP 415, with the accepted media type."""
    schema = Schema("scalar Upload type Query { read(file: Upload): Int }")
    text = "query ($f: Upload) { read(file: $f) }"
    with serve(schema, port=0) as server, Client(server.url) as client:  # noqa: SIM117
        with pytest.raises(
            TransportError,
            match=r"415: This server does not accept files\. To accept them: serve\(",
        ):
            client.execute(text, {"f": io.BytesIO(b"x")})


def test_other_transports_refuse_files():
    """An ASGI application accepts only JSON; the error names the variable."""
    app = App(Schema("scalar Upload type Query { read(file: Upload): Int }"))
    with pytest.raises(QueryError, match=r"\$f' contains a file, which ASGI app does not support"):
        Client(app).execute("query ($f: Upload) { read(file: $f) }", {"f": io.BytesIO(b"x")})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.read_bytes, "give gqlnb.Upload"),
        (lambda path: path, "give gqlnb.Upload"),
        (lambda path: path.open(), "Open it so: open\\(path, 'rb'\\)"),
        (lambda _path: io.StringIO("x"), "read as bytes"),
    ],
    ids=["bytes", "path", "text file", "text"],
)
def test_values_that_resemble_files_are_explained(table, make, message):
    """Bytes, paths and text files are errors that name the correct form."""
    given = make(table)
    with Client("http://127.0.0.1:9/") as client, pytest.raises(QueryError, match=message):
        client.execute(SINGLE, {"file": given})
    if hasattr(given, "close"):
        given.close()


def test_a_closed_or_missing_file_is_an_error(table):
    """Nothing is sent of it."""
    file = table.open("rb")
    file.close()
    with Client("http://127.0.0.1:9/") as client:
        with pytest.raises(QueryError, match="is closed"):
            client.execute(SINGLE, {"file": file})
        upload = Upload(table)
        table.unlink()
        with pytest.raises(TransportError, match="could not be read"):
            client.execute(SINGLE, {"file": upload})
    with pytest.raises(gqlnb.OptionError, match="there is no file"):
        Upload(table)


def test_a_file_that_shrinks_ends_the_request(address, table):
    """The announced length is not reached, and the connection is not reused."""

    class Shrinking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            self.truncate(4)
            return super().read(size)

    with Client(address) as client:
        assert isinstance(client._endpoint.transport, HttpTransport)
        with pytest.raises(TransportError, match="became shorter while it was sent: 4 bytes"):
            client.execute(SINGLE, {"file": Shrinking(HELLO)})
        assert client.execute(SINGLE, {"file": Upload(table)})["read"]["size"] == 8


def test_a_file_below_a_key_with_a_dot_is_refused():
    """The map of the specification cannot express its path."""
    text = "query ($j: JSON) { look(j: $j) }"
    with (
        Client("http://127.0.0.1:9/") as client,
        pytest.raises(QueryError, match=r"the key 'a\.b'"),
    ):
        client.execute(text, {"j": {"a.b": [io.BytesIO(b"x")]}})


def test_reprs_and_errors_do_not_show_file_contents(table):
    """They have name, type and length."""
    assert repr(Upload(table)) == "Upload('table.csv', 'text/csv', 8 bytes)"
    assert repr(Upload(b"s3cret")) == "Upload('file', 'application/octet-stream', 6 bytes)"
