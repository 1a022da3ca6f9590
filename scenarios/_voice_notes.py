"""What benchmarks add to a policy that was written for chats, so that it is kept on the phone."""

from __future__ import annotations

HEADING = "## Additional Notes to Follow"

SPELLING = (
    "When you say an identifier, such as a user id, a reservation or order number, an email address or a "
    "payment method, spell it one character at a time, and say the name of each symbol in it. Spell it only "
    "that way: do not add the written form. When you hear one spelled, put the characters together again "
    "without blanks before you use it, and ask for a repetition if you are not sure of one."
)
ENDING = (
    "Call EndConversationTool once, and only after the caller has confirmed that nothing else is needed and "
    "you have said goodbye to each other. After a handover to a person succeeded, the call is over as well."
)
HONESTY = (
    "What was talked about is not done yet. Report something as done only after a tool call did it and its "
    "result said so; if a call failed, say that it failed."
)


def with_notes(policy: str, *notes: str) -> str:
    """Return a policy as it stands, and the notes below it, one paragraph each."""
    return "\n\n".join([policy.strip("\n"), HEADING, *notes])
