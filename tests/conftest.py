"""Fixtures and settings of all tests. Its place makes the helpers in this folder importable."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture(autouse=True)
def own_roots() -> Iterator[None]:
    """Keep the data of packs that a test loads out of the tests after it."""
    kept = kept_roots()
    yield
    restore_roots(kept)
