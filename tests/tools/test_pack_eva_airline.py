from __future__ import annotations

import copy
from typing import Any

import pytest
from eva_world import ALL, FARES, SEATS, eva
from hypothesis import given
from hypothesis import strategies as st
from small_worlds import World, assert_invoke_equals_execute, call, mostly, same_shape

from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.tools import get_schema_tool_for_eval, list_schema_tools_for_eval

builtin_pack().load_tools()

DOMAIN = "eva_airline"
HOME, VIA = "FL_SK200_20260512", "FL_SK101_SK102_20260510"
LATE, EARLY, ONWARD = "FL_SK300_20260510", "FL_SK310_20260510", "FL_SK340_20260510"
LONG_WAY = "FL_SK350_SK351_20260510"
NUMBER = {"confirmation_number": "ABC123"}
REBOOK = {
    **NUMBER,
    "journey_id": HOME,
    "new_journey_id": LATE,
    "rebooking_type": "voluntary",
    "waive_change_fee": False,
}
SEAT = {**NUMBER, "passenger_id": "PAX001", "journey_id": HOME, "seat_preference": "aisle"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "GetReservationTool": {**NUMBER, "last_name": "Byron"},
    "GetFlightStatusTool": {"flight_number": "SK101", "flight_date": "2026-05-10"},
    "GetDisruptionInfoTool": {"flight_number": "SK101", "date": "2026-05-10"},
    "SearchRebookingOptionsTool": {
        "origin": "SFO",
        "destination": "DEN",
        "date": "2026-05-10",
        "passenger_count": 1,
        "fare_class": "main_cabin",
    },
    "RebookFlightTool": REBOOK,
    "CancelReservationTool": {**NUMBER, "journey_id": HOME, "cancellation_reason": "voluntary"},
    "ProcessRefundTool": {**NUMBER, "refund_amount": 10, "refund_type": "full_fare"},
    "AssignSeatTool": SEAT,
    "AddBaggageAllowanceTool": {**NUMBER, "journey_id": HOME, "num_bags": 2},
    "AddMealRequestTool": {**NUMBER, "passenger_id": "PAX001", "journey_id": HOME, "meal_type": "kosher"},
    "AddToStandbyTool": {**NUMBER, "journey_id": LATE, "passenger_ids": ["PAX001"]},
    "IssueTravelCreditTool": {
        **NUMBER,
        "passenger_id": "PAX001",
        "amount": 80,
        "credit_reason": "goodwill",
    },
    "IssueHotelVoucherTool": {**NUMBER, "passenger_id": "PAX001", "num_nights": 2},
    "IssueMealVoucherTool": {
        **NUMBER,
        "passenger_id": "PAX001",
        "voucher_reason": "irrops_overnight",
    },
    "TransferToAgentTool": {**NUMBER, "transfer_reason": "asked for", "issue_summary": "wants a person"},
}
READS = list(ARGUMENTS)[:4]
BY_RESERVATION = [name for name in ARGUMENTS if name not in (*READS[1:], "AddToStandbyTool")]


@pytest.fixture
def world() -> World:
    return World(DOMAIN, eva())


def use(world: World, tool: str, **changes: Any) -> Any:
    return world.use(tool, **ARGUMENTS[tool] | changes)


def refused(world: World, tool: str, **changes: Any) -> str:
    return world.refused(tool, **ARGUMENTS[tool] | changes)


def bookings(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.db["reservations"]["ABC123"]["bookings"]
    return found


def seats(world: World, journey_id: str, fare_class: str = "main_cabin") -> list[int]:
    return [leg["available_seats"][fare_class] for leg in world.db["journeys"][journey_id]["segments"]]


def records(world: World) -> list[dict[str, Any]]:
    return list(world.state.get("actions", []))


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


def test_a_reservation_is_shown_with_its_journeys_by_date(world: World) -> None:
    before = copy.deepcopy(world.db)
    result = use(world, "GetReservationTool", confirmation_number="abc123", last_name="BYRON")
    assert [b["journey_id"] for b in result["reservation"]["bookings"]] == [VIA, HOME]
    assert list(result["reservation"]) == list(before["reservations"]["ABC123"])
    assert use(world, "GetReservationTool", last_name="")["status"] == "success"
    assert world.db == before
    result["reservation"]["bookings"][0]["segments"][0]["seat"] = "1A"
    assert world.db == before


def test_a_wrong_last_name_shows_nothing(world: World) -> None:
    assert refused(world, "GetReservationTool", last_name="Lovelace") == (
        "authentication_failed: Last name does not match reservation ABC123"
    )


def test_a_flight_is_found_by_its_journey_or_as_one_leg_of_another(world: World) -> None:
    direct = use(world, "GetFlightStatusTool", flight_number="sk300")
    assert direct["journey"]["journey_id"] == LATE
    assert use(world, "GetFlightStatusTool", flight_number="SK102")["journey"]["journey_id"] == VIA
    assert refused(world, "GetFlightStatusTool", flight_number="sk102", flight_date="2026-05-11") == (
        "not_found: Flight sk102 not found for date 2026-05-11"
    )


def test_a_disruption_is_found_by_flight_and_day(world: World) -> None:
    found = use(world, "GetDisruptionInfoTool", flight_number="sk101")
    assert found["disruption"]["flight_number"] == "SK101"
    assert refused(world, "GetDisruptionInfoTool", flight_number="sk102") == (
        "not_found: No disruption info found for flight SK102"
    )


def found_options(world: World, **changes: Any) -> list[tuple[str, Any]]:
    result = use(world, "SearchRebookingOptionsTool", **changes)
    assert result["count"] == len(result["options"])
    assert result["message"] == f"{result['count']} flight(s) found"
    return [(option["journey_id"], option["fare"]) for option in result["options"]]


def test_options_are_those_that_can_be_booked_by_departure(world: World) -> None:
    assert found_options(world, origin="sfo", destination="den") == [
        (EARLY, 150.0),
        (VIA, 200.0),
        (LONG_WAY, 200.0),
        (LATE, 200.0),
    ]
    assert found_options(world, passenger_count=3) == []
    assert found_options(world, date="2026-05-11") == []


def test_an_option_has_the_seats_of_its_fullest_leg(world: World) -> None:
    world.db["journeys"][VIA]["segments"][1]["available_seats"] = {"main_cabin": 1}
    [option] = [
        option
        for option in use(world, "SearchRebookingOptionsTool")["options"]
        if option["journey_id"] == VIA
    ]
    assert option["available_seats"] == dict.fromkeys(SEATS, 0) | {"main_cabin": 1}
    assert (option["departure_time"], option["arrival_time"]) == ("08:00", "14:00")
    assert (VIA, 200.0) not in found_options(world, passenger_count=2)


def test_any_class_has_the_lowest_fare_that_can_be_had(world: World) -> None:
    fares = world.db["journeys"][EARLY]["fares"]
    assert (EARLY, 150.0) in found_options(world, fare_class="any")
    fares["main_cabin"] = None
    assert (EARLY, 900.0) in found_options(world, fare_class="any")
    fares["business"] = None
    assert (EARLY, None) in found_options(world, fare_class="any")
    world.db["journeys"][EARLY]["segments"][0]["available_seats"] = dict.fromkeys(SEATS, 0)
    assert EARLY not in dict(found_options(world, fare_class="any"))


@pytest.mark.parametrize("bookable", [False, None])
def test_what_is_not_said_to_be_bookable_is_not_offered_yet_can_be_taken(world: World, bookable: Any) -> None:
    del world.db["journeys"][LATE]["bookable"]
    assert LATE not in dict(found_options(world))
    assert use(world, "RebookFlightTool")["status"] == "success"
    world.db["journeys"][EARLY]["bookable"] = bookable
    assert refused(world, "RebookFlightTool", new_journey_id=EARLY) == (
        f"not_bookable: Flight {EARLY} is not available for booking"
    )


def test_a_rebooked_journey_keeps_bags_and_meal_and_loses_its_seat(world: World) -> None:
    result = use(world, "RebookFlightTool")
    old, _, new = bookings(world)
    assert old["status"] == "cancelled"
    assert new == {
        "journey_id": LATE,
        "fare_class": "main_cabin",
        "fare_paid": 200.0,
        "status": "confirmed",
        "segments": [
            {
                "flight_number": "SK300",
                "date": "2026-05-10",
                "fare_paid": 200.0,
                "seat": None,
                "bags_checked": 1,
                "meal_request": "vegan",
            }
        ],
    }
    assert world.db["reservations"]["ABC123"]["status"] == "changed"
    assert (seats(world, LATE), seats(world, HOME)) == ([1], [3])
    assert result["cost_summary"] == {
        "original_fare_class": "main_cabin",
        "new_fare_class": "main_cabin",
        "cabin_changed": False,
        "change_fee": 75,
        "fare_difference": 20.0,
        "credit_due": 0,
        "total_collected": 95.0,
        "fee_waived": False,
    }
    assert result["new_journey"] == {
        "journey_id": LATE,
        "num_stops": 0,
        "segments": world.db["journeys"][LATE]["segments"],
        "departure": "15:00",
        "arrival": "17:00",
        "origin": "SFO",
        "destination": "DEN",
    }
    assert result["message"] == f"Successfully rebooked to flight {LATE}"
    assert records(world) == [
        {
            "action_type": "rebook_flight",
            "confirmation_number": "ABC123",
            "old_journey_id": HOME,
            "new_journey_id": LATE,
            "rebooking_type": "voluntary",
            "original_fare_class": "main_cabin",
            "new_fare_class": "main_cabin",
            "change_fee": 75,
            "fare_difference": 20.0,
            "total_collected": 95.0,
            "partial_rebook": False,
        }
    ]


@pytest.mark.parametrize(
    ("change", "original", "fee", "collected", "credit"),
    [
        ({}, "main_cabin", 75, 95.0, 0),
        ({"new_journey_id": EARLY}, "main_cabin", 75, 75, 30.0),
        ({"waive_change_fee": "yes"}, "main_cabin", 0, 20.0, 0),
        ({"rebooking_type": "same_day"}, "main_cabin", 75, 95.0, 0),
        ({"rebooking_type": "same_day", "new_fare_class": "main_cabin"}, "basic_economy", 199, 219.0, 0),
        ({"rebooking_type": "same_day"}, "business", 75, 795.0, 0),
        ({"rebooking_type": "voluntary"}, "business", 0, 720.0, 0),
        ({"rebooking_type": "missed_flight_passenger_fault"}, "main_cabin", 75, 95.0, 0),
        ({"rebooking_type": "missed_connection_airline_fault"}, "main_cabin", 75, 95.0, 0),
        ({"rebooking_type": "irrops_delay", "new_fare_class": "business"}, "main_cabin", 0, 0, 0),
    ],
)
def test_what_a_rebooking_costs(
    world: World, change: dict[str, Any], original: str, fee: int, collected: float, credit: float
) -> None:
    bookings(world)[0]["fare_class"] = original
    costs = use(world, "RebookFlightTool", **change)["cost_summary"]
    assert (costs["change_fee"], costs["total_collected"], costs["credit_due"]) == (fee, collected, credit)
    assert costs["fee_waived"] == (fee == 0 and original != "business")


def test_another_class_is_said_in_the_message(world: World) -> None:
    result = use(world, "RebookFlightTool", new_fare_class="business")
    assert result["message"] == f"Successfully rebooked to flight {LATE} in business"
    assert result["cost_summary"]["cabin_changed"] is True
    assert (seats(world, LATE, "business"), seats(world, LATE)) == ([0], [2])


def test_an_irregular_rebooking_keeps_the_old_fares(world: World) -> None:
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=LONG_WAY, rebooking_type="irrops_delay")
    new = bookings(world)[-1]
    assert new["fare_paid"] == 240.0
    assert [leg["fare_paid"] for leg in new["segments"]] == [120.0, 120.0]
    use(world, "RebookFlightTool", new_journey_id=LONG_WAY, rebooking_type="irrops_delay")
    new = bookings(world)[-1]
    assert [leg["fare_paid"] for leg in new["segments"]] == [180.0, 200.0]


def test_bags_and_meals_come_along_leg_by_leg_and_else_from_the_first(world: World) -> None:
    via = bookings(world)[1]
    via["segments"][1] |= {"bags_checked": None, "meal_request": None}
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=LONG_WAY)
    assert [(leg["bags_checked"], leg["meal_request"]) for leg in bookings(world)[-1]["segments"]] == [
        (1, "vegan"),
        (0, None),
    ]
    use(world, "RebookFlightTool", new_journey_id=LONG_WAY)
    assert [leg["bags_checked"] for leg in bookings(world)[-1]["segments"]] == [1, 1]


def test_one_leg_is_rebooked_and_the_other_kept(world: World) -> None:
    change = {"journey_id": VIA, "new_journey_id": ONWARD, "flight_number": "SK102"}
    result = use(world, "RebookFlightTool", **change, rebooking_type="irrops_delay")
    _, old, new, kept = bookings(world)
    assert (old["journey_id"], old["status"]) == (VIA, "cancelled")
    assert (new["journey_id"], new["fare_paid"]) == (ONWARD, 120.0)
    assert new["segments"][0]["fare_paid"] == 120.0
    assert (kept["journey_id"], kept["status"], kept["fare_paid"]) == (VIA, "confirmed", 120.0)
    assert kept["segments"] == [old["segments"][0]]
    assert (seats(world, VIA), seats(world, ONWARD)) == ([3, 3], [1])
    assert result["partial_rebook"] is True
    replaced = {"flight_number": "SK102", "origin": None, "destination": None, "fare_paid": 120.0}
    assert result["replaced_segment"] == replaced
    assert result["kept_segments"] == [replaced | {"flight_number": "SK101", "seat": "22C"}]
    assert records(world)[0]["replaced_flight_number"] == "SK102"
    kept["segments"][0]["seat"] = "1A"
    assert old["segments"][0]["seat"] == "22C"


def test_a_second_rebooking_of_the_kept_leg_marks_the_booking_that_was_cancelled_before(world: World) -> None:
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=ONWARD, flight_number="SK102")
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=EARLY)
    assert [(b["journey_id"], b["status"]) for b in bookings(world)] == [
        (HOME, "confirmed"),
        (VIA, "cancelled"),
        (ONWARD, "confirmed"),
        (VIA, "confirmed"),
        (EARLY, "confirmed"),
    ]
    assert records(world)[1]["fare_difference"] == 150.0 - 120.0


def test_a_flight_number_of_the_only_leg_leaves_nothing_to_keep(world: World) -> None:
    result = use(world, "RebookFlightTool", flight_number="SK200")
    assert result["kept_segments"] == []
    assert [b["journey_id"] for b in bookings(world)] == [HOME, VIA, LATE]


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (
            {"journey_id": LATE, "new_journey_id": "FL_SK1_20260101"},
            f"journey_not_found: Journey {LATE} not found in reservation",
        ),
        (
            {"new_journey_id": "FL_SK1_20260101", "flight_number": "SK9"},
            "flight_not_found: Flight FL_SK1_20260101 not found",
        ),
        (
            {"new_journey_id": "FL_SK330_20260510", "flight_number": "SK9"},
            "not_bookable: Flight FL_SK330_20260510 is not available for booking",
        ),
        (
            {"flight_number": "sk200", "new_fare_class": "first"},
            f"flight_not_found: Flight sk200 not found in journey {HOME}",
        ),
        (
            {"new_fare_class": "premium_economy"},
            f"fare_class_not_available: Fare class 'premium_economy' is not available on flight {LATE}",
        ),
        (
            {"new_fare_class": "basic_economy"},
            f"no_seats_available: No seats available in basic_economy on flight {LATE}",
        ),
    ],
)
def test_what_cannot_be_rebooked(world: World, change: dict[str, Any], refusal: str) -> None:
    assert refused(world, "RebookFlightTool", **change) == refusal


def test_a_cancelled_journey_can_be_rebooked_all_the_same(world: World) -> None:
    use(world, "CancelReservationTool")
    assert use(world, "RebookFlightTool")["status"] == "success"


@pytest.mark.parametrize(
    ("reason", "fare_type", "fee", "refund", "credit"),
    [
        ("voluntary", "non_refundable", 100, 0, 80.0),
        ("medical", "non_refundable", 100, 0, 80.0),
        ("voluntary", "refundable", 0, 180.0, 0),
        ("irrops_refund", "non_refundable", 0, 180.0, 0),
        ("24_hour_rule", "non_refundable", 0, 180.0, 0),
    ],
)
def test_what_a_cancellation_entitles_to(
    world: World, reason: str, fare_type: str, fee: int, refund: float, credit: float
) -> None:
    world.db["reservations"]["ABC123"]["fare_type"] = fare_type
    result = use(world, "CancelReservationTool", cancellation_reason=reason)
    assert (
        result["is_refundable"],
        result["cancellation_fee"],
        result["refund_amount_eligible"],
        result["credit_amount_eligible"],
    ) == (fee == 0, fee, refund, credit)
    assert records(world) == [
        {
            "action_type": "cancel_reservation",
            **NUMBER,
            "journey_id": HOME,
            "cancellation_reason": reason,
            "is_refundable": fee == 0,
            "cancellation_fee": fee,
            "refund_amount_eligible": refund,
        }
    ]


def test_a_fare_below_the_fee_leaves_no_credit(world: World) -> None:
    bookings(world)[0]["fare_paid"] = 60.0
    assert use(world, "CancelReservationTool")["credit_amount_eligible"] == 0


def test_the_reservation_is_cancelled_with_its_last_journey(world: World) -> None:
    first = use(world, "CancelReservationTool")
    assert (first["reservation_status"], seats(world, HOME)) == ("active", [3])
    assert world.db["reservations"]["ABC123"]["status"] == "confirmed"
    assert refused(world, "CancelReservationTool") == (
        f"already_cancelled: Journey {HOME} is already cancelled"
    )
    assert use(world, "CancelReservationTool", journey_id=VIA)["reservation_status"] == "cancelled"
    assert world.db["reservations"]["ABC123"]["status"] == "cancelled"
    assert world.db["refunds"] == world.db["travel_credits"] == {}


def test_the_kept_part_of_a_journey_can_be_cancelled(world: World) -> None:
    use(world, "RebookFlightTool", journey_id=VIA, new_journey_id=ONWARD, flight_number="SK102")
    use(world, "CancelReservationTool", journey_id=VIA)
    assert [b["status"] for b in bookings(world)] == ["confirmed", "cancelled", "confirmed", "cancelled"]


@pytest.mark.parametrize(
    ("fare_class", "wish", "seat"),
    [
        ("main_cabin", "aisle", "21C"),
        ("main_cabin", "no_preference", "21C"),
        ("business", "window", "6A"),
        ("business", "middle", "6B"),
        ("premium_economy", "window", "11A"),
    ],
)
def test_a_seat_follows_from_class_and_wish(world: World, fare_class: str, wish: str, seat: str) -> None:
    bookings(world)[0]["fare_class"] = fare_class
    before = copy.deepcopy(world.db["journeys"])
    result = use(world, "AssignSeatTool", seat_preference=wish)
    assert result == {
        "status": "success",
        **NUMBER,
        "passenger_id": "PAX001",
        "journey_id": HOME,
        "flight_number": "SK200",
        "seat_assigned": seat,
        "fare_class": fare_class,
        "preference": wish,
        "message": f"Seat {seat} ({wish}) successfully assigned",
    }
    assert bookings(world)[0]["segments"][0]["seat"] == seat
    assert world.db["journeys"] == before
    assert records(world)[0]["seat_assigned"] == seat


def test_the_seat_of_a_flight_that_is_not_known_is_not_checked(world: World) -> None:
    del world.db["journeys"][HOME]
    assert use(world, "AssignSeatTool", seat_preference="window")["seat_assigned"] == "21A"


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"journey_id": LATE}, f"journey_not_found: Journey {LATE} not found in reservation"),
        (
            {"journey_id": VIA},
            f"flight_number_required: Journey {VIA} has 2 segments; flight_number is required",
        ),
        (
            {"journey_id": VIA, "flight_number": "SK200"},
            f"flight_not_found: Flight SK200 not found in journey {VIA}",
        ),
        (
            {"seat_preference": "window"},
            "seat_type_unavailable: No window seats available in main_cabin on this flight. "
            "Available types: aisle",
        ),
    ],
)
def test_what_seat_cannot_be_had(world: World, change: dict[str, Any], refusal: str) -> None:
    assert refused(world, "AssignSeatTool", **change) == refusal


def test_a_class_without_seats_has_none(world: World) -> None:
    bookings(world)[0]["fare_class"] = "first"
    assert refused(world, "AssignSeatTool") == "no_seats_available: No seats available in first fare class"


def test_a_passenger_id_that_is_too_short_for_a_seat_changes_nothing(world: World) -> None:
    before = copy.deepcopy(world.state)
    result = use(world, "AssignSeatTool", passenger_id="PAX1")
    assert result == {"error": "invalid literal for int() with base 10: 'AX1'"}
    assert world.state == before


@pytest.mark.parametrize(
    ("tool", "field", "value"),
    [("AddBaggageAllowanceTool", "bags_checked", 2), ("AddMealRequestTool", "meal_request", "kosher")],
)
def test_bags_and_meals_are_set_on_all_legs_or_on_one(
    world: World, tool: str, field: str, value: Any
) -> None:
    before = bookings(world)[1]["segments"][0][field]
    use(world, tool, journey_id=VIA, flight_number="SK102")
    assert [leg[field] for leg in bookings(world)[1]["segments"]] == [before, value]
    use(world, tool, journey_id=VIA)
    assert [leg[field] for leg in bookings(world)[1]["segments"]] == [value, value]
    assert [record["flight_number"] for record in records(world)] == ["SK102", None]
    assert refused(world, tool, journey_id=VIA, flight_number="SK200") == (
        f"flight_not_found: Flight SK200 not found in journey {VIA}"
    )


def test_a_standby_entry_stands_in_both_lists(world: World) -> None:
    world.db["reservations"]["ABC123"]["passengers"].append({"passenger_id": "PAX002"})
    result = use(world, "AddToStandbyTool", passenger_ids=["PAX001", "PAX002"])
    assert result["standby_list_position"] == 2
    assert result["message"] == "Added 2 passenger(s) to standby list"
    use(world, "AddToStandbyTool")
    assert world.db["reservations"]["ABC123"]["standby_list"] == [
        {"journey_id": LATE, "passenger_ids": ["PAX001", "PAX002"], "position": 2, "status": "pending"},
        {"journey_id": LATE, "passenger_ids": ["PAX001"], "position": 3, "status": "pending"},
    ]
    assert world.db["journeys"][LATE]["standby_list"] == [
        {**NUMBER, "passenger_id": "PAX001", "position": 1},
        {**NUMBER, "passenger_id": "PAX002", "position": 2},
        {**NUMBER, "passenger_id": "PAX001", "position": 3},
    ]


def test_standby_needs_a_journey_that_flies_and_passengers_that_are_booked(world: World) -> None:
    assert refused(world, "AddToStandbyTool", journey_id="FL_SK1_20260101") == (
        "flight_not_found: Flight FL_SK1_20260101 not found"
    )
    assert refused(world, "AddToStandbyTool", journey_id="FL_SK320_20260510") == (
        "flight_cancelled: Cannot add to standby for cancelled flight"
    )
    assert refused(world, "AddToStandbyTool", passenger_ids=["PAX7", "PAX001", "PAX8"]) == (
        "invalid_passengers: Unknown passenger ID(s): PAX7, PAX8"
    )


def test_standby_of_a_reservation_that_is_not_there_stands_in_the_journey_alone(world: World) -> None:
    result = use(world, "AddToStandbyTool", confirmation_number="zzz999", passenger_ids=["PAX9"])
    assert result["confirmation_number"] == "ZZZ999"
    assert world.db["journeys"][LATE]["standby_list"] == [
        {"confirmation_number": "ZZZ999", "passenger_id": "PAX9", "position": 1}
    ]
    assert "standby_list" not in world.db["reservations"]["ABC123"]


def test_refunds_are_counted_if_they_succeed(world: World) -> None:
    del world.db["refunds"]
    use(world, "ProcessRefundTool", refund_amount="12.50")
    refused(world, "ProcessRefundTool", confirmation_number="ZZZ999")
    result = use(world, "ProcessRefundTool", refund_type="ancillary_fees")
    assert result == {
        "status": "success",
        **NUMBER,
        "refund_id": "REF-ABC123-002",
        "refund_amount": 10.0,
        "refund_type": "ancillary_fees",
        "processing_days": 7,
        "message": "$10.0 refund initiated, processing time 7 business days",
    }
    assert list(world.db["refunds"]) == ["REF-ABC123-001", "REF-ABC123-002"]
    assert world.db["refunds"]["REF-ABC123-001"] == {
        "refund_id": "REF-ABC123-001",
        **NUMBER,
        "refund_amount": 12.5,
        "refund_type": "full_fare",
        "processing_days": 7,
        "initiated_date": "2026-05-09",
        "status": "processing",
    }


def test_a_travel_credit_is_good_for_a_year_and_replaces_the_one_before(world: World) -> None:
    use(world, "IssueTravelCreditTool", amount=1)
    result = use(world, "IssueTravelCreditTool")
    assert (result["credit_code"], result["valid_months"]) == ("TCABC123PAX", 12)
    assert result["message"] == "$80.0 travel credit issued with code TCABC123PAX"
    assert world.db["travel_credits"] == {
        "TCABC123PAX": {
            "credit_code": "TCABC123PAX",
            **NUMBER,
            "passenger_id": "PAX001",
            "amount": 80.0,
            "credit_reason": "goodwill",
            "issued_date": "2026-05-09",
            "expiry_date": "2027-05-09",
            "status": "active",
        }
    }


def test_hotel_vouchers_make_their_table_and_are_for_three_nights_at_most(world: World) -> None:
    assert refused(world, "IssueHotelVoucherTool", num_nights=4) == (
        "exceeds_authority: Hotel vouchers can be issued for maximum of 3 nights"
    )
    assert "hotel_vouchers" not in world.db
    result = use(world, "IssueHotelVoucherTool")
    assert result["message"] == "Hotel voucher issued with code HOTEL-ABC123 for 2 nights"
    assert (result["number_of_nights"], result["valid_at"]) == (2, "Any hotels in airport area")
    assert world.db["hotel_vouchers"] == {
        "HOTEL-ABC123": {
            "voucher_code": "HOTEL-ABC123",
            **NUMBER,
            "passenger_id": "PAX001",
            "num_nights": 2,
            "issued_date": "2026-05-09",
            "status": "active",
        }
    }


@pytest.mark.parametrize(
    ("reason", "amount"),
    [
        ("delay_over_2_hours", 12),
        ("delay_over_4_hours", 15),
        ("cancellation_wait_same_day", 15),
        ("irrops_overnight", 25),
    ],
)
def test_a_meal_voucher_is_worth_what_its_reason_says(world: World, reason: str, amount: int) -> None:
    result = use(world, "IssueMealVoucherTool", voucher_reason=reason)
    assert result["message"] == f"${amount} meal voucher issued with code MEAL-ABC123-PAX0"
    [voucher] = world.db["meal_vouchers"].values()
    assert (voucher["amount"], voucher["voucher_reason"], voucher["voucher_code"]) == (
        amount,
        reason,
        "MEAL-ABC123-PAX0",
    )
    assert records(world)[0]["amount"] == amount


def test_handovers_have_numbers_of_their_own_and_change_nothing(world: World) -> None:
    before = copy.deepcopy(world.db)
    use(world, "ProcessRefundTool", confirmation_number="ZZZ999")
    numbers = [use(world, "TransferToAgentTool")["transfer_id"] for _ in range(2)]
    assert numbers == ["TRF-ABC123-001", "TRF-ABC123-002"]
    assert world.db == before


def test_a_handover_ends_the_call_if_it_succeeded(call: Any, rtvi: Any) -> None:
    state = {"db": eva(), "__rtvi__": rtvi}
    tool = get_schema_tool_for_eval("TransferToAgentTool", DOMAIN, rtvi, state)
    journal = call(tool, ARGUMENTS["TransferToAgentTool"] | {"confirmation_number": "ZZZ999"})
    assert [kind for kind, _ in journal] == ["result"]
    journal.clear()
    call(tool, ARGUMENTS["TransferToAgentTool"])
    kinds = [kind for kind, _ in journal]
    assert ("message", {"text": "<exit>Transfer complete.</exit>"}) in journal
    assert kinds.index("result") < journal.index(("message", {"text": "<exit>Transfer complete.</exit>"}))


number = mostly("ABC123", "abc123", "ABC123", "ZZZ999")
passenger = mostly("PAX001", "PAX001", "PAX2")
journey_id = mostly(HOME, VIA, LATE, EARLY, ONWARD, LONG_WAY)
flight = mostly(None, None, "SK101", "SK102", "SK200")
day = mostly("2026-05-10", "2026-05-12")
amounts = mostly(1, 2.5, "3")
text = mostly(st.text(max_size=4))
on_journey = {"confirmation_number": number, "journey_id": journey_id}
for_passenger = {"confirmation_number": number, "passenger_id": passenger}
calls = st.lists(
    st.one_of(
        call("GetReservationTool", confirmation_number=number, last_name=mostly("Byron", "")),
        call("GetFlightStatusTool", flight_number=mostly("SK101", "SK300"), flight_date=day),
        call("GetDisruptionInfoTool", flight_number=mostly("SK101"), date=day),
        call(
            "SearchRebookingOptionsTool",
            origin=mostly("SFO", "DEN"),
            destination=mostly("DEN", "SFO"),
            date=day,
            passenger_count=mostly(1, 2),
            fare_class=mostly(*FARES, "any"),
        ),
        call(
            "RebookFlightTool",
            **on_journey,
            new_journey_id=journey_id,
            rebooking_type=mostly("voluntary", "same_day", "irrops_delay"),
            waive_change_fee=mostly(True, False),
            new_fare_class=mostly(None, *FARES),
            flight_number=flight,
        ),
        call("CancelReservationTool", **on_journey, cancellation_reason=mostly("voluntary", "24_hour_rule")),
        call(
            "ProcessRefundTool",
            confirmation_number=number,
            refund_amount=amounts,
            refund_type=mostly("full_fare"),
        ),
        call(
            "AssignSeatTool",
            **on_journey,
            passenger_id=passenger,
            seat_preference=mostly(*ALL, "no_preference"),
            flight_number=flight,
        ),
        call("AddBaggageAllowanceTool", **on_journey, num_bags=mostly(0, 5), flight_number=flight),
        call(
            "AddMealRequestTool",
            **on_journey,
            passenger_id=passenger,
            meal_type=mostly("none", "vegan"),
            flight_number=flight,
        ),
        call("AddToStandbyTool", **on_journey, passenger_ids=mostly(st.lists(passenger, max_size=2))),
        call("IssueTravelCreditTool", **for_passenger, amount=amounts, credit_reason=mostly("goodwill")),
        call("IssueHotelVoucherTool", **for_passenger, num_nights=mostly(1, 4)),
        call("IssueMealVoucherTool", **for_passenger, voucher_reason=mostly("delay_over_2_hours")),
        call("TransferToAgentTool", confirmation_number=number, transfer_reason=text, issue_summary=text),
    ),
    max_size=6,
)


@given(calls)
def test_no_sequence_of_calls_raises_or_spoils_the_database(calls: list[tuple[str, dict[str, Any]]]) -> None:
    seed = eva()
    db = assert_invoke_equals_execute(DOMAIN, seed, calls)
    assert db.keys() - {"hotel_vouchers"} == seed.keys()
    assert db["journeys"].keys() == seed["journeys"].keys()
    assert same_shape(db["journeys"], {key: _without_lists(row) for key, row in seed["journeys"].items()})
    reservation, like = db["reservations"]["ABC123"], seed["reservations"]["ABC123"]
    assert same_shape({**reservation, "bookings": []}, like)
    for booking in reservation["bookings"]:
        assert booking.keys() == like["bookings"][0].keys()
        assert all(leg.keys() == like["bookings"][0]["segments"][0].keys() for leg in booking["segments"])
        assert booking["segments"]


def _without_lists(journey: dict[str, Any]) -> dict[str, Any]:
    """Return a journey without what may be null or a list of anything."""
    return {key: value for key, value in journey.items() if key not in ("segments", "fares")}
