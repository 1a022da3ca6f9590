"""Tools that hand the caller over to somebody else, which ends the call."""

from __future__ import annotations

from typing import Any, ClassVar, Generic

from pytest_voiceeval.tools.checked import CheckedWriteTool, P, is_error


class TransferTool(CheckedWriteTool[P], Generic[P]):
    """Ends the call after its result was delivered. A subclass gives ``PARAMS_MODEL`` and ``run``.

    Attributes:
        EXIT_TEXT: what the bridge is told.
        ENDS_ON_ERROR: a call that is answered with an error ends the conversation, too.
    """

    EXIT_TEXT: ClassVar[str] = "Transfer complete."
    ENDS_ON_ERROR: ClassVar[bool] = False
    NEEDS_DB: ClassVar[bool] = False

    def _ends_conversation_with(self, result: Any) -> bool:
        return self.ENDS_ON_ERROR or not is_error(result)

    async def _after_result(self, result: Any) -> None:
        if not self._ends_conversation_with(result):
            return
        rtvi = self.state.get("__rtvi__")
        if rtvi is None:
            raise RuntimeError(f"{self.name} has no RTVI processor to end the call through")
        await rtvi.send_server_message({"text": f"<exit>{self.EXIT_TEXT}</exit>"})
