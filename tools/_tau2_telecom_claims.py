"""What must hold at the end of a call with tau2's operator."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval.tools import ToolRefusal, register_db_state_predicate

from ._tau2_telecom_phone import STATUSES, can_send_mms, mobile_data_works, speed_test
from ._tau2_telecom_rows import find, owned_line
from ._tau2_telecom_setup import DOMAIN

Db = dict[str, Any]

claim = register_db_state_predicate(DOMAIN)


@claim
def assert_data_refueling_amount(db: Db, customer_id: str, line_id: str, expected_amount: float) -> bool:
    """Return whether so many gigabytes were added to a line."""
    try:
        line = owned_line(db, customer_id, line_id)
    except ToolRefusal:
        return False
    return bool(abs(line["data_refueling_gb"] - expected_amount) < 1e-6)


@claim
def assert_no_overdue_bill(db: Db, overdue_bill_id: str) -> bool:
    """Return whether a bill is paid, or was never there."""
    bill = find(db["bills"], "bill_id", overdue_bill_id)
    return bill is None or bill["status"] == "Paid"


@claim
def assert_mobile_data_status(db: Db, expected_status: bool) -> bool:
    """Return whether mobile data works, or does not, as expected."""
    return mobile_data_works(db) == expected_status


@claim
def assert_internet_speed(db: Db, expected_speed: float, expected_desc: str | None = None) -> bool:
    """Return whether the internet is at least so many megabits a second fast, and is called so."""
    speed, label = speed_test(db)
    is_called_so = expected_desc is None or label.lower() == expected_desc.lower()
    return (speed or 0.0) >= expected_speed and is_called_so


@claim
def assert_service_status(db: Db, expected_status: str) -> bool:
    """Return whether the phone is on the network, or is not, as expected."""
    if expected_status not in STATUSES:
        raise ValueError(f"no network status {expected_status!r}; choose from: {', '.join(STATUSES)}")
    return bool(db["device"]["network_connection_status"] == expected_status)


@claim
def assert_can_send_mms(db: Db, expected_status: bool) -> bool:
    """Return whether picture messages go out, or do not, as expected."""
    return can_send_mms(db) == expected_status
