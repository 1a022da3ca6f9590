"""The marks of scenarios: ``voice``, and one a domain where that word is free."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

VOICE_MARK = "voice"
SCENARIO_MARK = "voice_scenario"

RESERVED_MARKS = frozenset(
    {
        *("parametrize", "skip", "skipif", "xfail", "usefixtures", "filterwarnings", "tryfirst", "trylast"),
        *("asyncio", "anyio", "timeout", "flaky", "xdist_group", "forked", "django_db", "no_cover", "vcr"),
        *("enable_socket", "disable_socket", "allure_label", "allure_link", "allure_display_name"),
        SCENARIO_MARK,
    }
)
"""Words that mean something else to pytest or to one of its plugins, whether it is there or not."""


@dataclass(frozen=True)
class Marks:
    """Which marks scenarios carry in this run.

    Attributes:
        taken: markers that somebody else has registered: no domain gets one of these.
    """

    taken: frozenset[str] = frozenset()

    @classmethod
    def of_config(cls, config: pytest.Config) -> Marks:
        """Return them; to be asked before markers of our own are registered."""
        return cls(frozenset(registered(config)))

    @property
    def voice_is_ours(self) -> bool:
        """Whether nobody else has a marker ``voice``."""
        return VOICE_MARK not in self.taken

    def of_scenario(self, name: str) -> str | None:
        """Return the mark of a scenario's domain; ``None`` if the word means something else."""
        from pytest_voiceeval.scenarios.registry import scenario_domain  # noqa: PLC0415 - heavy

        mark = re.sub(r"\W", "_", scenario_domain(name))
        return mark if self._is_free(mark) else None

    def may_be_domains(self, words: Iterable[str]) -> set[str]:
        """Return those of ``words`` that could be the mark of a domain."""
        return {word for word in words if word != VOICE_MARK and _is_domain(word) and self._is_free(word)}

    def _is_free(self, mark: str) -> bool:
        return mark not in RESERVED_MARKS and mark not in self.taken


def _is_domain(word: str) -> bool:
    return "__" not in word and re.fullmatch(r"\w+", word) is not None


def registered(config: pytest.Config) -> set[str]:
    """Return the names of all markers that are registered."""
    lines: list[str] = config.getini("markers")
    return {re.split(r"[:(\s]", line.strip(), maxsplit=1)[0] for line in lines}


def register(config: pytest.Config, marks: Iterable[str]) -> None:
    """Register the marks of domains, each once."""
    present = registered(config)
    for mark in dict.fromkeys(marks):
        if mark not in present:
            config.addinivalue_line("markers", f"{mark}: voice scenarios of this domain")


def marks_on(target: object) -> list[pytest.MarkDecorator | pytest.Mark]:
    """Return the marks that a class or a module carries as ``pytestmark``."""
    marks = getattr(target, "pytestmark", [])
    return list(marks) if isinstance(marks, list | tuple) else [marks]
