"""Tools of a restaurant's waitlist, which lies in the shared state under ``waitlist``."""

from __future__ import annotations

import copy
import json
from abc import ABC
from typing import Any

from pytest_voiceeval.tools import SendScenarioSummaryTool, register_schema_tool_for_eval

Entry = dict[str, Any]


class _WaitlistTool(SendScenarioSummaryTool, ABC):
    """Base: the list of the shared state; an empty one is planted where there is none.

    A scenario lists ``JoinWaitListTool`` first, for that one can seed the list.
    """

    def __init__(
        self,
        *,
        rtvi: Any = None,
        shared_state: dict[str, Any] | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(rtvi=rtvi, description=description)
        self.state: dict[str, Any] = {} if shared_state is None else shared_state
        self.state.setdefault("waitlist", [])

    @property
    def waitlist(self) -> list[Entry]:
        """The list itself, first in line first."""
        return self.state["waitlist"]  # type: ignore[no-any-return]  # the state holds anything

    @property
    def properties(self) -> dict[str, Any]:
        return {}

    @property
    def required_properties(self) -> list[str]:
        return list(self.properties)


@register_schema_tool_for_eval
class JoinWaitListTool(_WaitlistTool):
    """Adds a party to the end of the list, and reports the list."""

    description = "Put a party on the waitlist. Returns its position."

    def __init__(
        self,
        *,
        rtvi: Any = None,
        shared_state: dict[str, Any] | None = None,
        initial_waitlist: str | list[Entry] = "[]",
        description: str | None = None,
    ) -> None:
        state = {} if shared_state is None else shared_state
        if "waitlist" not in state:
            seed = json.loads(initial_waitlist) if isinstance(initial_waitlist, str) else initial_waitlist
            state["waitlist"] = copy.deepcopy(seed)
        super().__init__(rtvi=rtvi, shared_state=state, description=description)

    @property
    def properties(self) -> dict[str, Any]:
        return {
            "name": {"type": "string", "description": "Name of the customer."},
            "phone": {"type": "string", "description": "Phone number, such as 314-555-0100."},
            "party_size": {"type": "integer", "description": "How many people come."},
        }

    async def _execute(
        self, name: str | None = None, phone: str | None = None, party_size: int | None = None
    ) -> dict[str, Any]:
        customer = {"name": name, "phone": phone, "party_size": party_size}
        self.waitlist.append(customer)
        await self._send_summary({"waitlist": self.waitlist, "action": "join", "customer": customer})
        return {
            "success": True,
            "message": f"{name} has been added to the waitlist.",
            "position": len(self.waitlist),
            "total_in_waitlist": len(self.waitlist),
        }


@register_schema_tool_for_eval
class DropWaitListTool(_WaitlistTool):
    """Takes a party off the list, and reports the list, also if nobody had that name."""

    description = "Take a party off the waitlist, by the name that it is listed under."

    @property
    def properties(self) -> dict[str, Any]:
        return {"name": {"type": "string", "description": "Name as it stands on the waitlist."}}

    async def _execute(self, name: str | None = None) -> dict[str, Any]:
        kept = [entry for entry in self.waitlist if entry.get("name") != name]
        removed = len(kept) < len(self.waitlist)
        self.state["waitlist"] = kept
        await self._send_summary(
            {"waitlist": kept, "action": "drop", "customer": {"name": name}, "removed": removed}
        )
        if not removed:
            return {"success": False, "message": f"{name} was not found on the waitlist."}
        return {
            "success": True,
            "message": f"{name} has been removed from the waitlist.",
            "remaining_in_waitlist": len(kept),
        }


@register_schema_tool_for_eval
class GetWaitlistTool(_WaitlistTool):
    """Returns the list as it is now."""

    description = "Get the waitlist, first in line first."

    async def _execute(self, *_args: Any, **_ignored: Any) -> dict[str, Any]:
        return {"waitlist": copy.deepcopy(self.waitlist), "total_in_waitlist": len(self.waitlist)}
