"""Stand-ins for the six predicates of the telecom domain, as plain as its figures allow.

They let the golden assertions run without the domain. Only what a database says is looked at.
"""

from __future__ import annotations

from typing import Any

Db = dict[str, Any]

STATUSES = ("connected", "searching", "no_service", "emergency_only")
MBPS = {"2G": (0.1, 0.4), "3G": (1, 5), "4G": (10, 100), "5G": (50, 500), "none": (0, 0)}
SIGNAL = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0, "none": 0}
LABELS = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))


def _data_works(db: Db) -> bool:
    device, around = db["device"], db["surroundings"]
    roams = device["roaming_enabled"] and around["roaming_allowed"]
    return not (
        device["airplane_mode"]
        or device["network_signal_strength"] == "none"
        or device["network_connection_status"] == "no_service"
        or (around["is_abroad"] and not roams)
        or not device["data_enabled"]
        or around["mobile_data_usage_exceeded"]
    )


def _speed(db: Db) -> tuple[float, str]:
    if not _data_works(db):
        return 0.0, "No Connection"
    device = db["device"]
    factor = 0.2 if device["data_saver_mode"] else 1.0
    if device["vpn_connected"] and (device["vpn_details"] or {}).get("server_performance") == "poor":
        factor *= 0.1
    low, high = MBPS[device["network_technology_connected"]]
    speed = round((low + high) / 2 * SIGNAL[device["network_signal_strength"]] * factor, 2)
    return speed, next((label for limit, label in LABELS if speed < limit), "Excellent")


def assert_mobile_data_status(db: Db, expected_status: bool) -> bool:
    return _data_works(db) == expected_status


def assert_internet_speed(db: Db, expected_speed: float, expected_desc: str | None = None) -> bool:
    speed, label = _speed(db)
    return speed >= expected_speed and (expected_desc is None or label.lower() == expected_desc.lower())


def assert_service_status(db: Db, expected_status: str) -> bool:
    if expected_status not in STATUSES:
        raise ValueError(f"{expected_status!r} is no status of a network")
    return bool(db["device"]["network_connection_status"] == expected_status)


def assert_can_send_mms(db: Db, expected_status: bool) -> bool:
    device = db["device"]
    permissions = device["app_statuses"].get("messaging", {"permissions": {}})["permissions"]
    works = (
        _data_works(db)
        and device["network_technology_connected"] != "2G"
        and not (device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"])
        and device["active_apn_settings"]["mmsc_url"] is not None
        and bool(permissions.get("storage") and permissions.get("sms"))
    )
    return works == expected_status


def assert_data_refueling_amount(db: Db, customer_id: str, line_id: str, expected_amount: float) -> bool:
    owned = [line for c in db["customers"] if c["customer_id"] == customer_id for line in c["line_ids"]]
    lines = [line for line in db["lines"] if line["line_id"] == line_id and line_id in owned]
    return any(abs(line["data_refueling_gb"] - expected_amount) < 1e-6 for line in lines)


def assert_no_overdue_bill(db: Db, overdue_bill_id: str) -> bool:
    return all(bill["status"] == "Paid" for bill in db["bills"] if bill["bill_id"] == overdue_bill_id)


ALL = (
    assert_mobile_data_status,
    assert_internet_speed,
    assert_service_status,
    assert_can_send_mms,
    assert_data_refueling_amount,
    assert_no_overdue_bill,
)
