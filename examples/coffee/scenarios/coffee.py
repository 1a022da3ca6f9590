"""A caller cancels a coffee order."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval import (
    Actions,
    Persona,
    Rehearsal,
    Resources,
    Say,
    Scenario,
    SuccessSignal,
    Task,
    Use,
    register_eval_scenario,
)


@register_eval_scenario
class CancelLatte(Scenario):
    name = "coffee__cancel_latte"
    domain = "coffee"
    max_duration = 60
    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    reference_answer = {"actions": [{"name": "cancel_order", "arguments": {"order_id": "A123"}}]}

    user_persona = Persona(role="customer", name="Ann")
    user_task = Task(goal="Cancel the latte. The order number is A 1 2 3.")
    user_actions = Actions(guidelines=["Say goodbye when the order is cancelled."])
    user_resources = Resources()

    agent_persona = Persona(role="barista", name="Sam")
    agent_task = Task(goal="Help the caller with their order.")
    agent_actions = Actions(instructions=["Cancel what is asked for.", "Say goodbye and end the call."])
    agent_resources = Resources(tools={"CancelOrderTool": {}, "EndConversationTool": {}})

    rehearsal = Rehearsal(
        user=(
            Say("I want to cancel my latte. The number is A 1 2 3."),
            Say("That is all. Thank you and goodbye."),
        ),
        agent=(
            Say("Welcome to the coffee shop. How can I help you?"),
            Use("CancelOrderTool", {"order_id": "A123"}),
            Say("Your latte is cancelled. Is there anything else?"),
            Use("EndConversationTool"),
        ),
    )

    def setup_shared_state(self, state: dict[str, Any], side: str) -> None:
        if side == "agent":
            state["db"] = {"orders": {"A123": {"drink": "latte", "status": "open"}}}
