"""What an agent does in each scenario of eva's airline to reach the database that the dataset expects.

The dataset says only how its databases must end. These calls lead there; others may, too. One text a
scenario, calls in order, parted by semicolons:

``rebook OLD>NEW KIND``  a journey, without the ``FL_`` of its id; in its own class unless one follows
``seat PREFERENCE``      on the journey that was rebooked last
``cancel OLD``           a journey, as voluntary unless a reason follows
``refund AMOUNT TYPE``, ``credit AMOUNT REASON``, ``meal REASON``, ``hotel NIGHTS``, ``standby JOURNEY``

An empty text: what the caller wants is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pytest_voiceeval import Use

PASSENGER = "PAX001"

PLAYS = {
    "1.1.2": "rebook SK621_20260320>SK703_20260325 voluntary; seat window",
    "1.1.3": "rebook SK418_20260605>SK333_20260603 voluntary; seat aisle",
    "1.1.4": "rebook SK890_20260820>SK900_20260823 voluntary; seat aisle",
    "1.1.5": "rebook SK401_20261101>SK415_20261103 voluntary; seat aisle; "
    "rebook SK402_20261105>SK510_20261108 voluntary; seat aisle",
    "1.2.1": "rebook SK530_20260618>SK130_20260618 same_day; seat window",
    "1.2.2": "rebook SK701_20260505>SK721_20260505 same_day; seat window",
    "1.2.3": "rebook SK905_20260914>SK101_20260914 voluntary; seat aisle",
    "1.3.1": "rebook SK431_20260820>SK610_20260820 voluntary; seat aisle",
    "1.3.2": "rebook SK810_20260722>SK910_20260722 voluntary; seat aisle",
    "2.1.1": "rebook SK302_20260414>SK410_20260414 irrops_cancellation; seat aisle; "
    "meal cancellation_wait_same_day",
    "2.1.2": "rebook SK518_20260607>SK610_20260608 irrops_cancellation; seat aisle; "
    "meal irrops_overnight; hotel 1",
    "2.1.6": "cancel SK490_20260910 irrops_refund; refund 289 full_fare; refund 69 ancillary_fees",
    "2.2.2": "rebook SK877_20260808>SK915_20260808 irrops_delay; seat aisle; meal delay_over_4_hours",
    "2.2.4": "meal delay_over_2_hours",
    "2.2.5": "meal delay_over_2_hours",
    "2.3.2": "meal delay_over_2_hours",
    "2.3.4": "cancel SK660_20260825 irrops_refund; refund 342.5 full_fare; refund 74.98 ancillary_fees",
    "2.4.1": "rebook SK672_20260614>SK940_20260614 irrops_delay; seat window; "
    "meal cancellation_wait_same_day",
    "2.4.2": "meal delay_over_4_hours",
    "3.1.3": "standby SK330_20260611",
    "3.1.5": "rebook SK715_SK330_20260908>SK907_20260908 missed_connection_airline_fault; seat aisle",
    "3.3.4": "rebook SK412_20261205>SK412_20261226 voluntary; seat aisle",
    "4.1.1": "rebook SK810_20260514>SK402_20260514 same_day; seat aisle",
    "4.1.2": "rebook SK215_20260806>SK451_20260806 same_day; seat aisle",
    "4.1.3": "rebook SK460_20260623>SK450_20260623 same_day; seat aisle",
    "4.1.5": "rebook SK642_20260421>SK621_20260421 same_day; seat aisle",
    "4.2.1": "standby SK503_20260708",
    "4.2.4": "standby SK110_20261119; standby SK130_20261119",
    "4.2.5": "standby SK405_20260602",
    "5.1.1": "cancel SK642_20260520; refund 1285 full_fare",
    "5.1.2": "cancel SK214_20260822 24_hour_rule; refund 218.4 full_fare",
    "5.1.3": "cancel SK490_20260420 irrops_refund; refund 320 full_fare; refund 60 ancillary_fees",
    "5.1.5": "cancel SK411_20260727; credit 188 cancellation_non_refundable",
    "5.2.1": "cancel SK418_20261020; credit 229 cancellation_non_refundable",
    "5.2.2": "cancel SK142_20260410",
    "5.2.5": "",
    "5.2.6": "meal delay_over_2_hours",
    "6.1.1": "rebook SK432_20260721>SK501_20260722 irrops_cancellation; seat aisle; "
    "meal irrops_overnight; hotel 1",
    "6.1.4": "rebook SK621_20260617>SK733_20260616 voluntary; seat aisle",
    "6.3.1": "meal cancellation_wait_same_day",
    "6.3.4": "rebook SK745_20260605>SK901_20260605 irrops_delay; seat aisle; meal delay_over_4_hours",
    "7.1.1": "",
    "7.2.1": "rebook SK445_20260415>SK451_20260415 same_day basic_economy; seat aisle",
    "7.2.2": "",
    "7.2.5": "rebook SK184_20260326>SK112_20260325 voluntary; seat aisle",
    "7.2.6": "cancel SK642_20260721; credit 312 cancellation_non_refundable",
    "7.2.8": "",
    "7.2.9": "rebook SK444_20260609>SK422_20260609 same_day; seat aisle",
    "7.3.1": "",
    "7.4.1": "",
}


def uses(play: str, confirmation_number: str) -> list[Use]:
    """Return the calls of a play, for the one reservation that a scenario has."""
    return list(_Play(confirmation_number).calls(play))


class _Play:
    """The calls of a play, one after another."""

    def __init__(self, confirmation_number: str) -> None:
        self._number = confirmation_number
        self._rebooked = ""
        self._steps: dict[str, Callable[..., Use]] = {
            "rebook": self._rebook,
            "seat": self._seat,
            "cancel": self._cancel,
            "refund": self._refund,
            "credit": self._credit,
            "meal": self._meal,
            "hotel": self._hotel,
            "standby": self._standby,
        }

    def calls(self, play: str) -> Iterator[Use]:
        for step in filter(None, play.split(";")):
            name, *words = step.split()
            yield self._steps[name](*words)

    def _use(self, tool: str, **arguments: Any) -> Use:
        return Use(tool, {"confirmation_number": self._number, **arguments}, writes=True)

    def _rebook(self, journeys: str, kind: str, fare_class: str | None = None) -> Use:
        old, new = (f"FL_{journey}" for journey in journeys.split(">"))
        self._rebooked = new
        return self._use(
            "RebookFlightTool",
            journey_id=old,
            new_journey_id=new,
            rebooking_type=kind,
            waive_change_fee=False,
            **({"new_fare_class": fare_class} if fare_class else {}),
        )

    def _seat(self, preference: str) -> Use:
        return self._use(
            "AssignSeatTool",
            passenger_id=PASSENGER,
            journey_id=self._rebooked,
            seat_preference=preference,
        )

    def _cancel(self, journey: str, reason: str = "voluntary") -> Use:
        return self._use("CancelReservationTool", journey_id=f"FL_{journey}", cancellation_reason=reason)

    def _refund(self, amount: str, kind: str) -> Use:
        return self._use("ProcessRefundTool", refund_amount=float(amount), refund_type=kind)

    def _credit(self, amount: str, reason: str) -> Use:
        return self._use(
            "IssueTravelCreditTool", passenger_id=PASSENGER, amount=float(amount), credit_reason=reason
        )

    def _meal(self, reason: str) -> Use:
        return self._use("IssueMealVoucherTool", passenger_id=PASSENGER, voucher_reason=reason)

    def _hotel(self, nights: str) -> Use:
        return self._use("IssueHotelVoucherTool", passenger_id=PASSENGER, num_nights=int(nights))

    def _standby(self, journey: str) -> Use:
        return self._use("AddToStandbyTool", journey_id=f"FL_{journey}", passenger_ids=[PASSENGER])
