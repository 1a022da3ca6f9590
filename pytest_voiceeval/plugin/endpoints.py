"""The bots of a run, made from what the options name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pytest_voiceeval.bots.named import COMMAND, named_bot
from pytest_voiceeval.bridge.endpoint import Endpoint
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.plugin.bot_options import is_url_list, url_of
from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.run.lending import SeveralBots
from pytest_voiceeval.run.session import RunFolder


@contextlib.contextmanager
def running_endpoint(side: Side, settings: Settings, folder: RunFolder | None) -> Iterator[Endpoint]:
    """Yield the bot of ``side``, and give up what it holds in the end.

    Args:
        side: which one.
        settings: name it.
        folder: of the run, for what a command prints; ``None`` where no call is held, so nothing starts.

    Raises:
        ProfileError: if it is a profile that can't be had.
    """
    is_command = _named(side, settings).startswith(COMMAND)
    log_folder = folder.open() if folder and is_command else Path()
    slots = settings.concurrency if takes_slots(_named(side, settings)) else 1
    bots = [make_endpoint(side, settings, log_folder, slot) for slot in range(slots)]
    endpoint = bots[0] if len(bots) == 1 else SeveralBots(bots)
    try:
        yield endpoint
    finally:
        endpoint.close()


def takes_slots(text: str) -> bool:
    """Return whether each call that is held at once with others needs a bot of its own that is named so."""
    return text.startswith(COMMAND) or is_url_list(text)


def make_endpoint(side: Side, settings: Settings, log_folder: Path, slot: int = 0) -> Endpoint:
    """Return the bot that the settings name for ``side``; nothing is started.

    A bot that is a command writes what it prints into ``log_folder``. Of several URLs the one of the worker
    and ``slot`` is taken, the number of the bot among those that this process has at once: this is the one
    place where these numbers become an URL or the name of a file.

    Raises:
        DefinitionError: if the command or the URL makes no sense, or there is no URL for this worker.
        ProfileError: if it is a profile that can't be had.
    """
    text = _named(side, settings)
    place = settings.worker * settings.concurrency + slot
    try:
        own = url_of(text, place) if is_url_list(text) else text
    except LookupError as exc:
        raise DefinitionError(str(exc)) from None
    return named_bot(
        side,
        own,
        log=log_folder / f"bot_{side}_{place}.log",
        variant=settings.rehearsal,
        cache_dir=settings.cache_dir,
        process=settings.agent_process if side == "agent" else settings.user_process,
        dialect=settings.dialect if side == "agent" else None,
    )


def _named(side: Side, settings: Settings) -> str:
    return settings.agent if side == "agent" else settings.user
