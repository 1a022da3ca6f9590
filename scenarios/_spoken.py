"""Instructions to a caller as the caller would say them: in the first person, in short utterances."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_WORDS = 22
FEWEST_WORDS = 4

_PERSONS = (
    (r"you are|you're", "I am"),
    (r"you were", "I was"),
    (r"you've", "I have"),
    (r"you'd", "I would"),
    (r"you'll", "I will"),
    (r"yourself", "myself"),
    (r"yours", "mine"),
    (r"your", "my"),
    (
        r"(to|for|with|from|by|of|at|about|give|gives|tell|tells|send|let|help|offer|charge|refund) you",
        r"\1 me",
    ),
    (r"you", "I"),
)
_SYMBOLS = {
    "_": " ",
    "@": " at ",
    "&": " and ",
    "%": " percent",
    "+": " plus ",
    "/": " or ",
}
_CODE = re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])\w{3,}\b|\d{3,}")
_PAUSE = re.compile(r"\s*[,.!?][\s,.!?]*")
_SENTENCE_END = re.compile(r"(?<=[.!?]) +")
_JOINTS = re.compile(r"(?<=[,]) +| +(?=(?:and|but|or|if|because|so|then|which|while|when|unless) )")


def utterances(instructions: str) -> list[str]:
    """Return what a caller says who was told ``instructions``, each text short enough for one breath.

    It is meant for voices and recognisers: no symbols, numbers digit by digit, no word alone.
    """
    text = _speakable(_first_person(instructions))
    pieces = [piece for sentence in _SENTENCE_END.split(text) for piece in _shortened(sentence)]
    whole = [_finished(piece) for piece in _merged(pieces)]
    return whole or ["I have a question about my account."]


def _first_person(text: str) -> str:
    text = text.replace("\u2019", "'")
    for pattern, person in _PERSONS:
        text = re.sub(rf"\b(?:{pattern})\b", person, text, flags=re.IGNORECASE)
    return text


def _speakable(text: str) -> str:
    text = re.sub(r"\$ ?(\d[\d.,]*\d|\d)", r"\1 dollars", text)
    for symbol, word in _SYMBOLS.items():
        text = text.replace(symbol, word)
    text = re.sub(r"(?<=\d),(?=\d\d\d)", "", text)
    text = re.sub(r"(?<=\d)\.(?=\d)", " point ", text)
    text = _CODE.sub(lambda code: " ".join(code.group()), text)
    text = re.sub(r"\s[-\u2013\u2014]+\s|[:;()]|\n+", ", ", text)
    text = re.sub(r"[^\w\s.,!?'-]|(?<!\w)'|'(?!\w)", " ", text)
    return re.sub(r"\s+", " ", _PAUSE.sub(_one_pause, text)).strip(" ,")


def _one_pause(pause: re.Match[str]) -> str:
    """Return one sign for several, that of the longest pause."""
    return next((sign for sign in pause.group() if sign in ".!?"), ",") + " "


def _shortened(sentence: str) -> Iterator[str]:
    """Yield a sentence in pieces that are not too long, parted where a speaker would breathe."""
    if len(re.findall(r"\w\w+", sentence)) <= MOST_WORDS:
        yield sentence
        return
    joints = [found.start() for found in _JOINTS.finditer(sentence)]
    spaces = [found.start() for found in re.finditer(" ", sentence)]
    inner = [place for place in joints if 0.2 < place / len(sentence) < 0.8] or spaces
    middle = min(inner, key=lambda place: abs(place - len(sentence) / 2))
    yield from _shortened(sentence[:middle].strip())
    yield from _shortened(sentence[middle:].strip())


def _merged(pieces: list[str]) -> list[str]:
    """Return the pieces with those of very few words joined to what comes before or after."""
    merged: list[str] = []
    for piece in filter(None, pieces):
        is_short = len(piece.split()) < FEWEST_WORDS
        if merged and (is_short or len(merged[-1].split()) < FEWEST_WORDS):
            merged[-1] = f"{merged[-1].rstrip('.,!?')} {piece}"
        else:
            merged.append(piece)
    return merged


def _finished(piece: str) -> str:
    """Return a piece as a sentence; a comma after its first word would be a pause that parts it."""
    piece = re.sub(r"^(\w+),", r"\1", piece.strip(" ,"))
    while len(piece.split()) < FEWEST_WORDS:
        piece = f"I would like to say {piece}"
    return piece[:1].upper() + piece[1:] + ("" if piece[-1] in ".!?" else ".")
