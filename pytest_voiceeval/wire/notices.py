"""What an embedded bot tells of the endpoints that it needs, a model or hosted speech, in server messages.

Without it a bridge could not tell a model that has nothing to say from one that cannot be reached.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_voiceeval.wire.rtvi import Envelope

NOTICE = "endpoint-notice"

NoticeKind = Literal["failed", "retry", "recovered", "cut", "empty", "unstreamed", "malformed-call", "echo"]
"""What there is to tell:

``failed``: an endpoint failed for good, and the bot cannot go on;
``retry``: an attempt failed, another one follows;
``recovered``: it answers again;
``cut``: a reply broke off after some of it was said, which stands as it is;
``empty``: a reply has no words and no tool call;
``unstreamed``: a reply came in one piece although a stream was asked for;
``malformed-call``: the arguments of a tool call are no JSON object; the model is told;
``echo``: a reply says what the other side has just said.
"""


class Notice(BaseModel):
    """One such message: what happened, and a text for a person that has no secrets in it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: Literal["endpoint-notice"] = "endpoint-notice"
    kind: NoticeKind
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the data of the server message."""
        return self.model_dump()


def notice_in(message: Envelope) -> Notice | None:
    """Return the notice in a server message; ``None`` for any other one."""
    if message.fields.get("type") != NOTICE:
        return None
    try:
        return Notice.model_validate(message.fields)
    except ValidationError:
        return None
