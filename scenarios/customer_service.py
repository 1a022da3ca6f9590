"""Customer service: customers of TechCorp call about a bill, an order, an account or an outage.

What the agent writes in its own words (summary and details of the ticket, what a refund is for, why an item
goes back) no reference can foresee. So the references ask for all the rest: the type of the resolution, the
account, and the account's state after the fix, down to the balance. An agent that does the right things
passes, however it puts them.
"""

from __future__ import annotations

import json

from pytest_voiceeval import Task, Use, register_eval_scenario

from . import _accounts as accounts
from . import _customer_service_lines as lines
from ._accounts import PLANS, TODAY, with_refund, with_return
from ._customer_service_base import (
    CustomerServiceBaseScenario,
    asking,
    customer,
    desk,
    rehearse,
    resolved,
)

__all__ = ["CustomerServiceBaseScenario"]


@register_eval_scenario
class BillingDispute(CustomerServiceBaseScenario):
    name = "customer_service__billing_dispute"
    description = "Laura has an unauthorised warranty charge of 49.99 refunded."
    reference_answer = resolved("refund", "TC4821", with_refund(accounts.LAURA, "$49.99", "$92.51"))
    user_persona = customer("Laura", "TC4821", "You are annoyed, but fair.")
    user_task = Task(
        goal="get the extended warranty of 49.99 dollars refunded that you never ordered",
        background="You have found the charge on your latest bill.",
    )
    user_actions = asking("your bill has a warranty that you never ordered", "you want that money back")
    agent_resources = desk("TC4821", accounts.LAURA, ProcessRefundTool={})
    rehearsal = rehearse(
        lines.BILLING_DISPUTE,
        reference_answer,
        ("A warranty was charged that the customer never ordered.", "The charge was refunded in full."),
        acts=[
            Use(
                "ProcessRefundTool",
                {
                    "account_id": "TC4821",
                    "amount": 49.99,
                    "description": "Extended warranty",
                    "date": TODAY,
                },
            )
        ],
    )


@register_eval_scenario
class OrderDelay(CustomerServiceBaseScenario):
    name = "customer_service__order_delay"
    description = "Kevin asks when his late laptop will be delivered."
    reference_answer = resolved("information", "TC3175", accounts.KEVIN)
    user_persona = customer("Kevin", "TC3175", "You are a little impatient.")
    user_task = Task(
        goal="learn on which day your laptop will be delivered",
        background="You ordered a laptop on 6 April. It was promised for 15 April and has not come.",
    )
    user_actions = asking("the laptop that you ordered is late", "you want to know when it comes")
    agent_resources = desk("TC3175", accounts.KEVIN, CheckOrderStatusTool={})
    rehearsal = rehearse(
        lines.ORDER_DELAY,
        reference_answer,
        ("The customer's laptop is late.", "It is expected on 27 April, as the customer was told."),
        looks=[Use("CheckOrderStatusTool", {"account_id": "TC3175", "order_id": "OR5082"})],
    )


@register_eval_scenario
class DefectiveReplacement(CustomerServiceBaseScenario):
    name = "customer_service__defective_replacement"
    description = "Nina got a tablet with a cracked screen and wants a new one."
    reference_answer = resolved("replacement", "TC6240", with_return(accounts.NINA, "OR6214"))
    user_persona = customer("Nina", "TC6240", "You are disappointed, but friendly.")
    user_task = Task(
        goal="get a new tablet in place of the one with the cracked screen",
        background="The tablet came four days ago and its screen was cracked in the box.",
    )
    user_actions = asking("the tablet that came has a cracked screen", "you want a new tablet")
    agent_resources = desk("TC6240", accounts.NINA, CheckOrderStatusTool={}, StartItemReturnTool={})
    rehearsal = rehearse(
        lines.DEFECTIVE_REPLACEMENT,
        reference_answer,
        ("The tablet came with a cracked screen.", "The return was started, and a new tablet is sent."),
        looks=[Use("CheckOrderStatusTool", {"account_id": "TC6240", "order_id": "OR6214"})],
        acts=[
            Use(
                "StartItemReturnTool",
                {"account_id": "TC6240", "order_id": "OR6214", "reason": "cracked screen"},
            )
        ],
    )


@register_eval_scenario
class DefectiveRefund(CustomerServiceBaseScenario):
    name = "customer_service__defective_refund"
    description = "Oscar's new phone has a bad battery, and he wants his money back."
    reference_answer = resolved("refund", "TC7538", with_return(accounts.OSCAR, "OR4390"))
    user_persona = customer("Oscar", "TC7538", "You are firm, for you have lost your trust in that phone.")
    user_task = Task(
        goal="send your phone back and get your money back, not another phone",
        background="The phone came ten days ago, and its battery lasts for an hour.",
    )
    user_actions = asking(
        "the battery of your new phone is empty after an hour", "you want your money back and no new phone"
    )
    agent_resources = desk("TC7538", accounts.OSCAR, CheckOrderStatusTool={}, StartItemReturnTool={})
    rehearsal = rehearse(
        lines.DEFECTIVE_REFUND,
        reference_answer,
        ("The battery of the phone fails.", "The return was started, and the price will be paid back."),
        looks=[Use("CheckOrderStatusTool", {"account_id": "TC7538", "order_id": "OR4390"})],
        acts=[
            Use(
                "StartItemReturnTool",
                {"account_id": "TC7538", "order_id": "OR4390", "reason": "battery fails"},
            )
        ],
    )


@register_eval_scenario
class PlanUpgrade(CustomerServiceBaseScenario):
    name = "customer_service__plan_upgrade"
    description = "Grace moves from the Standard plan to the Premium plan at 19.99."
    reference_answer = resolved(
        "account_change", "TC2964", {**accounts.GRACE, "plan": "Premium", "monthly_rate": "$19.99"}
    )
    user_persona = customer("Grace", "TC2964", "You know what you want.")
    user_task = Task(goal="move from the Standard plan to the Premium plan, if it is not above 20 dollars")
    user_actions = asking("you would like the Premium plan", "you take it, if it is not above 20 dollars")
    agent_resources = desk("TC2964", accounts.GRACE, ChangePlanTool={"plans": json.dumps(PLANS)})
    rehearsal = rehearse(
        lines.PLAN_UPGRADE,
        reference_answer,
        ("The customer wants the Premium plan.", "The plan was changed to Premium."),
        acts=[Use("ChangePlanTool", {"account_id": "TC2964", "new_plan": "Premium"})],
    )


@register_eval_scenario
class AccountAccess(CustomerServiceBaseScenario):
    name = "customer_service__account_access"
    description = "Peter is locked out after failed logins."
    reference_answer = resolved(
        "account_change",
        "TC5317",
        {**accounts.PETER, "account_status": "Active", "failed_login_attempts": "0"},
    )
    user_persona = customer("Peter", "TC5317", "You are a bit embarrassed.")
    user_task = Task(
        goal="get back into your account",
        background="You had forgotten your password, and after five attempts your account was locked.",
    )
    user_actions = asking("you can't log in, for your account is locked", "those logins were yours")
    agent_resources = desk("TC5317", accounts.PETER, UnlockAccountTool={})
    rehearsal = rehearse(
        lines.ACCOUNT_ACCESS,
        reference_answer,
        ("The customer was locked out after five failed logins.", "The account was unlocked."),
        acts=[Use("UnlockAccountTool", {"account_id": "TC5317"})],
    )


@register_eval_scenario
class WarrantyClaim(CustomerServiceBaseScenario):
    name = "customer_service__warranty_claim"
    description = "Helen's keyboard fails in month eight of its warranty."
    reference_answer = resolved("replacement", "TC8052", with_return(accounts.HELEN, "OR2276"))
    user_persona = customer("Helen", "TC8052", "You are polite and precise.")
    user_task = Task(
        goal="get a new keyboard under the warranty",
        background="You got the keyboard eight months ago. Half of its keys do not work any more.",
    )
    user_actions = asking("your keyboard has stopped working after eight months", "you want a new keyboard")
    agent_resources = desk("TC8052", accounts.HELEN, CheckOrderStatusTool={}, StartItemReturnTool={})
    rehearsal = rehearse(
        lines.WARRANTY_CLAIM,
        reference_answer,
        ("The keyboard fails after eight months.", "Under the warranty, a new keyboard is sent."),
        looks=[Use("CheckOrderStatusTool", {"account_id": "TC8052", "order_id": "OR2276"})],
        acts=[
            Use(
                "StartItemReturnTool",
                {"account_id": "TC8052", "order_id": "OR2276", "reason": "keys fail"},
            )
        ],
    )


@register_eval_scenario
class SubscriptionCancel(CustomerServiceBaseScenario):
    name = "customer_service__subscription_cancel"
    description = "Lucas ends his Premium plan."
    reference_answer = resolved(
        "account_change", "TC9146", {**accounts.LUCAS, "plan": "Canceled", "monthly_rate": "$0.00"}
    )
    user_persona = customer("Lucas", "TC9146", "You are friendly, but no offer makes you stay.")
    user_task = Task(goal="end your Premium plan", background="You have not used the plan for months.")
    user_actions = asking("you want to end your Premium plan", "you are sure")
    agent_resources = desk("TC9146", accounts.LUCAS, CancelSubscriptionTool={})
    rehearsal = rehearse(
        lines.SUBSCRIPTION_CANCEL,
        reference_answer,
        ("The customer does not want the Premium plan any more.", "The plan was cancelled."),
        acts=[Use("CancelSubscriptionTool", {"account_id": "TC9146"})],
    )


@register_eval_scenario
class WrongItem(CustomerServiceBaseScenario):
    name = "customer_service__wrong_item"
    description = "Alice got the basic earbuds instead of the better ones."
    reference_answer = resolved("replacement", "TC1683", with_return(accounts.ALICE, "OR7731"))
    user_persona = customer("Alice", "TC1683", "You are calm and helpful.")
    user_task = Task(
        goal="get the Earbuds Pro that you ordered",
        background="Two days ago a parcel came with the Earbuds Basic in it.",
    )
    user_actions = asking(
        "you got the Earbuds Basic and not the Earbuds Pro", "you want the ones that you ordered"
    )
    agent_resources = desk("TC1683", accounts.ALICE, CheckOrderStatusTool={}, StartItemReturnTool={})
    rehearsal = rehearse(
        lines.WRONG_ITEM,
        reference_answer,
        ("The basic earbuds were sent by mistake.", "They go back, and the right ones are sent."),
        looks=[Use("CheckOrderStatusTool", {"account_id": "TC1683", "order_id": "OR7731"})],
        acts=[
            Use(
                "StartItemReturnTool",
                {"account_id": "TC1683", "order_id": "OR7731", "reason": "wrong item"},
            )
        ],
    )


@register_eval_scenario
class ServiceOutage(CustomerServiceBaseScenario):
    name = "customer_service__service_outage"
    description = "Daniel's cloud storage has failed for three days, and he wants it escalated."
    reference_answer = resolved("escalation", "TC2709", accounts.DANIEL)
    user_persona = customer("Daniel", "TC2709", "You are upset, for you need your files at work.")
    user_task = Task(
        goal="have somebody look into the outages of your cloud storage",
        background="For three days you have lost the connection to your files several times a day.",
    )
    user_actions = asking(
        "your cloud storage has failed again and again for three days",
        "you want it passed on to somebody who can mend it",
    )
    agent_resources = desk("TC2709", accounts.DANIEL)
    rehearsal = rehearse(
        lines.SERVICE_OUTAGE,
        reference_answer,
        ("The cloud storage has failed for three days.", "The network team calls back tomorrow."),
    )
