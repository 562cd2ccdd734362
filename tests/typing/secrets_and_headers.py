"""Connect with tokens and headers."""

from __future__ import annotations

from typing import assert_type

import gqlnb
from gqlnb import Client, Token

token = Token.from_env("API_TOKEN")
assert_type(token, Token)
client = gqlnb.connect("https://api.example.org/graphql", token=token, headers={"X-Key": "env:KEY"})
assert_type(client, Client)
client.execute("{ a }", headers={"X-Trace": "1"}, token="env:OTHER")
gqlnb.connect("github", token="env:GITHUB_TOKEN", timeout=120, verify="ca.pem")
gqlnb.connect("github", base_url="https://github.example.org")
gqlnb.connect("demo", viewer="mona", restricted=True)
gqlnb.connect("github", tokn="env:GITHUB_TOKEN")  # type: ignore[call-arg]
gqlnb.connect("github", timeout="120")  # type: ignore[arg-type]
gqlnb.connect("github", headers=["a"])  # type: ignore[arg-type]
Client("github", tokn="env:GITHUB_TOKEN")  # type: ignore[call-arg]
client.execute("{ a }", variabels={})  # type: ignore[call-arg]
