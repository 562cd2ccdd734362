"""Metrics in the text format of Prometheus, at ``/metrics``."""

from __future__ import annotations

from gqlnb.http.messages import Response
from gqlnb.optional_imports import import_optional

__all__ = ["Metrics"]

# A client chooses the names of its operations, and Prometheus keeps every combination of labels
# for ever: names beyond the first hundred share the label "other".
MAX_OPERATIONS = 100
OTHER = "other"


class Metrics:
    """The counters of one server, in a registry of their own.

    Raises
    ------
    MissingExtraError
        If prometheus_client is not installed.
    """

    def __init__(self) -> None:
        self._client = client = import_optional(
            "prometheus_client", "prometheus-client", "serve /metrics"
        )
        self._registry = client.CollectorRegistry()
        self._operations: set[str] = set()
        self._requests = client.Counter(
            "gqlnb_requests",
            "Requests by operation and status; 101 for operations over WebSocket.",
            ["operation", "status"],
            registry=self._registry,
        )
        self._seconds = client.Histogram(
            "gqlnb_request_seconds",
            "Seconds until the response was complete.",
            ["operation"],
            registry=self._registry,
        )

    def count_request(self, operation: str | None, status: int, seconds: float) -> None:
        """Count a request."""
        name = operation or ""
        if name not in self._operations:
            # Of a request that is not valid, it may be any text.
            is_name = not name or (name.isascii() and name.isidentifier())
            if is_name and len(self._operations) < MAX_OPERATIONS:
                self._operations.add(name)
            else:
                name = OTHER
        self._requests.labels(name, status).inc()
        self._seconds.labels(name).observe(seconds)

    def build_response(self) -> Response:
        """Return the response to a request for ``/metrics``."""
        headers = {
            "content-type": self._client.CONTENT_TYPE_LATEST,
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
        }
        return Response(200, headers, self._client.generate_latest(self._registry))
