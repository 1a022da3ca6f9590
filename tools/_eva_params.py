"""Arguments of eva's airline tools: their forms, and how a call is answered whose arguments do not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from pytest_voiceeval.tools import CheckedTool, CheckedWriteTool, Params, ToolRefusal

P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True)
class Form:
    """How a text must look, as a caller of a tool is told that wrote it otherwise."""

    rule: str
    example: str | None = None

    def __str__(self) -> str:
        return f"must be {self.rule}" + (f" (e.g. {self.example})" if self.example else "")


def _upper(text: str) -> str:
    return text.upper()


ConfirmationNumber = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9]{6}$", description="Confirmation number: six letters and digits."),
    AfterValidator(_upper),
    Form("6 alphanumeric characters"),
]
FlightNumber = Annotated[
    str,
    Field(pattern=r"^[A-Za-z]{2,3}\d{1,4}$", description="Flight number, such as SK621."),
    Form("2-3 letters followed by 1-4 digits", "SK621"),
]
OptionalFlightNumber = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z]{2,3}\d{1,4}$",
        description="Flight number of one leg, where the journey has several.",
    ),
]
Date = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="Day, as YYYY-MM-DD."), Form("YYYY-MM-DD")
]
JourneyId = Annotated[
    str,
    Field(
        pattern=r"^FL_(?:[A-Za-z]{2,3}\d{1,4}_)+\d{8}$",
        description="Id of the journey, such as FL_SK621_20260320, as lookups and searches return it.",
    ),
    Form("FL_<flight>_<YYYYMMDD>", "FL_SK621_20260320"),
]
_PASSENGER_ID = r"^PAX\d+$"
PassengerId = Annotated[
    str,
    Field(pattern=_PASSENGER_ID, description="Id of the passenger in the reservation, such as PAX001."),
    Form("PAX<digits>", "PAX001"),
]
PassengerIds = Annotated[
    list[Annotated[str, Field(pattern=_PASSENGER_ID)]],
    Field(description="Ids of the passengers in the reservation, such as PAX001."),
]
Airport = Annotated[
    str,
    Field(pattern=r"^[A-Za-z]{3}$", description="Code of the airport, three letters."),
    AfterValidator(_upper),
    Form("3-letter airport code", "JFK"),
]
FareClass = Literal["basic_economy", "main_cabin", "premium_economy", "business", "first"]
FareClassOrAny = Literal["basic_economy", "main_cabin", "premium_economy", "business", "first", "any"]
RebookingType = Literal[
    "voluntary",
    "same_day",
    "irrops_cancellation",
    "irrops_delay",
    "irrops_schedule_change",
    "missed_flight_passenger_fault",
    "missed_connection_airline_fault",
]
SeatPreference = Literal["window", "aisle", "middle", "no_preference"]
MealType = Literal[
    "vegetarian",
    "vegan",
    "kosher",
    "halal",
    "gluten_free",
    "diabetic",
    "low_sodium",
    "child",
    "hindu",
    "none",
    "standard",
]
CreditReason = Literal[
    "cancellation_non_refundable",
    "fare_difference_negative",
    "service_recovery",
    "goodwill",
    "downgrade_compensation",
]
VoucherReason = Literal[
    "delay_over_2_hours", "delay_over_4_hours", "cancellation_wait_same_day", "irrops_overnight"
]
RefundType = Literal["full_fare", "partial_fare", "taxes_only", "ancillary_fees"]
CancellationReason = Literal[
    "voluntary", "irrops_refund", "24_hour_rule", "schedule_unacceptable", "medical", "bereavement"
]

FARE_CLASSES: tuple[str, ...] = get_args(FareClass)
"""From the lowest to the highest."""

ERROR_TYPES = {
    "confirmation_number": "invalid_confirmation_number_format",
    "flight_number": "invalid_flight_number_format",
    "flight_date": "invalid_date_format",
    "date": "invalid_date_format",
    "journey_id": "invalid_journey_id_format",
    "new_journey_id": "invalid_journey_id_format",
    "passenger_id": "invalid_passenger_id_format",
    "passenger_ids": "invalid_passenger_id_format",
    "origin": "invalid_airport_code_format",
    "destination": "invalid_airport_code_format",
    "rebooking_type": "invalid_rebooking_type",
    "new_fare_class": "invalid_fare_class",
    "fare_class": "invalid_fare_class",
    "meal_type": "invalid_meal_type",
    "credit_reason": "invalid_credit_reason",
    "voucher_reason": "invalid_voucher_reason",
    "refund_type": "invalid_refund_type",
    "seat_preference": "invalid_seat_preference",
    "cancellation_reason": "invalid_cancellation_reason",
    "num_bags": "invalid_bag_count",
}


class EvaParams(Params):
    """Parameters of one of the airline's tools; an argument that is none of them is ignored."""

    model_config = ConfigDict(extra="ignore")


class EvaTool(CheckedTool[P], Generic[P]):
    """A tool of the airline.

    The model is told the values of a choice in the description alone, and no patterns, as in the benchmark.
    """

    NO_DB_MESSAGE = (
        "Scenario database not loaded. This indicates a fixture-loading bug; contact the evaluator."
    )

    @property
    def properties(self) -> dict[str, Any]:
        """The parameters: type and description."""
        return {
            name: _described(part, self.PARAMS_MODEL.model_fields[name])
            for name, part in super().properties.items()
        }

    def refusal(self, error: ValidationError) -> dict[str, Any]:
        """Return the answer: of the first fault in a parameter with an error type, else of the first one."""
        faults = error.errors(include_url=False, include_context=False)
        typed = next((fault for fault in faults if fault["loc"][0] in ERROR_TYPES), None)
        if typed is None:
            field, message = faults[0]["loc"][0], faults[0]["msg"]
            return refuse("invalid_parameter", f"Invalid or missing parameter '{field}': {message}").result
        field = str(typed["loc"][0])
        form = next((f for f in self.PARAMS_MODEL.model_fields[field].metadata if isinstance(f, Form)), None)
        return refuse(
            ERROR_TYPES[field], f"Invalid {field} '{typed['input']}': {form or typed['msg']}"
        ).result


class EvaWriteTool(EvaTool[P], CheckedWriteTool[P], Generic[P]):
    """A tool of the airline that changes its data."""

    def note(self, **fields: Any) -> None:
        """Record a change; the airline's records are flat."""
        self.record({"action_type": self.action_name, **fields})

    def create(self, table: str, key: str, row: dict[str, Any]) -> None:
        """Put a row into a table, which is made if there is none, in place of one that has the same key."""
        if table not in self.db:
            self.db[table] = {}
        self.db[table][key] = row


def refuse(error_type: str, message: str) -> ToolRefusal:
    """Return the exception that answers a call with an error."""
    return ToolRefusal(error_type, message)


def _described(schema: dict[str, Any], field: FieldInfo) -> dict[str, Any]:
    """Return the part of a parameter's schema that the model is told."""
    told: dict[str, Any] = {key: schema[key] for key in ("type", "description") if key in schema}
    if schema.get("type") == "array":
        told["items"] = {"type": schema["items"]["type"]}
    if choices := schema.get("enum"):
        told["description"] = f"{field.description} One of: {', '.join(choices)}."
    return told
