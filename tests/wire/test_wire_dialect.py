from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval import RemoteBot
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.wire.dialect import Dialect


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"protocol": "sip"}, "no protocol 'sip'; choose one of: rtvi, pcm, twilio"),
        ({"mode": "white"}, "no mode 'white'; choose one of: auto, evaluated, black-box"),
        ({"protocol": "pcm", "mode": "evaluated"}, "speaks pcm cannot have the mode evaluated"),
        ({"protocol": "twilio", "mode": "evaluated"}, "write black-box or auto"),
        ({"pcm_rate": 8000}, "pcm_rate 8000 is of no use with the protocol rtvi"),
        (
            {"protocol": "twilio", "pcm_encoding": "alaw"},
            "pcm_encoding alaw is of no use with the protocol twilio",
        ),
        ({"protocol": "pcm", "pcm_encoding": "mp3"}, "no pcm_encoding 'mp3'"),
        ({"protocol": "pcm", "pcm_rate": 100}, "pcm_rate is 100; write a whole number of hertz from 4000"),
        ({"protocol": "pcm", "pcm_rate": True}, "pcm_rate is True"),
        ({"protocol": "pcm", "twilio_parameters": {"a": "b"}}, "twilio_parameters are of no use"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        RemoteBot("agent", "ws://127.0.0.1:1", **arguments)
    assert told in str(caught.value)


@pytest.mark.parametrize("arguments", [{"protocol": "pcm"}, {"mode": "black-box"}])
def test_the_simulated_user_is_always_evaluated(arguments: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match="the simulated user must speak rtvi"):
        RemoteBot("user", "ws://127.0.0.1:1", **arguments)
    assert RemoteBot("user", "ws://127.0.0.1:1").dialect == Dialect(mode="evaluated")


@pytest.mark.parametrize(
    ("encoding", "rate", "wanted"),
    [
        (None, None, 16_000),
        ("f32le", None, 16_000),
        ("mulaw", None, 8_000),
        ("alaw", None, 8_000),
        ("alaw", 16_000, 16_000),
    ],
)
def test_the_usual_rate_of_an_encoding_holds_unless_another_is_asked_for(
    encoding: Any, rate: int | None, wanted: int
) -> None:
    assert Dialect("pcm", "auto", rate, encoding).rate_hz == wanted


def test_only_a_bot_that_speaks_rtvi_and_is_no_black_box_may_be_prepared() -> None:
    assert Dialect().may_be_prepared
    assert Dialect(mode="auto").may_be_prepared
    assert not Dialect(mode="black-box").may_be_prepared
    assert not Dialect("pcm", "auto").may_be_prepared
