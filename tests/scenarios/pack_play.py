"""The rehearsals of packs, played and scored without sound."""

from __future__ import annotations

import re
from typing import Any

from pytest_voiceeval import Rehearsal, Say, Scenario, Use, get_eval_scenario
from pytest_voiceeval.model.metrics import Scores, Verdict
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.run.tool_errors import tool_errors
from pytest_voiceeval.scoring.composite import score


def get(name: str) -> Scenario:
    scenario = get_eval_scenario(name)
    assert scenario is not None
    return scenario


def rehearsal_of(scenario: Scenario) -> Rehearsal:
    assert scenario.rehearsal is not None
    return scenario.rehearsal


def scores_of(scenario: Scenario, rehearsal: Rehearsal, **settings: Any) -> Scores:
    return score(scenario, hold_dry(scenario, rehearsal), **settings)


def assert_gold_passes(scenario: Scenario, **settings: Any) -> None:
    """Check that no tool complains about the scenario's own rehearsal, and that it passes."""
    conversation = hold_dry(scenario)
    assert tool_errors(conversation.agent.context) == []
    assert score(scenario, conversation, **settings).verdict is Verdict.PASSED


def assert_can_be_spoken(rehearsal: Rehearsal) -> None:
    """Check what makes a script one that a voice says and a recogniser hears as they are meant."""
    spoken = {
        side: [x.text for x in rehearsal.lines(side) if isinstance(x, Say)] for side in ("user", "agent")
    }
    assert len(spoken["user"]) == len(spoken["agent"]) == len(rehearsal.user)
    assert rehearsal.agent[-1] == Use("EndConversationTool")
    assert isinstance(rehearsal.user[-1], Say)
    assert rehearsal.user[-1].text.endswith("goodbye.")
    for text in spoken["user"] + spoken["agent"]:
        assert len(text.split()) >= 4
        assert not re.search(r"\d\d\d", text), "a voice reads long numbers as one"
        assert not re.match(r"\w+,", text), "a pause after the first word splits the utterance"


def assert_prompt_is_clean(prompt: str) -> None:
    """Check that a prompt has no tools in it and no stray blanks."""
    assert "\n\n\n" not in prompt
    assert 'Tool":' not in prompt
    assert not [line for line in prompt.splitlines() if line != line.rstrip()]
