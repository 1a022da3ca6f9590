"""The hooks that are always there; what else a run needs is registered when it is configured."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import ClockError, DefinitionError, ProfileError, VoiceEvalError
from pytest_voiceeval.plugin import options
from pytest_voiceeval.plugin.collection import Collection, Lane, Lanes, RunsFailedFirst
from pytest_voiceeval.plugin.fixtures import SCENARIO_MARK, run_folder_key
from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.recorder import Recorder
from pytest_voiceeval.plugin.selection import VOICE_MARK, Selection, select, selection_key
from pytest_voiceeval.plugin.settings import Settings, settings_key
from pytest_voiceeval.plugin.workers import FOLDER_INPUT, Workers
from pytest_voiceeval.report.attachments import AllureAttachments
from pytest_voiceeval.report.properties import ARTIFACTS, look_up
from pytest_voiceeval.run.session import RunFolder

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.turns import Side

allure_key = pytest.StashKey[AllureAttachments]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.declare(parser)


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Print what a listing option asks for, in place of running tests."""
    if not (config.getoption("voice_list") or config.getoption("voice_list_domains")):
        return None
    from pytest_voiceeval.plugin.listing import listing  # noqa: PLC0415 - light start

    sys.stdout.writelines(f"{line}\n" for line in listing(config))
    return int(pytest.ExitCode.OK)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, select the scenarios, and register what this run needs."""
    config.addinivalue_line("markers", f"{VOICE_MARK}: every voice scenario")
    config.addinivalue_line(
        "markers", f"{SCENARIO_MARK}(name): the scenario that the voice_* fixtures are for"
    )
    settings = config.stash[settings_key] = Settings.from_config(config)
    selection = config.stash[selection_key] = select(config, settings)
    agreed = getattr(config, "workerinput", {}).get(FOLDER_INPUT)
    folder = config.stash[run_folder_key] = RunFolder(settings.output_dir, Path(agreed) if agreed else None)
    _register_collection(config, selection)
    if not hasattr(config, "workerinput"):
        if selection.chosen:
            _check_bots(config, settings)
        config.pluginmanager.register(Recorder(folder, selection.catalogue), "voiceeval-recorder")
        if config.pluginmanager.has_plugin("xdist"):
            config.pluginmanager.register(Workers(settings, folder), "voiceeval-workers")
    if config.getoption("allure_report_dir", default=None):
        config.stash[allure_key] = AllureAttachments()


def _register_collection(config: pytest.Config, selection: Selection) -> None:
    plugins = config.pluginmanager
    plugins.register(Collection(selection), "voiceeval-collection")
    if selection.chosen:
        plugins.register(Lanes(Lane(selection, config.rootpath)), "voiceeval-lanes")
    if selection.chosen and config.getoption("lf", default=False):
        plugins.register(RunsFailedFirst(), "voiceeval-lf")


def _check_bots(config: pytest.Config, settings: Settings) -> None:
    """Refuse a bot that cannot be had, or not with the clock that is asked for, before anything runs."""
    from pytest_voiceeval.bridge.clock import choose_clock  # noqa: PLC0415 - heavy
    from pytest_voiceeval.plugin.endpoints import make_endpoint  # noqa: PLC0415 - heavy

    bots: list[Endpoint] = []
    named: tuple[tuple[Side, options.Option[str], str], ...] = (
        ("user", options.USER, settings.user),
        ("agent", options.AGENT, settings.agent),
    )
    for side, option, text in named:
        try:
            bots.append(make_endpoint(side, settings, Path()))
        except (ProfileError, DefinitionError) as exc:
            raise pytest.UsageError(f"{option.name(config)}={text}: {exc}") from exc
    try:
        choose_clock(settings.clock, *bots)
    except ClockError as exc:
        raise pytest.UsageError(f"{options.CLOCK.name(config)}={settings.clock}: {exc}") from exc


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show our own errors as messages, skips at the scenario, and attach artefacts to Allure."""
    report = yield
    if call.excinfo is not None and call.when != "call" and isinstance(call.excinfo.value, VoiceEvalError):
        report.longrepr = call.excinfo.getrepr(style="value", chain=False)
    if (
        report.skipped
        and call.when == "call"
        and isinstance(item, VoiceItem)
        and isinstance(report.longrepr, tuple)
    ):
        path, line, _ = item.reportinfo()
        report.longrepr = (str(path), (line or 0) + 1, report.longrepr[2])
    attachments = item.config.stash.get(allure_key, None)
    folder = look_up(item.user_properties, ARTIFACTS)
    if (
        attachments
        and isinstance(folder, str)
        and (report.when == "call" or (report.when == "setup" and report.failed))
    ):
        attachments.attach(Path(folder))
    return report
