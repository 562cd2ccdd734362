"""What is written down is true: commands, options, examples, and no trace of one machine."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import gqlnb
from gqlnb.cli.command_group import command_line

INSTALL_AND_OPEN = "pip install '.[lab]' && gqlnb lab"
INSTALL_AND_TEST = "pip install -e '.[test]' && pytest"
MODULES = sorted(it.name for it in pkgutil.walk_packages(gqlnb.__path__, "gqlnb."))
# Where packages come from is a setting of the machine, and so are its folders.
HOSTS = ("pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "anaconda" + ".org")
FOLDERS = re.compile(
    r"(?<![\w.~-])/(?:work|root|home/(?!me\b)[a-z]|Users/[A-Za-z]|tmp/ipykernel)[\w/]"
)


def commands() -> dict[str, click.Command]:
    """Return the commands by name."""
    context = click.Context(command_line)
    return {
        name: command_line.get_command(context, name)
        for name in command_line.list_commands(context)
    }


@pytest.mark.parametrize("command", commands())
def test_each_command_is_documented(command, root):
    """The README names the command; its help describes each option."""
    assert f"gqlnb {command}" in (root / "README.md").read_text()
    found = commands()[command]
    text = found.get_help(click.Context(found, info_name=command))
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert {*parameter.opts} <= set(re.findall(r"-[\w-]+", text))
        else:
            assert parameter.make_metavar(click.Context(found)) in text


def test_the_examples_in_the_help_are_valid():
    """The parser of the command accepts each example."""
    helps = [command.help for command in commands().values()]
    lines = [line for text in helps for line in re.findall(r"^ +gqlnb (.+)$", text, re.MULTILINE)]
    assert len(lines) >= 5
    for line in lines:
        name, *arguments = shlex.split(line.partition(" > ")[0])
        assert commands()[name].make_context(name, arguments)


@pytest.mark.parametrize("line", [INSTALL_AND_OPEN, INSTALL_AND_TEST])
def test_the_readme_has_each_command_on_its_own_line(line, root):
    """Both commands can be copied."""
    assert line in [text.strip() for text in (root / "README.md").read_text().splitlines()]


@pytest.mark.parametrize(
    ("page", "least"), [("README.md", 15), ("CONTRIBUTING.md", 1), ("SECURITY.md", 4)]
)
def test_the_links_of_pages_beside_the_code_exist(page, least, root):
    """Each relative link leads to a file."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (root / page).read_text())
    assert len(links) >= least
    assert [link for link in links if not (root / link).is_file()] == []


def test_files_named_in_the_architecture_exist(root):
    """Each path in ARCHITECTURE is a file."""
    text = (root / "ARCHITECTURE.md").read_text()
    files = set(re.findall(r"`([a-z_]+/[\w/]+\.(?:py|graphql|json))`", text))
    assert len(files) > 30
    package = root / "gqlnb"
    assert [
        it for it in sorted(files) if not any((at / it).is_file() for at in (root, package))
    ] == []


def test_ci_runs_the_command_of_the_readme(root):
    """The test commands are identical."""
    lines = [text.strip() for text in (root / ".ci" / "run").read_text().splitlines()]
    assert INSTALL_AND_TEST in lines


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module):
    """With the shown output, after `import gqlnb`."""
    done = doctest.testmod(
        importlib.import_module(module),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
        extraglobs={"gqlnb": gqlnb},
    )
    assert done.failed == 0


def tracked(root: Path) -> list[Path]:
    """Return the files that belong to the project: git's, or all where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
        text=True,
    )
    names = listed.stdout.split("\0") if listed.returncode == 0 else []
    files = [root / name for name in names if name] or [*root.rglob("*")]
    return [path for path in files if path.is_file() and "__pycache__" not in path.parts]


def traces(text: str, root: Path) -> list[str]:
    """Find hosts of package registries and folders of one machine."""
    here = {str(root), sys.prefix, str(Path.home())} - {"/"}
    return [
        *(host for host in HOSTS if host in text),
        *(folder for folder in sorted(here) if re.search(rf"{re.escape(folder)}[/\s\"']", text)),
        *FOLDERS.findall(text),
    ]


def test_no_file_names_a_private_machine(root):
    """No package registry and no local folder."""
    files = tracked(root)
    assert root / "pyproject.toml" in files
    found = [
        (path.relative_to(root).as_posix(), trace)
        for path in files
        for trace in traces(path.read_text(errors="ignore"), root)
    ]
    assert found == []
