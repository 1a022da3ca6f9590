"""What a judge's reply says, in whatever form a model writes it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_voiceeval.errors import JudgeError
from pytest_voiceeval.model.judgement import MISSING_VERDICT, AssertionVerdict, Opinion
from pytest_voiceeval.scoring.lenient_json import Found, found_in, whole_value

SCORE = "score"
VERDICTS = "nl_assertion_verdicts"

EXPECTED = 'expected one JSON object such as {"score": 0.8, "reason": "..."}'
SHOWN_CHARACTERS = 200

MAX_VERDICTS = 100
"""So many different verdicts in one reply are not weighed against each other."""

SHOWN_VERDICTS = 5
TOO_DEEP = "(nested too deep to be shown)"

LONGEST_INDENT = 200
"""Characters before a verdict on its line beyond which it does not stand alone."""

_TAG = r"(?:think|thinking|thought|thoughts|reasoning|analysis|reflection|scratchpad)"
_THINKING = re.compile(rf"<{_TAG}\s*>|\[THINK\]|◁think▷", re.IGNORECASE)
_THOUGHT = re.compile(rf"</{_TAG}\s*>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_NUMERIC = re.compile(r"\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_FENCE = re.compile(r"```[\w+-]*")
_FENCE_AFTER = re.compile(r"\s*(?:```|$)|[ \t]*\n")
_NOT_IN_QUOTES = re.compile(r"\\[nrt]|[\\\s]")


def parse_reply(text: str, assertions: Sequence[str] = (), *, evidence: str = "") -> Opinion:
    """Return what a judge's reply says.

    Args:
        text: the reply.
        assertions: what it was to give a verdict on, besides the score.
        evidence: what the judge was shown: a verdict that stands in it is quoted, where there is another.

    Raises:
        JudgeError: if the reply is no verdict, or it is not clear which.
    """
    answer = _verdict_in(text, has_assertions=bool(assertions), evidence=evidence)
    score = _score(answer.get(SCORE), text)
    reason = answer.get("reason")
    return Opinion(score, _as_text(reason), assertion_verdicts(answer.get(VERDICTS), assertions))


def assertion_verdicts(entries: Any, assertions: Sequence[str]) -> tuple[AssertionVerdict, ...]:
    """Return one verdict for each assertion, in order.

    Of several entries with the same index the last counts. An assertion holds only if its entry says exactly
    ``true``; one without an entry does not.
    """
    by_index: dict[int, Mapping[str, Any]] = {}
    for entry in entries if isinstance(entries, list) else ():
        index = _index(entry.get("index")) if isinstance(entry, dict) else None
        if index is not None:
            by_index[index] = entry
    verdicts = []
    for index, assertion in enumerate(assertions, 1):
        entry = by_index.get(index, {"reason": MISSING_VERDICT})
        passed = entry.get("passed")
        reason = _as_text(entry.get("reason"))
        if "passed" in entry and not isinstance(passed, bool):
            reason = f"the judge wrote {_shown(passed)} in place of true or false. {reason}".rstrip()
        verdicts.append(AssertionVerdict(index, assertion, passed is True, reason))
    return tuple(verdicts)


def _index(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _score(value: Any, text: str) -> float:
    """Return a score; raises JudgeError for anything but a number, or the text of one, from 0 to 1."""
    number = float(value) if isinstance(value, str) and _NUMERIC.fullmatch(value) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise JudgeError(f"the judge's score is {_shown(value)}, not a number: {_short(text)}")
    if not 0 <= number <= 1:
        raise JudgeError(f"the judge's score is {_shown(value)}, not a number from 0 to 1: {_short(text)}")
    return abs(float(number))


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP


def _verdict_in(text: str, *, has_assertions: bool, evidence: str) -> Mapping[str, Any]:
    """Return the object with a score that is the reply's answer; raises JudgeError."""
    if not text.strip():
        raise JudgeError("the judge's reply is empty")
    whole = whole_value(text.strip().removeprefix("\ufeff"))
    if isinstance(whole, dict) and SCORE in whole:
        return whole
    if whole is not None:
        raise JudgeError(f"the judge's reply has no score; {EXPECTED}, found: {_short(text)}")
    answer = _without_thoughts(text)
    found = found_in(answer)
    if found.unfinished is not None:
        raise JudgeError(f"the judge's reply breaks off: … {answer[-SHOWN_CHARACTERS:]}")
    if found.broken and _is_mark_up(answer[: found.broken[0][0]]):
        raise JudgeError(f"the judge's reply is no JSON; {EXPECTED}, found: {_short(answer)}")
    shown = _bare(evidence)
    candidates = [one for one in found.whole if isinstance(one.value, dict) and SCORE in one.value]
    own = [one for one in candidates if _bare(answer[one.start : one.end]) not in shown]
    if found.broken:  # what looks like a verdict may be quoted within a broken one
        candidates = own = [one for one in own if _stands_alone(one, answer)]
    if not candidates:
        raise JudgeError(f"the judge's reply has no verdict; {EXPECTED}, found: {_short(text)}")
    value: Mapping[str, Any] = _own(own or candidates, answer, has_assertions=has_assertions).value
    return value


def _is_mark_up(text: str) -> bool:
    """Return whether nothing but blanks and the beginning of a fence stands in ``text``."""
    return not text.strip("`jsonJSON \t\r\n")


def _bare(text: str) -> str:
    """Return ``text`` without blanks and with one kind of quotes, however often it was quoted."""
    return _NOT_IN_QUOTES.sub("", text).replace("'", '"')


def _without_thoughts(text: str) -> str:
    """Return what a reply says behind its thoughts, in which there may be drafts; raises JudgeError."""
    answer = text.strip().removeprefix("\ufeff").lstrip()
    if begun := _THINKING.match(answer):
        ended = _THOUGHT.search(answer, begun.end())
        if ended is None:
            raise JudgeError(f"the judge's reply never gets beyond its thoughts: {_short(text)}")
        answer = answer[ended.end() :]
    if ends := _outside(_THOUGHT, answer):  # a chat template may have written where the thoughts begin
        answer = answer[ends[-1].end() :]
    if begins := _outside(_THINKING, answer):
        answer = answer[: begins[0].start()]
    return answer.strip()


def _outside(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches that are not within a JSON value: what a reason quotes is no mark-up."""
    found = found_in(text)
    return [match for match in pattern.finditer(text) if not found.hold(match.start())]


def _own(candidates: list[Found], text: str, *, has_assertions: bool) -> Found:
    """Return the verdict that is the judge's own: others are quoted from the conversation.

    What tells them apart is looked at in this order, as long as something passes it: it has the verdicts
    that were asked for; it stands alone, not within a sentence; the reply begins with it, or ends with it,
    or it is fenced.

    Raises:
        JudgeError: if several are left that differ.
    """
    tests: list[Callable[[Found], bool]] = [
        lambda one: not has_assertions or isinstance(one.value.get(VERDICTS), list),
        lambda one: _stands_alone(one, text),
        lambda one: _is_mark_up(text[: one.start]),
        lambda one: not text[one.end :].strip("` \t\r\n"),
        lambda one: text[: one.start].rstrip().endswith(("```json", "```JSON", "```")),
    ]
    for passes in tests:
        if _agree(candidates) or len(candidates) > MAX_VERDICTS:
            break
        candidates = [one for one in candidates if passes(one)] or candidates
    if not _agree(candidates):
        scores = ", ".join(_shown(one.value[SCORE]) for one in candidates[:SHOWN_VERDICTS])
        raise JudgeError(
            f"the judge's reply has several verdicts, scores {scores}, and none stands out: {_short(text)}"
        )
    return candidates[0]


def _agree(candidates: Sequence[Found]) -> bool:
    """Return whether all say the same."""
    first = _said(candidates[0].value)
    return all(_said(one.value) == first for one in candidates[1:])


def _said(value: Mapping[str, Any]) -> tuple[str, str]:
    number = value[SCORE]
    is_nan = isinstance(number, float) and math.isnan(number)
    return ("nan" if is_nan else repr(number)), repr(value.get(VERDICTS))


def _stands_alone(one: Found, text: str) -> bool:
    return _begins_line(text, one.start) and bool(_FENCE_AFTER.match(text, one.end))


def _begins_line(text: str, at: int) -> bool:
    """Return whether ``at`` is where a line of ``text`` begins, or what a fence holds."""
    first = max(0, at - LONGEST_INDENT)
    line = text.rfind("\n", first, at) + 1
    if not line and first:
        return False
    before = text[line:at].strip()
    return not before or bool(_FENCE.fullmatch(before))


def _shown(value: Any) -> str:
    try:
        return _short(repr(value))
    except RecursionError:
        return TOO_DEEP


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS]} …"
