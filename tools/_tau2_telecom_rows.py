"""What the tools of tau2's operator share: its records, its day, and how a call is refused."""

from __future__ import annotations

import calendar
import os
from datetime import date, timedelta
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from pytest_voiceeval.tools import CheckedTool, CheckedWriteTool, ToolRefusal

Row = dict[str, Any]
P = TypeVar("P", bound=BaseModel)

TODAY_VARIABLE = "TAU2_TELECOM_TODAY"
POLICY_DAY = "2025-02-25"
"""What the policy says the date is."""


def today() -> date:
    """Return the day on which the operator lives: that of its policy, never the machine's.

    Raises:
        ToolRefusal: if the environment variable that sets another day holds no date.
    """
    text = os.environ.get(TODAY_VARIABLE) or POLICY_DAY
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ToolRefusal("tool_error", f"{TODAY_VARIABLE}={text}: write a date as 2025-02-25") from None


def check_today() -> None:
    """Raise ValueError if the environment variable that sets another day holds no date."""
    try:
        today()
    except ToolRefusal as exc:
        raise ValueError(str(exc)) from None


def month(day: date) -> tuple[date, date]:
    """Return the first and the last day of the month of ``day``."""
    last = calendar.monthrange(day.year, day.month)[1]
    return day.replace(day=1), day.replace(day=last)


def month_after(day: date) -> tuple[date, date]:
    """Return the first and the last day of the month after that of ``day``."""
    return month(month(day)[1] + timedelta(days=1))


def month_before(day: date) -> tuple[date, date]:
    """Return the first and the last day of the month before that of ``day``."""
    return month(month(day)[0] - timedelta(days=1))


class _AgentSide:
    """How a tool of the operator refuses a call."""

    VALIDATION_ERROR: ClassVar[str] = "invalid_arguments"
    NO_DB_MESSAGE: ClassVar[str] = (
        "Scenario agent-side database not loaded. This indicates a fixture-loading bug."
    )


class OperatorTool(_AgentSide, CheckedTool[P], Generic[P]):
    """A tool of the agent's side; what the operator's rules forbid is answered with a ``tool_error``."""


class OperatorWriteTool(_AgentSide, CheckedWriteTool[P], Generic[P]):
    """A tool of the agent's side that changes the operator's database and records it."""


def refused(message: str) -> ToolRefusal:
    """Return what to raise where the operator's rules forbid a call."""
    return ToolRefusal("tool_error", message)


def find(rows: list[Row], key: str, value: str) -> Row | None:
    """Return the first record whose ``key`` is ``value``."""
    return next((row for row in rows if row.get(key) == value), None)


def find_customer(db: Row, customer_id: str) -> Row | None:
    """Return a customer's record."""
    return find(db["customers"], "customer_id", customer_id)


def customer_row(db: Row, customer_id: str) -> Row:
    """Return a customer's record; refuse the call if there is none."""
    customer = find_customer(db, customer_id)
    if customer is None:
        raise refused(f"Customer with ID {customer_id} not found")
    return customer


def owned_line(db: Row, customer_id: str, line_id: str) -> Row:
    """Return the record of a customer's line; refuse the call if it is none of theirs."""
    customer = customer_row(db, customer_id)
    if line_id not in customer["line_ids"]:
        raise refused(f"Line {line_id} not found for customer {customer_id}")
    line = find(db["lines"], "line_id", line_id)
    if line is None:
        raise refused(f"Line with ID {line_id} not found")
    return line


def plan_of(db: Row, line: Row) -> Row | None:
    """Return the plan of a line; ``None`` if there is none."""
    return find(db["plans"], "plan_id", line["plan_id"])


def bills_of(db: Row, customer: Row) -> list[Row]:
    """Return the bills of a customer that exist, in the customer's order."""
    found = (find(db["bills"], "bill_id", bill_id) for bill_id in customer["bill_ids"])
    return [bill for bill in found if bill is not None]
