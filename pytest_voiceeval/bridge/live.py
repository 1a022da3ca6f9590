"""Turns as they are spoken, for whoever watches a call; those that count are made of the tape afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from pytest_voiceeval.bridge.events import Listener
from pytest_voiceeval.bridge.tape import Mark
from pytest_voiceeval.bridge.turns import joined
from pytest_voiceeval.model.live import LiveTurn, OnTurn
from pytest_voiceeval.model.turns import SIDES, Side


@dataclass
class _Saying:
    """What one side is saying, or has said and was not told yet."""

    at: float = 0.0
    texts: list[str] = field(default_factory=list)
    is_speaking: bool = False


class LiveTurns:
    """Makes turns of what bots announce.

    A turn is told when its bot stops, or, of one that does not announce that, when the other side begins.

    Args:
        scenario: whose call it is.
        tell: is told of turns; ``None`` if nobody watches.
        listeners: of both bots.
    """

    def __init__(self, scenario: str, tell: OnTurn | None, listeners: Iterable[Listener] = ()) -> None:
        self._scenario = scenario
        self._tell = tell
        self._sayings = {side: _Saying() for side in SIDES}
        for listener in listeners:
            listener.on_mark = partial(self.mark, listener.side)

    def mark(self, side: Side, mark: Mark) -> None:
        """Take what the bot of ``side`` announces."""
        if self._tell is None:
            return
        saying = self._sayings[side]
        if mark.kind in ("started", "text"):
            for other in SIDES:
                if other != side and not self._sayings[other].is_speaking:
                    self._finish(other)
            if not saying.texts and not (mark.kind == "text" and saying.is_speaking):
                saying.at = mark.at
        if mark.kind == "started":
            saying.is_speaking = True
        elif mark.kind == "text":
            saying.texts.append(mark.text)
        elif mark.kind == "stopped":
            saying.is_speaking = False
            self._finish(side)

    def end(self) -> None:
        """Tell what was not told yet."""
        for side in sorted(SIDES, key=lambda side: self._sayings[side].at):
            self._finish(side)

    def _finish(self, side: Side) -> None:
        saying = self._sayings[side]
        text = joined(saying.texts)
        saying.texts.clear()
        if text and self._tell is not None:
            self._tell(LiveTurn(self._scenario, side, saying.at, text))
