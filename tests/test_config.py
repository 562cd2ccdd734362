"""Settings files that are changed: what is not the changed table keeps its bytes."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
import tomlkit
from hypothesis import assume, given
from hypothesis import strategies as st

from gqlnb.config import read_settings, replace_file, write_table
from gqlnb.errors import OptionError

VALUES = (
    "1",
    "'[connections.work]'",
    "'''\n[connections.work]\n# a\n'''",
    "[ 1,\n  # in it\n 2, ]",
)
TABLE = {"url": "http://h/", "headers": {"X-A": 'a"b'}}


class Part(NamedTuple):
    """A part of a file, as it is, and as it is expected after the table is renamed or removed."""

    text: str
    renamed: str
    removed: str


def keep(text: str) -> Part:
    """Return a part that does not belong to the table."""
    return Part(text, text, text)


def own(text: str) -> Part:
    """Return a part of the table; its name stands where ``NAME`` is written."""
    return Part(text.replace("NAME", "work"), text.replace("NAME", '"café"'), "")


@st.composite
def build_keys(draw: st.DrawFn) -> str:
    """Return lines of keys, with comments, blank lines and values over several lines."""
    names = draw(st.lists(st.sampled_from(["a", "b . c", "'d'", '"é # ["', "-1"]), unique=True))
    above, behind = st.sampled_from(["", "# [x]\n", "\n"]), st.sampled_from(["", " # [x]"])
    return "".join(
        f"{draw(above)}{name} = {draw(st.sampled_from(VALUES))}{draw(behind)}\n" for name in names
    )


@st.composite
def build_foreign(draw: st.DrawFn, number: int) -> Part:
    """Return a table, an array of tables or a comment of others."""
    headers = ["[o{}]", "[ o{} . 'x.y' ] # c", "[PREFIX.o{}]", '[["aot"]]', "[o{}.work]", "# about"]
    header = draw(st.sampled_from(headers)).format(number)
    return keep(f"{header}\n{'' if header[0] == '#' else draw(build_keys())}")


@st.composite
def build_headers(draw: st.DrawFn, foreign: list[Part]) -> list[Part]:
    """Return the parts of a file whose table has headers, the later ones further below."""
    parts = [own(f"[PREFIX.NAME]{draw(st.sampled_from(['', ' # c']))}\n{draw(build_keys())}")]
    parts += [own("[PREFIX.NAME.headers]\nX-A = 'b'\n\n")] * draw(st.booleans())
    parts += [own("[[PREFIX.NAME.more]]\nx = 1\n"), own("[[PREFIX.NAME.more]]\n")] * draw(
        st.booleans()
    )
    places = sorted(draw(st.integers(0, len(foreign))) for _ in parts)
    result = list(foreign)
    for place, part in reversed([*zip(places, parts, strict=True)]):
        result.insert(place, part)
    # A comment between two parts of the table is in the table.
    own_indexes = [index for index, part in enumerate(result) if not part.removed]
    for start, end in pairwise(own_indexes):
        between = result[start + 1 : end]
        if all(part.text[0] == "#" for part in between):
            result[start + 1 : end] = [part._replace(removed="") for part in between]
    return result


@st.composite
def build_file(draw: st.DrawFn, prefix: str) -> list[Part]:
    """Return the parts of a file that has the table in any form."""
    foreign = [draw(build_foreign(number)) for number in range(draw(st.integers(0, 4)))]
    top = [keep("t = nan # c\n"), keep("# top\n")]
    form = draw(st.sampled_from(["headers", "dotted", "member", "inline"]))
    if form == "headers":
        foreign = draw(build_headers(foreign))
    elif form == "dotted":
        mine = [own("PREFIX.NAME.url = 'x' # c\n"), own("PREFIX.NAME.headers.'X-A' = 'b'\n")]
        top = draw(st.permutations([*top, *mine]))
    elif form == "member":
        member = own(draw(st.sampled_from(["NAME = { url = 'x' } # c\n", "NAME.url = 'x'\n"])))
        members = [keep("other = { url = 'y' }\n"), keep("# above\n"), member]
        foreign = [keep("[PREFIX]\n"), *draw(st.permutations(members)), *foreign]
    else:
        place, others = draw(st.integers(0, 2)), ["a = { url = 'y' }", "'b' = 2"]
        texts = [
            ", ".join([*others[:place], *part, *others[place:]])
            for part in (["work = { url = 'x' }"], ["\"café\" = { url = 'x' }"], [])
        ]
        top.append(Part(*(f"PREFIX = {{ {text} }} # c\n" for text in texts)))
    parts = [*top, *foreign]
    if draw(st.booleans()):
        parts[-1] = Part(*(text.removesuffix("\n") for text in parts[-1]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return [
        Part(*(text.replace("PREFIX", prefix).replace("\n", end) for text in part))
        for part in parts
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return the path of a settings file."""
    return tmp_path_factory.mktemp("settings") / "settings.toml"


@given(data=st.data(), table=st.sampled_from([(), ("tool", "gqlnb")]))
def test_all_other_bytes_of_a_settings_file_stay(path, data, table):
    """A table is renamed in its place, removed, or added at the end, whatever form it has."""
    parts = data.draw(build_file(".".join((*table, "connections"))))
    text, renamed, removed = map("".join, zip(*parts, strict=True))
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(condition=False)

    def change(*args: object, **options: object) -> str:
        path.write_bytes(text.encode())
        write_table(read_settings(path, table), ("connections", *args), **options)
        return path.read_bytes().decode()

    is_inline = re.search("connections = ", text) is not None
    is_kept = tomlkit.parse(text).as_string() == text
    if is_kept or not is_inline:
        added = change("new", value=TABLE)
        assert read_settings(path, table).get_table("connections")["new"] == TABLE
        assert is_inline or added.startswith(text.rstrip("\r\n"))
        assert "\r\n" not in text or "\n" not in added.replace("\r\n", "")
    if is_kept:
        assert change("work", new_name="café") == renamed
        assert change("work") == removed
        return
    # tomlkit 0.15 moves an array of tables between two tables of the same parent behind them.
    with pytest.raises(OptionError, match=r"connections\.work must be edited by hand"):
        change("work")
    assert path.read_bytes().decode() == text


def test_a_file_is_replaced_in_a_folder_without_modes(tmp_path, monkeypatch):
    """A stick with exFAT refuses them."""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "chmod", refuse)
    replace_file(tmp_path / "file", b"new", private=False)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"file": b"new"}
