"""The protocols that a side of a call may speak, and what each of them can do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import fields

from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.party import Capabilities, Opener, Party, as_black_box
from pytest_voiceeval.bridge.pcm_party import PCM, PcmParty
from pytest_voiceeval.bridge.rtvi_party import RTVI, RtviParty
from pytest_voiceeval.bridge.twilio_party import TWILIO, TwilioParty
from pytest_voiceeval.wire.dialect import ProtocolName
from pytest_voiceeval.wire.frames import Frame

PARTIES: dict[ProtocolName, type[RtviParty] | type[PcmParty] | type[TwilioParty]] = {
    "rtvi": RtviParty,
    "pcm": PcmParty,
    "twilio": TwilioParty,
}

COLUMNS: dict[str, Capabilities] = {
    "rtvi": RTVI,
    "rtvi, black box": as_black_box(RTVI),
    "pcm": PCM,
    "twilio": TWILIO,
}

ROWS = {
    "can_be_prepared": "takes prompt, tools and world",
    "can_be_pulled": "gives its records and its database",
    "takes_text": "is told to greet",
    "announces_speech": "announces its speech",
    "sends_text": "tells its words",
    "tells_end": "can say that the call is over",
    "tells_tool_calls": "reports its tool calls",
    "tells_metrics": "reports tokens and times",
    "tells_interruptions": "can void what was not heard yet",
    "marks_playback": "learns what was heard",
}
"""What each field of ``Capabilities`` is called in the table."""


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
    for field in fields(Capabilities):
        cells = ["yes" if getattr(column, field.name) else "no" for column in COLUMNS.values()]
        lines.append(f"| {ROWS[field.name]} | {' | '.join(cells)} |")
    return "\n".join(lines)
