"""How an OpenAI-compatible endpoint is reached: where it is, its key, its limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_voiceeval.bots.profile_hosted import Hosted, OpenAiStt, OpenAiTts
from pytest_voiceeval.wire.address import REDACTED

_SHOWN = 300


@dataclass(frozen=True)
class Limits:
    """How long an endpoint may take, in seconds, and how often it is asked again.

    Attributes:
        whole: for an answer, all attempts included.
        connect: for an attempt to connect.
        first: until an attempt's answer begins, and between two pieces of it.
        retries: attempts after the first.
    """

    whole: float = 60.0
    connect: float = 5.0
    first: float = 20.0
    retries: int = 4


@dataclass(frozen=True)
class EndpointAccess:
    """How an endpoint is reached.

    Attributes:
        base_url: the URL up to and with ``/v1``.
        model: what it is asked for.
        api_key: its key, or any text for a server that wants none.
        key_env: the environment variable that the key came from; ``None`` if it wants none.
        limits: its limits.
        what: what it is, for messages.
        section: the section of the profile that names it.
        path: where its requests go, below ``base_url``.
    """

    base_url: str
    model: str
    api_key: str = field(default="none", repr=False)
    key_env: str | None = None
    limits: Limits = Limits()
    what: str = "model"
    section: str = "llm"
    path: str = "chat/completions"

    @property
    def name(self) -> str:
        """What it is and where, for messages; without its key."""
        return f"{self.what} {self.model!r} at {self.base_url.rstrip('/')}/{self.path}"

    def shown(self, text: str) -> str:
        """Return ``text``, such as an answer, in one line that is not too long, without the key."""
        if self.key_env is not None:
            text = text.replace(self.api_key, REDACTED)
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def limits_of(hosted: Hosted) -> Limits:
    """Return the limits that a profile sets."""
    return Limits(
        whole=hosted.timeout_seconds,
        connect=hosted.connect_timeout_seconds,
        first=hosted.first_timeout_seconds,
        retries=hosted.max_retries,
    )


def speech_access(hosted: OpenAiStt | OpenAiTts) -> EndpointAccess:
    """Return the access to hosted speech.

    Raises:
        ProfileError: if its key is not in the environment.
    """
    return EndpointAccess(
        hosted.base_url,
        hosted.model,
        hosted.api_key(),
        hosted.api_key_env,
        limits_of(hosted),
        what="speech recognition" if isinstance(hosted, OpenAiStt) else "speech synthesis",
        section=hosted.SECTION,
        path=hosted.PATH,
    )
