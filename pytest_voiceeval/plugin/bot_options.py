"""What options say of bots: which URL a worker takes, and how a command is started."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from pytest_voiceeval.bots.command import is_variable, url_path, variable
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.plugin.option import Option, words
from pytest_voiceeval.wire.address import websocket_url

_PLACE = re.compile(r"\{(?:(?P<first>\d+)\+)?worker\}")
_HOST = "{host}"
_BRACES = re.compile(r"\{[^{}]*\}")

_URL_REMEDY = (
    "write ws://host:port, or several with commas between them; {worker} in one stands for the worker's "
    "number from 0, {8765+worker} for that and a number, {host} for the name of its machine"
)


def endpoint(text: str) -> str:
    """Return what names a bot: a profile, a command, or URLs; only its form is checked."""
    text = text.strip()
    kind, _, rest = text.partition(":")
    if kind == "cmd" and "{port}" not in rest:
        raise ValueError("put {port} where the command takes its port, as in cmd:python bot.py --port {port}")
    if kind != "cmd" and "://" in text:
        if not is_url_list(text):
            raise ValueError(_URL_REMEDY)
        for braces in _BRACES.findall(text):
            if braces != _HOST and not _PLACE.fullmatch(braces):
                raise ValueError(f"{braces} stands for nothing; {_URL_REMEDY}")
    if not text:
        raise ValueError("write a value, or leave it out")
    return text


def is_url_list(text: str) -> bool:
    """Return whether ``text`` is one or more WebSocket URLs."""
    urls = words(text)
    return bool(urls) and all(url.startswith(("ws://", "wss://")) for url in urls)


def url_of(text: str, place: int) -> str:
    """Return the URL that a list of URLs has for who has ``place``, counted from 0.

    The places in an URL are filled in: ``{worker}``, ``{8765+worker}``, ``{host}``. An URL that has the
    place in it serves any number of places.

    Raises:
        LookupError: if there are too few.
    """
    urls = words(text)
    if len(urls) == 1 and _PLACE.search(urls[0]):
        url = urls[0]
    elif place < len(urls):
        url = urls[place]
    elif len(urls) == 1 and _HOST in urls[0]:
        url = urls[0]
    else:
        raise LookupError(f"there is no URL for place {place}, only {len(urls)}")
    filled = _PLACE.sub(lambda found: str(int(found["first"] or 0) + place), url)
    return filled.replace(_HOST, socket.gethostname())


def too_few_urls(text: str, hosts: list[str], calls: int = 1) -> str:
    """Return why a list of URLs does not do for one worker on each of ``hosts``; empty if it does.

    Args:
        text: the list.
        hosts: the machine of each worker that runs at once; the same name for the same machine.
        calls: how many each worker holds at once.
    """
    urls = words(text)
    needed = len(hosts) * calls
    if len(urls) == 1 and _PLACE.search(urls[0]):
        return _beyond_ports(text, needed) if needed > 1 else ""
    if len(urls) == 1 and _HOST in urls[0]:
        most = max(map(hosts.count, hosts), default=0)
        if most * calls <= 1:
            return ""
        what = f"{most} workers on one machine" if most > 1 else f"{calls} calls at once on one machine"
        return f"1 URL for {what}; put {{worker}} into it"
    if len(urls) >= needed:
        return ""
    given = f"there is {len(urls)} URL" if len(urls) == 1 else f"there are {len(urls)} URLs"
    held = f"{len(hosts)} workers hold {f'{calls} calls each' if calls > 1 else 'calls'} at once"
    fewer = f"-n{max(len(urls) // calls, 1)}"
    if len(hosts) == 1:
        held, fewer = f"{calls} calls are held at once", f"--voice-concurrency={len(urls)}"
    return (
        f"{given}, and {held}; give {needed} with commas between them (the same one again if its bot takes "
        f"several calls at once), put {{worker}} into one, or run with {fewer}"
    )


def _beyond_ports(text: str, needed: int) -> str:
    """Return that the last of the URLs that ``text`` stands for is none; empty if it is one."""
    try:
        websocket_url(url_of(text, needed - 1))
    except DefinitionError as exc:
        return f"for call {needed} of {needed} that are held at once it stands for what is none: {exc}"
    return ""


def environment(text: str) -> dict[str, str]:
    """Return the variables that lines of ``NAME=VALUE`` set.

    Raises:
        ValueError: if a line is none; the text shows no value.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return dict(map(variable, lines))
    except ValueError as exc:
        number = next(n for n, line in enumerate(lines, 1) if not is_variable(line))
        raise ValueError(f"entry {number} of {len(lines)} {exc}" if len(lines) > 1 else f"it {exc}") from None


def _of_agent_and_user(option: str) -> tuple[str, str]:
    return f"voice_agent_{option}", f"voice_user_{option}"


AGENT_CWD, USER_CWD = (
    Option(
        key,
        str.strip,
        "",
        f"folder in which the 'cmd:' bot of the {side} runs (default: where pytest was started)",
        "DIR",
        if_empty="write a folder, or leave it out",
    )
    for key, side in zip(_of_agent_and_user("cwd"), ("agent", "user"), strict=True)
)
AGENT_ENV, USER_ENV = (
    Option(
        key,
        environment,
        "",
        f"environment variable of the 'cmd:' bot of the {side}, beside those of pytest; may be given several "
        "times; values stand in no file and no message of ours",
        "NAME=VALUE",
        is_lines=True,
        is_secret=True,
    )
    for key, side in zip(_of_agent_and_user("env"), ("agent", "user"), strict=True)
)


AGENT_PATH = Option(
    "voice_agent_path",
    url_path,
    "",
    "where on its port an agent that is a 'cmd:' bot takes calls, such as /ws (default: the root)",
    "PATH",
    if_empty="write a path, such as /ws, or leave it out",
)


def working_folder(option: Option[str], config: pytest.Config, base: Path) -> Path | None:
    """Return the folder that ``option`` names, relative to ``base``; ``None`` without it.

    Raises:
        pytest.UsageError: if there is no such folder.
    """
    text = option.read(config)
    if not text:
        return None
    folder = base / Path(text).expanduser()
    if not folder.is_dir():
        raise pytest.UsageError(
            f"{option.name(config)}={text}: there is no folder {folder}; name the one that the command is to "
            "run in"
        )
    return folder.resolve()
