from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from pack_play import (
    assert_can_be_spoken,
    assert_gold_passes,
    assert_prompt_is_clean,
    get,
    rehearsal_of,
    scores_of,
)

from pytest_voiceeval import Rehearsal, Say, Scenario, SuccessSignal, Use
from pytest_voiceeval.model.metrics import Verdict
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.run.tool_errors import tool_errors
from pytest_voiceeval.scenarios.rehearsal import sabotage

pytestmark = pytest.mark.usefixtures("builtin")


@pytest.fixture
def fastbite(builtin: None) -> Scenario:
    return get("fastbite")


def test_the_gold_rehearsal_passes(fastbite: Scenario) -> None:
    assert_gold_passes(fastbite)


@pytest.mark.parametrize("variant", ["mute", "drop-last-write", "wrong-argument", "do-nothing"])
def test_a_sabotaged_rehearsal_does_not_give_the_reference_answer(fastbite: Scenario, variant: str) -> None:
    scores = scores_of(fastbite, sabotage(rehearsal_of(fastbite), variant))
    assert SuccessSignal.ACTION_MATCH.value in scores.breakdown.failed


def test_without_exit_the_answer_is_given_but_the_call_is_not_ended(fastbite: Scenario) -> None:
    scores = scores_of(fastbite, sabotage(rehearsal_of(fastbite), "no-exit"))
    assert scores.breakdown.failed == (SuccessSignal.CLEAN_EXIT.value,)


def test_the_scenario_is_the_documented_one(fastbite: Scenario) -> None:
    assert fastbite.whitelist == (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    assert (fastbite.domain, fastbite.max_duration) == ("default", 180)
    assert (fastbite.ignore_capitalization, fastbite.ignore_punctuation) == (True, True)
    assert (fastbite.clean_text, fastbite.disallow_extra_items) == (False, False)
    assert list(fastbite.agent_resources.tools) == ["PlaceOrderTool", "EndConversationTool"]
    assert fastbite.user_persona.name == fastbite.reference_answer["customer_name"] == "Bob"
    assert [item["name"] for item in fastbite.reference_answer["items"]] == ["Chicken Sandwich", "Side Salad"]
    assert fastbite.reference_answer["total_price"] == "9.48"


def menu_in_prompt(scenario: Scenario) -> dict[str, str]:
    prices = re.findall(r"^(.+): \$(\d+\.\d\d)$", scenario.get_agent_prompt(), flags=re.MULTILINE)
    assert len(dict(prices)) == len(prices), "a name stands twice on the menu"
    return dict(prices)


def test_the_tool_knows_every_name_of_the_menu_that_the_agent_has(fastbite: Scenario) -> None:
    known = json.loads(fastbite.agent_resources.tools["PlaceOrderTool"]["valid_item_names"])
    assert known == list(menu_in_prompt(fastbite))


def test_the_order_adds_up_to_its_total_at_the_prices_of_the_menu(fastbite: Scenario) -> None:
    prices = menu_in_prompt(fastbite)
    items = fastbite.reference_answer["items"]
    assert {item["name"]: item["unit_price"] for item in items}.items() <= prices.items()
    total = sum(Decimal(item["unit_price"]) * Decimal(item["quantity"]) for item in items)
    assert total == Decimal(fastbite.reference_answer["total_price"])


def test_an_agent_that_gets_the_total_wrong_is_told_and_passes_with_the_right_one(fastbite: Scenario) -> None:
    rehearsal = rehearsal_of(fastbite)
    order = fastbite.reference_answer
    wrong = Use("PlaceOrderTool", {**order, "total_price": 9.99})
    numbers = {
        **order,
        "items": [
            {"name": item["name"], "unit_price": float(item["unit_price"]), "quantity": 1}
            for item in order["items"]
        ],
        "total_price": 9.48,
    }
    place = next(i for i, line in enumerate(rehearsal.agent) if isinstance(line, Use))
    agent = (*rehearsal.agent[:place], wrong, Use("PlaceOrderTool", numbers), *rehearsal.agent[place + 1 :])
    second = Rehearsal(rehearsal.user, agent)
    assert scores_of(fastbite, second).verdict is Verdict.PASSED
    [error] = tool_errors(hold_dry(fastbite, second).agent.context)
    assert "total_price is 9.99, but the items add up to 9.48" in str(error)


def test_the_rehearsal_is_a_conversation_that_can_be_spoken(fastbite: Scenario) -> None:
    assert_can_be_spoken(rehearsal_of(fastbite))
    assert any(isinstance(line, Say) and "combo" in line.text for line in rehearsal_of(fastbite).user)


@pytest.mark.parametrize("side", ["user", "agent"])
def test_prompts_are_clean(fastbite: Scenario, side: Any) -> None:
    assert_prompt_is_clean(fastbite.prompt(side))
