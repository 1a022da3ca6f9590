from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from pack_play import (
    assert_can_be_spoken,
    assert_prompt_is_clean,
    get,
    rehearsal_of,
)

from pytest_voiceeval import SuccessSignal

pytestmark = pytest.mark.usefixtures("builtin")

ORDERS = {
    "restaurant__pizza_pepperoni": ("Charlie", "11.49"),
    "restaurant__pizza_veggie_combo": ("Diana", "16.27"),
    "restaurant__pizza_party_order": ("Marcus", "32.95"),
    "restaurant__burger_classic": ("Ethan", "10.98"),
    "restaurant__burger_bacon_combo": ("Sophia", "16.98"),
    "restaurant__burger_spicy_feast": ("Jake", "17.26"),
    "restaurant__deli_turkey_club": ("Rachel", "10.98"),
    "restaurant__deli_italian_sub_lunch": ("Tony", "18.46"),
    "restaurant__deli_grilled_cheese_soup": ("Mia", "11.97"),
    "restaurant__burger_veggie_milkshake": ("Priya", "12.98"),
}
WAITLIST = "restaurant__waitlist_join_then_drop"
ALL = [*ORDERS, WAITLIST]


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_adds_up_to_its_total_at_the_prices_of_the_menu(name: str) -> None:
    scenario = get(name)
    order = scenario.reference_answer
    customer, total = ORDERS[name]
    menu = scenario.agent_resources.tools["GetMenuTool"]["menu"]
    prices = dict(re.findall(r"^(.+): \$(\d+\.\d\d)$", menu, flags=re.MULTILINE))
    assert (order["customer_name"], order["total_price"]) == (customer, total)
    assert re.fullmatch(r"314-\d{3}-\d{4}", order["customer_phone"])
    assert {item["name"]: item["unit_price"] for item in order["items"]}.items() <= prices.items()
    assert sum(Decimal(item["unit_price"]) * Decimal(item["quantity"]) for item in order["items"]) == (
        Decimal(total)
    )
    assert all(isinstance(value, str) for item in order["items"] for value in item.values())


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_is_held_under_the_same_rules(name: str) -> None:
    scenario = get(name)
    assert scenario.whitelist == (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    assert scenario.domain == "default"
    assert scenario.max_duration == 180
    assert (scenario.ignore_capitalization, scenario.ignore_punctuation) == (True, True)
    assert (scenario.clean_text, scenario.disallow_extra_items) == (False, False)
    assert scenario.agent_persona.name == "Lisa"
    assert scenario.user_persona.name == ORDERS[name][0]
    assert list(scenario.agent_resources.tools) == ["GetMenuTool", "PlaceOrderTool", "EndConversationTool"]
    assert scenario.agent_resources.tools["PlaceOrderTool"] == {"auto_validate": "False"}
    assert scenario.user_resources.tools == {}


def test_the_pepperoni_order_is_the_one_of_the_documentation() -> None:
    assert get("restaurant__pizza_pepperoni").reference_answer == {
        "items": [
            {"name": "Pepperoni Pizza", "unit_price": "9.99", "quantity": "1"},
            {"name": "Extra Cheese", "unit_price": "1.50", "quantity": "1"},
        ],
        "customer_name": "Charlie",
        "customer_phone": "314-527-8960",
        "total_price": "11.49",
    }


def test_the_waitlist_has_ten_parties_before_and_after_sam() -> None:
    scenario = get(WAITLIST)
    assert scenario.max_duration == 120
    assert (scenario.ignore_capitalization, scenario.ignore_punctuation, scenario.clean_text) == (True,) * 3
    joined, dropped = scenario.reference_answer
    assert (len(joined["waitlist"]), len(dropped["waitlist"])) == (11, 10)
    assert joined["customer"]["name"] == dropped["customer"]["name"] == "Sam"
    assert dropped["removed"] is True
    assert next(iter(scenario.agent_resources.tools)) == "JoinWaitListTool"


@pytest.mark.parametrize("name", ALL)
def test_a_rehearsal_is_a_conversation_that_can_be_spoken(name: str) -> None:
    rehearsal = rehearsal_of(get(name))
    assert_can_be_spoken(rehearsal)
    assert 5 <= len(rehearsal.user) <= 9
    assert 5 <= len(rehearsal.agent) <= 9


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("side", ["user", "agent"])
def test_prompts_are_clean(name: str, side: Any) -> None:
    assert_prompt_is_clean(get(name).prompt(side))
