"""Workers of xdist that do not see the run's folder, as on another machine: they send their files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from pytest_voiceeval.report.paths import shown_path
from pytest_voiceeval.report.properties import ARTIFACTS, look_up, replaced
from pytest_voiceeval.run.earlier import own_content
from pytest_voiceeval.run.files import claim_folder, read_json
from pytest_voiceeval.run.resume import ATTEMPT
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.world.files import write_json, write_text

TOKEN = ".seen_by_workers"
"""File in a run's folder that tells whether a worker sees the same folder."""

PIECE_BYTES = 4 * 2**20
METRICS = "metrics.json"

PROBE = """
path = channel.receive()
try:
    with open(path) as stream:
        channel.send(stream.read())
except OSError:
    channel.send("")
"""

Piece = tuple[str, str, bytes, bool]
"""Name of a folder, path of a file in it, the next bytes of that, and whether they are the last."""


def may_be_apart(spec: Any) -> bool:
    """Return whether a worker may see other folders than the controller, by its execnet specification."""
    return not getattr(spec, "popen", None) or bool(getattr(spec, "chdir", None))


PROBE_SECONDS = 60.0
"""How long a worker's process may take to look for a file."""


def sees(gateway: Any, path: Path, text: str) -> bool:
    """Write a text into a file; return whether the process behind an execnet gateway finds it there."""
    write_text(path, text)
    channel = gateway.remote_exec(PROBE)
    channel.send(str(path))
    try:
        found = channel.receive(PROBE_SECONDS)
        channel.waitclose(PROBE_SECONDS)
    except (EOFError, OSError, channel.TimeoutError, channel.RemoteError):
        return False  # xdist itself tells of a process that is gone
    return bool(found == text)


class Sender:
    """On a worker: sends the files of each scenario before the report of it, and removes them in the end."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._sent: dict[Path, tuple[int, int]] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="voiceeval_"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send what is new of the scenario's files: the report comes after them."""
        folder = look_up(report.user_properties, ARTIFACTS)
        if not isinstance(folder, str) or Path(folder).parent != self.folder:
            return
        name = Path(folder).name
        for place in sorted(self.folder.iterdir()):
            if place.name == name or place.name.startswith(f"{name}{ATTEMPT}"):
                self._send_folder(place)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Send what is of no scenario, as the output of bots."""
        for path in sorted(self.folder.iterdir()):
            if path.is_file():
                self._send(path, "")

    def pytest_unconfigure(self) -> None:
        """Remove what is on the controller's machine now."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _send_folder(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                self._send(path, folder.name)

    def _send(self, path: Path, folder: str) -> None:
        state = path.stat()
        if self._sent.get(path) == (state.st_mtime_ns, state.st_size):
            return
        self._sent[path] = (state.st_mtime_ns, state.st_size)
        name = path.relative_to(self.folder / folder).as_posix()
        for data, is_last in _pieces(path):
            self._channel.send((folder, name, data, is_last))


def _pieces(path: Path) -> Iterator[tuple[bytes, bool]]:
    with path.open("rb") as stream:
        data = stream.read(PIECE_BYTES)
        while following := stream.read(PIECE_BYTES):
            yield data, False
            data = following
    yield data, True


class Receiver:
    """On the controller: puts the files of one worker into the run's folder."""

    def __init__(self, run: RunFolder, worker: str) -> None:
        self._run = run
        self._worker = worker
        self._folders: dict[str, Path] = {}
        self._failure = ""

    def take(self, piece: Piece) -> None:
        """Write a piece of a file; execnet calls this on a thread of its own, which no error may end."""
        try:
            self._write(*piece)
        except (OSError, ValueError) as exc:
            self._failure = self._failure or str(exc)

    def localise(self, report: pytest.TestReport) -> None:
        """Have a report of the worker name folders as they are here; an error if its files are not here."""
        remote = look_up(report.user_properties, ARTIFACTS)
        if not isinstance(remote, str):
            return
        if (local := self._folders.get(Path(remote).name)) is not None:
            report.user_properties[:] = replaced(report.user_properties, [(ARTIFACTS, str(local))])
            _replace_in_text(report, remote, shown_path(local))
        if self._failure and report.when == "call":
            report.when, report.outcome = "setup", "failed"  # an error, whatever the worker came to
            report.longrepr = f"the files of worker {self._worker} could not be kept: {self._failure}"

    def _write(self, folder: str, name: str, data: bytes, is_last: bool) -> None:
        parts = PurePosixPath(name).parts
        if Path(folder).name != folder or not parts or ".." in (folder, *parts) or parts[0] == "/":
            raise ValueError(f"worker {self._worker} sent a file of another place: {folder}/{name}")
        if folder:
            place = self._place(folder)
            path = place.joinpath(*parts)
        else:
            path = self._run.open() / f"{Path(name).stem}.{self._worker}{Path(name).suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{self._worker}.part")
        with partial.open("ab") as stream:
            stream.write(data)
        if is_last:
            partial.replace(path)
            if folder and name == METRICS and isinstance(read_json(path), dict):
                write_json(path, own_content(place))

    def _place(self, folder: str) -> Path:
        """Return where a folder of the worker is here; those of attempts stay beside the one that counts."""
        if folder not in self._folders:
            head, attempt, number = folder.partition(ATTEMPT)
            beside = self._folders.get(head) if attempt else None
            name = f"{beside.name}{attempt}{number}" if beside else folder
            self._folders[folder] = claim_folder(self._run.open() / name)
        return self._folders[folder]


def _replace_in_text(report: pytest.TestReport, old: str, new: str) -> None:
    """Replace a text in what a report shows of a failure."""
    shown: Any = report.longrepr
    if isinstance(shown, str):
        report.longrepr = shown.replace(old, new)
    elif isinstance(shown, tuple):
        report.longrepr = (shown[0], shown[1], shown[2].replace(old, new))
    elif shown is not None:
        if shown.reprcrash is not None:
            shown.reprcrash.message = shown.reprcrash.message.replace(old, new)
        for entry in shown.reprtraceback.reprentries:
            entry.lines[:] = [line.replace(old, new) for line in entry.lines]
