"""Tools of the shop of tau2: customers, products, orders."""

from __future__ import annotations

from pytest_voiceeval.tools import register_schema_tool_for_eval

from ._tau2 import CalculateTool, TransferToHumanAgentsTool
from ._tau2_retail_delivered import ExchangeDeliveredOrderItemsTool, ReturnDeliveredOrderItemsTool
from ._tau2_retail_pending import (
    CancelPendingOrderTool,
    ModifyPendingOrderAddressTool,
    ModifyPendingOrderItemsTool,
    ModifyPendingOrderPaymentTool,
    ModifyUserAddressTool,
)
from ._tau2_retail_reads import (
    FindUserIdByEmailTool,
    FindUserIdByNameZipTool,
    GetItemDetailsTool,
    GetOrderDetailsTool,
    GetProductDetailsTool,
    GetUserDetailsTool,
    ListAllProductTypesTool,
)

DOMAIN = "tau2_retail"
TOOLS = (
    FindUserIdByNameZipTool,
    FindUserIdByEmailTool,
    GetOrderDetailsTool,
    GetProductDetailsTool,
    GetItemDetailsTool,
    GetUserDetailsTool,
    ListAllProductTypesTool,
    CancelPendingOrderTool,
    ExchangeDeliveredOrderItemsTool,
    ModifyPendingOrderAddressTool,
    ModifyPendingOrderItemsTool,
    ModifyPendingOrderPaymentTool,
    ModifyUserAddressTool,
    ReturnDeliveredOrderItemsTool,
    CalculateTool,
    TransferToHumanAgentsTool,
)

for _tool in TOOLS:
    register_schema_tool_for_eval(DOMAIN)(_tool)
