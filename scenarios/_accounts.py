"""The customers of TechCorp: their accounts as they are when the call begins, on 22 April 2026."""

from __future__ import annotations

import copy
from typing import Any

Account = dict[str, Any]

TODAY = "2026-04-22"
PLANS = {"Standard": "$9.99", "Premium": "$19.99"}


def account(
    name: str,
    *,
    plan: str = "Standard",
    balance: str = "$0.00",
    charges: tuple[tuple[str, str, str], ...] = (),
    orders: dict[str, dict[str, str]] | None = None,
    failed_logins: int = 0,
) -> Account:
    """Return an account; ``charges`` are description, amount and date, and five failed logins lock it."""
    return {
        "name": name,
        "account_status": "Active" if failed_logins < 5 else "Locked",
        "failed_login_attempts": str(failed_logins),
        "plan": plan,
        "monthly_rate": PLANS[plan],
        "balance": balance,
        "recent_charges": [
            {"description": description, "amount": amount, "date": date}
            for description, amount, date in charges
        ],
        "orders": orders or {},
    }


def purchase(item: str, price: str, status: str, **dates: str) -> dict[str, str]:
    """Return an order; ``dates`` are its dates, such as ``delivered``, and what else there is to it."""
    return {"item": item, "price": price, "status": status, **dates}


def with_refund(before: Account, amount: str, balance: str) -> Account:
    """Return the account after a refund of ``amount`` that leaves ``balance``; its wording is free."""
    refund = {"amount": f"-{amount}", "date": TODAY}
    return before | {"balance": balance, "recent_charges": [*before["recent_charges"], refund]}


def with_return(before: Account, order_id: str) -> Account:
    """Return the account after the return of an order was started; the wording of its reason is free."""
    after = copy.deepcopy(before)
    after["orders"][order_id]["status"] = "Return Started"
    return after


LAURA = account(
    "Laura Bennett",
    balance="$142.50",
    charges=(
        ("Standard plan", "$9.99", "2026-04-01"),
        ("Wireless router", "$82.52", "2026-04-09"),
        ("Extended warranty", "$49.99", "2026-04-15"),
    ),
)
KEVIN = account(
    "Kevin Osborne",
    orders={
        "OR5082": purchase(
            "14 inch laptop",
            "$899.00",
            "Delayed",
            ordered="2026-04-06",
            promised="2026-04-15",
            expected="2026-04-27",
            reason="held up in the warehouse",
        )
    },
)
NINA = account(
    "Nina Palmer",
    orders={
        "OR6214": purchase(
            "10 inch tablet", "$329.00", "Delivered", ordered="2026-04-13", delivered="2026-04-18"
        )
    },
)
OSCAR = account(
    "Oscar Reed",
    orders={
        "OR4390": purchase("Smartphone", "$549.00", "Delivered", ordered="2026-04-07", delivered="2026-04-12")
    },
)
GRACE = account("Grace Miller", charges=(("Standard plan", "$9.99", "2026-04-01"),), balance="$9.99")
PETER = account("Peter Novak", failed_logins=5)
HELEN = account(
    "Helen Brooks",
    orders={
        "OR2276": purchase(
            "Mechanical keyboard",
            "$119.00",
            "Delivered",
            ordered="2025-08-18",
            delivered="2025-08-22",
            warranty="12 months",
        )
    },
)
LUCAS = account(
    "Lucas Meyer", plan="Premium", balance="$19.99", charges=(("Premium plan", "$19.99", "2026-04-01"),)
)
ALICE = account(
    "Alice Turner",
    orders={
        "OR7731": purchase(
            "Earbuds Pro",
            "$179.00",
            "Delivered",
            ordered="2026-04-15",
            delivered="2026-04-20",
            packed="Earbuds Basic",
        )
    },
)
DANIEL = account("Daniel Foster", plan="Premium", balance="$19.99")
