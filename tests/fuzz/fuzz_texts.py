"""Text and JSON that a peer may send: much of it nearly right, which is where parsers go wrong."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

TOKENS = [
    *("{", "}", "[", "]", "(", ")", '"', "'", ":", ",", "\\", "`", "```", "```json\n", "\n", " ", "\t", "\r"),
    *(
        "\\u",
        "\\ud800",
        "\\udc00",
        "\\x4",
        "\\U0010ffff",
        "\\U00110000",
        "\\\\",
        "\\'",
        '\\"',
        "\0",
        "\ufeff",
    ),
    *(
        "true",
        "false",
        "null",
        "True",
        "None",
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "1e999",
        "-0",
        ".5",
        "1.",
    ),
    *(
        "<think>",
        "</think>",
        "[THINK]",
        "◁think▷",
        "é",
        "漢",
        "\U0001f600",
        "\ud83d",
        "lambda",
        "0x",
        "0_0",
        "1j",
    ),
    *(
        "score",
        '"score"',
        '{"score": ',
        '"reason": "',
        '"nl_assertion_verdicts": [',
        '{"index": 1, "passed": ',
    ),
    *("role", "'role': 'user'", "content", "b'", "f'", "-", "+", "not ", "__import__('os')", "{**", "*"),
]
"""Pieces of what bots and judges write, of JSON and of Python."""

broken_texts = st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=60).map("".join)
"""Texts that look like JSON or a literal, and seldom are."""

HUGE = 10**4299

numbers = st.one_of(
    st.integers(),
    st.sampled_from([HUGE, -HUGE, 2**63, 2**64, 10**400, -1, 0]),
    st.floats(),
)

names = st.sampled_from(
    [
        *(
            "text",
            "tokens",
            "ttfb",
            "processor",
            "value",
            "prompt_tokens",
            "completion_tokens",
            "error",
            "type",
        ),
        *("action", "name", "arguments", "result", "final", "t", "d", "score", "reason", "index", "passed"),
        *("nl_assertion_verdicts", "role", "content", "tool_calls", "actions", "db_hash", "db", "context"),
    ]
)
"""Keys that mean something to us, so that values of every kind come upon them."""

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | numbers
    | st.text(max_size=8)
    | st.sampled_from(
        ["action-applied", "STT#1", "LLM#0", "<exit>x</exit>", "<final_response>x</final_response>"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def deep_texts(draw: st.DrawFn, *, most: int = 3000) -> str:
    """Return a few openings, over and over, closed or not: what recursion breaks on."""
    opening = draw(
        st.sampled_from(["[", "{", '{"a":', '[{"a":', "(", "[1,", "-", "{'a': ", "[{'a': [", "not "])
    )
    times = draw(st.integers(0, most) | st.sampled_from([90, 199, 200, 201, 990, 1000, most]))
    middle = draw(st.sampled_from(["", "1", '"score": 1', "'x'"]))
    closings = {"[": "]", "{": "}", "(": ")"}
    closing = "".join(closings[c] for c in reversed(opening) if c in closings)
    return opening * times + middle + closing * draw(st.sampled_from([0, times, times // 2]))


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """Return JSON, with a piece cut out of it or put into it now and then."""
    text = json.dumps(draw(json_values), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["", *TOKENS])) + text[at + draw(st.integers(0, 3)) :]
    return text


texts = broken_texts | json_texts() | deep_texts()
