from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pack_play import (
    assert_can_be_spoken,
    assert_prompt_is_clean,
    get,
    rehearsal_of,
    scores_of,
)

from pytest_voiceeval import Rehearsal, Say, Scenario, SuccessSignal, Use
from pytest_voiceeval.tools import get_schema_tool_for_eval

pytestmark = pytest.mark.usefixtures("builtin")

ORDERED = ["CheckOrderStatusTool", "StartItemReturnTool"]
TICKETS: dict[str, tuple[list[str], str]] = {
    "customer_service__billing_dispute": (["ProcessRefundTool"], "refund"),
    "customer_service__order_delay": (["CheckOrderStatusTool"], "information"),
    "customer_service__defective_replacement": (ORDERED, "replacement"),
    "customer_service__defective_refund": (ORDERED, "refund"),
    "customer_service__plan_upgrade": (["ChangePlanTool"], "account_change"),
    "customer_service__account_access": (["UnlockAccountTool"], "account_change"),
    "customer_service__warranty_claim": (ORDERED, "replacement"),
    "customer_service__subscription_cancel": (["CancelSubscriptionTool"], "account_change"),
    "customer_service__wrong_item": (ORDERED, "replacement"),
    "customer_service__service_outage": ([], "escalation"),
}
READS = {"LookupAccountTool", "CheckOrderStatusTool"}
FREE_TEXTS = {"issue_summary", "resolution_details", "description", "reason"}


def seeded_account(scenario: Scenario) -> tuple[str, dict[str, Any]]:
    [(account_id, account)] = json.loads(
        scenario.agent_resources.tools["LookupAccountTool"]["accounts"]
    ).items()
    return account_id, account


def with_line(rehearsal: Rehearsal, place: int, *lines: Say | Use) -> Rehearsal:
    return replace(rehearsal, agent=(*rehearsal.agent[:place], *lines, *rehearsal.agent[place + 1 :]))


def answers(scenario: Scenario, rehearsal: Rehearsal) -> bool:
    return SuccessSignal.ACTION_MATCH.value in scores_of(scenario, rehearsal).breakdown.passed


def writes(rehearsal: Rehearsal) -> Iterator[tuple[int, Use]]:
    for place, line in enumerate(rehearsal.agent):
        if isinstance(line, Use) and line.tool not in READS and line.tool != "EndConversationTool":
            yield place, line


@pytest.mark.parametrize("name", TICKETS)
def test_an_agent_that_leaves_out_any_one_write_does_not_pass(name: str) -> None:
    scenario = get(name)
    rehearsal = rehearsal_of(scenario)
    for place, write in writes(rehearsal):
        assert not answers(scenario, with_line(rehearsal, place)), write


@pytest.mark.parametrize("name", TICKETS)
def test_an_agent_that_does_any_one_write_twice_as_a_refund_does_not_pass(name: str) -> None:
    scenario = get(name)
    rehearsal = rehearsal_of(scenario)
    refunds = [(place, write) for place, write in writes(rehearsal) if write.tool == "ProcessRefundTool"]
    for place, refund in refunds:
        assert not answers(scenario, with_line(rehearsal, place, refund, refund))
    assert bool(refunds) == (name == "customer_service__billing_dispute")


@pytest.mark.parametrize("name", TICKETS)
def test_any_wrong_argument_fails_but_the_agents_own_words_are_free(name: str) -> None:
    scenario = get(name)
    rehearsal = rehearsal_of(scenario)
    for place, write in writes(rehearsal):
        for key, value in write.arguments.items():
            wrong = value + 1 if isinstance(value, float) else f"wrong {value}"
            changed = Use(write.tool, {**write.arguments, key: wrong})
            is_free = key in FREE_TEXTS
            assert answers(scenario, with_line(rehearsal, place, changed)) == is_free, (write.tool, key)


@pytest.mark.parametrize("name", TICKETS)
def test_a_scenario_is_the_documented_one(name: str) -> None:
    scenario = get(name)
    tools, resolution_type = TICKETS[name]
    assert scenario.whitelist == (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    assert (scenario.domain, scenario.max_duration) == ("default", 120)
    assert (scenario.ignore_capitalization, scenario.ignore_punctuation, scenario.clean_text) == (True,) * 3
    assert scenario.disallow_extra_items is False
    assert scenario.agent_persona.name == "Alex"
    assert list(scenario.agent_resources.tools) == [
        *("LookupAccountTool", *tools, "ResolveTicketTool", "EndConversationTool")
    ]
    assert scenario.user_resources.tools == {}
    assert scenario.reference_answer["resolution_type"] == resolution_type


@pytest.mark.parametrize("name", TICKETS)
def test_an_agent_can_know_all_that_the_reference_asks_for(name: str) -> None:
    scenario = get(name)
    account_id, account = seeded_account(scenario)
    assert scenario.reference_answer["account_id"] == account_id
    assert account_id in scenario.get_user_prompt()
    assert account["name"].split()[0] == scenario.user_persona.name
    prompt = scenario.get_agent_prompt()
    assert "2026-04-22" in prompt
    assert scenario.reference_answer["resolution_type"] in prompt
    assert account_id not in prompt
    told = json.dumps(account)
    for _, write in writes(rehearsal_of(scenario)):
        if order_id := write.arguments.get("order_id"):
            assert order_id in told


@pytest.mark.parametrize("name", TICKETS)
def test_an_account_adds_up(name: str) -> None:
    _, account = seeded_account(get(name))
    charges = sum(Decimal(charge["amount"].lstrip("$")) for charge in account["recent_charges"])
    if account["recent_charges"]:
        assert account["balance"] == f"${charges}"
    assert account["account_status"] == ("Active" if int(account["failed_login_attempts"]) < 5 else "Locked")


def test_no_two_scenarios_share_an_account() -> None:
    assert len({seeded_account(get(name))[0] for name in TICKETS}) == len(TICKETS)


def test_the_plans_are_two_and_premium_costs_what_the_caller_hears() -> None:
    scenario = get("customer_service__plan_upgrade")
    tool = get_schema_tool_for_eval(
        "ChangePlanTool", shared_state={}, **scenario.agent_resources.tools["ChangePlanTool"]
    )
    assert getattr(tool, "plans") == {"Standard": "$9.99", "Premium": "$19.99"}  # noqa: B009 - of the pack
    assert scenario.reference_answer["account"]["monthly_rate"] == "$19.99"


@pytest.mark.parametrize("name", TICKETS)
def test_a_rehearsal_is_a_conversation_that_can_be_spoken(name: str) -> None:
    assert_can_be_spoken(rehearsal_of(get(name)))


@pytest.mark.parametrize("name", TICKETS)
@pytest.mark.parametrize("side", ["user", "agent"])
def test_prompts_are_clean(name: str, side: Any) -> None:
    assert_prompt_is_clean(get(name).prompt(side))
