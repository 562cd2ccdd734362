#!/usr/bin/env bash
# vcrpy and betamax: a recorded GraphQL answer is given to the query that asks first.
#
# Guessed before: two recorded queries that are asked in the other order get their own answers, or
# an error, since they differ in what they ask.
# What happens: both match requests by method and address by default, which are the same for all
# queries of an endpoint. The first query gets the first answer, so two answers are exchanged, and
# a test of them passes or fails by the order of its calls. Matching by body has to be asked for.
# Versions: vcrpy 9.4.2, betamax 0.9.0, requests 2.34.2, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet vcrpy==9.4.2 betamax==0.9.0 requests==2.34.2 2>/dev/null
cat >run.py <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import requests
import vcr
from betamax import Betamax


class Echo(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"data": {"asked": request["query"]}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Echo)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/graphql"


def ask(session, *queries):
    return [session.post(url, json={"query": it}).json()["data"]["asked"] for it in queries]


def record(name):
    session = requests.Session()
    if name == "vcrpy":
        return session, vcr.use_cassette("vcrpy.yaml")
    return session, Betamax(session, cassette_library_dir=".").use_cassette("betamax")


found = {}
for name in ("vcrpy", "betamax"):
    session, recording = record(name)
    with recording:
        assert ask(session, "{ a }", "{ b }") == ["{ a }", "{ b }"]
    session, recording = record(name)
    with recording:
        found[name] = ask(session, "{ b }", "{ a }")
server.shutdown()
print(found)
exchanged = ["{ a }", "{ b }"]
assert found == {"vcrpy": exchanged, "betamax": exchanged}, found
PYTHON
venv/bin/python run.py
