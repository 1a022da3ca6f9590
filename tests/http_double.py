"""What doubles of endpoints over HTTP have in common: they serve on a free port of loopback meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from aiohttp import web

from pytest_voiceeval.bots.listening import listening_socket

Act = Callable[[web.Request], Awaitable[web.StreamResponse]]


class HttpDouble:
    """Serves ``routes`` in an ``async with``.

    Attributes:
        port: where it listens.
        base_url: its address up to and with ``/v1``.
    """

    def routes(self) -> Mapping[str, Act]:
        """Return what answers a POST, by its path."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        app = web.Application()
        for path, act in self.routes().items():
            app.router.add_post(path, act)
        listening = listening_socket("127.0.0.1", 0)
        self.port = listening.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
