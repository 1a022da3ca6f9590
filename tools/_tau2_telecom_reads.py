"""The operator's tools that look something up."""

from __future__ import annotations

from pydantic import Field

from pytest_voiceeval.tools import Params

from ._tau2_telecom_rows import (
    OperatorTool,
    Row,
    bills_of,
    customer_row,
    find,
    month,
    owned_line,
    plan_of,
    refused,
    today,
)

CUSTOMER_ID = "Id of the customer, such as 'C1001'."
LINE_ID = "Id of the line, such as 'L1001'."


class PhoneParams(Params):
    """Parameters of a search by number."""

    phone_number: str = Field(description="Phone number with dashes, such as '555-123-2002'.")


class CustomerParams(Params):
    """Parameters of a look at a customer."""

    customer_id: str = Field(description=CUSTOMER_ID)


class NameParams(Params):
    """Parameters of a search by name."""

    full_name: str = Field(description="First and last name.")
    dob: str = Field(description="Date of birth, as YYYY-MM-DD.")


class IdParams(Params):
    """Parameters of a look at any record."""

    id: str = Field(
        description="Id whose first letter says of what: L line, D device, B bill, C customer, P plan."
    )


class BillsParams(Params):
    """Parameters of a list of bills."""

    customer_id: str = Field(description=CUSTOMER_ID)
    limit: int = Field(default=12, description="How many bills at most, newest first.")


class LineParams(Params):
    """Parameters of whatever concerns one line of a customer."""

    customer_id: str = Field(description=CUSTOMER_ID)
    line_id: str = Field(description=LINE_ID)


class GetCustomerByPhoneTool(OperatorTool[PhoneParams]):
    """Finds the customer who has a number, as their own or as that of a line."""

    name = "get_customer_by_phone"
    description = "Find a customer by a phone number: their own, or that of one of their lines."
    PARAMS_MODEL = PhoneParams

    def run(self, params: PhoneParams) -> Row:
        number = params.phone_number
        for customer in self.db["customers"]:
            lines = (find(self.db["lines"], "line_id", line_id) for line_id in customer["line_ids"])
            numbers = [customer["phone_number"], *(line["phone_number"] for line in lines if line)]
            if number in numbers:
                return customer  # type: ignore[no-any-return]  # a database holds anything
        raise refused(f"Customer with phone number {number} not found")


class GetCustomerByIdTool(OperatorTool[CustomerParams]):
    """Looks a customer up."""

    name = "get_customer_by_id"
    description = "Look a customer up by id."
    PARAMS_MODEL = CustomerParams

    def run(self, params: CustomerParams) -> Row:
        return customer_row(self.db, params.customer_id)


class GetCustomerByNameTool(OperatorTool[NameParams]):
    """Finds the customers of a name who were born on a day."""

    name = "get_customer_by_name"
    description = "Find customers by full name and date of birth. Several people may have both in common."
    PARAMS_MODEL = NameParams

    def run(self, params: NameParams) -> list[Row]:
        return [
            customer
            for customer in self.db["customers"]
            if customer["full_name"].lower() == params.full_name.lower()
            and customer["date_of_birth"] == params.dob
        ]


class GetDetailsByIdTool(OperatorTool[IdParams]):
    """Looks any record up."""

    name = "get_details_by_id"
    description = "Look up a line, a device, a bill, a customer or a plan by its id."
    PARAMS_MODEL = IdParams

    TABLES = {  # noqa: RUF012 - never changed
        "L": ("lines", "line_id"),
        "D": ("devices", "device_id"),
        "B": ("bills", "bill_id"),
        "C": ("customers", "customer_id"),
        "P": ("plans", "plan_id"),
    }

    def run(self, params: IdParams) -> Row:
        if params.id[:1] not in self.TABLES:
            raise refused(f"Unknown ID format or type: {params.id}")
        table, key = self.TABLES[params.id[0]]
        row = find(self.db[table], key, params.id)
        if row is None:
            raise refused(f"Object with ID {params.id} not found")
        return row


class GetBillsForCustomerTool(OperatorTool[BillsParams]):
    """Lists a customer's bills, newest first."""

    name = "get_bills_for_customer"
    description = "List the bills of a customer, newest first."
    PARAMS_MODEL = BillsParams

    def run(self, params: BillsParams) -> list[Row]:
        bills = bills_of(self.db, customer_row(self.db, params.customer_id))
        newest_first = sorted(bills, key=lambda bill: str(bill["issue_date"]), reverse=True)
        return newest_first[: params.limit]


class GetDataUsageTool(OperatorTool[LineParams]):
    """Tells how much data a line has used in this cycle."""

    name = "get_data_usage"
    description = "Tell how much data a line has used in this billing cycle, of how much, and when it ends."
    PARAMS_MODEL = LineParams

    def run(self, params: LineParams) -> Row:
        line = owned_line(self.db, params.customer_id, params.line_id)
        plan = plan_of(self.db, line)
        if plan is None:
            raise refused(f"Plan {line['plan_id']} not found for line {params.line_id}")
        return {
            "line_id": params.line_id,
            "data_used_gb": line["data_used_gb"],
            "data_limit_gb": plan["data_limit_gb"],
            "data_refueling_gb": line["data_refueling_gb"],
            "cycle_end_date": month(today())[1].isoformat(),
        }


READS = (
    GetCustomerByPhoneTool,
    GetCustomerByIdTool,
    GetCustomerByNameTool,
    GetDetailsByIdTool,
    GetBillsForCustomerTool,
    GetDataUsageTool,
)

__all__ = ["CUSTOMER_ID", "LINE_ID", "READS", "LineParams"]
