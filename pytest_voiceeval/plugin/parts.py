"""The plugin objects of a run: what it does not need is not registered, nor imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pytest_voiceeval.plugin.collection import Collection, Lane, Lanes, RunsFailedFirst
from pytest_voiceeval.plugin.folders import run_folder_key
from pytest_voiceeval.plugin.means import ahead_key
from pytest_voiceeval.plugin.notes import SafeTexts
from pytest_voiceeval.plugin.options import RESUME
from pytest_voiceeval.plugin.planning import OnlyPlanned, holds_calls, is_only_planned
from pytest_voiceeval.plugin.recorder import Recorder
from pytest_voiceeval.plugin.resuming import earlier_key, invocation_key
from pytest_voiceeval.plugin.selection import Selection
from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.plugin.sharding import Sharding
from pytest_voiceeval.plugin.timeouts import register_endings
from pytest_voiceeval.plugin.worker_input import FILES_INPUT, FOLDER_INPUT, INVOCATION_INPUT
from pytest_voiceeval.report.attachments import AllureAttachments
from pytest_voiceeval.run.earlier import EarlierRun, new_invocation
from pytest_voiceeval.run.lock import RunBusyError
from pytest_voiceeval.run.session import RunFolder

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.progress import Progress, WorkerProgress

    AnyProgress: TypeAlias = Progress | WorkerProgress

allure_key = pytest.StashKey[AllureAttachments]()


def register_parts(
    config: pytest.Config, settings: Settings, selection: Selection, progress: AnyProgress | None
) -> None:
    """Register what this process needs, and refuse what can't be done before anything runs.

    Args:
        config: of this process.
        settings: what options and ini say.
        selection: the scenarios of this run.
        progress: shows turns as they are spoken, if anybody wants to see them.

    Raises:
        pytest.UsageError: naming the option.
    """
    plugins = config.pluginmanager
    folder = _place(config, settings)
    _register_collection(config, selection)
    if settings.concurrency > 1 and holds_calls(config):
        _register_concurrency(config, settings)
    if is_only_planned(config):
        plugins.register(OnlyPlanned(), "voiceeval-planned")
    if not hasattr(config, "workerinput"):
        _register_recorder(config, settings, selection, folder)
        if plugins.has_plugin("xdist") and config.getoption("dist", default="no") != "no":
            _register_workers(config, settings, selection, progress)
    if settings.shard is not None:
        plugins.register(Sharding(settings.shard), "voiceeval-sharding")
    plugins.register(SafeTexts(), "voiceeval-texts")
    register_endings(config, has_scenarios=bool(selection.chosen))
    if config.getoption("allure_report_dir", default=None):
        config.stash[allure_key] = AllureAttachments()


def _place(config: pytest.Config, settings: Settings) -> RunFolder:
    """Return the folder of the run, and put into the stash who makes folders in it, and who did before."""
    given = getattr(config, "workerinput", {})
    invocation = config.stash[invocation_key] = given.get(INVOCATION_INPUT) or new_invocation()
    agreed = given.get(FOLDER_INPUT) or settings.resume
    if FILES_INPUT in given:
        from pytest_voiceeval.plugin.apart import Sender  # noqa: PLC0415 - light start

        sender = Sender(given[FILES_INPUT])
        config.pluginmanager.register(sender, "voiceeval-sender")
        agreed = sender.folder
    folder = config.stash[run_folder_key] = RunFolder(settings.output_dir, Path(agreed) if agreed else None)
    if settings.resume:
        config.stash[earlier_key] = EarlierRun(settings.resume, invocation, settings.min_agent_turns)
    return folder


def _register_collection(config: pytest.Config, selection: Selection) -> None:
    plugins = config.pluginmanager
    plugins.register(Collection(selection), "voiceeval-collection")
    if selection.chosen:
        plugins.register(Lanes(Lane(selection, config.rootpath)), "voiceeval-lanes")
    if selection.chosen and config.getoption("lf", default=False):
        plugins.register(RunsFailedFirst(), "voiceeval-lf")


def _register_concurrency(config: pytest.Config, settings: Settings) -> None:
    from pytest_voiceeval.plugin.ahead import CallsAhead  # noqa: PLC0415 - light start
    from pytest_voiceeval.plugin.alone import HeldAlone  # noqa: PLC0415 - as above

    ahead = config.stash[ahead_key] = CallsAhead(settings.concurrency)
    config.pluginmanager.register(ahead, "voiceeval-ahead")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(HeldAlone(settings.concurrency), "voiceeval-alone")


def _register_recorder(
    config: pytest.Config, settings: Settings, selection: Selection, folder: RunFolder
) -> None:
    """Register what sees the reports of the whole run, which workers of xdist do not."""
    if selection.chosen:
        _check(config, settings, folder)
    recorder = Recorder(config, folder, selection.catalogue)
    config.pluginmanager.register(recorder, "voiceeval-recorder")
    if selection.chosen and holds_calls(config):
        try:
            recorder.claim()
        except RunBusyError as exc:
            raise pytest.UsageError(f"{RESUME.name(config)}: {exc}") from None


def _check(config: pytest.Config, settings: Settings, folder: RunFolder) -> None:
    from pytest_voiceeval.plugin import checks  # noqa: PLC0415 - light start

    checks.check_bots(config, settings)
    if holds_calls(config):
        checks.check_judge(config, settings)
        checks.check_folder(config, settings, folder)


def _register_workers(
    config: pytest.Config, settings: Settings, selection: Selection, progress: AnyProgress | None
) -> None:
    from pytest_voiceeval.plugin.workers import Workers  # noqa: PLC0415 - light start

    folder, invocation = config.stash[run_folder_key], config.stash[invocation_key]
    workers = Workers(settings, folder, invocation, has_scenarios=bool(selection.chosen))
    workers.progress = progress
    config.pluginmanager.register(workers, "voiceeval-workers")
