"""Sums that a model asks for, computed without evaluating text as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

CHARACTERS = frozenset("0123456789+-*/(). ")
MAX_BITS = 20_000
"""Longest whole number that a sum may come to on its way; Python would take any length, and any time."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def calculate(expression: str) -> float:
    """Return the value of a Python arithmetic expression.

    Raises:
        ValueError: if it has none; with Python's own text where Python has one.
    """
    try:
        tree = ast.parse(expression.lstrip(" "), "<string>", "eval")
        return float(_value(tree.body))
    except (SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError) as exc:
        raise ValueError(str(exc)) from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            return _UNARY[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            operands = _value(left), _value(right)
            _check_size(operation, *operands)
            return _BINARY[type(operation)](*operands)
        case ast.Call(func=called):
            raise TypeError(f"'{type(_value(called)).__name__}' object is not callable")
        case ast.Tuple(elts=[]):
            return ()
        case _:
            raise TypeError(f"{ast.unparse(node)} is no number")


def _check_size(operation: ast.operator, left: Any, right: Any) -> None:
    """Raise ``OverflowError`` before whole numbers come to one that is too long."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return
    if isinstance(operation, ast.Pow):
        bits = left.bit_length() * max(right, 0) if abs(left) > 1 else 1
    elif isinstance(operation, ast.Mult):
        bits = left.bit_length() + right.bit_length()
    else:
        return
    if bits > MAX_BITS:
        raise OverflowError("int too large to convert to float")
