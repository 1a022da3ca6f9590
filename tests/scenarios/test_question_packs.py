"""The questions of qa and simple_qa."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pack_play import (
    assert_can_be_spoken,
    assert_prompt_is_clean,
    get,
    rehearsal_of,
)

from pytest_voiceeval import Conversation, Rehearsal, Scenario, SuccessSignal
from pytest_voiceeval.model.judgement import Judgement
from pytest_voiceeval.model.metrics import Scores, Verdict
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.run.tool_errors import tool_errors
from pytest_voiceeval.scenarios.rehearsal import sabotage
from pytest_voiceeval.scoring.composite import score
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success

pytestmark = pytest.mark.usefixtures("builtin")

ANSWERS = {
    "qa__capital_france": ("capital of France", "Paris"),
    "qa__math_addition": ("15 plus 27", "42"),
    "qa__speed_of_light": ("light", "299,792,458 meters per second"),
    "qa__moon_landing": ("moon", "1969"),
    "qa__romeo_and_juliet": ("Romeo and Juliet", "Shakespeare"),
    "qa__weather_san_francisco": ("San Francisco", "sunny"),
    "qa__weather_new_york": ("New York", "sunny"),
    "qa__math_word_problem": ("12 apples", "7"),
    "qa__largest_ocean": ("ocean", "Pacific"),
    "qa__telephone_inventor": ("telephone", "Alexander Graham Bell"),
    "simple_qa_1": ("ultimate question", "42"),
    "simple_qa_2": ("one plus one", "2"),
    "simple_qa_3": ("San Francisco", "sunny"),
}
WEATHER = {"qa__weather_san_francisco", "qa__weather_new_york", "simple_qa_3"}


def word_by_word(scenario: Scenario, conversation: Conversation) -> Judgement:
    """Judge a call by comparing the saved answer with the reference; a model would be more lenient."""
    outcomes = [json.loads(text) for text in conversation.pushed]
    is_right = check_if_task_success(scenario.reference_answer, outcomes, MatchRules.of(scenario))
    return Judgement(score=1.0 if is_right else 0.0)


def judged(scenario: Scenario, rehearsal: Rehearsal) -> Scores:
    conversation = hold_dry(scenario, rehearsal)
    return score(scenario, conversation, judgement=word_by_word(scenario, conversation))


@pytest.mark.parametrize("name", ANSWERS)
def test_the_gold_rehearsal_passes_a_judge(name: str) -> None:
    scenario = get(name)
    conversation = hold_dry(scenario)
    assert tool_errors(conversation.agent.context) == []
    assert [json.loads(text) for text in conversation.pushed] == [scenario.reference_answer]
    assert judged(scenario, rehearsal_of(scenario)).verdict is Verdict.PASSED


@pytest.mark.parametrize("variant", ["mute", "drop-last-write", "wrong-argument", "do-nothing"])
@pytest.mark.parametrize("name", ANSWERS)
def test_a_sabotaged_rehearsal_leaves_a_judge_without_the_right_answer(name: str, variant: str) -> None:
    scenario = get(name)
    scores = judged(scenario, sabotage(rehearsal_of(scenario), variant))
    assert scores.verdict is Verdict.FAILED
    assert SuccessSignal.JUDGE_PASSED.value in scores.breakdown.failed


@pytest.mark.parametrize("name", ANSWERS)
def test_without_exit_the_answer_is_given_but_the_call_is_not_ended(name: str) -> None:
    scenario = get(name)
    scores = judged(scenario, sabotage(rehearsal_of(scenario), "no-exit"))
    assert scores.breakdown.failed == (SuccessSignal.CLEAN_EXIT.value,)


@pytest.mark.parametrize("variant", ["gold", "no-exit", "do-nothing"])
@pytest.mark.parametrize("name", ANSWERS)
def test_without_a_judge_there_is_no_verdict_however_the_call_ended(name: str, variant: str) -> None:
    scenario = get(name)
    scores = score(scenario, hold_dry(scenario, sabotage(rehearsal_of(scenario), variant)))
    assert scores.verdict is Verdict.NOT_APPLICABLE
    assert scores.breakdown.not_applicable == (SuccessSignal.JUDGE_PASSED.value,)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_judge_that_broke_is_an_error(name: str) -> None:
    scenario = get(name)
    scores = score(scenario, hold_dry(scenario), judgement=Judgement(error="it is down"))
    assert scores.verdict is Verdict.ERROR


@pytest.mark.parametrize("name", ANSWERS)
def test_a_scenario_is_the_documented_one(name: str) -> None:
    scenario = get(name)
    about, answer = ANSWERS[name]
    assert scenario.whitelist == (SuccessSignal.JUDGE_PASSED, SuccessSignal.CLEAN_EXIT)
    assert (scenario.domain, scenario.max_duration) == ("default", 60)
    assert (scenario.ignore_capitalization, scenario.ignore_punctuation, scenario.clean_text) == (True,) * 3
    assert scenario.agent_persona.name == "Lisa"
    tools = ["SaveQuestionAnswerTool", "EndConversationTool"]
    assert list(scenario.agent_resources.tools) == ["GetCityWeatherTool"] * (name in WEATHER) + tools
    assert scenario.user_resources.tools == {}
    assert list(scenario.reference_answer) == ["question", "answer"]
    assert about in scenario.reference_answer["question"]
    assert answer in scenario.reference_answer["answer"]


@pytest.mark.parametrize("name", ANSWERS)
def test_the_caller_asks_what_the_reference_has(name: str) -> None:
    scenario = get(name)
    question = scenario.reference_answer["question"]
    assert f"in these words: {question}" in scenario.get_user_prompt()
    assert question not in scenario.get_agent_prompt()
    assert rehearsal_of(scenario).user[0].text == question  # type: ignore[union-attr]


def test_both_sides_of_the_first_simple_question_know_the_book() -> None:
    scenario = get("simple_qa_1")
    assert "Douglas Adams" in scenario.get_user_prompt()
    assert "Douglas Adams" in scenario.get_agent_prompt()


def test_the_prompts_of_the_third_simple_question_are_written_by_hand() -> None:
    scenario = get("simple_qa_3")
    for prompt in (scenario.get_user_prompt(), scenario.get_agent_prompt()):
        assert "#" not in prompt
        assert scenario.general_prompt.strip() in prompt
    assert scenario.get_user_prompt().startswith(f"You are {scenario.user_persona.name},")
    assert scenario.user_persona.name == "Bob"


@pytest.mark.parametrize("name", ANSWERS)
def test_a_rehearsal_is_a_conversation_that_can_be_spoken(name: str) -> None:
    assert_can_be_spoken(rehearsal_of(get(name)))


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("side", ["user", "agent"])
def test_prompts_are_clean(name: str, side: Any) -> None:
    assert_prompt_is_clean(get(name).prompt(side))
