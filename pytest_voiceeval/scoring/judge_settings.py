"""How a judge is reached and asked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.scoring.judge_prompt import Compaction

COMPLETIONS = "/chat/completions"
_SECRET = re.compile(r"key|token|secret|password|signature|^sig$|^code$", re.IGNORECASE)


@dataclass(frozen=True)
class JudgeSettings:
    """How a judge is reached and asked.

    Attributes:
        url: of an OpenAI-compatible endpoint: its base (``http://127.0.0.1:8000/v1``), or all of it up to
            ``/chat/completions``.
        model: name of the model.
        timeout: seconds that one reply may take, with all that is tried again.
        api_key_env: environment variable that holds the key; the key itself is in no setting.
        temperature, top_p, seed, max_tokens: of the request; ``None`` leaves one out.
        thinking: ask for thoughts (``chat_template_kwargs.enable_thinking``), as vLLM understands it.
        thinking_token_budget: most tokens of thoughts; sent only if given.
        include_conversation: show what was said, turn by turn, besides the histories of the models.
        compact_context: shorten those histories to the three limits.
        context_message_limit: most messages.
        context_system_string_limit: longest text of a system message, in characters.
        context_string_limit: longest other text.
        samples: how often it is asked of each call.

    Raises:
        DefinitionError: (a ``ValueError``) if a value makes no sense.
    """

    url: str
    model: str
    timeout: float = 120.0
    api_key_env: str = "JUDGE_API_KEY"
    temperature: float | None = 1.0
    top_p: float | None = 0.95
    seed: int | None = 42
    max_tokens: int | None = 100_000
    thinking: bool = False
    thinking_token_budget: int | None = None
    include_conversation: bool = False
    compact_context: bool = False
    context_message_limit: int = 40
    context_system_string_limit: int = 2500
    context_string_limit: int = 6000
    samples: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_url(self.url)
        check_no_secret(self.url)
        if not self.model.strip():
            raise DefinitionError("the judge has no model; name one")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise DefinitionError(
                f"timeout of the judge is {self.timeout!r}; give a number of seconds above 0"
            )
        if self.temperature is not None and not math.isfinite(self.temperature):
            raise DefinitionError(f"temperature of the judge is {self.temperature!r}; give a finite number")
        if self.top_p is not None and not 0 <= self.top_p <= 1:
            raise DefinitionError(f"top_p of the judge is {self.top_p!r}; give a number from 0 to 1")
        for name in ("max_tokens", "thinking_token_budget"):
            if getattr(self, name) is not None:
                self._check_count(name)
        for name in (
            *("context_message_limit", "context_system_string_limit", "context_string_limit"),
            "samples",
        ):
            self._check_count(name)

    def _check_count(self, name: str) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise DefinitionError(f"{name} of the judge is {value!r}; give a whole number from 1 on")

    @property
    def base_url(self) -> str:
        """The URL up to ``/chat/completions``, without a query."""
        parts = urlsplit(self.url.strip())
        path = parts.path.rstrip("/").removesuffix(COMPLETIONS)
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    @property
    def query(self) -> dict[str, str]:
        """The parameters that stand behind ``?`` in the URL."""
        return dict(parse_qsl(urlsplit(self.url.strip()).query, keep_blank_values=True))

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this machine, where it may do without a key."""
        host = urlsplit(self.url.strip()).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def compaction(self) -> Compaction | None:
        """How the histories are shortened; ``None`` if they are not."""
        if not self.compact_context:
            return None
        return Compaction(
            self.context_message_limit, self.context_system_string_limit, self.context_string_limit
        )


def check_url(url: str) -> None:
    """Return if ``url`` may be a judge's.

    Raises:
        DefinitionError: if it is no URL of HTTP.
    """
    try:
        parts = urlsplit(url.strip())
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise DefinitionError("write an http:// or https:// URL, such as http://127.0.0.1:8000/v1")


def check_no_secret(url: str) -> None:
    """Return if no secret stands in ``url``.

    Raises:
        DefinitionError: if one does; the message does not have it.
    """
    parts = urlsplit(url.strip())
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if parts.username is not None or any(_SECRET.search(name) for name in names):
        raise DefinitionError(
            "a URL is written to files and logs, so no key or password may stand in it; put the key into an "
            "environment variable"
        )
