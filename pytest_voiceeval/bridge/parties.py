"""The protocols that a side of a call may speak, and what each of them can do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.party import Opener, Party
from pytest_voiceeval.bridge.pcm_party import PcmParty
from pytest_voiceeval.bridge.rtvi_party import RtviParty
from pytest_voiceeval.bridge.twilio_party import TwilioParty
from pytest_voiceeval.wire.dialect import Dialect, ProtocolName
from pytest_voiceeval.wire.frames import Frame, Interruption, Message, PlaybackMark

PARTIES: dict[ProtocolName, type[RtviParty] | type[PcmParty] | type[TwilioParty]] = {
    "rtvi": RtviParty,
    "pcm": PcmParty,
    "twilio": TwilioParty,
}

COLUMNS = {
    "rtvi": Dialect(),
    "rtvi, black box": Dialect(mode="black-box"),
    "pcm": Dialect("pcm", "auto"),
    "twilio": Dialect("twilio", "auto"),
}

ROWS: dict[str, type[Frame] | None] = {
    "takes prompt, tools and world": None,
    "gives its records and its database": None,
    "is told to greet": None,
    "announces its speech": Message,
    "tells its words": Message,
    "can say that the call is over": Message,
    "reports its tool calls": Message,
    "reports tokens and times": Message,
    "can void what was not heard yet": Interruption,
    "learns what was heard": PlaybackMark,
}
"""What can be had of an agent, by the kind of frame that it comes by; ``None``: of all but black boxes."""


def party_of(
    peer: Peer,
    opener: Opener,
    tasks: asyncio.TaskGroup,
    *,
    rate_hz: int,
    hear: Callable[[Frame], None],
    note: Callable[[str], None],
) -> Party:
    """Return the side of a call that ``peer`` is, not connected yet; arguments are those of the class."""
    party = PARTIES[peer.dialect.protocol]
    return party(peer, opener, tasks, rate_hz=rate_hz, hear=hear, note=note)


def capability_table() -> str:
    """Return what can be had of an agent by the protocol that it speaks, as a table in Markdown."""
    lines = [
        f"| | {' | '.join(f'`{name}`' for name in COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
    ]
    for row, had in capabilities().items():
        lines.append(f"| {row} | {' | '.join('yes' if had[name] else 'no' for name in COLUMNS)} |")
    return "\n".join(lines)


def capabilities() -> dict[str, dict[str, bool]]:
    """Return what can be had of an agent, each whether of one of that protocol."""
    return {
        row: {name: _can_be_had(frame, dialect) for name, dialect in COLUMNS.items()}
        for row, frame in ROWS.items()
    }


def _can_be_had(frame: type[Frame] | None, dialect: Dialect) -> bool:
    return dialect.may_be_prepared if frame is None else frame in PARTIES[dialect.protocol].frames
