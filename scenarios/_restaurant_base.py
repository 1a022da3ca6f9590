"""What the restaurant scenarios share: Lisa, who answers the phone, and how an order is written down."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task, Use

from ..tools import restaurant, waitlist  # noqa: F401 - registers the tools that the scenarios name
from ._menus import BURGER_BARN_MENU, DELI_DELIGHTS_MENU, PIZZA_PALACE_MENU


def order_tools(menu: str) -> Resources:
    """Return what the agent needs to take an order from ``menu``."""
    return Resources(
        tools={
            "GetMenuTool": {"menu": menu},
            "PlaceOrderTool": {"auto_validate": "False"},
            "EndConversationTool": {},
        }
    )


class RestaurantBaseScenario(Scenario):
    """A customer calls a restaurant, where Lisa takes orders."""

    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 180
    ignore_capitalization = True
    ignore_punctuation = True

    user_resources = Resources()

    agent_persona = Persona(
        role="friendly employee who answers the phone of a restaurant",
        name="Lisa",
        personality="You are warm and quick, and you never push anything on a customer.",
    )
    agent_task = Task(
        goal="take the order of the customer without a mistake, place it, and end the call politely",
        background="Customers call to order food that they pick up themselves.",
    )
    agent_actions = Actions(
        instructions=[
            "Greet the customer, say the name of the restaurant, and ask what you can do.",
            "When you hear what the customer wants, look it up with GetMenuTool.",
            "Ask whether there is anything else.",
            "Ask for the customer's name, then for the phone number.",
            "Place the order with PlaceOrderTool, then tell the total and ask whether that is all.",
            "When the customer says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=[
            "Use the names and prices of the menu as they stand there.",
            "List each thing that has its own price as an item of its own, toppings too.",
            "Count an order as placed only after PlaceOrderTool has said so.",
        ],
    )


class PizzaPalaceScenario(RestaurantBaseScenario):
    """A customer calls Pizza Palace."""

    agent_resources = order_tools(PIZZA_PALACE_MENU)


class BurgerBarnScenario(RestaurantBaseScenario):
    """A customer calls Burger Barn."""

    agent_resources = order_tools(BURGER_BARN_MENU)


class DeliDelightsScenario(RestaurantBaseScenario):
    """A customer calls Deli Delights."""

    agent_resources = order_tools(DELI_DELIGHTS_MENU)


def item(name: str, unit_price: str, quantity: str = "1") -> dict[str, str]:
    """Return one item of an order."""
    return {"name": name, "unit_price": unit_price, "quantity": quantity}


def order(customer: str, phone: str, items: list[dict[str, str]], total: str) -> dict[str, Any]:
    """Return an order as PlaceOrderTool reports it."""
    return {"items": items, "customer_name": customer, "customer_phone": phone, "total_price": total}


def caller(name: str, phone: str, personality: str) -> Persona:
    """Return a customer on the phone."""
    return Persona(
        role="customer who calls a restaurant",
        name=name,
        background=f"Your phone number is {phone}.",
        personality=personality,
    )


def ordering(wish: str, *more: str) -> Actions:
    """Return the steps of a customer who orders ``wish``, and guidelines beyond the usual ones."""
    return Actions(
        instructions=[
            f"Say that you would like {wish}.",
            "Say that this is everything when you are asked for more.",
            "Give your name when you are asked for it.",
            "Give your phone number when you are asked for it, digit by digit.",
            "When you have heard the total, say thank you and goodbye.",
        ],
        guidelines=["Answer what you are asked, and order nothing beyond what you want.", *more],
    )


def rehearse(reference: dict[str, Any], script: tuple[list[str], list[str]]) -> Rehearsal:
    """Return the rehearsal of an order from the spoken lines of the user and of the agent.

    The agent looks at the menu before its second line, places the order before its last, and hangs up
    after it.
    """
    user, agent = script
    greeting, *middle, total = [Say(text) for text in agent]
    return Rehearsal(
        user=tuple(Say(text) for text in user),
        agent=(
            greeting,
            Use("GetMenuTool"),
            *middle,
            Use("PlaceOrderTool", reference),
            total,
            Use("EndConversationTool"),
        ),
    )
