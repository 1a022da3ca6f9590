"""The evidence of a call as files, in the formats of the reference."""

from __future__ import annotations

import wave
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from pytest_voiceeval.audio.resampling import resampled
from pytest_voiceeval.model.conversation import Conversation, Recording
from pytest_voiceeval.model.safe_text import visible_line, visible_words
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import SIDES, Turn, response_latencies
from pytest_voiceeval.scoring.payload import prediction_payload
from pytest_voiceeval.world.files import write_json, write_text, write_whole

TRANSCRIPT = "conversation_log.txt"
STOP_REASON = "Stop reason: "
SEGMENTS = "conversation_log.seglst.json"
RECORDING = "conversation_log.wav"
BRIDGE_LOG = "bridge_log.txt"
RESPONSE = "final_agent_response.json"
DB_HASH = "final_scenario_db_hash.txt"

TITLE = "RTVI Evaluation Bridge - Conversation Log"
"""First line of the transcript: readers of the reference's files know them by it."""

RULE = "=" * 80
INTERRUPTED = "[INTERRUPTED]"


def write_evidence(conversation: Conversation, folder: Path, *, rate_hz: int | None = None) -> None:
    """Write all that is known of a call into ``folder``; the recording at ``rate_hz``, if that is given."""
    write_text(folder / TRANSCRIPT, transcript_text(conversation))
    if conversation.turns:
        write_json(folder / SEGMENTS, segments(conversation))
    if conversation.recording.pcm:
        write_recording(conversation.recording, folder / RECORDING, rate_hz)
    write_text(folder / BRIDGE_LOG, "".join(f"{visible_line(line)}\n" for line in conversation.events))
    write_json(folder / RESPONSE, prediction_payload(conversation))
    hashes = {"db_hash": conversation.agent.db_hash, "user_db_hash": conversation.user.db_hash}
    if any(hashes.values()):
        lines = [f"{key}: {visible_line(value)}\n" for key, value in hashes.items() if value]
        write_text(folder / DB_HASH, "".join(lines))
    for side in SIDES:
        write_json(folder / f"bot_logs_{side}" / "llm_context.json", conversation.side(side).context or [])


def has_evidence(folder: Path) -> bool:
    """Return whether the evidence of a call was written into ``folder``."""
    return (folder / TRANSCRIPT).exists()


def has_ended(folder: Path) -> bool:
    """Return whether the evidence in ``folder`` is of a call that ended by itself: nobody broke it off."""
    try:
        lines = (folder / TRANSCRIPT).read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    reasons = [line.removeprefix(STOP_REASON) for line in lines if line.startswith(STOP_REASON)]
    return bool(reasons) and reasons[-1] != StopReason.CANCELLED.value


def words_of(turn: Turn) -> str:
    """Return what was said in a turn, or that it was cut off before a word was."""
    return turn.text.strip() or INTERRUPTED


def transcript_text(conversation: Conversation) -> str:
    """Return ``conversation_log.txt``."""
    head = [TITLE, RULE, f"Start Time: {_iso(conversation.started_at)}", RULE]
    tail = [
        RULE,
        f"End time: {_iso(conversation.ended_at)}",
        f"{STOP_REASON}{conversation.stop_reason.value}",
        RULE,
    ]
    return "\n".join([*head, "", *transcript_lines(conversation.turns), "", "", *tail, ""])


def transcript_lines(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield one line a turn, and one for each response latency under the agent turn that ends it."""
    latencies = [[], *(response_latencies(pair) for pair in pairwise(turns))]
    for turn, answers in zip(turns, latencies, strict=False):
        words = visible_words(words_of(turn))
        length = turn.end - turn.start
        yield f"[{turn.start:7.3f}s - {turn.end:7.3f}s] ({length:.3f}s) {turn.speaker.upper()}: {words}"
        for latency in answers:
            yield f"  → Response latency: {latency.seconds * 1000:.1f}ms"


def segments(conversation: Conversation) -> list[dict[str, object]]:
    """Return the turns as segments (SegLST), sorted by start."""
    return [
        {
            "session_id": conversation.scenario_name or "evaluation",
            "words": words_of(turn),
            "speaker": turn.speaker,
            "start_time": turn.start,
            "end_time": turn.end,
        }
        for turn in conversation.turns
    ]


def write_recording(recording: Recording, path: Path, rate_hz: int | None = None) -> Path:
    """Write a stereo WAV file: user left, agent right; at its own rate unless another is given."""
    rate = rate_hz or recording.rate_hz
    pcm = resampled(recording.pcm, recording.rate_hz, rate, channels=2)

    def fill(stream: object) -> None:
        with wave.open(stream, "wb") as wav:  # type: ignore[call-overload]  # any binary stream
            wav.setnchannels(2)
            wav.setsampwidth(2)
            wav.setframerate(rate)
            wav.writeframes(pcm)

    return write_whole(path, fill)


def _iso(moment: datetime) -> str:
    """Return local time without zone."""
    return moment.replace(tzinfo=None).isoformat()
