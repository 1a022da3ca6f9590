"""Fixtures and settings of all tests. Its place makes the helpers in this folder importable."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import alone
import pytest

from pytest_voiceeval.run.logs import mute_default_sink
from pytest_voiceeval.world.roots import kept_roots, restore_roots

mute_default_sink()  # pipecat greets where it is imported, also where pytest does not capture it

with contextlib.suppress(ImportError):  # pytest reads this file also where only a scenario is to be held
    from hypothesis import HealthCheck, settings

    # A busy machine is slow, which is no fault of the code under test.
    settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("fuzz", settings.get_profile("steady"), max_examples=2_000)
    settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone: looks at real time, so that no other test runs beside it")
    if alone.FOLDER in (told := getattr(config, "workerinput", {})):
        config.pluginmanager.register(alone.Worker(told[alone.FOLDER]), alone.FOLDER)
    elif config.getoption("tx", None):
        config.pluginmanager.register(alone.Controller(), alone.FOLDER)


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """Have SIGINT interrupt, also in the background of a shell and under xdist, which ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def steady_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the width of the terminal, colours, proxies and data of the machine out of the tests."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in (
        "PY_COLORS",
        "FORCE_COLOR",
        "PYTEST_ADDOPTS",
        "PYTEST_PLUGINS",
        "EVAL_DATA_ROOT",
        "VOICEEVAL_DATA_ROOTS",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("XDG_DATA_HOME", str(Path(__file__).parent / "no-such-folder"))


def modules_from_outside(project: Path) -> dict[str, ModuleType]:
    """Return the modules that were imported of files which are not below ``project``."""
    inside = f"{project}{os.sep}"
    found = {}
    for name, module in list(sys.modules.items()):
        variables = getattr(module, "__dict__", {})
        place = variables.get("__file__") or next(iter(variables.get("__path__", ())), None)
        if place is not None and not str(place).startswith(inside):
            found[name] = module
    return found


class Imported:
    """Notes what a run within this process has imported by its end."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.modules: dict[str, ModuleType] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_main(self) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            self.modules = modules_from_outside(self.project)


@pytest.fixture(autouse=True)
def modules_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have modules stay that a run within this process is the first to import, but for those of its project.

    pytester drops them all, after each run and after the test. What is imported again would stand beside
    what others hold of the first time: an error of an HTTP client, say, that none of its users knows.
    """
    inline_run = pytest.Pytester.inline_run

    def run(pytester: pytest.Pytester, *args: Any, plugins: Any = (), **options: Any) -> Any:
        imported = Imported(pytester.path)
        try:
            return inline_run(pytester, *args, plugins=[*plugins, imported], **options)
        finally:
            sys.modules.update(imported.modules)

    monkeypatch.setattr(pytest.Pytester, "inline_run", run)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Have them stay after the test, too."""
    pytester = getattr(item, "funcargs", {}).get("pytester")
    imported = {} if pytester is None else modules_from_outside(pytester.path)
    try:
        yield
    finally:
        sys.modules.update(imported)


@pytest.fixture(autouse=True)
def own_roots() -> Iterator[None]:
    """Keep the data of packs that a test loads out of the tests after it."""
    kept = kept_roots()
    yield
    restore_roots(kept)
