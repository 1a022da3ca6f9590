"""What the customer-service scenarios share: Alex of TechCorp, the rules there, and how a call goes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task, Use

from ..tools import customer_service  # noqa: F401 - registers the tools that the scenarios name
from ._accounts import TODAY, Account

RULES = [
    f"Today is Wednesday, 22 April 2026; tools take that date as {TODAY}.",
    "An account number has two letters and four digits, such as TC1234; so has an order number.",
    "A charge that the customer never agreed to is paid back in full; that ticket is a refund.",
    "Of an order that is late, say when it is expected now; that ticket is information.",
    "An item that is broken or the wrong one goes back, so start the return of its order. If the customer "
    "wants a new one, the ticket is a replacement; if the customer wants the money back, which is paid when "
    "the item has arrived, it is a refund.",
    "For 12 months from the delivery, the warranty covers what breaks, with a replacement.",
    "Another plan, a locked account that you unlock, and a plan that you cancel take effect at once; that "
    "ticket is an account_change.",
    "If a service fails for more than a day, the network team takes over and calls the customer back within "
    "one working day; that ticket is an escalation.",
]


class CustomerServiceBaseScenario(Scenario):
    """A customer calls TechCorp, where Alex solves the problem and closes the ticket."""

    success_signals = (SuccessSignal.ACTION_MATCH, SuccessSignal.CLEAN_EXIT)
    max_duration = 120
    ignore_capitalization = True
    ignore_punctuation = True
    clean_text = True

    user_resources = Resources()

    agent_persona = Persona(
        role="support agent on the phone of TechCorp, which sells devices and online services",
        name="Alex",
        personality="You are patient and clear, and you solve a problem in few words.",
    )
    agent_task = Task(
        goal="solve the customer's problem by the rules of TechCorp, close the ticket, and end the call",
    )
    agent_actions = Actions(
        instructions=[
            "Greet the customer in the name of TechCorp, and ask what you can do.",
            "Ask for the account number, and look the account up with LookupAccountTool.",
            "Say what you have found and what you can do, and ask whether the customer wants that.",
            "Do it with the tool for it, close the ticket with ResolveTicketTool, say that it is done, and "
            "ask whether there is anything else.",
            "When the customer says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=[
            "Do what the rules of TechCorp say, and nothing that the customer did not ask for.",
            "Use the order numbers and amounts of the account as they stand there.",
            "Count a thing as done only after its tool has said so.",
        ],
    )


def desk(account_id: str, account: Account, **extra: dict[str, Any]) -> Resources:
    """Return what Alex has in a call about one account: the usual tools around ``extra`` ones."""
    return Resources(
        tools={
            "LookupAccountTool": {"accounts": json.dumps({account_id: account})},
            **extra,
            "ResolveTicketTool": {},
            "EndConversationTool": {},
        },
        information=RULES,
    )


def resolved(resolution_type: str, account_id: str, account: Account) -> dict[str, Any]:
    """Return what ResolveTicketTool must report: all but the agent's own words, which are free."""
    return {"resolution_type": resolution_type, "account_id": account_id, "account": account}


def customer(name: str, account_id: str, personality: str) -> Persona:
    """Return a customer of TechCorp on the phone."""
    return Persona(
        role="customer who calls the support of TechCorp",
        name=name,
        background=f"Your account number is {account_id}.",
        personality=personality,
    )


def asking(problem: str, wish: str) -> Actions:
    """Return the steps of a customer who has ``problem``, and answers an offer with ``wish``."""
    return Actions(
        instructions=[
            f"Say that {problem}.",
            "Give your account number when you are asked for it, one letter or digit at a time.",
            f"When the agent has found it, say that {wish}.",
            "When you have heard that it is done, say thank you and goodbye.",
        ],
        guidelines=["Answer what you are asked, and ask for nothing else."],
    )


def rehearse(
    script: tuple[list[str], list[str]],
    reference: dict[str, Any],
    ticket: tuple[str, str],
    *,
    looks: Sequence[Use] = (),
    acts: Sequence[Use] = (),
) -> Rehearsal:
    """Return the rehearsal of a call from the spoken lines of the customer and of Alex.

    Alex looks up the account, and what ``looks`` say, before the third line, does what ``acts`` say and
    closes the ticket (its summary and details) before the last one, and hangs up after it.
    """
    user, (greeting, question, offer, report) = script
    summary, details = ticket
    return Rehearsal(
        user=tuple(Say(text) for text in user),
        agent=(
            Say(greeting),
            Say(question),
            Use("LookupAccountTool", {"account_id": reference["account_id"]}),
            *looks,
            Say(offer),
            *acts,
            Use(
                "ResolveTicketTool",
                {
                    "account_id": reference["account_id"],
                    "issue_summary": summary,
                    "resolution_type": reference["resolution_type"],
                    "resolution_details": details,
                },
            ),
            Say(report),
            Use("EndConversationTool"),
        ),
    )
