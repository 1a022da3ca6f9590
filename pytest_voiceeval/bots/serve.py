"""A bot as a process of its own: what ``python -m pytest_voiceeval bot`` runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_voiceeval.bots.model_access import model_access
from pytest_voiceeval.bots.profile import Profile, require_packages
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import get_eval_scenario, list_eval_scenarios

if TYPE_CHECKING:
    from pytest_voiceeval.bots.speech_cache import SpeechCache
    from pytest_voiceeval.scenarios.base import Scenario
    from pytest_voiceeval.scenarios.packs import Pack


async def serve_bot(  # noqa: PLR0913 - independent choices, those beyond the address by keyword
    profile: Profile,
    side: Side,
    port: int,
    host: str = "127.0.0.1",
    *,
    packs: Sequence[Pack] = (),
    variant: str = "gold",
    cache: SpeechCache | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a bot until SIGINT or SIGTERM: for any scenario of the built-in pack and of ``packs``.

    ``on_ready`` is called with the bot's URL when it listens. ``port`` 0 takes a free one.
    ``cache`` keeps what is said of a rehearsal.
    """
    require_packages(profile)
    from pytest_voiceeval.bots.pipeline import running_bot  # noqa: PLC0415 - needs those packages

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    scenarios = _scenarios(packs)
    async with (
        model_access(profile, side, scenarios, variant) as access,
        running_bot(profile, side, access, host=host, port=port, cache=cache) as bot,
    ):
        if on_ready is not None:
            on_ready(bot.url)
        await stop.wait()


def _scenarios(packs: Sequence[Pack]) -> list[Scenario]:
    """Return all scenarios; tools register on the way."""
    for pack in (builtin_pack(), *packs):
        pack.load()
    found = (get_eval_scenario(name) for name in list_eval_scenarios())
    return [scenario for scenario in found if scenario is not None]
