"""A bot by what names it in one text: a profile, a command, or an URL."""

from __future__ import annotations

from pathlib import Path

from pytest_voiceeval.bots.command import ProcessSettings
from pytest_voiceeval.bots.launch import CommandBot, LocalBot, RemoteBot
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.wire.dialect import Dialect

COMMAND = "cmd:"


def named_bot(  # noqa: PLR0913 -- each a part of some kind of bot, by keyword
    side: Side,
    text: str,
    *,
    log: Path,
    variant: str,
    cache_dir: Path | None,
    process: ProcessSettings,
    dialect: Dialect | None = None,
) -> CommandBot | LocalBot | RemoteBot:
    """Return the bot that ``text`` names; nothing is started.

    Args:
        side: which one it plays.
        text: a profile (name or YAML file), ``cmd:`` and a command with ``{port}``, or ``ws://host:port``.
        log: file for what a command prints.
        variant: rehearsal that a rehearsed profile plays.
        cache_dir: folder of spoken lines; ``None`` for none.
        process: how a command is started.
        dialect: how one that is not embedded is spoken to; ``None``: over RTVI, and whether it is a black
            box is found out.

    Raises:
        DefinitionError: if the command or the URL makes no sense.
        ProfileError: if it is a profile that can't be had.
    """
    if text.startswith(COMMAND):
        return _command(side, text.removeprefix(COMMAND), log, process, dialect)
    if "://" in text:
        return _remote(side, text, dialect or Dialect(mode="auto"))
    if dialect is not None and (dialect.protocol != "rtvi" or dialect.mode == "black-box"):
        raise DefinitionError(
            f"the {side} bot {text!r} is embedded: it speaks rtvi and is evaluated; leave protocol and mode "
            "out, or name an agent by an address or a command"
        )
    return LocalBot(side, load_profile(text), variant, cache=SpeechCache(cache_dir))


def _command(
    side: Side, command: str, log: Path, process: ProcessSettings, dialect: Dialect | None
) -> CommandBot:
    return CommandBot(
        side,
        command,
        log,
        start_seconds=process.start_seconds,
        cwd=process.cwd,
        env=process.env,
        packs=process.packs,
        path=process.path,
        dialect=dialect,
    )


def _remote(side: Side, url: str, dialect: Dialect) -> RemoteBot:
    return RemoteBot(
        side,
        url,
        protocol=dialect.protocol,
        mode=dialect.mode,
        pcm_rate=dialect.pcm_rate,
        pcm_encoding=dialect.pcm_encoding,
    )
