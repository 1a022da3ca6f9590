"""What the two sides say in the rehearsals of customer-service calls, turn by turn.

The first list of a script is the customer's, the second one that of Alex, who speaks first. Letters and
digits that are spelled out stand apart, so that a voice says them and a listener hears them so.
"""

from __future__ import annotations

Script = tuple[list[str], list[str]]

BILLING_DISPUTE: Script = (
    [
        "There is a warranty on my bill that I never ordered.",
        "The account number is T C 4 8 2 1.",
        "Yes that is the one. Please give me that money back.",
        "That was very quick. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, how can I help you?",
        "I am sorry about that. May I have your account number?",
        "I see an extended warranty for 49 dollars and 99 cents. Should I refund it?",
        "The refund is on your account now. Is there anything else I can do?",
    ],
)
ORDER_DELAY: Script = (
    [
        "I have ordered a laptop and it should be here by now.",
        "The account number is T C 3 1 7 5.",
        "Please tell me when it will be delivered.",
        "I am glad to know that. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, what can I do for you?",
        "I am sorry that it is late. What is your account number?",
        "Your laptop was held up in the warehouse. Would you like to have the new date?",
        "It will be with you on Monday the 27th of April. Can I help you with anything else?",
    ],
)
DEFECTIVE_REPLACEMENT: Script = (
    [
        "The tablet that you sent me has a crack in the screen.",
        "The account number is T C 6 2 4 0.",
        "I would like to have a new tablet please.",
        "That sounds good to me. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, how can I help you today?",
        "I am very sorry to hear that. Could you give me your account number?",
        "I have found your order. Would you like a new tablet or your money back?",
        "The return is started. A new tablet is on its way. Is there anything else?",
    ],
)
DEFECTIVE_REFUND: Script = (
    [
        "The battery of my new phone is empty after one hour.",
        "The account number is T C 7 5 3 8.",
        "I do not want another one. I want my money back.",
        "That is all right with me. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, what is the matter?",
        "That should not happen. What is your account number please?",
        "I can see the phone. Would you like to have a new one or a refund?",
        "The return is started and you will be paid when we have the phone. Can I do anything else?",
    ],
)
PLAN_UPGRADE: Script = (
    [
        "I would like to change from the standard plan to the premium plan.",
        "The account number is T C 2 9 6 4.",
        "Yes please change it to the premium plan.",
        "That is everything for today. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, what would you like to do?",
        "I will be happy to do that. May I have your account number?",
        "The premium plan is 19 dollars and 99 cents each month. Do you want to take it?",
        "You have the premium plan from now on. Is there anything else that I can do?",
    ],
)
ACCOUNT_ACCESS: Script = (
    [
        "I cannot log in because my account is locked.",
        "The account number is T C 5 3 1 7.",
        "That was me. I had forgotten my password.",
        "I am very happy about that. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, how can I be of help?",
        "I will look into that for you. What is your account number?",
        "There were five failed logins. Did you try to log in yourself?",
        "Your account is open again and you can log in now. Do you need anything else?",
    ],
)
WARRANTY_CLAIM: Script = (
    [
        "My keyboard has stopped working after only eight months.",
        "The account number is T C 8 0 5 2.",
        "Yes please send me a new keyboard.",
        "That is very kind of you. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, tell me how I can help.",
        "I am sorry to hear that. Please tell me your account number.",
        "Your warranty is good for another four months. Shall I have a new keyboard sent to you?",
        "The return is started and your new keyboard comes next week. Would you like anything else?",
    ],
)
SUBSCRIPTION_CANCEL: Script = (
    [
        "I want to end my premium plan because I do not use it.",
        "The account number is T C 9 1 4 6.",
        "I am sure about it. Please cancel the plan.",
        "That is what I wanted. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, how can I help you?",
        "I am sorry that you are leaving. What is your account number please?",
        "I have your premium plan here. Are you sure that you want to end it?",
        "Your plan is cancelled and nothing more will be charged. Is there anything else?",
    ],
)
WRONG_ITEM: Script = (
    [
        "You have sent me the basic earbuds and not the better ones.",
        "The account number is T C 1 6 8 3.",
        "I would like the earbuds that I ordered please.",
        "That would be great. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, what happened?",
        "That is our mistake and I am sorry. Can I have your account number?",
        "You are right about the order. Do you want us to send those or to pay you back?",
        "The return is started. The better earbuds are on their way. Can I do anything else for you?",
    ],
)
SERVICE_OUTAGE: Script = (
    [
        "My cloud storage has failed again and again for three days.",
        "The account number is T C 2 7 0 9.",
        "Yes please have somebody look into it.",
        "I will wait for the call. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Tech Corp. This is Alex, what can I do for you?",
        "I understand that this is a problem. What is your account number?",
        "I have your account here. Should our network team look into it?",
        "The network team has your case and will call you tomorrow. Is there anything else?",
    ],
)
