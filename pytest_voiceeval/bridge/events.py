"""What the bots tell during a call: one side's listener."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.bridge.playback import PlaybackMarks
from pytest_voiceeval.bridge.tape import Mark, MarkKind, Measure, Track
from pytest_voiceeval.bridge.tool_calls import ToolCalls
from pytest_voiceeval.model.conversation import SideEvidence, TokenUsage
from pytest_voiceeval.model.turns import AGENT, Side, WorkShare
from pytest_voiceeval.wire import rtvi
from pytest_voiceeval.wire.frames import Audio, Frame, Interruption, Message, PlaybackMark
from pytest_voiceeval.wire.notices import Notice, notice_in
from pytest_voiceeval.wire.rtvi import Envelope

PROCESSORS: dict[WorkShare, str] = {"recognition": "STT", "model": "LLM", "synthesis": "TTS"}
"""What the names of pipecat's services have in them, by the work they do."""

CLOCK_SLACK_SECONDS = 1.0
"""By how much a bot's work may have taken longer than the call lasts, as its own clock tells it.

Figures beyond that, or below 0, are of a system clock that somebody has set meanwhile, and of no work.
"""

LONGEST_QUEUE_SECONDS = 600.0
"""Sound of a bot that may wait to be played."""

RECOGNITION_SECONDS = 5.0
"""How long after the last sound a transcript of it may come; a later one is of nothing that was said."""


class Listener:
    """Listens to one bot: sound goes to its buffer, announcements to its track, the rest is counted.

    Args:
        side: whose bot.
        buffer: holds its sound until the other side gets it.
        track: takes its marks.
        now: seconds of the tape; below 0 before the call has begun.
        note: takes lines for the bridge's log.
        hears: what the other side says, against which is held what the bot says to have heard.
    """

    def __init__(
        self,
        side: Side,
        buffer: JitterBuffer,
        track: Track,
        *,
        now: Callable[[], float],
        note: Callable[[str], None],
        hears: Track | None = None,
    ) -> None:
        self.side = side
        self.buffer = buffer
        self.marks = PlaybackMarks()
        self._usage = TokenUsage()
        self._replies = 0
        self.tool_calls = ToolCalls()
        self.speaking = False
        self.has_text_left = False
        self.announces = False
        self.said_exit = False
        self.phantoms = 0
        self.pushed: list[str] = []
        self.errors: list[str] = []
        self.notices: Counter[str] = Counter()
        self.endpoint_failure = ""
        self.endpoint_trouble = ""
        self.on_activity: Callable[[], None] = lambda: None
        self.on_exit: Callable[[], None] = lambda: None
        self.on_mark: Callable[[Mark], None] = lambda _: None
        self.on_action: Callable[[Mapping[str, Any]], None] = lambda _: None
        self._track = track
        self._hears = hears
        self._is_flooded = False
        self._now = now
        self._note = note
        self._actions: dict[str, Callable[[Envelope], None]] = {
            rtvi.BOT_STARTED_SPEAKING: self._started,
            rtvi.BOT_STOPPED_SPEAKING: self._stopped,
            rtvi.BOT_TTS_TEXT: self._spoken_text,
            rtvi.BOT_LLM_STARTED: self._replied,
            rtvi.BOT_LLM_TEXT: self._thought,
            rtvi.BOT_TTS_STARTED: self._thought,
            rtvi.SERVER_MESSAGE: self._server_message,
            rtvi.METRICS: self._metrics,
            rtvi.ERROR: self._reported,
            rtvi.USER_TRANSCRIPTION: self._heard,
            rtvi.TOOL_CALL: self._tool_call,
            rtvi.TOOL_CALL_IN_PROGRESS: self._tool_call,
            rtvi.TOOL_CALL_STOPPED: self._tool_call,
        }

    def hear(self, frame: Frame) -> None:
        """Take a frame; what came before the call began is dropped."""
        now = self._now()
        if now < 0:
            return
        if isinstance(frame, Audio):
            self._take_sound(frame, now)
        elif isinstance(frame, Interruption):
            dropped = self.buffer.clear()
            self.has_text_left = False
            self._mark("interrupted")
            self._note(f"[{self.side.upper()}] interrupted, {dropped:.3f} s of its sound dropped")
            self.marks.reach_all()
        elif isinstance(frame, PlaybackMark):
            self.marks.set(frame.reached, self.buffer.seconds_left(now))
        elif isinstance(frame, Message):
            envelope = frame.envelope
            action = self._actions.get(envelope.type)
            if action is not None:
                action(envelope)
            else:
                self._note(f"[{self.side.upper()} EVENT] type={envelope.type}")

    @property
    def tokens(self) -> TokenUsage:
        """What its model was asked: as its endpoint counts, else the replies it is known to have begun."""
        return self._usage if self._usage.n_calls else TokenUsage(n_calls=self._replies)

    def evidence(self) -> SideEvidence:
        """Return what the bot has told by itself, without being asked for its evidence."""
        return SideEvidence(
            tokens=self.tokens,
            errors=tuple(self.errors),
            notices=dict(self.notices),
            phantoms=self.phantoms,
        )

    def _take_sound(self, frame: Audio, now: float) -> None:
        """Keep sound until it is played; what nobody could hear in a call of any length is dropped."""
        if self.buffer.queued_seconds <= LONGEST_QUEUE_SECONDS:
            self.buffer.push(frame.pcm, frame.rate_hz, frame.channels, now)
        elif not self._is_flooded:
            self._is_flooded = True
            text = (
                f"more than {LONGEST_QUEUE_SECONDS:g} s of its sound wait to be played; what comes is dropped"
            )
            self._note(f"[{self.side.upper()}] {text}")

    def _mark(self, kind: MarkKind, text: str = "") -> None:
        mark = Mark(kind, self._now(), text)
        self._track.marks.append(mark)
        self.on_mark(mark)

    def _started(self, _: Envelope) -> None:
        self.speaking = self.announces = True
        self._mark("started")
        self.on_activity()
        self._note(f"[{self.side.upper()} EVENT] type={rtvi.BOT_STARTED_SPEAKING}")

    def _stopped(self, _: Envelope) -> None:
        self.speaking = self.has_text_left = False
        self._mark("stopped")
        self.on_activity()
        self._note(f"[{self.side.upper()} EVENT] type={rtvi.BOT_STOPPED_SPEAKING}")

    def _thought(self, _: Envelope) -> None:
        """Note that there is something to be said that is not heard yet."""
        self.has_text_left = True

    def _replied(self, envelope: Envelope) -> None:
        """Count a reply of its model: an endpoint need not tell of tokens."""
        self._replies += 1
        self._note(f"[{self.side.upper()} EVENT] type={envelope.type}")

    def _spoken_text(self, envelope: Envelope) -> None:
        text = envelope.fields.get("text")
        if isinstance(text, str) and text.strip():
            self._mark("text", text)
            self.on_activity()
            self._note(f"[{self.side.upper()} EVENT] type={rtvi.BOT_TTS_TEXT} text={text!r}")

    def _server_message(self, envelope: Envelope) -> None:
        self._note(f"[{self.side.upper()} EVENT] type={rtvi.SERVER_MESSAGE} data={envelope.data!r}")
        action = rtvi.applied_action(envelope)
        if action is not None:
            self.on_action(action)
        notice = notice_in(envelope)
        if notice is not None:
            self._noticed(notice)
        answer = rtvi.enclosed(envelope, "final_response")
        if answer is not None:
            if self.side == AGENT:
                self.pushed.append(answer)
        elif rtvi.enclosed(envelope, "exit") is not None and not self.said_exit:
            self.said_exit = True
            self.on_exit()

    def _noticed(self, notice: Notice) -> None:
        """Count what the bot tells of its endpoints; keep what stops it, and what may be about to."""
        self.notices[notice.kind] += 1
        if notice.kind == "failed":
            self.endpoint_failure = self.endpoint_failure or notice.text
        elif notice.kind in {"retry", "recovered"}:
            self.endpoint_trouble = notice.text if notice.kind == "retry" else ""

    def _metrics(self, envelope: Envelope) -> None:
        for count in rtvi.token_counts(envelope):
            prompt, completion = count.prompt_tokens or 0, count.completion_tokens or 0
            self._usage = TokenUsage(
                self._usage.n_calls + 1,
                self._usage.prompt + prompt,
                self._usage.completion + completion,
            )
            self._note(f"[{self.side.upper()} METRICS] tokens prompt={prompt} completion={completion}")
        for processor, seconds in rtvi.first_results(envelope):
            self._note(f"[{self.side.upper()} METRICS] ttfb processor={processor} value={seconds}s")
            is_plausible = 0 <= seconds <= self._now() + CLOCK_SLACK_SECONDS
            for share, name in PROCESSORS.items():
                if name in processor and is_plausible:
                    self._track.measures.append(Measure(share, self._now(), seconds))

    def _reported(self, envelope: Envelope) -> None:
        """Keep what the bot itself says is wrong with it."""
        text = str(envelope.fields.get("error", envelope.data))
        self.errors.append(text)
        self._note(f"[{self.side.upper()} EVENT] type={rtvi.ERROR} error={text!r}")

    def _tool_call(self, envelope: Envelope) -> None:
        self.tool_calls.take(envelope)
        self._note(f"[{self.side.upper()} EVENT] type={envelope.type}")

    def _heard(self, envelope: Envelope) -> None:
        """Keep what the bot has understood of the other side."""
        text, is_final = envelope.fields.get("text"), bool(envelope.fields.get("final"))
        self._note(f"[{self.side.upper()} STT {'final' if is_final else 'partial'}] {text!r}")
        if is_final and isinstance(text, str) and text.strip():
            self._track.understood.append(Mark("text", self._now(), text.strip()))
            self._check_said()

    def _check_said(self) -> None:
        """Count a transcript that comes where the other side has said nothing."""
        if self._hears is None:
            return
        sounds = self._hears.sounds
        if not sounds or self._now() - sounds[-1].end > RECOGNITION_SECONDS:
            self.phantoms += 1
            self._note(f"[{self.side.upper()}] heard words where nothing was said")
