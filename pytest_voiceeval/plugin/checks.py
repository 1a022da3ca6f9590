"""What is refused before anything runs: bots, a judge, or a place for results, that cannot be had."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import ClockError, DefinitionError, ProfileError
from pytest_voiceeval.plugin import options
from pytest_voiceeval.plugin.judge_options import URL
from pytest_voiceeval.plugin.option import Option
from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.plugin.workers import demand_urls
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.wire.address import without_secrets

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.turns import Side


def check_bots(config: pytest.Config, settings: Settings) -> None:
    """Refuse a bot that cannot be had, or not with the clock that is asked for."""
    from pytest_voiceeval.bridge.clock import choose_clock  # noqa: PLC0415 - heavy
    from pytest_voiceeval.plugin.endpoints import make_endpoint  # noqa: PLC0415 - heavy

    if config.getoption("dist", default="no") == "no":
        demand_urls(settings, [""])
    bots: list[Endpoint] = []
    named: tuple[tuple[Side, Option[str], str], ...] = (
        ("user", options.USER, settings.user),
        ("agent", options.AGENT, settings.agent),
    )
    for side, option, text in named:
        try:
            bots.append(make_endpoint(side, settings, Path()))
        except (ProfileError, DefinitionError) as exc:
            raise pytest.UsageError(f"{option.name(config)}={without_secrets(text)}: {exc}") from exc
    try:
        choose_clock(settings.clock, *bots)
    except ClockError as exc:
        raise pytest.UsageError(f"{options.CLOCK.name(config)}={settings.clock}: {exc}") from exc


def check_judge(config: pytest.Config, settings: Settings) -> None:
    """Refuse a judge that cannot be asked for lack of a key."""
    if settings.judge is None:
        return
    from pytest_voiceeval.scoring.judge_endpoint import missing_key  # noqa: PLC0415 - heavy

    if why := missing_key(settings.judge):
        raise pytest.UsageError(f"{URL.name(config)}={settings.judge.url}: {why}")


def check_folder(config: pytest.Config, settings: Settings, folder: RunFolder) -> None:
    """Refuse a place for the results in which no folder can be made."""
    try:
        folder.check()
    except OSError as exc:
        raise pytest.UsageError(
            f"{options.OUTPUT_DIR.name(config)}={settings.output_dir}: no folder can be made there "
            f"({exc.strerror}); name a folder that you may write in"
        ) from exc
