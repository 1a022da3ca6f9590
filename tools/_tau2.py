"""What the two customer-service domains of tau2 share: whole numbers, a calculator, and the handover."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pytest_voiceeval.tools import CheckedTool, Params, ToolRefusal, TransferTool

from ._arithmetic import CHARACTERS, calculate

MAX_WHOLE = 10**300
"""Numbers beyond it are no amounts of money, and no floats either."""


def _within_reason(value: int) -> int:
    if abs(value) > MAX_WHOLE:
        raise PydanticCustomError("int_parsing_size", "Input should be a number of reasonable size")
    return value


Whole = Annotated[int, AfterValidator(_within_reason)]

Row = dict[str, Any]


def success(**more: Any) -> Row:
    """Return the result of a tool that has no row to return."""
    return {"status": "success", **more}


class CalculateParams(Params):
    """Parameters of the calculator."""

    expression: str = Field(
        description="The sum, such as '2 * (3 + 4.50)': numbers, the operators + - * /, and parentheses."
    )


class CalculateTool(CheckedTool[CalculateParams]):
    """Works out a sum."""

    description = "Work out an arithmetic expression, rounded to cents."
    PARAMS_MODEL = CalculateParams
    NEEDS_DB = False

    def run(self, params: CalculateParams) -> Row:
        if not set(params.expression) <= CHARACTERS:
            raise ToolRefusal("value_error", "Invalid characters in expression")
        try:
            value = calculate(params.expression)
        except ValueError as exc:
            raise ToolRefusal("value_error", f"Invalid expression: {exc}") from None
        return success(result=str(round(value, 2)))


class TransferParams(Params):
    """Parameters of the handover."""

    summary: str = Field(description="What the caller needs, for the person who takes over.")


class TransferToHumanAgentsTool(TransferTool[TransferParams]):
    """Hands the caller over to a person; the call is over then, also if the arguments were wrong."""

    description = (
        "Hand the caller over to a human agent. Use it only where the policy says so, or where the caller "
        "asks for a person and nothing here can help. It ends the call."
    )
    PARAMS_MODEL = TransferParams
    ENDS_ON_ERROR = True

    def run(self, params: TransferParams) -> Row:
        self.record_call(params, {"message": "Transfer successful"})
        return success(message="Transfer successful")
