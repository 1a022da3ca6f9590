"""What a failed attempt at an endpoint means: what to tell, and whether another one may help."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from openai import APIConnectionError, APIError, APIStatusError, OpenAIError

from pytest_voiceeval.bots.endpoint_access import EndpointAccess
from pytest_voiceeval.bots.http_client import TRANSPORT_ERRORS

_TRANSIENT = {408, 409, 425, 429}
_FILLED_QUOTA = "insufficient_quota"


class UnusableAnswerError(Exception):
    """An endpoint gave no answer that can be used.

    Attributes:
        again: whether it may if it is asked again.
        remedy: what to do; empty if nobody can tell.
    """

    def __init__(self, text: str, *, again: bool, remedy: str = "") -> None:
        super().__init__(text)
        self.again = again
        self.remedy = remedy


FAILURES: tuple[type[Exception], ...] = (
    OpenAIError,
    UnusableAnswerError,
    OSError,
    ValueError,
    *TRANSPORT_ERRORS,
)
"""What an attempt may come to: ``ValueError`` where the answer is none that was agreed, such as no JSON."""


@dataclass(frozen=True)
class Failure:
    """Why an attempt came to nothing.

    Attributes:
        text: a clause that follows the endpoint's name.
        again: whether another attempt may help.
        remedy: what to do; empty if nobody can tell.
        retry_after: seconds that the endpoint asks to wait before; ``None`` if it does not.
    """

    text: str
    again: bool
    remedy: str = ""
    retry_after: float | None = None


def failure_of(exc: Exception, access: EndpointAccess) -> Failure:
    """Return what ``exc``, one of ``FAILURES``, means."""
    if isinstance(exc, APIStatusError):
        return _refused(exc, access)
    if isinstance(exc, UnusableAnswerError):
        return Failure(f"failed: {access.shown(str(exc))}", exc.again, exc.remedy)
    if isinstance(exc, (APIConnectionError, OSError, *TRANSPORT_ERRORS)):
        return Failure(_connection(exc, access), again=True)
    if isinstance(exc, APIError):
        return Failure(f"sent an error in place of an answer: {_answer(exc, access)}", again=True)
    return Failure(f"sent what is no answer: {access.shown(_words(exc))}", again=True)


def _connection(exc: BaseException, access: EndpointAccess) -> str:
    """Return what happened to the connection: the HTTP library says it better than openai's client."""
    cause = exc.__cause__ or exc if isinstance(exc, APIConnectionError) else exc
    if "ConnectTimeout" in type(cause).__name__:
        limit = f"{access.limits.connect:g} s ({access.section}.connect_timeout_seconds)"
        return f"could not be reached within {limit}"
    what = "could not be reached" if "ConnectError" in type(cause).__name__ else "broke off"
    return f"{what}: {access.shown(_words(cause))}"


def _refused(exc: APIStatusError, access: EndpointAccess) -> Failure:
    status = exc.status_code
    try:
        reason = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        reason = str(status)
    again = (status in _TRANSIENT or status >= 500) and _FILLED_QUOTA not in str(exc.body)
    return Failure(
        f"answered {reason}: {_answer(exc, access)}",
        again,
        "" if again else _remedy(status, access),
        retry_after(exc.response.headers, datetime.now(UTC)) if again else None,
    )


def _answer(exc: APIError, access: EndpointAccess) -> str:
    """Return the words of an endpoint's answer."""
    body: object = exc.body
    if isinstance(body, Mapping):
        body = body.get("message") or dict(body)
    text = access.shown(str(body if body else exc.message))
    return text or "(no text)"


def _words(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__


def _remedy(status: int, access: EndpointAccess) -> str:
    section, key = access.section, access.key_env
    wants_key = f"it wants a key: put one into an environment variable, whose name is {section}.api_key_env"
    request = f"see to {section}.model and to what else {section} puts into a request"
    remedies: dict[int, str] = {
        HTTPStatus.UNAUTHORIZED: wants_key
        if key is None
        else f"set the environment variable {key} to a key that it takes",
        HTTPStatus.FORBIDDEN: wants_key
        if key is None
        else f"the key that the environment variable {key} holds may not use this",
        HTTPStatus.NOT_FOUND: f"see to {section}.model, and that {section}.base_url ends where "
        f"/{access.path} follows",
        HTTPStatus.BAD_REQUEST: request,
        HTTPStatus.UNPROCESSABLE_ENTITY: request,
        HTTPStatus.TOO_MANY_REQUESTS: "its quota is used up",
    }
    return remedies.get(status, f"see to {section}.base_url")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that an answer's headers ask to wait; ``None`` if they do not say anything sensible.

    Source: RFC 9110, section 10.2.3; ``retry-after-ms`` is OpenAI's own.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            seconds = _until(text, now)
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def _until(date: str, now: datetime) -> float:
    """Return the seconds from ``now`` to an HTTP date, 0 for one that is over; NaN if it is none."""
    try:
        then = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return math.nan
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max((then - now).total_seconds(), 0.0)
