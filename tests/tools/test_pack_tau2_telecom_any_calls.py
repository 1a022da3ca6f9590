"""Any calls of the tools of tau2's operator and phones, in any order."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from small_worlds import assert_invoke_equals_execute, call, mostly, same_shape
from telecom_worlds import DOMAIN, operator, phone

from pytest_voiceeval.tools import list_schema_tools_for_eval

who = {"customer_id": mostly("C1", "C2"), "line_id": mostly("L1", "L2", "L3")}
operator_calls = st.lists(
    st.one_of(
        call("get_customer_by_phone", phone_number=mostly("555-000-0001")),
        call("get_customer_by_id", customer_id=who["customer_id"]),
        call("get_details_by_id", id=mostly("L1", "B1", "C1", "P1", "D1", "")),
        call("get_bills_for_customer", customer_id=who["customer_id"], limit=st.integers(1, 3)),
        call("get_data_usage", **who),
        call("suspend_line", reason=mostly("travelling"), **who),
        call("resume_line", **who),
        call("enable_roaming", **who),
        call("disable_roaming", **who),
        call("send_payment_request", customer_id=who["customer_id"], bill_id=mostly("B1", "B2", "B9")),
        call("refuel_data", gb_amount=mostly(st.floats(-1, 5)), **who),
        call("transfer_to_human_agents", summary=mostly("stuck")),
    ),
    max_size=6,
)
settings = st.dictionaries(
    st.sampled_from(["apn_name", "mmsc_url", "mms_port", "reset_at_reboot", "apn"]),
    mostly("internet", "broken", 80, True, None),
    max_size=2,
)
phone_calls = st.lists(
    st.one_of(
        st.sampled_from(list_schema_tools_for_eval(DOMAIN)[13:]).flatmap(call),
        call("check_app_status", app_name=mostly("messaging")),
        call("check_app_permissions", app_name=mostly("messaging", "browser")),
        call("grant_app_permission", app_name=mostly("messaging"), permission=mostly("SMS", "camera")),
        call("set_network_mode_preference", mode=mostly("4g_only", "2g_only", "6g")),
        call("set_apn_settings", apn_settings=settings),
    ),
    max_size=6,
)


@given(operator_calls)
def test_no_calls_raise_or_spoil_the_operators_database(calls: list[tuple[str, dict[str, Any]]]) -> None:
    seed = operator()
    db = assert_invoke_equals_execute(DOMAIN, seed, calls)
    assert db.keys() == seed.keys()
    for table in ("customers", "plans", "bills"):
        assert same_shape(db[table], seed[table])


@given(phone_calls)
def test_no_calls_raise_or_spoil_the_phone(calls: list[tuple[str, dict[str, Any]]]) -> None:
    seed = phone()
    db = assert_invoke_equals_execute(DOMAIN, copy.deepcopy(seed), calls)
    assert db["device"].keys() == seed["device"].keys()
    assert db["surroundings"] == seed["surroundings"]
    assert db["device"]["network_signal_strength"] in ("none", "poor", "fair", "good", "excellent")
    assert db["device"]["active_apn_settings"].keys() == seed["device"]["active_apn_settings"].keys()
