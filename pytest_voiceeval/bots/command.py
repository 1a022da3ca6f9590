"""A command that serves a bot: its words, and the surroundings it is started in."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.wire.address import without_secrets

PORT = "{port}"
"""Stands in a command where it takes its port."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class ProcessSettings:
    """How a command is started.

    Attributes:
        start_seconds: time that it has from its start until its bot is ready for a call.
        cwd: the folder that it runs in; ``None`` for that of this process.
        env: environment variables beside those of this process; secrets may be among them.
        packs: folders of packs that it is to know.
        path: where on its port it takes calls, such as ``/ws``; empty for the root.
    """

    start_seconds: float = 60.0
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    packs: tuple[Path, ...] = ()
    path: str = ""


def command_words(command: str) -> list[str]:
    """Return the words of ``command``, split as a shell does.

    Raises:
        DefinitionError: if it cannot be read, or has no place for the port.
    """
    try:
        words = shlex.split(command)
    except ValueError as exc:
        raise DefinitionError(f"cmd:{without_secrets(command)}: {exc}") from None
    if not words:
        raise DefinitionError("cmd: write a command, such as cmd:python bot.py --port {port}")
    if not any(PORT in word for word in words):
        raise DefinitionError(
            f"cmd:{without_secrets(command)}: write {PORT} where the command takes its port"
        )
    return words


def obstacle(words: list[str], settings: ProcessSettings, environment: Mapping[str, str]) -> str:
    """Return why a command cannot be started, and what to do; empty if it can be, as far as one sees."""
    if settings.cwd is not None and not settings.cwd.is_dir():
        return f"there is no folder {settings.cwd} to run it in; name one that is there"
    program = words[0]
    if os.sep in program:
        path = (settings.cwd or Path()) / program
        if not path.exists():
            return f"there is no program {path}; correct the path, which starts at the folder it runs in"
        return (
            "" if os.access(path, os.X_OK) else f"{path} is no program that may be run; see its permissions"
        )
    if shutil.which(program, path=environment.get("PATH")) is None:
        return f"there is no program {program!r} on the PATH; install it, or write where it is"
    return ""


def url_path(text: str) -> str:
    """Return the path of an URL, perhaps with a query; empty if ``text`` is.

    Raises:
        ValueError: if it is none.
    """
    text = text.strip()
    if text and (not text.startswith("/") or re.search(r"[\s#\x00-\x1f]", text)):
        raise ValueError("write the path at which the bot takes calls, such as /ws")
    return text


def variable(text: str) -> tuple[str, str]:
    """Return the name and the value in ``NAME=VALUE``.

    Raises:
        ValueError: if it is not of that form; the text shows no value.
    """
    name, is_set, value = text.strip().partition("=")
    if not is_set:
        raise ValueError("has no '='; write NAME=VALUE")
    if not _NAME.fullmatch(name):
        raise ValueError("has no name of letters, digits and _ before the '='; write NAME=VALUE")
    if "\0" in value:
        raise ValueError(f"({name}) has a NUL in its value, which no variable can hold")
    return name, value


def is_variable(text: str) -> bool:
    """Return whether ``text`` is ``NAME=VALUE``."""
    try:
        return bool(variable(text))
    except ValueError:
        return False
