from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from pytest_voiceeval.tools import StandardSchemaTool, get_schema_tool_for_eval

pytestmark = pytest.mark.usefixtures("builtin_tools")

ORDER = {"item": "Lamp", "status": "Delivered"}
ACCOUNT = {
    "name": "Zoë",
    "account_status": "Locked",
    "failed_login_attempts": "5",
    "plan": "Standard",
    "monthly_rate": "$9.99",
    "balance": "$142.50",
    "recent_charges": [{"description": "Lamp", "amount": "$49.99", "date": "2026-04-01"}],
    "orders": {"O1": ORDER},
}
PLANS = {"Standard": "$9.99", "Premium": "$19.99"}
BY_ACCOUNT = {
    "LookupAccountTool": {},
    "CheckOrderStatusTool": {"order_id": "O1"},
    "ProcessRefundTool": {"amount": 1, "description": "x", "date": "2026-04-22"},
    "StartItemReturnTool": {"order_id": "O1", "reason": "broken"},
    "ChangePlanTool": {"new_plan": "Premium"},
    "UnlockAccountTool": {},
    "CancelSubscriptionTool": {},
}


@pytest.fixture
def state() -> dict[str, Any]:
    return {"accounts": {"A1": copy.deepcopy(ACCOUNT)}}


@pytest.fixture
def account(state: dict[str, Any]) -> dict[str, Any]:
    account: dict[str, Any] = state["accounts"]["A1"]
    return account


@pytest.fixture
def make(rtvi: Any, state: dict[str, Any]) -> Any:
    def make(name: str, **kwargs: Any) -> StandardSchemaTool:
        if name == "ChangePlanTool":
            kwargs.setdefault("plans", json.dumps(PLANS))
        return get_schema_tool_for_eval(name, rtvi=rtvi, shared_state=state, **kwargs)

    return make


@pytest.mark.parametrize("account_id", ["A2", "a1", "", None, 1, ["A1"], {}], ids=repr)
@pytest.mark.parametrize("name", BY_ACCOUNT)
def test_every_tool_says_that_there_is_no_such_account(
    call: Any, make: Any, state: dict[str, Any], name: str, account_id: Any
) -> None:
    before = copy.deepcopy(state)
    assert call(make(name), {"account_id": account_id, **BY_ACCOUNT[name]}) == [
        ("result", {"error": f"Account '{account_id}' not found."})
    ]
    assert state == before


@pytest.mark.parametrize("order_id", ["O2", "o1", None, ["O1"]], ids=repr)
@pytest.mark.parametrize("name", ["CheckOrderStatusTool", "StartItemReturnTool"])
def test_both_order_tools_say_that_there_is_no_such_order(
    call: Any, make: Any, state: dict[str, Any], name: str, order_id: Any
) -> None:
    before = copy.deepcopy(state)
    assert call(make(name), account_id="A1", order_id=order_id, reason="x") == [
        ("result", {"error": f"Order '{order_id}' not found for account 'A1'."})
    ]
    assert state == before


def test_an_account_without_orders_has_no_order(call: Any, make: Any, account: dict[str, Any]) -> None:
    del account["orders"]
    [(_, result)] = call(make("CheckOrderStatusTool"), account_id="A1", order_id="O1")
    assert result == {"error": "Order 'O1' not found for account 'A1'."}


@pytest.mark.parametrize("name", BY_ACCOUNT)
def test_arguments_that_a_tool_does_not_know_are_ignored(call: Any, make: Any, name: str) -> None:
    [(_, result)] = call(make(name), {"account_id": "A1", "mood": "angry", **BY_ACCOUNT[name]})
    assert "error" not in result


@pytest.mark.parametrize("name", BY_ACCOUNT)
def test_a_result_is_no_window_on_the_state(call: Any, make: Any, account: dict[str, Any], name: str) -> None:
    [(_, result)] = call(make(name), {"account_id": "A1", **BY_ACCOUNT[name]})
    before = json.dumps(result)
    account["orders"]["O1"]["status"] = account["balance"] = "changed"
    account["recent_charges"].clear()
    assert json.dumps(result) == before


def test_an_account_can_be_looked_up(call: Any, make: Any) -> None:
    assert call(make("LookupAccountTool"), account_id="A1") == [("result", ACCOUNT)]


def test_an_empty_account_is_an_answer_without_records(call: Any, make: Any, state: dict[str, Any]) -> None:
    state["accounts"]["A0"] = {}
    [(_, result)] = call(make("LookupAccountTool"), account_id="A0")
    assert result == {"status": "success", "results": {}, "message": "No matching records found."}


@pytest.mark.parametrize("seed", [{"A1": ACCOUNT}, json.dumps({"A1": ACCOUNT})], ids=["object", "text"])
def test_the_first_tool_of_a_scenario_seeds_the_accounts_and_later_ones_keep_them(seed: Any) -> None:
    state: dict[str, Any] = {}
    for name, arguments in [
        ("LookupAccountTool", {"accounts": seed}),
        ("UnlockAccountTool", {}),
        ("ResolveTicketTool", {}),
        ("LookupAccountTool", {"accounts": "{}"}),
    ]:
        get_schema_tool_for_eval(name, shared_state=state, **arguments)
    assert state == {"accounts": {"A1": ACCOUNT}}
    state["accounts"]["A1"]["name"] = "Ann"
    assert ACCOUNT["name"] == "Zoë"


@pytest.mark.parametrize("companion", ["CheckOrderStatusTool", "ChangePlanTool", "ResolveTicketTool"])
def test_a_companion_that_comes_first_plants_no_accounts(companion: str) -> None:
    state: dict[str, Any] = {}
    get_schema_tool_for_eval(companion, shared_state=state)
    get_schema_tool_for_eval("LookupAccountTool", shared_state=state, accounts={"A1": ACCOUNT})
    assert state == {"accounts": {}}


def test_an_order_can_be_looked_up(call: Any, make: Any) -> None:
    assert call(make("CheckOrderStatusTool"), account_id="A1", order_id="O1") == [("result", ORDER)]


def test_a_refund_is_listed_and_taken_off_the_balance(call: Any, make: Any, account: dict[str, Any]) -> None:
    tool = make("ProcessRefundTool")
    [(_, result)] = call(tool, account_id="A1", amount=49.99, description="Lamp", date="2026-04-22")
    entry = {"description": "Refund - Lamp", "amount": "-$49.99", "date": "2026-04-22"}
    assert account == ACCOUNT | {
        "balance": "$92.51",
        "recent_charges": [*ACCOUNT["recent_charges"], entry],
    }
    assert result == {
        "success": True,
        "account_id": "A1",
        "refund_entry": entry,
        "new_balance": "$92.51",
        "account": account,
    }
    call(tool, account_id="A1", amount="1000", description="Sofa", date="2026-04-22")
    assert account["balance"] == "-$907.49"


@pytest.mark.parametrize(
    ("balance", "amount", "entry", "left"),
    [
        (None, 5, "-$5.00", "-$5.00"),
        ("", "5", "-$5.00", "-$5.00"),
        ("$1,234.56", 0.5, "-$0.50", "$1,234.06"),
        ("-$5.00", -7.25, "$7.25", "$2.25"),
        ("$-5", " 1e3 ", "-$1,000.00", "-$1,005.00"),
        ("--5", 0, "$0.00", "-$5.00"),
        ("10", 10, "-$10.00", "$0.00"),
        (12.5, 0.25, "-$0.25", "$12.25"),
        ("$0.30", 0.1, "-$0.10", "$0.20"),
        ("$5.35", 2.675, "-$2.68", "$2.68"),
        ("$0.00", -0.001, "$0.00", "$0.00"),
        ("$0.00", 0.001, "$0.00", "$0.00"),
    ],
)
def test_money_is_counted_in_decimals(
    call: Any, make: Any, account: dict[str, Any], balance: Any, amount: Any, entry: str, left: str
) -> None:
    account["balance"] = balance
    del account["recent_charges"]
    call(make("ProcessRefundTool"), account_id="A1", amount=amount, description="x", date="2026-04-22")
    assert [charge["amount"] for charge in account["recent_charges"]] == [entry]
    assert account["balance"] == left


@pytest.mark.parametrize(
    "amount", ["$5", "five", "", None, True, [5], "nan", "inf", 1e400, "1e999"], ids=repr
)
def test_a_refund_of_no_amount_changes_nothing(
    call: Any, make: Any, state: dict[str, Any], amount: Any
) -> None:
    before = copy.deepcopy(state)
    [(_, result)] = call(make("ProcessRefundTool"), account_id="A1", amount=amount, description="x", date="")
    assert "is not an amount; write a" in result["error"]
    assert state == before


def test_a_balance_that_is_no_amount_changes_nothing(
    call: Any, make: Any, state: dict[str, Any], account: dict[str, Any]
) -> None:
    account["balance"] = "unknown"
    before = copy.deepcopy(state)
    [(_, result)] = call(make("ProcessRefundTool"), account_id="A1", amount=5, description="x", date="")
    assert "'unknown' is not an amount" in result["error"]
    assert state == before


def test_a_return_is_noted_on_the_order(call: Any, make: Any, account: dict[str, Any]) -> None:
    [(_, result)] = call(make("StartItemReturnTool"), account_id="A1", order_id="O1", reason="broken")
    order = {"item": "Lamp", "status": "Return Started", "return_reason": "broken"}
    assert result == {"success": True, "account_id": "A1", "order_id": "O1", "order": order}
    assert account == ACCOUNT | {"orders": {"O1": order}}


@pytest.mark.parametrize("plans", [PLANS, json.dumps(PLANS)], ids=["object", "text"])
def test_a_plan_comes_with_its_rate(call: Any, make: Any, account: dict[str, Any], plans: Any) -> None:
    [(_, result)] = call(make("ChangePlanTool", plans=plans), account_id="A1", new_plan="Premium")
    assert account == ACCOUNT | {"plan": "Premium", "monthly_rate": "$19.99"}
    assert result == {
        "success": True,
        "account_id": "A1",
        "new_plan": "Premium",
        "new_monthly_rate": "$19.99",
        "account": account,
    }


@pytest.mark.parametrize("plan", ["Gold", "premium", None, ["Premium"]], ids=repr)
def test_a_plan_that_is_none_is_refused_with_those_that_are(
    call: Any, make: Any, account: dict[str, Any], plan: Any
) -> None:
    [(_, result)] = call(make("ChangePlanTool"), account_id="A1", new_plan=plan)
    assert result == {"error": f"Plan '{plan}' not found. Available plans: Standard, Premium."}
    assert account == ACCOUNT


def test_an_account_is_unlocked(call: Any, make: Any, account: dict[str, Any]) -> None:
    [(_, result)] = call(make("UnlockAccountTool"), account_id="A1")
    assert account == ACCOUNT | {"account_status": "Active", "failed_login_attempts": "0"}
    assert result == {"success": True, "account_id": "A1", "account": account}


def test_a_plan_is_canceled(call: Any, make: Any, account: dict[str, Any]) -> None:
    [(_, result)] = call(make("CancelSubscriptionTool"), account_id="A1")
    assert account == ACCOUNT | {"plan": "Canceled", "monthly_rate": "$0.00"}
    assert result == {"success": True, "account_id": "A1", "account": account}


def summary(entry: tuple[str, Any]) -> Any:
    kind, data = entry
    assert kind == "message"
    return json.loads(data["text"].removeprefix("<final_response>").removesuffix("</final_response>"))


def test_a_resolved_ticket_is_reported_with_the_account_as_it_is_then(
    call: Any, make: Any, account: dict[str, Any]
) -> None:
    account["balance"] = "$1.00"
    ticket = {"issue_summary": "late", "resolution_type": "refund", "resolution_details": "paid back"}
    [message, result] = call(make("ResolveTicketTool"), account_id="A1", mood="glad", **ticket)
    reported = summary(message)
    assert list(reported) == [*ticket, "account_id", "account"]
    assert reported == {**ticket, "account_id": "A1", "account": ACCOUNT | {"balance": "$1.00"}}
    assert "Zo\\u00eb" in message[1]["text"]
    assert result == ("result", {"success": True, "message": "Ticket resolved successfully."})


@pytest.mark.parametrize("account_id", ["A2", None, ["A1"]], ids=repr)
def test_a_ticket_of_no_account_is_reported_all_the_same(call: Any, make: Any, account_id: Any) -> None:
    [message, result] = call(make("ResolveTicketTool"), account_id=account_id, resolution_type="gift")
    assert summary(message) == {
        "issue_summary": None,
        "resolution_type": "gift",
        "resolution_details": None,
        "account_id": account_id,
        "account": {},
    }
    assert result[1]["success"] is True


USUAL_TYPES = ["refund", "replacement", "information", "escalation", "account_change"]


@pytest.mark.parametrize(
    ("given", "types"),
    [({}, USUAL_TYPES), ({"resolution_types": '["gift"]'}, ["gift"]), ({"resolution_types": ("a",)}, ["a"])],
)
def test_the_schema_names_the_types_of_resolutions(make: Any, given: Any, types: list[str]) -> None:
    assert make("ResolveTicketTool", **given).schema()["properties"]["resolution_type"]["enum"] == types


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("LookupAccountTool", {"account_id": "string"}),
        ("CheckOrderStatusTool", {"account_id": "string", "order_id": "string"}),
        (
            "ProcessRefundTool",
            {"account_id": "string", "amount": "number", "description": "string", "date": "string"},
        ),
        ("StartItemReturnTool", {"account_id": "string", "order_id": "string", "reason": "string"}),
        ("ChangePlanTool", {"account_id": "string", "new_plan": "string"}),
        ("UnlockAccountTool", {"account_id": "string"}),
        ("CancelSubscriptionTool", {"account_id": "string"}),
        (
            "ResolveTicketTool",
            {
                "account_id": "string",
                "issue_summary": "string",
                "resolution_type": "string",
                "resolution_details": "string",
            },
        ),
    ],
)
def test_all_parameters_are_required(make: Any, name: str, parameters: dict[str, str]) -> None:
    schema = make(name).schema()
    assert {key: part["type"] for key, part in schema["properties"].items()} == parameters
    assert schema["required"] == list(parameters)


def test_the_schema_names_the_plans(make: Any) -> None:
    description = make("ChangePlanTool").schema()["properties"]["new_plan"]["description"]
    assert "Standard, Premium" in description
