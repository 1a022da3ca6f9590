"""Menus of the three restaurants, as GetMenuTool reads them out."""

from __future__ import annotations

PIZZA_PALACE_MENU = """\
Pizza Palace

Pizzas
Cheese Pizza: $8.99
Pepperoni Pizza: $9.99
Veggie Pizza: $10.49
BBQ Chicken Pizza: $11.99

Toppings
Extra Cheese: $1.50
Mushrooms: $1.25
Black Olives: $1.25

Sides
Garlic Bread: $3.79
Garden Salad: $4.99

Drinks
Soda: $1.99
Iced Tea: $1.99
Bottled Water: $1.49
"""

BURGER_BARN_MENU = """\
Burger Barn

Burgers
Classic Burger: $6.99
Bacon Cheeseburger: $8.49
Jalapeño Burger: $7.99
Veggie Burger: $7.99

Combos (burger with fries and a soda)
Classic Burger Combo: $9.99
Bacon Cheeseburger Combo: $11.99

Sides
Fries: $2.99
Onion Rings: $3.99

Drinks
Soda: $1.99
Lemonade: $2.29
Chocolate Shake: $4.99
Strawberry Shake: $4.99
Vanilla Shake: $4.99
"""

DELI_DELIGHTS_MENU = """\
Deli Delights

Sandwiches
Turkey Club: $8.49
Italian Sub: $8.99
Grilled Cheese: $5.99
Tuna Melt: $7.79

Soups
Tomato Soup: $4.49
Chicken Soup: $4.49

Sides
Chips: $1.99
Pickle: $0.99

Drinks
Coffee: $2.49
Orange Juice: $2.99
Bottled Water: $1.49
"""
