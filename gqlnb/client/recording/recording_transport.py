"""A transport that replays a recording, or records the responses of another transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.client.credentials import Credentials, check_headers
from gqlnb.client.recording.cassette import decode_answer, encode_outcome
from gqlnb.client.recording.session import get_active_recording
from gqlnb.client.transports import InProcessTransport
from gqlnb.document.json_codec import load_json
from gqlnb.errors import (
    AuthError,
    LiteralSecretError,
    QueryError,
    ReplayError,
    TransportError,
)
from gqlnb.http.messages import Response
from gqlnb.redact import strip_traceback
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.client.recording.cassette import RecordedAnswer, TransportOutcome
    from gqlnb.client.recording.session import RecordedRequest, Recording
    from gqlnb.client.transports import Transport
    from gqlnb.http.messages import Request
    from gqlnb.tokens import TokenHolder

PROMPT_TOKEN = "prompt"  # noqa: S105


def resolve_secrets(
    token: Token | TokenHolder | str | None,
    headers: Mapping[str, str | Token | TokenHolder] | None,
    recording: Recording | None,
) -> tuple[Credentials, AuthError | None]:
    """Return the credentials of a client, and the error to raise if they are needed and missing.

    Raises
    ------
    AuthError
        If a token is missing, and no recording can answer instead.
    TargetError
        If a header is invalid.
    """
    # A recording may be replayed where the environment variables of its tokens are not set, so
    # their absence is an error only for a request that is really sent.
    active = get_active_recording(recording)
    if active is not None and active.mode == "replay" and token == PROMPT_TOKEN:
        return Credentials(None, {}), AuthError("No token is asked for during a replay.")
    try:
        return Credentials(Token.from_source(token), check_headers(headers)), None
    except AuthError as error:
        missing = strip_traceback(error)
    if active is None or active.mode == "record" or isinstance(missing, LiteralSecretError):
        raise missing
    return Credentials(None, {}), missing


# A recording is a transport in front of another one, so that checks, redaction and typed decoding
# run as always. Replayed answers are never retried and do not change rate limits.
class RecordingTransport:
    """A transport that replays a recording, or records the responses of another transport.

    Parameters
    ----------
    transport
        The other transport.
    recording
        The recording.
    connection
        Name of the endpoint in the recording.
    token_error
        The error to raise instead of sending a request, as a token is missing.
    """

    def __init__(
        self,
        transport: Transport,
        recording: Recording,
        connection: str,
        token_error: AuthError | None = None,
    ) -> None:
        self.transport = transport
        self.recording = recording
        self.connection = connection
        self._token_error = token_error

    @property
    def source(self) -> str:
        """Address of the endpoint, also of replayed answers."""
        return self.transport.source

    def send(self, request: Request) -> Response:
        """Answer a request from the recording, or send it and record the response.

        Raises
        ------
        ReplayError
            If the recording has no answer, or the response cannot be recorded.
        TransportError, QueryError
            As the other transport raises, or as recorded.
        """
        recorded_request, answer = self._look_up_answer(request)
        if answer is not None:
            return self._build_replayed_response(answer)
        try:
            outcome: TransportOutcome = self.transport.send(request)
        except (TransportError, QueryError) as error:
            outcome = strip_traceback(error)
        return self._record_outcome(recorded_request, outcome)

    async def asend(self, request: Request) -> Response:
        """Asynchronous version of :meth:`send`.

        Raises
        ------
        ReplayError, TransportError, QueryError
            As for :meth:`send`.
        """
        recorded_request, answer = self._look_up_answer(request)
        if answer is not None:
            return self._build_replayed_response(answer)
        try:
            outcome: TransportOutcome = await self.transport.asend(request)
        except (TransportError, QueryError) as error:
            outcome = strip_traceback(error)
        return self._record_outcome(recorded_request, outcome)

    def close(self) -> None:
        """Close the other transport."""
        self.transport.close()

    def _look_up_answer(self, request: Request) -> tuple[RecordedRequest, RecordedAnswer | None]:
        try:
            recorded_request = self.recording.identify_request(self.connection, request)
            answer = self.recording.find_answer(recorded_request)
            if answer is None and self._token_error is None:
                self.recording.prepare_file()
        except ReplayError as error:
            failure: Exception = strip_traceback(error)
        else:
            if answer is not None or self._token_error is None:
                return recorded_request, answer
            failure = AuthError(str(self._token_error))
        raise failure  # outside of the except block, so that it has no __context__

    def _build_replayed_response(self, answer: RecordedAnswer) -> Response:
        response = decode_answer(answer)
        if isinstance(self.transport, InProcessTransport) and answer.type is None:
            members = load_json(response.body)
            return Response(response.status, members=members, replayed=True)
        return response

    def _record_outcome(self, request: RecordedRequest, outcome: TransportOutcome) -> Response:
        try:
            self.recording.record_answer(request, encode_outcome(outcome))
        except BaseException as error:  # noqa: BLE001 - its frames contain the response with its secrets
            failure: BaseException = strip_traceback(error)
        else:
            if isinstance(outcome, Response):
                return outcome
            failure = outcome
        raise failure
