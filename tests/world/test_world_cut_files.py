"""Files of data that are cut short, empty, or of another encoding: told where, what, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.world.artifacts import read_database
from pytest_voiceeval.world.files import read_utf8

WHOLE = '{\n "orders": [1, 2],\n "name": "José"\n}\n'
Read = Callable[[Path], Any]


def profile(path: Path) -> Any:
    return load_profile(str(path))


@pytest.mark.parametrize(
    ("name", "content", "read", "told"),
    [
        (
            "db.json",
            WHOLE.encode()[:14],
            read_database,
            r":2:13: not JSON: .*; the file ends too early",
        ),
        ("db.json", WHOLE.encode()[:28], read_database, r":3:\d+: not JSON: .*the file ends too early"),
        ("db.json", b"", read_database, r":1:1: not JSON: .*; the file ends too early"),
        ("db.json", b'{"a": 1,, "b": 2}', read_database, r":1:9: not JSON: .*; mend it there"),
        (
            "db.json",
            WHOLE.encode("latin-1"),
            read_database,
            r":3:14: no UTF-8: byte 0xe9; save the file as UTF-8",
        ),
        (
            "db.json",
            WHOLE.encode("utf-16"),
            read_database,
            r":1:1: no UTF-8: byte 0xff; save the file",
        ),
        ("db.json", b'{"a": NaN}', read_database, r": NaN is not a JSON value; write null or a number"),
        ("db.toml", b'a = 1\nb = "x', read_database, r": not TOML: .*; mend it there, or fetch"),
        ("db.toml", 'a = "é"'.encode("latin-1"), read_database, r":1:6: no UTF-8: byte 0xe9"),
        ("bot.yaml", b"stt:\n  service: whisper\nllm: {a: ", profile, r": not YAML: .*line 3, column 10"),
        ("bot.yaml", b"", profile, r": write the sections stt, llm and tts"),
        ("bot.yaml", "stt: é".encode("latin-1"), profile, r":1:6: no UTF-8: byte 0xe9"),
    ],
)
def test_a_file_that_is_not_whole_is_told(
    tmp_path: Path, name: str, content: bytes, read: Read, told: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(VoiceEvalError) as caught:
        read(path)
    assert re.match(re.escape(str(path)) + told, str(caught.value), re.DOTALL), str(caught.value)


def test_a_file_in_utf_8_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes("é\r\n".encode())
    assert read_utf8(tmp_path / "x") == "é\r\n"
