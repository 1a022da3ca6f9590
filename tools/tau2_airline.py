"""Tools of the airline of tau2: customers, reservations, flights."""

from __future__ import annotations

from pytest_voiceeval.tools import register_schema_tool_for_eval

from ._tau2 import CalculateTool, TransferToHumanAgentsTool
from ._tau2_airline_booking import BookReservationTool
from ._tau2_airline_reads import (
    GetFlightStatusTool,
    GetReservationDetailsTool,
    GetUserDetailsTool,
    ListAllAirportsTool,
    SearchDirectFlightTool,
    SearchOnestopFlightTool,
)
from ._tau2_airline_writes import (
    CancelReservationTool,
    SendCertificateTool,
    UpdateReservationBaggagesTool,
    UpdateReservationFlightsTool,
    UpdateReservationPassengersTool,
)

DOMAIN = "tau2_airline"
TOOLS = (
    GetUserDetailsTool,
    GetReservationDetailsTool,
    ListAllAirportsTool,
    SearchDirectFlightTool,
    SearchOnestopFlightTool,
    GetFlightStatusTool,
    BookReservationTool,
    CancelReservationTool,
    SendCertificateTool,
    UpdateReservationBaggagesTool,
    UpdateReservationFlightsTool,
    UpdateReservationPassengersTool,
    CalculateTool,
    TransferToHumanAgentsTool,
)

for _tool in TOOLS:
    register_schema_tool_for_eval(DOMAIN)(_tool)
