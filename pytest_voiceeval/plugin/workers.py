"""What the processes of a run under xdist agree on: one run folder, and who takes which bot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.model.live import LiveTurn
from pytest_voiceeval.model.turns import Side
from pytest_voiceeval.plugin.apart import TOKEN, Receiver, may_be_apart, sees
from pytest_voiceeval.plugin.bot_options import is_url_list, too_few_urls
from pytest_voiceeval.plugin.options import AGENT, OUTPUT_DIR, RESUME, USER
from pytest_voiceeval.plugin.progress import Progress, WorkerProgress
from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.plugin.worker_input import (
    CHANNEL_INPUT,
    FILES_INPUT,
    FOLDER_INPUT,
    INVOCATION_INPUT,
    WORKER_INPUT,
)
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.wire.address import shown


def demand_urls(settings: Settings, hosts: list[str]) -> None:
    """Refuse URLs that are too few for the calls that are held at once by a process on each of ``hosts``.

    Raises:
        pytest.UsageError: naming the option, and how many are needed.
    """
    for option, value in ((AGENT, settings.agent), (USER, settings.user)):
        if is_url_list(value) and (why := too_few_urls(value, hosts, settings.concurrency)):
            raise pytest.UsageError(f"{option.flag}={shown(value)}: {why}")


class Workers:
    """Hands every worker the run folder and a place; a place is free again when its worker is gone."""

    def __init__(
        self, settings: Settings, folder: RunFolder, invocation: str, *, has_scenarios: bool
    ) -> None:
        self._has_scenarios = has_scenarios
        self._settings = settings
        self._folder = folder
        self._invocation = invocation
        self._places: dict[int, Any] = {}
        self._hosts: dict[int, str] = {}
        self._is_needed = has_scenarios
        self._token: Path | None = None
        self._channels: list[Any] = []
        self._receivers: dict[str, Receiver] = {}
        self.progress: Progress | WorkerProgress | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: Sequence[object]) -> None:
        """Refuse a list of URLs that is too short for the workers, and workers that all hold everything.

        Raises:
            pytest.UsageError: naming the option, and what to do instead.
        """
        if self._has_scenarios and config.getoption("dist") == "each" and len(specs) > 1:
            raise pytest.UsageError(
                f"--dist=each: each of the {len(specs)} workers would hold every scenario, and a run has one "
                "result of each; spread them with --dist=load, or start pytest once for each environment"
            )
        demand_urls(self._settings, [_host(spec) for spec in specs])
        self._is_needed = self._has_scenarios or any(map(may_be_apart, specs))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker that starts a free place, the run's folder, and ways to tell of its calls.

        Raises:
            pytest.UsageError: if the run folder cannot be made, or the worker needs it and does not see it.
        """
        place = self._free_place(_host(node.gateway.spec))
        self._places[place] = node
        node.workerinput[WORKER_INPUT] = place
        node.workerinput[INVOCATION_INPUT] = self._invocation
        if self.progress is not None:
            channel = node.workerinput[CHANNEL_INPUT] = node.gateway.newchannel()
            channel.setcallback(partial(self._hear, str(node.gateway.id)))
            self._channels.append(channel)  # it is closed once nobody holds it
        try:
            folder = self._folder.agree(is_needed=self._is_needed)
            node.workerinput[FOLDER_INPUT] = str(folder)
            if may_be_apart(node.gateway.spec):
                self._token = folder / TOKEN
                if not sees(node.gateway, self._token, self._invocation):
                    self._receive_files(node)
        except OSError as exc:
            raise pytest.UsageError(f"{OUTPUT_DIR.flag}: the run's folder cannot be made: {exc}") from exc

    def _free_place(self, host: str) -> int:
        """Return the lowest free place that a worker on ``host`` had before, else the lowest free one."""
        free = [place for place in range(len(self._hosts) + 1) if place not in self._places]
        place = next((place for place in free if self._hosts.get(place) == host), free[0])
        self._hosts[place] = host
        return place

    def _receive_files(self, node: Any) -> None:
        """Have a worker that does not see the run's folder send its files."""
        worker = str(node.gateway.id)
        if self._settings.resume is not None:
            raise pytest.UsageError(
                f"{RESUME.flag}: worker {worker} does not see the run's folder {self._settings.resume}, so "
                "it can't know what has a result there; go on with workers of this machine (-n), or share "
                "the folder under the same path"
            )
        receiver = self._receivers[worker] = Receiver(self._folder, worker)
        channel = node.workerinput[FILES_INPUT] = node.gateway.newchannel()
        channel.setcallback(receiver.take)
        self._channels.append(channel)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Have a report name folders as they are on this machine."""
        if receiver := self._receivers.get(getattr(report, "worker_id", "")):
            receiver.localise(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Remove what told workers of the folder."""
        if self._token is not None:
            self._token.unlink(missing_ok=True)

    def _hear(self, worker: str, message: tuple[str, Side, float, str]) -> None:
        """Show a turn that a worker tells of; execnet calls this on a thread of its own."""
        if isinstance(self.progress, Progress):
            self.progress.tell(LiveTurn(*message), worker)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Free the place of a worker that is gone."""
        self._places = {place: holder for place, holder in self._places.items() if holder is not node}


def _host(spec: object) -> str:
    """Return what tells the machine of a worker apart from others, as its execnet specification names it."""
    names = (getattr(spec, kind, None) for kind in ("ssh", "vagrant_ssh", "socket"))
    return next((str(name) for name in names if name), "")
