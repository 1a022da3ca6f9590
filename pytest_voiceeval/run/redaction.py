"""Secrets out of texts that are written down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_voiceeval.wire.address import REDACTED, SECRET, secret_values, without_secrets

ENVIRONMENT_FLAGS = ("--voice-agent-env", "--voice-user-env", "--agent-env", "--user-env")
"""Flags whose values are ``NAME=VALUE``; whatever the value is, it may be a secret."""

_INI = re.compile(r"((?:-o|--override-ini=)?voice_(?:agent|user)_env=)(.*)", re.DOTALL)
_VARIABLE = re.compile(rf"(?i){SECRET}$")
_SECRET_FLAG = re.compile(rf"(?i)-[^=]*{SECRET}$")


def redacted(value: Any, environment: Mapping[str, str]) -> Any:
    """Return ``value`` with the secrets in its texts replaced.

    A secret is what the name before it says to be one: the value of a key, a flag, a variable or a part of
    an URL; user and password of an URL; and what a variable of ``environment`` with such a name holds.
    """
    if isinstance(value, Mapping):
        return {
            key: REDACTED if inner and _VARIABLE.search(str(key)) else redacted(inner, environment)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return _redacted_list(list(value), environment)
    return _redacted_text(value, environment) if isinstance(value, str) else value


def _redacted_list(values: list[Any], environment: Mapping[str, str]) -> list[Any]:
    """Return arguments of a command: a value may stand in the one behind its flag."""
    found = []
    is_secret = False
    for value in values:
        found.append(REDACTED if is_secret else redacted(value, environment))
        is_secret = isinstance(value, str) and _SECRET_FLAG.match(value) is not None
    return found


def _redacted_text(text: str, environment: Mapping[str, str]) -> str:
    for secret in secret_values(environment):
        text = text.replace(secret, REDACTED)
    return without_secrets(text)


def without_environment(arguments: Sequence[str]) -> list[str]:
    """Return arguments of a command line, with the values of environment variables left out."""
    found: list[str] = []
    is_value = False
    for argument in arguments:
        flag, is_joined, given = argument.partition("=")
        if is_value:
            found.append(names_only(argument))
        elif is_joined and flag in ENVIRONMENT_FLAGS:
            found.append(f"{flag}={names_only(given)}")
        elif ini := _INI.fullmatch(argument):
            found.append(f"{ini[1]}{names_only(ini[2])}")
        else:
            found.append(argument)
        is_value = not is_value and argument in ENVIRONMENT_FLAGS
    return found


def names_only(lines: str) -> str:
    """Return lines of ``NAME=VALUE`` without their values."""
    return "\n".join(f"{line.partition('=')[0].strip()}={REDACTED}" for line in lines.splitlines())
