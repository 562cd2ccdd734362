"""Errors say what, where and what to do next, and show it without a stack."""

import pytest

from gqlnb.errors import (
    Problem,
    QueryError,
    RateLimited,
    SchemaError,
    clean_text,
    describe_path,
    format_path,
    sanitize_text,
    suggest,
)


def test_a_problem_is_shown_with_a_caret_under_its_column():
    """The caret stands below the column that the problem names."""
    error = QueryError(text="{\n  helo\n}", problems=[Problem("No such field.", 2, 3)])
    lines = str(error).splitlines()
    assert lines[0] == "No such field."
    assert lines[1] == "  line 2, column 3"
    assert lines[2].index("helo") == lines[3].index("^")


def test_in_a_cell_lines_count_from_the_top_of_the_cell():
    """The magic line above the text is counted too."""
    error = QueryError(text="{ helo }", problems=[Problem("No.", 1, 3)]).in_cell(1)
    assert "cell line 2, column 3" in str(error)
    assert "   2 | { helo }" in str(error)


def test_a_caret_in_a_long_line_stays_near_its_column():
    """A line of any length shows the part around the problem."""
    text = "{ " + "a" * 500 + " helo }"
    error = QueryError(text=text, problems=[Problem("No.", 1, 504)])
    row, caret = str(error).splitlines()[2:]
    assert len(row) < 120
    assert row[caret.index("^") :].startswith("helo")


def test_at_most_ten_problems_are_shown_and_the_rest_counted():
    """Twelve problems show ten and say that there are two more."""
    error = QueryError(problems=[Problem(f"Problem {n}.") for n in range(12)])
    assert "Problem 9." in str(error)
    assert "Problem 10." not in str(error)
    assert str(error).endswith("... and 2 more.")


def test_a_notebook_shows_message_and_calling_line_without_frames_of_ours():
    """IPython's hook gives the class, the message and the line of the caller."""

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


def test_a_cause_is_named_with_its_place():
    """An exception of the user's own code is named below the message."""

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


def test_foreign_text_loses_control_and_bidirectional_characters():
    """What a server says can neither colour nor reorder what a person reads."""
    assert sanitize_text("a\x1b[31mred\u202etxt\r\nb") == "a [31mred txt b"


def test_foreign_text_is_cut():
    """Long text ends in an ellipsis at the limit."""
    assert sanitize_text("x" * 1000, 10) == "xxxxxxxxx…"


def test_a_rate_limit_carries_its_wait():
    """The seconds to wait are an attribute."""
    assert RateLimited("Wait.", wait=3.0).wait == 3.0


def test_the_repr_of_an_error_in_a_text_is_its_message():
    """A list of errors says what each is."""
    error = QueryError(text="{ helo }", problems=[Problem("No such field.", 1, 3)])
    assert repr(error).startswith("QueryError('No such field.\\n  line 1, column 3")
    assert repr(QueryError("No.")) == "QueryError('No.')"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_end_where_graphql_says(end):
    """Form feed, U+2028 and the like are part of a line; the caret stays on one line of output."""
    text = f"# a\x0cb\u2028c\x85d\u2029e{end}{{ h\u2028elo }}"
    error = QueryError(text=text, problems=[Problem("No.", 2, 3)])
    message, _, row, caret = error._render_traceback_()
    assert message == "QueryError: No."
    assert row[caret.index("^") :] == "h elo }"


def test_a_caret_stands_below_what_wide_characters_move():
    """A terminal gives each of them two columns, and a combining one none."""
    text = '{ say(s: "日本e\u0301") helo }'
    error = QueryError(text=text, problems=[Problem("x", 1, text.index("helo") + 1)])
    row, caret = str(error).splitlines()[2:]
    assert caret.index("^") == row.index("helo") + 2 - 1


def test_a_problem_is_an_error_of_a_response():
    """With its place where it is known, and its hint beside the words of the specification."""
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
        ("a" * 200, ["a" * 200], ""),  # comparing long names takes too long
    ],
)
def test_a_misspelled_word_is_answered_with_the_most_similar_one(word, candidates, expected):
    """Only with one that is similar."""
    assert suggest(word, candidates) == expected


def test_a_path_is_written_with_dots_and_indices():
    """As in Python; the root has an empty path."""
    assert format_path(("a", "b", 0, "c")) == "a.b[0].c"
    assert describe_path(("a", 1)) == " at a[1]"
    assert describe_path(()) == ""


def test_cleaned_text_keeps_its_lines():
    """Control characters become spaces, and long text is cut."""
    assert clean_text("a\x1b[31m\nb\u202e", 20) == "a [31m\nb "
    assert clean_text("abcdef", 4) == "abc…"
