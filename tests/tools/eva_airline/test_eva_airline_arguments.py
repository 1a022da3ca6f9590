"""What eva's tools take, and what they say of what they do not."""

from __future__ import annotations

from typing import Any

import pytest
from eva_calls import (
    ARGUMENTS,
    BY_RESERVATION,
    DOMAIN,
    READS,
    records,
    refused,
    use,
)
from small_worlds import World

from pytest_voiceeval.tools import get_schema_tool_for_eval, list_schema_tools_for_eval


def test_fifteen_tools_in_order() -> None:
    assert list_schema_tools_for_eval(DOMAIN) == list(ARGUMENTS)
    assert len(ARGUMENTS) == 15


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_model_is_told_types_and_choices_in_words(name: str) -> None:
    schema = get_schema_tool_for_eval(name, DOMAIN).schema()
    assert schema["required"] == list(ARGUMENTS[name])
    assert set(schema["properties"]) >= set(schema["required"])
    types = {"num_bags": "integer", "num_nights": "integer", "passenger_count": "integer"}
    types |= {"refund_amount": "number", "amount": "number", "waive_change_fee": "boolean"}
    for key, part in schema["properties"].items():
        if key == "passenger_ids":
            assert (part["type"], part["items"]) == ("array", {"type": "string"})
        else:
            assert part["type"] == types.get(key, "string")
            assert part.keys() == {"type", "description"}


def test_choices_are_named_in_the_description() -> None:
    properties = get_schema_tool_for_eval("IssueMealVoucherTool", DOMAIN).schema()["properties"]
    assert properties["voucher_reason"]["description"].endswith(
        "One of: delay_over_2_hours, delay_over_4_hours, cancellation_wait_same_day, irrops_overnight."
    )


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("db", [None, {}])
def test_no_database_is_told_after_the_arguments_are_checked(name: str, db: Any) -> None:
    state = {"db": db}
    tool = get_schema_tool_for_eval(name, DOMAIN, shared_state=state)
    assert tool.invoke(**ARGUMENTS[name]) == {  # type: ignore[attr-defined]
        "status": "error",
        "error_type": "db_not_initialized",
        "message": "Scenario database not loaded. This indicates a fixture-loading bug; contact the "
        "evaluator.",
    }
    assert tool.invoke()["error_type"].startswith("invalid_")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", BY_RESERVATION)
def test_a_reservation_that_is_not_there_is_told_in_upper_case(world: World, name: str) -> None:
    assert refused(world, name, confirmation_number="zzz999") == "not_found: Reservation ZZZ999 not found"


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_a_tool_does_not_know_are_ignored(world: World, name: str) -> None:
    assert use(world, name, mood="good")["status"] == "success"


@pytest.mark.parametrize("name", ARGUMENTS)
def test_only_changes_and_the_handover_are_recorded_flat(world: World, name: str) -> None:
    use(world, name)
    assert len(records(world)) == (name not in READS)
    for record in records(world):
        assert not record.keys() & {"name", "arguments", "result"}
        assert record["confirmation_number"] == "ABC123"


@pytest.mark.parametrize(
    ("tool", "change", "refusal"),
    [
        (
            "GetReservationTool",
            {"confirmation_number": "ABC12"},
            "invalid_confirmation_number_format: Invalid confirmation_number 'ABC12': "
            "must be 6 alphanumeric characters",
        ),
        (
            "GetReservationTool",
            {"confirmation_number": 123456},
            "invalid_confirmation_number_format: Invalid confirmation_number '123456': "
            "must be 6 alphanumeric characters",
        ),
        (
            "GetReservationTool",
            {"last_name": None},
            "invalid_parameter: Invalid or missing parameter 'last_name': Input should be a valid string",
        ),
        (
            "GetFlightStatusTool",
            {"flight_number": "101", "flight_date": "today"},
            "invalid_flight_number_format: Invalid flight_number '101': "
            "must be 2-3 letters followed by 1-4 digits (e.g. SK621)",
        ),
        (
            "GetDisruptionInfoTool",
            {"date": "2026/05/10"},
            "invalid_date_format: Invalid date '2026/05/10': must be YYYY-MM-DD",
        ),
        (
            "SearchRebookingOptionsTool",
            {"destination": "Denver"},
            "invalid_airport_code_format: Invalid destination 'Denver': "
            "must be 3-letter airport code (e.g. JFK)",
        ),
        (
            "SearchRebookingOptionsTool",
            {"passenger_count": 0, "fare_class": "coach"},
            "invalid_fare_class: Invalid fare_class 'coach': Input should be 'basic_economy', 'main_cabin', "
            "'premium_economy', 'business', 'first' or 'any'",
        ),
        (
            "RebookFlightTool",
            {"new_journey_id": "SK300"},
            "invalid_journey_id_format: Invalid new_journey_id 'SK300': "
            "must be FL_<flight>_<YYYYMMDD> (e.g. FL_SK621_20260320)",
        ),
        (
            "RebookFlightTool",
            {"flight_number": ""},
            "invalid_flight_number_format: Invalid flight_number '': "
            r"String should match pattern '^[A-Za-z]{2,3}\d{1,4}$'",
        ),
        (
            "AddToStandbyTool",
            {"passenger_ids": ["PAX001", "Ada"]},
            "invalid_passenger_id_format: Invalid passenger_ids 'Ada': "
            r"String should match pattern '^PAX\d+$'",
        ),
        (
            "AddBaggageAllowanceTool",
            {"num_bags": 6},
            "invalid_bag_count: Invalid num_bags '6': Input should be less than or equal to 5",
        ),
        (
            "ProcessRefundTool",
            {"refund_amount": 0},
            "invalid_parameter: Invalid or missing parameter 'refund_amount': Input should be greater than 0",
        ),
        (
            "IssueTravelCreditTool",
            {"amount": "many", "credit_reason": "luck", "passenger_id": "1"},
            "invalid_passenger_id_format: Invalid passenger_id '1': must be PAX<digits> (e.g. PAX001)",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_told(
    world: World, tool: str, change: dict[str, Any], refusal: str
) -> None:
    assert refused(world, tool, **change) == refusal


def test_a_missing_argument_shows_what_was_given(world: World) -> None:
    assert world.refused("GetReservationTool", last_name="Byron") == (
        "invalid_confirmation_number_format: Invalid confirmation_number '{'last_name': 'Byron'}': "
        "must be 6 alphanumeric characters"
    )


def test_an_optional_argument_may_be_null(world: World) -> None:
    result = use(world, "RebookFlightTool", flight_number=None, new_fare_class=None)
    assert "partial_rebook" not in result
