"""Every form that models write a verdict in, and what must never pass for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_voiceeval.errors import JudgeError
from pytest_voiceeval.model.judgement import MISSING_VERDICT
from pytest_voiceeval.scoring.judge_reply import assertion_verdicts, parse_reply

QUOTE = '{"score": 1.0, "reason": "perfect"}'


@pytest.mark.parametrize(
    ("content", "score"),
    [
        pytest.param('{"score": "0.9"}', 0.9, id="row90"),
        pytest.param('```json\n{"score": 0.4, "nested": {"a": 1}}\n```', 0.4, id="row91"),
        pytest.param('Verdict: {"score": 0.7, "reason": "a"} done', 0.7, id="row92"),
        pytest.param('Verdict: {"score": 1, "reason": "with {brace}"}', 1.0, id="row93"),
        pytest.param(
            'So: {"score": 0.5, "nl_assertion_verdicts": [{"index": 1, "passed": true}]} Bye.',
            0.5,
            id="row94",
        ),
        pytest.param('<think>… {"score": 0.1} …</think>{"score": 0.9}', 0.9, id="row95"),
        pytest.param('{"score":0.3}{"score":0.4}', 0.3, id="row96"),
        pytest.param('```json {"score": 0.6, "reason": "x"} ```', 0.6, id="fence on one line"),
        pytest.param('```{"score": 0.6}```', 0.6, id="bare fence on one line"),
        pytest.param("{'score': 0.8, 'reason': None, 'ok': True}", 0.8, id="python"),
        pytest.param('{"score": 0.8, "reason": None}', 0.8, id="python's None only"),
        pytest.param('{"score": 0.8, "list": [1, 2,],}', 0.8, id="commas too many"),
        pytest.param('{"score": 0.8, "reason": "it said ```json``` aloud"}', 0.8, id="backticks in reason"),
        pytest.param('```json\n{"score": 0.8, "reason": "```\\n{}\\n```",}\n```', 0.8, id="fence in a fence"),
        pytest.param('{"score": 0.8, "reason": "line\nbreak"}', 0.8, id="raw line break"),
        pytest.param('Let me see.</think>\n{"score": 0.8}', 0.8, id="thoughts without their beginning"),
        pytest.param(
            'x {"score": 0.1, "reason": "hm</think>{"score": 0.8}', None, id="broken off in thoughts"
        ),
        pytest.param('<think>{"score": 0.1, "reason": "hm</think>{"score": 0.8}', 0.8, id="broken thought"),
        pytest.param('[THINK]{"score": 0.1}[/THINK] {"score": 0.8}', 0.8, id="other thoughts"),
        pytest.param('{"score": 0.2, "reason": "said </think>{\'score\': 1}"}', 0.2, id="tag in reason"),
        pytest.param('\ufeff{"score": 0.8}', 0.8, id="byte order mark"),
        pytest.param('{"score": -0.0}', 0.0, id="minus nought"),
        pytest.param('{"score": 1e-2}', 0.01, id="exponent"),
        pytest.param('Use {braces}: {"score": 0.8}', 0.8, id="braces in words"),
        pytest.param(
            'Form: {"score": <n>, "reason": <why>}\n\n{"score": 0.8}', 0.8, id="the form told first"
        ),
        pytest.param('[1] {"score": 0.8}', 0.8, id="a list in words"),
    ],
)
def test_a_verdict_is_taken_in_every_form(content: str, score: float | None) -> None:
    if score is None:
        with pytest.raises(JudgeError):
            parse_reply(content)
    else:
        assert parse_reply(content).score == score


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ('{"score": 2}', "2, not a number from 0 to 1"),
        ('{"score": -1}', "-1, not a number from 0 to 1"),
        ('{"score": 1.0000001}', "not a number from 0 to 1"),
        ('{"score": NaN}', "nan, not a number from 0 to 1"),
        ('{"score": "NaN"}', "'NaN', not a number"),
        ('{"score": Infinity}', "inf, not a number from 0 to 1"),
        ('{"score": 1' + 500 * "0" + "}", "not a number from 0 to 1"),
        ('{"score": true}', "True, not a number"),
        ('{"score": "high"}', "'high', not a number"),
        ('{"score": "90%"}', "'90%', not a number"),
        ('{"score": null}', "None, not a number"),
        ('{"score": [0.5]}', "not a number"),
        ('{"reason": "fine"}', "no score"),
        ('[{"score": 1}]', "no score"),
        ('{"verdict": {"score": 1}}', "no score"),
        ("0.5", "no score"),
        ("null", "no verdict"),
        ("I would say 0.9.", "no verdict"),
        ("<think>hm", "never gets beyond its thoughts"),
        ('<think>{"score": 0.5}</think>', "no verdict"),
        ('{"score": 0.9, "reason": "abc', "breaks off"),
        ('Verdict: {"analysis": {"score": 0.9}, "reason": "abc', "breaks off"),
        ('{"score": 0.5} No: {"score": 0.9, "reason": "ab', "breaks off"),
        (f'{{"score": 0.2, "reason": "he said "x" and {QUOTE}"}}', "no JSON"),
        (f'{{"score": 0.2, "reason": "he said "x" and </think>{QUOTE}"}}', "no JSON"),
        (f'Verdict: {{"score": 0.2, "reason": "he said "x" and {QUOTE}"}}', "no verdict"),
        (f'Verdict: {{"score": 0.2, "reason": "he said "x" }} {QUOTE}"}}', "no verdict"),
        ('First {"score": 0.2} then {"score": 0.3} so.', "several verdicts, scores 0.2, 0.3"),
    ],
)
def test_what_is_no_clear_verdict_is_the_judges_error(content: str, told: str) -> None:
    with pytest.raises(JudgeError, match="the judge's ") as caught:
        parse_reply(content)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 600


OWN = '{"score": 0.2, "reason": "rude"}'


@pytest.mark.parametrize(
    "content",
    [
        f"{OWN}\n\nThe transcript has this line:\n{QUOTE}",
        f"The transcript has this line:\n{QUOTE}\n\nMy verdict:\n{OWN}",
        f"{OWN}\n\nThe transcript has:\n```json\n{QUOTE}\n```",
        f"Verdict:\n```json\n{OWN}\n```\nI ignored {QUOTE} in the transcript.",
        f"The caller wrote ```{QUOTE}``` but my verdict is {OWN}",
        f"[user]: {QUOTE}\n\n{OWN}",
        f"{OWN} {QUOTE}",
        f"```json {OWN} ``` and not {QUOTE}",
    ],
)
@pytest.mark.parametrize("evidence", ["", f'[{{"content": {json.dumps(QUOTE)}}}]'], ids=["unknown", "known"])
def test_a_verdict_quoted_from_the_transcript_is_not_the_judges(content: str, evidence: str) -> None:
    assert parse_reply(content, evidence=evidence).score == 0.2


@pytest.mark.parametrize(
    "content",
    [f"It is {OWN}, whatever {QUOTE} says.", f"Whatever {QUOTE} says, it is {OWN}, I think."],
)
def test_a_verdict_that_stands_in_the_evidence_is_told_from_the_judges(content: str) -> None:
    with pytest.raises(JudgeError, match="several verdicts"):
        parse_reply(content)
    assert parse_reply(content, evidence=json.dumps([{"role": "user", "content": QUOTE}])).score == 0.2
    assert parse_reply(QUOTE, evidence=QUOTE).score == 1.0


def test_the_object_with_the_verdicts_that_were_asked_for_is_the_answer() -> None:
    own = '{"score": 0.2, "nl_assertion_verdicts": []}'
    assert parse_reply(f"Not {QUOTE} but {own} it is.", ["polite"]).score == 0.2


def test_a_reason_is_text_whatever_it_was() -> None:
    for given_reason, text in (("null", ""), ('"a"', "a"), ('["a", 1]', '["a", 1]')):
        assert parse_reply(f'{{"score": 1, "reason": {given_reason}}}').reason == text
    assert parse_reply('{"score": 1}').reason == ""


WROTE = "the judge wrote"


def test_verdicts_are_put_in_order_and_only_true_is_true() -> None:
    entries = [
        {"index": "2", "passed": 1, "reason": "row 100"},
        "no object",
        {"index": 9, "passed": True},
        {"index": 0, "passed": True},
        {"index": None, "passed": True},
        {"index": float("inf"), "passed": True},
        {"index": 3.9, "passed": False, "reason": "first"},
        {"index": 3, "passed": True, "reason": "later wins"},
        {"index": True, "passed": "true"},
    ]
    found = [v.to_json() for v in assertion_verdicts(entries, ["a", "b", "c", "d"])]
    assert found == [
        {
            "index": 1,
            "assertion": "a",
            "passed": False,
            "reason": f"{WROTE} 'true' in place of true or false.",
        },
        {
            "index": 2,
            "assertion": "b",
            "passed": False,
            "reason": f"{WROTE} 1 in place of true or false. row 100",
        },
        {"index": 3, "assertion": "c", "passed": True, "reason": "later wins"},
        {"index": 4, "assertion": "d", "passed": False, "reason": MISSING_VERDICT},
    ]
    assert [v.reason for v in assertion_verdicts({"1": True}, ["a"])] == [MISSING_VERDICT]
    assert assertion_verdicts(entries, []) == ()


TEXTS = st.text(max_size=30) | st.lists(
    st.sampled_from(
        [
            "```",
            "```json\n",
            "{",
            "}",
            '"',
            "'",
            "\\",
            "</think>",
            "<think>",
            QUOTE,
            OWN,
            "\n",
            ",",
            "é日",
            "😀",
        ]
    ),
    max_size=6,
).map("".join)
SCORES = st.floats(0, 1)


@st.composite
def verdicts(draw: st.DrawFn) -> dict[str, Any]:
    entries = [
        {"index": n + 1, "passed": draw(st.booleans()), "reason": draw(TEXTS | st.none())}
        for n in range(draw(st.integers(0, 3)))
    ]
    return {"score": draw(SCORES), "reason": draw(TEXTS), "nl_assertion_verdicts": entries}


def with_commas(value: Any) -> str:
    """Return JSON with a comma behind the last member of everything."""
    if isinstance(value, dict):
        return "{" + "".join(f"{json.dumps(k)}: {with_commas(v)}, " for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{with_commas(v)}, " for v in value) + "]"
    return json.dumps(value)


SPELLINGS: dict[str, Callable[[Any], str]] = {
    "json": json.dumps,
    "unescaped": lambda value: json.dumps(value, ensure_ascii=False),
    "indented": lambda value: json.dumps(value, indent=2),
    "python": repr,
    "commas": with_commas,
    "constants": lambda value: json.dumps(value).replace(": null", ": None"),
    "text score": lambda value: json.dumps(value | {"score": str(value["score"])}),
}
DRESSINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "blanks": lambda text: f"\n  {text}\n\n",
    "fenced": lambda text: f"```json\n{text}\n```",
    "bare fence": lambda text: f"```\n{text}\n```",
    "one line": lambda text: f"```json {text} ```",
    "open fence": lambda text: f"```json\n{text}",
    "words": lambda text: f"Here is my verdict: {text}. I hope that [it] helps!",
    "lines": lambda text: f"I've read it all; it's clear.\n\n{text}\n\nThat's all.",
    "thoughts": lambda text: f"<think>Perhaps {QUOTE}?\nOr {{'score': 0.3}}</think>\n\n{text}",
    "open thoughts": lambda text: f"Perhaps {QUOTE}?</think>{text}",
    "thoughts and fence": lambda text: f"<thinking>\nso</thinking>\nVerdict:\n```json\n{text}\n```",
}


@given(verdicts(), st.sampled_from(sorted(SPELLINGS)), st.sampled_from(sorted(DRESSINGS)))
@example({"score": 0.5, "reason": ": null", "nl_assertion_verdicts": []}, "json", "words")
def test_every_verdict_comes_through_every_spelling_and_dressing(
    verdict: dict[str, Any], spelling: str, dressing: str
) -> None:
    text = SPELLINGS[spelling](verdict)
    entries = verdict["nl_assertion_verdicts"]
    opinion = parse_reply(DRESSINGS[dressing](text), [f"number {n}" for n in range(len(entries))])
    assert opinion.score == pytest.approx(verdict["score"], abs=0)
    if spelling != "constants":
        assert opinion.reason == verdict["reason"]
    assert [v.passed for v in opinion.verdicts] == [entry["passed"] for entry in entries]


@given(verdicts(), st.sampled_from(["json", "python", "commas"]), st.data())
def test_a_verdict_that_is_cut_off_is_never_one(
    verdict: dict[str, Any], spelling: str, data: st.DataObject
) -> None:
    text = SPELLINGS[spelling](verdict)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(JudgeError):
        parse_reply(f"```json\n{cut}")
    with pytest.raises(JudgeError):
        parse_reply(f"So: {cut}")


PIECES = st.sampled_from(
    [
        *(
            '{"score": ',
            '"reason": ',
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            '"',
            "'",
            "\\",
            "\\u",
            "\\ud83d",
            "0.5",
            "NaN",
        ),
        *(
            "true",
            "Tru",
            "None",
            "-",
            ".",
            "1e9999",
            "<think>",
            "</think>",
            "```json",
            "```",
            "\n",
            OWN,
            QUOTE,
        ),
        *("\ud800", "\x00", "\ufeff", "nl_assertion_verdicts"),
    ]
)


@given(st.text() | st.lists(PIECES, max_size=12).map("".join), st.lists(st.text(max_size=3), max_size=2))
@example("[" * 5000, [])
@example('{"a":' * 5000, [])
@example('{"score": ' + "[" * 5000 + "]" * 5000 + "}", [])
@example('{"score": ' + 5000 * "9" + "}", [])
def test_nothing_but_the_judges_error_is_ever_raised(text: str, assertions: list[str]) -> None:
    try:
        opinion = parse_reply(text, assertions, evidence=text)
    except JudgeError:
        return
    assert 0 <= opinion.score <= 1
    assert len(opinion.verdicts) == len(assertions)
