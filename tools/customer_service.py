"""Tools of a customer-service line. Accounts lie in the shared state under ``accounts``, by their id.

An account holds its orders under ``orders``, by their id; amounts are texts such as ``$1,234.56``.
"""

from __future__ import annotations

import copy
import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from pytest_voiceeval.tools import (
    SendScenarioSummaryTool,
    StandardSchemaTool,
    register_schema_tool_for_eval,
)

from ._money import difference, format_money, parse_amount, parse_money

Account = dict[str, Any]

RESOLUTION_TYPES = ("refund", "replacement", "information", "escalation", "account_change")
ACCOUNT_ID = {"type": "string", "description": "Id of the account, such as TC1234."}
ORDER_ID = {"type": "string", "description": "Id of the order, such as OR5678."}


def _no_account(account_id: Any) -> dict[str, str]:
    return {"error": f"Account '{account_id}' not found."}


def _found(table: dict[str, Any], key: Any) -> Any:
    """Return the entry of ``table`` under ``key``, which a model gave and so may be anything."""
    return table.get(key) if isinstance(key, str) else None


class _AccountTool(StandardSchemaTool):
    """Base: looks up the account that a call names, then does its work on it.

    An empty table is planted where there is none, so a scenario lists ``LookupAccountTool`` first: that
    one can seed it. Arguments that a tool does not know are ignored; results are copies.
    """

    def __init__(self, *, shared_state: dict[str, Any] | None = None, description: str | None = None) -> None:
        super().__init__(description=description)
        self.state: dict[str, Any] = {} if shared_state is None else shared_state
        self.state.setdefault("accounts", {})

    @property
    def properties(self) -> dict[str, Any]:
        return {"account_id": ACCOUNT_ID}

    @property
    def required_properties(self) -> list[str]:
        return list(self.properties)

    async def _execute(self, account_id: Any = None, **arguments: Any) -> Any:
        account = _found(self.state["accounts"], account_id)
        if account is None:
            return _no_account(account_id)
        known = {name: arguments.get(name) for name in self.properties if name != "account_id"}
        return copy.deepcopy(self._work(account_id, account, **known))

    @abstractmethod
    def _work(self, account_id: str, account: Account, **arguments: Any) -> Any:
        """Return the result for the arguments that ``properties`` name; a missing one is ``None``."""


class _OrderTool(_AccountTool):
    """Base: looks up the order, too."""

    @property
    def properties(self) -> dict[str, Any]:
        return {"account_id": ACCOUNT_ID, "order_id": ORDER_ID}

    def _work(self, account_id: str, account: Account, *, order_id: Any = None, **arguments: Any) -> Any:
        order = _found(account.get("orders") or {}, order_id)
        if order is None:
            return {"error": f"Order '{order_id}' not found for account '{account_id}'."}
        return self._work_on_order(account_id, order_id, order, **arguments)

    @abstractmethod
    def _work_on_order(self, account_id: str, order_id: str, order: dict[str, Any], **arguments: Any) -> Any:
        """Return the result for the remaining arguments."""


@register_schema_tool_for_eval
class LookupAccountTool(_AccountTool):
    """Returns an account; seeds all accounts."""

    description = "Get an account with its plan, balance, latest charges and orders."

    def __init__(
        self,
        *,
        shared_state: dict[str, Any] | None = None,
        accounts: str | dict[str, Account] = "{}",
        description: str | None = None,
    ) -> None:
        state = {} if shared_state is None else shared_state
        if "accounts" not in state:
            state["accounts"] = _given(accounts)
        super().__init__(shared_state=state, description=description)

    def _work(self, account_id: str, account: Account, **_: Any) -> Any:
        return account


@register_schema_tool_for_eval
class CheckOrderStatusTool(_OrderTool):
    """Returns an order."""

    description = "Get an order of an account: what was ordered, its status and its delivery."

    def _work_on_order(self, account_id: str, order_id: str, order: dict[str, Any], **_: Any) -> Any:
        return order


@register_schema_tool_for_eval
class ProcessRefundTool(_AccountTool):
    """Takes an amount off the balance, and lists it among the latest charges."""

    description = "Refund an amount to an account. It shows up at once among the latest charges."

    @property
    def properties(self) -> dict[str, Any]:
        return {
            "account_id": ACCOUNT_ID,
            "amount": {"type": "number", "description": "How much is paid back, in dollars."},
            "description": {"type": "string", "description": "What the refund is for."},
            "date": {"type": "string", "description": "Date of the refund, as YYYY-MM-DD."},
        }

    def _work(
        self,
        account_id: str,
        account: Account,
        *,
        amount: Any = None,
        description: Any = None,
        date: Any = None,
        **_: Any,
    ) -> Any:
        refund = parse_amount(amount)
        balance = difference(parse_money(account.get("balance") or "$0.00"), refund)
        entry = {
            "description": f"Refund - {description}",
            "amount": format_money(refund.copy_negate()),
            "date": date,
        }
        account.setdefault("recent_charges", []).append(entry)
        account["balance"] = format_money(balance)
        return {
            "success": True,
            "account_id": account_id,
            "refund_entry": entry,
            "new_balance": account["balance"],
            "account": account,
        }


@register_schema_tool_for_eval
class StartItemReturnTool(_OrderTool):
    """Marks an order as being returned."""

    description = "Start the return of an order, for a refund or a replacement."

    @property
    def properties(self) -> dict[str, Any]:
        reason = {"type": "string", "description": "Why the customer sends it back."}
        return {**super().properties, "reason": reason}

    def _work_on_order(
        self, account_id: str, order_id: str, order: dict[str, Any], *, reason: Any = None, **_: Any
    ) -> Any:
        order.update(status="Return Started", return_reason=reason)
        return {"success": True, "account_id": account_id, "order_id": order_id, "order": order}


@register_schema_tool_for_eval
class ChangePlanTool(_AccountTool):
    """Moves an account to another plan of the table that the scenario gives (plan to monthly rate)."""

    description = "Move an account to another plan, at that plan's monthly rate."

    def __init__(
        self,
        *,
        shared_state: dict[str, Any] | None = None,
        plans: str | dict[str, str] = "{}",
        description: str | None = None,
    ) -> None:
        super().__init__(shared_state=shared_state, description=description)
        self.plans: dict[str, str] = _given(plans)

    @property
    def properties(self) -> dict[str, Any]:
        names = f", one of: {', '.join(self.plans)}" if self.plans else ""
        plan = {"type": "string", "description": f"Name of the new plan{names}."}
        return {"account_id": ACCOUNT_ID, "new_plan": plan}

    def _work(self, account_id: str, account: Account, *, new_plan: Any = None, **_: Any) -> Any:
        rate = _found(self.plans, new_plan)
        if rate is None:
            return {"error": f"Plan '{new_plan}' not found. Available plans: {', '.join(self.plans)}."}
        account.update(plan=new_plan, monthly_rate=rate)
        return {
            "success": True,
            "account_id": account_id,
            "new_plan": new_plan,
            "new_monthly_rate": rate,
            "account": account,
        }


@register_schema_tool_for_eval
class UnlockAccountTool(_AccountTool):
    """Opens a locked account, and forgets its failed logins."""

    description = "Unlock an account whose owner can't log in any more, and reset its failed logins."

    def _work(self, account_id: str, account: Account, **_: Any) -> Any:
        account.update(account_status="Active", failed_login_attempts="0")
        return {"success": True, "account_id": account_id, "account": account}


@register_schema_tool_for_eval
class CancelSubscriptionTool(_AccountTool):
    """Ends the plan of an account."""

    description = "Cancel the plan of an account. Nothing is charged for it any more."

    def _work(self, account_id: str, account: Account, **_: Any) -> Any:
        account.update(plan="Canceled", monthly_rate="$0.00")
        return {"success": True, "account_id": account_id, "account": account}


@register_schema_tool_for_eval
class ResolveTicketTool(SendScenarioSummaryTool):
    """Reports how a call was resolved, and the account as it is then, as the outcome of the call."""

    description = "Close the ticket of this call. Use it once, after everything else is done."

    def __init__(
        self,
        *,
        rtvi: Any = None,
        shared_state: dict[str, Any] | None = None,
        resolution_types: str | Sequence[str] = RESOLUTION_TYPES,
        description: str | None = None,
    ) -> None:
        super().__init__(rtvi=rtvi, description=description)
        self.state: dict[str, Any] = {} if shared_state is None else shared_state
        self.state.setdefault("accounts", {})
        self.resolution_types: list[str] = list(_given(resolution_types))

    @property
    def properties(self) -> dict[str, Any]:
        return {
            "account_id": ACCOUNT_ID,
            "issue_summary": {"type": "string", "description": "What the customer called about."},
            "resolution_type": {
                "type": "string",
                "enum": self.resolution_types,
                "description": "What kind of resolution it is.",
            },
            "resolution_details": {"type": "string", "description": "What was done about it."},
        }

    @property
    def required_properties(self) -> list[str]:
        return list(self.properties)

    async def _execute(
        self,
        account_id: Any = None,
        issue_summary: Any = None,
        resolution_type: Any = None,
        resolution_details: Any = None,
        **_ignored: Any,
    ) -> dict[str, Any]:
        account = _found(self.state["accounts"], account_id)
        await self._send_summary(
            {
                "issue_summary": issue_summary,
                "resolution_type": resolution_type,
                "resolution_details": resolution_details,
                "account_id": account_id,
                "account": {} if account is None else account,
            }
        )
        return {"success": True, "message": "Ticket resolved successfully."}


def _given(value: Any) -> Any:
    """Return a constructor's argument as the tool's own: scenarios give JSON as text or as it is."""
    return json.loads(value) if isinstance(value, str) else copy.deepcopy(value)
