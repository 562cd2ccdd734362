"""The file of a recording: readable, complete lines, without secrets."""

from __future__ import annotations

import json
import os

import pytest

import gqlnb
from gqlnb import Client, ReplayError, Schema, Token, recorded, scrub
from gqlnb.client.recording.cassette import Cassette, RecordedAnswer, build_request_key

HEAD = '{"gqlnb":"recording","version":1}\n'
SDL = "type Query { a(b: String, c: JSON): String e: JSON }\nscalar JSON"
SECRET = "canary/53ab+c9"  # of no service's shape


@pytest.fixture
def path(tmp_path):
    """Return the path of a new recording."""
    return tmp_path / "it.jsonl"


def replaying(path):
    """Return a client that replays a recording."""
    return Client(Schema(SDL), recording=path, mode="replay")


def test_a_recording_consists_of_readable_lines(path):
    """The first line is the format; all others are requests and answers."""
    schema = Schema(SDL, {"Query": {"a": lambda root, args, context: f"hello {args['b']} ü"}})
    text = "query Q($b: String) {\n  a(b: $b)  # comment\n}"
    client = Client(schema, recording=path, mode="record")
    client.execute(text, {"b": "you"})
    client.execute(text, {"b": "you"})
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    assert f"{first}\n" == HEAD
    asked = (
        '{"connection":"in-process","operation":"Q","query":"query Q($b: String) { a(b: $b) }",'
        '"variables":{"b":"you"}'
    )
    assert lines[0] == asked + ',"data":{"a":"hello you ü"}}'
    assert lines[1] == asked + ',"take":2,"data":{"a":"hello you ü"}}'


def test_a_recording_may_be_written_by_hand(path):
    """White space and order do not matter, and members may be omitted."""
    path.write_text(
        HEAD
        + '\n{ "data": {"a": "by hand"}, "query": "query {\\n a(b: \\"x\\") }", '
        + '"connection": "in-process" }\n\n'
        + '{"query":"{ e }","connection":"in-process","take":7,'
        + '"data":{"e":[1.50,9007199254740993]}}'
    )
    assert replaying(path).execute('{ a(b: "x") }').data == {"a": "by hand"}
    assert replaying(path).execute("{ e }").data == {"e": [1.5, 9007199254740993]}
    with recorded(path):  # the line without an end is closed before the next one begins
        Client(Schema(SDL)).execute("{ e a }")
    assert replaying(path).execute("{ e }").data["e"] == [1.5, 9007199254740993]
    assert replaying(path).execute("{ e a }").data == {"e": None, "a": None}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"connection":"x","query":"{ a }"', "line 3 is broken: Input data was truncated"),
        ("[1]", "line 3 is broken: Expected `object`, got `array`"),
        ('{"connection":"x","query":5}', r"line 3 is broken: Expected `str`, got `int` - at `\$.q"),
        ('{"connection":"x"}', "line 3 is broken: Object missing required field `query`"),
        ('{"connection":"\ud800","query":""}', "line 3 is broken"),
        ("<<<<<<< HEAD", "line 3 is broken: JSON is malformed"),
    ],
)
def test_an_invalid_line_is_named(path, line, said):
    """The error has the file, the line, the reason and a remedy."""
    good = '{"connection":"in-process","query":"{ a }","data":{"a":"b"}}'
    path.write_bytes(f"{HEAD}{good}\n{line}\n{good}\n".encode("utf-8", "surrogatepass"))
    for mode in ("replay", "auto", "record"):
        client = Client(Schema(SDL), recording=path, mode=mode)
        with pytest.raises(ReplayError, match=said) as caught:
            client.execute("{ a }")
        assert "it.jsonl" in str(caught.value)
        assert "Repair or delete that line" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no answer to an unnamed query of 'in-process'. It is empty. To record it"),
        ("hello\n", "is not a recording of gqlnb: its first line is not {"),
        ('{"cells": []}', "is not a recording of gqlnb"),
        ('{"gqlnb":"recording","version":2}\n', "of format 2, and this version of gqlnb reads fo"),
        (HEAD, "holds no answer to an unnamed query of 'in-process'. It is empty. To record it"),
    ],
)
def test_another_file_is_refused(path, text, said):
    """The error has the reason, and the file is not changed."""
    path.write_text(text)
    with pytest.raises(ReplayError) as caught:
        replaying(path).execute("{ a }")
    assert said in str(caught.value)
    if text and not text.startswith(HEAD):
        with pytest.raises(ReplayError):
            Client(Schema(SDL), recording=path, mode="record").execute("{ a }")
        assert path.read_text() == text


def test_a_line_without_a_valid_answer_is_named_when_it_is_needed(path):
    """Its request could be read."""
    path.write_text(f'{HEAD}{{"connection":"in-process","query":"{{ a }}","status":"x"}}\n')
    with pytest.raises(ReplayError, match=r"line 2 is broken: Expected `int`, got `str`"):
        replaying(path).execute("{ a }")


def test_a_changed_file_is_read_again(path):
    """Changed by another process, or by hand."""
    line = '{"connection":"in-process","query":"{ a }","data":{"a":"%s"}}\n'
    path.write_text(HEAD + line % "one")
    client = replaying(path)
    assert client.execute("{ a }").data == {"a": "one"}
    path.write_text(HEAD + line % "another")
    assert client.execute("{ a }").data == {"a": "another"}
    path.unlink()
    with pytest.raises(ReplayError, match="holds no answer"):
        client.execute("{ a }")


def test_a_failed_write_leaves_no_partial_line(path, monkeypatch):
    """The disk becomes full in the middle of a line."""
    made = Cassette(path)
    key = build_request_key("x", "{ a }", None, {})
    made.append_answer(key, RecordedAnswer())
    before = path.read_bytes()

    class Full:
        """A file on a disk that fills up."""

        def __init__(self, file):
            self.file = file

        def write(self, data):
            self.file.write(data[:5])
            self.file.flush()
            raise OSError(28, "No space left on device")

        def __getattr__(self, name):
            return getattr(self.file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

    locked = Cassette._open_locked
    monkeypatch.setattr(Cassette, "_open_locked", lambda self, mode: Full(locked(self, mode)))
    with pytest.raises(ReplayError, match="cannot be used as a recording: No space left on device"):
        made.append_answer(key, RecordedAnswer(take=2))
    assert path.read_bytes() == before


def test_replaced_lines_are_removed_and_others_unchanged(path):
    """Byte for byte, in their order, with the permissions of the file."""
    lines = [
        '{"connection":"x","query":"{ a }","take":1,"data":1}',
        '{"connection":"x","query":"{ b }","data": "as it was"}',
        '{"connection":"x","query":"{ a }","take":2,"data":2}',
        '{"connection":"x","query":"{ a }","data":3}',
        '{"connection":"x","query":"{ a }","take":2,"data":4}',
        '{"connection":"x","query":"{ a }","take":2,"data":5}',
    ]
    path.write_text("\n".join([HEAD.strip(), *lines]) + "\n")
    path.chmod(0o640)
    Cassette(path).remove_superseded()
    assert path.read_text().splitlines()[1:] == [lines[1], lines[3], lines[5]]
    assert path.stat().st_mode & 0o777 == 0o640
    number = path.stat().st_ino
    Cassette(path).remove_superseded()
    assert path.stat().st_ino == number  # there was nothing to do
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    "echo",
    [
        SECRET,
        "canary\\u002f53ab+c9",
        "canary%2F53ab%2Bc9",
        "Y2FuYXJ5LzUzYWIrYzk=",
        "ghp_" + "a1" * 18,
    ],
)
def test_no_token_is_written(path, echo):
    """Neither in text, variables and their names, nor in data, errors and extensions."""
    answer = json.loads(f'["{echo}", {{"{echo}": 1}}]')
    schema = Schema(SDL, {"Query": {"e": lambda *_: answer, "a": lambda *_: f"<{echo}>"}})
    token = Token(SECRET)
    text = f'query Q($c: JSON) {{ e a(b: "{echo}", c: $c) }}'
    client = Client(schema, recording=path)
    live = client.execute(text, {"c": {echo: [echo]}}).data
    assert live["e"] == answer
    written = path.read_text()
    assert SECRET not in written
    assert echo not in written
    again = replaying(path).execute(text, {"c": {echo: [echo]}}).data
    assert "***" in again["e"][0]
    assert not scrub(path)
    assert token


def test_a_masked_number_leaves_valid_json(path):
    """Numbers in secret fields are masked as text."""
    answer = {"x-api-key": 123456789, "n": [123456789, True]}
    schema = Schema(SDL, {"Query": {"e": lambda *_: answer}})
    Client(schema, recording=path).execute("{ e }")
    assert replaying(path).execute("{ e }").data == {
        "e": {"x-api-key": "***", "n": [123456789, True]}
    }


def test_a_scrubbed_recording_can_be_replayed(path):
    """Also after a token was added by hand, as text or as a number."""
    path.write_text(
        f'{HEAD}{{"connection":"in-process","query":"{{ e }}",'
        f'"data":{{"e":{{"api-key":12345678,"b":"ghp_{"a1" * 18}"}}}}}}\n'
    )
    assert [finding.where for finding in scrub(path)] == ["line 2", "line 2"]
    assert replaying(path).execute("{ e }").data == {"e": {"api-key": "***", "b": "***"}}
    assert not scrub(path)


def test_the_address_is_written_without_secrets(path, canned):
    """Without its query and without headers."""
    body = b'{"data":{"a":"b"}}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: c=secret\r\n"
    canned.answers.append(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    url = f"{canned.url}?key=private&a=1"
    Client(url, headers={"X-Plain": "in-a-header"}, recording=path).execute("{ a }")
    written = path.read_text()
    assert json.loads(written.splitlines()[1])["connection"] == canned.url
    assert not any(word in written for word in ("private", "in-a-header", "secret", "Cookie"))
    assert replaying_at(url, path).execute("{ a }").data == {"a": "b"}


def replaying_at(url, path):
    """Return a client of an address that replays a recording."""
    return gqlnb.connect(url, recording=path, mode="replay")
