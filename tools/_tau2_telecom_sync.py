"""What the operator's database and the customer's phone learn of each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pytest_voiceeval.tools import register_sync_applier

from ._tau2_telecom_phone import search_network
from ._tau2_telecom_rows import find, plan_of
from ._tau2_telecom_setup import DOMAIN

Db = dict[str, Any]
Delta = dict[str, Any]

BILL_FIELD = re.compile(r"bills\[([^\]]*)\]\.(.+)")
AROUND = "surroundings."


def sync_telecom(agent_db: Db, user_db: Db) -> dict[Literal["agent", "user"], Delta]:
    """Bring both databases into step, and return by path what was changed in each.

    The phone learns of its line, of the data used on it, and of a bill that waits for payment; the operator
    learns that it was paid.
    """
    deltas: dict[Literal["agent", "user"], Delta] = {"agent": {}, "user": {}}
    around = user_db.get("surroundings") or {}
    phone = around.get("phone_number")
    line = find(agent_db.get("lines") or [], "phone_number", phone) if phone is not None else None
    if line is None:
        return deltas
    for field, value in _line_state(agent_db, line).items():
        if around.get(field) != value:
            around[field] = value
            deltas["user"][AROUND + field] = value
    _settle_payment(agent_db, around, deltas)
    _request_payment(agent_db, around, phone, deltas["user"])
    return deltas


def _line_state(agent_db: Db, line: Db) -> dict[str, bool]:
    """Return what the surroundings of a phone say of its line."""
    state = {
        "line_active": line["status"] == "Active",
        "roaming_allowed": bool(line["roaming_enabled"]),
    }
    plan = plan_of(agent_db, line)
    if plan is not None:
        allowed = plan["data_limit_gb"] + line["data_refueling_gb"]
        state["mobile_data_usage_exceeded"] = line["data_used_gb"] >= allowed
    return state


def _settle_payment(agent_db: Db, around: Db, deltas: dict[Literal["agent", "user"], Delta]) -> None:
    """Mark the bill paid that was paid on the phone, and drop the request for it."""
    request = around.get("payment_request")
    if not request or not request.get("paid"):
        return
    bill = find(agent_db["bills"], "bill_id", request["bill_id"])
    if bill is not None and bill["status"] != "Paid":
        bill["status"] = "Paid"
        deltas["agent"][f"bills[{bill['bill_id']}].status"] = "Paid"
    around["payment_request"] = None
    deltas["user"][AROUND + "payment_request"] = None


def _request_payment(agent_db: Db, around: Db, phone: Any, delta: Delta) -> None:
    """Have the phone show the first bill that waits for payment, unless it shows one already."""
    if around.get("payment_request") is not None:
        return
    customer = next((each for each in agent_db["customers"] if phone in _numbers(agent_db, each)), None)
    for bill_id in customer["bill_ids"] if customer else ():
        bill = find(agent_db["bills"], "bill_id", bill_id)
        if bill is not None and bill["status"] == "Awaiting Payment":
            request = {"bill_id": bill_id, "amount_due": bill["total_due"], "paid": False}
            around["payment_request"] = request
            delta[AROUND + "payment_request"] = dict(request)
            return


def _numbers(agent_db: Db, customer: Db) -> list[str]:
    lines = (find(agent_db["lines"], "line_id", line_id) for line_id in customer["line_ids"])
    return [customer["phone_number"], *(line["phone_number"] for line in lines if line is not None)]


@register_sync_applier(DOMAIN)
def apply_telecom_delta(db: Db, delta: Mapping[str, Any]) -> None:
    """Apply what ``sync_telecom`` returned for one side; a phone then looks for its network anew."""
    for path, value in delta.items():
        if path.startswith(AROUND):
            db.setdefault("surroundings", {})[path.removeprefix(AROUND)] = value
        elif match := BILL_FIELD.fullmatch(path):
            bill = find(db.get("bills") or [], "bill_id", match[1])
            if bill is not None:
                bill[match[2]] = value
        else:
            _assign(db, path, value)
    if any(path.startswith(AROUND) for path in delta) and db.get("device"):
        search_network(db)


def _assign(db: Db, path: str, value: Any) -> None:
    *steps, last = path.split(".")
    target = db
    for step in steps:
        target = target[step]
    target[last] = value
