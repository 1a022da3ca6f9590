"""How the worlds of tau2's telecom are before a call: what has happened to the line and to the phone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pytest_voiceeval.tools import ToolRefusal, register_initialization_function

from ._tau2_telecom_phone import MODES, join_vpn, leave_vpn, leave_wifi, search_network
from ._tau2_telecom_rows import bills_of, customer_row, month_before, owned_line, plan_of, today

DOMAIN = "tau2_telecom"

Db = dict[str, Any]

on_start = register_initialization_function(DOMAIN)


def _line(function: str, db: Db, customer_id: str, line_id: str) -> dict[str, Any]:
    try:
        return owned_line(db, customer_id, line_id)
    except ToolRefusal as refusal:
        raise ValueError(f"{function}: line {line_id} of customer {customer_id}: {refusal}") from None


@on_start
def enable_roaming(db: Db, customer_id: str, line_id: str) -> None:
    """Let a line be used abroad."""
    _line("enable_roaming", db, customer_id, line_id)["roaming_enabled"] = True


@on_start
def disable_roaming(db: Db, customer_id: str, line_id: str) -> None:
    """Keep a line from being used abroad."""
    _line("disable_roaming", db, customer_id, line_id)["roaming_enabled"] = False


@on_start
def set_data_usage(db: Db, customer_id: str, line_id: str, data_used_gb: float) -> None:
    """Have a line used so many gigabytes."""
    _line("set_data_usage", db, customer_id, line_id)["data_used_gb"] = float(data_used_gb)


@on_start
def suspend_line_for_overdue_bill(
    db: Db, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool = False
) -> None:
    """Suspend a line for a bill of last month that was not paid; its contract may have ended then, too."""
    line = _line("suspend_line_for_overdue_bill", db, customer_id, line_id)
    if line["status"] != "Active":
        raise ValueError(f"line {line_id} is {line['status']}; only an active one can be suspended")
    customer = customer_row(db, customer_id)
    if any(bill["status"] == "Overdue" for bill in bills_of(db, customer)):
        raise ValueError(f"customer {customer_id} has an overdue bill already")
    plan = plan_of(db, line)
    if plan is None:
        raise ValueError(f"line {line_id} has no plan {line['plan_id']}")
    first, last = month_before(today())
    amount = plan["price_per_month"]
    item = {
        "description": f"Charge for line {line_id}",
        "amount": amount,
        "date": today().isoformat(),
        "item_type": "Charge",
    }
    db["bills"].append(
        {
            "bill_id": new_bill_id,
            "customer_id": customer_id,
            "period_start": first.isoformat(),
            "period_end": last.isoformat(),
            "issue_date": first.isoformat(),
            "total_due": amount,
            "due_date": (first + timedelta(days=14)).isoformat(),
            "status": "Overdue",
            "line_items": [item],
        }
    )
    customer["bill_ids"].append(new_bill_id)
    line["status"] = "Suspended"
    line["suspension_start_date"] = today().isoformat()
    if contract_ended:
        line["contract_end_date"] = last.isoformat()


@on_start
def set_user_info(db: Db, name: str, phone_number: str) -> None:
    """Say whose phone it is."""
    db["surroundings"]["name"] = name
    db["surroundings"]["phone_number"] = phone_number


@on_start
def set_user_location(db: Db, abroad: bool) -> None:
    """Say whether the customer is abroad."""
    db["surroundings"]["is_abroad"] = abroad


@on_start
def set_network_mode_preference(db: Db, mode: str) -> None:
    """Set which networks the phone prefers."""
    if mode not in MODES:
        raise ValueError(f"no network mode {mode!r}; choose from: {', '.join(MODES)}")
    db["device"]["network_mode_preference"] = mode
    search_network(db)


@on_start
def simulate_network_search(db: Db) -> None:
    """Have the phone look for a network."""
    search_network(db)


@on_start
def turn_airplane_mode_on(db: Db) -> None:
    """Switch airplane mode on."""
    device = db["device"]
    device["airplane_mode"] = True
    leave_wifi(device)
    if device["vpn_connected"]:
        leave_vpn(device)
    search_network(db)


@on_start
def unseat_sim_card(db: Db) -> None:
    """Take the SIM card out."""
    db["device"]["sim_card_missing"] = True
    search_network(db)


@on_start
def lock_sim_card(db: Db, mode: str) -> None:
    """Lock the SIM card."""
    if mode not in ("pin", "puk"):
        raise ValueError(f"no lock {mode!r} of a SIM card; choose from: pin, puk")
    db["device"]["sim_card_status"] = f"locked_{mode}"
    search_network(db)


@on_start
def turn_data_off(db: Db) -> None:
    """Switch mobile data off."""
    db["device"]["data_enabled"] = False
    search_network(db)


@on_start
def turn_roaming_on(db: Db) -> None:
    """Switch data roaming on."""
    db["device"]["roaming_enabled"] = True
    search_network(db)


@on_start
def turn_roaming_off(db: Db) -> None:
    """Switch data roaming off."""
    db["device"]["roaming_enabled"] = False
    search_network(db)


@on_start
def turn_data_saver_mode_on(db: Db) -> None:
    """Have the phone save data."""
    db["device"]["data_saver_mode"] = True


@on_start
def break_apn_settings(db: Db) -> None:
    """Make the access point unusable."""
    db["device"]["active_apn_settings"]["apn_name"] = "broken"
    search_network(db)


@on_start
def break_apn_mms_setting(db: Db) -> None:
    """Make the access point unusable for picture messages."""
    db["device"]["active_apn_settings"]["mmsc_url"] = None


@on_start
def set_wifi_calling(db: Db, enabled: bool, mms_over_wifi: bool | None = None) -> None:
    """Set whether calls, and picture messages, go over Wi-Fi."""
    db["device"]["wifi_calling_enabled"] = enabled
    if mms_over_wifi is not None:
        db["device"]["wifi_calling_mms_over_wifi"] = mms_over_wifi


@on_start
def break_vpn(db: Db) -> None:
    """Have the phone use a VPN whose server is slow."""
    device = db["device"]
    if not device["vpn_connected"] or not device["vpn_details"]:
        join_vpn(device)
    device["vpn_details"]["server_performance"] = "poor"


@on_start
def remove_app_permission(db: Db, app_name: str, permission: str) -> None:
    """Keep an app from using something; one that is not there uses nothing."""
    permissions = (db["device"]["app_statuses"].get(app_name) or {}).get("permissions") or {}
    if permission.lower() in permissions:
        permissions[permission.lower()] = False
