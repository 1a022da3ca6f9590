"""The evidence of one call: everything that scoring may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pytest_voiceeval.model.ending import Ending
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import ResponseLatency, Side, Turn, response_latencies


@dataclass(frozen=True)
class ActionRecord:
    """What a write tool recorded: the record as the tool made it, and the side it came from."""

    side: Side
    record: Mapping[str, Any]

    @property
    def name(self) -> str | None:
        """The name the action is matched by; ``None`` for records that have none."""
        return self.record.get("name")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the call; empty for flat records."""
        return self.record.get("arguments") or {}

    def to_json(self) -> dict[str, Any]:
        """Return the record with its ``side``, first where the tool gave none."""
        return {"side": self.side, **{k: v for k, v in self.record.items() if k != "side"}}


@dataclass(frozen=True)
class TokenUsage:
    """Model calls and tokens of one side, as its bot reports them."""

    n_calls: int = 0
    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True)
class Recording:
    """The sound of a call.

    Attributes:
        pcm: int16 little-endian, two channels interleaved: user left, agent right.
        rate_hz: frames a second.
    """

    pcm: bytes = field(repr=False)
    rate_hz: int

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return len(self.pcm) / 4 / self.rate_hz


@dataclass(frozen=True)
class SideEvidence:
    """What was pulled from one bot after the call; ``None`` means that it could not be had.

    Attributes:
        actions: records of its write tools, in order; an empty tuple if it recorded none.
        db_hash: canonical hash of its database; ``None`` also for an absent or empty one.
        db: its database, only if it was asked for.
        db_error: why it was asked for and did not come; empty if it came, or there is none.
        context: its model's messages (OpenAI form).
        tokens: as reported during the call.
        skipped_frames: malformed frames that came from it and were skipped.
        first_skipped: what was wrong with the first of them; empty if none came.
        errors: what the bot itself reported to be wrong with it during the call.
        notices: how many times an embedded bot told what of its endpoints (``wire.notices``).
        phantoms: transcripts of its recogniser that came where the other side had said nothing.
        pull_error: why something is missing, for a person; empty if nothing is.
        restarted: why its process was started again before the call; empty if it was not.
        ended: how its process ended in the call, with its last lines; empty if it did not.
    """

    actions: tuple[ActionRecord, ...] | None = None
    db_hash: str | None = None
    db: Mapping[str, Any] | None = field(default=None, repr=False)
    db_error: str = ""
    context: list[dict[str, Any]] | None = field(default=None, repr=False)
    tokens: TokenUsage = TokenUsage()
    skipped_frames: int = 0
    first_skipped: str = ""
    errors: tuple[str, ...] = ()
    notices: Mapping[str, int] = field(default_factory=dict)
    phantoms: int = 0
    pull_error: str = ""
    restarted: str = ""
    ended: str = ""


@dataclass(frozen=True)
class NoiseLevels:
    """How loud user and noise were on the way to the agent, in dBov: 0 is the RMS of full scale.

    Attributes:
        speech_db: active level (ITU-T P.56) of the user's clean speech; ``None`` if nothing was said.
        noise_db: level of the noise under it; ``None`` if nothing was said.
    """

    speech_db: float | None
    noise_db: float | None

    @property
    def snr_db(self) -> float | None:
        """How far the noise lay below the speech; ``None`` if one of them was not measured."""
        if self.speech_db is None or self.noise_db is None:
            return None
        return self.speech_db - self.noise_db


@dataclass(frozen=True)
class RetriedAttempt:
    """A call that was held before the one that counts.

    Attributes:
        reason: why it does not count.
        stop_reason: how it ended.
        turn_count: turns of it that count.
        directory: name of the folder beside the scenario's in which its files are.
    """

    reason: str
    stop_reason: StopReason
    turn_count: int
    directory: str


@dataclass(frozen=True)
class Conversation:
    """One call, as the bridge saw it.

    Attributes:
        scenario_name: which scenario was held.
        turns: all turns, sorted by start.
        stop_reason: how the call ended.
        started_at: local wall time at which the call began; on a charged clock an instant of its own, the
            same on every run.
        ended_at: ``started_at`` and what has passed since on the call's clock, pulls included.
        recording: the sound.
        agent, user: evidence of each side.
        pushed: inner texts of the agent's ``<final_response>`` messages, in order.
        simulator_end_reported: the simulated user said that it is done.
        agent_is_black_box: the agent's prompt, tools and world were its own: it was only called.
        agent_recognised_by: what that was found out by; empty if it was said.
        agent_protocol: what the agent spoke over its connection.
        agent_closed_normally: the agent had closed its connection in good order when the call was over.
        clock: name of the clock that the call ran on; all its seconds are that clock's.
        drift: where the bots' worlds are not what they must be, as lines, if the scenario keeps them in step.
        noise: levels of speech and noise; ``None`` for a call without noise.
        events: lines of the bridge's log, for ``bridge_log.txt``.
        retried: calls that were held before this one and do not count, in order.
        ending: what ended the call, in which turn, after which event; empty where nobody has noted it.
    """

    scenario_name: str
    turns: tuple[Turn, ...]
    stop_reason: StopReason
    started_at: datetime
    ended_at: datetime
    recording: Recording
    agent: SideEvidence = SideEvidence()
    user: SideEvidence = SideEvidence()
    pushed: tuple[str, ...] = ()
    simulator_end_reported: bool = False
    agent_is_black_box: bool = False
    agent_recognised_by: str = ""
    agent_protocol: str = "rtvi"
    agent_closed_normally: bool = False
    clock: str = "real"
    drift: tuple[str, ...] = ()
    noise: NoiseLevels | None = None
    events: tuple[str, ...] = field(default=(), repr=False)
    retried: tuple[RetriedAttempt, ...] = ()
    ending: Ending = field(default_factory=Ending)

    @property
    def duration_seconds(self) -> float:
        """Length of the call: of its recording."""
        return self.recording.seconds

    @property
    def latencies(self) -> list[ResponseLatency]:
        """One response latency for each agent turn right after a user turn."""
        return response_latencies(self.turns)

    def side(self, side: Side) -> SideEvidence:
        """Return the evidence of ``side``."""
        return self.agent if side == "agent" else self.user

    @property
    def actions(self) -> tuple[ActionRecord, ...]:
        """All pulled action records, the agent's first; empty if none were pulled."""
        return (self.agent.actions or ()) + (self.user.actions or ())
