"""The hooks that are always there; what else a run needs is registered when it is configured."""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.errors import ClockError, DefinitionError, ProfileError, VoiceEvalError
from pytest_voiceeval.plugin import fixtures, options
from pytest_voiceeval.plugin.ahead import CallsAhead, ahead_key
from pytest_voiceeval.plugin.alone import HeldAlone
from pytest_voiceeval.plugin.apart import FILES_INPUT, Sender
from pytest_voiceeval.plugin.collection import Collection, Lane, Lanes, RunsFailedFirst
from pytest_voiceeval.plugin.fixtures import VOICE_FIXTURES
from pytest_voiceeval.plugin.folders import run_folder_key
from pytest_voiceeval.plugin.items import VoiceItem, message_alone
from pytest_voiceeval.plugin.judge_options import URL
from pytest_voiceeval.plugin.marks import SCENARIO_MARK, VOICE_MARK
from pytest_voiceeval.plugin.notes import SafeTexts, forget, make_sendable, note
from pytest_voiceeval.plugin.option import Option
from pytest_voiceeval.plugin.progress import progress_of
from pytest_voiceeval.plugin.recorder import Recorder
from pytest_voiceeval.plugin.resuming import (
    earlier_key,
    invocation_key,
    with_scenarios_of_before,
)
from pytest_voiceeval.plugin.selection import Selection, select, selection_key
from pytest_voiceeval.plugin.settings import Settings, settings_key
from pytest_voiceeval.plugin.sharding import Sharding
from pytest_voiceeval.plugin.timeouts import register_endings
from pytest_voiceeval.plugin.workers import FOLDER_INPUT, INVOCATION_INPUT, Workers, demand_urls
from pytest_voiceeval.report.attachments import AllureAttachments
from pytest_voiceeval.report.properties import ARTIFACTS, BROKEN, SCENARIO, Property, look_up, replaced
from pytest_voiceeval.run.earlier import EarlierRun, new_invocation
from pytest_voiceeval.run.lock import RunBusyError
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.wire.address import without_secrets
from pytest_voiceeval.world.roots import kept_roots, restore_roots, use_data_root

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.turns import Side

allure_key = pytest.StashKey[AllureAttachments]()
roots_key = pytest.StashKey[Any]()
broken_key = pytest.StashKey[dict[pytest.FixtureDef[object], BaseException]]()
"""With what our fixtures failed whose failure pytest keeps, and raises again for other tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.declare(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep a complaint of pytest-asyncio out of runs that do not use it.

    It warns where its ini key for the scope of loops is not set; with ``filterwarnings = error`` that would
    end a run in which nothing has to do with either of us.
    """
    early_config.addinivalue_line(
        "filterwarnings", "ignore:The configuration option .asyncio_default_fixture_loop_scope. is unset"
    )


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Print what a listing option asks for, in place of running tests."""
    if not (config.getoption("voice_list") or config.getoption("voice_list_domains")):
        return None
    from pytest_voiceeval.plugin.listing import listing  # noqa: PLC0415 - light start

    sys.stdout.writelines(f"{line}\n" for line in listing(config))
    return int(pytest.ExitCode.OK)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, select the scenarios, and register what this run needs.

    Last of all, so that the markers of others are known.
    """
    settings = Settings.from_config(config)
    progress = progress_of(config)
    settings = config.stash[settings_key] = replace(settings, on_turn=progress.tell if progress else None)
    config.stash[roots_key] = kept_roots()
    use_data_root(settings.data_root)
    chosen = with_scenarios_of_before(config, settings)
    selection = config.stash[selection_key] = select(config, chosen)
    if selection.marks.voice_is_ours:
        config.addinivalue_line("markers", f"{VOICE_MARK}: every voice scenario")
    config.addinivalue_line(
        "markers", f"{SCENARIO_MARK}(name): the scenario that the voice_* fixtures are for"
    )
    config.stash[broken_key] = {}
    folder = _place(config, settings)
    _register_collection(config, selection)
    _register_concurrency(config, settings)
    if not hasattr(config, "workerinput"):
        if selection.chosen:
            _check_bots(config, settings)
            _check_judge(config, settings)
            _check_folder(config, settings, folder)
        recorder = Recorder(config, folder, selection.catalogue)
        config.pluginmanager.register(recorder, "voiceeval-recorder")
        if selection.chosen and not config.option.collectonly:
            _claim(config, recorder)
        if config.pluginmanager.has_plugin("xdist"):
            invocation = config.stash[invocation_key]
            workers = Workers(settings, folder, invocation, has_scenarios=bool(selection.chosen))
            workers.progress = progress
            config.pluginmanager.register(workers, "voiceeval-workers")
    if settings.shard is not None:
        config.pluginmanager.register(Sharding(settings.shard), "voiceeval-sharding")
    config.pluginmanager.register(SafeTexts(), "voiceeval-texts")
    register_endings(config, has_scenarios=bool(selection.chosen))
    if config.getoption("allure_report_dir", default=None):
        config.stash[allure_key] = AllureAttachments()


def _claim(config: pytest.Config, recorder: Recorder) -> None:
    """Refuse to go on with a run that still goes on."""
    try:
        recorder.claim()
    except RunBusyError as exc:
        raise pytest.UsageError(f"{options.RESUME.name(config)}: {exc}") from None


def _place(config: pytest.Config, settings: Settings) -> RunFolder:
    """Return the folder of the run, and put into the stash who makes folders in it, and who did before."""
    given = getattr(config, "workerinput", {})
    invocation = config.stash[invocation_key] = given.get(INVOCATION_INPUT) or new_invocation()
    agreed = given.get(FOLDER_INPUT) or settings.resume
    if FILES_INPUT in given:
        sender = Sender(given[FILES_INPUT])
        config.pluginmanager.register(sender, "voiceeval-sender")
        agreed = sender.folder
    folder = config.stash[run_folder_key] = RunFolder(settings.output_dir, Path(agreed) if agreed else None)
    if settings.resume:
        config.stash[earlier_key] = EarlierRun(settings.resume, invocation, settings.min_agent_turns)
    return folder


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take back what this run made of the process: where data are looked for."""
    if (kept := config.stash.get(roots_key, None)) is not None:
        restore_roots(kept)


def _register_collection(config: pytest.Config, selection: Selection) -> None:
    plugins = config.pluginmanager
    plugins.register(Collection(selection), "voiceeval-collection")
    if selection.chosen:
        plugins.register(Lanes(Lane(selection, config.rootpath)), "voiceeval-lanes")
    if selection.chosen and config.getoption("lf", default=False):
        plugins.register(RunsFailedFirst(), "voiceeval-lf")


def _register_concurrency(config: pytest.Config, settings: Settings) -> None:
    if settings.concurrency == 1 or config.option.collectonly:
        return
    ahead = config.stash[ahead_key] = CallsAhead(settings.concurrency)
    config.pluginmanager.register(ahead, "voiceeval-ahead")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(HeldAlone(settings.concurrency), "voiceeval-alone")


def _check_bots(config: pytest.Config, settings: Settings) -> None:
    """Refuse a bot that cannot be had, or not with the clock that is asked for, before anything runs."""
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


def _check_judge(config: pytest.Config, settings: Settings) -> None:
    """Refuse a judge that cannot be asked for lack of a key, before anything runs."""
    if settings.judge is None or config.option.collectonly:
        return
    from pytest_voiceeval.scoring.judge_endpoint import missing_key  # noqa: PLC0415 - heavy

    if why := missing_key(settings.judge):
        raise pytest.UsageError(f"{URL.name(config)}={settings.judge.url}: {why}")


def _check_folder(config: pytest.Config, settings: Settings, folder: RunFolder) -> None:
    """Refuse a place for the results in which no folder can be made, before anything runs."""
    if config.option.collectonly:
        return
    try:
        folder.check()
    except OSError as exc:
        raise pytest.UsageError(
            f"{options.OUTPUT_DIR.name(config)}={settings.output_dir}: no folder can be made there "
            f"({exc.strerror}); name a folder that you may write in"
        ) from exc


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Remember with what a fixture of ours failed, or one that overrides it.

    The exception itself is kept, as long as pytest does: it raises it again in every test that asks for a
    wide fixture.
    """
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as exc:
        if fixturedef.argname in VOICE_FIXTURES:
            request.config.stash[broken_key][fixturedef] = exc
        raise


def pytest_fixture_post_finalizer(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> None:
    """Let go of the exception of a fixture that is torn down, and of the recordings in its frames."""
    request.config.stash[broken_key].pop(fixturedef, None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test that a plugin runs again tell nothing of the try before."""
    forget(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show our own errors as messages, skips at the scenario, and attach artefacts to Allure."""
    report = yield
    _note_broken(item, call, report)
    if call.excinfo is not None and call.when != "call" and isinstance(call.excinfo.value, VoiceEvalError):
        report.longrepr = message_alone(call.excinfo)
    if (
        report.skipped
        and isinstance(item, VoiceItem)
        and isinstance(report.longrepr, tuple)
        and (call.when == "call" or report.longrepr[0] == fixtures.__file__)
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
    make_sendable(report)
    return report


def _note_broken(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Have the report of a test that ended in the set-up of a voice fixture say so, and of what scenario."""
    if call.when != "setup" or call.excinfo is None or not report.failed:
        return
    error = call.excinfo.value
    broken = item.config.stash[broken_key].items()
    fixture = next((definition.argname for definition, kept in broken if kept is error), None)
    if fixture is None:
        return
    pairs: list[Property] = [(BROKEN, fixture)]
    mark = item.get_closest_marker(SCENARIO_MARK)
    if mark and mark.args and look_up(item.user_properties, SCENARIO) is None:
        pairs.append((SCENARIO, str(mark.args[0])))
    note(item, pairs)
    report.user_properties[:] = replaced(report.user_properties, pairs)
