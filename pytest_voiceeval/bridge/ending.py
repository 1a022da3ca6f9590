"""How a call ended, told in one form: what ended it, in which turn, and after which event."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.bridge.tape import Tape
from pytest_voiceeval.bridge.turns import turns_of
from pytest_voiceeval.errors import BotError, BotLostError, VoiceEvalError, WorldsPartedError
from pytest_voiceeval.model.ending import Ending
from pytest_voiceeval.model.safe_text import visible_words
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER, Side, other

SHOWN_CHARACTERS = 160

_EVENT = re.compile(r"\[ *(\d+\.\d+)s\] \[(AGENT|USER)(?: EVENT| STT \w+)?\] (.*)", re.DOTALL)


def ending(cause: str, *, tape: Tape, now: float, events: Sequence[str]) -> Ending:
    """Return how a call ended that ends now, by ``cause``.

    Args:
        cause: what ends it.
        tape: what was said so far.
        now: seconds of the tape; below 0 before the call has begun.
        events: lines of the bridge's log.
    """
    return Ending(_short(cause), _where(tape, now), _last_event(events))


def cause_of(
    reason: StopReason,
    listeners: Mapping[Side, Listener],
    settings: CallSettings,
    tape: Tape,
    *,
    silence: float,
    hang_up: str,
) -> str:
    """Return what ended a call, in words.

    Args:
        reason: how it ended.
        listeners: what the bots have told.
        settings: of the call.
        tape: what was said.
        silence: seconds since anybody was heard, or told anything.
        hang_up: how the agent's connection ended, if it did.
    """
    if reason is StopReason.EXIT:
        return "the agent said that the call is over"
    if reason is StopReason.AGENT_HANGUP:
        return f"the agent went away: {hang_up}"
    if reason is StopReason.TIMEOUT:
        speaking = [side for side in (AGENT, USER) if listeners[side].speaking]
        tail = "".join(f", the {side} still speaking" for side in speaking)
        return f"the limit of {settings.max_duration:g} s was reached{tail}"
    return f"nobody made a sound for {silence:.0f} s{_why_silent(listeners, tape)}"


def _why_silent(listeners: Mapping[Side, Listener], tape: Tape) -> str:
    for side in (USER, AGENT):
        if listeners[side].errors:
            return f", after the {side} bot had reported: {listeners[side].errors[-1]}"
    if listeners[USER].said_exit:
        return ", after the simulated user had ended the call"
    turns = turns_of(tape)
    if not turns:
        return ", from the beginning"
    return f": the {other(turns[-1].speaker)} did not answer the {turns[-1].speaker}"


def told(error: BaseException, how: Ending) -> BaseException:
    """Return an error that broke a call off, with whose fault it is, in which turn, and after which event.

    The texts of our own errors are complete messages, so theirs is extended; any other one gets a note.
    """
    lines = [f"  whose fault: {fault_of(error)}; no verdict on the agent", *how.lines()]
    if isinstance(error, BotError | WorldsPartedError):
        complete = type(error)("\n".join([str(error), *lines]))
        complete.__cause__ = error.__cause__
        return complete
    if isinstance(error, Exception) and not isinstance(error, VoiceEvalError):
        error.add_note("\n".join(lines))
    return error


def broken_off_by(error: BaseException) -> StopReason:
    """Return the stop reason of a call that an error broke off."""
    if isinstance(error, asyncio.CancelledError):
        return StopReason.CANCELLED
    return StopReason.USER_HANGUP if isinstance(error, BotLostError) else StopReason.ERROR


def fault_of(error: BaseException) -> str:
    """Return whose fault an error is that broke a call off."""
    return error.fault_of if isinstance(error, VoiceEvalError) else "pytest-voiceeval's own"


def _where(tape: Tape, now: float) -> str:
    if now < 0:
        return "before the call began, while the bots were prepared"
    turns = turns_of(tape)
    if not turns:
        return f"{now:.1f} s into the call, before the first turn"
    last = turns[-1]
    place = "in" if last.cut_off else "after"
    text = f': "{_short(last.text)}"' if last.text else ""
    return f"{now:.1f} s into the call, {place} turn {len(turns)}, the {last.speaker}'s{text}"


def _last_event(events: Sequence[str]) -> str:
    for line in reversed(events):
        if event := _EVENT.match(line):
            seconds, side, text = event.groups()
            return f"{seconds} s, the {side.lower()}: {_short(text)}"
    return ""


def _short(text: str) -> str:
    words = visible_words(text)
    return words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS]} …"
