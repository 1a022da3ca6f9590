"""The full waitlist that a customer joins and leaves: who waits, what is said, and what must come of it."""

from __future__ import annotations

import json
from typing import Any

from pytest_voiceeval import Actions, Rehearsal, Resources, Say, Task, Use

from ._restaurant_base import RestaurantBaseScenario, caller

WAITING: list[dict[str, Any]] = [
    {"name": "Anna", "phone": "314-555-0151", "party_size": 2},
    {"name": "Ben", "phone": "314-555-0152", "party_size": 4},
    {"name": "Carla", "phone": "314-555-0153", "party_size": 3},
    {"name": "David", "phone": "314-555-0154", "party_size": 2},
    {"name": "Emma", "phone": "314-555-0155", "party_size": 6},
    {"name": "Frank", "phone": "314-555-0156", "party_size": 2},
    {"name": "Grace", "phone": "314-555-0157", "party_size": 5},
    {"name": "Henry", "phone": "314-555-0159", "party_size": 4},
    {"name": "Irene", "phone": "314-555-0160", "party_size": 2},
    {"name": "Jack", "phone": "314-555-0161", "party_size": 3},
]
SAM: dict[str, Any] = {"name": "Sam", "phone": "314-555-0107", "party_size": 2}


class WaitlistScenario(RestaurantBaseScenario):
    """A customer calls Pizza Palace, where ten parties wait for a table."""

    max_duration = 120
    clean_text = True

    reference_answer = [
        {"waitlist": [*WAITING, SAM], "action": "join", "customer": SAM},
        {"waitlist": WAITING, "action": "drop", "customer": {"name": "Sam"}, "removed": True},
    ]
    user_persona = caller("Sam", "314-555-0107", "You are polite, but you do not like to wait.")
    user_task = Task(
        goal="get on the waitlist with a party of two, and leave it again if it is long",
        background="You and a friend would like a table tonight.",
    )
    user_actions = Actions(
        instructions=[
            "Ask to be put on the waitlist, for two people.",
            "Give your name when you are asked for it.",
            "Give your phone number when you are asked for it, digit by digit.",
            "When you hear how many are ahead of you, say that it is too long and ask to be taken off.",
            "When you have heard that you are off the list, say thank you and goodbye.",
        ],
        guidelines=["Answer what you are asked, and do not order anything."],
    )
    agent_task = Task(
        goal="keep the waitlist as the customer wishes, and end the call politely",
        background="All tables of Pizza Palace are taken tonight.",
    )
    agent_actions = Actions(
        instructions=[
            "Greet the customer in the name of Pizza Palace, and ask what you can do.",
            "Look at the list with GetWaitlistTool, and ask for the customer's name.",
            "Ask for the phone number, and for the number of people unless you know it.",
            "Add the customer with JoinWaitListTool, and say how many parties are ahead.",
            "If the customer does not want to wait, use DropWaitListTool and say that it is done.",
            "When the customer says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=["Tell a customer about a change only after the tool has confirmed it."],
    )
    agent_resources = Resources(
        tools={
            "JoinWaitListTool": {"initial_waitlist": json.dumps(WAITING)},
            "DropWaitListTool": {},
            "GetWaitlistTool": {},
            "EndConversationTool": {},
        }
    )
    rehearsal = Rehearsal(
        user=(
            Say("I would like to put my name on the waitlist for a table for two people."),
            Say("My name is Sam."),
            Say("My phone number is 3 1 4, 5 5 5, 0 1 0 7."),
            Say("That is too long for us. Please take my name off the list."),
            Say("I understand. Thank you for your help and goodbye."),
        ),
        agent=(
            Say("Thank you for calling Pizza Palace. This is Lisa, how can I help you?"),
            Use("GetWaitlistTool"),
            Say("We are very busy tonight but I can add you. May I have your name please?"),
            Say("Thank you Sam. What is your phone number?"),
            Use("JoinWaitListTool", SAM),
            Say("You are on the list and there are 10 parties ahead of you. Is that all right?"),
            Use("DropWaitListTool", {"name": "Sam"}),
            Say("I have taken your name off the list. I hope to see you another time."),
            Use("EndConversationTool"),
        ),
    )
