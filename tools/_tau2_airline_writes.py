"""The airline's tools that change reservations and customers."""

from __future__ import annotations

from pydantic import Field

from pytest_voiceeval.tools import CheckedWriteTool, Params, ToolRefusal

from ._tau2 import Row, Whole, success
from ._tau2_airline_reads import ReservationParams
from ._tau2_airline_rows import (
    BAG_PRICE,
    Cabin,
    FlightChoice,
    Passenger,
    charge,
    check_seats,
    dumped,
    flight_leg,
    flight_row,
    reservation_row,
    user_row,
)

CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")

RESERVATION_ID = "Six letters and digits, such as 'A1B2C3'."
PAYMENT_ID = "Id of the credit card or gift card that is charged, or gets a refund."


class CertificateParams(Params):
    """Parameters of a certificate."""

    user_id: str = Field(description="Id of the customer, such as 'jane_doe_1234'.")
    amount: Whole = Field(description="Worth in dollars.")


class BaggageParams(Params):
    """Parameters of a change of bags."""

    reservation_id: str = Field(description=RESERVATION_ID)
    total_baggages: Whole = Field(description="Number of all checked bags after the change.")
    nonfree_baggages: Whole = Field(description="How many of them are not free.")
    payment_id: str = Field(description=PAYMENT_ID)


class FlightsParams(Params):
    """Parameters of a change of flights."""

    reservation_id: str = Field(description=RESERVATION_ID)
    cabin: Cabin = Field(description="Cabin of all flights after the change.")
    flights: list[FlightChoice] = Field(
        description="All flights of the itinerary after the change, also those that stay as they are."
    )
    payment_id: str = Field(description=PAYMENT_ID)


class PassengersParams(Params):
    """Parameters of a change of passengers."""

    reservation_id: str = Field(description=RESERVATION_ID)
    passengers: list[Passenger] = Field(description="All passengers after the change; as many as before.")


class CancelReservationTool(CheckedWriteTool[ReservationParams]):
    """Cancels a reservation, and notes that all payments are paid back."""

    description = "Cancel a whole reservation. All payments are refunded to where they came from."
    PARAMS_MODEL = ReservationParams

    def run(self, params: ReservationParams) -> Row:
        reservation = reservation_row(self.db, params.reservation_id)
        history = reservation["payment_history"]
        for entry in list(history):
            history.append({"payment_id": entry["payment_id"], "amount": -entry["amount"]})
        reservation["status"] = "cancelled"
        self.record_call(params, {"reservation_id": params.reservation_id, "status": "cancelled"})
        return reservation


class SendCertificateTool(CheckedWriteTool[CertificateParams]):
    """Gives a customer a certificate."""

    description = "Give a customer a travel certificate. Only where the policy allows the compensation."
    PARAMS_MODEL = CertificateParams

    def run(self, params: CertificateParams) -> Row:
        methods = user_row(self.db, params.user_id)["payment_methods"]
        payment_id = next((number for number in CERTIFICATE_IDS if number not in methods), None)
        if payment_id is None:
            raise ToolRefusal("value_error", "Too many certificates")
        methods[payment_id] = {
            "source": "certificate",
            "id": payment_id,
            "amount": float(params.amount),
        }
        self.record_call(params, {"payment_id": payment_id, "amount": params.amount})
        return success(
            message=f"Certificate {payment_id} added to user {params.user_id} with amount {params.amount}."
        )


class UpdateReservationBaggagesTool(CheckedWriteTool[BaggageParams]):
    """Changes the bags of a reservation; more bags that are not free are charged, fewer are not refunded."""

    description = "Change the number of checked bags of a reservation."
    PARAMS_MODEL = BaggageParams

    def run(self, params: BaggageParams) -> Row:
        reservation = reservation_row(self.db, params.reservation_id)
        user = user_row(self.db, reservation["user_id"])
        total = BAG_PRICE * max(0, params.nonfree_baggages - reservation["nonfree_baggages"])
        charge(user, reservation, params.payment_id, total)
        reservation["total_baggages"] = params.total_baggages
        reservation["nonfree_baggages"] = params.nonfree_baggages
        self.record_call(params, {"reservation_id": params.reservation_id, "charged": total})
        return reservation


class UpdateReservationFlightsTool(CheckedWriteTool[FlightsParams]):
    """Changes flights or cabin of a reservation; the difference in price is charged or refunded."""

    description = (
        "Change the flights or the cabin of a reservation. Give the whole new itinerary; the difference in "
        "price is charged or refunded."
    )
    PARAMS_MODEL = FlightsParams

    def run(self, params: FlightsParams) -> Row:
        reservation = reservation_row(self.db, params.reservation_id)
        user = user_row(self.db, reservation["user_id"])
        passengers = len(reservation["passengers"])
        legs = [self._leg(reservation, choice, params.cabin, passengers) for choice in params.flights]
        paid = sum(leg["price"] for leg in reservation["flights"]) * passengers
        total = sum(leg["price"] for leg in legs) * passengers - paid
        charge(user, reservation, params.payment_id, total)
        reservation["flights"] = legs
        reservation["cabin"] = params.cabin.value
        self.record_call(params, {"reservation_id": params.reservation_id, "charged": total})
        return reservation

    def _leg(self, reservation: Row, choice: FlightChoice, cabin: Cabin, passengers: int) -> Row:
        """Return the leg for one flight of the new itinerary; a flight that is kept keeps its price."""
        if cabin.value == reservation["cabin"]:
            for leg in reservation["flights"]:
                if (leg["flight_number"], leg["date"]) == (choice.flight_number, choice.date):
                    kept: Row = leg
                    return kept
        flight = flight_row(self.db, choice.flight_number)
        if flight is None:
            raise ToolRefusal("not_found", f"Flight {choice.flight_number} not found")
        check_seats(flight["dates"].get(choice.date, {"status": "absent"}), choice, cabin, passengers)
        return flight_leg(flight, choice, cabin)


class UpdateReservationPassengersTool(CheckedWriteTool[PassengersParams]):
    """Changes who flies."""

    description = "Correct or replace the passengers of a reservation; their number stays as it is."
    PARAMS_MODEL = PassengersParams

    def run(self, params: PassengersParams) -> Row:
        reservation = reservation_row(self.db, params.reservation_id)
        if len(params.passengers) != len(reservation["passengers"]):
            raise ToolRefusal("value_error", "Number of passengers does not match")
        reservation["passengers"] = dumped(params.passengers)
        self.record_call(params, {"reservation_id": params.reservation_id})
        return reservation
