"""What eva's airline gives to a customer: refunds, credits, vouchers, and a person to talk to."""

from __future__ import annotations

from pydantic import Field

from pytest_voiceeval.tools import TransferTool

from ._eva_params import (
    ConfirmationNumber,
    CreditReason,
    EvaParams,
    EvaWriteTool,
    PassengerId,
    RefundType,
    VoucherReason,
    refuse,
)
from ._eva_rows import Row, reservation_row

PROCESSING_DAYS = 7
MAX_NIGHTS = 3
MEAL_AMOUNTS = {
    "delay_over_2_hours": 12,
    "delay_over_4_hours": 15,
    "cancellation_wait_same_day": 15,
    "irrops_overnight": 25,
}


class RefundParams(EvaParams):
    """Parameters of a refund."""

    confirmation_number: ConfirmationNumber
    refund_amount: float = Field(gt=0, allow_inf_nan=False, description="How much is paid back, in dollars.")
    refund_type: RefundType = Field(description="What is paid back.")


class CreditParams(EvaParams):
    """Parameters of a travel credit."""

    confirmation_number: ConfirmationNumber
    passenger_id: PassengerId
    amount: float = Field(gt=0, allow_inf_nan=False, description="How much it is worth, in dollars.")
    credit_reason: CreditReason = Field(description="What it is for.")


class HotelParams(EvaParams):
    """Parameters of a hotel voucher."""

    confirmation_number: ConfirmationNumber
    passenger_id: PassengerId
    num_nights: int = Field(ge=1, description="How many nights.")


class MealVoucherParams(EvaParams):
    """Parameters of a meal voucher."""

    confirmation_number: ConfirmationNumber
    passenger_id: PassengerId
    voucher_reason: VoucherReason = Field(description="What it is for, which decides on its worth.")


class HandoverParams(EvaParams):
    """Parameters of a handover."""

    confirmation_number: ConfirmationNumber
    transfer_reason: str = Field(description="Why a person must take over.")
    issue_summary: str = Field(description="What the caller needs, for that person.")


class ProcessRefundTool(EvaWriteTool[RefundParams]):
    """Pays an amount back."""

    description = "Pay an amount back to the way it was paid. Use it once for each kind of refund."
    PARAMS_MODEL = RefundParams

    def run(self, params: RefundParams) -> Row:
        number = params.confirmation_number
        reservation_row(self.db, number)
        refund_id = f"REF-{number}-{self._next_call_index():03}"
        row = {
            "refund_id": refund_id,
            "confirmation_number": number,
            "refund_amount": params.refund_amount,
            "refund_type": params.refund_type,
            "processing_days": PROCESSING_DAYS,
            "initiated_date": self.db["_current_date"],
            "status": "processing",
        }
        self.create("refunds", refund_id, row)
        told = {"refund_amount": params.refund_amount, "refund_type": params.refund_type}
        self.note(confirmation_number=number, **told)
        return {
            "status": "success",
            "confirmation_number": number,
            "refund_id": refund_id,
            **told,
            "processing_days": PROCESSING_DAYS,
            "message": f"${params.refund_amount} refund initiated, "
            f"processing time {PROCESSING_DAYS} business days",
        }


class IssueTravelCreditTool(EvaWriteTool[CreditParams]):
    """Gives a credit for a later journey."""

    description = "Issue a travel credit to a passenger, good for a year. A second one replaces the first."
    PARAMS_MODEL = CreditParams

    def run(self, params: CreditParams) -> Row:
        number, passenger = params.confirmation_number, params.passenger_id
        reservation_row(self.db, number)
        code, today = f"TC{number}{passenger[:3]}", str(self.db["_current_date"])
        row = {
            "credit_code": code,
            "confirmation_number": number,
            "passenger_id": passenger,
            "amount": params.amount,
            "credit_reason": params.credit_reason,
            "issued_date": today,
            "expiry_date": f"{int(today[:4]) + 1}{today[4:]}",
            "status": "active",
        }
        self.create("travel_credits", code, row)
        told = {"confirmation_number": number, "passenger_id": passenger}
        self.note(**told, amount=params.amount, credit_reason=params.credit_reason)
        return {
            "status": "success",
            **told,
            "credit_code": code,
            "amount": params.amount,
            "valid_months": 12,
            "message": f"${params.amount} travel credit issued with code {code}",
        }


class IssueHotelVoucherTool(EvaWriteTool[HotelParams]):
    """Gives nights in a hotel."""

    description = "Issue a hotel voucher for up to three nights."
    PARAMS_MODEL = HotelParams

    def run(self, params: HotelParams) -> Row:
        number, nights = params.confirmation_number, params.num_nights
        reservation_row(self.db, number)
        if nights > MAX_NIGHTS:
            raise refuse(
                "exceeds_authority", f"Hotel vouchers can be issued for maximum of {MAX_NIGHTS} nights"
            )
        code = f"HOTEL-{number}"
        told = {"confirmation_number": number, "passenger_id": params.passenger_id}
        dated = {"issued_date": self.db["_current_date"], "status": "active"}
        self.create("hotel_vouchers", code, {"voucher_code": code, **told, "num_nights": nights, **dated})
        self.note(**told, num_nights=nights)
        return {
            "status": "success",
            **told,
            "voucher_code": code,
            "number_of_nights": nights,
            "valid_at": "Any hotels in airport area",
            "message": f"Hotel voucher issued with code {code} for {nights} nights",
        }


class IssueMealVoucherTool(EvaWriteTool[MealVoucherParams]):
    """Gives a meal at the airport."""

    description = "Issue a meal voucher, whose worth follows from the reason."
    PARAMS_MODEL = MealVoucherParams

    def run(self, params: MealVoucherParams) -> Row:
        number, reason = params.confirmation_number, params.voucher_reason
        reservation_row(self.db, number)
        code, amount = f"MEAL-{number}-{params.passenger_id[:4]}", MEAL_AMOUNTS[reason]
        told = {"confirmation_number": number, "passenger_id": params.passenger_id}
        row = {
            "voucher_code": code,
            **told,
            "amount": amount,
            "voucher_reason": reason,
            "issued_date": self.db["_current_date"],
            "status": "active",
        }
        self.create("meal_vouchers", code, row)
        self.note(**told, voucher_reason=reason, amount=amount)
        return {
            "status": "success",
            **told,
            "voucher_code": code,
            "amount": amount,
            "valid_at": "Airport terminal restaurants",
            "message": f"${amount} meal voucher issued with code {code}",
        }


class TransferToAgentTool(EvaWriteTool[HandoverParams], TransferTool[HandoverParams]):
    """Hands the caller over to a person, which ends the call."""

    description = "Hand the caller over to a live agent, where the policy says so. It ends the call."
    PARAMS_MODEL = HandoverParams
    NEEDS_DB = True

    def run(self, params: HandoverParams) -> Row:
        number = params.confirmation_number
        reservation_row(self.db, number)
        told = {
            "confirmation_number": number,
            "transfer_reason": params.transfer_reason,
            "issue_summary": params.issue_summary,
        }
        self.note(**told)
        return {
            "status": "success",
            "transfer_id": f"TRF-{number}-{self._next_call_index():03}",
            **told,
            "estimated_wait": "2-3 minutes",
            "message": "Transferring to live agent",
        }
