"""A transport that answers from a recording, or records what another one answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.auth import LITERAL_TOKEN_REFUSED, Token
from gqlnb.client.auth_headers import Credentials, check_headers
from gqlnb.client.recording.cassette import decode_answer, encode_outcome
from gqlnb.client.recording.session import get_active_recording
from gqlnb.client.transports import InProcessTransport
from gqlnb.document.json_codec import load_json
from gqlnb.errors import AuthError, QueryError, ReplayError, TransportError
from gqlnb.http.messages import Response
from gqlnb.redact import strip_traceback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.auth import TokenHolder
    from gqlnb.client.recording.cassette import RecordedAnswer, TransportOutcome
    from gqlnb.client.recording.session import RecordedRequest, Recording
    from gqlnb.client.transports import Transport
    from gqlnb.http.messages import Request

__all__ = ["RecordingTransport", "resolve_secrets", "select_transport"]

PROMPT_TOKEN = "prompt"  # noqa: S105


def resolve_secrets(
    token: Token | TokenHolder | str | None,
    headers: Mapping[str, str | Token | TokenHolder] | None,
    recording: Recording | None,
) -> tuple[Credentials, AuthError | None]:
    """Return the secrets of a client, and what is to be said if they are needed and missing.

    A notebook that is replayed elsewhere finds neither environment variables nor somebody to ask.

    Raises
    ------
    AuthError
        If they are missing, and there is no recording to answer instead.
    TargetError
        If headers are none.
    """
    now = get_active_recording(recording)
    lenient = now is not None and now.mode != "record"
    if now is not None and now.mode == "replay" and token == PROMPT_TOKEN:
        return Credentials(None, {}), AuthError("Nobody is asked for a token while replaying.")
    try:
        return Credentials(Token.from_source(token), check_headers(headers)), None
    except AuthError as error:
        lacking = strip_traceback(error)
    if not lenient or str(lacking) == LITERAL_TOKEN_REFUSED:
        raise lacking
    return Credentials(None, {}), lacking


def select_transport(
    transport: Transport,
    name: str | None,
    own: Recording | None = None,
    lacking: AuthError | None = None,
) -> Transport:
    """Return what carries a request now: the transport, or a recording before it.

    Parameters
    ----------
    transport
        The client's.
    name
        The name of its connection; None where it is known by its address.
    own
        The recording it was made with.
    lacking
        Why it has no token, if it was made without one for a recording.

    Raises
    ------
    AuthError
        If a token is missing and nothing is recorded.
    """
    recording = get_active_recording(own)
    if recording is not None:
        return RecordingTransport(transport, recording, name or transport.source, lacking)
    if lacking is not None:
        raise AuthError(str(lacking))
    return transport


class RecordingTransport:
    """A transport that answers from a recording, or records what another one answers.

    Parameters
    ----------
    transport
        The other one.
    recording
        The recording.
    connection
        What the recording calls the endpoint.
    lacking
        Why nothing can be sent; None if it can.
    """

    def __init__(
        self,
        transport: Transport,
        recording: Recording,
        connection: str,
        lacking: AuthError | None = None,
    ) -> None:
        self.transport = transport
        self.recording = recording
        self.connection = connection
        self._token_error = lacking

    @property
    def source(self) -> str:
        """Where answers are from: a replay shows what the recording did."""
        return self.transport.source

    def send(self, request: Request) -> Response:
        """Answer a request from the recording, or send and record it.

        Raises
        ------
        ReplayError
            If there is no answer, or it cannot be recorded.
        TransportError, QueryError
            As the other transport, and as it was recorded.
        """
        question, found = self._look_up_answer(request)
        if found is not None:
            return self._build_replayed_response(found)
        try:
            outcome: TransportOutcome = self.transport.send(request)
        except (TransportError, QueryError) as error:
            outcome = strip_traceback(error)
        return self._record_outcome(question, outcome)

    async def asend(self, request: Request) -> Response:
        """Do as :meth:`send`, without blocking the running loop while it is answered."""
        question, found = self._look_up_answer(request)
        if found is not None:
            return self._build_replayed_response(found)
        try:
            outcome: TransportOutcome = await self.transport.asend(request)
        except (TransportError, QueryError) as error:
            outcome = strip_traceback(error)
        return self._record_outcome(question, outcome)

    def close(self) -> None:
        """Close the other transport."""
        self.transport.close()

    def _look_up_answer(self, request: Request) -> tuple[RecordedRequest, RecordedAnswer | None]:
        try:
            question = self.recording.identify_request(self.connection, request)
            found = self.recording.find_answer(question)
            if found is None and self._token_error is None:
                self.recording.prepare_file()
        except ReplayError as error:
            failure: Exception = strip_traceback(error)
        else:
            if found is not None or self._token_error is None:
                return question, found
            failure = AuthError(str(self._token_error))
        raise failure

    def _build_replayed_response(self, found: RecordedAnswer) -> Response:
        response = decode_answer(found)
        if isinstance(self.transport, InProcessTransport) and found.type is None:
            status = response.status
            return Response(status, members=load_json(response.body), replayed=True)
        return response

    def _record_outcome(self, question: RecordedRequest, outcome: TransportOutcome) -> Response:
        try:
            self.recording.record_answer(question, encode_outcome(outcome))
        except BaseException as error:  # the frames below hold what came as it is
            failure: BaseException = strip_traceback(error)
        else:
            if isinstance(outcome, Response):
                return outcome
            failure = outcome
        raise failure
