"""The shop's tools that only look things up."""

from __future__ import annotations

import json

from pydantic import Field

from pytest_voiceeval.tools import CheckedTool, NoParams, Params, ToolRefusal

from ._tau2 import Row, success
from ._tau2_retail_rows import OrderParams, UserParams, order_row, user_row


class NameZipParams(Params):
    """Parameters of a search by name and zip code."""

    first_name: str = Field(description="First name of the customer.")
    last_name: str = Field(description="Last name of the customer.")
    zip: str = Field(description="Zip code of the customer's address, such as '10001'.")


class EmailParams(Params):
    """Parameters of a search by email address."""

    email: str = Field(description="Email address of the customer.")


class ProductParams(Params):
    """Parameters of tools about a product."""

    product_id: str = Field(description="Id of the product, ten digits; not that of an item.")


class ItemParams(Params):
    """Parameters of tools about an item."""

    item_id: str = Field(description="Id of the item, ten digits; not that of a product.")


class FindUserIdByNameZipTool(CheckedTool[NameZipParams]):
    """Finds a customer by name and zip code."""

    description = "Find the id of a customer by name and zip code."
    PARAMS_MODEL = NameZipParams

    def run(self, params: NameZipParams) -> Row:
        wanted = (params.first_name.lower(), params.last_name.lower(), params.zip)
        users = self.db["users"]
        for user_id in users:
            name, address = users[user_id]["name"], users[user_id]["address"]
            if (name["first_name"].lower(), name["last_name"].lower(), address["zip"]) == wanted:
                return success(user_id=user_id)
        raise ToolRefusal("not_found", "User not found")


class FindUserIdByEmailTool(CheckedTool[EmailParams]):
    """Finds a customer by email address."""

    description = "Find the id of a customer by email address."
    PARAMS_MODEL = EmailParams

    def run(self, params: EmailParams) -> Row:
        users = self.db["users"]
        for user_id in users:
            if users[user_id]["email"].lower() == params.email.lower():
                return success(user_id=user_id)
        raise ToolRefusal("not_found", "User not found")


class GetOrderDetailsTool(CheckedTool[OrderParams]):
    """Returns an order."""

    description = "Look up an order: its state, items, address, deliveries and payments."
    PARAMS_MODEL = OrderParams

    def run(self, params: OrderParams) -> Row:
        return order_row(self.db, params.order_id)


class GetProductDetailsTool(CheckedTool[ProductParams]):
    """Returns a product."""

    description = "Look up a product: all its variants with options, price and availability."
    PARAMS_MODEL = ProductParams

    def run(self, params: ProductParams) -> Row:
        row: Row | None = self.db["products"].get(params.product_id)
        if row is None:
            raise ToolRefusal("not_found", f"Product {params.product_id} not found")
        return row


class GetItemDetailsTool(CheckedTool[ItemParams]):
    """Returns a variant of a product."""

    description = "Look up an item: its options, price and availability."
    PARAMS_MODEL = ItemParams

    def run(self, params: ItemParams) -> Row:
        for product in self.db["products"].values():
            if params.item_id in product["variants"]:
                row: Row = product["variants"][params.item_id]
                return row
        raise ToolRefusal("not_found", f"Item {params.item_id} not found")


class GetUserDetailsTool(CheckedTool[UserParams]):
    """Returns a customer."""

    description = "Look up a customer: name, address, payment methods, and the numbers of all orders."
    PARAMS_MODEL = UserParams

    def run(self, params: UserParams) -> Row:
        return user_row(self.db, params.user_id)


class ListAllProductTypesTool(CheckedTool[NoParams]):
    """Returns the products by name."""

    description = "List all products by name, with their ids."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> Row:
        ids = {product["name"]: product["product_id"] for product in self.db["products"].values()}
        return success(product_types=json.dumps(ids, sort_keys=True))
