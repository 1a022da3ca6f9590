"""Refunds, credits, vouchers and handovers of eva's airline."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from eva_calls import (
    ARGUMENTS,
    DOMAIN,
    NUMBER,
    records,
    refused,
    use,
)
from eva_world import eva
from small_worlds import World

from pytest_voiceeval.tools import get_schema_tool_for_eval


def test_refunds_are_counted_if_they_succeed(world: World) -> None:
    del world.db["refunds"]
    use(world, "ProcessRefundTool", refund_amount="12.50")
    refused(world, "ProcessRefundTool", confirmation_number="ZZZ999")
    result = use(world, "ProcessRefundTool", refund_type="ancillary_fees")
    assert result == {
        "status": "success",
        **NUMBER,
        "refund_id": "REF-ABC123-002",
        "refund_amount": 10.0,
        "refund_type": "ancillary_fees",
        "processing_days": 7,
        "message": "$10.0 refund initiated, processing time 7 business days",
    }
    assert list(world.db["refunds"]) == ["REF-ABC123-001", "REF-ABC123-002"]
    assert world.db["refunds"]["REF-ABC123-001"] == {
        "refund_id": "REF-ABC123-001",
        **NUMBER,
        "refund_amount": 12.5,
        "refund_type": "full_fare",
        "processing_days": 7,
        "initiated_date": "2026-05-09",
        "status": "processing",
    }


def test_a_travel_credit_is_good_for_a_year_and_replaces_the_one_before(world: World) -> None:
    use(world, "IssueTravelCreditTool", amount=1)
    result = use(world, "IssueTravelCreditTool")
    assert (result["credit_code"], result["valid_months"]) == ("TCABC123PAX", 12)
    assert result["message"] == "$80.0 travel credit issued with code TCABC123PAX"
    assert world.db["travel_credits"] == {
        "TCABC123PAX": {
            "credit_code": "TCABC123PAX",
            **NUMBER,
            "passenger_id": "PAX001",
            "amount": 80.0,
            "credit_reason": "goodwill",
            "issued_date": "2026-05-09",
            "expiry_date": "2027-05-09",
            "status": "active",
        }
    }


def test_hotel_vouchers_make_their_table_and_are_for_three_nights_at_most(world: World) -> None:
    assert refused(world, "IssueHotelVoucherTool", num_nights=4) == (
        "exceeds_authority: Hotel vouchers can be issued for maximum of 3 nights"
    )
    assert "hotel_vouchers" not in world.db
    result = use(world, "IssueHotelVoucherTool")
    assert result["message"] == "Hotel voucher issued with code HOTEL-ABC123 for 2 nights"
    assert (result["number_of_nights"], result["valid_at"]) == (2, "Any hotels in airport area")
    assert world.db["hotel_vouchers"] == {
        "HOTEL-ABC123": {
            "voucher_code": "HOTEL-ABC123",
            **NUMBER,
            "passenger_id": "PAX001",
            "num_nights": 2,
            "issued_date": "2026-05-09",
            "status": "active",
        }
    }


@pytest.mark.parametrize(
    ("reason", "amount"),
    [
        ("delay_over_2_hours", 12),
        ("delay_over_4_hours", 15),
        ("cancellation_wait_same_day", 15),
        ("irrops_overnight", 25),
    ],
)
def test_a_meal_voucher_is_worth_what_its_reason_says(world: World, reason: str, amount: int) -> None:
    result = use(world, "IssueMealVoucherTool", voucher_reason=reason)
    assert result["message"] == f"${amount} meal voucher issued with code MEAL-ABC123-PAX0"
    [voucher] = world.db["meal_vouchers"].values()
    assert (voucher["amount"], voucher["voucher_reason"], voucher["voucher_code"]) == (
        amount,
        reason,
        "MEAL-ABC123-PAX0",
    )
    assert records(world)[0]["amount"] == amount


def test_handovers_have_numbers_of_their_own_and_change_nothing(world: World) -> None:
    before = copy.deepcopy(world.db)
    use(world, "ProcessRefundTool", confirmation_number="ZZZ999")
    numbers = [use(world, "TransferToAgentTool")["transfer_id"] for _ in range(2)]
    assert numbers == ["TRF-ABC123-001", "TRF-ABC123-002"]
    assert world.db == before


def test_a_handover_ends_the_call_if_it_succeeded(call: Any, rtvi: Any) -> None:
    state = {"db": eva(), "__rtvi__": rtvi}
    tool = get_schema_tool_for_eval("TransferToAgentTool", DOMAIN, rtvi, state)
    journal = call(tool, ARGUMENTS["TransferToAgentTool"] | {"confirmation_number": "ZZZ999"})
    assert [kind for kind, _ in journal] == ["result"]
    journal.clear()
    call(tool, ARGUMENTS["TransferToAgentTool"])
    kinds = [kind for kind, _ in journal]
    assert ("message", {"text": "<exit>Transfer complete.</exit>"}) in journal
    assert kinds.index("result") < journal.index(("message", {"text": "<exit>Transfer complete.</exit>"}))
