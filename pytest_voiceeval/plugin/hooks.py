"""The hooks that are always there; what else a run needs is registered when it is configured."""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.plugin import fixtures, options
from pytest_voiceeval.plugin.fixtures import VOICE_FIXTURES
from pytest_voiceeval.plugin.items import VoiceItem, message_alone
from pytest_voiceeval.plugin.marks import SCENARIO_MARK, VOICE_MARK
from pytest_voiceeval.plugin.notes import forget, make_sendable, note
from pytest_voiceeval.plugin.parts import allure_key, register_parts
from pytest_voiceeval.plugin.resuming import with_scenarios_of_before
from pytest_voiceeval.plugin.selection import select, selection_key
from pytest_voiceeval.plugin.settings import Settings, settings_key
from pytest_voiceeval.report.properties import ARTIFACTS, BROKEN, SCENARIO, Property, look_up, replaced
from pytest_voiceeval.world.roots import kept_roots, restore_roots, use_data_root

if TYPE_CHECKING:
    from pytest_voiceeval.plugin.progress import Progress, WorkerProgress

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

    kept = kept_roots()
    try:
        sys.stdout.writelines(f"{line}\n" for line in listing(config))
    finally:
        restore_roots(kept)
    return int(pytest.ExitCode.OK)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, select the scenarios, and register what this run needs.

    Last of all, so that the markers of others are known.
    """
    settings = Settings.from_config(config)
    progress = _progress(config)
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
    register_parts(config, settings, selection, progress)


def _progress(config: pytest.Config) -> Progress | WorkerProgress | None:
    """Return what shows turns as they are spoken; ``None`` where nobody asks to see them."""
    if config.get_verbosity() < 1:
        return None
    from pytest_voiceeval.plugin.progress import progress_of  # noqa: PLC0415 - light start

    return progress_of(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take back what this run made of the process: where data are looked for."""
    if (kept := config.stash.get(roots_key, None)) is not None:
        restore_roots(kept)


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
