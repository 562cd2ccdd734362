"""Checks of the names and the values of options, with one message each."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from functools import update_wrapper
from numbers import Real
from types import FunctionType
from typing import Any, NoReturn, SupportsIndex, TypeVar, cast

from gqlnb.errors import KeywordError, LiteralSecretError, OptionError, find_similar, sanitize_text
from gqlnb.redact import strip_traceback

Target = TypeVar("Target")
CONSTRUCTORS = ("__init__", "__new__")


def explain_keywords(target: Target) -> Target:
    """Decorate a function, or the public methods of a class, to explain unknown keywords.

    A call with a keyword that the signature does not have raises a KeywordError, which names a
    similar one and lists all, in the place of Python's TypeError. A function with ``**options``
    calls :func:`check_keywords` with their names itself.

    Returns
    -------
    function or class
        The same class, or a function with the same signature.
    """
    if not isinstance(target, type):
        return cast("Target", wrap_function(target))
    for name, member in list(vars(target).items()):
        if name in CONSTRUCTORS or not name.startswith("_"):
            setattr(target, name, wrap_function(member))
    return target


def wrap_function(member: Any) -> Any:  # noqa: ANN401 - any member of a class
    """Return a function or method with explained keywords; any other member as it is."""
    if isinstance(member, (classmethod, staticmethod)):
        return type(member)(wrap_function(member.__func__))
    if not isinstance(member, FunctionType):
        return member
    function, explain = member, explain_call

    # Frames of these are in tracebacks, which must not show arguments: they may be secrets.
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            owner, names = type(args[0]) if args else None, list(kwargs)
            del args, kwargs
            explain(error, function, names, owner)
            raise

    async def acall(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            coroutine = function(*args, **kwargs)
        except BaseException as error:
            owner, names = type(args[0]) if args else None, list(kwargs)
            del args, kwargs
            explain(error, function, names, owner)
            raise
        del args, kwargs
        try:
            return await coroutine
        except BaseException as error:
            explain(error, function, (), None)
            raise

    made = acall if inspect.iscoroutinefunction(function) else call
    # With the names of the function's own module, by which doctest finds out whose it is.
    wrapper = FunctionType(made.__code__, function.__globals__, closure=made.__closure__)
    return update_wrapper(wrapper, function)


def explain_call(
    error: BaseException, function: Callable[..., Any], names: Iterable[str], owner: type | None
) -> None:
    """Raise KeywordError if a call failed for the names of its keywords.

    The error of a secret that was given as text loses its traceback, whose frames have it as an
    argument.
    """
    if isinstance(error, LiteralSecretError):
        raise strip_traceback(error)
    if isinstance(error, TypeError) and not isinstance(error, KeywordError):
        parameters = inspect.signature(function).parameters.values()
        if all(it.kind is not it.VAR_KEYWORD for it in parameters):
            check_keywords(function, names, owner=owner)


def check_keywords(
    function: Callable[..., Any],
    given: Iterable[str],
    options: Iterable[str] = (),
    *,
    owner: type | None = None,
) -> None:
    """Check the names of the keyword arguments of a call.

    Parameters
    ----------
    function
        The function that was called.
    given
        The names that were given.
    options
        The names that the function takes as ``**options``.
    owner
        The class of its first argument, which names a constructor.

    Raises
    ------
    KeywordError
        If there is another one; the message names it, a similar one, and all that the function
        takes, but no value.
    """
    parameters = inspect.signature(function).parameters.values()
    explicit = [
        it.name
        for it in parameters
        if it.kind in {it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY}
        and it.name not in {"self", "cls"}
        and not it.name.startswith("_")
    ]
    known = list(dict.fromkeys([*explicit, *options]))
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    name = function.__name__
    if name in CONSTRUCTORS and owner is not None:
        name = owner.__name__
    similar = find_similar(unknown[0], known)
    guess = f" Did you mean {similar}=?" if similar else ""
    takes = f"takes {', '.join(f'{each}=' for each in known)}" if known else "takes no keywords"
    msg = f"{name}() has no argument {sanitize_text(unknown[0], 40)}=.{guess} It {takes}."
    raise KeywordError(msg) from None


def read_whole_number(value: object) -> int | None:
    """Return the value of an integer, also of NumPy and pandas; None for any other object."""
    try:
        return None if isinstance(value, bool) else operator.index(cast(SupportsIndex, value))
    except TypeError:
        return None


def check_whole_number(
    name: str, value: object, *, least: int = 0, most: int | None = None, or_none: bool = False
) -> int:
    """Return an option that is a whole number within bounds, or raise OptionError.

    Parameters
    ----------
    name, value
        The option.
    least, most
        The bounds, both included; None for no upper one.
    or_none
        Whether the option may be None too, which the caller has handled; for the message.
    """
    number = read_whole_number(value)
    if number is None or number < least or (most is not None and number > most):
        upto = "up" if most is None else f"to {most:,}"
        bounds = "above 0" if least == 1 and most is None else f"from {least:,} {upto}"
        raise_option_error(name, value, f"a whole number {bounds}{', or None' if or_none else ''}")
    return number


def check_share(name: str, value: object) -> float:
    """Return an option that is a number from 0 to 1, or raise OptionError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise_option_error(name, value, "a share, which is a number from 0 to 1")
    return float(value)


def check_boolean(name: str, value: object) -> bool:
    """Return an option that is True or False, or raise OptionError."""
    if not isinstance(value, bool):
        raise_option_error(name, value, "True or False")
    return value


def raise_option_error(name: str, value: object, expected: str, *, owner: str = "") -> NoReturn:
    """Raise an OptionError with the name of an option, its valid values, and the value given.

    Parameters
    ----------
    name, value, expected
        The option, and a noun phrase for its valid values.
    owner
        The class that takes the option, for those whose instances are options themselves.
    """
    option = f"{owner}({name}=...)" if owner else f"{name}="
    message = f"{option} takes {expected}; got {sanitize_text(repr(value), 80)}."
    raise OptionError(message)
