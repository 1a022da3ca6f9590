"""Restaurant: customers call to order food, and one to wait for a table."""

from __future__ import annotations

from pytest_voiceeval import Actions, Persona, Resources, Task, register_eval_scenario

from . import _rehearsals as scripts
from ._menus import BURGER_BARN_MENU, DELI_DELIGHTS_MENU, PIZZA_PALACE_MENU
from ._restaurant_base import (
    BurgerBarnScenario,
    DeliDelightsScenario,
    PizzaPalaceScenario,
    RestaurantBaseScenario,
    caller,
    item,
    order,
    ordering,
    rehearse,
)
from ._waitlist import WaitlistScenario

__all__ = ["BURGER_BARN_MENU", "DELI_DELIGHTS_MENU", "PIZZA_PALACE_MENU", "RestaurantBaseScenario"]


@register_eval_scenario
class PizzaPepperoni(RestaurantBaseScenario):
    """Written out in full, as an example."""

    name = "restaurant__pizza_pepperoni"
    description = "Charlie orders a pepperoni pizza with extra cheese at Pizza Palace."
    reference_answer = {
        "items": [
            {"name": "Pepperoni Pizza", "unit_price": "9.99", "quantity": "1"},
            {"name": "Extra Cheese", "unit_price": "1.50", "quantity": "1"},
        ],
        "customer_name": "Charlie",
        "customer_phone": "314-527-8960",
        "total_price": "11.49",
    }
    user_persona = Persona(
        role="customer who calls a restaurant",
        name="Charlie",
        background="Your phone number is 314-527-8960.",
        personality="You are friendly and come straight to the point.",
    )
    user_task = Task(goal="order one pepperoni pizza with extra cheese from Pizza Palace")
    user_actions = Actions(
        instructions=[
            "Say that you would like a pepperoni pizza with extra cheese.",
            "Say that this is everything when you are asked for more.",
            "Give your name when you are asked for it.",
            "Give your phone number when you are asked for it, digit by digit.",
            "When you have heard the total, say thank you and goodbye.",
        ],
        guidelines=["Answer what you are asked, and order nothing beyond what you want."],
    )
    agent_actions = Actions(
        instructions=[
            "Greet the customer in the name of Pizza Palace, and ask what you can do.",
            "When you hear what the customer wants, look it up with GetMenuTool.",
            "Ask whether there is anything else.",
            "Ask for the customer's name, then for the phone number.",
            "Place the order with PlaceOrderTool, then tell the total and ask whether that is all.",
            "When the customer says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=["List each thing that has its own price as an item of its own, toppings too."],
    )
    agent_resources = Resources(
        tools={
            "GetMenuTool": {"menu": PIZZA_PALACE_MENU},
            "PlaceOrderTool": {"auto_validate": "False"},
            "EndConversationTool": {},
        }
    )
    rehearsal = rehearse(reference_answer, scripts.PIZZA_PEPPERONI)


@register_eval_scenario
class PizzaVeggieCombo(PizzaPalaceScenario):
    name = "restaurant__pizza_veggie_combo"
    description = "Diana orders a veggie pizza, garlic bread and iced tea at Pizza Palace."
    reference_answer = order(
        "Diana",
        "314-555-0142",
        [item("Veggie Pizza", "10.49"), item("Garlic Bread", "3.79"), item("Iced Tea", "1.99")],
        total="16.27",
    )
    user_persona = caller("Diana", "314-555-0142", "You are relaxed and polite.")
    user_task = Task(goal="order one veggie pizza, one garlic bread and one iced tea")
    user_actions = ordering("a veggie pizza, and once asked for more, a garlic bread and an iced tea")
    rehearsal = rehearse(reference_answer, scripts.PIZZA_VEGGIE_COMBO)


@register_eval_scenario
class PizzaPartyOrder(PizzaPalaceScenario):
    name = "restaurant__pizza_party_order"
    description = "Marcus orders two BBQ chicken pizzas, a salad and two sodas for a party."
    reference_answer = order(
        "Marcus",
        "314-555-0177",
        [item("BBQ Chicken Pizza", "11.99", "2"), item("Garden Salad", "4.99"), item("Soda", "1.99", "2")],
        total="32.95",
    )
    user_persona = caller("Marcus", "314-555-0177", "You are cheerful, for your guests arrive soon.")
    user_task = Task(goal="order two BBQ chicken pizzas, one garden salad and two sodas for a party")
    user_actions = ordering("two BBQ chicken pizzas and a garden salad, and to drink, two sodas")
    rehearsal = rehearse(reference_answer, scripts.PIZZA_PARTY_ORDER)


@register_eval_scenario
class BurgerClassic(BurgerBarnScenario):
    name = "restaurant__burger_classic"
    description = "Ethan orders a classic burger and onion rings at Burger Barn, and declines the combo."
    reference_answer = order(
        "Ethan",
        "314-555-0123",
        [item("Classic Burger", "6.99"), item("Onion Rings", "3.99")],
        total="10.98",
    )
    user_persona = caller("Ethan", "314-555-0123", "You know what you want and are not easily talked round.")
    user_task = Task(goal="order one classic burger and onion rings, not as a combo")
    user_actions = ordering("a classic burger and onion rings", "If a combo is offered, decline it.")
    rehearsal = rehearse(reference_answer, scripts.BURGER_CLASSIC)


@register_eval_scenario
class BurgerBaconCombo(BurgerBarnScenario):
    name = "restaurant__burger_bacon_combo"
    description = "Sophia orders the bacon cheeseburger combo and a chocolate shake at Burger Barn."
    reference_answer = order(
        "Sophia",
        "314-555-0186",
        [item("Bacon Cheeseburger Combo", "11.99"), item("Chocolate Shake", "4.99")],
        total="16.98",
    )
    user_persona = caller("Sophia", "314-555-0186", "You are in a good mood.")
    user_task = Task(goal="order one bacon cheeseburger combo and one chocolate shake")
    user_actions = ordering("the bacon cheeseburger combo, and once asked for more, a chocolate shake")
    rehearsal = rehearse(reference_answer, scripts.BURGER_BACON_COMBO)


@register_eval_scenario
class BurgerSpicyFeast(BurgerBarnScenario):
    name = "restaurant__burger_spicy_feast"
    description = "Jake orders a jalapeño burger, fries, onion rings and lemonade at Burger Barn."
    reference_answer = order(
        "Jake",
        "314-555-0139",
        [
            item("Jalapeño Burger", "7.99"),
            item("Fries", "2.99"),
            item("Onion Rings", "3.99"),
            item("Lemonade", "2.29"),
        ],
        total="17.26",
    )
    user_persona = caller("Jake", "314-555-0139", "You are very hungry and love spicy food.")
    user_task = Task(goal="order one jalapeño burger, fries, onion rings and one lemonade")
    user_actions = ordering("a jalapeño burger, then fries and onion rings, then a lemonade to drink")
    rehearsal = rehearse(reference_answer, scripts.BURGER_SPICY_FEAST)


@register_eval_scenario
class DeliTurkeyClub(DeliDelightsScenario):
    name = "restaurant__deli_turkey_club"
    description = "Rachel orders a turkey club and coffee at Deli Delights."
    reference_answer = order(
        "Rachel",
        "314-555-0164",
        [item("Turkey Club", "8.49"), item("Coffee", "2.49")],
        total="10.98",
    )
    user_persona = caller("Rachel", "314-555-0164", "You are on a short break at work, but patient.")
    user_task = Task(goal="order one turkey club and one coffee")
    user_actions = ordering("a turkey club and a coffee", "If soup is offered, decline it.")
    rehearsal = rehearse(reference_answer, scripts.DELI_TURKEY_CLUB)


@register_eval_scenario
class DeliItalianSubLunch(DeliDelightsScenario):
    name = "restaurant__deli_italian_sub_lunch"
    description = "Tony orders an Italian sub, tomato soup, chips and orange juice at Deli Delights."
    reference_answer = order(
        "Tony",
        "314-555-0158",
        [
            item("Italian Sub", "8.99"),
            item("Tomato Soup", "4.49"),
            item("Chips", "1.99"),
            item("Orange Juice", "2.99"),
        ],
        total="18.46",
    )
    user_persona = caller("Tony", "314-555-0158", "You like to talk about food.")
    user_task = Task(goal="order one Italian sub, one tomato soup, chips and one orange juice for lunch")
    user_actions = ordering("an Italian sub with tomato soup, then chips, then an orange juice")
    rehearsal = rehearse(reference_answer, scripts.DELI_ITALIAN_SUB_LUNCH)


@register_eval_scenario
class DeliGrilledCheeseSoup(DeliDelightsScenario):
    name = "restaurant__deli_grilled_cheese_soup"
    description = "Mia orders a grilled cheese, chicken soup and water at Deli Delights."
    reference_answer = order(
        "Mia",
        "314-555-0115",
        [item("Grilled Cheese", "5.99"), item("Chicken Soup", "4.49"), item("Bottled Water", "1.49")],
        total="11.97",
    )
    user_persona = caller("Mia", "314-555-0115", "You have a cold and keep it short.")
    user_task = Task(goal="order one grilled cheese, one chicken soup and one bottle of water")
    user_actions = ordering("a grilled cheese with chicken soup, and to drink, a bottle of water")
    rehearsal = rehearse(reference_answer, scripts.DELI_GRILLED_CHEESE_SOUP)


@register_eval_scenario
class BurgerVeggieMilkshake(BurgerBarnScenario):
    name = "restaurant__burger_veggie_milkshake"
    description = "Priya orders a veggie burger and a strawberry shake at Burger Barn."
    reference_answer = order(
        "Priya",
        "314-555-0191",
        [item("Veggie Burger", "7.99"), item("Strawberry Shake", "4.99")],
        total="12.98",
    )
    user_persona = caller("Priya", "314-555-0191", "You eat no meat and speak calmly.")
    user_task = Task(goal="order one veggie burger and one strawberry shake")
    user_actions = ordering("a veggie burger, and once asked for more, a strawberry shake")
    rehearsal = rehearse(reference_answer, scripts.BURGER_VEGGIE_MILKSHAKE)


@register_eval_scenario
class WaitlistJoinThenDrop(WaitlistScenario):
    name = "restaurant__waitlist_join_then_drop"
    description = "Sam joins a full waitlist, hears that ten parties are ahead, and leaves it again."
