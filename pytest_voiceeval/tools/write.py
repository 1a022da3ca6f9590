"""Tools that change the world, and the records they keep of it."""

from __future__ import annotations

import asyncio
import copy
import logging
from abc import ABC
from typing import Any, ClassVar

from pytest_voiceeval.tools.base import StandardSchemaTool
from pytest_voiceeval.tools.registry import DEFAULT_DOMAIN

logger = logging.getLogger(__name__)


class WriteScenarioTool(StandardSchemaTool, ABC):
    """A tool that changes the shared state and records each change.

    Attributes:
        ACTION_TYPES: the ``action_type`` values that its records may have.
        state: the bot's shared state; the tool's own empty one if none was injected.
    """

    ACTION_TYPES: ClassVar[list[str]] = []

    def __init__(
        self,
        *,
        shared_state: dict[str, Any] | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self.state: dict[str, Any] = {} if shared_state is None else shared_state
        self._pushes: set[asyncio.Task[None]] = set()

    def record(self, action: dict[str, Any]) -> None:
        """Append a copy of ``action`` to ``state["actions"]`` and tell the bridge; call it on success only.

        A record has ``action_type``, ``name``, ``arguments`` and ``result``. A type that is not among
        ``ACTION_TYPES`` is recorded all the same, with a warning in the log.
        """
        kind = action.get("action_type")
        if kind not in self.ACTION_TYPES:
            logger.warning("tool %s records '%s', which is none of its ACTION_TYPES", self.name, kind)
        kept = copy.deepcopy(action)
        self.state.setdefault("actions", []).append(kept)
        self._announce(kept)

    def _record_action(self, action: dict[str, Any]) -> None:
        """Do what ``record`` does; the name that tool files use."""
        self.record(action)

    def _next_call_index(self) -> int:
        """Return how often this was called for this tool's name in this scenario: 1 the first time."""
        counts = self.state.setdefault("_call_counts", {})
        counts[self.name] = counts.get(self.name, 0) + 1
        return int(counts[self.name])

    def _announce(self, action: dict[str, Any]) -> None:
        rtvi = self.state.get("__rtvi__")
        if not hasattr(rtvi, "send_server_message"):
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # replayed outside of a call
            return
        domain = self.state.get("__tool_domain__", DEFAULT_DOMAIN)
        event = {"type": "action-applied", "action": copy.deepcopy(action), "tool_domain": domain}
        push = loop.create_task(self._push(rtvi, event))
        self._pushes.add(push)
        push.add_done_callback(self._pushes.discard)

    async def _push(self, rtvi: Any, event: dict[str, Any]) -> None:
        try:
            await rtvi.send_server_message(event)
        except Exception:  # the record stands; the bridge pulls it after the call
            logger.exception("tool %s: the bridge could not be told of an action", self.name)
