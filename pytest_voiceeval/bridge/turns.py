"""Turns, from what a bot said about its speech and from the sound itself."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pytest_voiceeval.bridge.stretches import Stretch, is_answered, stretches_of
from pytest_voiceeval.bridge.tape import Mark, Measure, Sound, Tape
from pytest_voiceeval.model.turns import SIDES, WORK_SHARES, Side, Turn, WorkShare, other

FAR_SECONDS = 1.0
"""Sound further than this from all that a bot announced is a turn of its own."""

PAUSE_SECONDS = 0.7
"""Silence that parts two turns of a bot that announces none, also if the other side does not speak in it."""

REPORT_SECONDS = 0.3
"""How much later than the sound itself a bot may report the work that led to it."""

UNDERSTANDING_SECONDS = 1.0
"""What a recogniser tells so soon after a pause is of what was said before it."""

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
    speech = {side: stretches_of(tape.track(side).sounds) for side in SIDES}
    for side in SIDES:
        track = tape.track(side)
        marks = track.marks
        if side in heard and not any(mark.kind == "text" for mark in marks):
            marks = [*marks, *_told_late(tape.track(other(side)).understood, speech[side])]
        own = with_work(side_turns(side, marks, speech[side], speech[other(side)]), track.measures)
        turns += _with_words(own) if side in heard else own
    return tuple(sorted(turns, key=lambda turn: (turn.start, turn.end)))


def _told_late(understood: Iterable[Mark], speech: Sequence[Stretch]) -> Iterator[Mark]:
    """Yield texts of a recogniser, those that came right after a pause dated back to before it."""
    for mark in understood:
        ended = bisect_right(speech, mark.at, key=lambda stretch: stretch.end)
        is_speaking = ended < len(speech) and speech[ended].spoken_at <= mark.at
        if is_speaking and ended and mark.at - speech[ended - 1].end <= UNDERSTANDING_SECONDS:
            yield replace(mark, at=speech[ended - 1].spoken_until)
        else:
            yield mark


def _with_words(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Yield turns in which something stands for the words of those that were heard, and not understood."""
    for turn in turns:
        is_unclear = not turn.text and not turn.cut_off and turn.end > turn.start
        yield replace(turn, text=NOT_UNDERSTOOD) if is_unclear else turn


def side_turns(
    side: Side, marks: Sequence[Mark], speech: Sequence[Stretch], others: Sequence[Stretch] = ()
) -> list[Turn]:
    """Return the turns of one side, in order.

    A turn lasts from its first audible sample to its last; which stretch of speech belongs to which turn
    follows from the announcement nearest to its arrival. What is far from any is parted by its pauses: by
    those of more than ``PAUSE_SECONDS``, and by those in which the other side speaks up. A turn without any
    text and any sound is none.

    Args:
        side: who speaks.
        marks: what its bot announced, in order.
        speech: what could be heard of it, in order.
        others: what could be heard of the other side, in order.
    """
    announced = _announced(marks)
    _begin_with_sound(announced, speech, others)
    onsets = [draft.onset for draft in announced]
    unannounced: list[_Draft] = []
    for stretch in speech:
        first, last = bisect_right(onsets, stretch.spoken_at), bisect_left(onsets, stretch.spoken_until)
        for piece in stretch.parted(onsets[first:last]):
            draft = _nearest(announced, onsets, piece)
            if draft is None or draft.is_over(piece, others):
                if not unannounced or _is_parted(unannounced[-1].speech[-1], piece, others):
                    unannounced.append(_Draft(piece.spoken_at))
                draft = unannounced[-1]
            draft.speech.append(piece)
    _hand_out_text(announced, unannounced, [mark for mark in marks if mark.kind == "text"])
    drafts = [draft for draft in announced + unannounced if draft.speech or draft.texts]
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
    speech: list[Stretch] = field(default_factory=list)
    onset: float = field(init=False)

    def __post_init__(self) -> None:
        self.onset = self.started

    def distance(self, piece: Stretch) -> float:
        """Return how far a piece of speech lies outside the announced stretch, in seconds."""
        if piece.spoken_at < self.onset:
            return max(self.onset - piece.spoken_until, 0.0)
        return max(piece.spoken_at - self.stopped, 0.0) if self.stopped is not None else 0.0

    def is_over(self, piece: Stretch, others: Sequence[Stretch]) -> bool:
        """Tell whether the other side has spoken up since the announced stretch was heard to its end."""
        has_stopped = self.stopped is not None and piece.spoken_at > self.stopped
        return has_stopped and bool(self.speech) and _is_between(self.speech[-1], piece, others)

    def turn(self, side: Side) -> Turn:
        first = self.speech[0].sounds[0] if self.speech else Sound(self.started, self.started, self.started)
        return Turn(
            speaker=side,
            start=first.start,
            end=max((piece.end for piece in self.speech), default=first.end),
            text=joined(self.texts),
            spoken_at=first.spoken_at,
            cut_off=self.interrupted,
        )


def _announced(marks: Sequence[Mark]) -> list[_Draft]:
    """Return what a bot announced; an end that was missing may still come after the next start."""
    drafts: list[_Draft] = []
    ends_to_come = 0
    for mark in marks:
        open_draft = drafts[-1] if drafts and drafts[-1].stopped is None else None
        if mark.kind == "started":
            if open_draft:
                open_draft.stopped = mark.at
                ends_to_come += 1
            drafts.append(_Draft(mark.at))
        elif mark.kind == "stopped" and open_draft:
            open_draft.stopped = mark.at
        elif mark.kind == "stopped" and ends_to_come:
            drafts[-1].stopped = mark.at
            ends_to_come -= 1
        elif mark.kind == "interrupted" and open_draft:
            open_draft.interrupted = True
    if drafts and drafts[-1].stopped is None:
        drafts[-1].interrupted = True
    return drafts


def _begin_with_sound(drafts: Sequence[_Draft], speech: Sequence[Stretch], others: Sequence[Stretch]) -> None:
    """Let drafts that were announced late begin with their first sound.

    A start is late if it comes in a stretch of speech that no start came before; or, where the other side had
    spoken up before that stretch, behind it.
    """
    begins = [stretch.spoken_at for stretch in speech]
    taken = -1
    for draft in drafts:
        at = bisect_right(begins, draft.started) - 1
        is_within = at >= 0 and draft.started < speech[at].spoken_until
        is_late = at > taken and draft.started - begins[at] <= FAR_SECONDS
        if is_late and (is_within or at == 0 or _is_between(speech[at - 1], speech[at], others)):
            draft.onset = begins[at]
        elif not is_within and at + 1 < len(begins) and begins[at + 1] - draft.started <= FAR_SECONDS:
            at += 1
        taken = max(taken, at)


def _nearest(drafts: Sequence[_Draft], onsets: Sequence[float], piece: Stretch) -> _Draft | None:
    """Return the draft that is nearest to a piece of speech, if one is near; ``onsets``: theirs, in order."""
    following = bisect_right(onsets, piece.spoken_at)
    near = drafts[max(following - 1, 0) : following + 1]
    nearest = min(near, key=lambda draft: draft.distance(piece), default=None)
    return nearest if nearest and nearest.distance(piece) <= FAR_SECONDS else None


def _is_parted(before: Stretch, after: Stretch, others: Sequence[Stretch]) -> bool:
    """Tell whether two stretches of a bot that announces nothing are of two turns."""
    return after.start - before.end > PAUSE_SECONDS or _is_between(before, after, others)


def _is_between(before: Stretch, after: Stretch, others: Sequence[Stretch]) -> bool:
    """Tell whether the other side speaks up between two stretches."""
    return is_answered(others, before.end, after.start)


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
