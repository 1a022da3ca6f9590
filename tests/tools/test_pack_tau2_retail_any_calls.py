"""Any calls of the tools of tau2's shop, in any order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from retail_calls import ADDRESS, DOMAIN
from small_worlds import assert_invoke_equals_execute, call, mostly, retail, same_shape

order_id = mostly("#W1", "#W2", "w2", "#W3")
user_id = mostly("ada_byron_1000", "bob_stone_2000")
method = mostly("credit_card_1", "paypal_1", "gift_card_1")
items = mostly(st.lists(st.sampled_from(["m1", "m2", "m3", "m4_", "l1", "l2"]), max_size=3))
address = {key: mostly(value) for key, value in ADDRESS.items()}
exchange = {
    "order_id": order_id,
    "item_ids": items,
    "new_item_ids": items,
    "payment_method_id": method,
}
calls = st.lists(
    st.one_of(
        call(
            "FindUserIdByNameZipTool",
            first_name=mostly("Ada"),
            last_name=mostly("Byron"),
            zip=mostly("89501"),
        ),
        call("FindUserIdByEmailTool", email=mostly("ada@example.com")),
        call("GetOrderDetailsTool", order_id=order_id),
        call("GetProductDetailsTool", product_id=mostly("P1")),
        call("GetItemDetailsTool", item_id=mostly("m1")),
        call("GetUserDetailsTool", user_id=user_id),
        call("ListAllProductTypesTool"),
        call("CancelPendingOrderTool", order_id=order_id, reason=mostly("no longer needed")),
        call("ModifyPendingOrderAddressTool", order_id=order_id, **address),
        call("ModifyPendingOrderItemsTool", **exchange),
        call("ExchangeDeliveredOrderItemsTool", **exchange),
        call("ModifyPendingOrderPaymentTool", order_id=order_id, payment_method_id=method),
        call("ModifyUserAddressTool", user_id=user_id, **address),
        call("ReturnDeliveredOrderItemsTool", order_id=order_id, item_ids=items, payment_method_id=method),
        call("TransferToHumanAgentsTool", summary=mostly("stuck")),
    ),
    max_size=5,
)


@given(calls)
def test_no_sequence_of_calls_raises_or_spoils_the_database(calls: list[tuple[str, dict[str, Any]]]) -> None:
    seed = retail()
    db = assert_invoke_equals_execute(DOMAIN, seed, calls)
    assert {table: list(rows) for table, rows in db.items()} == {
        table: list(rows) for table, rows in seed.items()
    }
    assert same_shape(db, seed)
    for order in db["orders"].values():
        assert all(entry["amount"] >= 0 for entry in order["payment_history"])
