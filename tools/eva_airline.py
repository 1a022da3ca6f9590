"""Tools of eva's airline: reservations, rebooking, and what a passenger is owed."""

from __future__ import annotations

from pytest_voiceeval.tools import register_schema_tool_for_eval

from ._eva_changes import (
    AddBaggageAllowanceTool,
    AddMealRequestTool,
    AddToStandbyTool,
    AssignSeatTool,
    CancelReservationTool,
)
from ._eva_payments import (
    IssueHotelVoucherTool,
    IssueMealVoucherTool,
    IssueTravelCreditTool,
    ProcessRefundTool,
    TransferToAgentTool,
)
from ._eva_reads import (
    GetDisruptionInfoTool,
    GetFlightStatusTool,
    GetReservationTool,
    SearchRebookingOptionsTool,
)
from ._eva_rebooking import RebookFlightTool

DOMAIN = "eva_airline"
TOOLS = (
    GetReservationTool,
    GetFlightStatusTool,
    GetDisruptionInfoTool,
    SearchRebookingOptionsTool,
    RebookFlightTool,
    CancelReservationTool,
    ProcessRefundTool,
    AssignSeatTool,
    AddBaggageAllowanceTool,
    AddMealRequestTool,
    AddToStandbyTool,
    IssueTravelCreditTool,
    IssueHotelVoucherTool,
    IssueMealVoucherTool,
    TransferToAgentTool,
)

for _tool in TOOLS:
    register_schema_tool_for_eval(DOMAIN)(_tool)
