"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return those of ``known`` that are most like ``name``, upper and lower case alike, the best first.

    Args:
        name: as it was written.
        known: the names that there are.
        most: how many at the most.
        cutoff: how alike they are at least, from 0 to 1 (``difflib.get_close_matches``).
    """
    by_letters: dict[str, str] = {}
    for each in known:
        by_letters.setdefault(each.casefold(), each)
    found = difflib.get_close_matches(name.casefold(), by_letters, n=most, cutoff=cutoff)
    return [by_letters[letters] for letters in found]
