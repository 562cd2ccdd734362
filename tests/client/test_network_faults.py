"""Network faults: each ends with the correct answer or one error that states the remedy."""

import asyncio
import gzip
import json
import logging
import re
import signal
import threading
import time
import traceback
import tracemalloc
import zlib
from contextlib import suppress

import pytest

from gqlnb import (
    AnswerError,
    AuthError,
    Client,
    Limits,
    PartialError,
    QueryError,
    RateLimited,
    Schema,
    Token,
    TransportError,
)
from gqlnb.client.credentials import Credentials
from gqlnb.client.http_transport import HttpTransport
from tests.client.faults import (
    Close,
    Reset,
    answer,
    chunked,
    cuts,
    dripping,
    endless,
    json_answer,
    silent,
    squeezed,
    stalled,
)

SECRET = "canary-91ab"
HI = {"data": {"hello": "Hi"}}
OK = json_answer(HI)
TEXT = json.dumps(HI).encode()
SCHEMA = """
type Query { hello: String must: Int! items: [Item!] node: Node any: Any }
type Mutation { put: Int }
interface Node { id: ID! }
type Item implements Node { id: ID! size: Float kind: Kind }
type Other implements Node { id: ID! n: Int }
enum Kind { A B }
scalar Any
"""
ONCE = Limits(wait=1e-9)  # no wait is so short, so there is one attempt


def sync(client, *arguments):
    """Ask and wait."""
    return client.execute(*arguments)


def awaited(client, *arguments):
    """Ask and await."""
    return asyncio.run(client.aexecute(*arguments))


BOTH = pytest.mark.parametrize("ask", [sync, awaited])


def client(server, **options):
    """Return a client with a token."""
    return Client(server.url, token=Token(SECRET), **options)


def report(error):
    """Return everything a debugger could show of an exception, but for the frames of the test."""
    made = traceback.TracebackException.from_exception(error, capture_locals=True)
    made.stack[:] = [frame for frame in made.stack if frame.filename != __file__]
    return "".join(made.format())


def failing(kind, message, call):
    """Call, and return the error of ours that it must raise: one without others, or secrets."""
    with pytest.raises(kind, match=message) as caught:
        call()
    error = caught.value
    assert type(error) is kind
    assert error.__cause__ is None
    assert error.__context__ is None
    assert SECRET not in report(error)
    assert str(error)[-1] in ".?…" or kind is QueryError
    return error


# -- what passes is asked again

WENT_WRONG = "Something went wrong while executing your query."
PASSING = {
    "502 HTML": answer("<html>Bad gateway</html>", "502 Bad", Content_Type="text/html"),
    "502 Unicorn": answer("<!DOCTYPE html><title>Unicorn!</title>", "502 Bad"),
    "502 null": json_answer({"data": None,
        "errors": [{"message": "Something went wrong while executing."}]}, "502 Bad"),
    "502 null as text": answer('{"data":"null"}', "502 Bad"),
    "503": json_answer({"message": "later"}, "503 No", Retry_After="0"),
    "504": answer("", "504 No"),
    "429": answer("slow down", "429 No", Retry_After="0"),
    "429 date": answer("", "429 No", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "403 secondary": json_answer({"message": "You have exceeded a secondary rate limit."}, "403 No",
        Retry_After="0"),
    "403 retry-after": json_answer({"message": "Slow"}, "403 No", Retry_After="0"),
    "403 nothing remains": json_answer({"message": "No"}, "403 No", X_RateLimit_Remaining="0",
        X_RateLimit_Reset="1000000000"),
    "200 RATE_LIMITED": json_answer({"errors": [{"type": "RATE_LIMITED",
        "message": "API rate limit exceeded."}]}, X_RateLimit_Reset="1000000000"),
    "200 RATE_LIMIT, remaining": json_answer({"errors": [{"type": "RATE_LIMIT",
        "code": "graphql_rate_limit", "message": "exceeded"}]}, X_RateLimit_Remaining="7",
        X_RateLimit_Reset="1000000000"),
    "200 null RATE_LIMITED": json_answer({"data": None,
        "errors": [{"type": "RATE_LIMITED", "message": "m"}]}, Retry_After="0"),
    "200 secondary": json_answer({"message": "You have exceeded a secondary rate limit."},
        Retry_After="0"),
    "200 throttled": json_answer({"errors": [{"message": "Throttled",
        "extensions": {"code": "THROTTLED"}}]}, Retry_After="0"),
    "went wrong, null": json_answer({"data": None, "errors": [{"message": WENT_WRONG}]}),
    "went wrong, no data": json_answer({"errors": [{"message": WENT_WRONG}]}),
    "went wrong, nulls": json_answer({"data": {"a": None}, "errors": [{"message": WENT_WRONG}]}),
    "timedout": json_answer({"data": None, "errors": [{"message": "The query timedout."}]}),
    "INTERNAL": json_answer({"data": None, "errors": [{"message": "Oops.", "type": "INTERNAL"}]}),
    "null as text": answer('{"data":"null"}'),
    "ok message": json_answer({"message": "We couldn't respond to your request in time. Sorry."}),
    "closed": Close(),
    "reset": Reset(),
    "reset in the body": Reset(OK[:-5]),
    "cut": Close(OK[:-5]),
    "cut gzip": answer(squeezed(HI)[:-6], Content_Encoding="gzip"),
    "cut JSON": answer(TEXT[:-5]),
    "cut JSON, no length": Close(answer(TEXT[:-5], Content_Length=None)),
    "no body": answer(""),
    "blank body": chunked(b" \n"),
}  # fmt: skip
DAMAGED = {"cut JSON", "cut JSON, no length", "no body", "blank body"}


@BOTH
@pytest.mark.parametrize("fault", PASSING)
def test_a_query_is_retried_after_a_transient_failure(endpoint, fault, ask):
    """Two requests, one answer."""
    server = endpoint(PASSING[fault], OK)
    assert ask(client(server), "{ hello }").data == HI["data"]
    assert len(server.requests) == 2
    assert server.requests[0] == server.requests[1]


@BOTH
@pytest.mark.parametrize("fault", PASSING)
def test_a_mutation_is_sent_once(endpoint, fault, ask):
    """The error states that it may have been executed, where that is unknown."""
    server = endpoint(PASSING[fault], OK)
    kind = RateLimited if fault[:3] in {"429", "403", "200"} else TransportError
    kind = AnswerError if fault in DAMAGED else kind
    error = failing(kind, None, lambda: ask(client(server), "mutation { put }"))
    assert len(server.requests) == 1
    assert ("Check before sending it again" in str(error)) is (kind is not RateLimited)
    assert "Try again" not in str(error)


@pytest.mark.parametrize("fault", ["502 HTML", "closed", *sorted(DAMAGED)])
def test_the_number_of_attempts_is_limited_and_reported(endpoint, fault):
    """Four, and the message says so."""
    server = endpoint(PASSING[fault])
    failing(
        AnswerError if fault in DAMAGED else TransportError,
        r"Gave up after 4 attempts in \d",
        lambda: client(server).execute("{ hello }"),
    )
    assert len(server.requests) == 4


def test_the_most_informative_failure_is_raised(endpoint):
    """If an endpoint answered and then became unreachable, the error is its answer."""
    server = endpoint(Close(), PASSING["502 HTML"], Close())
    failing(
        TransportError,
        "HTTP 502.*Gave up after 4 attempts",
        lambda: client(server).execute("{ hello }"),
    )
    server = endpoint(PASSING["no body"], PASSING["502 HTML"], Close())
    failing(TransportError, "HTTP 502", lambda: client(server).execute("{ hello }"))
    server = endpoint(Close(), PASSING["no body"], Close())
    failing(AnswerError, "it is empty", lambda: client(server).execute("{ hello }"))


@pytest.mark.parametrize("escaped", [True, False])
def test_an_answer_cut_at_any_byte_is_repeated(endpoint, escaped):
    """Within a character, an escape or a number, too."""
    data = {"hello": "a\U0001f600\u00e9", "must": -15}
    body = json.dumps({"data": data}, ensure_ascii=escaped).encode()
    server = endpoint(b"")
    made = client(server, limits=ONCE)
    for part in cuts(body):
        server.answers[:] = [answer(part)]
        assert failing(AnswerError, None, lambda: made.execute("{ hello must }")).broken, part


def test_a_recorded_damaged_answer_is_not_repeated(endpoint, tmp_path):
    """It would be the same again."""
    file = tmp_path / "recording.jsonl"
    server = endpoint(answer(""), OK)
    made = client(server, limits=ONCE, recording=file)
    failing(AnswerError, "it is empty", lambda: made.execute("{ hello }"))
    made = client(server, recording=file, mode="replay")
    error = failing(AnswerError, "it is empty", lambda: made.execute("{ hello }"))
    assert "Gave up" not in str(error)
    assert len(server.requests) == 1


@BOTH
def test_a_retry_delay_over_the_budget_raises_immediately(endpoint, ask):
    """The error states the delay in seconds."""
    server = endpoint(answer("", "429 No", Retry_After="86400"))
    error = failing(
        RateLimited,
        r"Wait 86400 s\..*maximum total wait is 60 s",
        lambda: ask(client(server), "{ a }"),
    )
    assert error.wait == 86400
    assert len(server.requests) == 1


def test_total_waits_stay_within_the_budget(endpoint):
    """Three waits of 0.2 s exceed a budget of 0.5 s."""
    server = endpoint(answer("", "429 No", Retry_After="0.2"))
    made = client(server, limits=Limits(wait=0.5))
    failing(RateLimited, "Gave up after 3 attempts", lambda: made.execute("{ hello }"))


def test_a_wait_is_announced_and_can_be_interrupted(endpoint, caplog, capsys, monkeypatch):
    """The log and an interactive user see the reason; Ctrl-C ends it."""
    monkeypatch.setattr("gqlnb.interactive.is_interactive", lambda: True)
    server = endpoint(answer("", "429 No", Retry_After="30"))
    main = threading.main_thread().ident
    waiting = threading.Timer(0, signal.pthread_kill, (main, signal.SIGINT))
    sleep = time.sleep

    def interrupted(seconds):
        waiting.start()
        sleep(seconds)

    monkeypatch.setattr("gqlnb.client.request_sender.time.sleep", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught, caplog.at_level(logging.WARNING, "gqlnb"):
        client(server).execute("{ hello }")
    said = f"{server.url}: rate limit reached. Retrying in 30.0 s (attempt 2 of 4)."
    assert caplog.messages == [said]
    assert capsys.readouterr().err == f"{said} Interrupt to stop waiting.\n"
    assert SECRET not in report(caught.value)


# -- what does not pass

FINAL = {
    "401": (json_answer({"message": "Bad credentials", "documentation_url": "https://d"}, "401 No"),
        AuthError, "HTTP 401: Bad credentials. Pass a token"),
    "401 with null": (json_answer({"data": None, "errors": [{"message": "who?"}]}, "401 No"),
        AuthError, "401: who"),
    "200 UNAUTHENTICATED": (json_answer({"errors": [{"message": "m",
        "extensions": {"code": "UNAUTHENTICATED"}}]}), AuthError, "Pass a token"),
    "403 HTML": (answer("Request forbidden by administrative rules.", "403 No",
        Content_Type="text/html"), TransportError,
        "HTTP 403. Expected a GraphQL response, got 'Request forbidden"),
    "403 of Parse Server": (json_answer({"error": "unauthorized"}, "403 No"), AuthError,
        "HTTP 403: unauthorized. Pass a token"),
    "403 of Django REST framework": (
        json_answer({"detail": "Authentication credentials were not provided."}, "403 No"),
        AuthError, "HTTP 403: Authentication credentials were not provided. Pass a token"),
    "words of the query": (json_answer({"errors": [{"message": 'no "rate limit"',
        "locations": [{"line": 1, "column": 3}]}]}), QueryError, "rate limit"),
    "JSON in HTML": (answer(TEXT, Content_Type="text/html"), AnswerError, "labelled 'text/html'"),
    "empty": (answer(""), AnswerError, "not valid JSON \\(it is empty\\)"),
    "204": (answer("", "204 No Content", Content_Length=None), AnswerError, "HTTP 204.*empty"),
    "infinity": (answer('{"data": {"a": -Infinity}}'), AnswerError,
        "-Infinity at a is not a JSON number"),
    "1e999": (answer('{"data": {"a": 1e999}}'), AnswerError, "out of range"),
    "UTF-8": (answer(b'{"data": {"a": "\xff"}}'), AnswerError, "0xff is not UTF-8 \\(byte 16\\)"),
    "UTF-16": (answer(TEXT.decode().encode("utf-16")), AnswerError, "not UTF-8"),
    "surrogate": (answer('{"data": {"a": "\\ud800"}}'), AnswerError, "lone surrogate"),
    "deep": (answer('{"data":' + "[" * 100_000), AnswerError, "nested too deeply"),
    "digits": (answer('{"data": {"a": ' + "9" * 9999 + "}}"), AnswerError, "out of range"),
    "cut JSON": (answer('{"data": {"a": "b'), AnswerError, "it is incomplete"),
    "two answers": (answer(TEXT + TEXT), AnswerError, "trailing characters"),
    "no brotli": (answer(TEXT, Content_Encoding="br"), TransportError,
        "data do not match the Content-Encoding|'br', which was not asked for"),
    "no deflate": (answer(zlib.compress(TEXT)[:-9], Content_Encoding="deflate"), TransportError,
        "the response is incomplete"),
    "compress": (answer(TEXT, Content_Encoding="compress"), TransportError,
        "its Content-Encoding is 'compress', which was not asked for; gzip, deflate"),
    "no gzip": (answer(TEXT, Content_Encoding="gzip"), TransportError,
        "data do not match the Content-Encoding"),
    "gzip, wrong sum": (answer(squeezed(HI)[:-8] + b"\0" * 8, Content_Encoding="gzip"),
        TransportError, "data do not match the Content-Encoding"),
    "gzip, then more": (answer(squeezed(HI) + b"<html>", Content_Encoding="gzip"), TransportError,
        "data do not match the Content-Encoding"),
    "two lengths": (answer(TEXT, Content_Length="26, 5"), TransportError, "what its length is"),
    "no length": (answer(TEXT, Content_Length="many"), TransportError, "what its length is"),
    "negative length": (answer(TEXT, Content_Length="-1"), TransportError, "what its length is"),
    "chunk of -1": (answer(b"-1\r\n" + TEXT, Content_Length=None, Transfer_Encoding="chunked"),
        TransportError, "the response is incomplete"),
    "no HTTP": (Close(b"SSH-2.0-OpenSSH_9.7\r\n"), TransportError, "does not speak HTTP"),
    "HTTP/2": (Close(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\n"), TransportError, "not speak HTTP"),
    "long line": (Close(b"HTTP/1.1 200 " + b"x" * 99999), TransportError, "not speak HTTP"),
    "many headers": (answer(TEXT, **{f"X-{n}": n for n in range(200)}), TransportError,
        "not speak HTTP"),
    "101": (answer("", "101 Switching", Content_Length=None), TransportError, "101"),
    "redirect": (answer("", "302 Found", Location="/login"), TransportError,
        "HTTP 302 redirects to http://127.0.0.1:.*/login. Connect to that address itself"),
    "redirect to a login": (answer("", "302 Found", Location="/users/sign_in?next=x"),
        TransportError, "HTTP 302 redirects to .*sign_in.* It looks like a login page"),
    "redirect nowhere": (answer("", "307 Moved"), TransportError, "HTTP 307 redirects"),
    "redirect to a script": (answer("", "307 No", Location="javascript:alert(1)"), TransportError,
        "redirects to javascript:alert"),
    "redirects without end": (answer("", "308 Moved", Location="/graphql"), TransportError,
        "redirected more than 5 times"),
    "echo": (json_answer({"errors": [{"message": f"\x1b[31m\u202e{SECRET} " + "x" * 999}]}),
        QueryError, r"\[31m \*\*\* x"),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("fault", FINAL)
def test_a_permanent_failure_is_one_error_without_a_retry(endpoint, fault, ask):
    """Of the right class and message; the client stays usable."""
    said, kind, message = FINAL[fault]
    server = endpoint(said, said, said, said, said, OK)
    made = client(server, limits=ONCE)
    error = failing(kind, message, lambda: ask(made, "{ hello }"))
    assert len(str(error)) < 700
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", str(error))
    assert len(server.requests) == (5 if "without end" in fault else 1)
    del server.answers[:-1]
    assert ask(made, "{ hello }").data == HI["data"]


@pytest.mark.parametrize("broken", [b"\xff", b"\\ud83d", b"\\udc00"])
def test_invalid_utf8_is_replaced_in_the_partial_data(endpoint, broken):
    """One invalid character does not lose the answer."""
    made = client(endpoint(answer(b'{"data": {"a": "x' + broken + b'", "b": 1}}')))
    error = failing(AnswerError, "is no", lambda: made.execute("{ a b }"))
    assert error.result.data == {"a": "x\ufffd", "b": 1}


# -- what is odd and right

RIGHT = {
    "gzip": answer(squeezed(HI), Content_Encoding="gzip"),
    "GZIP": answer(squeezed(HI), Content_Encoding="X-GZIP"),
    "two members": answer(
        gzip.compress(TEXT[:7]) + gzip.compress(TEXT[7:]), Content_Encoding="gzip"
    ),
    "identity": answer(TEXT, Content_Encoding="identity"),
    "chunks": chunked(*(bytes([byte]) for byte in TEXT)),
    "chunk extension": answer(
        b"%X ;a=b\r\n%s\r\n000\r\nX: y\r\n\r\n" % (len(TEXT), TEXT),
        Content_Length=None,
        Transfer_Encoding="chunked",
    ),
    "chunks and a length": chunked(TEXT, Content_length="5"),
    "no length": Close(answer(TEXT, Content_Length=None)),
    "HTTP/1.0": Close(OK.replace(b"HTTP/1.1", b"HTTP/1.0")),
    "no reason": OK.replace(b"200 OK", b"200"),
    "100": b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
    "103": b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" * 3 + OK,
    "bare line ends": OK.replace(b"\r\n", b"\n"),
    "byte order mark": answer(b"\xef\xbb\xbf" + TEXT),
    "same length twice": answer(TEXT, Content_Length=f"{len(TEXT)}, {len(TEXT)}"),
    "plus json": answer(TEXT, Content_Type="application/graphql-response+json; charset=utf-8"),
    "text": answer(TEXT, Content_Type="text/plain"),
    "no type": answer(TEXT, Content_Type=None),
    "charset": answer(TEXT, Content_Type='Application/JSON; Charset="UTF-8"'),
    "charset utf8": answer(TEXT, Content_Type="application/graphql-response+json;charset=utf8"),
    "UTF-16": answer(TEXT.decode().encode("utf-16"), Content_Type="text/json; charset=UTF-16"),
    "encoding none": answer(TEXT, Content_Encoding="none"),
    "HTTP/1.0, no length": Close(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + TEXT),
    "close": Close(answer(TEXT, Connection="close")),
    "no errors": json_answer({**HI, "errors": []}),
    "null extensions": json_answer({**HI, "errors": None, "extensions": None}),
    "294": answer(TEXT, "294 Partial success"),
    "duplicate key": answer('{"data": 5, "data": {"hello": "Hi"}}'),
    "more members": answer('{"data": {"hello": "Hi"}, "message": "x", "status": "200"}'),
    "glued": OK + json_answer({"data": {"hello": "attacker"}}),
    "glued at once": OK + b"x",
}


@BOTH
@pytest.mark.parametrize("oddity", RIGHT)
def test_unusual_but_valid_responses_are_read(endpoint, oddity, ask):
    """Twice, so that nothing of the first is left in the second."""
    server = endpoint(RIGHT[oddity])
    made = client(server)
    assert ask(made, "{ hello }").data == HI["data"]
    server.answers[:] = [json_answer({"data": {"hello": "second"}})]
    assert ask(made, "{ hello }").data == {"hello": "second"}
    assert len(server.requests) == 2
    alone = isinstance(RIGHT[oddity], Close) or "glued" in oddity or "and a length" in oddity
    assert server.connections == 1 + alone


@BOTH
def test_partial_results_have_data_and_errors(endpoint, ask):
    """Under each status that such answers have."""
    members = {"data": {"a": 1, "b": None}, "errors": [{"message": "m", "path": ["b"]}]}
    for status in ("200 OK", "294 Partial", "400 Bad", "500 Bad", "502 Bad"):
        result = ask(client(endpoint(json_answer(members, status))), "{ a b }")
        assert (result.data, len(result.errors)) == (members["data"], 1)


# -- connections


WHOLE = {
    "length": answer(TEXT, X_Other="y"),
    "chunks": chunked(TEXT[:9], TEXT[9:]),
    "gzip": answer(squeezed(HI), Content_Encoding="gzip"),
}


@pytest.mark.parametrize("end", [Close, Reset])
@pytest.mark.parametrize("whole", WHOLE)
def test_a_truncated_answer_is_an_error(endpoint, whole, end):
    """At each of its bytes: one error that it is incomplete, never wrong data."""
    server = endpoint(b"")
    made = client(server, limits=ONCE)
    for part in cuts(WHOLE[whole]):
        server.answers[:] = [end(part)]
        if whole == "chunks" and end is Close and b"\r\n0\r\n" in part:
            assert made.execute("{ hello }").data == HI["data"]  # its last line is for trailers
            continue
        error = failing(TransportError, None, lambda: made.execute("{ hello }"))
        assert error.broken, part
        assert "the response is incomplete" in str(error) or "closed before" in str(error)


@BOTH
@pytest.mark.parametrize("idle", ["noticed", "lost"])
def test_a_stale_connection_is_replaced(endpoint, ask, idle):
    """Whether it closed before the next query or during it; no error is raised."""
    server = endpoint(OK, *([] if idle == "noticed" else [Close()]), OK)
    made = client(server, limits=ONCE)
    ask(made, "{ hello }")
    if idle == "noticed":
        server.hang_up()
    assert ask(made, "{ hello }").data == HI["data"]
    assert server.connections == 2


def test_a_probe_on_a_stale_connection_is_sent_again(endpoint):
    """A server may close a connection while ``describe`` sends its next question on it."""
    server = endpoint(OK, Close(), OK)
    transport = HttpTransport(server.url, Credentials(None, {}))
    assert transport.probe(query="query={hello}").status == 200
    assert transport.probe(query="query={hello}").status == 200
    assert server.connections == 2


def test_a_mutation_lost_on_a_reused_connection_is_not_retried(endpoint):
    """The endpoint had read it."""
    server = endpoint(OK, Close(), OK)
    made = client(server)
    made.execute("{ hello }")
    failing(TransportError, "Check before", lambda: made.execute("mutation { put }"))
    assert len(server.requests) == 2


def test_connections_are_reused(endpoint):
    """Ten calls use one connection; a closed client opens another."""
    server = endpoint(OK)
    made = client(server)
    for _ in range(10):
        made.execute("{ hello }")
    assert server.connections == 1
    made.close()
    made.execute("{ hello }")
    assert server.connections == 2


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
@pytest.mark.parametrize("to", ["http://{}", "//{}/", "https://{}/graphql", "http://localhost:1"])
def test_redirects_to_another_origin_are_not_followed(endpoint, to, status):
    """Another port, another scheme, another name of the same machine."""
    other = endpoint(OK)
    location = to.format(f"127.0.0.1:{other.port}")
    made = client(endpoint(answer("", status, Location=location)))
    failing(TransportError, "redirects to http", lambda: made.execute("{ hello }"))
    assert other.requests == []


def test_a_client_may_be_closed_while_another_thread_uses_it(endpoint):
    """The other thread opens its own connection."""
    server, over = endpoint(OK), threading.Event()
    made, failures = client(server), []

    def ask():
        try:
            while not over.is_set():
                made.execute("mutation { put }")
        except TransportError as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        made.close()
        made.execute("{ hello }")
    over.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_child_process_does_not_share_connections(endpoint, monkeypatch):
    """After a fork, both would read each other's responses."""
    server = endpoint(OK)
    made = client(server)
    made.execute("{ hello }")
    monkeypatch.setattr("gqlnb.client.http_transport.os.getpid", lambda: -1)
    made.execute("{ hello }")
    assert server.connections == 2


# -- time and size

HEAD = answer("", Content_Length=999_999)
NO_LENGTH = answer("", Content_Length=None)
CHUNKS = answer("", Content_Length=None, Transfer_Encoding="chunked")
SLOW = {
    "silence": silent,
    "silence in the head": stalled(b"HTTP/1.1 200 OK\r\n"),
    "silence in the body": stalled(HEAD + b"x"),
    "drip": dripping(HEAD, b"x"),
    "drip without a length": dripping(NO_LENGTH, b"x"),
    "drip of chunks": dripping(CHUNKS, b"1\r\nx\r\n"),
    "drip of a chunk's size": dripping(CHUNKS, b"0"),
    "drip of trailers": dripping(CHUNKS + b"0\r\n", b"X: y\r\n"),
    "drip of the status": dripping(b"HTTP/1.1 200 ", b"O"),
    "drip of headers": dripping(b"HTTP/1.1 200 OK\r\n", b"x"),
    "silence in gzip": stalled(
        answer(squeezed(HI)[:9], Content_Length=None, Content_Encoding="gzip")
    ),
}


@BOTH
@pytest.mark.parametrize("fault", SLOW)
def test_the_deadline_applies_to_slow_responses(endpoint, fault, ask):
    """One error within a second after it, and the connection is closed."""
    server = endpoint(SLOW[fault])
    begun = time.monotonic()
    error = failing(
        TransportError,
        r"(no answer|not complete) within 0.3 s\..*longer timeout=",
        lambda: ask(client(server, timeout=0.3), "{ hello }"),
    )
    assert time.monotonic() - begun < 1.3
    assert server.gone.wait(10)
    assert len(server.requests) == 1
    assert not error.broken


def test_a_timed_out_mutation_may_have_been_executed(endpoint):
    """The error says so."""
    made = client(endpoint(silent), timeout=0.1)
    failing(TransportError, "no answer.*Check before", lambda: made.execute("mutation { put }"))


LARGE = {
    "body without a length": endless(NO_LENGTH, b"x" * 65536),
    "interim responses": endless(b"", b"HTTP/1.1 103 Early\r\n\r\n" * 4096),
    "chunks": endless(CHUNKS, b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    "chunk of 15 digits": endless(CHUNKS + b"fffffffffffffff\r\n", b"x" * 65536),
    "headers": endless(b"HTTP/1.1 200 OK\r\n", b"x" * 60000),
    "gzip": endless(
        answer("", Content_Length=None, Content_Encoding="gzip"), gzip.compress(b" " * 65536)
    ),
    "announced": answer("", Content_Length=10**15),
}


@BOTH
@pytest.mark.parametrize("fault", LARGE)
def test_the_size_limit_applies_to_all_responses(endpoint, fault, ask):
    """One error, and memory stays within the limit and some buffers."""
    made = client(endpoint(LARGE[fault]), limits=Limits(answer=2**20))
    tracemalloc.start()
    try:
        failing(
            TransportError,
            "larger than 1 MiB. Ask for fewer rows|not speak HTTP",
            lambda: ask(made, "{ hello }"),
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 9 * 2**20


SPACED = b'{"data": {"hello": "' + b" " * 500 + b'"}}'


@pytest.mark.parametrize(
    "said",
    [
        answer(SPACED),
        answer(gzip.compress(SPACED), Content_Encoding="gzip"),
        chunked(SPACED[:100], SPACED[100:]),
    ],
)
def test_an_answer_of_exactly_the_size_limit_is_read(endpoint, said):
    """With a limit one byte lower it is an error."""
    size = len(SPACED)
    made = client(endpoint(said), limits=Limits(answer=size))
    assert made.execute("{ hello }").data == {"hello": " " * 500}
    made = client(endpoint(said), limits=Limits(answer=size - 1))
    words = rf"larger than {size - 1} bytes\..* limits=gqlnb\.Limits\(answer=\.\.\.\), in bytes\."
    failing(TransportError, words, lambda: made.execute("{ hello }"))


def test_a_cancelled_call_releases_its_thread(endpoint):
    """The waiting thread ends, and its connection closes."""
    server = endpoint(silent)
    made = client(server)

    async def main():
        task = asyncio.create_task(made.aexecute("{ hello }"))
        while not server.requests:
            await asyncio.sleep(0.001)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert server.gone.wait(10)


@BOTH
def test_the_deadline_applies_to_asgi_applications(ask):
    """One that never answers, without a socket."""

    async def app(scope, receive, send):
        await asyncio.Event().wait()

    made = Client(app, token=Token(SECRET), timeout=0.1)
    failing(TransportError, "ASGI app: no answer in time.", lambda: ask(made, "{ hello }"))


# -- answers that do not fit the schema


NODES = "{ node { id ... on Item { size } ... on Other { n } } }"
TYPED = "{ node { __typename id ... on Item { size } ... on Other { n } } }"
MISFITS = {
    "missing": ("{ hello must }", {"hello": None}, "must: expected a value, got nothing", True),
    "null": ("{ must }", {"must": None}, "must: The schema has Int! .* has null", False),
    "text": ("{ must }", {"must": "5"}, "must: The schema has Int! .* has text", False),
    "boolean": ("{ must }", {"must": True}, "Int! here, .* a boolean", False),
    "fraction": ("{ must }", {"must": 1.0}, "Int! here, .* a number", False),
    "number": ("{ hello }", {"hello": 5}, "String here, .* an integer", False),
    "object": ("{ items { id } }", {"items": {"id": 1}}, r"\[Item!\] here, .* an object", False),
    "item": ("{ items { id } }", {"items": [{"id": "1"}, None]}, r"items\[1\]: .* Item!", False),
    "inner": ("{ items { id } }", {"items": [{"id": "1"}, {}]}, r"items\[1\].id: expected", True),
    "leaf": ("{ x: items { id } }", {"x": [{"id": []}]}, r"x\[0\].id: .* ID! .* a list", False),
    "enum": ("{ items { kind } }", {"items": [{"kind": 1}]}, "Kind here, .* an integer", False),
    "half a fragment": ("{ node { id ... on Item { size kind } } }",
        {"node": {"id": "1", "kind": "A"}},
        "node.size: The schema has Float here, and the answer has nothing", False),
    "fragment of its type": (TYPED, {"node": {"__typename": "Item", "id": "1", "n": 1}},
        "node.size: The schema has Float here, and the answer has nothing", False),
    "many": ("{ items { id } }", {"items": [{}, {}, {}, {}]},
        r"items\[2\].id: expected a value, got nothing. There are more.", True),
    "hundreds": ("{ items { id } }", {"items": [{"id": None}] * 300},
        "^The answer is partial: 101 errors", False),
}  # fmt: skip
FITTING = {
    "enum that is new": ("{ items { kind } }", {"items": [{"kind": "NEW"}]}),
    "whole number": ("{ items { size } }", {"items": [{"size": 3}, {"size": 2**70}]}),
    "id": ("{ items { id } }", {"items": [{"id": 7}]}),
    "large": ("{ must }", {"must": 2**70}),
    "scalar": ("{ any }", {"any": {"a": [1, None, "x"]}}),
    "alias": ("{ a: must b: must }", {"a": 1, "b": 2}),
    "no fragment": (NODES, {"node": {"id": "1"}}),
    "fragment": (NODES, {"node": {"id": "1", "n": None}}),
    "type that is new": (TYPED, {"node": {"__typename": "New", "id": "1"}}),
    "not included": ("{ hello must @include(if: false) }", {"hello": "x"}),
    "skipped by default": (
        "query ($s: Boolean! = true) { hello must @skip(if: $s) }",
        {"hello": "x"},
    ),
    "introspection": (
        "{ __schema { queryType { name } } }",
        {"__schema": {"queryType": {"name": "Q"}}},
    ),
}
TWICE = pytest.mark.parametrize("time", ["first", "again"])  # the roads differ


def asked(endpoint, text, members, time):
    """Return the result, of the first call or of the second."""
    made = client(endpoint(json_answer(members)), schema=Schema(SCHEMA))
    if time == "again":
        with suppress(AnswerError):
            made.execute(text)
    return made.execute(text)


@TWICE
@pytest.mark.parametrize("misfit", MISFITS)
def test_an_answer_that_does_not_match_is_an_error_with_its_path(endpoint, misfit, time):
    """Of the call if the document rules it out, else of the result; the data stay available."""
    text, data, message, is_refused = MISFITS[misfit]

    def call():
        result = asked(endpoint, text, {"data": data}, time)
        assert not is_refused
        result.raise_for_errors()

    error = failing(AnswerError if is_refused else PartialError, message, call)
    assert error.result.data == data


@TWICE
@pytest.mark.parametrize("fitting", FITTING)
def test_answers_that_match_the_query_are_accepted(endpoint, fitting, time):
    """Extra members of newer endpoints are not errors."""
    text, data = FITTING[fitting]
    assert asked(endpoint, text, {"data": data}, time).data == data


@TWICE
@pytest.mark.parametrize(
    ("path", "right"),
    [
        (["items", 1, "id"], True),
        (["items", 1], False),
        (["items", 0, "id"], False),
        (["items", 1, "id", "x"], True),
        (None, True),
    ],
)
def test_a_null_with_an_error_at_its_path_is_accepted(endpoint, path, right, time):
    """GitHub returns null for fields that failed."""
    members = {
        "data": {"items": [{"id": "1"}, {"id": None}]},
        "errors": [{"type": "FORBIDDEN", "message": "m", "path": path}],
    }

    def call():
        return asked(endpoint, "{ items { id } }", members, time)

    if right:
        assert call().data == members["data"]
    else:
        (*_, error) = call().errors
        assert error["path"] == ["items", 1, "id"]
        assert error["message"] == "The schema has ID! here, and the answer has null."


def test_the_values_that_are_counted_alone_have_the_place_of_the_first(endpoint):
    """As an error without a path may concern any list."""
    rows = [{"id": None}] * 120
    (*_, error) = asked(endpoint, "{ items { id } }", {"data": {"items": rows}}, "first").errors
    assert error["message"].startswith("20 further values contradict the schema")
    assert error["path"] == ["items", 100, "id"]


# -- proxies


def test_the_proxy_is_used_for_other_hosts(endpoint, monkeypatch):
    """With the absolute address, and without a token over plain http."""
    proxy = endpoint(OK)
    monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{proxy.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    made = Client("http://endpoint.test/graphql?a=b")
    assert made.execute("{ hello }").data == HI["data"]
    assert proxy.requests[0].startswith(b"POST http://endpoint.test/graphql?a=b HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " in proxy.requests[0].replace(b"proxy-a", b"Proxy-A")
