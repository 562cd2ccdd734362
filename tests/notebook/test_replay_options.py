"""``--record`` and ``--replay``, in a real shell."""

from __future__ import annotations

import pytest

import gqlnb
from gqlnb.errors import OptionError, ReplayError
from tests.named_connections import forget_connection
from tests.notebook.cells import run

ASK = "{ hello add(a: 2) }"


@pytest.fixture
def served(shell):
    """Serve the shell's schema under the name `wire`, and yield the server."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.run_cell(f"%graphql connect wire {server.url}")
        yield server
    forget_connection("wire")


def test_a_cell_runs_again_without_its_server(shell, served):
    """The response and its types are the same, and no request is sent."""
    asked = run(shell, f"%%graphql wire --record it.jsonl -t frame\n{ASK}")
    served.close()
    before = len(served.log)
    again = run(shell, f"%%graphql wire --replay it.jsonl -t frame\n{ASK}")
    assert again.equals(asked)
    assert len(served.log) == before


def test_the_setting_applies_to_every_cell_in_order(shell):
    """Responses to equal requests are replayed in the order of recording."""
    count = iter(range(10))
    shell.user_ns["schema"].resolver("Query.hello")(lambda *_: f"call {next(count)}")
    for _ in range(2):
        with gqlnb.recorded("it.jsonl", mode="auto"):
            gqlnb.Client(shell.user_ns["schema"]).execute("{ hello }")
    run(shell, "%%graphql schema --record it.jsonl\n{ hello }")
    shell.run_line_magic("config", "GraphQLMagic.replay = 'it.jsonl'")
    said = [run(shell, "%%graphql schema -t json\n{ hello }")["hello"] for _ in range(2)]
    assert said[0].startswith("call")
    assert next(count) == int(said[-1].split()[1]) + 1
    shell.run_line_magic("config", "GraphQLMagic.replay = ''")
    assert run(shell, "%%graphql schema -t json\n{ hello }")["hello"] not in said


def test_a_missing_recording_is_reported(shell, served):
    """With the most similar recorded request, and advice on recording."""
    run(shell, f"%%graphql wire --record it.jsonl\n{ASK}")
    with pytest.raises(ReplayError, match="nearest recording"):
        run(shell, "%%graphql wire --replay it.jsonl\n{ add(a: 3) }")
    with pytest.raises(ReplayError, match="no recording"):
        run(shell, "%%graphql wire --replay none.jsonl\n{ add(a: 3) }")
    with pytest.raises(OptionError, match="cannot be combined"):
        run(shell, "%%graphql wire --record it.jsonl --replay it.jsonl\n{ hello }")


def test_the_setting_applies_to_documentation(shell, served):
    """Subcommands that need the schema read it from the recording."""
    run(shell, f"%%graphql wire --record it.jsonl\n{ASK}")
    served.close()
    shell.run_line_magic("config", "GraphQLMagic.replay = 'it.jsonl'")
    assert "hello: String" in repr(run(shell, "%graphql schema Query.hello -c wire"))
    shell.run_line_magic("config", "GraphQLMagic.replay = ''")
