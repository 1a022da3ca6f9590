"""A bot by what names it in one text: a profile, a command, or an URL."""

from __future__ import annotations

from pathlib import Path

from pytest_voiceeval.bots.command import ProcessSettings
from pytest_voiceeval.bots.launch import CommandBot, LocalBot, RemoteBot
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.model.turns import Side

COMMAND = "cmd:"


def named_bot(
    side: Side, text: str, *, log: Path, variant: str, cache_dir: Path | None, process: ProcessSettings
) -> CommandBot | LocalBot | RemoteBot:
    """Return the bot that ``text`` names; nothing is started.

    Args:
        side: which one it plays.
        text: a profile (name or YAML file), ``cmd:`` and a command with ``{port}``, or ``ws://host:port``.
        log: file for what a command prints.
        variant: rehearsal that a rehearsed profile plays.
        cache_dir: folder of spoken lines; ``None`` for none.
        process: how a command is started.

    Raises:
        DefinitionError: if the command or the URL makes no sense.
        ProfileError: if it is a profile that can't be had.
    """
    if "://" in text and not text.startswith(COMMAND):
        return RemoteBot(side, text)
    if text.startswith(COMMAND):
        return CommandBot(
            side,
            text.removeprefix(COMMAND),
            log,
            start_seconds=process.start_seconds,
            cwd=process.cwd,
            env=process.env,
        )
    return LocalBot(side, load_profile(text), variant, cache=SpeechCache(cache_dir))
