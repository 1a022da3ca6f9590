"""Amounts of money as accounts hold them: texts such as ``$1,234.56`` and ``-$9.99``, counted in decimals."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation

_CENT = Decimal("0.01")
_MAX_EXPONENT = 308
_EXACT = Context(prec=2 * _MAX_EXPONENT, rounding=ROUND_HALF_UP)
"""Wide enough that amounts up to the limit are added to the cent, and rounded as a till does."""


def parse_money(text: object) -> Decimal:
    """Return the amount, in dollars, that ``text`` writes: ``$1,234.56``, ``-$9.99``, ``$-5`` or ``7``.

    Raises:
        ValueError: if it writes none.
    """
    written = str(text).strip().replace(",", "")
    digits = written.lstrip("+-").lstrip("$")
    amount = _number(digits, text)
    return amount.copy_negate() if written.startswith("-") else amount


def parse_amount(value: object) -> Decimal:
    """Return an amount that a model gave: a number, or a text that is one.

    Raises:
        ValueError: if it is neither, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not an amount; write a number, such as 49.99")
    return _number(str(value).strip(), value)


def format_money(amount: Decimal) -> str:
    """Return ``amount`` with two decimals: ``$1,234.56``, and below zero ``-$1,234.56``."""
    cents = amount.quantize(_CENT, context=_EXACT)
    sign = "-" if cents < 0 else ""
    return f"{sign}${cents.copy_abs():,f}"


def difference(minuend: Decimal, subtrahend: Decimal) -> Decimal:
    """Return ``minuend`` less ``subtrahend``, exact."""
    return _EXACT.subtract(minuend, subtrahend)


def _number(digits: str, written: object) -> Decimal:
    try:
        amount = Decimal(digits)
    except InvalidOperation:
        raise ValueError(f"{written!r} is not an amount; write a number, such as 49.99") from None
    if not amount.is_finite() or amount.adjusted() > _MAX_EXPONENT:
        raise ValueError(f"{written!r} is not an amount; write a finite number, such as 49.99")
    return amount
