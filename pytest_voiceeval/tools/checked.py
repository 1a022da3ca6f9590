"""Tools of benchmarks: arguments checked by a model, a synchronous step, errors as results."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_voiceeval.tools.base import StandardSchemaTool
from pytest_voiceeval.tools.params import error_details, parameter_properties, required_parameters
from pytest_voiceeval.tools.registry import tool_name
from pytest_voiceeval.tools.write import WriteScenarioTool
from pytest_voiceeval.world.overlay import plain_copy

P = TypeVar("P", bound=BaseModel)


class Params(BaseModel):
    """Parameters of a tool; an argument that is none of them is refused."""

    model_config = ConfigDict(extra="forbid")


class NoParams(Params):
    """For a tool without parameters."""


class ToolRefusal(Exception):  # noqa: N818 - an answer of a tool
    """What a tool raises to answer a call with an error: nothing was changed, nothing is recorded."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type

    @property
    def result(self) -> dict[str, Any]:
        """The answer."""
        return error_result(self.error_type, str(self))


def error_result(error_type: str, message: str, **more: Any) -> dict[str, Any]:
    """Return a result that tells the model of an error."""
    return {"status": "error", "error_type": error_type, "message": message, **more}


def is_error(result: Any) -> bool:
    """Return whether a tool's result tells of an error."""
    return isinstance(result, dict) and (result.get("status") == "error" or result.keys() == {"error"})


def action_name(name: str) -> str:
    """Return what tasks and records call a tool: ``BookReservationTool`` is ``book_reservation``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.removesuffix("Tool")).lower()


class CheckedTool(StandardSchemaTool, Generic[P]):
    """A tool that checks the arguments of each call against ``PARAMS_MODEL``, then runs on the database.

    A subclass gives ``PARAMS_MODEL`` and ``run``. ``invoke`` does the same as a call of the model, without
    delivering: a replay uses it.

    Attributes:
        PARAMS_MODEL: the parameters; what the model is told of them follows from it.
        VALIDATION_ERROR: the ``error_type`` that answers arguments which do not fit.
        NEEDS_DB: a call without a database is answered with an error.
        NO_DB_MESSAGE: the text of that error.
        state: the bot's shared state; the tool's own empty one if none was injected.
    """

    PARAMS_MODEL: ClassVar[type[BaseModel]]
    VALIDATION_ERROR: ClassVar[str] = "validation_error"
    NEEDS_DB: ClassVar[bool] = True
    NO_DB_MESSAGE: ClassVar[str] = "Scenario database not loaded. This indicates a fixture-loading bug."

    def __init__(
        self,
        *,
        shared_state: dict[str, Any] | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self.state: dict[str, Any] = {} if shared_state is None else shared_state

    @property
    def properties(self) -> dict[str, Any]:
        """The parameters of ``PARAMS_MODEL``."""
        return parameter_properties(self.PARAMS_MODEL)

    @property
    def required_properties(self) -> list[str]:
        """Those without a default."""
        return required_parameters(self.PARAMS_MODEL)

    @property
    def action_name(self) -> str:
        """What tasks and records call this tool, whatever the model calls it by."""
        return action_name(tool_name(type(self)))

    @property
    def db(self) -> dict[str, Any]:
        """The database."""
        db: dict[str, Any] = self.state["db"]
        return db

    def invoke(self, /, **arguments: Any) -> Any:
        """Return the raw result of a call: of ``run``, or the error that answers it.

        What is returned is a copy: it does not change with the database.
        """
        try:
            params = self.PARAMS_MODEL.model_validate(arguments)
        except ValidationError as error:
            return self.refusal(error)
        if self.NEEDS_DB and not self.state.get("db"):
            return error_result("db_not_initialized", self.NO_DB_MESSAGE)
        try:
            return plain_copy(self.run(params))  # type: ignore[arg-type]  # PARAMS_MODEL is the class of P
        except ToolRefusal as refusal:
            return refusal.result

    async def _execute(self, /, **arguments: Any) -> Any:
        return self.invoke(**arguments)

    @abstractmethod
    def run(self, params: P) -> Any:
        """Do the work and return the result; raise ``ToolRefusal`` before anything is changed."""

    def refusal(self, error: ValidationError) -> dict[str, Any]:
        """Return the answer to arguments that do not fit."""
        details = error_details(error)
        return error_result(self.VALIDATION_ERROR, "Tool arguments failed validation.", details=details)


class CheckedWriteTool(CheckedTool[P], WriteScenarioTool, Generic[P]):
    """A checked tool that changes the database and records each change.

    ``ACTION_TYPES`` has the tool's action name, unless it is declared.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "ACTION_TYPES" not in vars(cls):
            cls.ACTION_TYPES = [action_name(tool_name(cls))]

    def record_call(self, params: P, result: dict[str, Any]) -> None:
        """Record a change: the checked arguments in the order of their declaration, and what came of them."""
        self.record(
            {
                "action_type": self.action_name,
                "name": self.action_name,
                "arguments": params.model_dump(mode="json"),
                "result": result,
            }
        )
