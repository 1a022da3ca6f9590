"""Text that a model thinks, and does not say: what stands between ``<think>`` and ``</think>``."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(?:think|thinking)>", re.IGNORECASE)
_LONGEST = len("</thinking>")


class SpokenText:
    """Takes a reply piece by piece, and gives back what of it is to be said.

    A tag may come in several pieces: what may be the beginning of one is held back until it is clear.

    Attributes:
        has_thought: whether anything was left out.
    """

    def __init__(self) -> None:
        self.has_thought = False
        self._inside = False
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what is to be said now, when ``piece`` has come."""
        text, self._held = self._held + piece, ""
        tail = _beginning_of_tag(text)
        if tail:
            text, self._held = text[:-tail], text[-tail:]
        return self._without_thoughts(text)

    def end(self) -> str:
        """Return what is left to be said when no more comes."""
        text, self._held = self._held, ""
        return "" if self._inside else text

    def _without_thoughts(self, text: str) -> str:
        said = []
        at = 0
        for tag in _TAG.finditer(text):
            if not self._inside:
                said.append(text[at : tag.start()])
            self._inside = not tag[1]
            self.has_thought = True
            at = tag.end()
        if not self._inside:
            said.append(text[at:])
        return "".join(said)


def _beginning_of_tag(text: str) -> int:
    """Return how many characters at the end of ``text`` may be the beginning of a tag."""
    at = text.rfind("<", max(0, len(text) - _LONGEST + 1))
    if at < 0:
        return 0
    tail = text[at:].casefold()
    tags = ("<think>", "</think>", "<thinking>", "</thinking>")
    return len(tail) if any(tag.startswith(tail) and tag != tail for tag in tags) else 0
