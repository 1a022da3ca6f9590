"""What the two sides say in the rehearsals of restaurant orders, turn by turn.

The first list of a script is the customer's, the second one Lisa's; Lisa speaks first. Numbers that are read
out digit by digit are written as single digits, so that a voice says them and a listener hears them so.
"""

from __future__ import annotations

Script = tuple[list[str], list[str]]

PIZZA_PEPPERONI: Script = (
    [
        "I would like to order a pepperoni pizza with extra cheese please.",
        "No thank you that is everything.",
        "My name is Charlie.",
        "My phone number is 3 1 4, 5 2 7, 8 9 6 0.",
        "That sounds good. Thank you very much and goodbye.",
    ],
    [
        "Thank you for calling Pizza Palace. This is Lisa, how can I help you?",
        "We have that on the menu. Would you like anything else with your pizza?",
        "May I have your name for the order?",
        "Thank you Charlie. What is the best phone number to reach you?",
        "Your order is placed and the total is 11 dollars and 49 cents. Can I do anything else for you?",
    ],
)
PIZZA_VEGGIE_COMBO: Script = (
    [
        "I would like a veggie pizza please.",
        "I will also take the garlic bread and an iced tea.",
        "My name is Diana.",
        "My phone number is 3 1 4, 5 5 5, 0 1 4 2.",
        "That is all for today. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Pizza Palace. This is Lisa, what can I get for you?",
        "The veggie pizza is a good choice. Would you like a side or a drink with it?",
        "I have added both of them. What name should I put on the order?",
        "Thank you Diana. Which phone number can we call if there is a problem?",
        "Your order is placed and it comes to 16 dollars and 27 cents. Is there anything else?",
    ],
)
PIZZA_PARTY_ORDER: Script = (
    [
        "I am having a small party and I would like to order some food.",
        "I would like 2 barbecue chicken pizzas and a garden salad please.",
        "Please add 2 sodas to the order.",
        "The order is for Marcus.",
        "You can call me at 3 1 4, 5 5 5, 0 1 7 7.",
        "That is great. Thank you for your help and goodbye.",
    ],
    [
        "Thank you for calling Pizza Palace. This is Lisa, what would you like today?",
        "I will be happy to help with your party. What would you like to eat?",
        "We have both of those. Would you like something to drink?",
        "I have added the drinks. What is your name please?",
        "Thank you Marcus. What phone number should I write down?",
        "Your party order is placed and the total is 32 dollars and 95 cents. Do you need anything else?",
    ],
)
BURGER_CLASSIC: Script = (
    [
        "I would like a classic burger and onion rings please.",
        "No thank you, I do not want the combo.",
        "Please put it under the name Ethan.",
        "My number is 3 1 4, 5 5 5, 0 1 2 3.",
        "That is all I need. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Burger Barn. This is Lisa, how can I help you?",
        "You could have the burger as a combo with fries and a soda. Would you like that?",
        "That is no problem at all. What name should I put on the order?",
        "Thank you Ethan. Can you tell me your phone number?",
        "Your order is placed and the total is 10 dollars and 98 cents. Is there anything else I can do?",
    ],
)
BURGER_BACON_COMBO: Script = (
    [
        "I would like to order the bacon cheeseburger combo please.",
        "Yes please, I would like a chocolate shake as well.",
        "My name is Sophia.",
        "My phone number is 3 1 4, 5 5 5, 0 1 8 6.",
        "That is perfect. Thank you so much and goodbye.",
    ],
    [
        "Thank you for calling Burger Barn. This is Lisa, what can I get for you today?",
        "The combo comes with fries and a soda. Would you like to add anything to it?",
        "Our shakes are very popular. May I have your name please?",
        "Thank you Sophia. What is your phone number?",
        "Your order is placed and it comes to 16 dollars and 98 cents. Is that everything?",
    ],
)
BURGER_SPICY_FEAST: Script = (
    [
        "I am very hungry and I would like a jalapeno burger.",
        "I want fries and also onion rings with that.",
        "I would like a cold lemonade please.",
        "My name is Jake.",
        "My phone number is 3 1 4, 5 5 5, 0 1 3 9.",
        "That sounds great. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Burger Barn. This is Lisa, what would you like to order?",
        "That one is our most spicy burger. Which sides would you like with it?",
        "I have added both sides. Would you like something to drink?",
        "That will help with the heat. What name is the order for?",
        "Thank you Jake. What is the best phone number for you?",
        "Your order is placed and the total is 17 dollars and 26 cents. Do you need anything else?",
    ],
)
DELI_TURKEY_CLUB: Script = (
    [
        "I would like to order a turkey club and a coffee please.",
        "No thank you, I only want the sandwich and the coffee.",
        "My name is Rachel.",
        "My phone number is 3 1 4, 5 5 5, 0 1 6 4.",
        "That is all for now. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Deli Delights. This is Lisa, how can I help you today?",
        "We can make that for you right away. Would you like some soup with your sandwich?",
        "That is fine. May I have your name please?",
        "Thank you Rachel. Could you give me your phone number?",
        "Your order is placed and the total is 10 dollars and 98 cents. Can I help you with anything else?",
    ],
)
DELI_ITALIAN_SUB_LUNCH: Script = (
    [
        "I want to order lunch and I would like an Italian sub with tomato soup.",
        "I will also take a bag of chips.",
        "I would like an orange juice please.",
        "My name is Tony.",
        "You can reach me at 3 1 4, 5 5 5, 0 1 5 8.",
        "That is everything I need. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Deli Delights. This is Lisa, what can I get for you?",
        "That makes a very good lunch. Would you like anything on the side?",
        "I have added the chips. What would you like to drink?",
        "That is on the list now. What is your name please?",
        "Thank you Tony. What phone number should I use?",
        "Your lunch order is placed and it comes to 18 dollars and 46 cents. Would you like anything more?",
    ],
)
DELI_GRILLED_CHEESE_SOUP: Script = (
    [
        "I would like a grilled cheese sandwich with the chicken soup please.",
        "I would like a bottle of water.",
        "My name is Mia.",
        "My phone number is 3 1 4, 5 5 5, 0 1 1 5.",
        "That is all I wanted. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Deli Delights. This is Lisa, how may I help you?",
        "That is perfect for a cold day. What would you like to drink?",
        "I have written that down. May I have your name for the order?",
        "Thank you very much. Which phone number should I write down?",
        "Your order is placed and the total is 11 dollars and 97 cents. Would you like anything else?",
    ],
)
BURGER_VEGGIE_MILKSHAKE: Script = (
    [
        "I would like to order a veggie burger please.",
        "I would like a strawberry shake with it.",
        "My name is Priya.",
        "My phone number is 3 1 4, 5 5 5, 0 1 9 1.",
        "That was very easy. Thank you and goodbye.",
    ],
    [
        "Thank you for calling Burger Barn. This is Lisa, what would you like today?",
        "The veggie burger is one of my favorites. Would you like a side or a drink?",
        "That is a nice choice. What name can I put on the order?",
        "Thank you for that. What is your phone number?",
        "Your order is placed and it comes to 12 dollars and 98 cents. Can I get you anything else?",
    ],
)
