"""FastBite: a customer orders at the counter of a fast-food restaurant, whose menu is in the agent's prompt.

The tool knows the names of the menu and refuses others, and sums that do not add up, so that the agent can
correct itself.
"""

from __future__ import annotations

import json

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

from ..tools import restaurant  # noqa: F401 - registers the tools that the scenario names
from ._restaurant_base import item

__all__ = ["FastBiteBaseScenario"]

MENU: dict[str, dict[str, str]] = {
    "Sandwiches": {
        "Chicken Sandwich": "5.99",
        "Beef Burger": "6.49",
        "Fish Sandwich": "6.29",
    },
    "Combos, each with fries and a drink": {
        "Chicken Sandwich Combo": "8.99",
        "Beef Burger Combo": "9.49",
        "Fish Sandwich Combo": "9.29",
    },
    "Sides": {"Fries": "2.49", "Side Salad": "3.49", "Apple Slices": "1.99"},
    "Drinks": {"Soda": "1.89", "Lemonade": "2.19", "Bottled Water": "1.29"},
}
NAMES = [name for part in MENU.values() for name in part]


class FastBiteBaseScenario(Scenario):
    """A customer orders at FastBite."""

    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 180
    ignore_capitalization = True
    ignore_punctuation = True

    user_resources = Resources()

    agent_persona = Persona(
        role="employee who takes orders at FastBite, a fast-food restaurant",
        name="Lisa",
        personality="You are cheerful and quick.",
    )
    agent_task = Task(goal="take the customer's order without a mistake, place it, and end the call politely")
    agent_actions = Actions(
        instructions=[
            "Greet the customer in the name of FastBite, and ask for the order.",
            "If there is a combo of what the customer wants, offer it once.",
            "Ask for the customer's name.",
            "Place the order with PlaceOrderTool, then tell the total and ask whether that is all.",
            "When the customer says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=[
            "Use the names and prices of the menu as they stand there.",
            "Count an order as placed only after PlaceOrderTool has said so.",
        ],
    )
    agent_resources = Resources(
        tools={
            "PlaceOrderTool": {"auto_validate": "True", "valid_item_names": json.dumps(NAMES)},
            "EndConversationTool": {},
        },
        info_sections={
            heading: "\n".join(f"{name}: ${price}" for name, price in part.items())
            for heading, part in MENU.items()
        },
    )


@register_eval_scenario
class FastBite(FastBiteBaseScenario):
    name = "fastbite"
    description = "Bob orders a chicken sandwich and a side salad, and declines the combo."
    reference_answer = {
        "items": [item("Chicken Sandwich", "5.99"), item("Side Salad", "3.49")],
        "customer_name": "Bob",
        "total_price": "9.48",
    }
    user_persona = Persona(
        role="customer of a fast-food restaurant", name="Bob", personality="You are friendly and on a diet."
    )
    user_task = Task(goal="order one chicken sandwich and one side salad, and no combo")
    user_actions = Actions(
        instructions=[
            "Say that you would like a chicken sandwich and a side salad.",
            "Decline the combo when it is offered.",
            "Give your name when you are asked for it.",
            "When you have heard the total, say thank you and goodbye.",
        ],
        guidelines=["Answer what you are asked, and order nothing beyond what you want."],
    )
    rehearsal = Rehearsal(
        user=(
            Say("I would like a chicken sandwich and a side salad please."),
            Say("I do not want the combo. The salad is enough for me."),
            Say("My name is Bob."),
            Say("That is everything for me. Thank you and goodbye."),
        ),
        agent=(
            Say("Welcome to Fast Bite. This is Lisa, what would you like to eat?"),
            Say("You could have the sandwich as a combo with fries and a drink. Would you like that?"),
            Say("That is fine with me. What name should I put on the order?"),
            Use("PlaceOrderTool", reference_answer),
            Say("Your order is placed and the total is 9 dollars and 48 cents. Is there anything else?"),
            Use("EndConversationTool"),
        ),
    )
