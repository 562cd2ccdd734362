"""A transport that answers from a recording, or records what another one answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.client.recordings import active
from gqlnb.client.secrets import Secrets, checked_headers
from gqlnb.client.takes import answer_of, replay
from gqlnb.client.transports import InProcess
from gqlnb.errors import AuthError, QueryError, ReplayError, TransportError
from gqlnb.sealing import bare
from gqlnb.token import NO_LITERAL, Token
from gqlnb.wire.json import load
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.client.recordings import Question, Recording
    from gqlnb.client.takes import Outcome
    from gqlnb.client.tape import Answer
    from gqlnb.client.transports import Transport
    from gqlnb.token import TokenHolder
    from gqlnb.wire.request import Request

__all__ = ["Recorder", "granted", "road"]

PROMPT = "prompt"


def granted(
    token: Token | TokenHolder | str | None,
    headers: Mapping[str, str | Token | TokenHolder] | None,
    recording: Recording | None,
) -> tuple[Secrets, AuthError | None]:
    """Return the secrets of a client, and what is to be said if they are needed and missing.

    A notebook that is replayed elsewhere finds neither environment variables nor somebody to ask.

    Raises
    ------
    AuthError
        If they are missing, and there is no recording to answer instead.
    TargetError
        If headers are none.
    """
    now = active(recording)
    lenient = now is not None and now.mode != "record"
    if now is not None and now.mode == "replay" and token == PROMPT:
        return Secrets(None, {}), AuthError("Nobody is asked for a token while replaying.")
    try:
        return Secrets(Token.of(token), checked_headers(headers)), None
    except AuthError as error:
        lacking = bare(error)
    if not lenient or str(lacking) == NO_LITERAL:
        raise lacking
    return Secrets(None, {}), lacking


def road(
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
    recording = active(own)
    if recording is not None:
        return Recorder(transport, recording, name or transport.source, lacking)
    if lacking is not None:
        raise AuthError(str(lacking))
    return transport


class Recorder:
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
        self._lacking = lacking

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
        question, found = self._look(request)
        if found is not None:
            return self._replayed(found)
        try:
            outcome: Outcome = self.transport.send(request)
        except (TransportError, QueryError) as error:
            outcome = bare(error)
        return self._kept(question, outcome)

    async def asend(self, request: Request) -> Response:
        """Do as :meth:`send`, without blocking the running loop while it is answered."""
        question, found = self._look(request)
        if found is not None:
            return self._replayed(found)
        try:
            outcome: Outcome = await self.transport.asend(request)
        except (TransportError, QueryError) as error:
            outcome = bare(error)
        return self._kept(question, outcome)

    def close(self) -> None:
        """Close the other transport."""
        self.transport.close()

    def _look(self, request: Request) -> tuple[Question, Answer | None]:
        try:
            question = self.recording.question(self.connection, request)
            found = self.recording.find(question)
            if found is None and self._lacking is None:
                self.recording.begin()
        except ReplayError as error:
            failure: Exception = bare(error)
        else:
            if found is not None or self._lacking is None:
                return question, found
            failure = AuthError(str(self._lacking))
        raise failure

    def _replayed(self, found: Answer) -> Response:
        response = replay(found)
        if isinstance(self.transport, InProcess) and found.type is None:
            status = response.status
            return Response(status, members=load(response.body), replayed=True)
        return response

    def _kept(self, question: Question, outcome: Outcome) -> Response:
        try:
            self.recording.keep(question, answer_of(outcome))
        except BaseException as error:  # the frames below hold what came as it is
            failure: BaseException = bare(error)
        else:
            if isinstance(outcome, Response):
                return outcome
            failure = outcome
        raise failure
