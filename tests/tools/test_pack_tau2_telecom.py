"""The tools of tau2's operator, and of its customers' phones."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from small_worlds import Row, World
from telecom_worlds import DOMAIN, operator, phone

from pytest_voiceeval.tools import list_schema_tools_for_eval
from pytest_voiceeval.world.initialization import run_initialization_actions
from pytest_voiceeval.world.predicates import PREDICATES
from pytest_voiceeval.world.sync import apply_delta


@pytest.fixture
def company() -> World:
    return World(DOMAIN, operator())


@pytest.fixture
def mobile() -> World:
    return World(DOMAIN, phone())


def test_thirteen_tools_of_the_operator_and_thirty_of_the_phone() -> None:
    names = list_schema_tools_for_eval(DOMAIN)
    assert len(names) == 43
    assert names[0] == "get_customer_by_phone"
    assert names[12:14] == ["transfer_to_human_agents", "check_status_bar"]


def test_a_customer_is_found_by_the_number_of_any_line(company: World) -> None:
    assert company.use("get_customer_by_phone", phone_number="555-000-0002")["customer_id"] == "C1"
    assert company.refused("get_customer_by_phone", phone_number="5550000002") == (
        "tool_error: Customer with phone number 5550000002 not found"
    )


def test_bills_come_newest_first_and_dangling_ones_are_left_out(company: World) -> None:
    bills = company.use("get_bills_for_customer", customer_id="C1")
    assert [bill["bill_id"] for bill in bills] == ["B2", "B1"]
    assert company.use("get_bills_for_customer", customer_id="C1", limit=-1) == bills[:1]


@pytest.mark.parametrize(
    ("customer_id", "line_id", "refusal"),
    [
        ("C2", "L1", "tool_error: Customer with ID C2 not found"),
        ("C1", "L3", "tool_error: Line L3 not found for customer C1"),
        ("C1", "L1", "tool_error: Line must be suspended to resume"),
    ],
)
def test_a_line_is_resumed_only_if_it_is_theirs_and_suspended(
    company: World, customer_id: str, line_id: str, refusal: str
) -> None:
    assert company.refused("resume_line", customer_id=customer_id, line_id=line_id) == refusal


def test_today_is_the_day_of_the_policy(company: World, monkeypatch: pytest.MonkeyPatch) -> None:
    suspended = company.use("suspend_line", customer_id="C1", line_id="L1", reason="travelling")
    assert suspended["line"]["suspension_start_date"] == "2025-02-25"
    monkeypatch.setenv("TAU2_TELECOM_TODAY", "2024-12-05")
    assert company.use("get_data_usage", customer_id="C1", line_id="L1")["cycle_end_date"] == "2024-12-31"
    monkeypatch.setenv("TAU2_TELECOM_TODAY", "soon")
    assert company.refused("get_data_usage", customer_id="C1", line_id="L1") == (
        "tool_error: TAU2_TELECOM_TODAY=soon: write a date as 2025-02-25"
    )


def test_only_one_bill_at_a_time_waits_for_payment(company: World) -> None:
    told = company.use("send_payment_request", customer_id="C1", bill_id="B1")
    assert told == "Payment request sent to the customer for bill B1"
    assert company.refused("send_payment_request", customer_id="C1", bill_id="B2") == (
        "tool_error: A bill is already awaiting payment for this customer"
    )


def test_a_day_that_is_none_changes_nothing(company: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU2_TELECOM_TODAY", "nonsense")
    before = copy.deepcopy(company.db)
    told = company.refused("refuel_data", customer_id="C1", line_id="L1", gb_amount="2")
    assert told == "tool_error: TAU2_TELECOM_TODAY=nonsense: write a date as 2025-02-25"
    assert company.db == before


def test_data_go_onto_the_draft_bill_or_onto_the_same_new_one_each_time(company: World) -> None:
    done = company.use("refuel_data", customer_id="C1", line_id="L1", gb_amount="2")
    assert done == {
        "message": "Successfully added 2.0 GB of data for line L1 for $5.00",
        "new_data_refueling_gb": 2.0,
        "charge": 5.0,
    }
    assert company.db["bills"][1]["line_items"][0]["description"] == "Data refueling: 2.0 GB at $2.5/GB"
    ids = []
    for _ in range(2):
        world = World(DOMAIN, operator())
        world.db["bills"][1]["status"] = "Issued"
        world.use("refuel_data", customer_id="C1", line_id="L1", gb_amount=1)
        ids.append(world.db["customers"][0]["bill_ids"][-1])
        assert world.db["bills"][-1]["period_start"] == "2025-03-01"
        assert world.db["bills"][-1]["period_end"] == "2025-03-31"
    assert ids[0] == ids[1] == world.db["bills"][-1]["bill_id"]


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), 1e301, None, "much"])
def test_amounts_that_are_none_are_no_arguments(company: World, amount: Any) -> None:
    refusal = company.refused("refuel_data", customer_id="C1", line_id="L1", gb_amount=amount)
    assert refusal.startswith("invalid_arguments")


def test_airplane_mode_leaves_networks_and_comes_back(mobile: World) -> None:
    mobile.use("connect_vpn")
    assert mobile.use("toggle_airplane_mode") == (
        "Airplane Mode is now ON.\nStatus Bar: ✈️ Airplane Mode | 🔋 50%"
    )
    assert mobile.db["device"]["vpn_connected"] is False
    assert mobile.use("run_speed_test") == "Speed test failed: No Connection."
    assert mobile.use("toggle_wifi").startswith("Cannot change Wi-Fi settings while Airplane Mode is ON.")
    assert mobile.use("toggle_airplane_mode") == (
        "Airplane Mode is now OFF.\nStatus Bar: 📶⁴ Excellent | 5G | 📱 Data Enabled | 🔋 50%"
    )
    assert [record for record in mobile.recorded if "wifi_enabled" in record] == []


def test_speed_follows_from_technology_signal_saver_and_server(mobile: World) -> None:
    speeds = []
    for call_first in ("check_status_bar", "toggle_data_saver_mode", "connect_vpn"):
        mobile.use(call_first)
        speeds.append(mobile.use("run_speed_test").split(" Mbps")[0])
    mobile.db["device"]["vpn_details"]["server_performance"] = "poor"
    speeds.append(mobile.use("run_speed_test").split(" Mbps")[0])
    assert [speed.split(": ")[1] for speed in speeds] == ["220.00", "44.00", "44.00", "4.40"]


def test_an_apn_is_set_whole_or_not_at_all(mobile: World) -> None:
    refusal = mobile.refused("set_apn_settings", apn_settings={"apn_name": "elsewhere"})
    assert refusal.startswith("invalid_arguments: apn_settings:")
    mobile.use("set_apn_settings", apn_settings={"mmsc_url": None})
    assert mobile.db["device"]["active_apn_settings"]["mms_apn"] == "mms"
    assert mobile.use("can_send_mms") == "Your messaging app cannot send MMS messages."
    mobile.use("reset_apn_settings")
    assert mobile.use("reboot_device").startswith("Resetting APN settings...\nRestarting network services...")
    assert mobile.use("can_send_mms") == "Your messaging app can send MMS messages."


def test_a_payment_needs_a_request(mobile: World) -> None:
    assert mobile.use("make_payment") == "You do not have a payment request."
    assert mobile.recorded == []
    mobile.db["surroundings"]["payment_request"] = {"bill_id": "B1", "amount_due": 20.0, "paid": False}
    assert mobile.use("make_payment") == "Payment of 20.0 USD has been made for bill B1."
    assert mobile.recorded == [{"bill_id": "B1", "amount": 20.0}]


def in_step(agent: World, user: World) -> dict[str, Any]:
    from pytest_voiceeval.builtin.tools._tau2_telecom_sync import sync_telecom  # noqa: PLC0415

    deltas: dict[str, Any] = sync_telecom(agent.db, user.db)
    for side, world in (("agent", agent), ("user", user)):
        assert apply_delta(DOMAIN, world.db, deltas[side]) == []
    return deltas


def test_a_payment_goes_from_the_operator_to_the_phone_and_back(company: World, mobile: World) -> None:
    assert in_step(company, mobile) == {"agent": {}, "user": {}}
    company.use("send_payment_request", customer_id="C1", bill_id="B1")
    request = {"bill_id": "B1", "amount_due": 20.0, "paid": False}
    assert in_step(company, mobile) == {"agent": {}, "user": {"surroundings.payment_request": request}}
    mobile.use("make_payment")
    assert in_step(company, mobile) == {
        "agent": {"bills[B1].status": "Paid"},
        "user": {"surroundings.payment_request": None},
    }
    assert in_step(company, mobile) == {"agent": {}, "user": {}}


def test_a_phone_looks_for_its_network_when_its_line_changes(company: World, mobile: World) -> None:
    company.use("suspend_line", customer_id="C1", line_id="L1", reason="travelling")
    assert in_step(company, mobile)["user"] == {"surroundings.line_active": False}
    assert mobile.db["device"]["network_connection_status"] == "no_service"
    company.use("resume_line", customer_id="C1", line_id="L1")
    in_step(company, mobile)
    assert mobile.db["device"]["network_signal_strength"] == "excellent"


def test_data_are_exceeded_at_the_limit_and_refuelling_helps(company: World, mobile: World) -> None:
    action = {"func_name": "set_data_usage", "arguments": {"customer_id": "C1", "line_id": "L1"}}
    action["arguments"] = {**action["arguments"], "data_used_gb": 5}  # type: ignore[dict-item]
    assert run_initialization_actions(DOMAIN, company.db, [action]) == []
    assert in_step(company, mobile)["user"] == {"surroundings.mobile_data_usage_exceeded": True}
    company.use("refuel_data", customer_id="C1", line_id="L1", gb_amount=0.5)
    assert in_step(company, mobile)["user"] == {"surroundings.mobile_data_usage_exceeded": False}


def test_a_phone_that_nobody_owns_learns_nothing(company: World, mobile: World) -> None:
    mobile.db["surroundings"]["phone_number"] = None
    assert in_step(company, mobile) == {"agent": {}, "user": {}}


@pytest.mark.parametrize(
    ("function", "arguments", "fault"),
    [
        ("lock_sim_card", {"mode": "tan"}, "no lock 'tan' of a SIM card; choose from: pin, puk"),
        ("set_network_mode_preference", {"mode": "6g"}, "no network mode '6g'"),
        ("enable_roaming", {"customer_id": "C1", "line_id": "L7"}, "line L7 of customer C1"),
        ("set_user_info", {}, "TypeError"),
        ("paint_wall", {}, "no initialization function 'paint_wall'"),
    ],
)
def test_an_initialization_that_cannot_be_done_says_what(
    mobile: World, company: World, function: str, arguments: dict[str, Any], fault: str
) -> None:
    db = company.db if "customer_id" in arguments else mobile.db
    [error] = run_initialization_actions(DOMAIN, db, [{"func_name": function, "arguments": arguments}])
    assert fault in error


def test_a_line_is_suspended_for_one_overdue_bill_only(company: World) -> None:
    arguments = {"customer_id": "C1", "line_id": "L1", "new_bill_id": "B7", "contract_ended": True}
    action = {"func_name": "suspend_line_for_overdue_bill", "arguments": arguments}
    [error] = run_initialization_actions(DOMAIN, company.db, [action])
    assert "customer C1 has an overdue bill already" in error
    company.db["bills"][0]["status"] = "Paid"
    assert run_initialization_actions(DOMAIN, company.db, [action]) == []
    assert company.db["bills"][-1]["due_date"] == "2025-01-15"
    assert company.db["lines"][0]["contract_end_date"] == "2025-01-31"


def test_claims_say_what_holds(company: World, mobile: World) -> None:
    def claim(name: str, db: Row, **arguments: Any) -> Any:
        predicate = PREDICATES.find(DOMAIN, name)
        assert predicate is not None
        return predicate(db, **arguments)

    assert claim("assert_no_overdue_bill", company.db, overdue_bill_id="B8") is True
    assert claim("assert_no_overdue_bill", company.db, overdue_bill_id="B1") is False
    assert claim("assert_internet_speed", mobile.db, expected_speed=200, expected_desc="EXCELLENT") is True
    assert claim("assert_internet_speed", mobile.db, expected_speed=221) is False
    assert claim("assert_can_send_mms", mobile.db, expected_status=True) is True
    wanted = {"customer_id": "C1", "line_id": "L9", "expected_amount": 0.0}
    assert claim("assert_data_refueling_amount", company.db, **wanted) is False
    with pytest.raises(ValueError, match="no network status 'fine'"):
        claim("assert_service_status", mobile.db, expected_status="fine")
