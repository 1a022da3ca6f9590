"""What the expressions of ``-m`` and ``-k`` ask for, as far as the selection of scenarios goes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+(?:\([^()]*=[^()]*\))?)")


@dataclass(frozen=True)
class Expression:
    """An expression of words, ``and``, ``or``, ``not`` and parentheses.

    Attributes:
        asked: words that do not stand under a ``not``.
    """

    asked: frozenset[str]
    _holds: Callable[[Callable[[str], bool]], bool]

    def holds(self, word_holds: Callable[[str], bool]) -> bool:
        """Return whether it is true where ``word_holds`` says which words are."""
        return self._holds(word_holds)


def parse(text: str) -> Expression | None:
    """Return the expression; ``None`` if it is empty or malformed: pytest itself reports that."""
    reader = _Reader(_TOKEN.findall(text))
    try:
        holds = reader.disjunction(asked=True)
    except IndexError:
        return None
    return None if reader.tokens else Expression(frozenset(reader.asked), holds)


Holds = Callable[[Callable[[str], bool]], bool]


class _Reader:
    """Recursive descent over tokens; raises ``IndexError`` where a word is missing."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.asked: set[str] = set()

    def _accept(self, token: str) -> bool:
        if self.tokens[:1] == [token]:
            self.tokens.pop(0)
            return True
        return False

    def disjunction(self, asked: bool) -> Holds:
        parts = [self.conjunction(asked)]
        while self._accept("or"):
            parts.append(self.conjunction(asked))
        return lambda word_holds: any(part(word_holds) for part in parts)

    def conjunction(self, asked: bool) -> Holds:
        parts = [self.negation(asked)]
        while self._accept("and"):
            parts.append(self.negation(asked))
        return lambda word_holds: all(part(word_holds) for part in parts)

    def negation(self, asked: bool) -> Holds:
        if self._accept("not"):
            part = self.negation(not asked)
            return lambda word_holds: not part(word_holds)
        if self._accept("("):
            part = self.disjunction(asked)
            if not self._accept(")"):
                raise IndexError("a parenthesis is open")
            return part
        word = self.tokens.pop(0).partition("(")[0]
        if word in ("", ")", "and", "or"):
            raise IndexError("a word is missing")
        if asked:
            self.asked.add(word)
        return lambda word_holds: word_holds(word)
