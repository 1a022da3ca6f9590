"""Whatever a judge writes is an opinion, or a JudgeError that can be shown and written."""

from __future__ import annotations

import json
from typing import Any

from fuzz_texts import deep_texts, json_texts, json_values, texts
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_voiceeval.errors import JudgeError
from pytest_voiceeval.scoring.judge_reply import assertion_verdicts, parse_reply
from pytest_voiceeval.scoring.lenient_json import MAX_DEPTH, found_in

ASSERTIONS = ("the agent greets", "the agent ends the call")


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@given(st.lists(texts, max_size=3).map("\n".join), st.booleans(), texts)
@example("[" * 8000, False, "")
@example('{"score": 1, "reason": ' + "[" * 900 + "]" * 900 + "}", False, "")
@example('{"score": "' + "1" * 8000 + 'e"}', False, "")
def test_a_reply_is_an_opinion_or_a_judge_error(reply: str, has_assertions: bool, evidence: str) -> None:
    try:
        opinion = parse_reply(reply, ASSERTIONS if has_assertions else (), evidence=evidence)
    except JudgeError:
        return
    assert 0 <= opinion.score <= 1
    assert isinstance(opinion.reason, str)
    assert len(opinion.verdicts) == (len(ASSERTIONS) if has_assertions else 0)


@given(json_values)
def test_entries_of_any_kind_are_one_verdict_for_each_assertion(entries: Any) -> None:
    verdicts = assertion_verdicts(entries, ASSERTIONS)
    assert [verdict.index for verdict in verdicts] == [1, 2]
    assert all(isinstance(verdict.passed, bool) and isinstance(verdict.reason, str) for verdict in verdicts)


@given(texts)
def test_what_is_found_lies_in_the_text_in_order_and_is_not_too_deep(text: str) -> None:
    found = found_in(text)
    ends = 0
    for one in found.whole:
        assert ends <= one.start < one.end <= len(text)
        assert text[one.start] in "{["
        assert text[one.end - 1] in "}]"
        assert depth(one.value) <= MAX_DEPTH
        ends = one.end
    assert all(0 <= start < end <= len(text) for start, end in found.broken)


@given(json_values.filter(lambda value: isinstance(value, dict | list)), deep_texts(most=100), json_texts())
def test_json_is_found_whole_behind_whatever_is_not(value: Any, before: str, after: str) -> None:
    text = json.dumps(value)
    (first, *_) = found_in(text + "\n" + after).whole
    assert (first.start, first.end) == (0, len(text))
    assert json.dumps(first.value) == text
    assert found_in(before).hold(len(before)) in (True, False)
