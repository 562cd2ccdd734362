"""Requests with files among their variables: what may carry them, and their multipart form.

Source: "GraphQL multipart request specification", J. de Seric, github.com/jaydenseric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.client.http import Http
from gqlnb.client.recorder import Recorder
from gqlnb.client.recordings import unrecorded
from gqlnb.client.transports import Asgi, InProcess
from gqlnb.errors import OptionError, QueryError, plain
from gqlnb.model.upload import Upload, is_file

if TYPE_CHECKING:
    from gqlnb.client.transports import Transport
    from gqlnb.model.document import Document

__all__ = ["carried"]


def carried(values: dict[str, Any], document: Document, road: Transport) -> dict[str, Any]:
    """Return variables with files in the form that a transport carries.

    Parameters
    ----------
    values
        Variables, some of which are files or hold some.
    document
        What they are the variables of.
    road
        What carries the request: in this process resolvers get the very objects, over HTTP each
        becomes an Upload.

    Raises
    ------
    QueryError
        If nothing but JSON can travel that way, or a file can't be read.
    ReplayError
        If the request would be recorded or replayed.
    """
    if isinstance(road, Recorder):
        why = "a file is no JSON, and is not there when a request is looked up."
        raise unrecorded(road.recording, "requests with files", why)
    if isinstance(road, InProcess):
        return values
    if isinstance(road, Http) and document.kind != "subscription":
        made: dict[int, Upload] = {}
        return {name: wrapped(name, value, made) for name, value in values.items()}
    name = next(name for name, value in values.items() if holds_file(value))
    where = "a transport of one's own"
    if isinstance(road, (Asgi, Http)):
        where = road.source if isinstance(road, Asgi) else "a subscription"
    msg = (
        f"Variable '${name}' holds a file, which {where} can't take: files travel over HTTP, as "
        "queries and mutations of an endpoint that is asked itself."
    )
    raise QueryError(msg)


def holds_file(value: Any) -> bool:
    """Tell whether a value is a file, or holds one."""
    if isinstance(value, dict):
        return any(map(holds_file, value.values()))
    if isinstance(value, list):
        return any(map(holds_file, value))
    return is_file(value)


def wrapped(name: str, value: Any, made: dict[int, Upload]) -> Any:
    """Return a value with an Upload for each file in it, one for a file that stands in it twice.

    Raises
    ------
    QueryError
        If a file can't be read, naming the variable.
    """
    if isinstance(value, dict):
        dotted = next((key for key in value if "." in key and holds_file(value[key])), None)
        if dotted is not None:  # dots lead to where a file goes
            msg = f"Variable '${name}': no file can stand below the key {plain(dotted, 80)!r}."
            raise QueryError(msg)
        return {key: wrapped(name, item, made) for key, item in value.items()}
    if isinstance(value, list):
        return [wrapped(name, item, made) for item in value]
    if not is_file(value) or isinstance(value, Upload):
        return value
    try:
        return made.setdefault(id(value), Upload(value))
    except OptionError as error:
        reason = str(error)
    msg = f"Variable '${name}': {reason}"
    raise QueryError(msg)
