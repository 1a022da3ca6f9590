"""What a row of the table of options is, and how the texts of values are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pytest

from pytest_voiceeval.wire.address import without_secrets

T = TypeVar("T")


@dataclass(frozen=True)
class Option(Generic[T]):
    """One setting. Flag beats ini beats default; values stay texts until they are parsed.

    Attributes:
        key: the ini key and the flag's name; a flag has dashes.
        parse: text to value; raises ``ValueError``, whose text is the remedy.
        default: as text.
        help: one line for ``--help``.
        metavar: what ``--help`` calls the value.
        is_switch: the flag takes no value, and has an opposite that begins with ``--no-``.
        is_list: the flag may be given several times; commas join the values.
        is_lines: the flag may be given several times, the ini key has a line for each; a value has no commas
            of meaning.
        is_secret: values stand in no message and no file.
        if_empty: the remedy where the flag is given an empty value, if that is wrong only of a flag.
    """

    key: str
    parse: Callable[[str], T]
    default: str
    help: str
    metavar: str = "TEXT"
    is_switch: bool = False
    is_list: bool = False
    is_lines: bool = False
    is_secret: bool = False
    if_empty: str = ""

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return "--" + self.key.replace("_", "-")

    def declare(self, parser: pytest.Parser, group: pytest.OptionGroup) -> None:
        """Make pytest accept the flag and the ini key."""
        if self.is_lines:
            parser.addini(self.key, self.help, type="linelist", default=self.default.splitlines())
        else:
            parser.addini(self.key, self.help, default=self.default)
        shape: dict[str, Any] = (
            {"action": "store_const", "const": "true"} if self.is_switch else {"metavar": self.metavar}
        )
        if self.is_list or self.is_lines:
            shape["action"] = JoiningLines if self.is_lines else Joining
        text = f"{self.help} [ini: {self.key}]".replace("%", "%%")
        group.addoption(self.flag, dest=self.key, default=None, help=text, **shape)
        if self.is_switch:
            opposite = {"action": "store_const", "const": "false", "help": f"the opposite of {self.flag}"}
            group.addoption(f"--no-{self.flag[2:]}", dest=self.key, default=None, **opposite)

    def read(self, config: pytest.Config) -> T:
        """Return the value that holds in this run.

        Raises:
            pytest.UsageError: naming flag or ini key, and the remedy.
        """
        text = self.text(config)
        try:
            if self.if_empty and self.is_flagged(config) and not all(map(str.strip, text.split(","))):
                raise ValueError(self.if_empty)
            return self.parse(text)
        except ValueError as exc:
            given = self.name(config) if self.is_secret else f"{self.name(config)}={without_secrets(text)}"
            raise pytest.UsageError(f"{given}: {exc}") from None

    def text(self, config: pytest.Config) -> str:
        """Return the value as it was given; of several lines, one below the other."""
        given = config.getoption(self.key) if self.is_flagged(config) else config.getini(self.key)
        return "\n".join(given) if isinstance(given, list) else str(given)

    def name(self, config: pytest.Config) -> str:
        """Return what the value was given as: the flag, or the ini key."""
        return self.flag if self.is_flagged(config) else self.key

    def is_flagged(self, config: pytest.Config) -> bool:
        """Return whether the flag was given."""
        return config.getoption(self.key) is not None


class Joining(argparse.Action):
    """Joins the values of a flag that is given several times with commas: xdist carries a text."""

    between = ","

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Put the value behind those that came before it."""
        before = getattr(namespace, self.dest)
        joined = str(values) if before is None else f"{before}{self.between}{values}"
        setattr(namespace, self.dest, joined)


class JoiningLines(Joining):
    """Joins them with line ends."""

    between = "\n"


def words(text: str) -> tuple[str, ...]:
    """Return what stands between the commas of ``text``."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def seconds(text: str) -> float:
    """Return a positive, finite number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise ValueError("write a number of seconds above 0, such as 45 or 2.5")
    return value


def seconds_or_empty(text: str) -> float | None:
    """Return a number of seconds; ``None`` for an empty text."""
    return seconds(text) if text.strip() else None


def seconds_or_none(text: str) -> float | None:
    """Return a number of seconds; ``None`` for the word ``none``."""
    if text.strip().lower() == "none":
        return None
    try:
        return seconds(text)
    except ValueError as exc:
        raise ValueError(f"{exc}, or none") from None


def seconds_or_zero(text: str) -> float:
    """Return a number of seconds that may be 0."""
    try:
        return 0.0 if text.strip() and float(text) == 0 else seconds(text)
    except ValueError:
        raise ValueError("write a number of seconds, 0 or more") from None


def whole_number(text: str) -> int:
    """Return a whole number from 0."""
    if not text.strip().isdecimal():
        raise ValueError("write a whole number, 0 or more")
    return int(text)


def number_from_one(text: str) -> int:
    """Return a whole number from 1."""
    if not text.strip().isdecimal() or not int(text):
        raise ValueError("write a whole number from 1, such as 4")
    return int(text)


def boolean(text: str) -> bool:
    """Return a truth value."""
    word = text.strip().lower()
    if word not in ("true", "false", "yes", "no", "on", "off", "1", "0"):
        raise ValueError("write true or false")
    return word in ("true", "yes", "on", "1")


def non_empty(text: str) -> str:
    """Return a text that is not empty."""
    if not text.strip():
        raise ValueError("write a value, or leave it out")
    return text
