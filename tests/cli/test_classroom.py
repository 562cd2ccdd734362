"""The server of a class: a teacher's machine and a student's, as two network namespaces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="Network namespaces need root."
    ),
]
TEACHER, STUDENT = "10.77.0.1", "10.77.0.2"
CERTIFICATE = (
    "openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj /CN=class "
    f"-addext subjectAltName=IP:{TEACHER} -addext keyUsage=critical,digitalSignature,keyCertSign "
    "-keyout class.key -out class.pem"
)
NOTEBOOK = """
import ssl, gqlnb
strict = ssl.create_default_context(cafile="class.pem")
strict.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
for verify in ("class.pem", strict):
    client = gqlnb.Client({url!r}, token="env:CLASS_TOKEN", verify=verify)
    print(client.execute({query!r}).data)
try:
    gqlnb.Client({url!r}.replace("https", "http"), token="env:CLASS_TOKEN").execute("{{ a }}")
except gqlnb.AuthError as error:
    print(error)
"""


@pytest.fixture
def enter():
    """Connect two namespaces; return a function that returns the command to enter one."""
    if shutil.which("ip") is None or shutil.which("openssl") is None:
        pytest.skip("iproute2 or openssl is not installed")
    names = {it: f"gqlnb-{it}-{os.getpid()}" for it in ("teacher", "student")}

    def run(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    try:
        for name in names.values():
            run("netns", "add", name)
        teacher, student = names.values()
        ends = f"name one netns {teacher} type veth peer name two netns {student}"
        run("link", "add", *ends.split())
        for name, link, address in ((teacher, "one", TEACHER), (student, "two", STUDENT)):
            run("-n", name, "addr", "add", f"{address}/24", "dev", link)
            run("-n", name, "link", "set", link, "up")
            run("-n", name, "link", "set", "lo", "up")
        yield lambda name: ("ip", "netns", "exec", names[name])
    finally:
        for name in names.values():
            subprocess.run(["ip", "netns", "delete", name], check=False)


@pytest.mark.parametrize(
    ("command", "query", "data"),
    [
        ("github", "{ viewer { login } }", {"viewer": {"login": "demo"}}),
        ("serve", "{ hello }", {"hello": "Hello world!"}),
    ],
)
def test_students_on_other_machines_ask_the_teachers_server(
    enter, background, tmp_path, command, query, data
):
    """As docs/howto/teach.md shows it: in a notebook and in a shell."""
    subprocess.run(CERTIFICATE.split(), cwd=tmp_path, check=True, capture_output=True)
    environment = {**os.environ, "CLASS_TOKEN": "abcdef0123456789"}
    address = "--host 0.0.0.0 --port 4000 --token env:CLASS_TOKEN"
    server = background(
        *f"{command} {address} --certfile class.pem --keyfile class.key".split(),
        cwd=tmp_path,
        env=environment,
        program=(*enter("teacher"), sys.executable, "-m", "gqlnb"),
    )
    server.wait_for("Serving on https://")
    url = f"https://{TEACHER}:4000/graphql"

    def ask(*words: str) -> str:
        done = subprocess.run(
            [*enter("student"), sys.executable, *words],
            cwd=tmp_path,
            env=environment | {"REQUESTS_CA_BUNDLE": "class.pem"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    *answers, refusal = ask("-c", NOTEBOOK.format(url=url, query=query)).splitlines()
    assert answers == [str(data)] * 2
    assert "does not use TLS" in refusal
    shell = ask("-m", "gqlnb", "query", query, "-c", url, "--token", "env:CLASS_TOKEN")
    assert json.loads(shell)["data"] == data
    assert server.stop() == 0
