"""Excel workbooks: sheets, types, and values that Excel would change."""

from __future__ import annotations

import io
import sys
import tempfile
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from gqlnb import FrameError, MissingExtraError, Schema, scalar
from gqlnb.result.excel import choose_titles, write_workbook
from tests.examples import count_examples

SCHEMA = Schema(
    """
    scalar DateTime scalar Decimal scalar BigInt scalar JSON scalar Date scalar Time scalar Point
    enum Plan { FREE }
    type Query { users: [User!]! notes: [Note!]! }
    type User {
      name: String at: DateTime day: Date amount: Decimal big: BigInt any: JSON plan: Plan
      ok: Boolean age: Int tags: [String] orders: [Order!]
    }
    type Order { id: ID! total: Float }
    type Note { text: String clock: Time point: Point }
    """
)
USERS = [
    {"name": "=1+1", "at": "2026-01-02T03:04:05+02:00", "day": "2026-01-02",
     "amount": "12345678901234567.89", "big": 2**60, "any": {"a": [1, None]}, "plan": "FREE",
     "ok": True, "age": 3, "tags": ["a", "b"], "orders": [{"id": "7", "total": 1.5}]},
    {"name": "#N/A", "day": "1850-05-06", "amount": "1.5", "big": 2, "orders": []},
]  # fmt: skip


def write(data, text, path=None, **options):
    """Return the sheets of an answer as lists of rows, as openpyxl reads them."""
    file = io.BytesIO()
    SCHEMA.execute(text, root=data).to_excel(file, path, **options)
    book = openpyxl.load_workbook(file)
    return {sheet.title: [list(row) for row in sheet.values] for sheet in book}


def test_values_are_kept_in_types_of_excel():
    """Times in UTC without a zone; text where Excel would change a number or a day."""
    text = "{ users { name at day amount big any plan ok age } }"
    names, first, second = write({"users": USERS}, text)["users"]
    assert names == ["name", "at", "day", "amount", "big", "any", "plan", "ok", "age"]
    assert first[0] == "=1+1"
    assert first[1] == pd.Timestamp("2026-01-02 01:04:05")
    assert first[2:5] == ["2026-01-02 00:00:00", "12345678901234567.89", str(2**60)]
    assert first[5:] == ['{"a":[1,null]}', "FREE", True, 3]
    assert second == ["#N/A", None, "1850-05-06 00:00:00", "1.5", "2", *[None] * 4]


def test_values_of_types_that_excel_lacks_are_text():
    """Times with a zone, and values of registered types."""
    scalar("Point", parse=complex)
    notes = [{"clock": "10:00:00+02:00", "point": "1+2j"}, {"clock": "11:00:00Z"}]
    sheet = write({"notes": notes}, "{ notes { clock point } }")["notes"]
    assert sheet[1:] == [["10:00:00+02:00", "(1+2j)"], ["11:00:00+00:00", None]]


def test_text_is_no_formula():
    """Neither a value nor a word for an error."""
    file = io.BytesIO()
    SCHEMA.execute("{ users { name } }", root={"users": USERS}).to_excel(file)
    sheet = openpyxl.load_workbook(file)["users"]
    assert [sheet.cell(row, 1).data_type for row in (2, 3)] == ["s", "s"]


def test_each_list_is_a_sheet():
    """With the keys of the rows that contain it; with path= there is one sheet."""
    text = "{ users { name orders { id total } } }"
    sheets = write({"users": USERS}, text)
    assert sheets == {
        "users": [["name"], ["=1+1"], ["#N/A"]],
        "users.orders": [["users_index", "id", "total"], [0, "7", 1.5]],
    }
    assert list(write({"users": USERS}, text, "users")) == ["users"]
    assert write({"users": USERS}, text, explode="orders", short=True)["rows"] == [
        ["name", "id", "total"],
        ["=1+1", "7", 1.5],
        ["#N/A", None, None],
    ]
    assert write({"users": USERS}, "{ users { tags } }", "users")["users"][1] == ['["a","b"]']


def test_what_excel_cannot_hold_is_refused():
    """With the column and the bound; nothing is cut."""
    with pytest.raises(FrameError, match=r"'notes\.text' has a text of 32,768 characters"):
        write({"notes": [{"text": "x" * 32_768}]}, "{ notes { text } }")
    frame = pd.DataFrame({"a": range(2**20)})
    with pytest.raises(FrameError, match="has 1,048,576 rows, and a sheet of Excel holds 1,048,57"):
        write_workbook({"a": frame}, io.BytesIO())


def test_a_missing_library_is_named(monkeypatch):
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install openpyxl"):
        write({"notes": []}, "{ notes { text } }")


def test_titles_differ_in_their_first_characters():
    """Excel takes 31 of them, and no case."""
    long = "organization.repositories.issues"
    titles = choose_titles([long, f"{long}.labels", "a", "A"])
    assert len({title.casefold() for title in titles}) == 4
    assert all(len(title) <= 31 for title in titles)
    assert titles[2] == "a"


CELLS = st.one_of(
    st.none(),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\ufffe\uffff"), max_size=20
    ),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=4),
)


@settings(max_examples=count_examples(50), phases=[Phase.explicit, Phase.generate])
@given(st.lists(CELLS, min_size=1, max_size=5))
@example([sys.float_info.max, -5e-324, Decimal("1E+400")])
def test_no_value_is_changed_silently(values):
    """Each comes back as it is, or as its text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "it.xlsx"
        write_workbook({"it": pd.DataFrame({"a": pd.Series(values, dtype=object)})}, file)
        read = [row[0] for row in openpyxl.load_workbook(file)["it"].values][1:]
    for value, found in zip_longest(values, read):  # empty rows at the end are not read
        if isinstance(value, str):
            shown = "".join(c if c >= " " or c == "\t" else "\ufffd" for c in value)
            assert (found or "") == shown
        elif isinstance(found, str):
            assert found == str(value)
        elif isinstance(value, Decimal):
            assert Decimal(repr(found)) == value
        elif isinstance(value, float):  # openpyxl writes 16 digits
            assert found == pytest.approx(value, rel=1e-15)
        else:
            assert found == value
