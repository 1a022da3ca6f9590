from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.bots.history import printable


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        (None, None),
        ({"content": b"\x00"}, {"content": "<binary>"}),
        ({"url": "data:image/png;base64,AA"}, {"url": "<binary>"}),
        ({"image_url": {"url": "data:image/png;base64,AA"}}, {"image_url": {"url": "<image>"}}),
        ({"image_url": {"url": "https://a.b/c.png"}}, {"image_url": {"url": "https://a.b/c.png"}}),
        (
            {"input_audio": {"data": "AAAA", "format": "wav", "transcript": "hi"}},
            {"input_audio": {"data": "<audio>", "format": "wav", "transcript": "hi"}},
        ),
        ({"file": {"file_data": "AA", "file_id": "f1"}}, {"file": {"file_data": "<file>", "file_id": "f1"}}),
        ({"b64_json": "AA"}, {"b64_json": "<binary>"}),
        ({"result": {"data": "stays"}}, {"result": {"data": "stays"}}),
        ([{"audio": [b"x", "y"]}], [{"audio": ["<audio>", "y"]}]),
    ],
)
def test_binary_content_is_replaced_and_the_rest_stays(value: Any, expected: Any) -> None:
    assert printable(value) == expected
