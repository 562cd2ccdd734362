"""Requests alone, or in an array of one for endpoints that take nothing but arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gqlnb.document.json_codec import split_json_array
from gqlnb.document.upload import has_file
from gqlnb.http.messages import RequestArray
from gqlnb.http.response_parser import demands_array

if TYPE_CHECKING:
    from gqlnb.http.messages import Request, Response

__all__ = ["ArrayWrapper"]


class ArrayWrapper:
    """Sends single requests in arrays of one once the endpoint has refused one that was alone.

    Attributes
    ----------
    is_needed
        Whether the endpoint has shown that it takes nothing but arrays.
    """

    def __init__(self) -> None:
        self.is_needed = False

    def exchange(
        self, request: Request, send: Callable[[Request | RequestArray], Response]
    ) -> Response:
        """Return the response to a request, as if it had been sent alone.

        Parameters
        ----------
        request
            The request.
        send
            Sends a request or an array.
        """
        if any(map(has_file, (request.variables or {}).values())):
            return send(request)  # an array is JSON
        refusal: Response | None = None
        if not self.is_needed:
            refusal = send(request)
            if not demands_array(refusal):
                return refusal
        response = send(RequestArray((request,), request.deadline))
        parts = split_json_array(response.body)
        if parts is None or len(parts) != 1:
            return refusal or response
        self.is_needed = True
        return replace(response, body=parts[0])
