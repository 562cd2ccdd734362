"""Errors say what, where and what to do next, and show it without a stack."""

import pytest

from gqlnb.errors import (
    Problem,
    QueryError,
    SchemaError,
    clean_text,
    describe_path,
    find_similar,
    format_path,
    measure_width,
    sanitize_text,
    suggest,
)


def test_a_problem_is_shown_with_a_caret_under_its_column():
    """The caret is below the column of the error."""
    error = QueryError(text="{\n  helo\n}", problems=[Problem("No such field.", 2, 3)])
    lines = str(error).splitlines()
    assert lines[0] == "No such field."
    assert lines[1] == "  line 2, column 3"
    assert lines[2].index("helo") == lines[3].index("^")


def test_in_a_cell_lines_count_from_the_top_of_the_cell():
    """The magic line is counted."""
    error = QueryError(text="{ helo }", problems=[Problem("No.", 1, 3)]).in_cell(1)
    assert "cell line 2, column 3" in str(error)
    assert "   2 | { helo }" in str(error)


def test_at_most_ten_problems_are_shown_and_the_rest_counted():
    """Twelve problems give ten and a note about two more."""
    error = QueryError(problems=[Problem(f"Problem {n}.") for n in range(12)])
    assert "Problem 9." in str(error)
    assert "Problem 10." not in str(error)
    assert str(error).endswith("... and 2 more.")


def test_a_notebook_traceback_omits_the_packages_frames():
    """It has the class, the message and the caller's line."""

    def fail():
        message = "The SDL is empty."
        raise SchemaError(message)

    with pytest.raises(SchemaError) as caught:
        fail()
    lines = caught.value._render_traceback_()
    assert lines[0] == "SchemaError: The SDL is empty."
    assert lines[1].startswith("  in fail, line ")
    assert lines[1].endswith("raise SchemaError(message)")
    assert len(lines) == 2


def test_a_cause_is_shown_with_its_location():
    """Below the message, for an exception of the user's code."""

    def fail():
        try:
            return 1 / 0
        except ZeroDivisionError as cause:
            message = "It failed."
            raise QueryError(message) from cause

    with pytest.raises(QueryError) as caught:
        fail()
    lines = caught.value._render_traceback_()
    assert "caused by ZeroDivisionError: division by zero" in lines[1]
    assert "1 / 0" in lines[1]


def test_control_and_bidi_characters_are_removed():
    """Text of a server cannot colour or reorder the output."""
    assert sanitize_text("a\x1b[31mred\u202etxt\r\nb") == "a [31mred txt b"


@pytest.mark.parametrize("column", [1, 30, 69, 70, 71, 100, 155, 160, 161])
def test_a_long_line_is_truncated_around_the_caret(column):
    """To the width of a narrow window with ellipses, the caret below its character."""
    line = "".join(chr(0x100 + at) for at in range(160))
    error = QueryError(text=line, problems=[Problem("wrong", 1, column)])
    row, caret = str(error).splitlines()[2:]
    assert len(row) <= 55
    quoted = row.partition(" | ")[2]
    assert quoted.startswith("…") == (line[0] not in quoted)
    assert quoted.endswith("…") == (line[-1] not in quoted)
    assert row[caret.index("^") :][:1] == line[column - 1 : column]


@pytest.mark.parametrize("column", [1, 20, 47, 100, 160])
def test_a_line_of_wide_characters_is_truncated_by_its_width(column):
    """They occupy two columns each."""
    line = "".join(chr(0x4E00 + at) for at in range(160))
    error = QueryError(text=line, problems=[Problem("wrong", 1, column)])
    row, caret = str(error).splitlines()[2:]
    assert measure_width(row) <= 56
    place = next(n for n in range(len(row)) if measure_width(row[:n]) == len(caret) - 1)
    assert row[place] == line[column - 1]


def test_foreign_text_is_truncated():
    """With an ellipsis at the limit."""
    assert sanitize_text("x" * 1000, 10) == "xxxxxxxxx…"


def test_the_repr_of_an_error_is_its_message():
    """A printed list of errors is readable."""
    error = QueryError(text="{ helo }", problems=[Problem("No such field.", 1, 3)])
    assert repr(error).startswith("QueryError('No such field.\\n  line 1, column 3")
    assert repr(QueryError("No.")) == "QueryError('No.')"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_end_at_graphql_line_terminators(end):
    """Form feed and U+2028 do not end a line, and are shown on one."""
    text = f"# a\x0cb\u2028c\x85d\u2029e{end}{{ h\u2028elo }}"
    error = QueryError(text=text, problems=[Problem("No.", 2, 3)])
    message, _, row, caret = error._render_traceback_()
    assert message == "QueryError: No."
    assert row[caret.index("^") :] == "h elo }"


def test_a_caret_accounts_for_wide_characters():
    """Wide characters count two columns, combining ones none."""
    text = '{ say(s: "日本e\u0301") helo }'
    error = QueryError(text=text, problems=[Problem("x", 1, text.index("helo") + 1)])
    row, caret = str(error).splitlines()[2:]
    assert caret.index("^") == row.index("helo") + 2 - 1


def test_a_problem_has_the_form_of_a_response_error():
    """With known locations, and the hint in its extensions."""
    assert Problem("No.").formatted == {"message": "No."}
    assert Problem("No.", 2, 3, "Yes.").formatted == {
        "message": "No.",
        "locations": [{"line": 2, "column": 3}],
        "extensions": {"hint": "Yes."},
    }


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("helo", ["hello", "world"], " Did you mean 'hello'?"),
        ("xyz", ["hello", "world"], ""),
        ("helo", [], ""),
        ("HELO", ["hello", "world"], " Did you mean 'hello'?"),
        ("lan", ["language"], ""),
        ("a" * 200, ["a" * 200], ""),  # comparing long names takes too long
    ],
)
def test_a_misspelled_word_gets_the_most_similar_suggestion(word, candidates, expected):
    """None if no word is similar."""
    assert suggest(word, candidates) == expected


@pytest.mark.parametrize(("word", "expected"), [("Lan", "language"), ("la", None), ("ang", None)])
def test_an_abbreviation_is_similar_to_the_word_it_begins(word, expected):
    """From three characters on, in any case."""
    assert find_similar(word, ["language", "license"], abbreviated=True) == expected


def test_a_path_is_written_with_dots_and_indices():
    """As in Python; the root has an empty path."""
    assert format_path(("a", "b", 0, "c")) == "a.b[0].c"
    assert describe_path(("a", 1)) == " at a[1]"
    assert describe_path(()) == ""


def test_cleaned_text_keeps_its_lines():
    """Control characters and Unicode's line separators become spaces, and long text is cut."""
    assert clean_text("a\tb\u2028c\r\n") == "a\tb c \n"
    assert clean_text("a\x1b[31m\nb\u202e", 20) == "a [31m\nb "
    assert clean_text("abcdef", 4) == "abc…"
