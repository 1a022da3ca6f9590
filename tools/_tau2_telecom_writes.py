"""The operator's tools that change lines and bills."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import ClassVar

from pydantic import Field, FiniteFloat

from pytest_voiceeval.tools import Params, TransferTool

from ._tau2_telecom_reads import CUSTOMER_ID, LINE_ID, LineParams
from ._tau2_telecom_rows import (
    OperatorWriteTool,
    Row,
    bills_of,
    customer_row,
    find,
    find_customer,
    month_after,
    owned_line,
    plan_of,
    refused,
    today,
)

MOST_GB = 1e300
"""Beyond it, prices are no numbers any more."""


class SuspendParams(LineParams):
    """Parameters of a suspension."""

    reason: str = Field(description="Why the line is suspended.")


class PaymentParams(Params):
    """Parameters of a request for payment."""

    customer_id: str = Field(description=CUSTOMER_ID)
    bill_id: str = Field(description="Id of the bill, such as 'B1001'.")


class RefuelParams(Params):
    """Parameters of more data."""

    customer_id: str = Field(description=CUSTOMER_ID)
    line_id: str = Field(description=LINE_ID)
    gb_amount: FiniteFloat = Field(le=MOST_GB, description="How many gigabytes are added.")


class SummaryParams(Params):
    """Parameters of the handover."""

    summary: str = Field(description="What the caller needs, for the person who takes over.")


class SuspendLineTool(OperatorWriteTool[SuspendParams]):
    """Suspends a line."""

    name = "suspend_line"
    description = "Suspend an active line, for at most six months. A holding fee is due each month."
    PARAMS_MODEL = SuspendParams

    def run(self, params: SuspendParams) -> Row:
        line = owned_line(self.db, params.customer_id, params.line_id)
        if line["status"] != "Active":
            raise refused("Line must be active to suspend")
        line["status"] = "Suspended"
        line["suspension_start_date"] = today().isoformat()
        self.record_call(params, {"line_id": params.line_id, "status": "Suspended"})
        return {"message": "Line suspended successfully. $5/month holding fee will apply.", "line": line}


class ResumeLineTool(OperatorWriteTool[LineParams]):
    """Brings a suspended line back."""

    name = "resume_line"
    description = "Make a line active again that is suspended or waits for its activation."
    PARAMS_MODEL = LineParams

    def run(self, params: LineParams) -> Row:
        line = owned_line(self.db, params.customer_id, params.line_id)
        if line["status"] not in ("Suspended", "Pending Activation"):
            raise refused("Line must be suspended to resume")
        line["status"] = "Active"
        line["suspension_start_date"] = None
        self.record_call(params, {"line_id": params.line_id, "status": "Active"})
        return {"message": "Line resumed successfully", "line": line}


class _RoamingTool(OperatorWriteTool[LineParams]):
    """Base: switches roaming of a line."""

    PARAMS_MODEL = LineParams
    ENABLES: ClassVar[bool]

    def run(self, params: LineParams) -> str:
        line = owned_line(self.db, params.customer_id, params.line_id)
        done = "enabled" if self.ENABLES else "disabled"
        if bool(line["roaming_enabled"]) is self.ENABLES:
            return f"Roaming was already {done}"
        line["roaming_enabled"] = self.ENABLES
        self.record_call(params, {"roaming_enabled": self.ENABLES})
        return f"Roaming {done} successfully"


class EnableRoamingTool(_RoamingTool):
    """Lets a line be used abroad."""

    name = "enable_roaming"
    description = "Let a line use networks abroad."
    ENABLES = True


class DisableRoamingTool(_RoamingTool):
    """Keeps a line from being used abroad."""

    name = "disable_roaming"
    description = "Keep a line from using networks abroad."
    ENABLES = False


class SendPaymentRequestTool(OperatorWriteTool[PaymentParams]):
    """Asks a customer to pay a bill; the request then shows on the customer's phone."""

    name = "send_payment_request"
    description = (
        "Ask the customer to pay a bill: the request shows on their phone. Only one bill at a time can "
        "wait for payment. See before that the bill is overdue, and afterwards that it is paid."
    )
    PARAMS_MODEL = PaymentParams

    def run(self, params: PaymentParams) -> str:
        customer = find_customer(self.db, params.customer_id)
        if customer is None:
            raise refused(f"Customer {params.customer_id} not found")
        if any(bill["status"] == "Awaiting Payment" for bill in bills_of(self.db, customer)):
            raise refused("A bill is already awaiting payment for this customer")
        bill = find(self.db["bills"], "bill_id", params.bill_id)
        if params.bill_id not in customer["bill_ids"] or bill is None:
            raise refused(f"Bill {params.bill_id} not found for customer {params.customer_id}")
        bill["status"] = "Awaiting Payment"
        self.record_call(params, {"bill_id": params.bill_id, "status": "Awaiting Payment"})
        return f"Payment request sent to the customer for bill {params.bill_id}"


class RefuelDataTool(OperatorWriteTool[RefuelParams]):
    """Adds data to a line, and its price to the customer's next bill."""

    name = "refuel_data"
    description = "Add data to a line for this billing cycle. Its price goes onto the customer's next bill."
    PARAMS_MODEL = RefuelParams

    def run(self, params: RefuelParams) -> Row:
        amount = params.gb_amount
        if not amount > 0:
            raise refused("Refuel amount must be positive")
        line = owned_line(self.db, params.customer_id, params.line_id)
        plan = plan_of(self.db, line)
        if plan is None:
            raise refused("Plan not found for this line")
        price = plan["data_refueling_price_per_gb"]
        charge = amount * price
        today()  # raises, if it is none, before anything is changed
        line["data_refueling_gb"] += amount
        charge_once(self.db, params.customer_id, charge, f"Data refueling: {amount} GB at ${price}/GB")
        outcome = {"new_data_refueling_gb": line["data_refueling_gb"], "charge": charge}
        self.record_call(params, outcome)
        done = f"Successfully added {amount} GB of data for line {params.line_id} for ${charge:.2f}"
        return {"message": done, **outcome}


class TransferToHumanAgentsTool(TransferTool[SummaryParams]):
    """Hands the caller over to a person; the call is over then, also if the arguments were wrong."""

    name = "transfer_to_human_agents"
    description = (
        "Hand the caller over to a human agent. Use it only where the policy says so, or where the caller "
        "asks for a person and nothing here can help. It ends the call."
    )
    PARAMS_MODEL = SummaryParams
    VALIDATION_ERROR = "invalid_arguments"
    ENDS_ON_ERROR = True

    def run(self, params: SummaryParams) -> str:
        self.record_call(params, {"transferred": True})
        return "Transfer successful"


WRITES = (
    SuspendLineTool,
    ResumeLineTool,
    EnableRoamingTool,
    DisableRoamingTool,
    SendPaymentRequestTool,
    RefuelDataTool,
    TransferToHumanAgentsTool,
)


def charge_once(db: Row, customer_id: str, amount: float, what_for: str) -> None:
    """Put ``amount`` dollars onto the customer's draft bill, or onto a new one for the month to come."""
    customer = customer_row(db, customer_id)
    bill = next((bill for bill in bills_of(db, customer) if bill["status"] == "Draft"), None)
    if bill is None:
        bill = _draft_bill(db, customer)
    bill["line_items"].append(
        {
            "description": what_for,
            "amount": amount,
            "date": today().isoformat(),
            "item_type": "Credit" if amount < 0 else "Charge",
        }
    )
    bill["total_due"] = float(bill["total_due"]) + amount


def _draft_bill(db: Row, customer: Row) -> Row:
    """Add an empty bill for the month to come.

    Its id follows from whose it is and how many there are, so that a replay of the call makes the same one.
    """
    seed = f"{customer['customer_id']} {len(db['bills'])}"
    bill_id = "B" + hashlib.sha256(seed.encode()).hexdigest()[:8]
    first, last = month_after(today())
    bill = {
        "bill_id": bill_id,
        "customer_id": customer["customer_id"],
        "period_start": first.isoformat(),
        "period_end": last.isoformat(),
        "issue_date": first.isoformat(),
        "total_due": 0,
        "due_date": (first + timedelta(days=14)).isoformat(),
        "line_items": [],
        "status": "Draft",
    }
    db["bills"].append(bill)
    customer["bill_ids"].append(bill_id)
    return db["bills"][-1]  # type: ignore[no-any-return]  # a database holds anything
