"""What a debugger could show of an exception."""

from traceback import TracebackException

__all__ = ["describe_frames"]


def describe_frames(error: BaseException, *, skipped: int = 1) -> str:
    """Return the traceback of an exception with all locals, but for those of its first frames.

    The first one is that of the test that caught it, which has the secret itself.
    """
    shown = TracebackException.from_exception(error, capture_locals=True)
    del shown.stack[:skipped]
    assert shown.stack
    return "".join(shown.format())
