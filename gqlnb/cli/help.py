"""The commands and the help that lists them, as plain text: no import is needed to print it."""

from __future__ import annotations

# By name: the module, and the first sentence of the command's help. The modules are imported when a
# command is run: all of them together take about a second.
COMMANDS = {
    "lab": ("gqlnb.cli.lab", "Open JupyterLab on the notebooks."),
    "serve": ("gqlnb.cli.serve_command", "Serve a schema over HTTP until Ctrl-C."),
    "query": ("gqlnb.cli.query_commands", "Run one operation and print its response."),
    "schema": (
        "gqlnb.cli.query_commands",
        "Print the schema of an endpoint, or only some of its types and fields.",
    ),
    "endpoint": (
        "gqlnb.cli.query_commands",
        "Find out by experiment how an endpoint behaves, and report it.",
    ),
    "stars": ("gqlnb.cli.query_commands", "List repositories by their number of stars."),
    "scrub": ("gqlnb.cli.command_group", "Remove tokens from notebooks, recordings and logs."),
    "github": ("gqlnb.cli.serve_command", "Serve a stand-in for GitHub until Ctrl-C."),
    "completion": ("gqlnb.cli.command_group", "Print a script for shell completion."),
}
_COMMAND_LINES = "\n".join(f"  {name:<10}  {about}" for name, (_, about) in COMMANDS.items())
HELP = f"""\
Usage: gqlnb [OPTIONS] COMMAND [ARGS]...

  GraphQL in Jupyter.

  Exit codes: 0 success, 1 an error (printed to stderr), 2 invalid arguments,
  3 some repositories could not be fetched (stars --all).

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
{_COMMAND_LINES}
"""
# Set by the script of `gqlnb completion`, which calls the program without arguments.
COMPLETION_VARIABLE = "_GQLNB_COMPLETE"
