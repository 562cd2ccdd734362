"""A schema with every kind of accident, and requests to it without a socket."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from urllib.parse import urlencode

from graphql import GraphQLError

from gqlnb.engine.schema import Schema
from gqlnb.http.handler import handle_request
from gqlnb.http.messages import HttpRequest
from gqlnb.http.server_rules import ServerRules
from gqlnb.server.request_executor import RequestExecutor

SDL = """
scalar Anything
type Query {
  hello: String
  echo(text: String!): String
  must: String!
  secret: String
  refused: String
  anything: Anything
  endless: Anything
  odd(kind: String!): Anything
  same(value: Anything): Anything
  later: String
  leave: String
}
type Mutation { count: Int }
"""
WORDS = "open('/home/me/.netrc') with password hunter2"
HEADERS = {"host": "127.0.0.1:4000", "content-type": "application/json"}
GRAPHQL = {"accept": "application/graphql-response+json"}


ENDLESS = []
ENDLESS.append(ENDLESS)
ODD = {
    "object": object(),
    "infinity": math.inf,
    "surrogate": "\ud800",
    "set": {1},
    "key": {1: 2},
    "surrogate in a key": {"\ud800": 1},
    "subclass of text": type("Text", (str,), {})("x"),
    "many": [math.nan] * 25,
}


def fail(*_):
    """Raise what must not be read by a client."""
    raise OSError(WORDS)


def refuse(*_):
    """Raise what was meant for the client."""
    message = "Not for you."
    raise GraphQLError(message, extensions={"code": "FORBIDDEN"})


async def later(*_):
    """Answer from the loop."""
    return "later"


SCHEMA = Schema(
    SDL,
    {
        "Query": {
            "hello": lambda *_: "Hello world!",
            "echo": lambda _root, args, _context: args["text"],
            "must": lambda *_: None,
            "secret": fail,
            "refused": refuse,
            "anything": lambda *_: {"list": [math.nan]},
            "endless": lambda *_: ENDLESS,
            "odd": lambda _root, args, _context: ODD[args["kind"]],
            "same": lambda _root, args, _context: args["value"],
            "later": later,
            "leave": lambda *_: sys.exit(),
        },
        "Mutation": {"count": lambda *_: 1},
    },
)
RULES = ServerRules()


def request(query="{ hello }", *, body=None, headers=None, drop=(), method="POST", path="/graphql"):
    """Return a right request, changed where a test says so."""
    found = HEADERS | (headers or {})
    body = json.dumps({"query": query}).encode() if body is None else body
    kept = {name: value for name, value in found.items() if name not in drop}
    return HttpRequest(method, path, kept, body)


def get(query_string=b"", headers=None, *, method="GET", **members):
    """Return a right request by GET; of text members the query string is made."""
    query_string = query_string or urlencode(members).encode()
    found = {"host": HEADERS["host"]} | (headers or {})
    return HttpRequest(method, "/graphql", found, query_string=query_string)


def ask(wanted, rules=RULES):
    """Return the answer to a request."""
    execute = RequestExecutor(SCHEMA, rules)
    return asyncio.run(handle_request(wanted, execute, rules=rules))


def said(response):
    """Return the members of an answer."""
    return json.loads(response.body)
