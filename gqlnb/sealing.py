"""Keeping values out of what is shown of a program: its tracebacks, its objects, its memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["bare", "sealed", "unseen"]

E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")
R = TypeVar("R")


def bare(error: E) -> E:
    """Return an exception without its frames and those it came from, whose locals hold secrets.

    Raise it where no other exception is being handled, and from a frame that holds none.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def unseen(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the arguments and locals of a function out of the tracebacks of what it raises.

    Debuggers, ``%xmode Verbose``, ``pytest --showlocals`` and services that collect errors show
    the locals of each frame that an exception went through. A mistyped option is an exception too.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            failure = bare(error)
        del args, kwargs  # this frame is shown
        raise failure

    return call


def sealed(value: str) -> Callable[[], str]:
    """Return a function that gives a text which nothing else shows.

    The text is kept as two random numbers, so that neither a debugger that opens objects,
    nor a walk over attributes, nor a dump of the memory between two requests reads it.
    """
    data = value.encode()
    size = len(data)
    pad = int.from_bytes(os.urandom(size))
    other = int.from_bytes(data) ^ pad
    return lambda: (other ^ pad).to_bytes(size).decode()
