"""Turns, from what a bot said about its speech and from the sound itself."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pytest_voiceeval.bridge.tape import Mark, Measure, Sound, Tape
from pytest_voiceeval.model.turns import SIDES, WORK_SHARES, Side, Turn, WorkShare, other

FAR_SECONDS = 1.0
"""Sound further than this from all that a bot announced is a turn of its own."""

PAUSE_SECONDS = 0.7
"""Silence that parts two turns of a bot that announces none."""

REPORT_SECONDS = 0.3
"""How much later than the sound itself a bot may report the work that led to it."""

NOT_UNDERSTOOD = "[NOT UNDERSTOOD]"
"""Stands for words that were heard, of which the bot told none and the other side understood none."""

NO_SPACE_BEFORE = frozenset(".,;:!?%)]}'\u2019\u201d\u2026\u3002\uff0c\uff1f\uff01")


def turns_of(tape: Tape, *, heard: Collection[Side] = ()) -> tuple[Turn, ...]:
    """Return the turns of both sides, sorted by start.

    Args:
        tape: of the call.
        heard: sides whose words are those that the other one has understood, if they tell none themselves.
    """
    turns: list[Turn] = []
    for side in SIDES:
        track = tape.track(side)
        marks = track.marks
        if side in heard and not any(mark.kind == "text" for mark in marks):
            marks = [*marks, *tape.track(other(side)).understood]
        own = with_work(side_turns(side, marks, track.sounds), track.measures)
        turns += _with_words(own) if side in heard else own
    return tuple(sorted(turns, key=lambda turn: (turn.start, turn.end)))


def _with_words(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Yield turns in which something stands for the words of those that were heard, and not understood."""
    for turn in turns:
        is_unclear = not turn.text and not turn.cut_off and turn.end > turn.start
        yield replace(turn, text=NOT_UNDERSTOOD) if is_unclear else turn


def side_turns(side: Side, marks: Sequence[Mark], sounds: Sequence[Sound]) -> list[Turn]:
    """Return the turns of one side, in order.

    A turn lasts from its first audible sample to its last; which sound belongs to which turn follows from
    the announcement nearest to its arrival. A turn without any text and any sound is none.

    Args:
        side: who speaks.
        marks: what its bot announced, in order.
        sounds: what could be heard of it, in order.
    """
    announced = _announced(marks)
    starts = [draft.started for draft in announced]
    unannounced: list[_Draft] = []
    for sound in sounds:
        draft = _nearest(announced, starts, sound)
        if draft is None:
            if not unannounced or sound.start - unannounced[-1].sounds[-1].end > PAUSE_SECONDS:
                unannounced.append(_Draft(sound.spoken_at))
            draft = unannounced[-1]
        draft.sounds.append(sound)
    _hand_out_text(announced, unannounced, [mark for mark in marks if mark.kind == "text"])
    drafts = [draft for draft in announced + unannounced if draft.sounds or draft.texts]
    return sorted((draft.turn(side) for draft in drafts), key=lambda turn: turn.start)


def with_work(turns: Sequence[Turn], measures: Sequence[Measure]) -> list[Turn]:
    """Return one side's turns with the work that its bot has reported before each of them was heard.

    Of recognition and synthesis the last report counts, of the model all that came after the recognition:
    it is called again with the result of each tool.
    """
    begun = -math.inf
    done = []
    for turn in turns:
        heard = (turn.start if turn.spoken_at is None else turn.spoken_at) + REPORT_SECONDS
        reported = [measure for measure in measures if begun < measure.at <= heard]
        last = {measure.share: measure for measure in reported}
        since = last["recognition"].at if "recognition" in last else begun
        work: dict[WorkShare, float] = {share: measure.seconds for share, measure in last.items()}
        if "model" in last:
            thoughts = [m.seconds for m in reported if m.share == "model" and m.at >= since]
            work["model"] = sum(thoughts)
        done.append(replace(turn, work={share: work[share] for share in WORK_SHARES if share in work}))
        begun = heard
    return done


def joined(pieces: Iterable[str]) -> str:
    """Return pieces of speech as one text, with one space where two words would touch.

    ``["Hello.", "World", "!"]`` → ``"Hello. World!"``
    """
    text = ""
    for piece in pieces:
        if text and piece and not _touching(text[-1], piece[0]):
            text += " "
        text += piece
    return text.strip()


@dataclass
class _Draft:
    started: float
    stopped: float | None = None
    interrupted: bool = False
    texts: list[str] = field(default_factory=list)
    sounds: list[Sound] = field(default_factory=list)

    def distance(self, at: float) -> float:
        """Return how far ``at`` lies outside the announced stretch, in seconds."""
        if at < self.started:
            return self.started - at
        return max(at - self.stopped, 0.0) if self.stopped is not None else 0.0

    def turn(self, side: Side) -> Turn:
        first = self.sounds[0] if self.sounds else Sound(self.started, self.started, self.started)
        return Turn(
            speaker=side,
            start=first.start,
            end=max((sound.end for sound in self.sounds), default=first.end),
            text=joined(self.texts),
            spoken_at=first.spoken_at,
            cut_off=self.interrupted,
        )


def _announced(marks: Sequence[Mark]) -> list[_Draft]:
    drafts: list[_Draft] = []
    for mark in marks:
        open_draft = drafts[-1] if drafts and drafts[-1].stopped is None else None
        if mark.kind == "started":
            if open_draft:
                open_draft.stopped = mark.at
            drafts.append(_Draft(mark.at))
        elif mark.kind == "stopped" and open_draft:
            open_draft.stopped = mark.at
        elif mark.kind == "interrupted" and open_draft:
            open_draft.interrupted = True
    if drafts and drafts[-1].stopped is None:
        drafts[-1].interrupted = True
    return drafts


def _nearest(drafts: Sequence[_Draft], starts: Sequence[float], sound: Sound) -> _Draft | None:
    """Return the draft that is nearest to a sound, if one is near; ``starts``: when they start, in order."""
    following = bisect_right(starts, sound.spoken_at)
    near = drafts[max(following - 1, 0) : following + 1]
    nearest = min(near, key=lambda draft: draft.distance(sound.spoken_at), default=None)
    return nearest if nearest and nearest.distance(sound.spoken_at) <= FAR_SECONDS else None


def _hand_out_text(announced: Sequence[_Draft], unannounced: Sequence[_Draft], texts: Sequence[Mark]) -> None:
    drafts = sorted([*announced, *unannounced], key=lambda draft: draft.started)
    starts = [draft.started for draft in drafts]
    for mark in texts:
        if drafts:
            drafts[max(bisect_right(starts, mark.at) - 1, 0)].texts.append(mark.text)


def _touching(last: str, first: str) -> bool:
    """Tell whether two characters may stand side by side as they are."""
    if last.isspace() or first.isspace() or first in NO_SPACE_BEFORE:
        return True
    return _wide(last) or _wide(first)


def _wide(character: str) -> bool:
    """Tell whether a script that writes without spaces has this character."""
    return "\u2e80" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef"
