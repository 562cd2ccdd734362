"""What is sealed is read by calling it, and in no other way."""

import gc

import pytest

from gqlnb.redact import hide_locals, seal_text, strip_traceback
from tests.tracebacks import describe_frames

SECRET = "canary-5ea1"


def test_a_sealed_text_is_available_only_by_calling_it():
    """Not by repr, attributes or reachable objects."""
    give = seal_text(SECRET)
    assert give() == SECRET
    cells = [cell.cell_contents for cell in give.__closure__]
    reached = [*cells, *gc.get_referents(give), *give.__code__.co_consts, vars(give)]
    assert SECRET not in f"{reached} {give}"
    assert SECRET.encode() not in b"".join(
        value.to_bytes(64) for value in cells if isinstance(value, int)
    )


@pytest.mark.parametrize("text", ["", "\0\0a", "ü€", "a" * 5000])
def test_any_text_can_be_sealed(text):
    """Leading zeros are preserved."""
    assert seal_text(text)() == text


@hide_locals
def fail(secret, kind=ValueError):
    """Raise with the secret in the locals and in an exception behind."""
    try:
        int(secret)
    except ValueError as error:
        msg = "no"
        raise kind(msg) from error


def test_an_exception_has_no_locals_of_the_function():
    """Neither arguments nor the exception chain."""
    with pytest.raises(ValueError, match="no") as caught:
        fail(SECRET)
    assert SECRET not in describe_frames(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_misspelled_option_does_not_show_arguments():
    """Python raises the TypeError in the frame with the arguments."""
    with pytest.raises(TypeError, match="knd") as caught:
        fail(SECRET, knd=KeyError)
    assert SECRET not in describe_frames(caught.value)


def test_a_decorated_function_keeps_its_metadata():
    """Name, docstring and return value."""
    assert fail.__name__ == "fail"
    assert "secret" in fail.__doc__
    assert hide_locals(len)("abc") == 3


def test_bare_drops_cause_context_and_traceback():
    """The exception is otherwise unchanged."""
    try:
        fail.__wrapped__(SECRET)
    except ValueError as error:
        stripped = strip_traceback(error)
    assert (stripped.__cause__, stripped.__context__, stripped.__traceback__) == (None, None, None)
