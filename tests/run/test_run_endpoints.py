"""What a fixture brings in place of a bot, and is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from calls_of_fakes import HANGS_UP, Calls, Tea, caller

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.run.evaluate import hold
from pytest_voiceeval.run.settings import RunSettings


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (
            "ws://u:canary@127.0.0.1:1",
            r"'ws://<redacted>@127.0.0.1:1' is no agent bot; let the fixture voice_agent return",
        ),
        (None, "'None' is no agent bot; let the fixture voice_agent return an endpoint, such as RemoteBot"),
        (Calls(USER, [HANGS_UP]), "is given as the agent bot, and its side is 'user'; make it with 'agent'"),
    ],
)
def test_what_is_no_bot_of_a_side_is_told(tmp_path: Path, agent: Any, told: str) -> None:
    with pytest.raises(DefinitionError, match=told) as caught:
        hold(Tea(), user=caller(), agent=agent, settings=RunSettings(), folder=tmp_path)
    assert "canary" not in str(caught.value)
    assert AGENT in str(caught.value)
